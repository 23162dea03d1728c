/* SPDX-License-Identifier: Apache-2.0
 *
 * search.h - a tile searches a key along its way. One load of all lanes reads a bucket; ballots tell which lanes see
 * what (the paper's WCME).
 *
 * Where keys move, the loads of one bucket come before those of the next: a key that has left the first bucket is in
 * the second by then. These loads acquire; they pair with the release of hive_put.
 *
 * A search ends in an open bucket. The words of a bucket are not loaded at one moment. But a slot that says FRESH said
 * so before. So the slots that are seen FRESH were all FRESH when the first one was loaded: the bucket was open then,
 * and no item had gone past it. If at most `spare` slots are seen FRESH, no more ever will be, so it stays right to go
 * past. In layout "masks" a slot that has been won says FRESH until it is written. All items count it by its word.
 *
 * No claim lies behind an open bucket. An item that claims has seen that no bucket before its claim is open. It claims,
 * then fences. If another item claims the same key and fences later, it sees those buckets not open, too, and its
 * search comes to the claim. (It compares all words of a bucket before it ends there.)
 */
#ifndef HIVE_SEARCH_H
#define HIVE_SEARCH_H

#include "gpu/hive/item.h"

typedef enum hive_sight { HIVE_ABSENT, HIVE_THERE, HIVE_MOVING } hive_sight;

/* What a search saw; the same for all lanes of a tile. */
typedef struct hive_found {
    hive_sight what;
    uint64_t entry, word;     /* THERE: where, and what it said                                */
    uint64_t room, room_word; /* a free slot for a new key (ref/hive/layout.h); HIVE_NOWHERE: none    */
    uint32_t room_free;       /* so many had that candidate                                    */
    bool before, after;       /* others claim the key: before the item's own claim, or after it */
} hive_found;

/* How far on the item's way bucket b is: the first place where it comes. */
SIMT_FN uint64_t hive_step_of(const hive_args *a, const hive_one *o, uint64_t b)
{
    const hive_view *v = &a->v;
    uint64_t ring = hive_ring(v, o->h);
    for (uint32_t i = 0; i < v->hashes; i++)
        if (hive_candidate(v, o->h, i) == b) return i;
    return v->hashes + (b >= ring ? b - ring : b + v->stash_buckets - ring);
}

/* Candidate i is not one of those before it. */
SIMT_FN bool hive_is_new_candidate(const hive_args *a, uint64_t h, uint32_t i)
{
    uint64_t b = hive_candidate(&a->v, h, i);
    for (uint32_t k = 0; k < i; k++)
        if (hive_candidate(&a->v, h, k) == b) return false;
    return true;
}

/* What a lane saw in its words of a bucket. */
typedef struct hive_words_seen {
    uint32_t key, empty;         /* its first word that is the key, or free; as many as it has: none */
    uint32_t free, fresh;        /* how many words are free, and how many of these are FRESH         */
    bool leaving, before, after; /* the key is moving; other items claim it before the item's own claim, or after it */
} hive_words_seen;

/* Compares the lane's words of a bucket, of which the first is entry `first`, with the item's key. */
SIMT_FN hive_words_seen hive_look_at_words(const hive_args *a, const hive_one *o, const uint64_t w[HIVE_LANE_WORDS],
                                           uint32_t n, uint64_t first, uint64_t step)
{
    const hive_view *v = &a->v;
    hive_words_seen s;
    s.key = s.empty = n;
    s.free = s.fresh = 0;
    s.leaving = s.before = s.after = false;
    SIMT_UNROLL
    for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) {
        if (k >= n) break;
        uint64_t head = hive_key_of(v, w[k]);
        bool theirs =
            head >= hive_keys(v) && !hive_is_free(v, w[k]) && hive_value_of(v, w[k]) == o->key && first + k != o->claim;
        bool earlier = step < o->claim_step || (step == o->claim_step && first + k < o->claim);
        if (head == o->key) s.key = k;
        if (hive_is_free(v, w[k])) {
            if (s.empty == n) s.empty = k;
            s.free++;
            s.fresh += w[k] == hive_fresh(v);
        }
        if (theirs) {
            s.leaving = s.leaving || w[k] == hive_sign(v, HIVE_LEAVING, o->key);
            s.before = s.before || earlier;
            s.after = s.after || !earlier;
        }
    }
    return s;
}

