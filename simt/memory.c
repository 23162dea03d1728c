/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - loads, stores, read-modify-writes and async copies. Each goes through these steps:
 *
 *   stop, if it may be preempted here; observers (on_access); the access itself, by memory or by an observer that
 *   models it (on_load, on_store); observers (on_done)
 *
 * so that the checks see all that other lanes did while this one was stopped.
 */
#include <string.h>

#include "simt/finding.h"
#include "simt/float.h"
#include "simt/list.h"
#include "simt/observer.h"
#include "simt/schedule.h"
#include "simt/space.h"

/* ---- Before an access ------------------------------------------------------------------------ */

static void arrive(simt_machine *m, const char *site, uint32_t kind)
{
    lane *l = m->now;
    HD_ASSERT(l->warp->alive >> l->ids.lane & 1, "a lane runs that has left");
    l->site = site;
    if (++m->totals.steps > m->config.step_limit) {
        found(m, SIMT_ENDLESS, "%llu steps and no end: lanes spin, or the limit is too low",
              (unsigned long long)m->config.step_limit);
        found_more(m, "block %u, thread %u at %s", l->ids.block, l->ids.thread, simt_site_name(site));
        lane_hang(l);
    }
    if (m->config.preempt & kind) {
        lane_stop(l, site, kind);
    } else if (!(kind & (SIMT_LD | SIMT_ST)) && ++l->spins > SPINS_FAIR) {
        schedule_backoff(m, l); /* a spin without a backoff must not hold the machine */
        lane_stop(l, site, kind);
    }
}

static void observe(simt_machine *m, const memory_access *a)
{
    for (const watcher *o = m->on_access; o->observer; o++) {
        o->observer->on_access(o->self, m, a);
        if (m->finding.fault) lane_hang(m->now);
    }
}

static void observe_done(simt_machine *m, const memory_access *a)
{
    for (const watcher *o = m->on_done; o->observer; o++) {
        o->observer->on_done(o->self, m, a);
        if (m->finding.fault) lane_hang(m->now);
    }
}

static bool loaded_by_observer(simt_machine *m, const memory_access *a, void *v)
{
    for (const watcher *o = m->on_load; o->observer; o++)
        if (o->observer->on_load(o->self, m, a, v)) return true;
    return false;
}

static bool held_by_observer(simt_machine *m, const memory_access *a)
{
    for (const watcher *o = m->on_store; o->observer; o++)
        if (o->observer->on_store(o->self, m, a)) return true;
    return false;
}

/* Constant lengths: a call of memcpy for each access would cost more than the rest. */
static void copy(void *to, const void *from, uint32_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 16)
        memcpy(to, from, 16);
    else
        memcpy(to, from, 1);
}

/* ---- Loads and stores ------------------------------------------------------------------------ */

void simt_host_load(const char *site, uint32_t kind, const void *p, uint32_t bytes, void *v)
{
    simt_machine *m = simt_current;
    memory_access a = { .way = ACCESS_LOAD, .kind = kind, .bytes = bytes, .site = site, .p = (void *)(uintptr_t)p };
    a.space = kind == SIMT_LD ? SIMT_GENERIC : SIMT_IN_DEVICE;
    arrive(m, site, kind);
    observe(m, &a);
    if (!loaded_by_observer(m, &a, v)) copy(v, p, bytes);
    a.before = memory_word(v, bytes);
    observe_done(m, &a);
}

void simt_host_store(const char *site, uint32_t kind, void *p, uint32_t bytes, const void *v)
{
    simt_machine *m = simt_current;
    memory_access a = { .way = ACCESS_STORE, .kind = kind, .bytes = bytes, .site = site, .p = p, .value = v };
    a.space = kind == SIMT_ST ? SIMT_GENERIC : SIMT_IN_DEVICE;
    arrive(m, site, kind);
    observe(m, &a);
    if (held_by_observer(m, &a)) return;
    a.before = memory_word(p, bytes);
    a.after = memory_word(v, bytes);
    a.wrote = true;
    observe_done(m, &a);
    copy(p, v, bytes);
    m->wrote = true;
}

/* ---- Read-modify-writes ---------------------------------------------------------------------- */

static uint64_t applied(simt_rmw_op op, uint64_t old, uint64_t expected, uint64_t a, uint32_t bytes)
{
    uint64_t mask = bytes == 8 ? UINT64_MAX : UINT32_MAX;
    switch (op) {
    case SIMT_CAS: return old == (expected & mask) ? a & mask : old;
    case SIMT_EXCH: return a & mask;
    case SIMT_ADD: return (old + a) & mask;
    case SIMT_MAX: return a > old ? a : old;
    case SIMT_AND: return old & a;
    case SIMT_OR: return old | (a & mask);
    case SIMT_ADD_F32: return simt_sum_f32((uint32_t)old, (uint32_t)a);
    case SIMT_ADD_F64: return simt_sum_f64(old, a);
    case SIMT_ADD_F16: return simt_sum_f16((uint32_t)old, (uint32_t)a);
    case SIMT_ADD_BF16: return simt_sum_bf16((uint32_t)old, (uint32_t)a);
    default: return (a & mask) < old ? a & mask : old;
    }
}

