/* SPDX-License-Identifier: Apache-2.0
 *
 * in_flight.h - what the rounds of batched (batched.h) have in common: what is known of a batch, a lane's own item, what four
 * lanes see of a bucket, and what of all buckets of a key.
 */
#ifndef HIVE_IN_FLIGHT_H
#define HIVE_IN_FLIGHT_H

#include "gpu/hive/steps.h"

enum { HIVE_BATCHED = 4 /* lanes of a tile, and keys that it has in flight */ };
enum { HIVE_NO_ITEM = HIVE_UNDECIDED + 1, HIVE_NO_SLOT = 255 };

/* What is known of a batch and its table when a kernel is compiled, or else read in its arguments. */
typedef struct hive_kind {
    hive_view shape; /* how words and buckets are made; where they are is in the arguments */
    uint32_t op;
    bool mixed, distinct, moves;
    bool aligned; /* values of batches lie on multiples of their size */
} hive_kind;

SIMT_FN hive_kind hive_kind_of(const hive_args *a, uint32_t slots, uint32_t half, uint32_t hashes, bool masks)
{
    hive_kind k;
    k.shape.slots = slots;
    k.shape.half = half;
    k.shape.hashes = hashes;
    k.shape.masks = masks;
    k.op = a->op;
    k.mixed = a->each != (const uint8_t *)0;
    k.distinct = a->distinct;
    k.moves = a->moves;
    k.aligned = false;
    return k;
}

/* A lane's own item of a batched. */
typedef struct hive_in_flight {
    uint64_t i, h;
    uint32_t key, in;        /* in: the value that it brings               */
    uint32_t op, rule;       /* rule: what its operation says, packed      */
    uint32_t outcome, value; /* value: what was there, of a HIT            */
    uint32_t room;           /* what its first bucket had for it: HIVE_ROOM_ */
    const uint8_t *slot;     /* of a HIT: where, if that is asked          */
} hive_in_flight;

/* A rule, and a room, as numbers. */
enum {
    HIVE_RULE_CHANGE = 3,
    HIVE_RULE_INSERT = 4,
    HIVE_RULE_SECOND = 8 /* it looks in its second bucket */,
    HIVE_RULE_FOUND = 4 /* shift */
};
enum {
    HIVE_ROOM_FREE = 0xff,      /* how many slots are free                                   */
    HIVE_ROOM_SLOT = 8,         /* shift: the first of them                                  */
    HIVE_ROOM_VACANT = 1 << 16, /* which is not fresh                                        */
    HIVE_ROOM_AGAIN = 1 << 17,  /* it was beaten there, or somebody has hold of its key      */
    HIVE_ROOM_ABSENT = 1 << 18, /* and in the other bucket the key was not, either           */
    HIVE_ITEM_BITS = 13         /* of a number of 32 bits with a room, what the room leaves  */
};

/* ---- The buckets of a batched ----------------------------------------------------------------- */

/* The slot of a lane's word j; and, the other way round, which of this lane's words slot `slot` is, HIVE_LANE_WORDS: of
 * another. */
SIMT_FN uint32_t hive_slot_of(simt_tile t, const hive_view *u, uint32_t j) { return t.rank * hive_share(t, u) + j; }
SIMT_FN uint32_t hive_own_word(simt_tile t, const hive_view *u, uint32_t slot)
{
    uint32_t n = hive_share(t, u);
    return slot / n == t.rank ? slot % n : (uint32_t)HIVE_LANE_WORDS;
}

/* What this lane has of a bucket, for a key. */
typedef struct hive_share_seen {
    uint32_t key, free; /* the first of its words that is the key, or free; as many as it has: none */
    uint32_t sums;      /* fresh slots, free ones << 8, words that speak of the key << 16           */
} hive_share_seen;

SIMT_FN bool hive_inserts(const hive_kind *k) { return k->mixed || hive_op_inserts(k->op); }
/* Whether a key that is there may become something else. */
SIMT_FN bool hive_changes(const hive_kind *k)
{
    return hive_inserts(k) || k->op == HD_OP_ASSIGN || k->op == HD_OP_ASSIGN_VALUES || k->op == HD_OP_ERASE;
}

/* but: a word that is not looked at. */
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

/* ---- Tiles of a warp whose lanes are all together: its own collectives are cheaper than those of tiles ---- */

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

/* What the tile saw of a bucket for one of its items, in the lane whose item it is. */
typedef struct hive_bucket_seen {
    /* it is there                                                                                        */
    bool key;
    /* slots; and words that speak of the key                                                             */
    uint32_t fresh, free, signs;
    /* where, or the first free slot: a room (HIVE_ROOM_) without its number of slots; 0 as well: neither */
    uint32_t spot;
    /* the key's value                                                                                    */
    uint32_t old;
} hive_bucket_seen;

/* The buckets of the tile's four items, each lane's own, for keys of their own. briefly: neither spot nor old are
 * asked, and slot `but` of the bucket is not looked at. */
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
    /* of no item, too: what it says is not asked */
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

/* How many entries the stash has; to be asked for early, for it is far. */
SIMT_FN uint64_t hive_ask_stashed(const hive_args *a, const hive_kind *k)
{
    return k->shape.hashes == 2 ? simt_ldrlx_u64(a->stashed) : 0;
}

/* Whether a lane's own item, if it is in none of its two candidates, is nowhere: nothing is stashed, or the first
 * bucket of the ring that is the key's is open, and does not speak of it. Of a table with third candidates nobody says
 * so. A key does not go from a candidate to the stash, so that it matters little which of them is looked at first. */
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
