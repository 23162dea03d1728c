/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.h - where the bytes of an ovs table are: a dictionary that may be larger than a device's memory.
 *
 * An entry is one word of 64 bits (ref/words/layout.h, half 32). A bucket is a line of 16 words, 128 bytes. A segment
 * is a power of two of buckets and nothing else: it has no header, and no address is stored in it. Bucket b is bucket b
 * mod lines of segment b / lines; slot s of it is entry e = 16 b + s.
 *
 * With values of 8 bytes an entry is a pair of words. A bucket is a line of 128 bytes, too: 8 key words, then their 8
 * value words. Slot s has key word s and value word 8 + s, and is entry e = 8 b + s. A key word without a key is
 *
 *   2^64 - 1   fresh
 *   2^64 - 2   vacant
 *   2^64 - 3   busy: an item has taken the slot, and is about to store its value and then its key (gpu/ovs/wide.h)
 *
 * and the value word of such a slot says nothing. Two words cannot be changed by one compare-and-swap, and a busy slot
 * does not say for which key it is. So pairs have no mixed batches: while keys are inserted, no slot may become free.
 * Pairs have no digests.
 *
 * Segments are numbered by linear hashing (Litwin 1980): there are base x 2^level + split of them. The high half of a
 * hash, 32 bits, gives a first part, of base, and as many low bits as there are levels, one more where the segment that
 * they name has been split:
 *
 *   a         high * base / 2^32
 *   segment   a + base * (high mod 2^level)   or, where that is below split, a + base * (high mod 2^(level + 1))
 *   start     low half of the hash mod lines: a bucket of that segment
 *
 * The way of a key is the buckets of its segment from `start` on, the first one behind the last. It has at most
 * OVS_WAY buckets. A bucket is open while any of its slots is fresh. A new key takes the first free slot, fresh or
 * vacant, on its way; if there is none, it is PENDING. So no key goes past an open bucket, and a search ends there. A
 * slot that is erased is vacant, so it does not end searches, and a later key takes it.
 *
 * Splitting segment `split` makes segment base x 2^level + split of what the next bit says. A split or a merge rewrites
 * its segments: each key moves to the first free slot of its way until no key can, and then all free slots are fresh.
 *
 * With `ranges` a segment holds the keys of a range, and the high half of what is called a hash is the key itself. The
 * low half is the hash's, so all is as above within a segment. A directory says which segment has which range: a row
 * (first key << 32 | segment) for each segment, by ascending first keys. The last row whose first key is not above a
 * key names its segment. Numbers of segments say nothing about keys then: base, level and split only place segments in
 * extents. A split takes any segment, and gives the upper half of its keys to the segment that is new
 * (ref/ovs/range.h).
 *
 * Extent 0 has the base segments, extent k those that the k-th doubling adds: nothing else moves when a table grows.
 * The first near_most segments of the table are near: in device memory. The others are far: in page-locked host memory,
 * which kernels read and write in place over the bus. So an extent has a near part and a far part; one of them may be
 * empty. A segment has one home, and no copy elsewhere.
 *
 * Digests: a segment of the first `guided` extents has 16 bits more per slot, in device memory whether it is near or
 * far. The digest of a key is a number of two bytes, neither of which is 0. Digest 0 says that the slot is fresh. An
 * erased slot keeps the digest of the key that it had, or says OVS_DIGEST_OF_NONE: a search then reads a bucket in
 * vain, which is rare. In such a segment a bucket is open while any of its digests is 0 (gpu/ovs/args.h has the
 * protocol).
 *
 * Copies: device memory may hold copies of entries of far segments, so that lookups of keys that are often asked for
 * read no far memory. Tables of pairs have none. A set of copies is four words, 32 bytes, one sector. The hash of a key
 * says in which set its copy may be. A word of a set is the complement of the entry's word, so that 0 says that there
 * is none.
 *
 * Readers add copies and move them within their sets, while other readers do the same. Each store writes a word that is
 * a true copy, so they need no order among each other. A key may have two copies for a while. Readers run apart from
 * all that changes entries (hd_config.lock). An item that changes or removes an entry also drops the copies of the key,
 * or renews them if no other item may change the entry at the same time. A new key has no copy. Shrinking and
 * hd_set_near move entries from far segments to near ones, and hd_for_each lets its caller change values: they drop all
 * copies. Growth moves no entry from a far segment to a near one.
 *
 * Which entries have copies: an entry that a lookup has found in a far segment takes the last place of its set, or a
 * free one. A lookup that finds a copy exchanges it with the one before it. So keys that are asked for more often come
 * to the front, and those at the end are replaced: the rule "transpose" of self-organizing lists (Rivest 1976).
 *
 * Differs from the paper (Patel et al., OOPSLA 2026): segments are chosen by the hash or by ranges that are split at
 * the median, and not by ranges of one width; a full segment makes a key PENDING, and does not lose it; an erased slot
 * is used again; a key and its value are one word.
 *
 * Invariants, by number (ref/ovs/check.c). "At rest" means that no batch is running.
 *   OVS-1  a key is below the limit, and in one slot of the table
 *   OVS-2  a key is on its way: in its segment, and in one of the buckets there that its hash says
 *   OVS-3  at rest a slot without a key is fresh or vacant
 *   OVS-4  no bucket before the one that a key is in, on its way, is open
 *   OVS-5  the first near_most segments are in near parts, the others in far parts
 *   OVS-6  at rest the digest of a slot with a key is the key's, that of a fresh slot is 0, that of a vacant one is not
 *   OVS-7  the first keys in the directory ascend, and begin with 0; each segment has one row; a device's copy of the
 *          directory is the same
 *   OVS-8  a copy is of an entry of a far segment, in the set of its key, and equals the entry; at rest, and while a
 *          batch of readers runs
 */
