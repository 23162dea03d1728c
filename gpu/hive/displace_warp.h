/* SPDX-License-Identifier: Apache-2.0
 *
 * displace_warp.h - inserts of `batched` (batched.h) into crowded buckets: the verification of claims, and the third
 * round.
 *
 * In the third round the four lanes of a tile share one item and see both its buckets. If both are full, the tile makes
 * room: a key of a full bucket moves to its own second candidate.
 *
 *     one step (hive_push_on)                       two steps (hive_look_through, hive_follow_through)
 *
 *     bucket, full        second candidate          bucket, full     `through`, full        second candidate
 *     (X, w)              free                      (Y, v)           (X, w)                 free
 *       |    1. CAS        -> CLAIMED(X)               |               |      1. one step    ->  (X, w)
 *       |    2. CAS (X, w) -> LEAVING(X)               |              LEAVING(X)
 *       |    3. store      -> (X, w)                   |    2. store   -> CLAIMED(Y)
 *     LEAVING(X)                                       |    3. CAS (Y, v) -> LEAVING(Y)
 *       |    4. the item stores its word               |    4. store   -> (Y, v)
 *     the item                                      LEAVING(Y): the item stores its word
 *
 * Each step is whole by itself. If a CAS fails, the claimed slot becomes VACANT and the item tries another key. Each
 * lane offers one of its words at a time, and the tile loads the four target buckets together. Longer chains are left
 * to displace.h.
 */
#ifndef HIVE_DISPLACE_WARP_H
#define HIVE_DISPLACE_WARP_H

#include "gpu/hive/in_flight.h"

/* ---- Claims, where keys may repeat ----------------------------------------------------------- */

/* True: the bucket lacks the key, and no word of it speaks of the key. */
SIMT_FN bool hive_lacks(const hive_bucket_seen *b) { return !b->key && b->signs == 0; }

/* The slot that a look skips: the item's own claim, if it is in the bucket. */
SIMT_FN uint32_t hive_skipped(bool in, uint32_t slot) { return in ? slot : (uint32_t)HIVE_NO_SLOT; }

/* Ends the claim of a slot: stores the key, or gives the slot back. */
SIMT_FN void hive_end_claim(const hive_view *u, const hive_in_flight *s, bool mine, uint64_t b, uint8_t *bucket,
                            uint32_t slot)
{
    hive_set_at(u, bucket + slot * hive_word_bytes(u), mine ? hive_pack(u, s->key, s->in) : hive_vacant(u));
    if (mine) simt_ticket_store(s->i, HD_INSERTED, 0, b * u->slots + slot);
}

/* Lanes with `claimed` have claimed slot `slot` of their item's candidate `in`. Searches both candidates for the key
 * and for other claims of it. If there is none, stores the key; else gives the slot back. A search ends at an open
 * bucket: it was open when the claim was made, and before, so no item went past it. Returns true if this lane's key
 * is in the table. */
SIMT_FN bool hive_verify_claims(simt_tile t, const hive_args *a, const hive_kind *k, const hive_in_flight *s,
                                bool claimed, bool in, uint32_t slot)
{
    const hive_view *v = &a->v;
    simt_tile warp = simt_tile_of(32);
    uint64_t first = hive_candidate(v, s->h, 0), second = hive_candidate(v, s->h, 1);
    uint8_t *at_first = (uint8_t *)hive_bucket(v, first), *at_second = (uint8_t *)hive_bucket(v, second);
    simt_sync_tile(warp);
    simt_fence(); /* of two items that claim, the one whose fence is later sees the other's claim */
    uint64_t stashed = hive_ask_stashed(a, k);
    hive_bucket_seen b = hive_look(t, k, at_first, s->key, true, hive_skipped(!in || first == second, slot));
    bool alone = hive_lacks(&b), open = b.fresh > v->spare;
    if (simt_any(warp, claimed && alone && !open)) {
        simt_fence(); /* a key that has left the first bucket by now is seen in the second */
        b = hive_look(t, k, at_second, s->key, true, hive_skipped(in || first == second, slot));
        if (!open) {
            alone = alone && hive_lacks(&b);
            open = b.fresh > v->spare;
        }
    }
    bool last = hive_ends_there(t, a, k, s, stashed), mine = claimed && alone && (open || last);
    if (claimed) hive_end_claim(&k->shape, s, mine, in ? second : first, in ? at_second : at_first, slot);
    simt_join();
    return mine;
}

