/* SPDX-License-Identifier: Apache-2.0
 *
 * wabc - the paper's mapping: a warp per key and a lane per slot of a bucket of 32. A search is one coalesced load, a
 * ballot and an election (WCME, section IV-B); an insert wins its slot by one atomic on the mask of free slots, and
 * then commits (WABC, section IV-A); keys are displaced under the bucket's lock, which nothing else takes.
 */
#ifdef HIVE_KERNEL_TEXT
SIMT_FN void hive_wabc_items(const hive_args *a) { hive_items(a, simt_tile_of(32)); }
SIMT_FN void hive_wabc_sweep(const hive_args *a) { hive_sweep(a); }
SIMT_FN void hive_wabc_export(const hive_args *a) { hive_list(a); }
SIMT_FN void hive_wabc_clear(const hive_args *a) { hive_clear_words(a); }
#endif
HIVE_KERNEL(wabc, items, 32, 128, hive_fits_wabc, ORDER,
            "a warp per key, a lane per slot, claims by one atomic on the bucket's mask")
HIVE_KERNEL(wabc, sweep, 1, 128, hive_fits_wabc, EXACT, "a thread per slot")
HIVE_KERNEL(wabc, export, 1, 128, hive_fits_wabc, EXACT, "a warp per part of the range counts, and then writes")
HIVE_KERNEL(wabc, clear, 1, 128, hive_fits_wabc, EXACT, "a thread per slot")
#ifdef HIVE_SPECIAL
HIVE_SPECIAL(wabc, items, FIND, false, false, 128, 8)
HIVE_SPECIAL(wabc, items, INSERT_OR_ASSIGN, false, false, 128, 6)
HIVE_SPECIAL(wabc, items, INSERT_OR_ASSIGN, false, true, 128, 6)
HIVE_SPECIAL(wabc, items, ERASE, false, false, 128, 8)
HIVE_SPECIAL(wabc, items, FIND, true, false, 128, 6)
HIVE_SPECIAL(wabc, items, FIND, true, true, 128, 6)
#endif
