/* SPDX-License-Identifier: Apache-2.0
 *
 * wabc - the paper's mapping: a warp per key and a lane per slot of a bucket of 32. A search is one coalesced load, a
 * ballot and an election (WCME, section IV-B); an insert wins its slot by one atomic on the mask of free slots, and
 * then commits (WABC, section IV-A); keys are displaced under the bucket's lock, which nothing else takes.
 */
#ifndef HIVE_WABC_H
#define HIVE_WABC_H

#include "gpu/hive/kernels.h"

SIMT_FN void hive_wabc_items(const hive_args *a) { hive_items(a, simt_tile_of(32)); }

/* Which tables it runs on. */
static inline const char *hive_fits_wabc(const hd_info *info)
{
    if (info->layout != HD_LAYOUT_MASKS) return "wabc claims slots in masks: layout masks";
    return info->slots == 32 ? NULL : "wabc has a lane for each slot: buckets of 32";
}

SIMT_ENTRY(hive_kernel_wabc_items, hive_args, hive_wabc_items)

static const hd_variant hive_variant_wabc = {
    .name = "wabc",
    .row = { { GPU_ITEMS, hive_kernel_wabc_items, 32, GPU_ITEMS_THREADS, hive_fits_wabc, HD_ORDER,
               HD_WHAT("items: a warp per key, a lane per slot, claims by one atomic on the bucket's mask") } },
    .ran = HIVE_RAN("wabc"),
    .ran_mixed = "hive.mixed.wabc",
};

#endif

HIVE_LISTED(hive_variant_wabc)
