/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - HKV: the design, its reference and its kernels.
 */
#include "gpu/hkv/launch.h"
#include "gpu/hkv/select.h"
#include "ref/hkv/hkv.h"

/* clang-format off */
const hd_design hd_design_hkv = {
    .name = "hkv",
    .what = "a bucketed cache: one digest line settles a miss, the least score of a full bucket leaves "
            "(HierarchicalKV)",
    .params = &hkv_params, .ref = &hkv_reference, .gpu = &hkv_gpu, .variants = hkv_variants, .loads = true,
    .unsupported = hkv_unsupported_row, .host_kernel = HD_HOST_ENTRY(hkv_host_kernel), .select = hkv_select,
    .few_items = HKV_FEW_ITEMS, .fewest_items = HKV_FEWEST_ITEMS, .fewest_distinct = HKV_FEWEST_DISTINCT,
    .few_on_device = true, .owns = true
};
/* clang-format on */
