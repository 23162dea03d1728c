/* SPDX-License-Identifier: Apache-2.0
 *
 * wtinylfu.c - full:wtinylfu, W-TinyLFU of Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission
 * policy" (ToS '17, section 4): new keys enter a window, an LRU list of 1% of the capacity. What leaves the window
 * enters the main cache if a sketch has seen it more often than the main cache's next victim. The main cache is a
 * segmented LRU, 80% of it protected. The sample of the sketch is ten requests per entry.
 */
#include "tools/caches/cache.h"
#include "tools/caches/sketch.h"

enum { WINDOW, PROBATION, PROTECTED };

static cache_sketch *sketch_of(baseline *b) { return (cache_sketch *)b->own; }

static uint64_t window_most(const baseline *b) { return b->capacity < 100 ? 1 : b->capacity / 100; }
static uint64_t main_most(const baseline *b) { return b->capacity - window_most(b); }
static uint64_t protected_most(const baseline *b) { return main_most(b) / 5 * 4 + main_most(b) % 5 * 4 / 5; }

enum { OPEN_MOST = 1 << 20 };

/* A capacity in bytes has no number of entries, and a very large one may never be full: the sketch grows later. */
static hd_status wtinylfu_open(baseline *b)
{
    uint64_t entries = b->bytes ? 1 : b->capacity;
    return sketch_room(sketch_of(b), entries < OPEN_MOST ? entries : OPEN_MOST);
}

static void wtinylfu_close(baseline *b) { free(sketch_of(b)->at); }

/* Counts the request. A capacity in bytes has no number of entries: the entries that are there take its place. */
static hd_status wtinylfu_see(baseline *b, const hd_request *r)
{
    hd_status s = sketch_room(sketch_of(b), b->entries);
    uint64_t entries = b->bytes ? b->entries : b->capacity;
    if (entries > UINT64_MAX / SKETCH_SAMPLE) entries = UINT64_MAX / SKETCH_SAMPLE;
    if (!s) sketch_add(sketch_of(b), r->key, entries ? SKETCH_SAMPLE * entries : 1);
    return s;
}

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
    uint8_t seen = sketch_estimate(sketch_of(b), b->nodes[at].key);
    bool enters = size <= main_most(b);
    while (enters && b->units[PROBATION] + b->units[PROTECTED] > main_most(b) - size) {
        uint32_t victim = cache_oldest(b, cache_list_empty(b, PROBATION) ? PROTECTED : PROBATION);
        enters = seen > sketch_estimate(sketch_of(b), b->nodes[victim].key);
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
             "ToS '17, section 4", "a segment per entry, a sketch of 16 counters per entry", .bytes = true },
    .see = wtinylfu_see,
    .hit = wtinylfu_hit,
    .miss = wtinylfu_miss,
    .open = wtinylfu_open,
    .close = wtinylfu_close,
    .own = sizeof(cache_sketch),
};
