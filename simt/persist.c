/* SPDX-License-Identifier: Apache-2.0
 *
 * persist.c - see persist.h. An observer that keeps a list of the stores that a crash may lose.
 */
#include "simt/persist.h"

#include "base/error.h"
#include "simt/finding.h"
#include "simt/list.h"
#include "simt/observers.h"
#include "simt/space.h"

enum { WORD = 8 };

typedef struct persist {
    vec stores;         /* persist_store */
    table words;        /* word_mark */
    uint64_t forgotten; /* simt_machine.forgotten when the list was last empty for that reason */
    uint64_t events, sweeps;
    size_t settled, ended; /* persist_settled; tickets when the last durable launch that drew some ended */
    size_t launches;       /* persist_launches */
    const void *race;      /* the state of simt_race; NULL: it is not in this run */
    persist_look *look;    /* or NULL */
    void *looks;           /* its context */
} persist;

typedef struct word_mark {
    slot_head head;
    uint64_t sweep; /* the last sweep that found a store to the word durable */
} word_mark;

/* NULL: the last run did not model persistent memory. */
static persist *persist_of(const simt_machine *m) { return (persist *)observer_state(m, &simt_persist); }

static bool persist_wanted(const simt_config *c) { return c->persist || c->crash_at || c->cumulative; }

static bool persist_begin(void *self, simt_machine *m, uint64_t lanes)
{
    persist *p = (persist *)self;
    (void)lanes;
    if (p->stores.size == 0 || p->forgotten != m->forgotten) vec_of(m, &p->stores, sizeof(persist_store));
    p->words.size = sizeof(word_mark);
    p->words.n = 0;
    p->forgotten = m->forgotten;
    p->events = p->settled = p->ended = p->launches = 0;
    p->race = observer_state(m, &simt_race);
    return true;
}

