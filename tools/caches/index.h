/* SPDX-License-Identifier: Apache-2.0
 *
 * index.h - from keys to numbers: open addressing, linear probing, at most half full, and a quarter where memory is no
 * matter: the fewer keys share a run, the better a processor predicts where one is. A place holds 32 bits of the key's
 * hash (its tag) and a number; the keys themselves are in the caller's array of structs, whose first field they are.
 * The tag says where a key belongs, so growth and erasure read no keys.
 */
#ifndef HD_CACHES_INDEX_H
#define HD_CACHES_INDEX_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "workload/rng.h"

#define CACHE_NONE       UINT32_MAX
#define CACHE_INDEX_MOST (UINT64_C(1) << 31) /* keys: twice as many places have tags of 32 bits */

typedef struct cache_index {
    uint64_t *at; /* (1 << bits): tag << 32 | number; the number CACHE_NONE: empty */
    uint64_t used;
    uint32_t bits;
} cache_index;

/* The array that has the keys: key number i is the first field of the struct at first + i * stride. */
typedef struct cache_keys {
    const void *first;
    size_t stride;
} cache_keys;

static inline uint32_t cache_tag(uint64_t key) { return (uint32_t)(hd_avalanche(key) >> 32); }

static inline uint64_t cache_home(const cache_index *x, uint32_t tag) { return tag >> (32 - x->bits); }

static inline bool cache_key_is(cache_keys k, uint32_t number, uint64_t key)
{
    return *(const uint64_t *)((const char *)k.first + number * k.stride) == key;
}

/* The number of a key, or CACHE_NONE. The index has places (cache_index_room). */
static inline uint32_t cache_index_find(const cache_index *x, cache_keys k, uint32_t tag, uint64_t key)
{
    uint64_t mask = (UINT64_C(1) << x->bits) - 1;
    for (uint64_t i = cache_home(x, tag);; i = (i + 1) & mask) {
        uint32_t number = (uint32_t)x->at[i];
        if (number == CACHE_NONE || (x->at[i] >> 32 == tag && cache_key_is(k, number, key))) return number;
    }
}

/* Adds a key that is not there. */
static inline void cache_index_add(cache_index *x, uint32_t tag, uint32_t number)
{
    uint64_t mask = (UINT64_C(1) << x->bits) - 1, i = cache_home(x, tag);
    while ((uint32_t)x->at[i] != CACHE_NONE) i = (i + 1) & mask;
    x->at[i] = (uint64_t)tag << 32 | number;
    x->used++;
}

/* Removes the number of a key that is there, and moves later ones of the run back, so that each is still reached from
 * its home. */
static inline void cache_index_erase(cache_index *x, uint32_t tag, uint32_t number)
{
    uint64_t mask = (UINT64_C(1) << x->bits) - 1, hole = cache_home(x, tag);
    while ((uint32_t)x->at[hole] != number) hole = (hole + 1) & mask;
    for (uint64_t i = (hole + 1) & mask; (uint32_t)x->at[i] != CACHE_NONE; i = (i + 1) & mask) {
        uint64_t home = cache_home(x, (uint32_t)(x->at[i] >> 32));
        if (((i - home) & mask) < ((i - hole) & mask)) continue;
        x->at[hole] = x->at[i];
        hole = i;
    }
    x->at[hole] = CACHE_NONE;
    x->used--;
}

static inline hd_status cache_index_grow(cache_index *x)
{
    enum { FIRST_BITS = 10 };
    cache_index more = { .bits = x->at ? x->bits + 1 : FIRST_BITS };
    if (x->used >= CACHE_INDEX_MOST) return hd_fail(HD_EINVAL, "more than 2^31 keys at a time");
    more.at = (uint64_t *)malloc(sizeof *more.at << more.bits);
    if (!more.at) return hd_fail(HD_ENOMEM, "an index of %" PRIu64 " keys: memory was refused", x->used);
    memset(more.at, 0xff, sizeof *more.at << more.bits);
    for (uint64_t i = 0; x->at && i >> x->bits == 0; i++)
        if ((uint32_t)x->at[i] != CACHE_NONE) cache_index_add(&more, (uint32_t)(x->at[i] >> 32), (uint32_t)x->at[i]);
    free(x->at);
    *x = more;
    return HD_OK;
}

/* Room for one key more. */
static inline hd_status cache_index_room(cache_index *x)
{
    enum { LARGE_BITS = 22 }; /* 32 MiB */
    uint64_t places = UINT64_C(1) << x->bits, most = x->bits < LARGE_BITS ? places / 4 : places / 2;
    return x->at && x->used < most ? HD_OK : cache_index_grow(x);
}

#endif
