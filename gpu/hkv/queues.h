/* SPDX-License-Identifier: Apache-2.0
 *
 * queues.h - policies with queues, ghosts and counters (HD_QUEUES, HD_REMEMBERS, HD_COUNTS; ref/hkv/queues.h is the
 * reference): an item of such a policy holds its buckets, reads all of their scores and ghosts, and asks which entry
 * leaves. On CUDA only kernels_apart.cu has this code (spare.h).
 */
#ifndef HKV_QUEUES_H
#define HKV_QUEUES_H

#include "gpu/hkv/counts.h"
#include "gpu/hkv/item.h"
#include "gpu/hkv/pins.h"
#include "gpu/hkv/spare.h"

/* The least number that a tile's lanes have, and its place; UINT32_MAX: there is none. */
typedef struct hkv_lowest {
    uint64_t least;
    uint32_t at;
} hkv_lowest;

/* What a bucket tells of an item that it is to take. Ghosts are places of v.ghost; HKV_NONE: there is none. */
typedef struct hkv_room {
    hd_score_in in;
    uint64_t bucket;
    hkv_lowest lowest[2]; /* the lowest scores below 2^63, and from it on, that may leave, and their slots */
    uint64_t ghost;       /* of the key, in one of its buckets */
    uint64_t oldest[2];   /* of each list of the bucket        */
    uint64_t place;       /* the first place without a ghost   */
    uint64_t newest;      /* the greatest order in the bucket  */
    uint32_t list;        /* the key of the entry that leaves joins it; 0: none */
} hkv_room;

/* A slot to take. */
typedef struct hkv_place {
    uint64_t entry; /* HKV_NONE: all are pinned */
    uint64_t least; /* its score                */
    bool empty;     /* it has no entry          */
    /* Of policies that ask for them (spare.h); else 0. */
    uint32_t spared; /* how many entries were spared before it was found */
    uint64_t stays;  /* the least score of what stays in its bucket      */
    hkv_room *room;  /* of a policy with queues */
} hkv_place;

SIMT_FN bool hkv_has_queues(const hkv_args *a) { return (hkv_keeps_order(a) & HD_QUEUES) != 0; }

SIMT_FN uint64_t hkv_ask(const hkv_args *a, uint32_t function, uint64_t old, hd_score_in in)
{
    return hd_queue_function(a->v.policy, hkv_program(a), function, old, in);
}

/* ---- What a bucket has ----------------------------------------------------------------------- */

SIMT_FN void hkv_lowest_add(hkv_lowest *l, uint64_t x, uint32_t at)
{
    if (x >= l->least && l->at != UINT32_MAX) return;
    l->least = x;
    l->at = at;
}

/* Of all lanes. Numbers that are equal: the first place. */
SIMT_FN hkv_lowest hkv_lowest_of(simt_tile t, hkv_lowest l)
{
    hkv_lowest all;
    all.least = HKV_LEAST64(t, l.least);
    all.at = HKV_LEAST32(t, l.least == all.least ? l.at : UINT32_MAX);
    return all;
}

SIMT_FN hkv_lowest hkv_no_lowest(void)
{
    hkv_lowest l;
    l.least = UINT64_MAX;
    l.at = UINT32_MAX;
    return l;
}

/* How many words a lane has under way at a time. The loads stand before what is done with them: an item waits for one
 * of them, and not for each. */
enum { HKV_WORDS_AT_ONCE = 8 };

/* The keys and scores of slots s, s + t.size and so on of bucket b; beyond the bucket as of free ones. */
SIMT_FN void hkv_read_entries(simt_tile t, const hkv_args *a, uint64_t b, uint32_t s, uint64_t *key, uint64_t *score)
{
    uint64_t first = hkv_entry(&a->v, b, 0);
    SIMT_UNROLL
    for (uint32_t k = 0; k < HKV_WORDS_AT_ONCE; k++) {
        uint32_t at = s + k * t.size;
        key[k] = HD_KEY_EMPTY;
        score[k] = 0;
        if (at >= a->v.slots) continue;
        if (a->v.step == 2) {
            simt_v4 pair = simt_ld_v4((const simt_v4 *)(const void *)hkv_key_at(&a->v, first + at));
            key[k] = (uint64_t)pair.y << 32 | pair.x;
            score[k] = (uint64_t)pair.w << 32 | pair.z;
        } else {
            key[k] = simt_ld_u64(hkv_key_at(&a->v, first + at));
            score[k] = simt_ld_u64(hkv_score_at(&a->v, first + at));
        }
    }
}