/* ---- Both buckets of a key ------------------------------------------------------------------- */

/* The second candidate of the key in `word`, if bucket b is its first; HIVE_NOWHERE: no key, or no other bucket. */
SIMT_FN uint64_t hive_second_of(const hive_view *v, const hive_view *u, uint64_t word, uint64_t b)
{
    uint64_t h = hive_hash(v, hive_key_of(u, word)), onto = hive_candidate(v, h, 1);
    return hive_is_key(u, word) && hive_candidate(v, h, 0) == b && onto != b ? onto : HIVE_NOWHERE;
}

/* hive_move_on(); if it fails, the target slot is given back. */
SIMT_FN bool hive_move_or_leave(const hive_view *u, uint64_t from, uint8_t *at_from, uint64_t word, uint64_t to,
                                uint8_t *at_to)
{
    if (hive_move_on(u, from, at_from, word, to, at_to)) return true;
    hive_put_at(u, at_to, hive_vacant(u));
    return false;
}

/* A free slot in the bucket of each lane of the tile, and what its word says; u->slots: there is none. home: the lane's
 * bucket. The four buckets are loaded together. */
SIMT_FN uint32_t hive_free_slots(simt_tile t, const hive_view *u, uint8_t *home, uint64_t *free_word)
{
    uint32_t n = hive_share(t, u), spot = u->slots;
    uint64_t there[HIVE_BATCHED][HIVE_LANE_WORDS];
    *free_word = 0;
    SIMT_UNROLL
    for (uint32_t q = 0; q < HIVE_BATCHED; q++) hive_load_share_of(t, u, hive_of_ptr(t, home, q), false, there[q]);
    SIMT_UNROLL
    for (uint32_t q = 0; q < HIVE_BATCHED; q++) {
        uint32_t free = hive_free_word(u, there[q], n), who = hive_votes(t, free < n),
                 lane = who ? simt_ffs(who) - 1 : 0, at = hive_of_u32(t, hive_slot_of(t, u, free), lane);
        uint64_t says = hive_of_u64(t, hive_pick(there[q], free), lane);
        if (t.rank != q || !who) continue;
        spot = at;
        *free_word = says;
    }
    return spot;
}

/* Makes a slot of bucket b free, if the tile `wants` one: a key of the bucket, whose words are w, moves to its second
 * candidate. Returns the slot, which says LEAVING and belongs to the tile; u->slots: no key could move. turn: the word
 * to begin with. */
SIMT_FN uint32_t hive_push_on(simt_tile t, const hive_args *a, const hive_kind *k, bool wants, uint64_t b,
                              const uint64_t w[HIVE_LANE_WORDS], uint32_t turn)
{
    const hive_view *u = &k->shape, *v = &a->v;
    uint32_t n = hive_share(t, u), bytes = hive_word_bytes(u), hole = u->slots;
    uint8_t *here = (uint8_t *)hive_bucket(v, b);
    SIMT_ROLLED
    for (uint32_t x = 0; x < n && simt_any(simt_tile_of(32), wants); x++) {
        uint32_t j = (turn + x) & (n - 1);
        uint64_t word = hive_pick(w, j), free_word, onto = hive_second_of(v, u, word, b);
        bool may = wants && onto != HIVE_NOWHERE, moved = false;
        uint8_t *home = may ? (uint8_t *)hive_bucket(v, onto) : here;
        uint32_t spot = hive_free_slots(t, u, home, &free_word);
        uint32_t can = hive_votes(t, may && spot < u->slots);
        if (can && t.rank == simt_ffs(can) - 1 &&
            hive_cas_at(u, home + spot * bytes, free_word, hive_sign(u, HIVE_CLAIMED, hive_key_of(u, word)))) {
            uint32_t own = hive_slot_of(t, u, j);
            moved = hive_move_or_leave(u, b * u->slots + own, here + own * bytes, word, onto * u->slots + spot,
                                       home + spot * bytes);
        }
        simt_join();
        uint32_t who = hive_votes(t, moved), slot = hive_of_u32(t, hive_slot_of(t, u, j), who ? simt_ffs(who) - 1 : 0);
        if (who) hole = slot;
        wants = wants && !who;
    }
    simt_sync_tile(simt_tile_of(32)); /* the moved key is stored before another lane reuses its old slot */
    return hole;
}