uint64_t simt_host_rmw(const char *site, simt_space space, simt_rmw_op op, void *p, uint32_t bytes, uint64_t expected,
                       uint64_t v, int order)
{
    simt_machine *m = simt_current;
    memory_access a = { .way = ACCESS_RMW, .kind = SIMT_RMW, .bytes = bytes, .site = site, .p = p };
    a.space = space;
    a.op = op;
    a.order = order;
    arrive(m, site, SIMT_RMW);
    m->totals.atomics++;
    observe(m, &a);
    a.before = memory_word(p, bytes);
    a.after = applied(op, a.before, expected, v, bytes);
    a.wrote = op != SIMT_CAS || a.before == (bytes == 8 ? expected : (expected & UINT32_MAX));
    observe_done(m, &a);
    if (bytes == 8)
        memcpy(p, &a.after, 8);
    else
        memcpy(p, &a.after, bytes == 2 ? 2 : 4);
    m->wrote = m->wrote || a.wrote;
    return a.before;
}

void simt_host_fence(const char *site)
{
    simt_machine *m = simt_current;
    if (m->now->held) OBSERVERS_CALL(m, on_release, m->now);
    OBSERVERS_CALL(m, on_fence, site, false);
}

/* A step, unlike a fence of the device: others may store before it, and a crash may come. */
void simt_host_fence_system(const char *site)
{
    simt_machine *m = simt_current;
    arrive(m, site, SIMT_STREL);
    if (m->now->held) OBSERVERS_CALL(m, on_release, m->now);
    OBSERVERS_CALL(m, on_fence, site, true);
    if (m->finding.fault) lane_hang(m->now);
}

/* ---- Async copies: they may happen at once or at the wait, and must not be read before ---- */

static void set_written(const block *b, const uint8_t *shared, uint8_t state)
{
    HD_ASSERT(shared >= b->shared && shared + 16 <= b->written, "a copy goes beyond its block's shared memory");
    memset(b->written + (shared - b->shared), state, 16);
}

static void check_copy(simt_machine *m, const char *site, const void *shared)
{
    const lane *l = m->now;
    if (block_of_shared(m, shared) != l->warp->block) {
        found(m, SIMT_BOUNDS, "an async copy goes elsewhere than to its block's shared memory");
        found_more(m, "block %u, thread %u at %s", l->ids.block, l->ids.thread, simt_site_name(site));
    }
    if (l->copies_n == COPIES)
        found(m, SIMT_RESOURCE, "more than %d async copies of one lane are in flight, at %s", COPIES,
              simt_site_name(site));
    if (m->finding.fault) lane_hang(m->now);
}

void simt_host_copy16(const char *site, uint32_t kind, void *shared, const void *global)
{
    simt_machine *m = simt_current;
    lane *l = m->now;
    memory_access from = {
        .way = ACCESS_COPY_FROM, .kind = kind, .bytes = 16, .site = site, .p = (void *)(uintptr_t)global
    };
    memory_access to = { .way = ACCESS_COPY_TO, .kind = SIMT_ST, .bytes = 16, .site = site, .p = shared };
    from.space = SIMT_IN_DEVICE;
    arrive(m, site, kind);
    observe(m, &from);
    observe(m, &to);
    check_copy(m, site, shared);
    pending_copy c = { (uint8_t *)shared, (const uint8_t *)global, l->copy_group, schedule_choose(m, 2) == 0 };
    if (c.done) memcpy(shared, global, 16);
    from.before = memory_word(global, 8);
    observe_done(m, &from);
    set_written(l->warp->block, c.shared, BYTE_IN_FLIGHT);
    HD_ASSERT(l->copies_n < COPIES && c.group == l->copy_group, "a copy is of a group that is complete");
    l->copies[l->copies_n++] = c;
}

void simt_host_copy_commit(const char *site)
{
    (void)site;
    simt_current->now->copy_group++;
}

void simt_host_copy_wait(const char *site, uint32_t groups)
{
    simt_machine *m = simt_current;
    lane *l = m->now;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->copies_n; i++) {
        const pending_copy c = l->copies[i];
        if (c.group + groups >= l->copy_group) {
            l->copies[kept++] = c;
            continue;
        }
        if (!c.done) memcpy(c.shared, c.global, 16);
        set_written(l->warp->block, c.shared, BYTE_WRITTEN);
        memory_access to = { .way = ACCESS_COPY_DONE, .kind = SIMT_ST, .bytes = 16, .site = site, .p = c.shared };
        observe(m, &to);
    }
    l->copies_n = kept;
}

/* ---- Tickets --------------------------------------------------------------------------------- */

