/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the ovs kernels compiled for the host machine, and the table that a launch looks them up in.
 */
#define OVS_REGISTRY ovs_host_variants
#include "gpu/ovs/registry.h"

#include "gpu/ovs/range.h"
#include "gpu/ovs/rows.h"

static hd_host_text *const shared[] = {
#define OVS_KERNEL(number, entry, args, text)       [number - HD_SHARED_KERNELS] = entry,
#define OVS_RANGE_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gpu/ovs/kernels.inc"
#undef OVS_RANGE_KERNEL
#undef OVS_KERNEL
};

hd_host_text *ovs_host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(ovs_host_variants, ovs_variants, shared, OVS_KERNELS - HD_SHARED_KERNELS, kernel);
}
