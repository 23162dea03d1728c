/* SPDX-License-Identifier: Apache-2.0
 *
 * displace_warp.h - batched's newcomers (batched.h) in buckets that are crowded: claims of a key that another item may bring,
 * too, and the third round, that of items which a look at each bucket by itself has not settled. A tile's four lanes
 * have both buckets of one key before them; where both are full, each lane asks for a key of the bucket whether it can
 * go on to its second candidate, and the four buckets are on their way together.
 */
#ifndef HIVE_DISPLACE_WARP_H
#define HIVE_DISPLACE_WARP_H

#include "gpu/hive/in_flight.h"

/* ---- Claims of a batched, where keys may repeat ----------------------------------------------- */

/* Lanes whose own item has claimed slot `slot` of its candidate `in` see now whether nobody else brings the key, and
 * put it there, or give the claim back. What the key's way has behind an open bucket nobody has to see: it was open
 * when the claim was made, and before. Returns whether this lane's key is in the table. */
SIMT_FN bool hive_verify_claims(simt_tile t, const hive_args *a, const hive_kind *k, const hive_in_flight *s,
                                bool claimed, bool in, uint32_t slot)
{
    const hive_view *u = &k->shape, *v = &a->v;
    simt_tile warp = simt_tile_of(32);
    uint64_t first = hive_candidate(v, s->h, 0), second = hive_candidate(v, s->h, 1);
    uint8_t *at_first = (uint8_t *)hive_bucket(v, first), *at_second = (uint8_t *)hive_bucket(v, second);
    simt_sync_tile(warp);
    simt_fence(); /* of two that claim, the one whose fence is later sees the other's claim */
    uint64_t stashed = hive_ask_stashed(a, k);
    hive_bucket_seen b =
        hive_look(t, k, at_first, s->key, true, !in || first == second ? slot : (uint32_t)HIVE_NO_SLOT);
    bool alone = !b.key && b.signs == 0, open = b.fresh > v->spare;
    if (simt_any(warp, claimed && alone && !open)) {
        simt_fence(); /* if it has left the first by now, it is seen in the second */
        b = hive_look(t, k, at_second, s->key, true, in || first == second ? slot : (uint32_t)HIVE_NO_SLOT);
        if (!open) {
            alone = alone && !b.key && b.signs == 0;
            open = b.fresh > v->spare;
        }
    }
    bool last = hive_ends_there(t, a, k, s, stashed), mine = claimed && alone && (open || last);
    if (claimed) {
        hive_set_at(u, (in ? at_second : at_first) + slot * hive_word_bytes(u),
                    mine ? hive_pack(u, s->key, s->in) : hive_vacant(u));
        if (mine) simt_ticket_store(s->i, HD_INSERTED, 0, (in ? second : first) * u->slots + slot);
    }
    simt_join();
    return mine;
}

/* ---- Both buckets of a key ------------------------------------------------------------------- */

/* The second candidate of a key that is in its first, b; HIVE_NOWHERE: there is no such key, or nowhere to go. */
SIMT_FN uint64_t hive_second_of(const hive_view *v, const hive_view *u, uint64_t word, uint64_t b)
{
    uint64_t h = hive_hash(v, hive_key_of(u, word)), onto = hive_candidate(v, h, 1);
    return hive_is_key(u, word) && hive_candidate(v, h, 0) == b && onto != b ? onto : HIVE_NOWHERE;
}

/* hive_move_on; where it fails the place is given back. */
SIMT_FN bool hive_move_or_leave(const hive_view *u, uint64_t from, uint8_t *at_from, uint64_t word, uint64_t to,
                                uint8_t *at_to)
{
    if (hive_move_on(u, from, at_from, word, to, at_to)) return true;
    hive_put_at(u, at_to, hive_vacant(u));
    return false;
}

/* A slot of bucket b, whose words are w, is made free for the tile's item, if it wants one: a key of the bucket goes on
 * to its second candidate. Lanes ask for one of theirs at a time. The slot, which still says LEAVING; u->slots: nobody
 * could go. */
