/* SPDX-License-Identifier: Apache-2.0
 *
 * slru.c - full:slru, the segmented LRU with four segments of Huang et al., "An analysis of Facebook photo caching"
 * (SOSP '13, S4LRU): each segment has a quarter of the capacity; the lowest also has the remainder. full:slru2 has the
 * two segments of the first paper, Karedla, Love and Wherry (IEEE Computer 27(3), 1994), which leaves their sizes open:
 * 80% are protected, and an entry on probation may use what the protected segment does not.
 */
#include "tools/caches/cache.h"

enum { LOWEST, HIGHEST = 3, SEGMENTS };
_Static_assert((int)SEGMENTS <= (int)CACHE_LISTS, "a list for each segment");

static uint64_t lowest_most(const baseline *b) { return b->capacity - HIGHEST * (b->capacity / SEGMENTS); }

/* Entries that a segment has no room for move to the next lower one; those of the lowest leave. */
static hd_status slru_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    uint32_t segment = b->nodes[at].list;
    if (segment < HIGHEST) segment++;
    cache_move(b, segment, at);
    for (; segment > LOWEST; segment--)
        while (b->units[segment] > b->capacity / SEGMENTS) cache_move(b, segment - 1, cache_oldest(b, segment));
    while (b->units[LOWEST] > lowest_most(b)) cache_drop(b, cache_oldest(b, LOWEST));
    return HD_OK;
}

static void slru_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    if (size > lowest_most(b)) return;
    while (b->units[LOWEST] > lowest_most(b) - size) cache_drop(b, cache_oldest(b, LOWEST));
    cache_push(b, LOWEST, cache_enter(b, at, r, size));
}

enum { PROBATION, PROTECTED };

static uint64_t protected_most(const baseline *b) { return b->capacity / 5 * 4 + b->capacity % 5 * 4 / 5; }

static hd_status slru2_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    cache_move(b, PROTECTED, at);
    while (b->units[PROTECTED] > protected_most(b)) cache_move(b, PROBATION, cache_oldest(b, PROTECTED));
    return HD_OK;
}

static void slru2_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) cache_drop(b, cache_oldest(b, cache_list_empty(b, PROBATION) ? PROTECTED : PROBATION));
    cache_push(b, PROBATION, cache_enter(b, at, r, size));
}

const cache_kind cache_slru2 = {
    .row = { "full:slru2", "two LRU segments: a hit protects an entry, surplus ones go back on probation",
             "Computer 27(3), 1994", "a segment per entry", .bytes = true },
    .hit = slru2_hit,
    .miss = slru2_miss,
};

const cache_kind cache_slru = {
    .row = { "full:slru", "four LRU segments: a hit moves an entry one up, a full segment its oldest entry one down",
             "SOSP '13, S4LRU", "a segment per entry", .bytes = true },
    .hit = slru_hit,
    .miss = slru_miss,
};