/* A way of two steps out of bucket `from`: the key `word` of a lane goes to its second candidate, `through`, after a
 * key of that bucket went on. */
typedef struct hive_two_steps {
    uint64_t word, through;
    uint32_t mover; /* the lane whose key goes; t.size: there is none */
} hive_two_steps;

/* Looks for such a way; each lane offers word j of its share x. On return x has the words of `through`. True: `through`
 * is full, so a key of it has to go on. (If it has room, no item goes past it: the item searches again.) */
SIMT_FN bool hive_look_through(simt_tile t, const hive_args *a, const hive_kind *k, bool wants, uint64_t from,
                               uint32_t j, uint64_t x[HIVE_LANE_WORDS], hive_two_steps *s)
{
    const hive_view *u = &k->shape, *v = &a->v;
    s->word = hive_pick(x, j);
    uint64_t onto = hive_second_of(v, u, s->word, from);
    uint32_t can = hive_votes(t, wants && onto != HIVE_NOWHERE);
    s->mover = can ? simt_ffs(can) - 1 : t.size;
    s->through = hive_of_u64(t, onto, s->mover & (HIVE_BATCHED - 1));
    if (!can) s->through = from;
    hive_load_share_of(t, u, (uint8_t *)hive_bucket(v, s->through), false, x);
    if (hive_votes(t, hive_free_word(u, x, hive_share(t, u)) < hive_share(t, u))) can = 0;
    return can != 0;
}

/* Does the second step: the key goes from its slot of `from` into `hole`, a slot of `through` that says LEAVING.
 * Returns the slot of `from` that is free then; u->slots: none. */
SIMT_FN uint32_t hive_follow_through(simt_tile t, const hive_args *a, const hive_kind *k, uint64_t from, uint32_t slot,
                                     uint32_t hole, const hive_two_steps *s)
{
    const hive_view *u = &k->shape, *v = &a->v;
    bool moved = false;
    if (t.rank == s->mover && hole < u->slots) {
        uint8_t *to = (uint8_t *)hive_bucket(v, s->through) + hole * hive_word_bytes(u);
        hive_put_at(u, to, hive_sign(u, HIVE_CLAIMED, hive_key_of(u, s->word)));
        moved =
            hive_move_or_leave(u, from * u->slots + slot, (uint8_t *)hive_bucket(v, from) + slot * hive_word_bytes(u),
                               s->word, s->through * u->slots + hole, to);
    }
    simt_join();
    uint32_t can = hive_votes(t, moved), free = hive_of_u32(t, slot, s->mover & (HIVE_BATCHED - 1));
    simt_sync_tile(simt_tile_of(32)); /* as in hive_push_on */
    return can ? free : u->slots;
}

/* Makes a slot free in one of the item's buckets b, both full, with words w. Tries one step out of the first bucket,
 * one step out of the second, then two steps out of each. Returns the slot, and *in: it is in the second bucket;
 * u->slots: none. */
SIMT_FN uint32_t hive_make_slot(simt_tile t, const hive_args *a, const hive_kind *k, bool wants, const uint64_t b[2],
                                const uint64_t w[2][HIVE_LANE_WORDS], uint32_t turn, bool *in)
{
    const hive_view *u = &k->shape;
    uint32_t j = turn & (hive_share(t, u) - 1), found = u->slots;
    *in = false;
    SIMT_ROLLED
    for (uint32_t way = 0; way < 4 && simt_any(simt_tile_of(32), wants); way++) {
        bool second = way & 1, far = way >= 2, can = true;
        uint64_t from = second ? b[1] : b[0], x[HIVE_LANE_WORDS];
        hive_two_steps s;
        s.through = from;
        s.word = 0;
        s.mover = t.size;
        SIMT_UNROLL
        for (uint32_t m = 0; m < HIVE_LANE_WORDS; m++) x[m] = second ? w[1][m] : w[0][m];
        if (far) can = hive_look_through(t, a, k, wants, from, j, x, &s);
        uint32_t hole = hive_push_on(t, a, k, wants && can, s.through, x, turn);
        if (far) hole = hive_follow_through(t, a, k, from, hive_slot_of(t, u, j), hole, &s);
        if (!wants || hole == u->slots) continue;
        found = hole;
        *in = second;
        wants = false;
    }
    return found;
}

