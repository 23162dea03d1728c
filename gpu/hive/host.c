/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the Hive kernels compiled for the host machine, and the table that a launch looks them up in.
 */
#define HIVE_REGISTRY hive_host_variants
#include "gpu/hive/registry.h"

#include "gpu/hive/launch.h"

static hd_host_text *const shared[] = {
#define HIVE_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gpu/hive/kernels.inc"
#undef HIVE_KERNEL
};

hd_host_text *hive_host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(hive_host_variants, hive_variants, shared, HIVE_KERNELS - HD_SHARED_KERNELS, kernel);
}
