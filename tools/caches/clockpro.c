/* SPDX-License-Identifier: Apache-2.0
 *
 * clockpro.c - full:clockpro, CLOCK-Pro of Jiang, Chen and Zhang (USENIX ATC '05): hot and cold pages and
 * ghosts of cold ones on one clock. A cold page that is requested during its test period gets hot. The target of cold
 * pages, at first all, is one more for each such page, and one less for each whose test period ends without a request.
 * Differs: the cold and the test hand stay where they did something, and go on to the next such page when it is needed.
 *
 * The list's end is the hot hand: the oldest node is the next that it looks at, the newest is the paper's list head.
 */
#include "tools/caches/cache.h"

enum { CLOCK };
enum { REFERENCED = 1, HOT = 2, TEST = 4 }; /* bits of marks */

typedef struct clockpro {
    uint32_t cold, test; /* hands; CLOCK: they stand where the hot hand does */
    uint64_t hots, ghosts;
    uint64_t spared; /* the capacity without the target of cold pages: what may be hot */
} clockpro;

static clockpro *hands(baseline *b) { return (clockpro *)b->own; }

static uint32_t next_of(const baseline *b, uint32_t at)
{
    return b->nodes[at].newer == CLOCK ? cache_oldest(b, CLOCK) : b->nodes[at].newer;
}

/* No hand stands at the node, which is about to be moved. */
static void hands_off(baseline *b, uint32_t at)
{
    clockpro *w = hands(b);
    uint32_t next = next_of(b, at);
    if (next == at) next = CLOCK;
    if (w->cold == at) w->cold = next;
    if (w->test == at) w->test = next;
}

/* The cold page's test period, if it is in one, ends without a request. true: it was a ghost, and is gone. */
static bool test_end(baseline *b, uint32_t at)
{
    clockpro *w = hands(b);
    cache_node *n = &b->nodes[at];
    if (n->mark & TEST && w->spared + 1 < b->capacity) w->spared++;
    n->mark &= (uint8_t)~TEST;
    if (n->resident) return false;
    hands_off(b, at);
    cache_lay(b, at);
    w->ghosts--;
    return true;
}

/* The hot hand makes hot pages cold, until there are not too many, and stops at a hot page. */
static void hot_run(baseline *b)
{
    clockpro *w = hands(b);
    while (w->hots) {
        uint32_t at = cache_oldest(b, CLOCK);
        uint8_t *mark = &b->nodes[at].mark;
        if (*mark & HOT && w->hots <= w->spared) return;
        if (!(*mark & HOT) && test_end(b, at)) continue;
        if (*mark & HOT && !(*mark & REFERENCED)) {
            *mark = 0;
            w->hots--;
        } else if (*mark & HOT)
            *mark = HOT;
        cache_move(b, CLOCK, at);
    }
}

/* A cold page was requested during its test period, and is now at the list head. */
static void promote(baseline *b, uint32_t at)
{
    clockpro *w = hands(b);
    b->nodes[at].mark = HOT;
    w->hots++;
    if (w->spared) w->spared--;
    if (w->hots > w->spared) hot_run(b);
}

static void test_run(baseline *b)
{
    clockpro *w = hands(b);
    while (w->ghosts > b->capacity) {
        uint32_t at = w->test == CLOCK ? cache_oldest(b, CLOCK) : w->test;
        w->test = next_of(b, at);
        if (!(b->nodes[at].mark & HOT)) test_end(b, at);
    }
}

static void cold_run(baseline *b)
{
    clockpro *w = hands(b);
    for (;;) {
        uint32_t at = w->cold == CLOCK ? cache_oldest(b, CLOCK) : w->cold;
        cache_node *n = &b->nodes[at];
        w->cold = next_of(b, at);
        if (n->mark & HOT || !n->resident) continue;
        if (!(n->mark & REFERENCED)) {
            cache_leave(b, at);
            w->ghosts++;
            if (!(n->mark & TEST)) test_end(b, at);
            return;
        }
        hands_off(b, at);
        cache_move(b, CLOCK, at);
        if (n->mark & TEST)
            promote(b, at);
        else
            n->mark = TEST;
    }
}

static hd_status clockpro_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    b->nodes[at].mark |= REFERENCED;
    return HD_OK;
}

static void clockpro_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) cold_run(b);
    test_run(b);
    if (at != CACHE_NONE) at = cache_find(b, r->key);
    bool tested = at != CACHE_NONE;
    if (tested) {
        hands_off(b, at);
        cache_pull(b, at);
        hands(b)->ghosts--;
    }
    at = cache_enter(b, at, r, size);
    cache_push(b, CLOCK, at);
    b->nodes[at].mark = TEST;
    if (tested) promote(b, at);
}

const cache_kind cache_clockpro = {
    .row = { "full:clockpro",
             "cold pages leave a clock, unless they come again in their test period: then they get hot", "ATC '05",
             "three bits per entry; ghosts for the capacity; three hands, a target", .bytes = false },
    .hit = clockpro_hit,
    .miss = clockpro_miss,
    .own = sizeof(clockpro),
};
