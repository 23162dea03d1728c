/* SPDX-License-Identifier: Apache-2.0
 *
 * victims.c - a bipartite matching. An eviction can explain a departure when it happened strictly between the two
 * moments and could take an entry of that score.
 *
 * Up to EXACT_MOST evictions this is decided exactly, by augmenting paths (Kuhn). Beyond, only moments are compared,
 * for which it is optimal to take the departure with the earliest end (earliest deadline first). That is a weaker test,
 * but it never objects to a correct table.
 */
#include "judge/victims.h"

#include <stdlib.h>

enum { EXACT_MOST = 512 };

/* Appends a row to a list; false: no memory, and nothing has changed. */
static bool append(void **list, uint64_t *n, uint64_t *room, const void *row, size_t bytes)
{
    if (*n == *room) {
        uint64_t wide = *room ? 2 * *room : 16;
        void *p = realloc(*list, (size_t)wide * bytes);
        if (!p) return false;
        *list = p;
        *room = wide;
    }
    memcpy((char *)*list + *n * bytes, row, bytes);
    ++*n;
    return true;
}

bool judge_evicted(judge_victims *v, judge_eviction e)
{
    void *list = v->eviction;
    bool good = append(&list, &v->evictions, &v->evictions_room, &e, sizeof e);
    v->eviction = (judge_eviction *)list;
    return good;
}

bool judge_departed(judge_victims *v, judge_departure d)
{
    void *list = v->departure;
    bool good = append(&list, &v->departures, &v->departures_room, &d, sizeof d);
    v->departure = (judge_departure *)list;
    return good;
}

void judge_victims_close(judge_victims *v)
{
    free(v->eviction);
    free(v->departure);
    *v = (judge_victims){ 0 };
}

static bool within(const judge_eviction *e, const judge_departure *d)
{
    return d->after < e->item && e->item < d->before;
}

/* ---- Exactly --------------------------------------------------------------------------------- */

typedef struct matching {
    const judge_victims *v;
    uint64_t reason[EXACT_MOST]; /* of departure d: the eviction + 1; 0: none yet */
    bool tried[EXACT_MOST];
} matching;

/* Finds eviction e a departure, moving other evictions to other departures where that helps. */
static bool give_reason(matching *m, uint64_t e)
{
    const judge_victims *v = m->v;
    for (uint64_t d = 0; d < v->departures; d++) {
        if (m->tried[d] || !within(&v->eviction[e], &v->departure[d]) || v->departure[d].score > v->eviction[e].most)
            continue;
        m->tried[d] = true;
        if (m->reason[d] && !give_reason(m, m->reason[d] - 1)) continue;
        m->reason[d] = e + 1;
        return true;
    }
    return false;
}

static const char *match_exactly(const judge_victims *v, uint64_t *item)
{
    matching m = { .v = v };
    for (uint64_t e = 0; e < v->evictions; e++) {
        for (uint64_t d = 0; d < v->departures; d++) m.tried[d] = false;
        if (give_reason(&m, e)) continue;
        *item = v->eviction[e].item;
        return "evicted, but no entry that could have been its victim has left";
    }
    return NULL;
}

/* ---- By moments only ------------------------------------------------------------------------- */

static int earlier_start(const void *a, const void *b)
{
    const judge_departure *x = (const judge_departure *)a, *y = (const judge_departure *)b;
    return (x->after > y->after) - (x->after < y->after);
}

/* A heap of departures that have begun, the earliest end on top: indices into v->departure. */
typedef struct heap {
    const judge_departure *of;
    uint64_t *at, n;
} heap;

static void heap_push(heap *h, uint64_t d)
{
    uint64_t i = h->n++;
    for (; i && h->of[h->at[(i - 1) / 2]].before > h->of[d].before; i = (i - 1) / 2) h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = d;
}

static uint64_t heap_pop(heap *h)
{
    uint64_t top = h->at[0], last = h->at[--h->n], i = 0;
    for (uint64_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && h->of[h->at[child + 1]].before < h->of[h->at[child]].before) child++;
        if (h->of[h->at[child]].before >= h->of[last].before) break;
        h->at[i] = h->at[child];
    }
    h->at[i] = last;
    return top;
}

static const char *match_moments(judge_victims *v, uint64_t *item)
{
    heap open = { v->departure, (uint64_t *)malloc((size_t)v->departures * sizeof(uint64_t)), 0 };
    const char *wrong = open.at ? NULL : "the judge ran out of memory";
    qsort(v->departure, (size_t)v->departures, sizeof *v->departure, earlier_start);
    for (uint64_t e = 0, next = 0; e < v->evictions && !wrong;
         e++) { /* evictions are in the order in which they happened */
        while (next < v->departures && v->departure[next].after < v->eviction[e].item) heap_push(&open, next++);
        if (open.n == 0 || !within(&v->eviction[e], &v->departure[heap_pop(&open)])) {
            *item = v->eviction[e].item;
            wrong = "evicted, but too few entries have left by then";
        }
    }
    free(open.at);
    return wrong;
}

const char *judge_victims_match(judge_victims *v, uint64_t *item)
{
    *item = 0;
    if (v->evictions < v->departures) return "more entries have left than evictions were reported";
    if (v->evictions > v->departures) return "more evictions were reported than entries have left";
    if (v->evictions == 0) return NULL;
    return v->evictions <= EXACT_MOST ? match_exactly(v, item) : match_moments(v, item);
}
