/* SPDX-License-Identifier: Apache-2.0
 *
 * weak.c - an observer that makes memory weaker than any interleaving of atomic steps. It models two effects of a GPU:
 *
 *   Plain and relaxed stores wait in a buffer of their lane, 16 deep, and become visible later, in any order, except
 *   for stores to one address. A release, a fence and a barrier empty the buffer first. A lane sees its own stores.
 *
 *   A relaxed load may return an overwritten value, as long as the lane cannot know of the newer value by happens-
 *   before and has not read a newer one itself (the modification order of relacy's model, four deep).
 *
 * This is not all of PTX: loads do not speculate, and a store becomes visible to all lanes at once (doc/testing.md).
 */
#include <string.h>

#include "base/error.h"
#include "simt/finding.h"
#include "simt/list.h"
#include "simt/observers.h"
#include "simt/race.h"
#include "simt/schedule.h"

enum { PAST = 4, STORE_BUFFER = 16 };

typedef struct value_then {
    uint64_t value;
    lane_time written; /* time 0: it was there before the run, and every lane knows it */
} value_then;

/* The last values of one address. */
typedef struct past {
    slot_head head;
    uint32_t bytes, n;
    uint64_t newest;        /* number of the newest value */
    value_then value[PAST]; /* number i is at i % PAST    */
    /* newest number that lanes have read, by seen_at: coarser than per lane, never older */
    uint64_t seen[WARP_LANES];
} past;

/* A store that is not yet visible to others. */
typedef struct pending_store {
    _Alignas(16) uint8_t value[16];
    uint8_t *p;
    uint32_t bytes;
    bool ticketed;
    const char *site;
    uint64_t step;
    simt_ticket_record ticket;
} pending_store;

/* (lane.held) stores of a lane, the oldest first. */
typedef struct store_buffer {
    pending_store store[STORE_BUFFER];
} store_buffer;

typedef struct weak {
    const void *race; /* the state of simt_race */
    store_buffer *of; /* (lanes) by number */
    size_t lanes;
    table pasts; /* past */
} weak;

static bool weak_wanted(const simt_config *c) { return c->weak; }

static bool weak_begin(void *self, simt_machine *m, uint64_t lanes)
{
    weak *w = (weak *)self;
    void *p;
    (void)lanes;
    w->race = observer_state(m, &simt_race);
    w->pasts.n = 0;
    w->pasts.size = sizeof(past);
    if (w->lanes >= m->lanes_n) return true;
    hd_give(&m->seams, w->of, w->lanes, sizeof *w->of);
    w->of = NULL;
    w->lanes = 0;
    if (hd_take(&m->seams, "simt: store buffers", m->lanes_n, sizeof *w->of, &p)) {
        found(m, SIMT_RESOURCE, "no memory for the store buffers of %u lanes", m->lanes_n);
        return false;
    }
    w->of = (store_buffer *)p;
    w->lanes = m->lanes_n;
    return true;
}

static void weak_close(void *self, simt_machine *m)
{
    weak *w = (weak *)self;
    hd_give(&m->seams, w->of, w->lanes, sizeof *w->of);
    table_free(m, &w->pasts);
}

static pending_store *stores_of(const weak *w, const lane *l) { return w->of[l->number].store; }

/* ---- Older values ---------------------------------------------------------------------------- */

/* Lanes with the same place in their warps, which often access the same memory, are apart. */
static uint32_t seen_at(const lane *l) { return (l->number + l->number / WARP_LANES) % WARP_LANES; }

/* Bytes that are written with different sizes are in memory only: older values of them are dropped. */
static void forget_others(weak *w, simt_machine *m, uintptr_t p, uint32_t bytes)
{
    for (uintptr_t q = p & ~(uintptr_t)7; q < p + bytes; q += 4) {
        past *h = (past *)table_at(m, &w->pasts, q, false);
        if (h && q + h->bytes > p && (q != p || h->bytes != bytes)) h->n = 0;
    }
}