/* The ghosts at these places; beyond the bucket 0. */
SIMT_FN void hkv_read_words(simt_tile t, const hkv_args *a, uint64_t b, uint32_t s, uint64_t *word)
{
    const uint64_t *ghost = a->v.ghost + hkv_entry(&a->v, b, 0);
    SIMT_UNROLL
    for (uint32_t k = 0; k < HKV_WORDS_AT_ONCE; k++) {
        uint32_t at = s + k * t.size;
        word[k] = 0;
        if (at < a->v.slots) word[k] = simt_ld_u64(ghost + at);
    }
}

/* The entries of bucket b that may leave, of the upper queue and of the others: the lowest score of each, after its
 * bits in `turn` are turned. Gives how many entries the upper queue has, pinned ones too, and in the high half the
 * middle queue. */
SIMT_FN uint32_t hkv_read_queues(simt_tile t, const hkv_args *a, uint64_t b, uint64_t turn, hkv_lowest lowest[2])
{
    uint64_t key[HKV_WORDS_AT_ONCE], score[HKV_WORDS_AT_ONCE];
    uint32_t n = 0;
    bool pins = hkv_has_pins(a);
    hkv_lowest lower = hkv_no_lowest(), upper = hkv_no_lowest();
    SIMT_ROLLED
    for (uint32_t s = t.rank; s < a->v.slots; s += HKV_WORDS_AT_ONCE * t.size) {
        hkv_read_entries(t, a, b, s, key, score);
        SIMT_UNROLL
        for (uint32_t k = 0; k < HKV_WORDS_AT_ONCE; k++) {
            uint32_t at = s + k * t.size;
            n += (uint32_t)(score[k] >> 63) + ((uint32_t)(score[k] >> 62 == 1) << 16); /* of a free slot it is 0 */
            bool stays = key[k] == HD_KEY_EMPTY || (pins && hkv_has_holder(a, hkv_entry(&a->v, b, at)));
            if (!stays && score[k] >> 63) hkv_lowest_add(&upper, score[k] ^ turn, at);
            if (!stays && !(score[k] >> 63)) hkv_lowest_add(&lower, score[k] ^ turn, at);
        }
    }
    simt_join();
    lowest[0] = hkv_lowest_of(t, lower);
    lowest[1] = hkv_lowest_of(t, upper);
    lowest[0].least ^= turn;
    lowest[1].least ^= turn;
    return HKV_SUM32(t, n);
}

SIMT_FN uint64_t hkv_ghost_at(const hkv_args *a, uint64_t b, uint32_t at)
{
    return at == UINT32_MAX ? HKV_NONE : hkv_entry(&a->v, b, at);
}

SIMT_FN bool hkv_is_ghost_of(uint64_t word, uint32_t fingerprint)
{
    return word && ((uint32_t)word & 0x7fffffffu) == fingerprint;
}

