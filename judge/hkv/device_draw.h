/* SPDX-License-Identifier: Apache-2.0
 *
 * device_draw.h - random shapes of HKV tables, from one bucket to hundreds of millions of slots, scores and operations.
 */
#ifndef SOAK_HKV_DRAW_H
#define SOAK_HKV_DRAW_H

#include "judge/device/answers.h"

struct hkv_shape {
    const char *policy;
    bool dual;
    uint32_t slots, value_bytes;
    uint64_t buckets, keys, factor, seed, least, items; /* least, items: of a batch */
    hd_admit admit;
    hd_layout layout;
    bool stays; /* its entries are not erased at rest */
};

static inline uint32_t hkv_draw_slots(dice &d, const char *variant)
{
    static const uint32_t rows[] = { 16, 32, 64, 128, 128, 128 }, sixteens[] = { 16, 48, 64, 112, 128, 128, 256 };
    static const uint32_t any[] = { 2, 3, 8, 16, 31, 64, 100, 127, 128, 128, 128, 128, 200, 1000, 4096 };
    if (strcmp(variant, "coalesced") == 0) return d.of(rows);
    return strcmp(variant, "pipeline") == 0 ? d.of(sixteens) : d.of(any);
}

/* size: 0: one or two buckets; 1: a small table; 2: up to the largest; 3: the largest. */
static inline uint64_t hkv_draw_buckets(dice &d, int size, uint64_t least, uint64_t most)
{
    uint64_t small = most < 4096 ? most : 4096;
    uint64_t n = size == 0   ? least + d.below(2)
                 : size == 1 ? d.log_between(least, small)
                 : size == 2 ? d.log_between(small, most / 4)
                             : most - most / 16;
    return n < least ? least : n;
}

/* room: for each of a table's values. */
static inline uint32_t hkv_draw_value_bytes(dice &d, int size, uint64_t room)
{
    static const uint32_t bytes[] = { 0,  1,  3,  4,  7,  8,   8,   8,   12,  16,  16,   20,   24,  32,
                                      33, 40, 63, 64, 64, 100, 128, 200, 256, 516, 1000, 1024, 4100 };
    uint32_t n;
    do n = size == 3 ? 8 : d.of(bytes);
    while (n > room && n > 8);
    return n;
}

/* Of a batch: an item that waits for a bucket waits until all before it have read it. */
static inline uint64_t hkv_items(const hkv_shape &s, const limits &most)
{
    uint64_t n = s.value_bytes * most.items > most.array_bytes ? most.array_bytes / s.value_bytes : most.items;
    uint64_t a_bucket = s.slots * 64u < (1u << 20) / s.slots ? s.slots * 64u : (1u << 20) / s.slots;
    uint64_t crowd = s.buckets * a_bucket < 4096 ? 4096 : s.buckets * a_bucket;
    return n < crowd ? n : crowd;
}

static inline hkv_shape hkv_draw_shape(dice &d, const char *variant, const char *policy, bool dual, int size,
                                       const limits &most)
{
    static const uint64_t factors[] = { 1, UINT64_MAX, 0 };
    hkv_shape s;
    s.least = 1;
    s.stays = false;
    s.policy = policy;
    s.dual = dual;
    s.slots = size == 3 ? 128 : hkv_draw_slots(d, variant);
    s.buckets = hkv_draw_buckets(d, size, dual ? 2 : 1, most.slots / s.slots);
    uint64_t capacity = s.buckets * s.slots, room = 4 * most.array_bytes / capacity;
    s.value_bytes = hkv_draw_value_bytes(d, size, room < most.value_bytes ? room : most.value_bytes);
    for (s.keys = 16; s.keys < 2 * capacity || (d.one_in(3) && s.keys < 4 * capacity && size < 3);) s.keys *= 2;
    s.factor = d.of(factors);
    if (s.factor == 0) s.factor = d.draw() | 1;
    s.seed = d.one_in(2) ? 0 : d.draw();
    s.admit = d.one_in(4) ? HD_ADMIT_ALWAYS : HD_ADMIT_SCORE;
    s.layout = d.one_in(strcmp(variant, "coalesced") == 0 ? 16 : 3) ? HD_LAYOUT_PLANES : HD_LAYOUT_PAIRS;
    s.items = hkv_items(s, most);
    return s;
}

/* ---- Scores and operations ------------------------------------------------------------------- */

enum score_kind { SMALL, ANY, EXTREME, NO_SCORES };

static BOTH inline uint64_t score_of(score_kind kind, uint64_t i, uint64_t salt)
{
    uint64_t r = hd_mix64(i + salt);
    if (kind == SMALL) return r & 1023;
    if (kind == ANY) return r;
    switch (r % 8) {
    case 0: return 0;
    case 1: return 1;
    case 2: return UINT64_MAX;
    case 3: return UINT64_MAX - 1;
    case 4: return UINT32_MAX;
    case 5: return 1ull << 32;
    default: return r >> 32;
    }
}

static inline hd_op hkv_draw_op(dice &d, uint32_t grain)
{
    /* clang-format off */
    static const hd_op ops[] = {
        HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_AND_EVICT,
        HD_OP_INSERT_AND_EVICT, HD_OP_INSERT_AND_EVICT, HD_OP_FIND_OR_INSERT, HD_OP_FIND_OR_INSERT,
        HD_OP_FIND_OR_INSERT_PTR, HD_OP_ACCUM_OR_ASSIGN, HD_OP_ACCUM_OR_ASSIGN, HD_OP_FIND, HD_OP_FIND, HD_OP_FIND,
        HD_OP_CONTAINS, HD_OP_FIND_PTR, HD_OP_FIND_MISSED, HD_OP_TOUCH, HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES,
        HD_OP_ASSIGN_SCORES, HD_OP_ERASE
    };
    /* clang-format on */
    hd_op op = d.of(ops);
    return op == HD_OP_ACCUM_OR_ASSIGN && grain == 1 ? HD_OP_INSERT_AND_EVICT : op;
}

#endif
