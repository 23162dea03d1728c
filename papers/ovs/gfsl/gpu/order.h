/* SPDX-License-Identifier: Apache-2.0
 *
 * order.h - operations that need the order of keys: neighbours, ranges, the two ends. They run in batches that read, so
 * no chunk is locked, and none is a zombie. All functions are called by the whole tile.
 */
#ifndef GFSL_ORDER_H
#define GFSL_ORDER_H

#include "gfsl/gpu/look.h"
#include "gpu/words.h"

/* The chunk of level 0 from which the chunk of the key is reached by links; *by: the key of the index entry that leads
 * there, or 0. */
SIMT_FN uint32_t gfsl_enter(simt_tile t, const gfsl_args *a, uint64_t key, uint64_t *by)
{
    gfsl_way way = gfsl_way_begin(t, a, 0);
    uint32_t at = way.level;
    while (way.level > 0) {
        gfsl_chunk x;
        gfsl_reach(t, a, at, &x);
        at = gfsl_step(t, &x, key, &way);
    }
    *by = way.by;
    return at;
}

/* The least word of the lanes that have one, as `is` says; any is: one of them has. */
SIMT_FN uint64_t gfsl_least_word(simt_tile t, uint64_t w, bool is)
{
    return simt_reduce_min_u64(t, is ? w : UINT64_MAX);
}

/* The entry of the least key that is not below `key`; GFSL_EMPTY: there is none. */
SIMT_FN uint64_t gfsl_first_from(simt_tile t, const gfsl_args *a, uint64_t key)
{
    uint64_t by;
    uint32_t at = gfsl_enter(t, a, key, &by);
    for (;;) {
        gfsl_chunk x;
        gfsl_reach(t, a, at, &x);
        bool is = t.rank < t.size - 2 && x.w != GFSL_EMPTY && x.w >> 32 >= key;
        if (simt_any(t, is)) return gfsl_least_word(t, x.w, is);
        at = gfsl_low(x.link);
        if (at == GFSL_NONE) return GFSL_EMPTY;
    }
}

/* The entry of the greatest key that is not above `key`, of the chunks from chunk `at` on; GFSL_EMPTY. */
SIMT_FN uint64_t gfsl_last_of(simt_tile t, const gfsl_args *a, uint32_t at, uint64_t key)
{
    uint64_t best = GFSL_EMPTY;
    for (;;) {
        gfsl_chunk x;
        gfsl_reach(t, a, at, &x);
        bool is = t.rank < t.size - 2 && x.w >> 32 <= key;
        if (simt_any(t, is)) best = ~gfsl_least_word(t, ~x.w, is);
        if (key <= gfsl_key(x.link)) return best;
        at = gfsl_low(x.link);
    }
}

/* The same of the whole list. Links lead to the right alone: where the chunks from an index entry on have no such key,
 * the search begins again, to the left of that entry. */
SIMT_FN uint64_t gfsl_last_to(simt_tile t, const gfsl_args *a, uint64_t key)
{
    for (;;) {
        uint64_t by;
        uint32_t at = gfsl_enter(t, a, key, &by);
        uint64_t best = gfsl_last_of(t, a, at, key);
        if (best != GFSL_EMPTY || by == 0) return best;
        key = by - 1;
    }
}

/* One lane writes row `row` of the entries that an operation finds. */
SIMT_FN void gfsl_deliver_row(const gfsl_args *a, uint64_t row, uint64_t entry)
{
    if (a->key_out) simt_st_u64(a->key_out + row, gfsl_key(entry));
    if (a->b.value_out) gpu_elem_store(a->b.value_out + 4 * row, 4, gfsl_low(entry));
}

/* ---- Items ----------------------------------------------------------------------------------- */

SIMT_FN uint32_t gfsl_neighbour(simt_tile t, const gfsl_args *a, uint64_t i, uint64_t key)
{
    bool above = a->b.op == HD_OP_SUCCESSOR;
    uint64_t entry = GFSL_EMPTY;
    if (above)
        entry = gfsl_first_from(t, a, key + !a->inclusive);
    else if (key || a->inclusive)
        entry = gfsl_last_to(t, a, key - !a->inclusive);
    if (t.rank == 0 && entry != GFSL_EMPTY) gfsl_deliver_row(a, i, entry);
    simt_join();
    return entry == GFSL_EMPTY ? HD_MISS : HD_HIT;
}

