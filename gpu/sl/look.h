/* SPDX-License-Identifier: Apache-2.0
 *
 * look.h - operations that read: find and its kind, neighbours, ranges, the two ends.
 */
#ifndef SL_LOOK_H
#define SL_LOOK_H

#include "gpu/sl/entry.h"

/* ---- Positions in the order of keys ---------------------------------------------------------- */

/* The segment of a row. */
typedef struct sl_segment {
    uint64_t first; /* place */
    uint32_t count;
} sl_segment;

SIMT_FN sl_segment sl_segment_of(const sl_args *a, uint64_t row)
{
    sl_segment s;
    uint32_t home = simt_ld_u32(a->v.home + row);
    s.first = sl_home_place(a, home);
    s.count = simt_ld_u32(a->v.count + home);
    return s;
}

/* The first entry that is not below the spot's key; SL_NO_PLACE: there is none. Only a segment that is alone is empty,
 * so the next one has an entry. */
SIMT_FN uint64_t sl_at_or_after(const sl_args *a, const sl_spot *s)
{
    if (s->index < s->count) return s->place;
    return s->row + 1 < sl_rows(a) ? sl_segment_of(a, s->row + 1).first : SL_NO_PLACE;
}

/* The last entry below the spot's key. */
SIMT_FN uint64_t sl_last_below(const sl_args *a, const sl_spot *s)
{
    if (s->index > 0) return s->place - 1;
    if (s->row == 0) return SL_NO_PLACE;
    sl_segment g = sl_segment_of(a, s->row - 1);
    return g.first + g.count - 1;
}

/* ---- Lookup ---------------------------------------------------------------------------------- */

SIMT_FN void sl_deliver_found(const sl_args *a, uint64_t i, uint64_t value)
{
    if (!gpu_delivers_value(a->b.op)) return;
    sl_deliver_value(a, i, value);
    if (a->b.score_out) simt_st_u64(a->b.score_out + i, 0);
}

SIMT_FN uint32_t sl_find_one(const sl_args *a, uint64_t i, const sl_spot *s)
{
    uint32_t outcome = s->there ? HD_HIT : HD_MISS;
    simt_ticket(i, outcome, 0, s->there ? s->place : SL_NO_PLACE);
    if (s->there) sl_deliver_found(a, i, a->b.value_out ? sl_entry_value(a, s->place) : 0);
    return outcome;
}

/* The key whose place says where the item's entry is. A successor is the first entry from there on, a predecessor the
 * last one before. */
SIMT_FN uint64_t sl_looks_for(const sl_args *a, uint64_t key)
{
    if (!HD_OP_IN(a->b.op, HD_OPS_ORDERED)) return key;
    return key + ((a->b.op == HD_OP_SUCCESSOR) != a->inclusive);
}

SIMT_FN uint32_t sl_neighbour_at(const sl_args *a, uint64_t i, uint64_t place)
{
    uint32_t outcome = place == SL_NO_PLACE ? HD_MISS : HD_HIT;
    simt_ticket(i, outcome, 0, place);
    if (outcome == HD_HIT) sl_deliver_entry(a, i, sl_entry_at(a, place));
    return outcome;
}

SIMT_FN uint32_t sl_neighbour_one(const sl_args *a, uint64_t i, const sl_spot *s)
{
    return sl_neighbour_at(a, i, a->b.op == HD_OP_SUCCESSOR ? sl_at_or_after(a, s) : sl_last_below(a, s));
}

SIMT_FN uint32_t sl_look_one(const sl_args *a, uint64_t i)
{
    uint64_t key = sl_item_key(a, i);
    uint32_t outcome = HD_RESERVED;
    if (key == SL_NO_KEY) {
        simt_ticket(i, HD_RESERVED, 0, SL_NO_PLACE);
    } else {
        sl_spot s = sl_search(a, sl_looks_for(a, key), false);
        outcome = HD_OP_IN(a->b.op, HD_OPS_ORDERED) ? sl_neighbour_one(a, i, &s) : sl_find_one(a, i, &s);
    }
    sl_deliver_outcome(&a->b, i, outcome);
    return outcome;
}

