/* SPDX-License-Identifier: Apache-2.0
 *
 * s3fifo.c - full:s3fifo, Algorithm 1 of Yang et al., "FIFO queues are all you need for cache eviction" (SOSP '23): a
 * small queue of a tenth of the capacity, a main queue, and ghosts, as many units as the main queue has. Differs: where
 * an entry that moves makes the main queue too large, it gives up an entry with the next eviction, as in the authors'
 * code, and not in the middle of this one. So a miss evicts one entry of one unit.
 */
#include "tools/caches/cache.h"

enum { SMALL, MAIN, GHOST };
enum { HITS_MOST = 3 }; /* two bits */

static uint64_t small_most(const baseline *b) { return b->capacity / 10 + (b->capacity % 10 != 0); }
static uint64_t main_most(const baseline *b) { return b->capacity - small_most(b); }

static hd_status s3fifo_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    b->nodes[at].mark = (uint8_t)(b->nodes[at].mark + (b->nodes[at].mark < HITS_MOST));
    return HD_OK;
}

static void main_evict(baseline *b)
{
    uint32_t at;
    while (b->nodes[at = cache_oldest(b, MAIN)].mark) {
        b->nodes[at].mark--;
        cache_move(b, MAIN, at);
    }
    cache_drop(b, at);
}

/* Entries with two hits move to the main queue, the first other one becomes a ghost. */
static void small_evict(baseline *b)
{
    while (!cache_list_empty(b, SMALL)) {
        uint32_t at = cache_oldest(b, SMALL);
        if (b->nodes[at].mark <= 1) {
            cache_leave(b, at);
            cache_move(b, GHOST, at);
            cache_trim(b, GHOST, main_most(b));
            return;
        }
        b->nodes[at].mark = 0;
        cache_move(b, MAIN, at);
    }
}

static void s3fifo_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) {
        if (b->units[SMALL] >= small_most(b) || cache_list_empty(b, MAIN))
            small_evict(b);
        else
            main_evict(b);
    }
    if (at != CACHE_NONE) at = cache_find(b, r->key);
    uint32_t queue = at != CACHE_NONE ? MAIN : SMALL;
    if (at != CACHE_NONE) cache_pull(b, at);
    cache_push(b, queue, cache_enter(b, at, r, size));
}

const cache_kind cache_s3fifo = {
    .row = { "full:s3fifo", "new entries leave a small queue unless two hits move them to the main queue",
             "SOSP '23, Algorithm 1", "two bits per entry; ghosts for 90% of the capacity", .bytes = true },
    .hit = s3fifo_hit,
    .miss = s3fifo_miss,
};
