/* SPDX-License-Identifier: Apache-2.0
 *
 * displace.h - cuckoo eviction (section IV-A, step 3): a slot of a full bucket is made free, because a key of it goes on to a later candidate of its own.
 *
 * Each lane asks for the keys in its slots whether there is room. Where no lane finds any, the way goes on through the bucket of one of them,
 * HIVE_ROUNDS deep; lane n remembers step n. Then a hole travels back along it, from room to the full bucket; each step is whole by
 * itself, so that a chain that breaks has left nothing undone.
 *
 * Differs: the paper takes a key out and carries it on, so that for a while it is nowhere.
 */
#ifndef HIVE_DISPLACE_H
#define HIVE_DISPLACE_H

#include "gpu/hive/claim.h"

typedef enum hive_made { HIVE_AGAIN, HIVE_MADE, HIVE_NO_WAY } hive_made;

/* Where a key may go. */
typedef struct hive_onward {
    uint64_t entry, word;     /* it is in that slot; HIVE_NOWHERE: there is none        */
    uint64_t bucket;          /* its first later candidate                              */
    uint64_t room, room_word; /* the first free slot of any of them; HIVE_NOWHERE       */
} hive_onward;

SIMT_FN uint64_t hive_free_slot(const hive_view *v, uint64_t b, uint64_t *word)
{
    SIMT_ROLLED
    for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++) {
        *word = hive_load(v, e);
        if (hive_is_free(v, *word)) return e;
    }
    return HIVE_NOWHERE;
}

/* Of the key `word` in entry e of bucket b. A bucket that was on its way before is not gone back to. */
SIMT_FN void hive_look_onward(const hive_args *a, uint64_t e, uint64_t word, hive_onward *g)
{
    const hive_view *v = &a->v;
    uint64_t h = hive_hash(v, hive_key_of(v, word)), b = e / v->slots;
    bool behind = false;
    for (uint32_t i = 0; i < v->hashes && g->room == HIVE_NOWHERE; i++) {
        uint64_t c = hive_candidate(v, h, i);
        if (behind && hive_is_new_candidate(a, h, i)) {
            uint64_t free_word = 0, room = hive_free_slot(v, c, &free_word);
            if (g->entry == HIVE_NOWHERE || room != HIVE_NOWHERE) {
                g->bucket = c;
                g->entry = e;
                g->word = word;
            }
            if (room != HIVE_NOWHERE) {
                g->room = room;
                g->room_word = free_word;
            }
        }
        behind = behind || c == b;
    }
}

/* One of the lanes in `who`, another one from turn to turn. */
SIMT_FN uint32_t hive_elect(simt_tile t, uint32_t who, uint64_t turn)
{
    uint32_t from = (uint32_t)hd_mix64(turn) & (t.size - 1), above = who >> from << from;
    return simt_ffs(above ? above : who) - 1;
}

/* By rank 0: the key `word` in entry `from` goes to `to`, which was seen free, or is the item's own hole. False: `to` is given back. */
SIMT_FN bool hive_move(const hive_args *a, uint64_t from, uint64_t word, uint64_t to, uint64_t to_word, bool own)
{
    const hive_view *v = &a->v;
    uint64_t claim = hive_sign(v, HIVE_CLAIMED, hive_key_of(v, word));
    if (own) hive_put(v, to, claim);
    else if (!hive_take(a, to, to_word, claim)) return false;
    if (!hive_cas(v, from, word, hive_sign(v, HIVE_LEAVING, hive_key_of(v, word)))) {
        hive_give_back(a, to);
        return false;
    }
    simt_ticket(HIVE_MOVE, 0, from, to);
    hive_put(v, to, word);
    return true;
}

/* Steps last to 0 of the chain that the lanes remember, into the room of the last one. HIVE_MADE: *hole is the item's, and still says LEAVING. */
SIMT_FN hive_made hive_move_chain(simt_tile t, const hive_args *a, const hive_onward *mine, uint32_t last, uint64_t room, uint64_t room_word, uint64_t *hole)
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

/* What this lane's keys of bucket b say; *room: it has a free slot by now. */
SIMT_FN hive_onward hive_look_out(simt_tile t, const hive_args *a, uint64_t b, bool *room)
{
    const hive_view *v = &a->v;
    uint64_t w[HIVE_LANE_WORDS], first = hive_share_at(t, v, b);
    hive_onward g;
    g.entry = g.bucket = g.room = HIVE_NOWHERE;
    g.word = g.room_word = 0;
    hive_load_share(t, v, b, w);
    *room = false;
    SIMT_ROLLED
    for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) {
        if (k >= hive_share(t, v) || g.room != HIVE_NOWHERE) break;
        if (hive_is_free(v, w[k])) *room = true;
        else if (hive_is_key(v, w[k])) hive_look_onward(a, first + k, w[k], &g);
    }
    simt_join();
    return g;
}

/* In layout "masks" who displaces from one bucket does it alone, as in the paper. Who only looks for a way needs no lock: where there is none, or a long one to look
 * for, others would wait for nothing. */
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
        hive_onward g = hive_look_out(t, a, b, &room);
        if (simt_any(t, room)) return HIVE_AGAIN;
        uint32_t who = simt_ballot(t, g.room != HIVE_NOWHERE), ends = who;
        if (!who) who = simt_ballot(t, g.entry != HIVE_NOWHERE);
        if (!who) return HIVE_NO_WAY;
        uint32_t chosen = hive_elect(t, who, o->h + o->rounds + n);
        uint64_t entry = simt_shfl_u64(t, g.entry, chosen), word = simt_shfl_u64(t, g.word, chosen);
        if (t.rank == n) {
            mine.entry = entry;
            mine.word = word;
        }
        if (ends) {
            if (!hive_enter(t, &a->v, full)) return HIVE_AGAIN;
            hive_made made = hive_move_chain(t, a, &mine, n, simt_shfl_u64(t, g.room, chosen), simt_shfl_u64(t, g.room_word, chosen), hole);
            hive_exit(t, &a->v, full);
            return made;
        }
        b = simt_shfl_u64(t, g.bucket, chosen);
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