#ifndef HD_OVS_LAYOUT_H
#define HD_OVS_LAYOUT_H

#include "policies/hashes/hash.h"
#include "heddle.h"
#include "ref/words/layout.h"

enum {
    OVS_HALF = 32,  /* bits of a key, and of a value */
    OVS_SLOTS = 16, /* of a bucket of words          */
    OVS_LINE = 128, /* bytes of a bucket             */
    OVS_LINE_WORDS = OVS_LINE / 8,
    OVS_PAIRS = WORD_APART, /* slots of a bucket of pairs */
    OVS_WAY = 64,           /* buckets of a way, at most     */
    OVS_EXTENTS = 32,       /* as many doublings, and the base segments */
    OVS_DIGEST = 2,         /* bytes of a digest */
    OVS_DIGEST_OF_NONE = 0x101
};
#define OVS_NOWHERE WORD_NOWHERE

/* What can be wrong with a slot, in the order in which it is asked (ref/ovs/check.c, gpu/ovs/check.h). */
enum {
    OVS_RULE_FREE,
    OVS_RULE_CLAIMED,
    OVS_RULE_SEGMENT,
    OVS_RULE_WAY,
    OVS_RULE_OPEN,
    OVS_RULE_TWICE,
    OVS_RULE_DIGEST,
    OVS_RULES
};

/* What can be wrong with a row of the directory. It is asked before the slots. */
enum { OVS_ROW_ORDER, OVS_ROW_SEGMENT, OVS_ROW_COPY, OVS_ROW_TWICE, OVS_ROW_RULES };

enum { OVS_COPIES = 4 /* words of a set */, OVS_COPY_SET = OVS_COPIES * 8 /* its bytes */ };

/* What can be wrong with a copy (OVS-8), in the order in which it is asked. */
enum { OVS_COPY_SIGN, OVS_COPY_PLACE, OVS_COPY_NEAR, OVS_COPY_STALE, OVS_COPY_RULES };

typedef struct ovs_extent {
    uint64_t *near, *far; /* words; NULL: no segment of it is there */
    uint8_t *digest;      /* OVS_DIGEST bytes per slot of all its segments, if it is guided */
} ovs_extent;

