/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.h - where the bytes of an HKV table are (HKV section 3.2, Figure 4).
 *
 * Slot s of bucket b is entry e = b * slots + s. In layout "planes" each field of an entry has a plane of its own:
 *
 *   plane    bytes at e                       meaning
 *   digest   e                                0: empty; else 1 to 255, a filter and never an answer
 *   key      8e .. 8e + 7                     HD_KEY_EMPTY, HD_KEY_LOCKED, HKV_KEY_REPLACED or the key
 *   score    8e .. 8e + 7                     made by the policy; the least of a full bucket leaves first
 *   value    e * value_bytes ..               opaque
 *
 * 17 bytes of metadata per entry for any number of slots. With 128 slots the digests of a bucket are one
 * 128-byte line, so one line settles a miss (Proposition 3.1). Values are found by position: no pointer is
 * stored (section 3.6). Planes are aligned to 128 bytes.
 *
 * In layout "pairs" a key and its score lie side by side, so that a use of an entry dirties one place of memory and not
 * two, and every eight slots have a lower bound, so that the least score of a bucket is found without reading all of
 * them:
 *
 *   key      16e .. 16e + 7
 *   score    16e + 8 .. 16e + 15
 *   bound    8g .. 8g + 7, g = e / 8          never above the scores of entries 8g to 8g + 7. None where slots is no
 *                                             multiple of 8
 *
 * 18 bytes of metadata per entry. Both layouts are reached through hkv_key_at and hkv_score_at.
 *
 * Values may lie in two tiers, near and far, each without gaps. The first of a stripe are near: a stripe is the whole
 * table (the paper's), or one bucket. V near values are shared out evenly over the R stripes, so that of a stripe
 * V / R are near, or one more. So many near values lie before stripe r:
 *
 *   n(r)     floor(r * V / R) = r * near + floor(r * part / 2^64)
 *            near = floor(V / R), part = ceil(2^64 * (V mod R) / R); exact while R < 2^32
 *
 * With m times the buckets and the same V, n(m * r) is what n(r) was: the near values of a bucket's children lie where
 * those of the bucket lay, so that a table can grow without a second near tier (gpu/hkv/resize.h).
 *
 *   near     (n(r) + i) * value_bytes ..                  of entry i of stripe r, i < n(r + 1) - n(r)
 *   far      (r * slots + i - n(r + 1)) * value_bytes ..  of the others
 *
 * A table whose policy remembers keys that left (HD_REMEMBERS) has two more planes. A ghost is a word: what is known of
 * a key that left the bucket. Lists are in the order in which keys joined them.
 *
 *   state    8b .. 8b + 7                     of bucket b, as next_state gave it last
 *   ghost    8e .. 8e + 7                     0: none; else its order in the bucket (32 bits), its list less 1 (1 bit)
 *                                             and 31 bits of the key's hash. No two ghosts of a bucket have one order
 *
 * A key that is inserted is a ghost no longer. Items with raw scores read and change neither plane.
 *
 * A table whose policy counts keys (HD_COUNTS) has a plane of counters of 4 bits, a count-min sketch for each bucket
 * (TinyLFU, ToS '17, section 3). Its C words are 4 and four for each group. The groups are the least power of two that
 * is at least half of the slots. A key has a group, and in each word of it one of 16 counters.
 *
 *   count    8bC .. 8bC + 7                   how many uses bucket b has counted since the last halving, and half of
 *                                             those before
 *            8(bC + 4) .. 8(bC + C) - 1       its counters
 *
 * Growth forgets all ghosts, states and counters, and a snapshot has none of them.
 *
 * A pinned entry has a holder, which is not 0. Holders are one more plane:
 *
 *   holder   8e .. 8e + 7                     0: the entry is not pinned
 *
 * A table has this plane from the beginning if hd_config.hkv.pins is not 0. Another one gets it with the first batch
 * that pins (hd_backend.prepare), so a table that never pins has 17 or 18 bytes per entry.
 *
 * Differs: HKV allocates buckets one by one and reaches them through a descriptor each, a random 32-byte
 * load before every operation. Here an address is arithmetic.
 *
 * Invariants, by number (ref/hkv/check.c). "At rest" means no batch is running.
 *   HKV-1  an entry's digest is 0 exactly when its key is HD_KEY_EMPTY
 *   HKV-2  a key's digest is hd_digest of its hash
 *   HKV-3  a key is in its first bucket; in dual mode in its first or second
 *   HKV-4  a key is in at most one slot of the table
 *   HKV-5  at rest no key is HD_KEY_LOCKED or HKV_KEY_REPLACED
 *   HKV-6  at rest a slot that has a holder has an entry, and `pins` is the number of such slots
 *   HKV-7  an empty slot's score is 0: nothing of an old entry shows through export or a snapshot
 *   HKV-8  at rest a bound is no greater than the score of any slot of its group that has no holder, empty slots
 *          included
 *   HKV-9  no two ghosts of a bucket have the same order
 */
#ifndef HD_HKV_LAYOUT_H
#define HD_HKV_LAYOUT_H

#include "heddle.h"
#include "policies/hashes/hash.h"
#include "policies/program.h"

#define HKV_KEY_REPLACED HD_KEY_RESERVED /* locked by an item that replaces value and score and reads neither */

enum { HKV_NO_DIGEST = 0, HKV_BOUNDED = 8 /* slots that share a bound */ };

/* What can be wrong with a slot, in the order in which a check asks. */
enum {
    HKV_RULE_BOUND,
    HKV_RULE_EMPTY_PINNED,
    HKV_RULE_EMPTY_DIGEST,
    HKV_RULE_EMPTY_SCORE,
    HKV_RULE_NO_DIGEST,
    HKV_RULE_LOCKED,
    HKV_RULE_RESERVED,
    HKV_RULE_DIGEST,
    HKV_RULE_HOME,
    HKV_RULE_TWICE,
    HKV_RULE_GHOST,
    HKV_RULES
};

/* Everything that an operation needs to know of a table. */
typedef struct hkv_view {
    uint8_t *digest;  /* (buckets, slots)              */
    uint64_t *key;    /* of entry e at e * step        */
    uint64_t *score;  /* of entry e at e * step        */
    uint64_t *bound;  /* (buckets, slots / HKV_BOUNDED); NULL: none */
    uint64_t *holder; /* (buckets, slots); NULL: no entry was ever pinned */
    uint64_t *state;  /* (buckets); NULL: the policy does not remember    */
    uint64_t *ghost;  /* (buckets, slots); likewise                       */
    uint64_t *count;  /* (buckets, hkv_count_words); NULL: the policy does not count */
    uint8_t *value;   /* (buckets, slots, value_bytes), or those that are near */
    uint8_t *far;     /* the others; NULL: all are near */
    uint64_t near;    /* entries of the table, or slots of every bucket, whose values are near */
    uint64_t part;    /* of 2^64: how much more than `near` slots of a bucket are near, on average */
    uint64_t striped; /* 0: a stripe is the table; else a bucket, and this is 2^64 / slots, rounded up */
    uint64_t buckets;
    uint32_t step; /* 1: planes; 2: pairs           */
    uint32_t slots;
    uint32_t value_bytes;
    uint64_t seed;
    uint32_t policy;       /* hd_policy                 */
    uint32_t admit_always; /* 0 or 1                    */
    uint32_t dual;         /* 0 or 1                    */
    uint64_t pins;         /* entries that have a holder */
    hd_program program;    /* of the policy: the steps of its expressions, if it has some, and its flags */
} hkv_view;

HD_FN uint64_t hkv_entry(const hkv_view *v, uint64_t b, uint32_t s) { return b * v->slots + s; }

/* Whether a key of hash h may be in bucket b. */
HD_FN bool hkv_is_home(const hkv_view *v, uint64_t h, uint64_t b)
{
    return b == hd_first_bucket(h, v->buckets) || (v->dual && b == hd_second_bucket(h, v->buckets));
}

HD_FN uint64_t *hkv_key_at(const hkv_view *v, uint64_t e) { return v->key + e * v->step; }
HD_FN uint64_t *hkv_score_at(const hkv_view *v, uint64_t e) { return v->score + e * v->step; }

HD_FN uint64_t hkv_capacity(const hkv_view *v) { return v->buckets * v->slots; }

/* The holder of entry e; 0: it is not pinned. For the host: kernels count pins elsewhere (gpu/hkv/pins.h). */
HD_FN uint64_t hkv_holder_of(const hkv_view *v, uint64_t e) { return v->pins ? v->holder[e] : 0; }

/* The stripe that entry e is in. The quotient is exact while e < 2^52: what was rounded up makes less than 1 of it. */
HD_FN uint64_t hkv_stripe(const hkv_view *v, uint64_t e) { return hd_mulhi64(e, v->striped); }

/* How many slots of all stripes before a stripe are near; of the stripe. */
HD_FN uint64_t hkv_near_before(const hkv_view *v, uint64_t stripe)
{
    return stripe * v->near + hd_mulhi64(stripe, v->part);
}
HD_FN uint64_t hkv_near_of(const hkv_view *v, uint64_t stripe)
{
    return hkv_near_before(v, stripe + 1) - hkv_near_before(v, stripe);
}

HD_FN bool hkv_is_near(const hkv_view *v, uint64_t e)
{
    uint64_t stripe = hkv_stripe(v, e);
    return !v->far || e - stripe * v->slots < hkv_near_of(v, stripe);
}

/* Never NULL: a table of value_bytes 0 has a value plane of one unused byte. */
HD_FN uint8_t *hkv_value(const hkv_view *v, uint64_t e)
{
    if (!v->far) return v->value + e * v->value_bytes;
    uint64_t stripe = hkv_stripe(v, e), i = e - stripe * v->slots;
    uint64_t before = hkv_near_before(v, stripe), near = hkv_near_before(v, stripe + 1) - before;
    if (i < near) return v->value + (before + i) * v->value_bytes;
    return v->far + (e - before - near) * v->value_bytes;
}

/* How many values are near. */
HD_FN uint64_t hkv_near_values(const hkv_view *v)
{
    uint64_t all = hkv_capacity(v), near = v->striped ? hkv_near_before(v, v->buckets) : v->near;
    return near < all ? near : all;
}

/* How many entries the insert of one item spares at most. A policy with queues may spare an entry again. */
HD_FN uint32_t hkv_spared_most(const hkv_view *v, bool queues)
{
    uint32_t all = (v->dual + 1) * v->slots;
    return !queues ? all : all < 1024 ? 4 * all : 4095;
}

/* The part of a key's hash that a ghost has. The bucket is known by others. */
HD_FN uint32_t hkv_fingerprint(uint64_t h) { return (uint32_t)(h * 0x9e3779b97f4a7c15u >> 33); }

/* list: 1 or 2. */
HD_FN uint64_t hkv_ghost_word(uint64_t order, uint32_t list, uint32_t fingerprint)
{
    return order << 32 | (uint64_t)(list - 1) << 31 | fingerprint;
}
HD_FN uint32_t hkv_ghost_list(uint64_t word) { return 1 + (uint32_t)(word >> 31 & 1); }

/* ---- Counters of keys ------------------------------------------------------------------------ */

enum { HKV_COUNT_ROWS = 4, HKV_COUNT_MOST = 15, HKV_COUNT_WORDS_MOST = 2 * HD_SLOTS_MAX + 4 };

/* The groups of a bucket, less 1. */
HD_FN uint32_t hkv_count_mask(uint32_t slots)
{
    uint32_t last = (slots + 1) / 2 - 1;
    last |= last >> 1;
    last |= last >> 2;
    last |= last >> 4;
    return last | last >> 8;
}
HD_FN uint32_t hkv_count_words(uint32_t slots) { return 4 * (hkv_count_mask(slots) + 2); }

/* After so many uses of a bucket its counters are halved: ten for each slot that its keys have. In dual mode they have
 * two buckets, and each use counts in both. */
HD_FN uint64_t hkv_count_sample(uint32_t slots, bool dual) { return (dual ? 20ull : 10ull) * slots; }

/* Where the counters of a key are: a hash, of which follow the first word of its group in the bucket, and the shift in
 * each word. */
HD_FN uint64_t hkv_count_hash(uint64_t key) { return hd_mix64(key + 0x9e3779b97f4a7c15u); }
HD_FN uint64_t hkv_count_at(uint32_t slots, uint64_t h) { return 4 + 4 * (h & hkv_count_mask(slots)); }
HD_FN uint32_t hkv_count_shift(uint64_t h, uint32_t row) { return (uint32_t)(h >> (32 + 4 * row) & 15) * 4; }
HD_FN uint64_t hkv_counts_halved(uint64_t word) { return word >> 1 & 0x7777777777777777u; }

HD_FN void hkv_make_empty(const hkv_view *v, uint64_t e)
{
    *hkv_key_at(v, e) = HD_KEY_EMPTY;
    *hkv_score_at(v, e) = 0;
    v->digest[e] = HKV_NO_DIGEST;
    if (v->bound) v->bound[e / HKV_BOUNDED] = 0;
}

#endif
