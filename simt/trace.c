/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.c - an observer that records the events of every lane, and prints them as a table.
 */
#include <stdio.h>
#include <string.h>

#include "simt/explore.h"
#include "simt/finding.h"
#include "simt/list.h"
#include "simt/observers.h"

typedef struct trace {
    vec events; /* simt_event */
} trace;

static bool trace_wanted(const simt_config *c) { return c->trace; }

static bool trace_begin(void *self, simt_machine *m, uint64_t lanes)
{
    (void)lanes;
    vec_of(m, &((trace *)self)->events, sizeof(simt_event));
    return true;
}

static void trace_close(void *self, simt_machine *m) { vec_free(m, &((trace *)self)->events); }

/* ---- What is recorded ------------------------------------------------------------------------ */

static void event_note(trace *t, simt_machine *m, const char *site, const char *what, const memory_access *a,
                       uint64_t before, uint64_t after)
{
    const lane *l = m->now;
    simt_event e = { m->totals.steps,
                     site,
                     what,
                     l->ids.block,
                     l->ids.thread,
                     a ? a->bytes : 0,
                     a ? a->p : NULL,
                     before,
                     after,
                     0,
                     l->warp->block->of->stream };
    if (a && a->way == ACCESS_STORE && a->bytes == 16) memcpy(&e.after_high, (const uint8_t *)a->value + 8, 8);
    vec_push(m, &t->events, &e);
}

static const char *access_name(const memory_access *a)
{
    static const char *const rmw[] = { "cas", "exch", "add", "min", "max", "and", "or", "add", "add", "add", "add" };
    switch (a->kind) {
    case SIMT_LD: return "ld";
    case SIMT_ST: return "st";
    case SIMT_LDRLX: return "ldrlx";
    case SIMT_STRLX: return "strlx";
    case SIMT_LDACQ: return "ldacq";
    case SIMT_STREL: return "strel";
    default: return rmw[a->op];
    }
}

/* A store is recorded when it is made, also when it is held back. */
static void trace_access(void *self, simt_machine *m, const memory_access *a)
{
    if (a->way == ACCESS_STORE)
        event_note((trace *)self, m, a->site, access_name(a), a, memory_word(a->p, a->bytes),
                   memory_word(a->value, a->bytes));
}

static void trace_done(void *self, simt_machine *m, const memory_access *a)
{
    if (a->way != ACCESS_STORE) event_note((trace *)self, m, a->site, access_name(a), a, a->before, a->after);
}

static void trace_fence(void *self, simt_machine *m, const char *site, bool of_system)
{
    event_note((trace *)self, m, site, of_system ? "fence_system" : "fence", NULL, 0, 0);
}

static void trace_collective(void *self, simt_machine *m, const lane *l)
{
    const warp *w = l->warp;
    event_note((trace *)self, m, l->site, collective_name(l->op), NULL, w->given[l->ids.lane], w->result[l->ids.lane]);
}

static bool trace_ticket(void *self, simt_machine *m, const char *site, const simt_ticket_record *t,
                         bool with_last_store)
{
    (void)with_last_store;
    event_note((trace *)self, m, site, "takes effect", NULL, t->item, t->what);
    return false;
}

/* clang-format off */
const simt_observer simt_trace = {
    .kinds = SIMT_AT_ALL, .state_bytes = sizeof(trace), .wanted = trace_wanted, .on_run = trace_begin,
    .on_access = trace_access, .on_done = trace_done, .on_fence = trace_fence, .on_collective = trace_collective,
    .on_ticket = trace_ticket, .close = trace_close
};
/* clang-format on */

const simt_event *simt_machine_events(const simt_machine *m, size_t *n)
{
    const trace *t = (const trace *)observer_state(m, &simt_trace);
    *n = t ? t->events.n : 0;
    return t ? (const simt_event *)t->events.p : NULL;
}

/* ---- The story ------------------------------------------------------------------------------- */

typedef struct page {
    char *text;
    size_t used, bytes;
} page;

static void put(page *p, const char *text, size_t n)
{
    if (p->used + n < p->bytes) memcpy(p->text + p->used, text, n);
    p->used += n;
    if (p->bytes) p->text[p->used < p->bytes ? p->used : p->bytes - 1] = 0;
}

/* "key[+8] 0x5 -> 0xfff...e" */
static void describe(const simt_machine *m, const simt_event *e, char *text, size_t bytes)
{
    uint64_t offset;
    const char *name = simt_machine_name(m, e->p, &offset);
    bool changes = strcmp(e->what, "ld") != 0 && strncmp(e->what, "ldrlx", 5) != 0 && strcmp(e->what, "ldacq") != 0;
    if (!e->p)
        snprintf(text, bytes, "%s", e->what);
    else if (changes)
        snprintf(text, bytes, "%-5s %s+%llu  %llx -> %llx", e->what, name, (unsigned long long)offset,
                 (unsigned long long)e->before, (unsigned long long)e->after);
    else
        snprintf(text, bytes, "%-5s %s+%llu  = %llx", e->what, name, (unsigned long long)offset,
                 (unsigned long long)e->before);
}

/* The column of the thread of `of`, one of the events e: the place of its first among the first of all threads. */
static size_t column_of(const simt_event *e, const simt_event *of)
{
    size_t columns = 0;
    for (size_t i = 0;; i++) {
        size_t k = 0;
        while (k < i && (e[k].block != e[i].block || e[k].thread != e[i].thread)) k++;
        if (k < i) continue;
        if (e[i].block == of->block && e[i].thread == of->thread) return columns;
        columns++;
    }
}

size_t simt_story_print(const simt_machine *m, size_t rows, char *text, size_t bytes)
{
    enum { WIDTH = 44, COLUMNS = 4 };
    size_t n;
    const simt_event *e = simt_machine_events(m, &n);
    if (n > rows) {
        e += n - rows;
        n = rows;
    }
    page p = { text, 0, bytes };
    if (bytes) text[0] = 0;
    char line[640], what[160];
    for (size_t i = 0; i < n; i++) {
        size_t column = column_of(e, &e[i]), indent = (column < COLUMNS ? column : COLUMNS - 1) * WIDTH;
        describe(m, &e[i], what, sizeof what);
        int k = snprintf(line, sizeof line, "%8llu  %-18.200s %*sb%u t%-4u %s\n", (unsigned long long)e[i].step,
                         simt_site_name(e[i].site), (int)indent, "", e[i].block, e[i].thread, what);
        put(&p, line, (size_t)k);
    }
    return p.used;
}