typedef struct ovs_view {
    ovs_extent extent[OVS_EXTENTS]; /* extent 0: base segments; k: base x 2^(k - 1)              */
    uint64_t base, split;           /* segments: base x 2^level + split; split < base x 2^level */
    uint32_t level;
    uint32_t line_bits; /* a segment has 2^line_bits buckets */
    uint32_t guided;    /* the first extents, which have digests */
    uint32_t ranges;    /* 1: segments have ranges of keys; 0: what hashes say */
    uint64_t near_most; /* the first segments, which are near */
    uint64_t seed;
    uint64_t *row; /* (rows) the directory; ranges only. Of its rows as many are in use as there are segments */
    uint64_t rows;
    uint32_t pairs; /* 1: entries are pairs of words; 0: words */
    uint64_t *copy; /* (copy_sets) sets of copies */
    uint64_t copy_sets;
} ovs_view;

/* ---- Sizes ----------------------------------------------------------------------------------- */

HD_FN uint64_t ovs_segments(const ovs_view *v) { return (v->base << v->level) + v->split; }
HD_FN uint64_t ovs_lines(const ovs_view *v) { return 1ull << v->line_bits; }
HD_FN uint32_t ovs_slot_bits(const ovs_view *v) { return 4 - v->pairs; }
HD_FN uint32_t ovs_slots(const ovs_view *v) { return 1u << ovs_slot_bits(v); } /* of a bucket */
HD_FN uint64_t ovs_segment_slots(const ovs_view *v) { return ovs_lines(v) << ovs_slot_bits(v); }
HD_FN uint64_t ovs_segment_words(const ovs_view *v) { return ovs_lines(v) * OVS_LINE_WORDS; }
HD_FN uint64_t ovs_buckets(const ovs_view *v) { return ovs_segments(v) << v->line_bits; }
HD_FN uint64_t ovs_places(const ovs_view *v) { return ovs_buckets(v) << ovs_slot_bits(v); }

