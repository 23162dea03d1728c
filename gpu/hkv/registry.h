/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.h - the array of the variants that registry.inc lists: a file and its table each. host.c compiles them for
 * the host machine, kernels.cu for CUDA, and variants.c takes the tables alone. The list is read twice: first for the
 * text of each file, then for its last line, HKV_LISTED(table), which names the table.
 */
#ifndef HKV_REGISTRY_H
#define HKV_REGISTRY_H

#include "gpu/hkv/registry.inc"

/* The kernels that batches share. */
#define HKV_KERNEL(number, entry, args, text) SIMT_ENTRY(entry, args, text)
#include "gpu/hkv/kernels.inc"
#undef HKV_KERNEL

/* The including file defines the name of the array. */
#undef HKV_LISTED
#define HKV_LISTED(variant) &variant,
const hd_variant *HKV_REGISTRY[] = {
#include "gpu/hkv/registry.inc"
    HD_VARIANTS_END
};

#endif
