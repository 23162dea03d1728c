/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.h - the array of the variants in the files that registry.inc lists (gpu/hive/registry.h): host.c compiles
 * them for the host machine, kernels.cu for CUDA, and variants.c takes the tables alone.
 */
#ifndef OVS_REGISTRY_H
#define OVS_REGISTRY_H

#include "gpu/ovs/registry.inc"

/* The including file defines the name of the array. */
#undef OVS_LISTED
#define OVS_LISTED(variant) &variant,
const hd_variant *OVS_REGISTRY[] = {
#include "gpu/ovs/registry.inc"
    HD_VARIANTS_END
};

#endif
