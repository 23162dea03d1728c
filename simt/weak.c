/* SPDX-License-Identifier: Apache-2.0
 *
 * weak.c - memory that is weaker than an interleaving. Two things that a GPU does, and that no schedule of atomic steps
 * shows:
 *
 *   Plain and relaxed stores wait in a buffer of their lane, 16 deep, and become visible later, in any order but that
 *   of one address. A release, a fence and a barrier empty the buffer first. A lane sees its own.
 *
 *   A relaxed load may return a value that has been overwritten, as long as the lane cannot know of the newer one by
 *   happens-before and has not read a newer one itself. (The modification order of relacy's model, kept four deep.)
 *
 * This is not all of PTX: loads do not speculate, and every lane sees stores become visible at once (doc/testing.md).
 */
#include <string.h>

#include "simt/state.h"

enum { PAST = 4 };

typedef struct value_then {
    uint64_t value;
    uint32_t time, clock; /* who wrote it, and when; time 0: it was there before the run, and everybody knows it */
} value_then;

/* The last values of one address. */
typedef struct past {
    slot_head head;
    uint32_t bytes, n;
    uint64_t newest;        /* number of the newest value */
    value_then value[PAST]; /* number i is at i % PAST    */
    /* newest number that lanes have read, by lane number modulo 32: coarser than per lane, never older */
    uint64_t seen[WARP_LANES];
} past;

/* ---- Store buffers --------------------------------------------------------------------------- */

static bool overlap(const uint8_t *a, uint32_t a_bytes, const uint8_t *b, uint32_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static void make_visible(simt_machine *m, lane *l, uint32_t i)
{
    pending_store s = l->stores[i];
    uint64_t before = 0, after = 0;
    memcpy(&before, s.p, s.bytes < 8 ? s.bytes : 8);
    memcpy(&after, s.value, s.bytes < 8 ? s.bytes : 8);
    memcpy(s.p, s.value, s.bytes);
    if (s.ticketed) vec_push(m, &m->tickets, &s.ticket);
    memmove(&l->stores[i], &l->stores[i + 1], (l->stores_n - i - 1) * sizeof s);
    l->stores_n--;
    m->buffered--;
    weak_wrote(m, l, s.p, s.bytes, before, after);
}

void weak_drain(simt_machine *m, lane *l)
{
    while (l->stores_n) make_visible(m, l, 0);
}

/* One store of one lane, any that no older store to the same bytes waits before. */
void weak_drain_some(simt_machine *m)
{
    uint32_t waiting = 0, k;
    for (uint32_t i = 0; i < m->lanes_n; i++) waiting += m->lanes[i].stores_n != 0;
    k = schedule_choose(m, waiting);
    lane *l = m->lanes;
    for (;; l++)
        if (l->stores_n && k-- == 0) break;
    uint32_t i = schedule_choose(m, l->stores_n);
    for (uint32_t older = 0; older < i; older++)
        if (overlap(l->stores[older].p, l->stores[older].bytes, l->stores[i].p, l->stores[i].bytes)) i = older;
    make_visible(m, l, i);
}

void weak_store(simt_machine *m, const char *site, void *p, uint32_t bytes, uint32_t kind, const void *v)
{
    lane *l = m->now;
    if (l->stores_n == STORE_BUFFER) make_visible(m, l, 0);
    pending_store *s = &l->stores[l->stores_n++];
    memset(s, 0, sizeof *s);
    memcpy(s->value, v, bytes);
    s->p = (uint8_t *)p;
    s->bytes = bytes;
    s->kind = kind;
    s->site = site;
    m->buffered++;
}

/* Before what goes to memory by itself, a read-modify-write or an async copy: it sees the lane's own stores. */
void weak_before(simt_machine *m, const void *p, uint32_t bytes, bool release)
{
    lane *l = m->now;
    bool own = release;
    for (uint32_t i = 0; i < l->stores_n && !own; i++)
        own = overlap(l->stores[i].p, l->stores[i].bytes, (const uint8_t *)p, bytes);
    if (own) weak_drain(m, l);
}

/* ---- Older values ---------------------------------------------------------------------------- */

/* What is written in pieces, or over pieces, is in memory alone: other pasts of these bytes have no newest value any
 * more. */
static void forget_others(simt_machine *m, uintptr_t p, uint32_t bytes)
{
    for (uintptr_t q = p & ~(uintptr_t)7; q < p + bytes; q += 4) {
        past *h = (past *)table_at(m, &m->pasts, q, false);
        if (h && q + h->bytes > p && (q != p || h->bytes != bytes)) h->n = 0;
    }
}

void weak_wrote(simt_machine *m, lane *l, const void *p, uint32_t bytes, uint64_t before, uint64_t after)
{
    m->pasts.size = sizeof(past);
    forget_others(m, (uintptr_t)p, bytes);
    if (bytes != 4 && bytes != 8) return;
    past *h = (past *)table_at(m, &m->pasts, (uintptr_t)p, true);
    if (!h) return;
    if (h->n == 0) {
        h->bytes = bytes;
        h->n = 1;
        h->newest++;
        h->value[h->newest % PAST].value = before;
        h->value[h->newest % PAST].time = 0;
    }
    h->newest++;
    if (h->n < PAST) h->n++;
    value_then now = { after, l->known[l->clock], l->clock };
    h->value[h->newest % PAST] = now;
    h->seen[l->number % WARP_LANES] = h->newest;
}

void weak_forget(simt_machine *m, const void *p)
{
    past *h = (past *)table_at(m, &m->pasts, (uintptr_t)p, false);
    if (h) h->n = 0;
}

static bool knows(const lane *l, const value_then *v) { return v->time <= l->known[v->clock]; }

/* True when v was taken from the lane's own buffer or from the past; false: read memory. */
bool weak_load(simt_machine *m, const void *p, uint32_t bytes, uint32_t kind, void *v)
{
    lane *l = m->now;
    for (uint32_t i = l->stores_n; i; i--) {
        const pending_store *s = &l->stores[i - 1];
        if (!overlap(s->p, s->bytes, (const uint8_t *)p, bytes)) continue;
        if (s->p == p && s->bytes == bytes) {
            memcpy(v, s->value, bytes);
            return true;
        }
        weak_drain(m, l); /* part of it: let memory put it together */
        return false;
    }
    past *h = kind == SIMT_LDRLX ? (past *)table_at(m, &m->pasts, (uintptr_t)p, false) : NULL;
    if (!h || h->n == 0 || h->bytes != bytes) return false;
    uint64_t oldest = h->newest - (h->n - 1), *seen = &h->seen[l->number % WARP_LANES], at = h->newest;
    while (at > oldest && at > *seen && !knows(l, &h->value[at % PAST])) at--;
    uint64_t older = h->newest - at;
    /* Mostly the newest: a load that is always late ends no spin. */
    uint32_t back = older && schedule_choose(m, 4) == 1 ? schedule_choose(m, (uint32_t)older + 1) : 0;
    at = h->newest - back;
    if (at > *seen) *seen = at;
    memcpy(v, &h->value[at % PAST].value, bytes);
    return true;
}