static void persist_close(void *self, simt_machine *m)
{
    persist *p = (persist *)self;
    vec_free(m, &p->stores);
    table_free(m, &p->words);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* The next event happens, unless the machine stops before it: false. */
static bool event_happens(persist *p, simt_machine *m, const char *what)
{
    if (m->finding.fault == SIMT_CRASH) return false;
    if (++p->events != m->config.crash_at) return true;
    p->events--;
    found(m, SIMT_CRASH, "a crash before event %llu of persistent memory, %s", (unsigned long long)m->config.crash_at,
          what);
    return false;
}

/* ---- Stores ---------------------------------------------------------------------------------- */

/* A store of lane l is about to change memory. */
static void store_happens(persist *p, simt_machine *m, const lane *l, const memory_access *a, const void *value,
                          uint64_t step)
{
    uint8_t *at = (uint8_t *)a->p, *end = at + a->bytes;
    const region *r = region_of(m, at, a->bytes);
    if (!r || !r->persistent || !event_happens(p, m, "a store")) return;
    const block *b = l->warp->block;
    persist_store s = { .site = a->site,
                        .step = step,
                        .run = m->generation,
                        .launch = (uint32_t)(b->of - (const launch *)m->launches.p),
                        .block = l->ids.block,
                        .thread = l->ids.thread };
    if (p->race) s.written = race_time(p->race, l);
    for (uint8_t *word = at - (uintptr_t)at % WORD; word < end; word += WORD) {
        uint8_t *from = word < at ? at : word;
        size_t bytes = (size_t)((end < word + WORD ? end : word + WORD) - from);
        s.word = word;
        s.before = s.after = memory_word(word, WORD);
        memcpy((uint8_t *)&s.after + (from - word), (const uint8_t *)value + (from - at), bytes);
        vec_push(m, &p->stores, &s);
    }
}

static void persist_access(void *self, simt_machine *m, const memory_access *a)
{
    (void)self;
    persist_look_at(m, a->p, a->bytes);
}

static void persist_done(void *self, simt_machine *m, const memory_access *a)
{
    bool stores = a->way == ACCESS_STORE || a->way == ACCESS_RMW;
    if (!stores || !a->wrote) return;
    store_happens((persist *)self, m, m->now, a, a->way == ACCESS_RMW ? &a->after : a->value, m->totals.steps);
}

static void persist_visible(void *self, simt_machine *m, const lane *l, const memory_access *a)
{
    store_happens((persist *)self, m, l, a, a->value, a->step);
}

/* ---- What becomes durable -------------------------------------------------------------------- */

/* The stores of a lane, and with config.cumulative those that it knows; or those in a range (lane NULL). */
typedef struct covered {
    const lane *l;
    const uint8_t *p;
    size_t bytes;
} covered;

static bool covers(const persist *p, const simt_machine *m, const covered *c, const persist_store *s)
{
    if (!c->l) return s->word + WORD > c->p && s->word < c->p + c->bytes;
    if (s->run != m->generation) return false;
    if (m->config.cumulative && p->race && race_knows(p->race, c->l, s->written)) return true;
    return s->block == c->l->ids.block && s->thread == c->l->ids.thread &&
           s->launch == (uint32_t)(c->l->warp->block->of - (const launch *)m->launches.p);
}

/* Drops the stores that are covered, and those before them to the same words. */
static void sweep(persist *p, simt_machine *m, const covered *c)
{
    persist_store *all = (persist_store *)p->stores.p;
    size_t n = p->stores.n, kept = n;
    p->sweeps++;
    for (size_t i = n; i--;) {
        word_mark *w = (word_mark *)table_at(m, &p->words, (uintptr_t)all[i].word, true);
        if (!w) return;
        if (covers(p, m, c, &all[i])) w->sweep = p->sweeps;
        if (w->sweep != p->sweeps) all[--kept] = all[i];
    }
    memmove(all, all + kept, (n - kept) * sizeof *all);
    p->stores.n = n - kept;
}

/* An event, if it makes a store durable. */
static void becomes_durable(persist *p, simt_machine *m, const covered *c, const char *what)
{
    const persist_store *all = (const persist_store *)p->stores.p;
    size_t i = 0;
    while (i < p->stores.n && !covers(p, m, c, &all[i])) i++;
    if (i == p->stores.n || !event_happens(p, m, what)) return;
    if (m->config.durable) m->config.durable(m->config.durables, m, p->events);
    sweep(p, m, c);
}

static void persist_fence(void *self, simt_machine *m, const char *site, bool of_system)
{
    const covered c = { .l = m->now };
    (void)site;
    if (of_system) becomes_durable((persist *)self, m, &c, "a fence");
}

static void persist_launch_end(void *self, simt_machine *m, const launch *of)
{
    persist *p = (persist *)self;
    const persisted_range *r = (const persisted_range *)m->persisted.p;
    bool persisted = false;
    for (size_t i = 0; i < m->persisted.n; i++) {
        const covered c = { .p = (const uint8_t *)r[i].p, .bytes = r[i].bytes };
        if (r[i].launch != (size_t)(of - (const launch *)m->launches.p)) continue;
        becomes_durable(p, m, &c, "what the host does after a launch");
        persisted = true;
    }
    if (!persisted || m->finding.fault == SIMT_CRASH) return;
    p->launches++;
    if (m->tickets.n == p->ended) return;
    p->settled = p->ended;
    p->ended = m->tickets.n;
}

/* clang-format off */
const simt_observer simt_persist = {
    .kinds = SIMT_AT_ALL, .state_bytes = sizeof(persist), .wanted = persist_wanted, .on_run = persist_begin,
    .on_launch_end = persist_launch_end, .on_access = persist_access, .on_done = persist_done,
    .on_visible = persist_visible, .on_fence = persist_fence, .close = persist_close
};
/* clang-format on */

/* ---- The caller's side ----------------------------------------------------------------------- */

hd_status simt_machine_persistent(simt_machine *m, const void *p)
{
    uint32_t i = 0;
    while (i < m->regions && m->memory[i].p != p) i++;
    if (i == m->regions) return hd_fail(HD_EINVAL, "persistent: no region begins there");
    if ((uintptr_t)p % WORD || m->memory[i].bytes % WORD)
        return hd_fail(HD_EINVAL, "persistent: '%s' is not made of whole words", m->memory[i].name);
    m->memory[i].persistent = true;
    return HD_OK;
}

hd_status simt_machine_persisted(simt_machine *m, const void *p, size_t bytes)
{
    const persisted_range r = { m->launches.n - 1, p, bytes };
    const covered c = { .p = (const uint8_t *)p, .bytes = bytes };
    persist *now = m->launches.n ? NULL : persist_of(m);
    if (now) sweep(now, m, &c);
    m->persisted.size = sizeof r;
    return !m->launches.n || vec_push(m, &m->persisted, &r) ? HD_OK : hd_fail(HD_ENOMEM, "simt: no memory for a range");
}

const persist_store *persist_stores(const simt_machine *m, size_t *n)
{
    const persist *p = persist_of(m);
    *n = p && p->forgotten == m->forgotten ? p->stores.n : 0;
    return p ? (const persist_store *)p->stores.p : NULL;
}

void persist_look_with(simt_machine *m, persist_look *look, void *context)
{
    persist *p = persist_of(m);
    if (p) p->look = look, p->looks = context;
}

void persist_look_at(const simt_machine *m, const void *at, size_t bytes)
{
    const persist *p = persist_of(m);
    if (p && p->look) p->look(p->looks, at, bytes);
}

void persist_all(simt_machine *m)
{
    persist *p = persist_of(m);
    if (p) p->stores.n = 0;
}

size_t persist_settled(const simt_machine *m)
{
    const persist *p = persist_of(m);
    if (!p) return 0;
    return m->tickets.n > p->ended ? p->ended : p->settled;
}

size_t persist_launches(const simt_machine *m)
{
    const persist *p = persist_of(m);
    return p ? p->launches : 0;
}
