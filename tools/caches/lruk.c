/* SPDX-License-Identifier: Apache-2.0
 *
 * lruk.c - full:lruk, LRU-2 of O'Neil, O'Neil and Weikum, "The LRU-K page replacement algorithm" (SIGMOD '93, section
 * 2): the entry whose last request but one is oldest leaves; first those with one request, the least recently used
 * first. There is no correlated reference period. The history of as many units as the capacity is retained.
 */
#include "tools/caches/cache.h"

enum { GHOST };

/* When the key's last request was; 0: none. */
static uint64_t *last_of(baseline *b, uint32_t at) { return &((uint64_t *)(void *)b->more)[at]; }

static hd_status lruk_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    uint64_t last = *last_of(b, at);
    *last_of(b, at) = b->number;
    cache_heap_set(b, at, last, b->number);
    return HD_OK;
}

static void lruk_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    uint64_t last = at == CACHE_NONE ? 0 : *last_of(b, at);
    while (cache_lacks(b, size)) {
        uint32_t victim = b->ranked[0].at;
        cache_heap_take(b, victim);
        cache_leave(b, victim);
        cache_push(b, GHOST, victim);
    }
    if (at != CACHE_NONE) cache_pull(b, at);
    cache_trim(b, GHOST, b->capacity);
    at = cache_enter(b, at, r, size);
    *last_of(b, at) = b->number;
    cache_heap_add(b, at, last, b->number);
}

const cache_kind cache_lruk = {
    .row = { "full:lruk", "LRU-2: the entry whose last request but one is oldest leaves", "SIGMOD '93, section 2",
             "two times per entry; ghosts for the capacity", .bytes = true },
    .hit = lruk_hit,
    .miss = lruk_miss,
    .more = sizeof(uint64_t),
    .heap = true,
};
