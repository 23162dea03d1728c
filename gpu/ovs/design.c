/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - ovs: the design, its reference and its kernels.
 */
#include "gpu/ovs/rows.h"
#include "ref/ovs/ovs.h"

/* clang-format off */
const hd_design hd_design_ovs = {
    .name = "ovs",
    .what = "a dictionary of keys and values of 32 or 64 bits in segments, some in a device's memory and some in the "
            "host's, that grows and shrinks segment by segment (HT-OVS)",
    .policy = "none", .params = &ovs_params, .usual = ovs_usual, .ref = &ovs_reference, .gpu = &ovs_gpu,
    .variants = ovs_variants, .loads = true, .unsupported = ovs_unsupported_row,
    .host_kernel = HD_HOST_ENTRY(ovs_host_kernel), .select = ovs_select, .few_items = OVS_FEW_ITEMS, .owns = true
};
/* clang-format on */
