/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - Hive: the design, its reference and its kernels.
 */
#include "gpu/hive/launch.h"
#include "ref/hive/hive.h"

/* clang-format off */
const hd_design hd_design_hive = {
    .name = "hive",
    .what = "a dictionary of 32-bit keys and values in one word, two or three candidate buckets, that grows and "
            "shrinks bucket by bucket (Hive)",
    .policy = "none", .params = &hive_params, .usual = hive_usual, .ref = &hive_reference, .gpu = &hive_gpu,
    .variants = hive_variants, .loads = true, .unsupported = hive_unsupported_row,
    .host_kernel = HD_HOST_ENTRY(hive_host_kernel), .owns = true
};
/* clang-format on */
