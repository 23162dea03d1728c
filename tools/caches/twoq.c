/* SPDX-License-Identifier: Apache-2.0
 *
 * twoq.c - full:2q, the full version of 2Q of Johnson and Shasha (VLDB '94), with their Kin of 25% and Kout
 * of 50%: a queue of new entries, ghosts of those, and an LRU list of keys that came while they were ghosts.
 */
#include "tools/caches/cache.h"

enum { A1IN, A1OUT, AM };

static hd_status twoq_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    if (b->nodes[at].list == AM) cache_move(b, AM, at);
    return HD_OK;
}

static void twoq_evict(baseline *b)
{
    if (b->units[A1IN] <= b->capacity / 4 && !cache_list_empty(b, AM)) {
        cache_drop(b, cache_oldest(b, AM));
        return;
    }
    uint32_t at = cache_oldest(b, A1IN);
    cache_leave(b, at);
    cache_move(b, A1OUT, at);
    cache_trim(b, A1OUT, b->capacity / 2);
}

static void twoq_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    uint32_t list = at == CACHE_NONE ? A1IN : AM;
    while (cache_lacks(b, size)) twoq_evict(b);
    if (at != CACHE_NONE) at = cache_find(b, r->key);
    if (at != CACHE_NONE) cache_pull(b, at);
    cache_push(b, list, cache_enter(b, at, r, size));
}

const cache_kind cache_2q = {
    .row = { "full:2q", "new entries leave a queue and become ghosts; keys that come again as ghosts have an LRU list",
             "VLDB '94, full version", "ghosts for half of the capacity", .bytes = true },
    .hit = twoq_hit,
    .miss = twoq_miss,
};
