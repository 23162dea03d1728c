/* SPDX-License-Identifier: Apache-2.0
 *
 * displace.h - cuckoo eviction (section IV-A, step 3): a slot of a full bucket is made free, because a key of it goes
 * on to a later candidate of its own.
 *
 * The tile asks for four keys of the bucket at a time whether a later candidate has room: the four buckets are on their
 * way together. Where none has any, the way goes on through the bucket of one of them, HIVE_ROUNDS deep; lane n
 * remembers step n. Then a hole travels back along it, from room to the full bucket; each step is whole by itself, so
 * that a chain that breaks has left nothing undone.
 *
 * Differs: the paper takes a key out and carries it on, so that for a while it is nowhere.
 */
#ifndef HIVE_DISPLACE_H
#define HIVE_DISPLACE_H

#include "gpu/hive/claim.h"

typedef enum hive_made { HIVE_AGAIN, HIVE_MADE, HIVE_NO_WAY } hive_made;

/* Where a key may go; the same for all lanes. */
typedef struct hive_onward {
    uint64_t entry, word;     /* it is in that slot; HIVE_NOWHERE: there is none */
    uint64_t bucket;          /* a later candidate of its                        */
    uint64_t room, room_word; /* a free slot there; HIVE_NOWHERE                 */
} hive_onward;

enum { HIVE_LOOKS = 4 /* buckets at a time */ };

/* The `nth` of the buckets that come after b on the key's way, of its candidates; HIVE_NOWHERE. What was on its way
 * before is not gone back to. */
SIMT_FN uint64_t hive_later_candidate(const hive_args *a, uint64_t key, uint64_t b, uint32_t nth)
{
    const hive_view *v = &a->v;
    uint64_t h = hive_hash(v, key), found = HIVE_NOWHERE;
    bool behind = false;
    for (uint32_t i = 0; i < v->hashes; i++) {
        uint64_t c = hive_candidate(v, h, i);
        if (behind && hive_is_new_candidate(a, h, i) && nth-- == 0) found = c;
        behind = behind || c == b;
    }
    return found;
}

/* The key `word` in entry `from` goes to entry `to`, which was claimed for it; by one lane. False: it said something
 * else by then. */
SIMT_FN bool hive_move_on(const hive_view *u, uint64_t from, uint8_t *at_from, uint64_t word, uint64_t to,
                          uint8_t *at_to)
{
    if (!hive_cas_at(u, at_from, word, hive_sign(u, HIVE_LEAVING, hive_key_of(u, word)))) return false;
    simt_ticket(HIVE_MOVE, 0, from, to);
    hive_put_at(u, at_to, word);
    return true;
}

/* By rank 0: the same to `to`, which was seen free, or is the item's own hole. False: `to` is given back. */
SIMT_FN bool hive_move(const hive_args *a, uint64_t from, uint64_t word, uint64_t to, uint64_t to_word, bool own)
{
    const hive_view *v = &a->v;
    uint64_t claim = hive_sign(v, HIVE_CLAIMED, hive_key_of(v, word));
    if (own)
        hive_put(v, to, claim);
    else if (!hive_take(a, to, to_word, claim))
        return false;
    if (hive_move_on(v, from, hive_at(v, from), word, to, hive_at(v, to))) return true;
    hive_give_back(a, to);
    return false;
}

/* Steps last to 0 of the chain that the lanes remember, into the room of the last one. HIVE_MADE: *hole is the item's,
 * and still says LEAVING. */
SIMT_FN hive_made hive_move_chain(simt_tile t, const hive_args *a, const hive_onward *mine, uint32_t last,
                                  uint64_t room, uint64_t room_word, uint64_t *hole)
{
    *hole = room;
    SIMT_ROLLED
    for (uint32_t n = last + 1; n > 0; n--) {
        uint64_t from = simt_shfl_u64(t, mine->entry, n - 1), word = simt_shfl_u64(t, mine->word, n - 1);
        bool moved = false;
        if (t.rank == 0) moved = hive_move(a, from, word, *hole, room_word, n <= last);
        simt_join();
        if (!simt_shfl_u32(t, moved, 0)) return HIVE_AGAIN;
        *hole = from;
    }
    return HIVE_MADE;
}

/* Whether the keys in slots `from` and the next ones of bucket b, whose words are w, have room in the nth bucket after
 * it. */
