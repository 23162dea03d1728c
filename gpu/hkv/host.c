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

static hd_host_text *const shared[] = {
#define HKV_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gpu/hkv/kernels.inc"
#undef HKV_KERNEL
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
