/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.h - where the bytes of a Hive table are (Hive section III-A and III-B, Figures 1 and 2).
 *
 * An entry is one word (ref/words/layout.h): of 64 bits where value_bytes is 4, of 32 where it is 2. Slot s of bucket b
 * is entry e = b * slots + s. With 32 slots a bucket is two lines of 128 bytes, or one of 32-bit words; with 16 slots
 * it is one, or half of one.
 *
 * A key has `hashes` candidate buckets, in order, and after them the stash: a ring of further buckets, numbered behind
 * the others, which it enters at a place of its own and goes along to one that has room. It takes an eighth less than
 * it has slots, so that ways stay short.
 *
 * A bucket is open while more than `spare` of its slots are fresh; one of the stash, while any is. Fresh slots are
 * taken and never come back, so a bucket that is not open will never be open. No key goes past an open bucket: a
 * new key takes the first candidate with more than `spare` free slots, fresh or vacant, else the one with the most of
 * them, the first of equals; else a slot that is made by displacing others; else one of the stash. Displaced, a key
 * goes on to a later candidate that has room: never back. So a search goes along the same way, cannot miss a key
 * that moves, and may stop at a bucket that is open. Spare slots cost lookups a second bucket now and then, and
 * make displacement rare: without any, keys fill the first bucket to its last slot.
 *
 * Buckets are numbered by linear hashing (section IV-C; Litwin 1980): there are base x 2^level + split of them. A hash
 * gives a first part, of base, and as many low bits as there are levels, one more where the bucket that they name has
 * been split:
 *
 *   a        h * base / 2^32                   any number of buckets to begin with
 *   bucket   a + base * (h mod 2^level)        or, where that is below split, a + base * (h mod 2^(level + 1))
 *
 * Splitting bucket `split` makes bucket base x 2^level + split of what the next bit says. Segment 0 has the base
 * buckets, segment k those that the k-th doubling adds: nothing moves in memory when the table grows, and no address
 * but the split bucket's changes.
 *
 * In layout "masks", the paper's, each bucket has a word that says which of its slots are free (bit s), and a lock
 * word, which an item holds while it displaces entries from the bucket. In layout "words" there is neither.
 *
 * Differs: the paper's displaced key is in no bucket while its warp looks for another, so that a lookup can miss
 * it; its stash is a queue in which nothing can be found; its lookups read all candidates, and its new keys fill the
 * first. Here keys only move forward, the stash is searched like a bucket, and open buckets end a search.
 *
 * Invariants, by number (ref/hive/check.c). "At rest" means that no batch is running.
 *   HIVE-1  a key is below the limit, and in one slot of the table
 *   HIVE-2  a key is in one of its candidate buckets, or in the stash
 *   HIVE-3  at rest no slot is CLAIMED or LEAVING, and no lock is held
 *   HIVE-4  no bucket before the one that a key is in, on its way, is open
 *   HIVE-5  in layout "masks": at rest bit s of a bucket's mask is 1 exactly where slot s is free
 *   HIVE-6  at rest the count of the stash is that of its entries, and no more than it takes
 */
#ifndef HD_HIVE_LAYOUT_H
#define HD_HIVE_LAYOUT_H

#include "policies/hashes/hashes.h"
#include "heddle.h"
#include "policies/hashes/hash.h"
#include "ref/words/layout.h"

enum {
    HIVE_SEGMENTS = 32,
    HIVE_HASHES_MOST = 3,
    HIVE_SLOTS_MOST = 32,
    HIVE_FUNCTION_BITS = 8, /* of hive_view.functions, for each */
    HIVE_FUNCTION = (1 << HIVE_FUNCTION_BITS) - 1,
    HIVE_ROUNDS = 8,      /* at most so many keys are displaced for a new key (the bound of section IV-A, step 3) */
    HIVE_STASH_SHARE = 64 /* a stash has one bucket for so many of the table's: 1.6% */
};
#define HIVE_NOWHERE WORD_NOWHERE

/* What can be wrong with a slot, in the order in which it is asked (ref/hive/check.c, gpu/hive/check.h). The first two
 * concern a bucket, and are asked of its slot 0. */
