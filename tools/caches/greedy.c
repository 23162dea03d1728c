/* SPDX-License-Identifier: Apache-2.0
 *
 * greedy.c - full:lfuda and full:gdsf. Both give an entry the value L + F / S when it comes or is hit: F is its number
 * of requests since it came, S its size (full:lfuda: 1), L the value of the last entry that left. The least value
 * leaves, of equal ones the least recently used. full:lfuda is LFU with dynamic aging of Arlitt et al., "Evaluating
 * content management techniques for web proxy caches" (1999). full:gdsf is Greedy-Dual-Size-Frequency of
 * Cherkasova, "Improving WWW proxies performance" (HPL-98-69) with a cost of 1; as there, a key that would
 * itself be among those to leave is refused.
 */
#include "tools/caches/cache.h"

typedef struct greedy {
    double last; /* L */
} greedy;

static uint64_t *times(baseline *b, uint32_t at) { return &((uint64_t *)(void *)b->more)[at]; }

/* Positive doubles are in the order of their bits. */
static uint64_t rank_of(double value)
{
    uint64_t rank;
    memcpy(&rank, &value, sizeof rank);
    return rank;
}

static double value_of(uint64_t rank)
{
    double value;
    memcpy(&value, &rank, sizeof value);
    return value;
}

/* An object of 0 bytes counts as one of 1. */
static uint64_t value_rank(const baseline *b, uint64_t f, uint64_t size)
{
    bool sized = b->kind == &cache_gdsf;
    return rank_of(((const greedy *)b->own)->last + (double)f / (double)(sized && size ? size : 1));
}

static hd_status greedy_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    uint64_t f = ++*times(b, at);
    cache_heap_set(b, at, value_rank(b, f, b->nodes[at].size), b->number);
    return HD_OK;
}

static void greedy_enter(baseline *b, const hd_request *r, uint64_t size, uint64_t rank)
{
    uint32_t at = cache_enter(b, CACHE_NONE, r, size);
    *times(b, at) = 1;
    cache_heap_add(b, at, rank, b->number);
}

static void lfuda_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    (void)at;
    while (cache_lacks(b, size)) {
        ((greedy *)b->own)->last = value_of(b->ranked[0].rank);
        cache_heap_drop(b);
    }
    greedy_enter(b, r, size, value_rank(b, 1, size));
}

/* The entries that would leave for the key move, the last one first, behind the heap's end. The result is whether the
 * key fits without them and is not itself among the least. */
static bool victims_take(baseline *b, uint64_t size, uint64_t rank, uint64_t *n)
{
    uint64_t used = b->used;
    for (*n = 0; b->ranks && used > b->capacity - size && b->ranked[0].rank <= rank; ++*n) {
        cache_rank victim = b->ranked[0];
        used -= b->nodes[victim.at].size;
        cache_heap_take(b, victim.at);
        b->ranked[b->ranks] = victim;
    }
    return used <= b->capacity - size;
}

static void gdsf_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    (void)at;
    uint64_t rank = value_rank(b, 1, size), victims = 0;
    bool enters = !cache_lacks(b, size) || victims_take(b, size, rank, &victims);
    if (enters && victims) ((greedy *)b->own)->last = value_of(b->ranked[b->ranks].rank);
    for (; !enters && victims; victims--) {
        cache_rank x = b->ranked[b->ranks];
        cache_heap_add(b, x.at, x.rank, x.time);
    }
    for (uint64_t i = 0; i < victims; i++) {
        cache_leave(b, b->ranked[b->ranks + i].at);
        cache_forget(b, b->ranked[b->ranks + i].at);
    }
    if (enters) greedy_enter(b, r, size, value_rank(b, 1, size));
}

const cache_kind cache_lfuda = {
    .row = { "full:lfuda", "LFU whose counts age: the least sum of hits and of the value that left last leaves",
             "1999, Arlitt et al., LFU-DA", "a count per entry, a value", .bytes = true },
    .hit = greedy_hit,
    .miss = lfuda_miss,
    .own = sizeof(greedy),
    .more = sizeof(uint64_t),
    .heap = true,
};

const cache_kind cache_gdsf = {
    .row = { "full:gdsf", "as full:lfuda, with hits per byte: small entries stay; a key of the least value is refused",
             "HPL-98-69 (1998), GDSF", "a count per entry, a value", .bytes = true },
    .hit = greedy_hit,
    .miss = gdsf_miss,
    .own = sizeof(greedy),
    .more = sizeof(uint64_t),
    .heap = true,
};
