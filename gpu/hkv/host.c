/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the HKV kernels compiled for the host machine, and the table that a launch looks them up in.
 */
#define HKV_REGISTRY hkv_host_variants
#include "gpu/hkv/registry.h"

#include "gpu/hkv/launch.h"
#include "gpu/hkv/select.h"

static hd_host_text *const shared[] = {
#define HKV_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gpu/hkv/kernels.inc"
#undef HKV_KERNEL
};

hd_host_text *hkv_host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(hkv_host_variants, hkv_variants, shared, HKV_KERNELS - HD_SHARED_KERNELS, kernel);
}
