/* SPDX-License-Identifier: Apache-2.0
 *
 * prefetch.h - asks for the memory that the next items of a batch will use.
 *
 * An item needs up to five places, and where the next one is depends on what stands in the one before: digests, key,
 * bounds, scores, value. One item after another would wait for each of them. So several windows of items are on their
 * way. While the oldest window runs, the digests of the newest one are asked for, the keys of the one before it, and so
 * on.
 *
 * These are prefetches. What is seen here is a guess, because earlier items may change it. batch.c applies every item
 * to the table as it is then, and takes nothing from here.
 */
#ifndef HD_HKV_PREFETCH_H
#define HD_HKV_PREFETCH_H

#include "ref/hkv/hkv.h"

enum {
    HKV_WINDOW = 24, /* items at most */
    HKV_STAGES = 5,  /* places that an item needs, at most */
    HKV_GUESSES = 4 * HKV_WINDOW,
    HKV_LINE = 64
};

/* Items of a batch that run soon, in this order. */
typedef struct hkv_window {
    uint32_t n;
    uint64_t item[HKV_WINDOW]; /* its number in the batch */
    hkv_home home[HKV_WINDOW];
    /* What is asked for: entries that items may use. One more than there are is written. */
    uint32_t guesses;
    uint32_t found; /* a bit for each item whose key was there */
    uint8_t by[HKV_GUESSES + 1];
    uint64_t entry[HKV_GUESSES + 1];
} hkv_window;

/* What of an entry the items of a batch use. */
typedef struct hkv_uses {
    bool value;  /* of an entry that is there, or is inserted */
    bool score;  /* of an entry that is there                 */
    bool insert; /* an absent key is inserted                 */
} hkv_uses;

hkv_uses hkv_uses_of(const hkv_view *v, const hd_batch *b);

/* How a batch looks ahead. */
typedef struct hkv_pace {
    uint32_t stages; /* at most HKV_STAGES; 0: the processor's caches hold the table */
    uint32_t items;  /* of a window. So many that a core has as many cache misses in flight as it can, and so few that
                        what all windows use stays in its first-level cache */
} hkv_pace;

hkv_pace hkv_pace_of(const hkv_view *v, hkv_uses uses);

/* Asks for the digests of the window. */
void hkv_ask_digests(const hkv_view *v, hkv_window *w);

/* Looks at what the stage before asked for, and asks for what is next. The first stage is 0; digests are before it. */
void hkv_look_ahead(const hkv_view *v, const hd_batch *b, hkv_uses uses, uint32_t stage, hkv_window *w);

#endif
