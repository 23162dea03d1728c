/* SPDX-License-Identifier: Apache-2.0
 *
 * in_flight.h - what the rounds of `batched` (batched.h) share: the kind of a batch, the item of a lane, and the look
 * of four lanes at four buckets.
 */
#ifndef HIVE_IN_FLIGHT_H
#define HIVE_IN_FLIGHT_H

#include "gpu/hive/steps.h"

enum { HIVE_BATCHED = 4 /* lanes of a tile, and keys that it has in flight */ };
enum { HIVE_NO_ITEM = GPU_UNDECIDED + 1, HIVE_NO_SLOT = 255 };

/* The kind of a batch and its table. Special kernels have it as constants; the others read it from the arguments. */
typedef struct hive_kind {
    hive_view shape; /* slots, half, hashes, masks; the addresses are in the arguments */
    uint32_t op;
    bool mixed, distinct, moves;
    bool aligned; /* the values of the batch are aligned to their size */
} hive_kind;

SIMT_FN hive_kind hive_kind_of(const hive_args *a, uint32_t slots, uint32_t half, uint32_t hashes, bool masks)
{
    hive_kind k;
    k.shape.slots = slots;
    k.shape.half = half;
    k.shape.hashes = hashes;
    k.shape.masks = masks;
    k.op = a->b.op;
    k.mixed = a->b.each != (const uint8_t *)0;
    k.distinct = a->b.distinct;
    k.moves = a->moves;
    k.aligned = false;
    return k;
}

/* The item of a lane. */
typedef struct hive_in_flight {
    uint64_t i, h;
    uint32_t key, in;        /* in: the value of the batch                        */
    uint32_t op, rule;       /* rule: what the operation does (HIVE_RULE_)        */
    uint32_t outcome, value; /* value: HIT: the value that was found              */
    uint32_t room;           /* what the first bucket had for the key (HIVE_ROOM_) */
    const uint8_t *slot;     /* HIT of find_ptr: the address of the slot          */
} hive_in_flight;

/* The fields of a rule and of a room. */
enum {
    HIVE_RULE_CHANGE = 3,
    HIVE_RULE_INSERT = 4,
    HIVE_RULE_SECOND = 8, /* the item looks in its second bucket */
    HIVE_RULE_FOUND = 4   /* shift: the outcome of a present key */
};
enum {
    HIVE_ROOM_FREE = 0xff,      /* how many slots are free                                                   */
    HIVE_ROOM_SLOT = 8,         /* shift: the first of these slots                                           */
    HIVE_ROOM_VACANT = 1 << 16, /* that slot says VACANT, not FRESH                                          */
    HIVE_ROOM_AGAIN = 1 << 17,  /* another item won the slot, or claims or moves the key: look there again   */
    HIVE_ROOM_ABSENT = 1 << 18, /* the second round saw that the table lacks the key                         */
    HIVE_ITEM_BITS = 13         /* of the upper word of an item's number in a queue; the room is above them  */
};

/* ---- A lane's share of a bucket --------------------------------------------------------------- */

/* The slot of this lane's word j. And the reverse: the word of this lane that is slot `slot`; HIVE_LANE_WORDS: it is
 * another lane's. */
SIMT_FN uint32_t hive_slot_of(simt_tile t, const hive_view *u, uint32_t j) { return t.rank * hive_share(t, u) + j; }
SIMT_FN uint32_t hive_own_word(simt_tile t, const hive_view *u, uint32_t slot)
{
    uint32_t n = hive_share(t, u);
    return slot / n == t.rank ? slot % n : (uint32_t)HIVE_LANE_WORDS;
}

/* What this lane saw in its words of a bucket, for a key. */
typedef struct hive_share_seen {
    uint32_t key, free; /* the first of its words that is the key, or free; slots / 4: none        */
    uint32_t sums;      /* FRESH slots | free slots << 8 | words that claim or move the key << 16  */
} hive_share_seen;

/* True: the batch may insert keys. */
SIMT_FN bool hive_inserts(const hive_kind *k) { return k->mixed || gpu_op_inserts(k->op); }
/* True: a present key may change. */
SIMT_FN bool hive_changes(const hive_kind *k)
{
    return hive_inserts(k) || k->op == HD_OP_ASSIGN || k->op == HD_OP_ASSIGN_VALUES || k->op == HD_OP_ERASE;
}

/* Compares the lane's words w of a bucket with a key; skips word `but`. */
SIMT_FN hive_share_seen hive_look_at_share(const hive_kind *k, const uint64_t w[HIVE_LANE_WORDS], uint32_t key,
                                           uint32_t but)
{
    const hive_view *u = &k->shape;
    uint32_t n = u->slots / HIVE_BATCHED;
    hive_share_seen s;
    s.key = s.free = n;
    s.sums = 0;
    SIMT_UNROLL
    for (uint32_t j = HIVE_LANE_WORDS; j-- > 0;) {
        if (j >= n) continue;
        uint32_t head = (uint32_t)hive_key_of(u, w[j]);
        if (head == key) s.key = j;
        if (w[j] == hive_fresh(u)) s.sums += 1;
        if (!hive_inserts(k) && !k->moves) continue;
        if (hive_is_free(u, w[j])) {
            s.free = j;
            s.sums += 1 << 8;
        } else if (k->moves && head >= hive_keys(u) && hive_value_of(u, w[j]) == key && j != but) {
            s.sums += 1 << 16;
        }
    }
    return s;
}

