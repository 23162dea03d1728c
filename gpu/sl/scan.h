/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.h - operations on all entries, and lists (gpu/words.h).
 */
#ifndef SL_SCAN_H
#define SL_SCAN_H

#include "gpu/sl/compact.h"

/* Whether the place has an entry; its key. */
SIMT_FN bool sl_has(const sl_args *a, uint64_t place, uint64_t *key)
{
    uint64_t home = place >> a->shift;
    *key = SL_NO_KEY;
    if (simt_ld_u32(a->v.count + home) == 0 || !sl_is_entry(a, place)) return false;
    *key = sl_key_at(a, place, false);
    return true;
}

/* size: a thread per home. */
SIMT_FN uint64_t sl_sum_counts(const sl_args *a)
{
    uint64_t n = 0;
    for (uint64_t home = gpu_thread(); home < a->v.homes; home += gpu_threads()) n += simt_ld_u32(a->v.count + home);
    return n;
}

/* size_if: a thread per place. */
SIMT_FN uint64_t sl_count_holding(const sl_args *a)
{
    uint64_t n = 0, key;
    for (uint64_t place = gpu_thread(); place < sl_places(&a->v); place += gpu_threads())
        n += sl_has(a, place, &key) && sl_holds(a, place, key);
    return n;
}

/* size, size_if; erase_if: how many entries of each row stay. Further launches remove the others. */
SIMT_FN void sl_sweep(const sl_args *a)
{
    if (a->b.op == HD_OP_ERASE_IF) {
        sl_keep_count(a);
        return;
    }
    gpu_add_up(a->b.count, a->b.op == HD_OP_SIZE ? sl_sum_counts(a) : sl_count_holding(a));
}

/* Sums of all far segments, so that further launches find their entries by number. A warp takes a row. */
SIMT_FN void sl_sum_rows(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t rows = sl_rows(a);
    for (uint64_t row = gpu_warp(); row < rows; row += gpu_warps()) {
        uint64_t first = sl_home_place(a, simt_ld_u32(a->v.home + row));
        if (first >= a->near_places) sl_sum_groups(w, a, first);
    }
}

/* Whether item, or slot, x lists, and what. The slots of a home are the numbers of its entries. */
SIMT_FN bool sl_lists(const sl_args *a, uint64_t x, sl_entry *e)
{
    e->key = e->value = 0;
    if (x >= a->b.last) return false;
    if (a->b.stage_flag) return simt_ld_u8(a->b.stage_flag + (x - a->b.first)) != 0;
    uint64_t home = x >> a->shift, first = sl_home_place(a, home);
    if (x - first >= simt_ld_u32(a->v.count + home)) return false;
    x = sl_place_of(a, first, (uint32_t)(x - first));
    e->key = sl_key_at(a, x, false);
    if (!sl_holds(a, x, e->key)) return false;
    e->value = sl_entry_value(a, x);
    return true;
}

SIMT_FN void sl_list(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    gpu_list l = gpu_list_begin(w, &a->b);
    while (gpu_list_goes_on(&l)) {
        sl_entry e;
        bool mine = sl_lists(a, l.x + w.rank, &e);
        simt_join();
        gpu_list_next_entry(w, &a->b, mine, e.key, e.value, sl_value_bytes(&a->v), &l);
    }
}

/* Every home free but the first, which has an empty segment. */
SIMT_FN void sl_clear_homes(const sl_args *a)
{
    for (uint64_t home = gpu_thread(); home < a->v.homes; home += gpu_threads()) {
        simt_st_u32(a->v.count + home, 0);
        if (home % 64 == 0) simt_st_u64(a->v.used + home / 64, home == 0);
    }
    sl_lay_lines(a, 0, a->v.fit, 0, gpu_thread(), gpu_threads()); /* of the first home, if it is far */
    if (gpu_thread() != 0) return;
    simt_st_u64(a->v.bound, 0);
    simt_st_u32(a->v.home, 0);
    simt_st_u64(&a->numbers->rows, 1);
}

#endif
