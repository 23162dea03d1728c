/* SPDX-License-Identifier: Apache-2.0
 *
 * sketch.h - the frequency sketch of TinyLFU (Einziger et al., ToS '17, section 3): a count-min sketch of four rows of
 * 4-bit counters. Each request adds 1 to a counter per row. After a sample of requests all counters are halved.
 *
 * Differs: a key's counters are not anywhere in the rows, but in one group of 16 counters per row, so that a GPU finds
 * them in one sector. Groups differ in how many keys they have, which costs misses; so there are twice as many counters
 * as in the authors' library: a power of two groups, at least one for two entries. The sketch doubles by a copy of
 * itself, so no estimate changes.
 */
#ifndef HD_CACHES_SKETCH_H
#define HD_CACHES_SKETCH_H

#include "policies/hashes/hash.h"
#include "tools/caches/index.h"

enum { SKETCH_ROWS = 4, SKETCH_COLUMNS = 16, SKETCH_MOST = 15, SKETCH_PER_GROUP = 2, SKETCH_SAMPLE = 10 };

typedef uint8_t sketch_group[SKETCH_ROWS][SKETCH_COLUMNS]; /* a counter in each byte */

typedef struct cache_sketch {
    sketch_group *at; /* (groups) */
    uint64_t groups, added;
} cache_sketch;

static inline uint64_t sketch_hash(uint64_t key) { return hd_mix64(key + HD_GOLDEN); }

/* Row r's counter of a key. */
static inline uint8_t *sketch_counter(const cache_sketch *k, uint64_t hash, uint32_t row)
{
    return &k->at[hash & (k->groups - 1)][row][hash >> (32 + 4 * row) & (SKETCH_COLUMNS - 1)];
}

static inline uint8_t sketch_estimate(const cache_sketch *k, uint64_t key)
{
    uint8_t least = SKETCH_MOST;
    for (uint32_t row = 0; row < SKETCH_ROWS; row++) {
        uint8_t count = *sketch_counter(k, sketch_hash(key), row);
        if (count < least) least = count;
    }
    return least;
}

/* sample: of how many requests, at least 1, the counters tell. */
static inline void sketch_add(cache_sketch *k, uint64_t key, uint64_t sample)
{
    for (uint32_t row = 0; row < SKETCH_ROWS; row++) {
        uint8_t *count = sketch_counter(k, sketch_hash(key), row);
        *count = (uint8_t)(*count + (*count < SKETCH_MOST));
    }
    if (++k->added < sample) return;
    uint8_t *all = (uint8_t *)k->at;
    for (uint64_t i = 0; i < k->groups * sizeof *k->at; i++) all[i] = all[i] >> 1;
    k->added /= 2;
}

/* Room for so many entries. */
static inline hd_status sketch_room(cache_sketch *k, uint64_t entries)
{
    if (k->at && entries <= SKETCH_PER_GROUP * k->groups) return HD_OK;
    cache_sketch more = { .groups = 1, .added = k->added };
    while (entries > SKETCH_PER_GROUP * more.groups) more.groups *= 2;
    more.at = (sketch_group *)calloc((size_t)more.groups, sizeof *more.at);
    if (!more.at) return hd_fail(HD_ENOMEM, "a sketch of %" PRIu64 " keys: memory was refused", entries);
    for (uint64_t g = 0; g < more.groups && k->at; g += k->groups)
        memcpy(more.at + g, k->at, (size_t)k->groups * sizeof *k->at);
    free(k->at);
    *k = more;
    return HD_OK;
}

#endif
