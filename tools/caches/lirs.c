/* SPDX-License-Identifier: Apache-2.0
 *
 * lirs.c - full:lirs, LIRS of Jiang and Zhang (SIGMETRICS '02, section 3): a stack S of all entries with a low
 * inter-reference recency (LIR), and of what came after the oldest of them, ghosts included; a queue Q of the other
 * entries (HIR), which have 1% of the capacity, at least one.
 */
#include "tools/caches/cache.h"

enum { STACK, OUTSIDE }; /* lists of nodes: those in S, and, in no order, those that are only in Q */
enum { HIR, LIR };       /* marks */

/* Links of Q: those of node 0 are its ends. */
typedef struct lirs_links {
    uint32_t newer, older;
} lirs_links;

typedef struct lirs {
    uint64_t lir; /* entries that are LIR */
} lirs;

static lirs_links *links(const baseline *b) { return (lirs_links *)(void *)b->more; }
static uint64_t *lir_count(baseline *b) { return &((lirs *)b->own)->lir; }
static uint64_t lir_most(const baseline *b) { return b->capacity - (b->capacity < 100 ? 1 : b->capacity / 100); }

static void queue_push(baseline *b, uint32_t at)
{
    lirs_links *l = links(b);
    l[at] = (lirs_links){ .newer = 0, .older = l[0].older };
    l[l[0].older].newer = at;
    l[0].older = at;
}

static void queue_pull(baseline *b, uint32_t at)
{
    lirs_links *l = links(b);
    l[l[at].newer].older = l[at].older;
    l[l[at].older].newer = l[at].newer;
}

static hd_status lirs_open(baseline *b)
{
    links(b)[0] = (lirs_links){ 0, 0 };
    return HD_OK;
}

/* The stack's end gets LIR: HIR nodes there leave the stack, ghosts for ever. */
static void stack_prune(baseline *b)
{
    while (!cache_list_empty(b, STACK)) {
        uint32_t at = cache_oldest(b, STACK);
        if (b->nodes[at].mark == LIR) return;
        if (b->nodes[at].resident)
            cache_move(b, OUTSIDE, at);
        else
            cache_lay(b, at);
    }
}

/* The entry, on the stack's top, gets LIR. If there are too many, the oldest LIR entry gets HIR. */
static void lirs_promote(baseline *b, uint32_t at)
{
    b->nodes[at].mark = LIR;
    if (++*lir_count(b) > lir_most(b)) {
        stack_prune(b);
        uint32_t oldest = cache_oldest(b, STACK);
        b->nodes[oldest].mark = HIR;
        cache_move(b, OUTSIDE, oldest);
        queue_push(b, oldest);
        --*lir_count(b);
    }
    stack_prune(b);
}

static hd_status lirs_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    bool was_in_stack = b->nodes[at].list == STACK;
    cache_move(b, STACK, at);
    if (b->nodes[at].mark == LIR) {
        stack_prune(b);
        return HD_OK;
    }
    queue_pull(b, at);
    if (was_in_stack)
        lirs_promote(b, at);
    else {
        queue_push(b, at);
        if (!*lir_count(b)) stack_prune(b);
    }
    return HD_OK;
}

static void lirs_evict(baseline *b)
{
    uint32_t at = links(b)[0].newer;
    queue_pull(b, at);
    if (b->nodes[at].list == STACK)
        cache_leave(b, at);
    else
        cache_drop(b, at);
}

static void lirs_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) lirs_evict(b);
    bool ghost = at != CACHE_NONE, lir = ghost || *lir_count(b) < lir_most(b);
    if (ghost) cache_pull(b, at);
    at = cache_enter(b, at, r, size);
    cache_push(b, STACK, at);
    if (lir)
        lirs_promote(b, at);
    else {
        queue_push(b, at);
        if (!*lir_count(b)) stack_prune(b);
    }
}

const cache_kind cache_lirs = {
    .row = { "full:lirs", "entries with a short time between their last two requests stay, the others have a queue",
             "SIGMETRICS '02, section 3", "a stack with ghosts of keys, unbounded; a queue", .bytes = false },
    .hit = lirs_hit,
    .miss = lirs_miss,
    .open = lirs_open,
    .own = sizeof(lirs),
    .more = sizeof(lirs_links),
};