/* Searches bucket b, which comes at `step` of the key's way, and adds what it saw to *f. True: the search ends here. */
SIMT_FN bool hive_search_bucket(simt_tile t, const hive_args *a, const hive_one *o, uint64_t b, uint64_t step,
                                hive_found *f)
{
    const hive_view *v = &a->v;
    uint64_t w[HIVE_LANE_WORDS], first = hive_share_at(t, v, b);
    uint32_t n = hive_share(t, v), spare = step < v->hashes ? v->spare : 0;
    hive_load_share_as(t, v, b, a->moves, w);
    hive_words_seen s = hive_look_at_words(a, o, w, n, first, step);
    uint32_t who = simt_ballot(t, s.key < n);
    if (who) {
        f->what = HIVE_THERE;
        f->entry = simt_shfl_u64(t, first + s.key, simt_ffs(who) - 1);
        f->word = simt_shfl_u64(t, hive_pick(w, s.key), simt_ffs(who) - 1);
        return true;
    }
    if (simt_any(t, s.before || s.after)) {
        if (simt_any(t, s.leaving)) {
            f->what = HIVE_MOVING;
            return true;
        }
        f->before = simt_any(t, s.before) || f->before;
        f->after = simt_any(t, s.after) || f->after;
    }
    uint32_t both = simt_reduce_add_u32(t, s.free << 16 | s.fresh);
    if (step < v->hashes && f->room_free <= spare && both >> 16 > f->room_free) {
        who = simt_ballot(t, s.empty < n);
        f->room = simt_shfl_u64(t, first + s.empty, simt_ffs(who) - 1);
        f->room_word = simt_shfl_u64(t, hive_pick(w, s.empty), simt_ffs(who) - 1);
        f->room_free = both >> 16;
    }
    return (both & 0xffff) > spare;
}

/* Loads before it come before loads after it, for all lanes of the tile. */
SIMT_FN void hive_in_order(simt_tile t, const hive_args *a)
{
    if (a->moves) simt_sync_tile(t); /* what one acquired, all have */
}

SIMT_FN uint64_t hive_count_stashed(simt_tile t, const hive_args *a)
{
    uint64_t n = 0;
    if (t.rank == 0) n = simt_ldrlx_u64(a->stashed);
    simt_join();
    return simt_shfl_u64(t, n, 0);
}

SIMT_FN hive_found hive_search(simt_tile t, const hive_args *a, const hive_one *o)
{
    const hive_view *v = &a->v;
    hive_found f;
    f.what = HIVE_ABSENT;
    f.entry = f.room = HIVE_NOWHERE;
    f.word = f.room_word = 0;
    f.room_free = 0;
    f.before = f.after = false;
    uint64_t b = 0;
    /* One copy of the search of a bucket: it is large, and every kernel has it. */
    SIMT_ROLLED
    for (uint64_t step = 0; step < v->hashes + v->stash_buckets; step++) {
        if (step < v->hashes) {
            if (!hive_is_new_candidate(a, o->h, (uint32_t)step)) continue;
            b = hive_candidate(v, o->h, (uint32_t)step);
        } else if (step > v->hashes) {
            b = hive_ring_next(v, b);
        } else {
            hive_in_order(t, a);
            if (hive_count_stashed(t, a) == 0) return f;
            b = hive_ring(v, o->h);
        }
        if (step) hive_in_order(t, a);
        if (hive_search_bucket(t, a, o, b, step, &f)) return f;
    }
    return f;
}

#endif