/* Lanes of a tile may start its item long after the first one did. That one has started no other item yet. */
void simt_host_started(uint64_t item)
{
    simt_machine *m = simt_current;
    if (m->config.quiet) return;
    warp *w = m->now->warp;
    uint32_t self = m->now->number % WARP_LANES;
    bool first = true;
    for (uint32_t k = 0; k < WARP_LANES; k++)
        if (k != self && w->has_begun >> k & 1 && w->begun[k] == item) first = false;
    w->begun[self] = item;
    w->has_begun |= 1u << self;
    uint64_t start[2] = { item, m->tickets.n };
    if (first) vec_push(m, &m->starts, start);
}

static uint64_t start_of(const simt_machine *m, uint64_t item)
{
    const uint64_t(*starts)[2] = (const uint64_t(*)[2])m->starts.p;
    for (size_t i = m->starts.n; i; i--)
        if (starts[i - 1][0] == item) return starts[i - 1][1];
    return 0;
}

static simt_ticket_record ticket_of(const simt_machine *m, uint64_t item, uint32_t what, uint64_t a, uint64_t b)
{
    simt_ticket_record t = { item, a, b, what, m->now->warp->block->of->stream, start_of(m, item), 0, 0 };
    return t;
}

/* Whether an observer will draw the ticket later. */
static bool observe_ticket(simt_machine *m, const char *site, const simt_ticket_record *t, bool with_last_store)
{
    bool later = false;
    for (const watcher *o = m->watching; o < m->watching + m->watching_n; o++)
        if (o->observer->on_ticket) later = o->observer->on_ticket(o->self, m, site, t, with_last_store) || later;
    return later;
}

void simt_host_ticket(const char *site, uint64_t item, uint32_t what, uint64_t a, uint64_t b, bool with_last_store)
{
    simt_machine *m = simt_current;
    if (m->config.quiet) return;
    simt_ticket_record t = ticket_of(m, item, what, a, b);
    if (!observe_ticket(m, site, &t, with_last_store)) vec_push(m, &m->tickets, &t);
}

/* The last of the n tickets that item `other` of this stream has drawn; n: none. */
static size_t ticket_drawn_by(const simt_ticket_record *all, size_t n, uint64_t other, uint32_t stream)
{
    for (size_t at = n; at; at--)
        if (all[at - 1].item == other && all[at - 1].stream == stream) return at - 1;
    return n;
}

/* Adds a ticket at its place beside that of item `other` of a stream: 0 is just before it. Without such a ticket it is
 * the last: where the other's store is still in a buffer, it becomes visible later. */
static void put_ticket(simt_machine *m, const char *site, simt_ticket_record t, uint64_t other, uint32_t stream)
{
    observe_ticket(m, site, &t, false);
    if (!vec_push(m, &m->tickets, &t)) return;
    simt_ticket_record *all = (simt_ticket_record *)m->tickets.p;
    size_t last = m->tickets.n - 1, at = ticket_drawn_by(all, last, other, stream);
    if (at == last) return;
    if (t.place > 0)
        for (at++; at < last && all[at].place > 0 && all[at].beside == other && all[at].place <= t.place;) at++;
    else if (t.place < 0)
        while (at && all[at - 1].place < 0 && all[at - 1].beside == other && all[at - 1].place > t.place) at--;
    memmove(all + at + 1, all + at, (last - at) * sizeof *all);
    all[at] = t;
}

void simt_host_ticket_before(const char *site, uint64_t item, uint32_t what, uint64_t a, uint64_t b, uint64_t other)
{
    simt_machine *m = simt_current;
    if (m->config.quiet) return;
    simt_ticket_record t = ticket_of(m, item, what, a, b);
    put_ticket(m, site, t, other, t.stream);
}

void simt_host_owns(uint64_t item, uint64_t b)
{
    simt_machine *m = simt_current;
    place_owner owner = { b, item, m->now->warp->block->of->stream };
    if (!m->config.quiet) vec_push(m, &m->owners, &owner);
}

void simt_host_ticket_before_owner(const char *site, uint64_t item, uint32_t what, uint64_t a, uint64_t b)
{
    simt_machine *m = simt_current;
    if (m->config.quiet) return;
    const place_owner *all = (const place_owner *)m->owners.p;
    size_t n = m->owners.n;
    while (n && all[n - 1].b != b) n--;
    simt_ticket_record t = ticket_of(m, item, what, a, b);
    put_ticket(m, site, t, n ? all[n - 1].item : item, n ? all[n - 1].stream : t.stream);
}

void simt_host_ticket_beside(const char *site, uint64_t item, uint32_t what, uint64_t a, uint64_t b, uint64_t other,
                             int64_t place)
{
    simt_machine *m = simt_current;
    if (m->config.quiet) return;
    simt_ticket_record t = ticket_of(m, item, what, a, b);
    t.beside = other;
    t.place = place;
    put_ticket(m, site, t, other, t.stream);
}

const simt_ticket_record *simt_machine_tickets(const simt_machine *m, size_t *n)
{
    *n = m->tickets.n;
    return (const simt_ticket_record *)m->tickets.p;
}
