/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.h - the array of the variants that registry.inc lists: a file and its table each. host.c compiles them for
 * the host machine, kernels.cu and kernels_named.cu for CUDA, and variants.c takes the tables alone. The list is read
 * twice: first for the text of each file, then for its last line, HIVE_LISTED(table), which names the table.
 */
#ifndef HIVE_REGISTRY_H
#define HIVE_REGISTRY_H

#include "gpu/hive/registry.inc"

/* The including file defines the name of the array. */
#undef HIVE_LISTED
#define HIVE_LISTED(variant) &variant,
const hd_variant *HIVE_REGISTRY[] = {
#include "gpu/hive/registry.inc"
    HD_VARIANTS_END
};

#endif