/* ---- Collectives of a tile, made of those of the warp, which are cheaper; all 32 lanes call them ---- */

SIMT_FN uint32_t hive_of_u32(simt_tile t, uint32_t x, uint32_t rank)
{
    return simt_shfl_u32(simt_tile_of(32), x, t.base + rank);
}
SIMT_FN uint64_t hive_of_u64(simt_tile t, uint64_t x, uint32_t rank)
{
    return simt_shfl_u64(simt_tile_of(32), x, t.base + rank);
}
SIMT_FN uint8_t *hive_of_ptr(simt_tile t, uint8_t *p, uint32_t rank)
{
    return (uint8_t *)(uintptr_t)hive_of_u64(t, (uintptr_t)p, rank);
}
SIMT_FN uint32_t hive_sum_of(simt_tile t, uint32_t x)
{
    SIMT_UNROLL
    for (uint32_t bit = t.size / 2; bit > 0; bit /= 2) x += simt_shfl_xor_u32(simt_tile_of(32), x, bit);
    return x;
}

/* ---- A look at four buckets ------------------------------------------------------------------ */

/* What the tile saw in the bucket of an item; the lane of the item has it. */
typedef struct hive_bucket_seen {
    bool key;             /* the bucket has the key                                                             */
    uint32_t fresh, free; /* how many slots are FRESH, and free (FRESH or VACANT)                               */
    uint32_t signs;       /* how many words claim or move the key                                               */
    uint32_t spot;        /* the slot of the key, else the first free slot, as a room (HIVE_ROOM_); 0: neither  */
    uint32_t old;         /* the value of the key                                                               */
} hive_bucket_seen;

/* Looks for the keys of the tile's four items in four buckets. home, own: the bucket and the key of this lane's item.
 * briefly: `spot` and `old` are not needed, and slot `but` of the bucket is skipped. Loads are relaxed. */
SIMT_FN hive_bucket_seen hive_look(simt_tile t, const hive_kind *k, uint8_t *home, uint32_t own, bool briefly,
                                   uint32_t but)
{
    const hive_view *u = &k->shape;
    uint32_t n = u->slots / HIVE_BATCHED;
    uint64_t w[HIVE_BATCHED][HIVE_LANE_WORDS];
    hive_bucket_seen mine;
    mine.key = false;
    mine.fresh = mine.free = mine.signs = mine.spot = mine.old = 0;
    SIMT_UNROLL
    /* a lane without an item loads a bucket too; the result is not used */
    for (uint32_t q = 0; q < HIVE_BATCHED; q++) hive_load_share_of(t, u, hive_of_ptr(t, home, q), false, w[q]);
    SIMT_UNROLL
    for (uint32_t q = 0; q < HIVE_BATCHED; q++) {
        uint32_t not_this = briefly ? hive_own_word(t, u, hive_of_u32(t, but, q)) : (uint32_t)HIVE_LANE_WORDS, spot = 0,
                 old = 0;
        hive_share_seen seen = hive_look_at_share(k, w[q], hive_of_u32(t, own, q), not_this);
        uint32_t sums = hive_sum_of(t, seen.sums), key = hive_votes(t, seen.key < n), who = key;
        if (!briefly) {
            if (hive_inserts(k)) who = hive_votes(t, seen.free < n);
            if (key) who = key;
            uint32_t j = key ? seen.key : seen.free, lane = who ? simt_ffs(who) - 1 : 0;
            uint64_t word = hive_pick(w[q], j);
            spot = hive_of_u32(t,
                               hive_slot_of(t, u, j) << HIVE_ROOM_SLOT |
                                   (word == hive_fresh(u) ? 0 : (uint32_t)HIVE_ROOM_VACANT),
                               lane);
            old = hive_of_u32(t, (uint32_t)hive_value_of(u, word), lane);
        }
        if (t.rank != q) continue;
        mine.key = key != 0;
        mine.fresh = sums & 0xff;
        mine.free = sums >> 8 & 0xff;
        mine.signs = sums >> 16;
        mine.spot = who ? spot : 0;
        mine.old = old;
    }
    return mine;
}

/* How many entries the stash has. Load it early: the word is seldom in a cache. */
SIMT_FN uint64_t hive_ask_stashed(const hive_args *a, const hive_kind *k)
{
    return k->shape.hashes == 2 ? simt_ldrlx_u64(a->stashed) : 0;
}

/* True: if neither candidate has the key of this lane's item, the table lacks it. Either the stash is empty, or the
 * key's first bucket in the stash is open and has no word of the key. False in tables with a third candidate. The
 * order of the loads does not matter, because no key moves from a candidate to the stash. */
SIMT_FN bool hive_ends_there(simt_tile t, const hive_args *a, const hive_kind *k, const hive_in_flight *s,
                             uint64_t stashed)
{
    if (k->shape.hashes != 2) return false;
    if (!simt_any(simt_tile_of(32), stashed != 0)) return true;
    hive_bucket_seen b =
        hive_look(t, k, (uint8_t *)hive_bucket(&a->v, hive_ring(&a->v, s->h)), s->key, true, HIVE_NO_SLOT);
    return !b.key && b.signs == 0 && b.fresh > 0;
}

#endif
