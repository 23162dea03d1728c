/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_host.c - HKV tables on the host machine: the kernels of gpu/hkv, compiled for it.
 */
#include "gpu/hkv/kernels.h"
#include "gpu/hkv/launch.h"
#include "gpu/hkv/select.h"

extern const hd_design hd_design_hkv_host;

hd_host_text *hkv_host_entry(uint32_t kernel);

hd_host_text *hkv_host_entry(uint32_t kernel)
{
    static hd_host_text *const entry[HKV_KERNELS] = {
#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what) hkv_kernel_##variant##_##family,
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL
        hkv_kernel_list, hkv_kernel_fetch_sort, hkv_kernel_fetch_values, hkv_kernel_word_enter, hkv_kernel_word_leave,
    };
    return kernel < HKV_KERNELS ? entry[kernel] : NULL;
}

static hd_status shape(const hd_config *c, hd_info *info) { return hd_host_shape(&hkv_gpu, c, info); }
static hd_status open(const hd_info *info, const hd_seams *s, void **state)
{
    return hd_host_open(&hkv_gpu, info, s, state);
}

const hd_design hd_design_hkv_host = {
    .name = "hkv",
    .what = "a bucketed cache, its GPU kernels on the host machine",
    .params = &hkv_params,
    .shape = shape,
    .open = open,
    .select = hkv_select,
    HD_ON_HOST,
    .owns = true,
};

#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what) HKV_ROW(host, variant, family, what)
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL
