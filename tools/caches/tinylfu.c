/* SPDX-License-Identifier: Apache-2.0
 *
 * tinylfu.c - full:tinylfu and full:wtinylfu of Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache
 * admission policy" (ToS '17). A sketch counts all requests; its sample is ten requests per entry.
 *
 * full:tinylfu (section 3) is an LRU list. A new key is refused unless the sketch has seen it more often than each
 * entry that must leave for it.
 *
 * full:wtinylfu (section 4): new keys enter a window, an LRU list of 1% of the capacity. What leaves the window enters
 * the main cache if the sketch has seen it more often than the main cache's next victim. The main cache is a segmented
 * LRU, 80% of it protected.
 */
#include "tools/caches/cache.h"
#include "tools/caches/sketch.h"

/* ---- The sketch -------------------------------------------------------------------------------- */

enum { OPEN_MOST = 1 << 20 };

static cache_sketch *sketch_of(baseline *b) { return (cache_sketch *)b->own; }

static uint8_t seen_of(baseline *b, uint64_t key) { return sketch_estimate(sketch_of(b), key); }

/* A capacity in bytes has no number of entries, and a very large one may never be full: the sketch grows later. */
static hd_status tinylfu_open(baseline *b)
{
    uint64_t entries = b->bytes ? 1 : b->capacity;
    return sketch_room(sketch_of(b), entries < OPEN_MOST ? entries : OPEN_MOST);
}

static void tinylfu_close(baseline *b) { free(sketch_of(b)->at); }

/* Counts the request. Of a capacity in bytes, the entries that are there take the place. */
static hd_status tinylfu_see(baseline *b, const hd_request *r)
{
    hd_status s = sketch_room(sketch_of(b), b->entries);
    uint64_t entries = b->bytes ? b->entries : b->capacity;
    if (entries > UINT64_MAX / SKETCH_SAMPLE) entries = UINT64_MAX / SKETCH_SAMPLE;
    if (!s) sketch_add(sketch_of(b), r->key, entries ? SKETCH_SAMPLE * entries : 1);
    return s;
}

/* ---- full:tinylfu -------------------------------------------------------------------------------- */

enum { QUEUE };

static hd_status tinylfu_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    cache_move(b, QUEUE, at);
    return HD_OK;
}

static void tinylfu_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    uint8_t seen = seen_of(b, r->key);
    uint64_t used = b->used;
    for (uint32_t victim = cache_oldest(b, QUEUE); used > b->capacity - size; victim = b->nodes[victim].newer) {
        if (seen <= seen_of(b, b->nodes[victim].key)) return;
        used -= b->nodes[victim].size;
    }
    while (cache_lacks(b, size)) cache_drop(b, cache_oldest(b, QUEUE));
    cache_push(b, QUEUE, cache_enter(b, at, r, size));
}

const cache_kind cache_tinylfu = {
    .row = { "full:tinylfu", "the least recently used leaves, but only for a key that came more often",
             "ToS '17, section 3", "a sketch of 32 counters per entry", .bytes = true },
    .see = tinylfu_see,
    .hit = tinylfu_hit,
    .miss = tinylfu_miss,
    .open = tinylfu_open,
    .close = tinylfu_close,
    .own = sizeof(cache_sketch),
};

/* ---- full:wtinylfu ------------------------------------------------------------------------------- */

enum { WINDOW, PROBATION, PROTECTED };

static uint64_t window_most(const baseline *b) { return b->capacity < 100 ? 1 : b->capacity / 100; }
static uint64_t main_most(const baseline *b) { return b->capacity - window_most(b); }
static uint64_t protected_most(const baseline *b) { return main_most(b) / 5 * 4 + main_most(b) % 5 * 4 / 5; }

static hd_status wtinylfu_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    uint32_t list = b->nodes[at].list;
    cache_move(b, list == WINDOW ? WINDOW : PROTECTED, at);
    while (b->units[PROTECTED] > protected_most(b)) cache_move(b, PROBATION, cache_oldest(b, PROTECTED));
    return HD_OK;
}

/* The window's oldest entry enters the main cache, or leaves. */
static void window_shrink(baseline *b)
{
    uint32_t at = cache_oldest(b, WINDOW);
    uint64_t size = b->nodes[at].size;
    uint8_t seen = seen_of(b, b->nodes[at].key);
    bool enters = size <= main_most(b);
    while (enters && b->units[PROBATION] + b->units[PROTECTED] > main_most(b) - size) {
        uint32_t victim = cache_oldest(b, cache_list_empty(b, PROBATION) ? PROTECTED : PROBATION);
        enters = seen > seen_of(b, b->nodes[victim].key);
        if (enters) cache_drop(b, victim);
    }
    if (enters)
        cache_move(b, PROBATION, at);
    else
        cache_drop(b, at);
}

static void wtinylfu_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    cache_push(b, WINDOW, cache_enter(b, at, r, size));
    while (b->units[WINDOW] > window_most(b)) window_shrink(b);
}

const cache_kind cache_wtinylfu = {
    .row = { "full:wtinylfu", "an LRU window; what leaves it enters the main cache if it came more often than a victim",
             "ToS '17, section 4", "a segment per entry, a sketch of 32 counters per entry", .bytes = true },
    .see = tinylfu_see,
    .hit = wtinylfu_hit,
    .miss = wtinylfu_miss,
    .open = tinylfu_open,
    .close = tinylfu_close,
    .own = sizeof(cache_sketch),
};
