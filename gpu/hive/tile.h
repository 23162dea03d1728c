/* SPDX-License-Identifier: Apache-2.0
 *
 * tile - eight lanes per key, four keys of a warp on their way at once. A lane reads one to four neighbouring words of
 * a bucket, sixteen bytes by one load where there are that many. Any shape; in layout "words" a slot is claimed by one
 * compare-and-swap on its word.
 */
#ifdef HIVE_KERNEL_TEXT
SIMT_FN void hive_tile_items(const hive_args *a) { hive_items(a, simt_tile_of(8)); }
SIMT_FN void hive_tile_sweep(const hive_args *a) { hive_sweep(a); }
SIMT_FN void hive_tile_export(const hive_args *a) { hive_list(a); }
SIMT_FN void hive_tile_clear(const hive_args *a) { hive_clear_words(a); }
#endif
HIVE_KERNEL(tile, items, 8, 128, hive_fits_all, ORDER,
            "eight lanes per key, four keys in flight per warp, claims by compare-and-swap")
HIVE_KERNEL(tile, sweep, 1, 128, hive_fits_all, EXACT, "a thread per slot")
HIVE_KERNEL(tile, export, 1, 128, hive_fits_all, EXACT, "a warp per part of the range counts, and then writes")
HIVE_KERNEL(tile, clear, 1, 128, hive_fits_all, EXACT, "a thread per slot")
