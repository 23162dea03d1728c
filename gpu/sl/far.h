/* SPDX-License-Identifier: Apache-2.0
 *
 * far.h - the kernels of a table with far segments: searches of a warp for the keys of its 32 items.
 *
 * A lane searches the directory and the near keys of its item's segment, all in device memory. That leaves one line of
 * far memory. Then half a warp reads the lines of its items, a word per lane, one item after another. Items that follow
 * each other and need the same line share the read: where a batch is sorted by key, most of them do if it is large.
 */
#ifndef SL_FAR_H
#define SL_FAR_H

#include "gpu/sl/insert_merge.h"
#include "gpu/sl/look.h"

/* What a search asks for besides the index of the first entry that is not below the key. */
typedef enum sl_asks {
    SL_ASKS_FROM,  /* that entry */
    SL_ASKS_BELOW, /* the one before */
    SL_ASKS_PLACE  /* no entry; other lanes of the launch may change values */
} sl_asks;

typedef struct sl_seen {
    sl_spot s;  /* `there` is not known with SL_ASKS_BELOW */
    sl_entry e; /* of SL_ASKS_PLACE the key only */
    bool has;   /* e is the entry that was asked for */
    bool far;   /* the segment is; then s.index is a code (sl_code_at) */
} sl_seen;

/* A line that is to be read, and what is looked for in it. */
typedef struct sl_line {
    uint64_t place; /* of its first entry; SL_NO_PLACE: none is to be read */
    uint32_t count; /* entries */
    uint32_t at;    /* which line of the home */
} sl_line;

/* ---- The line -------------------------------------------------------------------------------- */

/* The entry that was asked for lies in the last line whose near key is not above (BELOW: is below) the key. If there is
 * none, or the line has no entry, none is to be read, and the key belongs there in front. */
SIMT_FN sl_line sl_line_for(const sl_args *a, const sl_belongs *in, uint64_t key, sl_asks asks)
{
    uint32_t lines = 1u << (a->shift - sl_line_shift(&a->v));
    sl_line l;
    l.place = SL_NO_PLACE;
    l.count = l.at = 0;
    uint64_t from = key + (asks != SL_ASKS_BELOW);
    uint32_t before = sl_seek(a, sl_line_of(a, in->first), lines, from, in->least, in->limit, SL_NEAR_KEYS);
    if (before == 0) return l;
    l.at = before - 1;
    uint64_t place = in->first + ((uint64_t)l.at << sl_line_shift(&a->v));
    l.count = sl_filled_in_line(a, place);
    if (l.count) l.place = place;
    return l;
}

/* In a near segment a lane goes on alone. */
SIMT_FN void sl_seek_near(const sl_args *a, const sl_belongs *in, uint64_t key, sl_asks asks, sl_seen *x)
{
    bool shared = asks == SL_ASKS_PLACE;
    x->s.index = sl_seek(a, in->first, in->count, key, in->least, in->limit, shared ? SL_SHARED_ENTRIES : SL_ENTRIES);
    uint32_t at = x->s.index - (asks == SL_ASKS_BELOW);
    x->has = at < in->count;
    if (!x->has) return;
    if (shared)
        x->e.key = sl_key_at(a, in->first + at, true);
    else
        x->e = sl_entry_at(a, in->first + at);
}

/* The word of a lane's rank. */
SIMT_FN uint64_t sl_line_word(simt_tile t, const sl_args *a, uint64_t place, uint32_t count, sl_asks asks)
{
    bool is_key = (t.rank & (a->v.words - 1)) == 0;
    if ((t.rank >> (a->v.words - 1)) >= count || (asks == SL_ASKS_PLACE && !is_key)) return 0;
    const uint64_t *p = sl_words(a, place) + t.rank;
    if (asks == SL_ASKS_PLACE && a->v.words == 1) return simt_ldrlx_u64(p);
    return simt_ld_u64(p);
}

/* What the word of rank r, and of an entry of two words the next one, say. */
SIMT_FN sl_entry sl_line_entry(simt_tile t, const sl_args *a, uint64_t word, uint32_t index)
{
    sl_entry e;
    uint64_t first = simt_shfl_u64(t, word, index * a->v.words);
    e.key = a->v.words == 1 ? first >> 32 : first;
    e.value = a->v.words == 1 ? first & 0xffffffffu : simt_shfl_u64(t, word, 2 * index + 1);
    return e;
}

/* The line that half a warp has read, by word. */
typedef struct sl_read {
    uint64_t place, word;
} sl_read;

