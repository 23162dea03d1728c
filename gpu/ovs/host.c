/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the ovs kernels compiled for the host machine, the table that a launch looks them up in, and the design
 * whose batches they run.
 */
#define OVS_REGISTRY ovs_host_variants
#include "gpu/ovs/registry.h"

#include "gpu/ovs/range.h"
#include "gpu/ovs/rows.h"

extern const hd_design hd_design_ovs_host;

static hd_host_text *const shared[] = {
#define OVS_KERNEL(number, entry, args, text)       [number - HD_SHARED_KERNELS] = entry,
#define OVS_RANGE_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gpu/ovs/kernels.inc"
#undef OVS_RANGE_KERNEL
#undef OVS_KERNEL
};

hd_host_text *ovs_host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(ovs_host_variants, shared, OVS_KERNELS - HD_SHARED_KERNELS, kernel);
}

/* clang-format off */
const hd_design hd_design_ovs_host = {
    .name = "ovs", .what = "a dictionary of segments, its GPU kernels on the host machine", .params = &ovs_params,
    .policy = "none", .variants = ovs_variants, .unfit = ovs_unfit_row, .gpu = &ovs_gpu,
    .host_kernel = ovs_host_kernel, .select = ovs_select, .few_items = OVS_FEW_ITEMS, .owns = true, HD_ON_HOST,
    .resize = hd_host_resize, .set_near = hd_host_set_near, .room_for = hd_host_room_for,
    .learn = hd_host_learn
};
/* clang-format on */