SIMT_FN uint32_t hive_push_on(simt_tile t, const hive_args *a, const hive_kind *k, bool wants, uint64_t b,
                              const uint64_t w[HIVE_LANE_WORDS], uint32_t turn)
{
    const hive_view *u = &k->shape, *v = &a->v;
    uint32_t n = hive_share(t, u), bytes = hive_word_bytes(u), hole = u->slots;
    uint8_t *here = (uint8_t *)hive_bucket(v, b);
    SIMT_ROLLED
    for (uint32_t x = 0; x < n && simt_any(simt_tile_of(32), wants); x++) {
        uint32_t j = (turn + x) & (n - 1), spot = u->slots;
        uint64_t word = hive_pick(w, j), free_word = 0, onto = hive_second_of(v, u, word, b),
                 there[HIVE_BATCHED][HIVE_LANE_WORDS];
        bool may = wants && onto != HIVE_NOWHERE, moved = false;
        uint8_t *home = may ? (uint8_t *)hive_bucket(v, onto) : here;
        SIMT_UNROLL
        for (uint32_t q = 0; q < HIVE_BATCHED; q++) hive_load_share_of(t, u, hive_of_ptr(t, home, q), false, there[q]);
        SIMT_UNROLL
        for (uint32_t q = 0; q < HIVE_BATCHED; q++) {
            uint32_t free = hive_free_word(u, there[q], n), who = hive_votes(t, free < n),
                     lane = who ? simt_ffs(who) - 1 : 0, at = hive_of_u32(t, hive_slot_of(t, u, free), lane);
            uint64_t says = hive_of_u64(t, hive_pick(there[q], free), lane);
            if (t.rank != q || !who) continue;
            spot = at;
            free_word = says;
        }
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
    return hole;
}

/* A slot of one of the item's buckets b, both full, whose words are w: a key of the first goes on, or of the second;
 * or, where none of them has room, one of the first, or the second, through a bucket out of which another goes on
 * before. Its number, and *in says of which; u->slots: none. Longer ways are for the tile's way (displace.h). */
SIMT_FN uint32_t hive_make_slot(simt_tile t, const hive_args *a, const hive_kind *k, bool wants, const uint64_t b[2],
                                const uint64_t w[2][HIVE_LANE_WORDS], uint32_t turn, bool *in)
{
    const hive_view *u = &k->shape, *v = &a->v;
    uint32_t j = turn & (hive_share(t, u) - 1), found = u->slots;
    *in = false;
    SIMT_ROLLED
    for (uint32_t way = 0; way < 4 && simt_any(simt_tile_of(32), wants); way++) {
        bool second = way & 1, far = way >= 2;
        uint64_t from = second ? b[1] : b[0], through = from, x[HIVE_LANE_WORDS], word = 0;
        SIMT_UNROLL
        for (uint32_t m = 0; m < HIVE_LANE_WORDS; m++) x[m] = second ? w[1][m] : w[0][m];
        uint32_t can = 0, mover = t.size, slot = hive_slot_of(t, u, j);
        if (far) {
            word = hive_pick(x, j);
            uint64_t onto = hive_second_of(v, u, word, from);
            can = hive_votes(t, wants && onto != HIVE_NOWHERE);
            mover = can ? simt_ffs(can) - 1 : t.size;
            through = hive_of_u64(t, onto, mover & (HIVE_BATCHED - 1));
            if (!can) through = from;
            hive_load_share_of(t, u, (uint8_t *)hive_bucket(v, through), false, x);
            /* it was not full, or is no more: nobody goes past an open one */
            if (hive_votes(t, hive_free_word(u, x, hive_share(t, u)) < hive_share(t, u))) can = 0;
        }
        uint32_t hole = hive_push_on(t, a, k, wants && (!far || can), through, x, turn);
        if (far) {
            bool moved = false;
            if (t.rank == mover && hole < u->slots) {
                uint8_t *to = (uint8_t *)hive_bucket(v, through) + hole * hive_word_bytes(u);
                hive_put_at(u, to, hive_sign(u, HIVE_CLAIMED, hive_key_of(u, word)));
                moved = hive_move_or_leave(u, from * u->slots + slot,
                                           (uint8_t *)hive_bucket(v, from) + slot * hive_word_bytes(u), word,
                                           through * u->slots + hole, to);
            }
            simt_join();
            can = hive_votes(t, moved);
            hole = hive_of_u32(t, slot, mover & (HIVE_BATCHED - 1));
            if (!can) hole = u->slots;
        }
        if (!wants || hole == u->slots) continue;
        found = hole;
        *in = second;
        wants = false;
    }
    return found;
}

/* An item of the tile, which all its lanes have, with both its buckets in sight; of a table with two candidates. */
SIMT_FN void hive_displace_warp(simt_tile t, const hive_args *a, const hive_kind *k, hive_in_flight *s)
{
    const hive_view *u = &k->shape, *v = &a->v;
    uint32_t n = hive_share(t, u), bytes = hive_word_bytes(u), fresh[2], free[2], who[2], signs = 0, hole = u->slots;
    uint64_t b[2], w[2][HIVE_LANE_WORDS];
    bool live = s->outcome == HIVE_UNDECIDED, done = false;
    hive_share_seen seen[2];
    uint64_t stashed = hive_ask_stashed(a, k);
    b[0] = hive_candidate(v, s->h, 0);
    b[1] = hive_candidate(v, s->h, 1);
    hive_load_share_of(t, u, (uint8_t *)hive_bucket(v, b[0]), false, w[0]);
    /* one after the other: who has left the first is in the second already */
    if (simt_any(simt_tile_of(32), live && !(s->room & HIVE_ROOM_ABSENT))) {
        simt_fence();
        simt_sync_tile(simt_tile_of(32));
    }
    hive_load_share_of(t, u, (uint8_t *)hive_bucket(v, b[1]), false, w[1]);
    /* by one of them: each has looked at its own time */
    bool ends = hive_of_u32(t, hive_ends_there(t, a, k, s, stashed), 0) != 0;
    SIMT_UNROLL
    for (uint32_t c = 0; c < 2; c++) {
        seen[c] = hive_look_at_share(k, w[c], s->key, HIVE_LANE_WORDS);
        uint32_t sums = hive_sum_of(t, seen[c].sums);
        fresh[c] = sums & 0xff;
        free[c] = sums >> 8 & 0xff;
        signs += sums >> 16;
        who[c] = hive_votes(t, seen[c].key < n);
    }
    uint32_t change = s->rule & HIVE_RULE_CHANGE, found = s->rule >> HIVE_RULE_FOUND;
    bool there = live && (who[0] || who[1]),
         nowhere = live && !there && signs == 0 && (ends || fresh[0] > v->spare || fresh[1] > v->spare);
    bool comes = nowhere && s->rule & HIVE_RULE_INSERT, full = comes && !free[0] && !free[1];
    bool in = false;
    if (simt_any(simt_tile_of(32), full)) hole = hive_make_slot(t, a, k, full, b, w, s->key, &in);
    /* The first bucket with more than is spared, else the one with more. */
    bool second = there ? !who[0] : full ? in : free[0] <= v->spare && (free[1] > v->spare || free[1] > free[0]);
    uint32_t j0 = there ? seen[0].key : seen[0].free, j1 = there ? seen[1].key : seen[1].free, j = second ? j1 : j0;
    uint32_t can = hive_votes(t, (there || (comes && !full)) && j < n), actor = can ? simt_ffs(can) - 1
                                                                                : full && hole < u->slots ? 0
                                                                                                          : t.size;
    uint32_t slot = full ? hole : hive_slot_of(t, u, j);
    uint64_t bucket = second ? b[1] : b[0], word = second ? hive_pick(w[1], j) : hive_pick(w[0], j),
             e = bucket * u->slots + slot;
    if (t.rank == actor) {
        uint8_t *p = (uint8_t *)hive_bucket(v, bucket) + slot * bytes;
        uint64_t to =
            there ? hive_changed(a, u, change, s->key, word, s->in) : hive_first_word(u, k->distinct, s->key, s->in);
        done = true;
        if (full)
            hive_put_at(u, p, to);
        else if (comes || change != HIVE_KEEP)
            done = hive_cas_at(u, p, word, to);
        if (done && there) simt_ticket(s->i, found, 0, e);
        if (done && comes && k->distinct && full) simt_ticket_store(s->i, HD_INSERTED, 0, e);
        if (done && comes && k->distinct && !full) simt_ticket(s->i, HD_INSERTED, 0, e);
    }
    if (nowhere && !comes && t.rank == 0) simt_ticket(s->i, HD_MISS, 0, HIVE_NOWHERE);
    simt_join();
    bool made = hive_votes(t, done) != 0;
    s->value = hive_of_u32(t, (uint32_t)hive_value_of(u, word), actor & (HIVE_BATCHED - 1));
    if (hive_inserts(k) && !k->distinct) {
        bool claimed = comes && made;
        slot = hive_of_u32(t, slot, actor & (HIVE_BATCHED - 1));
        if (simt_any(simt_tile_of(32), claimed))
            made =
                hive_of_u32(t, hive_verify_claims(t, a, k, s, claimed && t.rank == 0, second, slot) || (made && !comes),
                            0) != 0;
    }
    if (there && made) s->outcome = found;
    if (comes && made) s->outcome = HD_INSERTED;
    if (nowhere && !comes) s->outcome = HD_MISS;
}

#endif