/* The ghosts of the bucket, and that of the item's key, if it is there. */
SIMT_FN void hkv_read_ghosts(simt_tile t, const hkv_args *a, uint32_t fingerprint, hkv_room *q)
{
    hkv_lowest one = hkv_no_lowest(), two = hkv_no_lowest();
    uint64_t word[HKV_WORDS_AT_ONCE], newest = UINT64_MAX; /* of the words, turned */
    uint32_t n1 = 0, n2 = 0, free = UINT32_MAX, found = UINT32_MAX;
    SIMT_ROLLED
    for (uint32_t s = t.rank; s < a->v.slots; s += HKV_WORDS_AT_ONCE * t.size) {
        hkv_read_words(t, a, q->bucket, s, word);
        SIMT_UNROLL
        for (uint32_t k = 0; k < HKV_WORDS_AT_ONCE; k++) {
            uint32_t at = s + k * t.size;
            bool second = word[k] && hkv_ghost_list(word[k]) == 2, first = word[k] && !second;
            if (!word[k] && free == UINT32_MAX && at < a->v.slots) free = at;
            if (found == UINT32_MAX && hkv_is_ghost_of(word[k], fingerprint)) found = at;
            if (first) hkv_lowest_add(&one, word[k], at);
            if (second) hkv_lowest_add(&two, word[k], at);
            if (word[k] && ~word[k] < newest) newest = ~word[k];
            n1 += first;
            n2 += second;
        }
    }
    simt_join();
    q->in.ghosts1 = (uint16_t)HKV_SUM32(t, n1);
    q->in.ghosts2 = (uint16_t)HKV_SUM32(t, n2);
    newest = HKV_LEAST64(t, newest);
    q->newest = q->in.ghosts1 + q->in.ghosts2 ? ~newest >> 32 : 0;
    q->oldest[0] = hkv_ghost_at(a, q->bucket, hkv_lowest_of(t, one).at);
    q->oldest[1] = hkv_ghost_at(a, q->bucket, hkv_lowest_of(t, two).at);
    q->place = hkv_ghost_at(a, q->bucket, HKV_LEAST32(t, free));
    q->ghost = hkv_ghost_at(a, q->bucket, HKV_LEAST32(t, found));
}

/* The first ghost with the fingerprint in bucket b. */
SIMT_FN uint64_t hkv_find_ghost(simt_tile t, const hkv_args *a, uint64_t b, uint32_t fingerprint)
{
    uint64_t word[HKV_WORDS_AT_ONCE];
    uint32_t found = UINT32_MAX;
    SIMT_ROLLED
    for (uint32_t s = t.rank; s < a->v.slots; s += HKV_WORDS_AT_ONCE * t.size) {
        hkv_read_words(t, a, b, s, word);
        SIMT_UNROLL
        for (uint32_t k = 0; k < HKV_WORDS_AT_ONCE; k++)
            if (found == UINT32_MAX && hkv_is_ghost_of(word[k], fingerprint)) found = s + k * t.size;
    }
    simt_join();
    return hkv_ghost_at(a, b, HKV_LEAST32(t, found));
}

/* What bucket b tells of item o. full: an entry must leave. */
SIMT_FN void hkv_room_of(simt_tile t, const hkv_args *a, const hkv_one *o, uint64_t b, bool full, hkv_room *q)
{
    q->in = hkv_score_in(a, o->i);
    q->in.slots = (uint16_t)a->v.slots;
    q->in.full = full;
    q->bucket = b;
    uint32_t n = hkv_read_queues(t, a, b, 0, q->lowest);
    q->in.upper = (uint16_t)n;
    q->in.middle = (uint16_t)(n >> 16);
    if (hkv_counts_keys(a)) q->in.freq = hkv_counted(hkv_counts_in(a, b), a->v.slots, o->key);
    q->ghost = q->oldest[0] = q->oldest[1] = q->place = HKV_NONE;
    q->newest = 0;
    q->list = 0;
    if (!a->v.ghost) return;
    uint32_t fingerprint = hkv_fingerprint(hd_hash(o->key, a->v.seed));
    hkv_read_ghosts(t, a, fingerprint, q);
    uint64_t other = b == o->first ? o->second : o->first, there = HKV_NONE;
    if (a->v.dual && (b != o->first || q->ghost == HKV_NONE)) there = hkv_find_ghost(t, a, other, fingerprint);
    if (there != HKV_NONE) q->ghost = there; /* if both have one, it is the first bucket's */
    if (q->ghost != HKV_NONE) q->in.ghost = (uint8_t)hkv_ghost_list(simt_ldrlx_u64(a->v.ghost + q->ghost));
    q->in.state = simt_ldrlx_u64(a->v.state + b);
    q->in.state = hkv_ask(a, HD_NEXT_STATE, 0, q->in);
}

