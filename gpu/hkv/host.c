/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the HKV kernels compiled for the host machine, the table that a launch looks them up in, and the design
 * whose batches they run.
 */
#define HKV_REGISTRY hkv_host_variants
#include "gpu/hkv/registry.h"

#include "gpu/hkv/launch.h"
#include "gpu/hkv/select.h"

extern const hd_design hd_design_hkv_host;

/* By number, less HD_SHARED_KERNELS. */
static hd_host_text *const shared[] = {
    [HKV_NUMBER_list - HD_SHARED_KERNELS] = hkv_kernel_list,
    [HKV_NUMBER_fetch_sort - HD_SHARED_KERNELS] = hkv_kernel_fetch_sort,
    [HKV_NUMBER_fetch_values - HD_SHARED_KERNELS] = hkv_kernel_fetch_values,
    [HKV_NUMBER_groups_claim - HD_SHARED_KERNELS] = hkv_kernel_groups_claim,
    [HKV_NUMBER_groups_join - HD_SHARED_KERNELS] = hkv_kernel_groups_join,
    [HKV_NUMBER_groups_pick - HD_SHARED_KERNELS] = hkv_kernel_groups_pick,
    [HKV_NUMBER_groups_deliver - HD_SHARED_KERNELS] = hkv_kernel_groups_deliver,
    [HKV_NUMBER_pointers - HD_SHARED_KERNELS] = hkv_kernel_pointers,
    [HKV_NUMBER_moment - HD_SHARED_KERNELS] = hkv_kernel_moment,
    [HKV_NUMBER_grow_strays - HD_SHARED_KERNELS] = hkv_kernel_grow_strays,
    [HKV_NUMBER_grow - HD_SHARED_KERNELS] = hkv_kernel_grow,
    [HKV_NUMBER_check - HD_SHARED_KERNELS] = hkv_kernel_check,
    [HKV_NUMBER_word_enter - HD_SHARED_KERNELS] = hkv_kernel_word_enter,
    [HKV_NUMBER_word_leave - HD_SHARED_KERNELS] = hkv_kernel_word_leave,
};

hd_host_text *hkv_host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(hkv_host_variants, shared, HKV_KERNELS - HD_SHARED_KERNELS, kernel);
}

/* clang-format off */
const hd_design hd_design_hkv_host = {
    .name = "hkv", .what = "a bucketed cache, its GPU kernels on the host machine", .params = &hkv_params,
    .select = hkv_select, .variants = hkv_variants, .unfit = hkv_unfit_row, .gpu = &hkv_gpu, .prepare = hd_host_prepare,
    .host_kernel = hkv_host_kernel, .owns = true, HD_ON_HOST, .grow = hd_host_grow
};
/* clang-format on */
