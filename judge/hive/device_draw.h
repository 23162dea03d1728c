/* SPDX-License-Identifier: Apache-2.0
 *
 * device_draw.h - random shapes of Hive tables.
 */
#ifndef SOAK_HIVE_DRAW_H
#define SOAK_HIVE_DRAW_H

#include "judge/words/device_draw.h"

struct hive_shape {
    uint32_t slots, value_bytes, hashes, spare;
    hd_layout layout;
    const char *hash;
    uint64_t buckets, keys, factor, seed, least, items; /* buckets: at the beginning. least, items: of a batch */
    /* it stays at a load factor of LOAD; otherwise it grows and shrinks at any load */
    bool stays;
};

static const double LOAD = 0.95;

/* Kinds 0 to 23: each bucket size, number of hashes, word size and layout, with the usual hash and an eighth of the
 * slots spare. */
enum : uint64_t { HIVE_SHAPES = 3 * 2 * 2 * 2 };
static inline hive_shape hive_shape_of(uint64_t kind)
{
    hive_shape s;
    memset(&s, 0, sizeof s);
    s.slots = 8u << kind % 3;
    s.spare = s.slots / 8;
    s.hash = HD_HASH_USUAL;
    s.hashes = 2 + kind / 3 % 2;
    s.value_bytes = kind / 6 % 2 ? 2 : 4;
    s.layout = kind / 12 % 2 ? HD_LAYOUT_MASKS : HD_LAYOUT_WORDS;
    return s;
}

static inline void hive_draw_names(dice &d, hive_shape *s, uint64_t keys_most)
{
    static const uint64_t factors[] = { 1, UINT64_MAX, 0 };
    words_draw_names(d, s, factors, s->value_bytes == 2 ? 1u << 16 : 1ull << 32, keys_most);
}

/* size: 0: one or two buckets; 1: a small table; 2: up to a sixteenth of the largest, because it grows. */
static inline hive_shape hive_draw_shape(dice &d, uint64_t kind, int size, const limits &most)
{
    static const char *const two[] = { "bithash1,bithash2", "crc32,city32" }, *const three[] = {
        "bithash1,bithash2,murmur3", "city64,crc64,mix64"
    };
    hive_shape s = hive_shape_of(kind);
    uint64_t buckets = most.slots / s.slots / 16, small = buckets < 1024 ? buckets : 1024;
    s.buckets = size == 0 ? 1 + d.below(2) : size == 1 ? d.log_between(1, small) : d.log_between(small, buckets);
    if (s.value_bytes == 2 && s.buckets * s.slots > 1u << 16) s.buckets = (1u << 16) / s.slots;
    words_draw_keys(d, &s);
    hive_draw_names(d, &s, UINT64_MAX);
    if (d.one_in(2)) s.spare = (uint32_t)d.below(s.slots / 2);
    if (d.one_in(4)) s.hash = d.of(s.hashes == 2 ? two : three);
    words_set_items(&s, most);
    return s;
}

/* A table of constant load: three quarters of its keys are present, LOAD of its slots are in use. */
static inline hive_shape hive_draw_full(dice &d, hive_shape s, const limits &most)
{
    words_set_full_keys(&s, most);
    hive_draw_names(d, &s, most.slots);
    words_set_full(&s, LOAD, most);
    return s;
}

#endif
