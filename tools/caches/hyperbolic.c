/* SPDX-License-Identifier: Apache-2.0
 *
 * hyperbolic.c - full:hyperbolic, hyperbolic caching of Blankstein, Sen and Freedman (USENIX ATC '17): an
 * entry's priority is its number of requests since it came, over the requests since then and its size. The least of 64
 * entries that are drawn, with repetition, leaves; of at most 64 entries the least of all.
 */
#include <math.h>

#include "tools/caches/cache.h"

enum { SAMPLE = 64 };

typedef struct hyperbolic {
    uint64_t times, since; /* requests; the number of the first one */
} hyperbolic;

static hyperbolic *life(baseline *b, uint32_t at) { return &((hyperbolic *)(void *)b->more)[at]; }

static hd_status hyperbolic_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    life(b, at)->times++;
    return HD_OK;
}

/* An object of 0 bytes counts as one of 1. */
static double priority(baseline *b, uint32_t at)
{
    const hyperbolic *h = life(b, at);
    uint64_t size = b->nodes[at].size;
    return (double)h->times / ((double)(b->number - h->since) * (double)(size ? size : 1));
}

static void hyperbolic_evict(baseline *b)
{
    bool all = b->bagged <= SAMPLE;
    uint64_t n = all ? b->bagged : SAMPLE, place[SAMPLE], victim = 0;
    double least = INFINITY;
    for (uint64_t i = 0; i < n; i++) {
        place[i] = all ? i : hd_rng_below(&b->rng, b->bagged);
        __builtin_prefetch(life(b, b->bag[place[i]]));
        if (b->bytes) __builtin_prefetch(&b->nodes[b->bag[place[i]]]);
    }
    for (uint64_t i = 0; i < n; i++) {
        double p = priority(b, b->bag[place[i]]);
        if (p >= least) continue;
        victim = place[i];
        least = p;
    }
    cache_bag_drop(b, victim);
}

static void hyperbolic_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) hyperbolic_evict(b);
    at = cache_enter(b, at, r, size);
    *life(b, at) = (hyperbolic){ 1, b->number };
    cache_bag_add(b, at);
}

const cache_kind cache_hyperbolic = {
    .row = { "full:hyperbolic", "of 64 random entries that with the fewest requests per time and size leaves",
             "ATC '17", "a count and a time per entry", .bytes = true, .seeded = true },
    .hit = hyperbolic_hit,
    .miss = hyperbolic_miss,
    .more = sizeof(hyperbolic),
    .bag = true,
};
