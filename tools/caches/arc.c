/* SPDX-License-Identifier: Apache-2.0
 *
 * arc.c - full:arc, Figure 4 of Megiddo and Modha, "ARC: a self-tuning, low overhead replacement cache" (FAST '03).
 * Differs: sizes are those of objects, not of pages. Entries leave until the object fits, and the target moves by the
 * object's size where the paper's moves by one page. It is compared in units of 2^-32: three steps of a third are one.
 */
#include <math.h>

#include "tools/caches/cache.h"

enum { T1, T2, B1, B2 };

typedef struct arc {
    double target; /* of T1, in units: the paper's p */
} arc;

static hd_status arc_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    cache_move(b, T2, at);
    return HD_OK;
}

/* The paper's REPLACE. */
static void arc_replace(baseline *b, bool in_b2)
{
    const double unit = 4294967296.0;
    double p = floor(((const arc *)b->own)->target * unit + 0.5) / unit, t1 = (double)b->units[T1];
    bool recent = cache_list_empty(b, T2) || (!cache_list_empty(b, T1) && (t1 > p || (in_b2 && t1 == p)));
    uint32_t at = cache_oldest(b, recent ? T1 : T2);
    cache_leave(b, at);
    cache_move(b, recent ? B1 : B2, at);
}

/* A hit of a ghost in list `from` gives its side more room. */
static void arc_adapt(baseline *b, uint32_t from, uint64_t size)
{
    arc *w = (arc *)b->own;
    double own = (double)b->units[from], other = (double)b->units[from == B1 ? B2 : B1];
    double step = (own >= other || own == 0 ? 1 : other / own) * (double)size;
    w->target += from == B1 ? step : -step;
    if (w->target > (double)b->capacity) w->target = (double)b->capacity;
    if (w->target < 0) w->target = 0;
}

/* T1 and B1 together have at most the capacity, all lists twice as much. */
static void arc_make_room(baseline *b, uint64_t size)
{
    while (b->units[T1] + b->units[B1] > b->capacity - size) {
        if (cache_list_empty(b, B1))
            cache_drop(b, cache_oldest(b, T1));
        else
            cache_lay(b, cache_oldest(b, B1));
    }
    while (cache_lacks(b, size)) arc_replace(b, false);
}

static void arc_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    if (at == CACHE_NONE)
        arc_make_room(b, size);
    else {
        bool in_b2 = b->nodes[at].list == B2;
        arc_adapt(b, b->nodes[at].list, size);
        while (cache_lacks(b, size)) arc_replace(b, in_b2);
        cache_pull(b, at);
    }
    while (b->used + b->units[B1] + b->units[B2] > 2 * b->capacity - size)
        cache_lay(b, cache_oldest(b, cache_list_empty(b, B2) ? B1 : B2));
    cache_push(b, at == CACHE_NONE ? T1 : T2, cache_enter(b, at, r, size));
}

const cache_kind cache_arc = {
    .row = { "full:arc", "an LRU list of keys that came once, one of the others; ghosts of both move their border",
             "FAST '03, Figure 4", "ghosts for the capacity, a target", .bytes = true },
    .hit = arc_hit,
    .miss = arc_miss,
    .own = sizeof(arc),
};