/* ---- Which entry leaves ---------------------------------------------------------------------- */

/* What the counters of the bucket say of the key of an entry; of none 0. */
SIMT_FN uint8_t hkv_counted_entry(const hkv_args *a, const hkv_room *q, uint32_t at)
{
    if (at == UINT32_MAX) return 0;
    uint64_t key = simt_ldrlx_u64(hkv_key_at(&a->v, hkv_entry(&a->v, q->bucket, at)));
    return hkv_counted(hkv_counts_in(a, q->bucket), a->v.slots, key);
}

/* The entry of the bucket that leaves first, and its score; HKV_NONE: all are pinned, or it has none. */
SIMT_FN uint64_t hkv_first_to_leave(simt_tile t, const hkv_args *a, hkv_room *q, uint64_t *score)
{
    uint64_t turn = hd_turn_of(hkv_ask(a, HD_UPPER_FIRST, 0, q->in));
    hkv_lowest lowest[2];
    lowest[0] = q->lowest[0];
    lowest[1] = q->lowest[1];
    if (turn == HD_MIDDLE_QUEUE) (void)hkv_read_queues(t, a, q->bucket, turn, lowest);
    bool upper = turn == HD_UPPER_QUEUE;
    if ((upper ? lowest[1].at : lowest[0].at) == UINT32_MAX) upper = !upper;
    uint32_t at = upper ? lowest[1].at : lowest[0].at;
    *score = upper ? lowest[1].least : lowest[0].least;
    if (hkv_counts_keys(a)) {
        q->in.freq_old = hkv_counted_entry(a, q, at);
        q->in.freq_rival = at == UINT32_MAX ? 0 : hkv_counted_entry(a, q, upper ? q->lowest[0].at : q->lowest[1].at);
    }
    return at == UINT32_MAX ? HKV_NONE : hkv_entry(&a->v, q->bucket, at);
}

/* The key of item o was counted once more since it got slot p: the room's counts. */
SIMT_FN void hkv_room_counts_again(const hkv_args *a, const hkv_one *o, const hkv_place *p)
{
    hkv_room *q = p->room;
    q->in.freq = hkv_counted(hkv_counts_in(a, q->bucket), a->v.slots, o->key);
    q->in.freq_old = hkv_counted_entry(a, q, (uint32_t)(p->entry % a->v.slots));
}

/* The policy moves entry e, which has score `old`: it has its new score. */
SIMT_FN bool hkv_moves(simt_tile t, const hkv_args *a, const hkv_room *q, uint64_t e, uint64_t old)
{
    uint64_t score = hd_on_evict(a->v.policy, hkv_program(a), old, q->in, true);
    if (score == old) return false;
    HKV_SYNC(t); /* all lanes have read the scores */
    if (t.rank == 0) {
        if (score < old) hkv_lower_bound(&a->v, e, score);
        simt_strlx_u64(hkv_score_at(&a->v, e), score);
    }
    HKV_SYNC(t);
    return true;
}

/* The entry with score `old` leaves: asks whether its key is remembered, and which one is forgotten. */
SIMT_FN void hkv_ask_to_remember(const hkv_args *a, hkv_room *q, uint64_t old)
{
    if (!a->v.ghost) return;
    uint64_t list = hkv_ask(a, HD_REMEMBER, old, q->in), from = list ? hkv_ask(a, HD_FORGET, 0, q->in) : 0;
    q->list = list < 2 ? (uint32_t)list : 2;
    uint64_t forgotten = !from ? HKV_NONE : from == 1 ? q->oldest[0] : q->oldest[1];
    if (forgotten == HKV_NONE) return;
    if (forgotten == q->ghost) q->in.ghost |= 4;
    q->place = forgotten;
}