/* The lanes read the line of item k, if they have not read it for the item before, and tell lane k what is there. */
SIMT_FN void sl_read_line(simt_tile t, const sl_args *a, uint32_t k, const sl_line *l, uint64_t key, sl_asks asks,
                          sl_read *r, sl_seen *x)
{
    uint64_t place = simt_shfl_u64(t, l->place, k), wanted = simt_shfl_u64(t, key, k);
    uint32_t count = simt_shfl_u32(t, l->count, k);
    if (place == SL_NO_PLACE) return;
    if (place != r->place) r->word = sl_line_word(t, a, place, count, asks);
    r->place = place;
    bool is_key = (t.rank & (a->v.words - 1)) == 0 && (t.rank >> (a->v.words - 1)) < count;
    uint32_t below = simt_popc(simt_ballot(t, is_key && (a->v.words == 1 ? r->word >> 32 : r->word) < wanted)),
             pick = below - (asks == SL_ASKS_BELOW);
    sl_entry e = sl_line_entry(t, a, r->word, pick < count ? pick : 0);
    if (t.rank != k) return;
    x->s.index = sl_code_at(a, l->at, below);
    x->s.place = place + below;
    x->has = pick < count;
    x->e = e;
}

/* Each half of a warp reads the lines of its items. */
SIMT_FN void sl_read_lines(const sl_args *a, const sl_line *l, uint64_t key, sl_asks asks, sl_seen *x)
{
    simt_tile t = simt_tile_of(SL_LINE_WORDS);
    sl_read r;
    if (!simt_any(simt_tile_of(32), l->place != SL_NO_PLACE)) return;
    r.place = SL_NO_PLACE;
    r.word = 0;
    for (uint32_t k = 0; k < t.size; k++) {
        sl_read_line(t, a, k, l, key, asks, &r, x);
        simt_join();
    }
}

/* All lanes of a warp. key: at most sl_keys; SL_NO_KEY: the lane looks for none. */
SIMT_FN sl_seen sl_search_far(const sl_args *a, uint64_t key, sl_asks asks)
{
    sl_seen x;
    sl_line l;
    sl_belongs in;
    x.s.index = x.s.count = 0;
    x.s.row = x.e.key = x.e.value = 0;
    x.has = x.far = false;
    x.s.place = SL_NO_PLACE;
    l.place = SL_NO_PLACE;
    l.count = l.at = 0;
    if (key != SL_NO_KEY) {
        in = sl_where(a, key);
        x.s.row = in.row;
        x.s.count = in.count;
        x.far = in.first >= a->near_places;
        if (x.far) {
            l = sl_line_for(a, &in, key, asks);
            x.s.index = sl_code_at(a, l.at, 0);
        } else {
            sl_seek_near(a, &in, key, asks, &x);
        }
        x.s.place = in.first + (x.far ? sl_code_index(a, x.s.index) : x.s.index);
    }
    simt_join();
    sl_read_lines(a, &l, key, asks, &x);
    x.s.there = x.has && x.e.key == key;
    return x;
}

/* ---- Lookup ---------------------------------------------------------------------------------- */

/* The item at a position of the order. */
SIMT_FN uint64_t sl_item_in_order(const sl_args *a, uint64_t at)
{
    return a->b.first + (a->order ? (uint32_t)simt_ld_u64(a->order + at) : at);
}

SIMT_FN uint32_t sl_found_far(const sl_args *a, uint64_t i, const sl_seen *x)
{
    simt_ticket(i, x->s.there ? HD_HIT : HD_MISS, 0, x->s.there ? x->s.place : SL_NO_PLACE);
    if (!x->s.there) return HD_MISS;
    sl_deliver_found(a, i, x->e.value);
    return HD_HIT;
}

/* The neighbour's place, if it is in another line or segment. */
SIMT_FN uint64_t sl_neighbour_place(const sl_args *a, const sl_seen *x)
{
    const sl_spot *s = &x->s;
    bool up = a->b.op == HD_OP_SUCCESSOR;
    if (x->far) {
        uint64_t first = sl_home_place(a, simt_ld_u32(a->v.home + s->row));
        uint32_t from = sl_code_index(a, s->index),
                 index = up ? sl_entry_from(a, first, from) : sl_entry_before(a, first, from);
        if (index < a->v.fit) return first + index;
    } else if (up ? s->index < s->count : s->index > 0) {
        return up ? s->place : s->place - 1;
    }
    if (up) return s->row + 1 < sl_rows(a) ? sl_first_of_row(a, s->row + 1) : SL_NO_PLACE;
    return s->row ? sl_last_of_row(a, s->row - 1) : SL_NO_PLACE;
}

SIMT_FN uint32_t sl_neighbour_far(const sl_args *a, uint64_t i, const sl_seen *x)
{
    if (!x->has) return sl_neighbour_at(a, i, sl_neighbour_place(a, x));
    simt_ticket(i, HD_HIT, 0, x->s.place - (a->b.op != HD_OP_SUCCESSOR));
    sl_deliver_entry(a, i, x->e);
    return HD_HIT;
}

SIMT_FN uint32_t sl_looked_far(const sl_args *a, uint64_t i, uint64_t key, const sl_seen *x)
{
    uint32_t outcome = HD_RESERVED;
    if (key == SL_NO_KEY)
        simt_ticket(i, HD_RESERVED, 0, SL_NO_PLACE);
    else
        outcome = HD_OP_IN(a->b.op, HD_OPS_ORDERED) ? sl_neighbour_far(a, i, x) : sl_found_far(a, i, x);
    sl_deliver_outcome(&a->b, i, outcome);
    return outcome;
}