/* A thread per item. */
SIMT_FN void sl_look(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t mine = 0;
    for (uint64_t at = a->b.first + gpu_thread() / 32 * 32; at < a->b.last; at += gpu_threads()) {
        uint32_t outcome = SL_NO_ITEM;
        if (at + w.rank < a->b.last) outcome = sl_look_one(a, at + w.rank);
        simt_join();
        gpu_count_lanes(w, &mine, outcome);
    }
    gpu_tally_lanes(w, &a->b, mine);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* The segment of a row; far: the table has far segments. Of one of these all places may have entries. */
SIMT_FN sl_segment sl_places_of(const sl_args *a, uint64_t row, bool far)
{
    sl_segment g = sl_segment_of(a, row);
    if (far && g.first >= a->near_places) g.count = a->v.fit;
    return g;
}

SIMT_FN bool sl_place_has(const sl_args *a, const sl_segment *g, uint32_t index, bool far)
{
    return index < g->count && (!far || g->first < a->near_places || sl_is_entry(a, g->first + index));
}

/* A tile copies the entries from the spot on that are at most `last`, up to the limit; how many there are, or any
 * number above the limit. whole: of a table with far segments. Each step ends where a line does, or a part of it. */
SIMT_FN uint64_t sl_copy_range(simt_tile t, const sl_args *a, uint64_t i, uint64_t row, uint32_t index, uint64_t last,
                               bool whole)
{
    uint64_t rows = sl_rows(a), found = 0;
    bool ends = false;
    sl_segment g = sl_places_of(a, row, whole);
    while (!ends && found <= a->limit) {
        uint32_t step = whole ? t.size - (index & (t.size - 1)) : t.size;
        bool is = t.rank < step && sl_place_has(a, &g, index + t.rank, whole);
        sl_entry e;
        e.key = SL_NO_KEY;
        e.value = 0;
        if (is) e = sl_entry_at(a, g.first + index + t.rank);
        bool in = is && e.key <= last;
        simt_join();
        uint32_t lanes = simt_ballot(t, in); /* with gaps, where the step has several lines */
        uint64_t to = found + simt_popc(lanes & ((1u << t.rank) - 1));
        if (in && to < a->limit) sl_deliver_entry(a, i * a->limit + to, e);
        simt_join();
        found += simt_popc(lanes);
        ends = simt_any(t, is && !in);
        index += step;
        if (ends || index < g.count) continue;
        ends = ++row >= rows;
        index = 0;
        if (!ends) g = sl_places_of(a, row, whole);
    }
    return found;
}

/* What a thread knows of its item of a range. */
typedef struct sl_ranged {
    uint64_t row, last;
    uint32_t index;
    bool is; /* it has a range; else it is RESERVED, or there is no item */
} sl_ranged;

SIMT_FN sl_ranged sl_range_begin(const sl_args *a, uint64_t i)
{
    sl_ranged r;
    r.row = r.last = r.index = 0;
    r.is = false;
    if (i >= a->b.last) return r;
    uint64_t key = sl_item_key(a, i);
    if (key == SL_NO_KEY) return r;
    sl_spot s = sl_search(a, key, false);
    r.row = s.row;
    r.index = s.index;
    r.last = simt_ld_u64(a->key2 + i);
    r.is = true;
    return r;
}

SIMT_FN uint32_t sl_range_end(const sl_args *a, uint64_t i, bool is, uint64_t found)
{
    uint32_t outcome = !is ? HD_RESERVED : found ? HD_HIT : HD_MISS;
    simt_ticket(i, outcome, 0, SL_NO_PLACE);
    if (a->rows_out) simt_st_u32(a->rows_out + i, found <= a->limit ? (uint32_t)found : a->limit);
    if (a->more) simt_st_u8(a->more + i, found > a->limit);
    sl_deliver_outcome(&a->b, i, outcome);
    return outcome;
}

/* The lanes of a warp, which know their items, i, copy the entries in tiles, one item after another. The outcome. */
SIMT_FN uint32_t sl_range_copy(simt_tile t, const sl_args *a, uint64_t i, const sl_ranged *r, bool whole)
{
    uint64_t found = 0;
    uint32_t outcome = SL_NO_ITEM;
    for (uint32_t k = 0; k < t.size; k++) {
        uint64_t item = simt_shfl_u64(t, i, k), row = simt_shfl_u64(t, r->row, k), last = simt_shfl_u64(t, r->last, k),
                 n = 0;
        uint32_t index = simt_shfl_u32(t, r->index, k);
        if (simt_shfl_u32(t, r->is, k)) n = sl_copy_range(t, a, item, row, index, last, whole);
        simt_join();
        if (t.rank == k) found = n;
    }
    if (i < a->b.last) outcome = sl_range_end(a, i, r->is, found);
    simt_join();
    return outcome;
}

/* A thread per item searches; then tiles of eight lanes copy the entries of their items. */
SIMT_FN void sl_range(const sl_args *a)
{
    simt_tile w = simt_tile_of(32), t = simt_tile_of(8);
    uint64_t mine = 0;
    for (uint64_t at = a->b.first + gpu_thread() / 32 * 32; at < a->b.last; at += gpu_threads()) {
        sl_ranged r = sl_range_begin(a, at + w.rank);
        simt_join();
        uint32_t outcome = sl_range_copy(t, a, at + w.rank, &r, false);
        gpu_count_lanes(w, &mine, outcome);
    }
    gpu_tally_lanes(w, &a->b, mine);
}

/* ---- The ends -------------------------------------------------------------------------------- */

SIMT_FN void sl_ends(const sl_args *a)
{
    if (gpu_thread() != 0) return;
    uint64_t place = a->b.op == HD_OP_MIN ? sl_first_of_row(a, 0) : sl_last_of_row(a, sl_rows(a) - 1);
    if (place != SL_NO_PLACE) sl_deliver_entry(a, 0, sl_entry_at(a, place));
    simt_st_u64(a->b.count, place != SL_NO_PLACE);
}

#endif