/* The slot that item o takes: a free one if it has one, after the policy has moved what it moves. rooms: two. */
SIMT_FN hkv_place hkv_make_room_by_queues(simt_tile t, const hkv_args *a, const hkv_one *o, hkv_room *rooms)
{
    bool free = o->at_first.empties || o->at_second.empties, second = o->at_second.empties > o->at_first.empties;
    uint32_t homes = a->v.dual && !free ? 2 : 1, most = hkv_spares(a) ? hkv_spared_most(&a->v, true) : 0;
    uint64_t e[2], score[2], at = HKV_NONE;
    hkv_place p;
    p.spared = 0;
    p.stays = 0;
    p.empty = free;
    if (free && second) at = hkv_entry(&a->v, o->second, o->at_second.empty);
    if (free && !second) at = hkv_entry(&a->v, o->first, o->at_first.empty);
    hkv_room_of(t, a, o, (free && second) ? o->second : o->first, !free, &rooms[0]);
    if (homes == 2) hkv_room_of(t, a, o, o->second, true, &rooms[1]);
    for (;;) {
        uint32_t k = 0;
        e[0] = hkv_first_to_leave(t, a, &rooms[0], &score[0]);
        if (homes == 2) {
            e[1] = hkv_first_to_leave(t, a, &rooms[1], &score[1]);
            bool lower = (score[1] & ~HD_UPPER_QUEUE) < (score[0] & ~HD_UPPER_QUEUE);
            k = e[1] != HKV_NONE && (e[0] == HKV_NONE || lower);
        }
        p.room = &rooms[k];
        p.entry = e[k];
        p.least = score[k];
        if (p.entry == HKV_NONE || p.spared == most || !hkv_moves(t, a, p.room, p.entry, p.least)) break;
        p.spared++;
        (void)hkv_read_queues(t, a, p.room->bucket, 0, p.room->lowest);
        rooms[0].in.spared = (uint16_t)p.spared;
        if (homes == 2) rooms[1].in.spared = (uint16_t)p.spared;
    }
    if (free) {
        p.entry = at;
        p.least = 0;
    } else if (p.entry != HKV_NONE) {
        hkv_ask_to_remember(a, p.room, p.least);
    }
    if (hkv_reads_least(a) && p.entry != HKV_NONE) p.stays = hkv_least_beside(t, a, p.room->bucket, p.entry);
    return p;
}

/* ---- What the bucket remembers --------------------------------------------------------------- */

/* The oldest ghost of all in a bucket that has no room for another. */
SIMT_FN uint64_t hkv_oldest_ghost(const hkv_args *a, const hkv_room *q)
{
    uint64_t one = q->oldest[0], two = q->oldest[1];
    if (one == HKV_NONE || two == HKV_NONE) return one == HKV_NONE ? two : one;
    return simt_ldrlx_u64(a->v.ghost + two) < simt_ldrlx_u64(a->v.ghost + one) ? two : one;
}

/* The item has its place: the key that left is remembered, if it joins a list; the item's is forgotten. In rank 0. */
SIMT_FN void hkv_remember(const hkv_args *a, const hkv_room *q, uint64_t gone_key)
{
    if (!a->v.ghost) return;
    uint64_t order = q->newest + 1, place = q->place, first = hkv_entry(&a->v, q->bucket, 0);
    simt_strlx_u64(a->v.state + q->bucket, q->in.state);
    if (q->list && place == HKV_NONE)
        place = q->ghost != HKV_NONE && q->ghost / a->v.slots == q->bucket ? q->ghost : hkv_oldest_ghost(a, q);
    if (q->ghost != HKV_NONE) simt_strlx_u64(a->v.ghost + q->ghost, 0);
    if (!q->list) return;
    if (order > UINT32_MAX) {
        for (uint64_t e = first; e < first + a->v.slots; e++) simt_strlx_u64(a->v.ghost + e, 0);
        order = 1;
    }
    simt_strlx_u64(a->v.ghost + place, hkv_ghost_word(order, q->list, hkv_fingerprint(hd_hash(gone_key, a->v.seed))));
}

#endif
