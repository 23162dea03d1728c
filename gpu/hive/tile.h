/* SPDX-License-Identifier: Apache-2.0
 *
 * tile - eight lanes per key, four keys of a warp on their way at once. A lane reads one to four neighbouring words of
 * a bucket, sixteen bytes by one load where there are that many. Any shape; in layout "words" a slot is claimed by one
 * compare-and-swap on its word.
 */
#ifndef HIVE_TILE_H
#define HIVE_TILE_H

#include "gpu/hive/kernels.h"

SIMT_FN void hive_tile_items(const hive_args *a) { hive_items(a, simt_tile_of(8)); }
SIMT_FN void hive_tile_sweep(const hive_args *a) { hive_sweep(a); }
SIMT_FN void hive_tile_export(const hive_args *a) { hive_list(a); }
SIMT_FN void hive_tile_clear(const hive_args *a) { hive_clear_words(a); }

SIMT_ENTRY(hive_kernel_tile_items, hive_args, hive_tile_items)
SIMT_ENTRY(hive_kernel_tile_sweep, hive_args, hive_tile_sweep)
SIMT_ENTRY(hive_kernel_tile_export, hive_args, hive_tile_export)
SIMT_ENTRY(hive_kernel_tile_clear, hive_args, hive_tile_clear)

static const hd_variant hive_variant_tile = {
    .name = "tile",
    .row = {
        { GPU_ITEMS, hive_kernel_tile_items, 8, GPU_ITEMS_THREADS, hive_fits_all, HD_ORDER,
          HD_WHAT("items: eight lanes per key, four keys in flight per warp, claims by compare-and-swap") },
        { GPU_SWEEP, hive_kernel_tile_sweep, 1, 128, hive_fits_all, HD_EXACT,
          HD_WHAT("sweep: a thread per slot") },
        { GPU_EXPORT, hive_kernel_tile_export, 1, 128, hive_fits_all, HD_EXACT,
          HD_WHAT("export: a warp per part of the range counts, and then writes") },
        { GPU_CLEAR, hive_kernel_tile_clear, 1, 128, hive_fits_all, HD_EXACT,
          HD_WHAT("clear: a thread per slot") },
    },
    .ran = HIVE_RAN("tile"),
    .ran_mixed = "hive.mixed.tile",
};

#endif

HIVE_LISTED(hive_variant_tile)