enum {
    HIVE_RULE_LOCKED,
    HIVE_RULE_MASK,
    HIVE_RULE_FREE,
    HIVE_RULE_CLAIMED,
    HIVE_RULE_BUCKET,
    HIVE_RULE_OPEN,
    HIVE_RULE_TWICE,
    HIVE_RULES
};

enum { HIVE_EMPTY = WORD_EMPTY, HIVE_CLAIMED = WORD_CLAIMED, HIVE_LEAVING = WORD_LEAVING };

typedef struct hive_segment {
    void *word;     /* (buckets of it, slots) of word_bytes */
    uint32_t *mask; /* (buckets of it); NULL: layout words  */
    uint32_t *lock; /* likewise                             */
} hive_segment;

typedef struct hive_view {
    hive_segment segment[HIVE_SEGMENTS]; /* segment 0: base buckets; k: base x 2^(k - 1)   */
    hive_segment stash;                  /* (stash_buckets)                                */
    uint64_t base, split;                /* buckets: base x 2^level + split; split < base x 2^level */
    uint32_t level;
    uint32_t slots;  /* per bucket: 8, 16 or 32                        */
    uint32_t half;   /* bits of a key, and of a value: 32 or 16        */
    uint32_t hashes; /* candidate buckets per key: 2 or 3              */
    uint32_t spare;  /* a bucket is open while more slots are fresh    */
    uint64_t stash_buckets;
    uint64_t stashed; /* entries in the stash                           */
    uint64_t seed;
    /* 0: both halves of one hash; else byte i is one more than candidate i's row of policies/hashes/registry.inc */
    uint32_t functions;
    bool masks;
} hive_view;

/* ---- Words ----------------------------------------------------------------------------------- */

/* word.h, with the halves of the table's words. */
HD_FN uint32_t hive_word_bytes(const hive_view *v) { return word_bytes(v->half); }
HD_FN uint64_t hive_field(const hive_view *v) { return word_field(v->half); }
HD_FN uint64_t hive_keys(const hive_view *v) { return word_keys(v->half); }
HD_FN uint64_t hive_pack(const hive_view *v, uint64_t key, uint64_t value) { return word_pack(v->half, key, value); }
HD_FN uint64_t hive_key_of(const hive_view *v, uint64_t word) { return word_key_of(v->half, word); }
HD_FN uint64_t hive_value_of(const hive_view *v, uint64_t word) { return word_value_of(v->half, word); }
HD_FN uint64_t hive_sign(const hive_view *v, uint32_t sign, uint64_t value) { return word_sign(v->half, sign, value); }
HD_FN uint64_t hive_fresh(const hive_view *v) { return word_fresh(v->half); }
HD_FN uint64_t hive_vacant(const hive_view *v) { return word_vacant(v->half); }
HD_FN bool hive_is_key(const hive_view *v, uint64_t word) { return word_is_key(v->half, word); }
HD_FN bool hive_is_free(const hive_view *v, uint64_t word) { return word_is_free(v->half, word); }

/* ---- Buckets --------------------------------------------------------------------------------- */

/* As many as are addressed. */
HD_FN uint64_t hive_buckets(const hive_view *v) { return (v->base << v->level) + v->split; }
/* Entries there can be, the stash's with the others; and those of the table alone. */
HD_FN uint64_t hive_places(const hive_view *v) { return (hive_buckets(v) + v->stash_buckets) * v->slots; }
HD_FN uint64_t hive_capacity(const hive_view *v) { return hive_buckets(v) * v->slots; }

/* Bucket b is open while more of its slots than this are fresh. */
HD_FN uint32_t hive_spare(const hive_view *v, uint64_t b) { return b < hive_buckets(v) ? v->spare : 0; }

/* The segment that bucket b is in, the stash among them; *at: which of its buckets. */
HD_FN const hive_segment *hive_segment_of(const hive_view *v, uint64_t b, uint64_t *at)
{
    *at = b;
    if (b < v->base) return &v->segment[0];
    uint64_t all = hive_buckets(v), first = v->base;
    uint32_t k = 1;
    *at = b - all;
    if (b >= all) return &v->stash;
    for (; b >= 2 * first; k++) first *= 2;
    *at = b - first;
    return &v->segment[k];
}

