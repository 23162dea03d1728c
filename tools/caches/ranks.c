/* SPDX-License-Identifier: Apache-2.0
 *
 * ranks.c - full:lfu and full:belady: the entry with the least rank leaves; O(log n) per request.
 */
#include "tools/caches/cache.h"

static hd_status lfu_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    cache_heap_set(b, at, cache_heap_of(b, at)->rank + 1, b->number);
    return HD_OK;
}

static void lfu_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) cache_heap_drop(b);
    cache_heap_add(b, cache_enter(b, at, r, size), 1, b->number);
}

typedef struct belady {
    uint64_t ahead; /* by how much the trace's numbers are larger, once a hit has shown it */
    bool ahead_known;
} belady;

/* The farther the next access, the less; 0 without one. */
static uint64_t nearness(const hd_request *r) { return r->next < 0 ? 0 : UINT64_MAX - (uint64_t)r->next; }

/* A trace that was cut from a longer one has larger numbers, all by the same. */
static hd_status belady_hit(baseline *b, uint32_t at, const hd_request *r)
{
    belady *w = (belady *)b->own;
    uint64_t rank = cache_heap_of(b, at)->rank, said = UINT64_MAX - rank;
    if (rank && !w->ahead_known) *w = (belady){ said - b->number, true };
    if (!rank || said - w->ahead != b->number)
        return hd_fail(HD_ECORRUPT, "request %" PRIu64 ": its key should come %s by the trace's next accesses",
                       b->number, rank ? "at another request" : "no more");
    cache_heap_set(b, at, nearness(r), b->number);
    return HD_OK;
}

static void belady_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    if (cache_lacks(b, size)) {
        if (!b->always && nearness(r) < b->ranked[0].rank) return;
        cache_heap_drop(b);
    }
    cache_heap_add(b, cache_enter(b, at, r, size), nearness(r), b->number);
}

const cache_kind cache_lfu = {
    .row = { "full:lfu", "the least frequently used leaves, of equal ones the least recently used", .bytes = true },
    .hit = lfu_hit,
    .miss = lfu_miss,
    .heap = true,
};

const cache_kind cache_belady = {
    .row = { "full:belady", "the key whose next access is farthest leaves, or is refused: the least misses",
             .next = true },
    .hit = belady_hit,
    .miss = belady_miss,
    .own = sizeof(belady),
    .heap = true,
};
