/* SPDX-License-Identifier: Apache-2.0
 *
 * sieve.c - full:sieve, Algorithm 1 of Zhang et al., "SIEVE is simpler than LRU" (NSDI '24): a queue, and a hand that
 * goes from its oldest entry to the newest. Entries that were hit stay where they are.
 */
#include "tools/caches/cache.h"

enum { QUEUE };

typedef struct sieve {
    uint32_t hand; /* the entry to be looked at next; QUEUE: the oldest one */
} sieve;

static hd_status sieve_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    b->nodes[at].mark = 1;
    return HD_OK;
}

static void sieve_evict(baseline *b)
{
    sieve *w = (sieve *)b->own;
    uint32_t at = w->hand == QUEUE ? cache_oldest(b, QUEUE) : w->hand;
    while (b->nodes[at].mark) {
        b->nodes[at].mark = 0;
        at = b->nodes[at].newer;
        if (at == QUEUE) at = cache_oldest(b, QUEUE);
    }
    w->hand = b->nodes[at].newer;
    cache_drop(b, at);
}

static void sieve_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) sieve_evict(b);
    cache_push(b, QUEUE, cache_enter(b, at, r, size));
}

const cache_kind cache_sieve = {
    .row = { "full:sieve", "the first entry at or after the hand that was not hit leaves; new ones come behind it",
             "NSDI '24, Algorithm 1", "a bit per entry, a hand", .bytes = true },
    .hit = sieve_hit,
    .miss = sieve_miss,
    .own = sizeof(sieve),
};