static void value_wrote(weak *w, simt_machine *m, const lane *l, const void *p, uint32_t bytes, uint64_t before,
                        uint64_t after)
{
    forget_others(w, m, (uintptr_t)p, bytes);
    if (bytes != 4 && bytes != 8) return;
    past *h = (past *)table_at(m, &w->pasts, (uintptr_t)p, true);
    if (!h) return;
    if (h->n == 0) {
        h->bytes = bytes;
        h->n = 1;
        h->newest++;
        h->value[h->newest % PAST].value = before;
        h->value[h->newest % PAST].written.time = 0;
    }
    h->newest++;
    if (h->n < PAST) h->n++;
    value_then now = { after, race_time(w->race, l) };
    h->value[h->newest % PAST] = now;
    h->seen[seen_at(l)] = h->newest;
}

/* ---- Store buffers --------------------------------------------------------------------------- */

static bool overlap(const uint8_t *a, uint32_t a_bytes, const uint8_t *b, uint32_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static void make_visible(weak *w, simt_machine *m, lane *l, uint32_t i)
{
    HD_ASSERT(i < l->held && l->held <= m->held, "a store becomes visible twice");
    pending_store *all = stores_of(w, l), s = all[i];
    memmove(&all[i], &all[i + 1], (l->held - i - 1) * sizeof s);
    l->held--;
    m->held--;
    const memory_access a = {
        .way = ACCESS_STORE, .bytes = s.bytes, .site = s.site, .p = s.p, .value = s.value, .step = s.step
    };
    OBSERVERS_CALL(m, on_visible, l, &a);
    if (m->finding.fault == SIMT_CRASH) return;
    uint64_t before = memory_word(s.p, s.bytes), after = memory_word(s.value, s.bytes);
    memcpy(s.p, s.value, s.bytes);
    m->wrote = true;
    if (s.ticketed) vec_push(m, &m->tickets, &s.ticket);
    value_wrote(w, m, l, s.p, s.bytes, before, after);
}

static void drain(weak *w, simt_machine *m, lane *l)
{
    while (l->held) make_visible(w, m, l, 0);
}

/* Makes one store of one lane visible: any that no older store to the same bytes precedes. */
static void drain_one(weak *w, simt_machine *m)
{
    uint32_t waiting = 0, k;
    for (uint32_t i = 0; i < m->lanes_n; i++) waiting += m->lanes[i].held != 0;
    HD_ASSERT(waiting > 0, "no lane holds a store, and one is counted");
    k = schedule_choose(m, waiting);
    lane *l = m->lanes;
    for (;; l++)
        if (l->held && k-- == 0) break;
    const pending_store *s = stores_of(w, l);
    uint32_t i = schedule_choose(m, l->held);
    for (uint32_t older = 0; older < i; older++)
        if (overlap(s[older].p, s[older].bytes, s[i].p, s[i].bytes)) i = older;
    make_visible(w, m, l, i);
}

static void weak_release(void *self, simt_machine *m, lane *l)
{
    if (l)
        drain((weak *)self, m, l);
    else
        drain_one((weak *)self, m);
}

/* ---- Accesses -------------------------------------------------------------------------------- */

/* Before a read-modify-write or an async copy, which access memory directly: the lane's own stores come first. */
static bool meets_own(const weak *w, const lane *l, const memory_access *a)
{
    const pending_store *s = stores_of(w, l);
    for (uint32_t i = 0; i < l->held; i++)
        if (overlap(s[i].p, s[i].bytes, (const uint8_t *)a->p, a->bytes)) return true;
    return false;
}

static void weak_access(void *self, simt_machine *m, const memory_access *a)
{
    weak *w = (weak *)self;
    lane *l = m->now;
    bool releases = a->kind == SIMT_STREL || (a->way == ACCESS_RMW && a->order & SIMT_RELEASE),
         direct = a->way == ACCESS_RMW || a->way == ACCESS_COPY_FROM;
    if (releases || (direct && meets_own(w, l, a))) drain(w, m, l);
    if (a->kind != SIMT_STREL || a->bytes != 16) return;
    /* what is released with the first word was there before it */
    const uint8_t *second = (const uint8_t *)a->p + 8;
    value_wrote(w, m, l, second, 8, memory_word(second, 8), memory_word((const uint8_t *)a->value + 8, 8));
}

static bool weak_store(void *self, simt_machine *m, const memory_access *a)
{
    weak *w = (weak *)self;
    lane *l = m->now;
    if (a->kind == SIMT_STREL) return false;
    if (l->held == STORE_BUFFER) make_visible(w, m, l, 0);
    HD_ASSERT(l->held < STORE_BUFFER && a->bytes <= sizeof w->of->store->value, "a store buffer overflows");
    pending_store *s = &stores_of(w, l)[l->held++];
    memset(s, 0, sizeof *s);
    memcpy(s->value, a->value, a->bytes);
    s->p = (uint8_t *)a->p;
    s->bytes = a->bytes;
    s->site = a->site;
    s->step = m->totals.steps;
    m->held++;
    return true;
}

static void weak_done(void *self, simt_machine *m, const memory_access *a)
{
    if (a->wrote) value_wrote((weak *)self, m, m->now, a->p, a->bytes > 8 ? 8 : a->bytes, a->before, a->after);
}

static bool weak_ticket(void *self, simt_machine *m, const char *site, const simt_ticket_record *t,
                        bool with_last_store)
{
    const lane *l = m->now;
    (void)site;
    if (!with_last_store || !l->held) return false;
    pending_store *last = &stores_of((weak *)self, l)[l->held - 1];
    last->ticketed = true;
    last->ticket = *t;
    return true;
}

/* From the lane's own buffer. true: *taken says whether v is it; a part of it is left to memory. */
static bool own_load(weak *w, simt_machine *m, const memory_access *a, void *v, bool *taken)
{
    lane *l = m->now;
    for (uint32_t i = l->held; i; i--) {
        const pending_store *s = &stores_of(w, l)[i - 1];
        if (!overlap(s->p, s->bytes, (const uint8_t *)a->p, a->bytes)) continue;
        *taken = s->p == a->p && s->bytes == a->bytes;
        if (*taken)
            memcpy(v, s->value, a->bytes);
        else
            drain(w, m, l);
        return true;
    }
    return false;
}

static bool weak_load(void *self, simt_machine *m, const memory_access *a, void *v)
{
    weak *w = (weak *)self;
    const lane *l = m->now;
    bool taken;
    if (own_load(w, m, a, v, &taken)) return taken;
    past *h = a->kind == SIMT_LDRLX ? (past *)table_at(m, &w->pasts, (uintptr_t)a->p, false) : NULL;
    if (!h || h->n == 0 || h->bytes != a->bytes) return false;
    uint64_t oldest = h->newest - (h->n - 1), *seen = &h->seen[seen_at(l)], at = h->newest;
    while (at > oldest && at > *seen && !race_knows(w->race, l, h->value[at % PAST].written)) at--;
    HD_ASSERT(at >= oldest && at <= h->newest && *seen <= h->newest, "a value is read that was not written");
    uint64_t older = h->newest - at;
    /* Mostly the newest value: otherwise a spin would never end. */
    uint32_t back = older && schedule_choose(m, 4) == 1 ? schedule_choose(m, (uint32_t)older + 1) : 0;
    at = h->newest - back;
    if (at > *seen) *seen = at;
    memcpy(v, &h->value[at % PAST].value, a->bytes);
    return true;
}

/* clang-format off */
const simt_observer simt_weak = {
    .kinds = SIMT_AT_ALL, .state_bytes = sizeof(weak), .wanted = weak_wanted, .on_run = weak_begin,
    .on_access = weak_access, .on_load = weak_load, .on_store = weak_store,
    .on_done = weak_done, .on_release = weak_release, .on_ticket = weak_ticket, .close = weak_close
};
/* clang-format on */
