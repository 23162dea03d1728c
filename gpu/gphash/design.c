/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - GPHash: the design, its reference and its kernels.
 */
#include "gpu/gphash/launch.h"
#include "ref/gphash/gphash.h"

/* clang-format off */
const hd_design hd_design_gphash = {
    .name = "gphash",
    .what = "a dictionary in levels whose bytes are right at any moment, so that it can survive a crash",
    .policy = "none", .params = &gphash_params, .usual = gphash_usual, .ref = &gphash_reference, .gpu = &gphash_gpu,
    .variants = gphash_variants, .unsupported = gphash_unsupported_row,
    .host_kernel = HD_HOST_ENTRY(gphash_host_kernel)
};
/* clang-format on */