/* What a tile saw of the two candidate buckets of its item. All lanes have the same, except `w` and `seen`, which are
 * the lane's own words. */
typedef struct hive_both_seen {
    uint64_t b[2], w[2][HIVE_LANE_WORDS];
    hive_share_seen seen[2];
    uint32_t fresh[2], free[2]; /* slots                               */
    uint32_t who[2];            /* the lanes that see the key          */
    uint32_t signs;             /* words that speak of the key         */
    bool ends;                  /* the stash lacks the key             */
} hive_both_seen;

/* Loads both buckets and the part of the stash that the key's search ends in, and compares. The second bucket is loaded
 * after the first: a key that has left the first is in the second by then. */
SIMT_FN hive_both_seen hive_look_at_both(simt_tile t, const hive_args *a, const hive_kind *k, const hive_in_flight *s,
                                         bool live)
{
    const hive_view *u = &k->shape, *v = &a->v;
    hive_both_seen x;
    uint32_t n = hive_share(t, u);
    uint64_t stashed = hive_ask_stashed(a, k);
    x.b[0] = hive_candidate(v, s->h, 0);
    x.b[1] = hive_candidate(v, s->h, 1);
    hive_load_share_of(t, u, (uint8_t *)hive_bucket(v, x.b[0]), false, x.w[0]);
    if (simt_any(simt_tile_of(32), live && !(s->room & HIVE_ROOM_ABSENT))) {
        simt_fence();
        simt_sync_tile(simt_tile_of(32));
    }
    hive_load_share_of(t, u, (uint8_t *)hive_bucket(v, x.b[1]), false, x.w[1]);
    /* rank 0 decides for the tile: each lane has read at another time */
    x.ends = hive_of_u32(t, hive_ends_there(t, a, k, s, stashed), 0) != 0;
    x.signs = 0;
    SIMT_UNROLL
    for (uint32_t c = 0; c < 2; c++) {
        x.seen[c] = hive_look_at_share(k, x.w[c], s->key, HIVE_LANE_WORDS);
        uint32_t sums = hive_sum_of(t, x.seen[c].sums);
        x.fresh[c] = sums & 0xff;
        x.free[c] = sums >> 8 & 0xff;
        x.signs += sums >> 16;
        x.who[c] = hive_votes(t, x.seen[c].key < n);
    }
    return x;
}

/* What the item of a tile does. */
typedef struct hive_act {
    bool there;           /* the key was seen                                                   */
    bool nowhere;         /* the table lacks the key                                            */
    bool comes;           /* and the item inserts it                                            */
    bool full;            /* and both buckets are full, so that a key has to go on              */
    bool second;          /* it acts in the second bucket                                       */
    uint32_t slot, actor; /* the slot there, of this lane; and the lane that acts; t.size: no lane does */
    uint64_t word;        /* what the slot said, as this lane saw it                    */
} hive_act;

/* Decides what the item does, by what the tile saw. */
SIMT_FN hive_act hive_decide_both(const hive_args *a, const hive_in_flight *s, const hive_both_seen *x, bool live)
{
    const hive_view *v = &a->v;
    hive_act d;
    d.there = live && (x->who[0] || x->who[1]);
    d.nowhere = live && !d.there && x->signs == 0 && (x->ends || x->fresh[0] > v->spare || x->fresh[1] > v->spare);
    d.comes = d.nowhere && s->rule & HIVE_RULE_INSERT;
    d.full = d.comes && !x->free[0] && !x->free[1];
    d.second = false;
    d.slot = d.actor = 0;
    d.word = 0;
    return d;
}

/* The bucket that the item acts in: the one with the key; full: the one that has the hole; else the first bucket with
 * more free slots than the spare ones, else the one with more. */
SIMT_FN bool hive_is_in_second(const hive_view *v, const hive_both_seen *x, const hive_act *d, bool hole_in_second)
{
    if (d->there) return !x->who[0];
    if (d->full) return hole_in_second;
    return x->free[0] <= v->spare && (x->free[1] > v->spare || x->free[1] > x->free[0]);
}