/* Slot 0 of bucket b. */
HD_FN void *hive_bucket(const hive_view *v, uint64_t b)
{
    uint64_t at;
    const hive_segment *g = hive_segment_of(v, b, &at);
    return (uint8_t *)g->word + at * v->slots * hive_word_bytes(v);
}

/* How many buckets segment k has. */
HD_FN uint64_t hive_segment_buckets(const hive_view *v, uint32_t k) { return k ? v->base << (k - 1) : v->base; }

/* ---- Candidates ------------------------------------------------------------------------------ */

/* 32 bits of hash h for candidate i; HIVE_HASHES_MOST: for the place in the stash. */
HD_FN uint32_t hive_hash_part(uint64_t h, uint32_t i)
{
    if (i == 0) return (uint32_t)(h >> 32);
    if (i == 1) return (uint32_t)h;
    return (uint32_t)(hd_mix64(h + i) >> 32);
}

/* Where HIVE_MIX64 is defined there are no tables with functions by name: kernels have them compiled apart
 * (gpu/hive/kernels_named.cu). */
#ifndef HIVE_MIX64
/* The same of a key by functions (section III-C): candidate i has its own, of which one of 64 bits is folded. The
 * stash's place is as ever. */
HD_FN_APART uint32_t hive_named_part(uint32_t functions, uint64_t key, uint64_t seed, uint32_t i)
{
    if (i == HIVE_HASHES_MOST) return hive_hash_part(hd_hash(key, seed), i);
    uint64_t h = hd_hash_of32((functions >> HIVE_FUNCTION_BITS * i & HIVE_FUNCTION) - 1, (uint32_t)key, seed);
    return (uint32_t)(h >> 32 ^ h);
}

/* What parts are made of: the key's hash, or, where a table has functions by name, the key itself. */
HD_FN uint64_t hive_hash(const hive_view *v, uint64_t key) { return v->functions ? key : hd_hash(key, v->seed); }
HD_FN uint32_t hive_part(const hive_view *v, uint64_t h, uint32_t i)
{
    return v->functions ? hive_named_part(v->functions, h, v->seed, i) : hive_hash_part(h, i);
}
#else
HD_FN uint64_t hive_hash(const hive_view *v, uint64_t key) { return hd_hash(key, v->seed); }
HD_FN uint32_t hive_part(const hive_view *, uint64_t h, uint32_t i) { return hive_hash_part(h, i); }
#endif

/* The bucket that such a part names (section IV-C: index mask and split pointer). */
HD_FN uint64_t hive_address(const hive_view *v, uint32_t part)
{
    uint64_t a = (uint64_t)part * v->base >> 32, low = (1ull << v->level) - 1;
    uint64_t b = a + v->base * (part & low);
    return b < v->split ? a + v->base * (part & (2 * low + 1)) : b;
}

HD_FN uint64_t hive_candidate(const hive_view *v, uint64_t h, uint32_t i)
{
    return hive_address(v, hive_part(v, h, i));
}

/* Whether bucket b is on the way of a key with hash h: one of its candidates, or any of the stash. */
HD_FN bool hive_is_home(const hive_view *v, uint64_t h, uint64_t b)
{
    bool home = b >= hive_buckets(v);
    for (uint32_t i = 0; i < v->hashes && !home; i++) home = hive_candidate(v, h, i) == b;
    return home;
}

/* Entries that the stash takes: when it is full, what finds no place is PENDING (section IV-A, step 4). */
HD_FN uint64_t hive_stash_limit(const hive_view *v) { return v->stash_buckets * v->slots / 8 * 7; }

/* The bucket of the stash where a key enters the ring, and the one after bucket b of it. */
HD_FN uint64_t hive_ring(const hive_view *v, uint64_t h)
{
    return hive_buckets(v) + ((uint64_t)hive_part(v, h, HIVE_HASHES_MOST) * v->stash_buckets >> 32);
}
HD_FN uint64_t hive_ring_next(const hive_view *v, uint64_t b)
{
    return b + 1 < hive_buckets(v) + v->stash_buckets ? b + 1 : hive_buckets(v);
}

#endif