/* Delivers the entries of a chunk with keys from `key` to `last`, of which so many were found before it; how many it
 * has. */
SIMT_FN uint32_t gfsl_range_chunk(simt_tile t, const gfsl_args *a, const gfsl_chunk *x, uint64_t i, uint64_t key,
                                  uint64_t last, uint64_t found)
{
    uint64_t w = gfsl_is_loose(&a->v, x->seal) ? gfsl_sorted(t, x->w) : x->w;
    bool is = t.rank < t.size - 2 && w != GFSL_EMPTY && w >> 32 >= key && w >> 32 <= last;
    uint32_t all = simt_ballot(t, is);
    uint64_t row = found + simt_popc(all & ((1u << t.rank) - 1));
    if (is && row < a->limit) gfsl_deliver_row(a, i * a->limit + row, w);
    simt_join();
    return simt_popc(all);
}

/* How many entries the item's range has, or any number above the limit. */
SIMT_FN uint64_t gfsl_range(simt_tile t, const gfsl_args *a, uint64_t i, uint64_t key)
{
    uint64_t by, last = simt_ld_u64(a->key2 + i), found = 0;
    uint32_t at = gfsl_enter(t, a, key, &by);
    while (found <= a->limit) {
        gfsl_chunk x;
        gfsl_reach(t, a, at, &x);
        found += gfsl_range_chunk(t, a, &x, i, key, last, found);
        at = gfsl_low(x.link);
        if (gfsl_key(x.link) >= last || at == GFSL_NONE) break;
    }
    return found;
}

SIMT_FN uint32_t gfsl_ordered_one(simt_tile t, const gfsl_args *a, const gpu_one *o)
{
    uint64_t found = 0;
    bool range = a->b.op == HD_OP_RANGE, is = o->outcome == GPU_UNDECIDED;
    if (is && !range) return gfsl_neighbour(t, a, o->i, o->key);
    if (is) found = gfsl_range(t, a, o->i, o->key);
    if (t.rank == 0 && range && a->rows) simt_st_u32(a->rows + o->i, found < a->limit ? (uint32_t)found : a->limit);
    if (t.rank == 0 && range && a->more) simt_st_u8(a->more + o->i, found > a->limit);
    simt_join();
    return !is ? o->outcome : found ? HD_HIT : HD_MISS;
}

/* A tile per item. */
SIMT_FN void gfsl_ordered(const gfsl_args *a, simt_tile t)
{
    gpu_counts c = gpu_count_none();
    for (uint64_t i = a->b.first + gpu_thread() / t.size; i < a->b.last; i += gpu_threads() / t.size) {
        gpu_one o = gpu_begin(t, &a->b, GFSL_HALF, i, a->b.op, false);
        uint32_t outcome = gfsl_ordered_one(t, a, &o);
        if (o.outcome == GPU_UNDECIDED) gpu_leave(t, &o, outcome);
        if (t.rank == 0 && a->b.outcome) simt_st_u8(a->b.outcome + i, (uint8_t)outcome);
        if (t.rank == 0 && a->b.found) simt_st_u8(a->b.found + i, HD_OP_IN(outcome, HD_OUTCOMES_FOUND));
        simt_join();
        gpu_count(t, &c, outcome);
    }
    simt_join();
    gpu_tally(t, &a->b, &c);
}

/* The first tile of the launch finds the least entry, or the greatest. */
SIMT_FN void gfsl_ends(const gfsl_args *a, simt_tile t)
{
    if (gpu_thread() / t.size != 0) return;
    uint64_t entry;
    if (a->b.op == HD_OP_MIN)
        entry = gfsl_first_from(t, a, 0);
    else
        entry = gfsl_last_to(t, a, word_keys(GFSL_HALF) - 1);
    if (t.rank != 0) return;
    if (entry != GFSL_EMPTY) gfsl_deliver_row(a, 0, entry);
    simt_st_u64(a->b.count, entry != GFSL_EMPTY);
}

#endif