/* How many segments extent k has, which one is its first, and how many of them are near. */
HD_FN uint64_t ovs_extent_segments(const ovs_view *v, uint32_t k) { return k ? v->base << (k - 1) : v->base; }
HD_FN uint64_t ovs_extent_first(const ovs_view *v, uint32_t k) { return k ? v->base << (k - 1) : 0; }
HD_FN uint64_t ovs_extent_near(const ovs_view *v, uint32_t k)
{
    uint64_t all = ovs_extent_segments(v, k), first = ovs_extent_first(v, k);
    uint64_t near = v->near_most > first ? v->near_most - first : 0;
    return near < all ? near : all;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

HD_FN bool ovs_is_near(const ovs_view *v, uint64_t segment) { return segment < v->near_most; }

/* The extent that a segment is in, and the first segment there. */
HD_FN uint32_t ovs_extent_of(const ovs_view *v, uint64_t segment, uint64_t *first)
{
    uint64_t end = v->base;
    uint32_t k = 0;
    *first = 0;
    for (; segment >= end; k++) {
        *first = end;
        end *= 2;
    }
    return k;
}

/* The first word of a segment. */
HD_FN uint64_t *ovs_segment_at(const ovs_view *v, uint64_t segment)
{
    uint64_t first;
    uint32_t k = ovs_extent_of(v, segment, &first);
    if (ovs_is_near(v, segment)) return v->extent[k].near + (segment - first) * ovs_segment_words(v);
    if (first < v->near_most) first = v->near_most; /* the far part begins with it */
    return v->extent[k].far + (segment - first) * ovs_segment_words(v);
}

/* The first word of bucket b. */
HD_FN uint64_t *ovs_bucket(const ovs_view *v, uint64_t b)
{
    return ovs_segment_at(v, b >> v->line_bits) + (b & (ovs_lines(v) - 1)) * OVS_LINE_WORDS;
}

/* The bucket and the slot there of slot e, of the table or of a segment; and where its word, or key word, is in the
 * segment. The value word of a pair is OVS_PAIRS words behind its key word. */
HD_FN uint64_t ovs_bucket_of(const ovs_view *v, uint64_t e) { return e >> ovs_slot_bits(v); }
HD_FN uint32_t ovs_slot_in(const ovs_view *v, uint64_t e) { return (uint32_t)e & (ovs_slots(v) - 1); }
HD_FN uint64_t ovs_word_in(const ovs_view *v, uint64_t e)
{
    return ovs_bucket_of(v, e) * OVS_LINE_WORDS + ovs_slot_in(v, e);
}

/* The word of slot e of the table, or its key word; and its value. */
HD_FN uint64_t *ovs_at(const ovs_view *v, uint64_t e) { return ovs_bucket(v, ovs_bucket_of(v, e)) + ovs_slot_in(v, e); }
HD_FN uint8_t *ovs_value_at(const ovs_view *v, uint64_t e)
{
    return (uint8_t *)(ovs_at(v, e) + OVS_PAIRS * v->pairs); /* of a word the low half, which comes first */
}

/* The digests of a segment; NULL: it has none. And those of n segments, in bytes. */
HD_FN uint64_t ovs_digest_bytes(const ovs_view *v, uint64_t n) { return n * ovs_lines(v) * OVS_SLOTS * OVS_DIGEST; }
HD_FN uint8_t *ovs_digests_at(const ovs_view *v, uint64_t segment)
{
    uint64_t first;
    if (v->guided == 0) return (uint8_t *)0;
    uint32_t k = ovs_extent_of(v, segment, &first);
    return k < v->guided ? v->extent[k].digest + ovs_digest_bytes(v, segment - first) : (uint8_t *)0;
}
/* The digest of slot e of the table. */
HD_FN uint8_t *ovs_digest_at(const ovs_view *v, uint64_t e)
{
    uint64_t slots = ovs_segment_slots(v);
    uint8_t *segment = ovs_digests_at(v, e / slots);
    return segment ? segment + e % slots * OVS_DIGEST : segment;
}

/* ---- Ways ------------------------------------------------------------------------------------ */

/* Whether segments have ranges of keys. A file of kernels that are only for other tables defines OVS_HASHED: then all
 * that ranges need falls out. */
#ifdef OVS_HASHED
HD_FN bool ovs_has_ranges(const ovs_view *v) { return (void)v, false; }
#else
HD_FN bool ovs_has_ranges(const ovs_view *v) { return v->ranges != 0; }
#endif

HD_FN uint64_t ovs_hash(const ovs_view *v, uint64_t key)
{
    uint64_t h = hd_hash(key, v->seed);
    return ovs_has_ranges(v) ? key << 32 | (uint32_t)h : h;
}

/* The digest of keys with hash h. */
HD_FN uint32_t ovs_digest_of(uint64_t h)
{
    uint32_t d = (uint32_t)(h * 0x9e3779b97f4a7c15ull >> 48);
    return d | ((d & 0xff) == 0) | (uint32_t)(d >> 8 == 0) << 8;
}

/* The first key of a row of the directory, its segment, and a row. */
HD_FN uint64_t ovs_row_first(uint64_t row) { return row >> 32; }
HD_FN uint64_t ovs_row_segment(uint64_t row) { return row & 0xffffffff; }
HD_FN uint64_t ovs_row_pack(uint64_t first, uint64_t segment) { return first << 32 | segment; }

/* What is wrong with row r by itself; OVS_ROW_RULES: nothing. */
HD_FN int ovs_row_wrong(const ovs_view *v, uint64_t r)
{
    uint64_t first = ovs_row_first(v->row[r]);
    if (r ? first <= ovs_row_first(v->row[r - 1]) : first != 0) return OVS_ROW_ORDER;
    return ovs_row_segment(v->row[r]) < ovs_segments(v) ? OVS_ROW_RULES : OVS_ROW_SEGMENT;
}
/* Over all rows these add up to 0 if each segment has one row, and hardly ever else. */
HD_FN uint64_t ovs_row_share(const ovs_view *v, uint64_t r)
{
    return hd_mix64(ovs_row_segment(v->row[r])) - hd_mix64(r);
}

/* The number of the row that has a key. */
HD_FN uint64_t ovs_row_of(const ovs_view *v, uint64_t key)
{
    uint64_t low = 0, high = ovs_segments(v);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (ovs_row_first(v->row[middle]) <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

HD_FN uint64_t ovs_segment_of(const ovs_view *v, uint64_t h)
{
    if (ovs_has_ranges(v)) return ovs_row_segment(v->row[ovs_row_of(v, h >> 32)]);
    uint64_t high = h >> 32, a = high * v->base >> 32, low = (1ull << v->level) - 1;
    uint64_t segment = a + v->base * (high & low);
    return segment < v->split ? a + v->base * (high & (2 * low + 1)) : segment;
}

/* How many buckets a way has. */
HD_FN uint32_t ovs_way(const ovs_view *v) { return v->line_bits < 6 ? 1u << v->line_bits : (uint32_t)OVS_WAY; }

/* The bucket of a segment where ways with hash h begin, and the one that is `step` further. */
HD_FN uint64_t ovs_start(const ovs_view *v, uint64_t h) { return h & 0xffffffff & (ovs_lines(v) - 1); }
HD_FN uint64_t ovs_step_in(const ovs_view *v, uint64_t h, uint64_t step)
{
    return (ovs_start(v, h) + step) & (ovs_lines(v) - 1);
}
/* The same as a bucket of the table. */
HD_FN uint64_t ovs_way_bucket(const ovs_view *v, uint64_t h, uint64_t step)
{
    return (ovs_segment_of(v, h) << v->line_bits) + ovs_step_in(v, h, step);
}

/* How far on the way bucket `line` of its segment is; ovs_way() or more: it is not on it. */
HD_FN uint64_t ovs_step_of(const ovs_view *v, uint64_t h, uint64_t line)
{
    return (line - ovs_start(v, h)) & (ovs_lines(v) - 1);
}

/* ---- Words (ref/words/layout.h) ---------------------------------------------------------------------- */

HD_FN uint64_t ovs_fresh(void) { return word_fresh(OVS_HALF); }
HD_FN uint64_t ovs_vacant(void) { return word_vacant(OVS_HALF); }
HD_FN uint64_t ovs_key_of(uint64_t word) { return word_key_of(OVS_HALF, word); }
HD_FN bool ovs_is_key(uint64_t word) { return word_is_key(OVS_HALF, word); }
HD_FN bool ovs_is_free(uint64_t word) { return word_is_free(OVS_HALF, word); }

/* ---- Words, and key words of pairs ------------------------------------------------------------------- */

/* Signs in key words of pairs. */
HD_FN uint64_t ovs_pair_fresh(void) { return UINT64_MAX; }
HD_FN uint64_t ovs_pair_vacant(void) { return UINT64_MAX - 1; }
HD_FN uint64_t ovs_pair_busy(void) { return UINT64_MAX - 2; }

HD_FN uint32_t ovs_half(const ovs_view *v) { return v->pairs ? 64 : (uint32_t)OVS_HALF; }
HD_FN uint64_t ovs_fresh_in(const ovs_view *v) { return v->pairs ? ovs_pair_fresh() : ovs_fresh(); }
HD_FN uint64_t ovs_vacant_in(const ovs_view *v) { return v->pairs ? ovs_pair_vacant() : ovs_vacant(); }
HD_FN uint64_t ovs_key_in(const ovs_view *v, uint64_t word) { return v->pairs ? word : ovs_key_of(word); }
HD_FN bool ovs_is_key_in(const ovs_view *v, uint64_t word)
{
    return v->pairs ? word < word_keys(64) : ovs_is_key(word);
}
HD_FN bool ovs_is_free_in(const ovs_view *v, uint64_t word)
{
    return v->pairs ? word >= ovs_vacant_in(v) : ovs_is_free(word);
}

/* The value of slot e, whose word, or key word, this is. */
HD_FN uint64_t ovs_value_of(const ovs_view *v, const uint64_t *word)
{
    return v->pairs ? word[OVS_PAIRS] : word_value_of(OVS_HALF, *word);
}

/* What the digest of a slot becomes that holds this word at rest, and had the digest `was`. */
HD_FN uint32_t ovs_digest_for(const ovs_view *v, uint64_t word, uint32_t was)
{
    if (ovs_is_key(word)) return ovs_digest_of(ovs_hash(v, ovs_key_of(word)));
    if (word == ovs_fresh()) return 0;
    return was ? was : (uint32_t)OVS_DIGEST_OF_NONE;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

HD_FN uint64_t ovs_copy_words(const ovs_view *v) { return v->copy_sets * OVS_COPIES; }

/* Whether keys with hash h may have copies: their segment is far. */
HD_FN bool ovs_may_copy(const ovs_view *v, uint64_t h)
{
    return v->copy_sets != 0 && !ovs_is_near(v, ovs_segment_of(v, h));
}

/* Whether no segment has digests, and no entry a copy: then all lookups read buckets. */
HD_FN bool ovs_is_plain(const ovs_view *v) { return v->guided == 0 && v->copy_sets == 0; }

/* The set of keys with hash h. There are sets. Bits that choose segments and buckets do not choose it alone, because
 * keys of near segments have no copies. */
HD_FN uint64_t ovs_copy_number(const ovs_view *v, uint64_t h)
{
    return ((h ^ h >> 29) * 0xbf58476d1ce4e5b9ull >> 32) * v->copy_sets >> 32;
}
HD_FN uint64_t *ovs_copy_set(const ovs_view *v, uint64_t h) { return v->copy + ovs_copy_number(v, h) * OVS_COPIES; }

/* Whether a word of a set is a copy of the key's entry. */
HD_FN bool ovs_is_copy_of(uint64_t copy, uint64_t key) { return copy != 0 && ovs_key_of(~copy) == key; }

/* What is wrong with word i of all sets by itself; OVS_COPY_RULES: nothing, or OVS_COPY_STALE if its entry is not the
 * same word. */
HD_FN int ovs_copy_wrong(const ovs_view *v, uint64_t i, uint64_t copy)
{
    uint64_t h = ovs_hash(v, ovs_key_of(~copy));
    if (copy == 0) return OVS_COPY_RULES;
    if (!ovs_is_key(~copy)) return OVS_COPY_SIGN;
    if (ovs_copy_number(v, h) != i / OVS_COPIES) return OVS_COPY_PLACE;
    return ovs_may_copy(v, h) ? OVS_COPY_RULES : OVS_COPY_NEAR;
}

/* ---- Resizing -------------------------------------------------------------------------------- */

/* A table with one segment more. */
HD_FN ovs_view ovs_one_more(ovs_view v)
{
    if (++v.split == v.base << v.level) {
        v.level++;
        v.split = 0;
    }
    return v;
}

/* A task of resizing a table with ranges, by a thread of the reference or a warp. */
typedef struct ovs_task {
    uint32_t from, to;    /* split: `from` gives the upper half of its keys to `to`, which is new. Merge: all of them to
                          `to`. Move: `to` becomes a copy of `from` */
    uint32_t keys;        /* split: of `from`, and those that wait */
    uint32_t wait, waits; /* split: the first of the keys that wait for room in `from`, and how many there are */
    uint32_t first;       /* split: the first key of the range; once it is known, of the upper half */
    uint32_t last;        /* split: the last key of the range */
    uint32_t done;        /* merge: 1: `to` has the keys of both; 0: there was no room, and nothing has changed */
} ovs_task;

/* What resizing works on, a round after the other (ref/ovs/range.h). */
typedef struct ovs_plan {
    uint32_t *keys;          /* (rows) of each segment; with those that wait */
    uint32_t *wait;          /* (waiting) ascending; NULL: none */
    uint64_t waiting, taken; /* taken: keys that the reference's array has room for */
    uint64_t *was;           /* (rows) the directory before the round */
    ovs_task *task; /* (rows) the round's splits, or its merges and then its moves; splits and merges in the order of
                       keys */
    uint64_t tasks, moves;
    uint64_t rows; /* as many as the larger of the two tables has */
} ovs_plan;

/* How many keys that wait for room in the task's segment are below a bound. */
HD_FN uint64_t ovs_waits_below(const ovs_task *t, const uint32_t *wait, uint64_t bound)
{
    uint64_t low = t->wait, high = low + t->waits;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (wait[middle] < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low - t->wait;
}

/* Two segments are merged only if their keys fill no more than nine tenths of one. */
HD_FN bool ovs_may_merge(const ovs_view *v, uint64_t keys) { return keys * 10 <= ovs_segment_slots(v) * 9; }

#endif
