/* SPDX-License-Identifier: Apache-2.0
 *
 * queues.c - full:lru, full:fifo and full:clock: one list, O(1) per request. full:random: an array of entries.
 */
#include "tools/caches/cache.h"

enum { QUEUE };

static hd_status lru_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    cache_move(b, QUEUE, at);
    return HD_OK;
}

static hd_status fifo_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)b, (void)at, (void)r;
    return HD_OK;
}

static void queue_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) cache_drop(b, cache_oldest(b, QUEUE));
    cache_push(b, QUEUE, cache_enter(b, at, r, size));
}

static hd_status clock_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    b->nodes[at].mark = 1;
    return HD_OK;
}

static void clock_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) {
        uint32_t oldest = cache_oldest(b, QUEUE);
        while (b->nodes[oldest].mark) { /* it stays for one more round */
            b->nodes[oldest].mark = 0;
            cache_move(b, QUEUE, oldest);
            oldest = cache_oldest(b, QUEUE);
        }
        cache_drop(b, oldest);
    }
    cache_push(b, QUEUE, cache_enter(b, at, r, size));
}

static void random_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) cache_bag_drop(b, hd_rng_below(&b->rng, b->bagged));
    cache_bag_add(b, cache_enter(b, at, r, size));
}

const cache_kind cache_lru = {
    .row = { "full:lru", "exact, all entries in one set: the least recently used leaves", .bytes = true },
    .hit = lru_hit,
    .miss = queue_miss,
};

const cache_kind cache_fifo = {
    .row = { "full:fifo", "the entry that was inserted first leaves", .bytes = true },
    .hit = fifo_hit,
    .miss = queue_miss,
};

const cache_kind cache_clock = {
    .row = { "full:clock", "fifo, but an entry that was hit stays for one more round", .bytes = true },
    .hit = clock_hit,
    .miss = clock_miss,
};

const cache_kind cache_random = {
    .row = { "full:random", "a random entry leaves", .bytes = true, .seeded = true },
    .hit = fifo_hit,
    .miss = random_miss,
    .bag = true,
};
