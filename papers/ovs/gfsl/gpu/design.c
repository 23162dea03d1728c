/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - the skip list gfsl: the design, its reference and its kernels.
 */
#include "gfsl/gpu/launch.h"
#include "gfsl/ref/gfsl.h"

/* clang-format off */
const hd_design hd_design_gfsl = {
    .name = "gfsl",
    .what = "a skip list of 32-bit keys and values, whose nodes are chunks that a warp reads at once (GFSL)",
    .policy = "none", .params = &gfsl_params, .usual = gfsl_usual, .ref = &gfsl_reference, .gpu = &gfsl_gpu,
    .variants = gfsl_variants, .unsupported = gfsl_unsupported_row,
    .host_kernel = HD_HOST_ENTRY(gfsl_host_kernel), .owns = true
};
/* clang-format on */