SIMT_FN void hive_look_onward(simt_tile t, const hive_args *a, uint64_t b, const uint64_t w[HIVE_LANE_WORDS],
                              uint32_t from, uint32_t nth, hive_onward *g)
{
    const hive_view *v = &a->v;
    uint32_t n = hive_share(t, v);
    uint64_t word[HIVE_LOOKS], onto[HIVE_LOOKS], there[HIVE_LOOKS][HIVE_LANE_WORDS];
    SIMT_UNROLL
    for (uint32_t q = 0; q < HIVE_LOOKS; q++) {
        uint32_t slot = (from + q) & (v->slots - 1);
        word[q] = simt_shfl_u64(t, hive_pick(w, slot % n), slot / n);
        onto[q] = hive_is_key(v, word[q]) ? hive_later_candidate(a, hive_key_of(v, word[q]), b, nth) : HIVE_NOWHERE;
        hive_load_share(t, v, onto[q] == HIVE_NOWHERE ? b : onto[q], there[q]);
    }
    SIMT_UNROLL
    for (uint32_t q = 0; q < HIVE_LOOKS; q++) {
        uint32_t free = hive_free_word(v, there[q], n), who = simt_ballot(t, free < n && onto[q] != HIVE_NOWHERE),
                 lane = who ? simt_ffs(who) - 1 : 0;
        uint64_t room = simt_shfl_u64(t, hive_share_at(t, v, onto[q]) + free, lane),
                 room_word = simt_shfl_u64(t, hive_pick(there[q], free), lane);
        if (onto[q] == HIVE_NOWHERE || g->room != HIVE_NOWHERE || (!who && g->entry != HIVE_NOWHERE)) continue;
        g->entry = b * v->slots + ((from + q) & (v->slots - 1));
        g->word = word[q];
        g->bucket = onto[q];
        if (who) {
            g->room = room;
            g->room_word = room_word;
        }
    }
}

/* An entry of bucket b that can be displaced, and where to. *room: b has a free slot by now. `turn` varies the slot at
 * which the search begins. */
SIMT_FN hive_onward hive_look_out(simt_tile t, const hive_args *a, uint64_t b, uint64_t turn, bool *room)
{
    const hive_view *v = &a->v;
    uint64_t w[HIVE_LANE_WORDS];
    uint32_t from = (uint32_t)hd_mix64(turn) & (v->slots - 1);
    hive_onward g;
    g.entry = g.bucket = g.room = HIVE_NOWHERE;
    g.word = g.room_word = 0;
    hive_load_share(t, v, b, w);
    *room = simt_any(t, hive_free_word(v, w, hive_share(t, v)) < hive_share(t, v));
    SIMT_ROLLED
    for (uint32_t nth = 0; nth + 1 < v->hashes && !*room; nth++) {
        SIMT_ROLLED
        for (uint32_t x = 0; x < v->slots && g.room == HIVE_NOWHERE; x += HIVE_LOOKS)
            hive_look_onward(t, a, b, w, from + x, nth, &g);
    }
    return g;
}

/* In layout "masks" an item locks the bucket that it displaces from, as in the paper. The search for a chain of
 * displacements needs no lock: if there is no chain, or the search is long, other items would wait for nothing. */
SIMT_FN bool hive_enter(simt_tile t, const hive_view *v, uint64_t b)
{
    uint32_t held = 0;
    if (v->masks && t.rank == 0) held = simt_cas_u32(hive_lock(v, b), 0, 1, SIMT_ACQUIRE);
    simt_join();
    return !simt_shfl_u32(t, held, 0);
}

SIMT_FN void hive_exit(simt_tile t, const hive_view *v, uint64_t b)
{
    if (v->masks && t.rank == 0) simt_strel_u32(hive_lock(v, b), 0);
    simt_join();
}

/* A slot of bucket b, which was seen full. */
SIMT_FN hive_made hive_make_room(simt_tile t, const hive_args *a, hive_one *o, uint64_t b, uint64_t *hole)
{
    const uint64_t full = b;
    hive_onward mine;
    mine.entry = mine.bucket = mine.room = HIVE_NOWHERE;
    mine.word = mine.room_word = 0;
    SIMT_ROLLED
    for (uint32_t n = 0; n < HIVE_ROUNDS; n++) {
        bool room = false;
        hive_onward g = hive_look_out(t, a, b, o->h + o->rounds + n, &room);
        if (room) return HIVE_AGAIN;
        if (g.entry == HIVE_NOWHERE) return HIVE_NO_WAY;
        if (t.rank == n) mine = g;
        if (g.room != HIVE_NOWHERE) {
            if (!hive_enter(t, &a->v, full)) return HIVE_AGAIN;
            hive_made made = hive_move_chain(t, a, &mine, n, g.room, g.room_word, hole);
            hive_exit(t, &a->v, full);
            return made;
        }
        b = g.bucket;
    }
    return HIVE_NO_WAY;
}

/* A slot of any of the item's candidates, which were seen full. */
SIMT_FN hive_made hive_displace(simt_tile t, const hive_args *a, hive_one *o, uint64_t *hole)
{
    const hive_view *v = &a->v;
    hive_made made = HIVE_NO_WAY;
    SIMT_ROLLED
    for (uint32_t i = 0; i < v->hashes && made == HIVE_NO_WAY; i++) {
        uint64_t b = hive_candidate(v, o->h, i);
        if (hive_is_new_candidate(a, o->h, i)) made = hive_make_room(t, a, o, b, hole);
    }
    return made;
}

#endif