/* Chooses the slot and the lane that acts on it. hole: the slot that was made free; u->slots: none. */
SIMT_FN void hive_choose_actor(simt_tile t, const hive_view *u, const hive_both_seen *x, uint32_t hole, hive_act *d)
{
    uint32_t j0 = d->there ? x->seen[0].key : x->seen[0].free, j1 = d->there ? x->seen[1].key : x->seen[1].free,
             j = d->second ? j1 : j0, can = hive_votes(t, (d->there || (d->comes && !d->full)) && j < hive_share(t, u));
    d->actor = can ? simt_ffs(can) - 1 : d->full && hole < u->slots ? 0 : t.size;
    d->slot = d->full ? hole : hive_slot_of(t, u, j);
    d->word = d->second ? hive_pick(x->w[1], j) : hive_pick(x->w[0], j);
}

/* Changes the slot, by the lane that acts. A hole is the item's own, so a store is enough. False: the word says
 * something else by now. */
SIMT_FN bool hive_act_alone(const hive_args *a, const hive_kind *k, const hive_in_flight *s, const hive_act *d,
                            uint64_t bucket)
{
    const hive_view *u = &k->shape;
    uint32_t change = s->rule & HIVE_RULE_CHANGE;
    uint8_t *p = (uint8_t *)hive_bucket(&a->v, bucket) + d->slot * hive_word_bytes(u);
    uint64_t e = bucket * u->slots + d->slot, to = d->there ? hive_changed(a, u, change, s->key, d->word, s->in)
                                                            : hive_first_word(u, k->distinct, s->key, s->in);
    bool done = true;
    if (d->full)
        hive_put_at(u, p, to);
    else if (d->comes || change != GPU_KEEP)
        done = hive_cas_at(u, p, d->word, to);
    if (done && d->there) simt_ticket(s->i, s->rule >> HIVE_RULE_FOUND, 0, e);
    if (done && d->comes && k->distinct && d->full) simt_ticket_store(s->i, HD_INSERTED, 0, e);
    if (done && d->comes && k->distinct && !d->full) simt_ticket(s->i, HD_INSERTED, 0, e);
    return done;
}

/* Verifies the claim of a tile that inserted its key, for batches whose keys may repeat. Returns whether the item is
 * decided. */
SIMT_FN bool hive_verify_tile(simt_tile t, const hive_args *a, const hive_kind *k, const hive_in_flight *s,
                              const hive_act *d, bool made)
{
    bool claimed = d->comes && made;
    uint32_t slot = hive_of_u32(t, d->slot, d->actor & (HIVE_BATCHED - 1));
    if (!simt_any(simt_tile_of(32), claimed)) return made;
    bool sure = hive_verify_claims(t, a, k, s, claimed && t.rank == 0, d->second, slot);
    return hive_of_u32(t, sure || (made && !d->comes), 0) != 0;
}

/* The third round: all lanes of the tile have the same item. Tables with two candidates only. */
SIMT_FN void hive_displace_warp(simt_tile t, const hive_args *a, const hive_kind *k, hive_in_flight *s)
{
    const hive_view *u = &k->shape;
    uint32_t hole = u->slots;
    bool live = s->outcome == GPU_UNDECIDED, in = false, done = false;
    hive_both_seen x = hive_look_at_both(t, a, k, s, live);
    hive_act d = hive_decide_both(a, s, &x, live);
    if (simt_any(simt_tile_of(32), d.full)) hole = hive_make_slot(t, a, k, d.full, x.b, x.w, s->key, &in);
    d.second = hive_is_in_second(&a->v, &x, &d, in);
    hive_choose_actor(t, u, &x, hole, &d);
    if (t.rank == d.actor) done = hive_act_alone(a, k, s, &d, d.second ? x.b[1] : x.b[0]);
    if (d.nowhere && !d.comes && t.rank == 0) simt_ticket(s->i, HD_MISS, 0, HIVE_NOWHERE);
    simt_join();
    bool made = hive_votes(t, done) != 0;
    s->value = hive_of_u32(t, (uint32_t)hive_value_of(u, d.word), d.actor & (HIVE_BATCHED - 1));
    if (hive_inserts(k) && !k->distinct) made = hive_verify_tile(t, a, k, s, &d, made);
    if (d.there && made) s->outcome = s->rule >> HIVE_RULE_FOUND;
    if (d.comes && made) s->outcome = HD_INSERTED;
    if (d.nowhere && !d.comes) s->outcome = HD_MISS;
}

#endif
