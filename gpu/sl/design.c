/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - the ordered table: the design, its reference and its kernels.
 */
#include "gpu/sl/launch.h"
#include "ref/sl/sl.h"

/* clang-format off */
const hd_design hd_design_sl = {
    .name = "sl",
    .what = "a dictionary that keeps its keys in order: segments of ascending entries under a directory",
    .policy = "none", .params = &sl_params, .usual = sl_usual, .ref = &sl_reference, .gpu = &sl_gpu,
    .variants = sl_variants, .unsupported = sl_unsupported_row,
    .host_kernel = HD_HOST_ENTRY(sl_host_kernel), .owns = true
};
/* clang-format on */
