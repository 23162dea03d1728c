/* SPDX-License-Identifier: Apache-2.0
 *
 * sketch.h - the frequency sketch of TinyLFU (Einziger et al., ToS '17, section 3): a count-min sketch of four rows of
 * 4-bit counters. Each request adds 1 to a counter per row. After a sample of requests all counters are halved.
 *
 * A row has a power of two counters, at least four for each entry, as in the authors' library. It doubles by a copy of
 * itself, so no estimate changes.
 */
#ifndef HD_CACHES_SKETCH_H
#define HD_CACHES_SKETCH_H

#include "tools/caches/index.h"

enum { SKETCH_ROWS = 4, SKETCH_MOST = 15, SKETCH_FIRST = 256, SKETCH_PER_ENTRY = 4, SKETCH_SAMPLE = 10 };

typedef struct cache_sketch {
    uint8_t *at; /* (SKETCH_ROWS, width): a counter in each byte */
    uint64_t width, added;
} cache_sketch;

/* Row r's counter of a key. */
static inline uint64_t sketch_place(const cache_sketch *k, uint64_t key, uint64_t row)
{
    return row * k->width + (hd_avalanche(key + (row + 1) * HD_GOLDEN) & (k->width - 1));
}

static inline uint8_t sketch_estimate(const cache_sketch *k, uint64_t key)
{
    uint8_t least = SKETCH_MOST;
    for (uint64_t row = 0; row < SKETCH_ROWS; row++) {
        uint8_t count = k->at[sketch_place(k, key, row)];
        if (count < least) least = count;
    }
    return least;
}

/* sample: of how many requests, at least 1, the counters tell. */
static inline void sketch_add(cache_sketch *k, uint64_t key, uint64_t sample)
{
    for (uint64_t row = 0; row < SKETCH_ROWS; row++) {
        uint8_t *count = &k->at[sketch_place(k, key, row)];
        *count = (uint8_t)(*count + (*count < SKETCH_MOST));
    }
    if (++k->added < sample) return;
    for (uint64_t i = 0; i < SKETCH_ROWS * k->width; i++) k->at[i] = k->at[i] >> 1;
    k->added /= 2;
}

/* Room for so many entries. */
static inline hd_status sketch_room(cache_sketch *k, uint64_t entries)
{
    if (k->at && entries <= k->width / SKETCH_PER_ENTRY) return HD_OK;
    cache_sketch more = { .width = k->at ? 2 * k->width : SKETCH_FIRST, .added = k->added };
    more.at = (uint8_t *)calloc((size_t)more.width, SKETCH_ROWS);
    if (!more.at) return hd_fail(HD_ENOMEM, "a sketch of %" PRIu64 " keys: memory was refused", entries);
    for (uint64_t half = 0; half < 2 * SKETCH_ROWS && k->at; half++)
        memcpy(more.at + half * k->width, k->at + half / 2 * k->width, (size_t)k->width);
    free(k->at);
    *k = more;
    return HD_OK;
}

#endif