SIMT_FN void sl_look_far(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t mine = 0, n = a->b.last - a->b.first;
    for (uint64_t at = gpu_thread() / 32 * 32; at < n; at += gpu_threads()) {
        bool is = at + w.rank < n;
        uint64_t i = is ? sl_item_in_order(a, at + w.rank) : 0, key = is ? sl_item_key(a, i) : SL_NO_KEY,
                 from = key == SL_NO_KEY ? key : sl_looks_for(a, key);
        simt_join();
        sl_seen x = sl_search_far(a, from, a->b.op == HD_OP_PREDECESSOR ? SL_ASKS_BELOW : SL_ASKS_FROM);
        uint32_t outcome = is ? sl_looked_far(a, i, key, &x) : (uint32_t)SL_NO_ITEM;
        simt_join();
        gpu_count_lanes(w, &mine, outcome);
    }
    gpu_tally_lanes(w, &a->b, mine);
}

/* A half warp copies the entries of its items, one item after another, so that it reads a line at a time. */
SIMT_FN void sl_range_far(const sl_args *a)
{
    simt_tile w = simt_tile_of(32), t = simt_tile_of(SL_LINE_WORDS);
    uint64_t mine = 0, n = a->b.last - a->b.first;
    for (uint64_t at = gpu_thread() / 32 * 32; at < n; at += gpu_threads()) {
        sl_ranged r;
        r.is = at + w.rank < n;
        uint64_t i = r.is ? sl_item_in_order(a, at + w.rank) : a->b.last, key = r.is ? sl_item_key(a, i) : SL_NO_KEY;
        simt_join();
        sl_seen x = sl_search_far(a, key, SL_ASKS_FROM);
        r.is = key != SL_NO_KEY;
        r.row = x.s.row;
        r.index = x.far ? sl_code_index(a, x.s.index) : x.s.index;
        r.last = r.is ? simt_ld_u64(a->key2 + i) : 0;
        simt_join();
        uint32_t outcome = sl_range_copy(t, a, i, &r, true);
        gpu_count_lanes(w, &mine, outcome);
    }
    gpu_tally_lanes(w, &a->b, mine);
}

/* ---- Updates --------------------------------------------------------------------------------- */

SIMT_FN void sl_update_far(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t mine = 0, n = a->b.last - a->b.first;
    for (uint64_t at = gpu_thread() / 32 * 32; at < n; at += gpu_threads()) {
        bool is = at + w.rank < n;
        uint64_t i = is ? sl_item_in_order(a, at + w.rank) : 0, key = is ? sl_item_key(a, i) : SL_NO_KEY;
        simt_join();
        sl_seen x = sl_search_far(a, key, SL_ASKS_PLACE);
        uint32_t outcome = is ? sl_update_item(a, i, key, &x.s) : (uint32_t)SL_NO_ITEM;
        simt_join();
        gpu_count_lanes(w, &mine, outcome);
    }
    gpu_tally_lanes(w, &a->b, mine);
}

/* ---- Steps of a window ----------------------------------------------------------------------- */

SIMT_FN void sl_heads_far(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t n = a->b.last - a->b.first;
    for (uint32_t share = gpu_warp(); share < a->item_shares; share += gpu_warps()) {
        uint64_t end = gpu_share_begin(n, share + 1, a->item_shares);
        uint32_t marked = 0;
        for (uint64_t at = gpu_share_begin(n, share, a->item_shares); at < end; at += 32) {
            uint64_t key = at + w.rank < end ? sl_head_key(a, at + w.rank) : SL_NO_KEY;
            simt_join();
            sl_seen x = sl_search_far(a, key, SL_ASKS_FROM);
            uint32_t mark = sl_mark_of(a, key, &x.s);
            if (at + w.rank < end) simt_st_u32(a->window.mark + at + w.rank, mark);
            simt_join();
            marked += simt_popc(simt_ballot(w, mark != 0));
        }
        sl_note(w, a->window.share + share, marked);
    }
}

SIMT_FN void sl_apply_far(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t mine = 0, n = a->b.last - a->b.first;
    for (uint64_t at = gpu_thread() / 32 * 32; at < n; at += gpu_threads()) {
        uint32_t outcome = SL_NO_ITEM;
        bool is = at + w.rank < n;
        sl_applied x;
        x.key = SL_NO_KEY;
        if (is) x = sl_apply_begin(a, at + w.rank);
        simt_join();
        sl_seen seen = sl_search_far(a, x.key, SL_ASKS_PLACE);
        if (is) {
            outcome = sl_apply_item(a, &x, &seen.s);
            sl_deliver_outcome(&a->b, x.i, outcome);
        }
        simt_join();
        gpu_count_lanes(w, &mine, outcome);
    }
    gpu_tally_lanes(w, &a->b, mine);
}

#endif
