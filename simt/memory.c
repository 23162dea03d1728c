/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - loads, stores, read-modify-writes and async copies, and the order of what happens at each:
 *
 *   stop, if it may be preempted here · count · bounds · races · store buffers · the access itself
 *
 * so that whatever another lane did while this one had stopped is seen by the checks.
 */
#include <string.h>

#include "simt/state.h"

/* ---- Before an access ------------------------------------------------------------------------ */

static void arrive(simt_machine *m, const char *site, uint32_t kind, const void *p, uint32_t bytes)
{
    lane *l = m->now;
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
    if (m->config.meter) meter_access(m, site, kind, p, bytes);
    bounds_check(m, site, p, bytes, (kind & SIMT_WRITES) != 0);
    if (m->finding.fault) lane_hang(l);
}

/* Lengths that the compiler knows: a call for each would cost more than the rest of an access. */
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

/* The first eight bytes at most. */
static uint64_t word_at(const void *p, uint32_t bytes)
{
    uint64_t v = 0;
    if (bytes >= 8)
        memcpy(&v, p, 8);
    else if (bytes == 4)
        memcpy(&v, p, 4);
    else
        memcpy(&v, p, 1);
    return v;
}

/* ---- Loads and stores ------------------------------------------------------------------------ */

void simt_host_load(const char *site, uint32_t kind, const void *p, uint32_t bytes, void *v)
{
    simt_machine *m = simt_current;
    arrive(m, site, kind, p, bytes);
    if (m->config.race) race_access(m, site, p, bytes, false, kind != SIMT_LD);
    if (m->finding.fault) lane_hang(m->now);
    if (!m->config.weak || !weak_load(m, p, bytes, kind, v)) copy(v, p, bytes);
    if (m->config.race && kind != SIMT_LD) /* each element's release */
        for (uint32_t i = 0; i < bytes; i += bytes == 16 ? 4 : bytes)
            race_read(m, (const uint8_t *)p + i, kind == SIMT_LDACQ);
    if (m->config.trace) event_note(m, site, kind_name(kind), p, bytes, word_at(v, bytes), 0);
}

void simt_host_store(const char *site, uint32_t kind, void *p, uint32_t bytes, const void *v)
{
    simt_machine *m = simt_current;
    arrive(m, site, kind, p, bytes);
    if (m->config.race) race_access(m, site, p, bytes, true, kind != SIMT_ST);
    if (m->finding.fault) lane_hang(m->now);
    if (m->config.trace) event_note(m, site, kind_name(kind), p, bytes, word_at(p, bytes), word_at(v, bytes));
    if (m->config.weak && kind == SIMT_STREL) weak_drain(m, m->now);
    if (m->config.weak && kind == SIMT_STREL &&
        bytes == 16) /* what is released with the first word was there before it */
        weak_wrote(m, m->now, (const uint8_t *)p + 8, 8, word_at((const uint8_t *)p + 8, 8),
                   word_at((const uint8_t *)v + 8, 8));
    if (m->config.race && kind != SIMT_ST) race_write(m, p, kind == SIMT_STREL, false);
    if (m->config.weak && kind != SIMT_STREL) {
        weak_store(m, site, p, bytes, kind, v);
        return;
    }
    uint64_t before = m->config.weak ? word_at(p, bytes) : 0;
    copy(p, v, bytes);
    if (m->config.weak) weak_wrote(m, m->now, p, bytes > 8 ? 8 : bytes, before, word_at(v, bytes));
}

/* ---- Read-modify-writes ---------------------------------------------------------------------- */

static uint64_t applied(simt_rmw_op op, uint64_t old, uint64_t expected, uint64_t a, uint32_t bytes)
{
    uint64_t mask = bytes == 8 ? UINT64_MAX : UINT32_MAX;
    switch (op) {
    case SIMT_CAS: return old == (expected & mask) ? a & mask : old;
    case SIMT_EXCH: return a & mask;
    case SIMT_ADD: return (old + a) & mask;
    case SIMT_AND: return old & a;
    case SIMT_OR: return old | (a & mask);
    default: return (a & mask) < old ? a & mask : old;
    }
}

static const char *rmw_name(simt_rmw_op op)
{
    static const char *const name[] = { "cas", "exch", "add", "min", "and", "or" };
    return name[op];
}

uint64_t simt_host_rmw(const char *site, simt_rmw_op op, void *p, uint32_t bytes, uint64_t expected, uint64_t a,
                       int order)
{
    simt_machine *m = simt_current;
    arrive(m, site, SIMT_RMW, p, bytes);
    m->totals.atomics++;
    if (m->config.weak) weak_before(m, p, bytes, order & SIMT_RELEASE);
    uint64_t old = word_at(p, bytes), now = applied(op, old, expected, a, bytes);
    bool wrote = op != SIMT_CAS || old == (bytes == 8 ? expected : (expected & UINT32_MAX));
    if (m->config.race) {
        race_access(m, site, p, bytes, wrote, true);
        if (m->finding.fault) lane_hang(m->now);
        race_read(m, p, order & SIMT_ACQUIRE);
        if (wrote) race_write(m, p, order & SIMT_RELEASE, true);
    }
    if (m->config.trace) event_note(m, site, rmw_name(op), p, bytes, old, now);
    if (bytes == 8)
        memcpy(p, &now, 8);
    else
        memcpy(p, &now, 4);
    if (m->config.weak && wrote) weak_wrote(m, m->now, p, bytes, old, now);
    return old;
}

void simt_host_fence(const char *site)
{
    simt_machine *m = simt_current;
    if (m->config.weak) weak_drain(m, m->now);
    if (m->config.race) race_fence(m);
    if (m->config.trace) event_note(m, site, "fence", NULL, 0, 0, 0);
}

/* ---- Async copies: they may happen at once or at the wait, and until the wait nobody may look ---- */

static void mark(const block *b, const uint8_t *shared, uint8_t state)
{
    memset(b->written + (shared - b->shared), state, 16);
}

void simt_host_copy16(const char *site, uint32_t kind, void *shared, const void *global)
{
    simt_machine *m = simt_current;
    lane *l = m->now;
    block *b = l->warp->block;
    arrive(m, site, kind, global, 16);
    bounds_check(m, site, shared, 16, true);
    if (!m->finding.fault && block_of_shared(m, shared) != b) {
        found(m, SIMT_BOUNDS, "an async copy goes elsewhere than to its block's shared memory");
        found_more(m, "block %u, thread %u at %s", l->ids.block, l->ids.thread, simt_site_name(site));
    }
    if (l->copies_n == COPIES)
        found(m, SIMT_RESOURCE, "more than %d async copies of one lane are in flight, at %s", COPIES,
              simt_site_name(site));
    if (m->config.race && !m->finding.fault) {
        race_access(m, site, global, 16, false, kind != SIMT_LD);
        if (kind != SIMT_LD) race_read(m, global, false);
        race_access(m, site, shared, 16, true, false);
    }
    if (m->finding.fault) lane_hang(l);
    pending_copy c = { (uint8_t *)shared, (const uint8_t *)global, l->copy_group, schedule_choose(m, 2) == 0 };
    if (m->config.weak) weak_before(m, global, 16, false);
    if (c.done) memcpy(shared, global, 16);
    if (m->config.trace) event_note(m, site, kind_name(kind), global, 16, word_at(global, 8), 0);
    mark(b, c.shared, BYTE_IN_FLIGHT);
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
        mark(l->warp->block, c.shared, BYTE_WRITTEN);
        if (m->config.race) race_access(m, site, c.shared, 16, true, false);
    }
    l->copies_n = kept;
    if (m->finding.fault) lane_hang(l);
}

/* ---- Tickets --------------------------------------------------------------------------------- */

void simt_host_started(uint64_t item)
{
    simt_machine *m = simt_current;
    if (m->config.quiet) return;
    const uint64_t(*starts)[2] = (const uint64_t(*)[2])m->starts.p;
    uint64_t start[2] = { item, m->tickets.n };
    for (size_t i = m->starts.n; i && i + 64 > m->starts.n; i--)
        if (starts[i - 1][0] == item) return; /* another lane of the item was first */
    vec_push(m, &m->starts, start);
}

static uint64_t start_of(const simt_machine *m, uint64_t item)
{
    const uint64_t(*starts)[2] = (const uint64_t(*)[2])m->starts.p;
    for (size_t i = m->starts.n; i; i--)
        if (starts[i - 1][0] == item) return starts[i - 1][1];
    return 0;
}

static simt_ticket_record ticket_of(simt_machine *m, const char *site, uint64_t item, uint32_t what, uint64_t a,
                                    uint64_t b)
{
    simt_ticket_record t = { item, a, b, what, m->now->warp->block->of->stream, start_of(m, item) };
    if (m->config.trace) event_note(m, site, "takes effect", NULL, 0, item, what);
    return t;
}

void simt_host_ticket(const char *site, uint64_t item, uint32_t what, uint64_t a, uint64_t b, bool with_last_store)
{
    simt_machine *m = simt_current;
    lane *l = m->now;
    if (m->config.quiet) return;
    simt_ticket_record t = ticket_of(m, site, item, what, a, b);
    if (with_last_store && l->stores_n) {
        l->stores[l->stores_n - 1].ticketed = true;
        l->stores[l->stores_n - 1].ticket = t;
    } else {
        vec_push(m, &m->tickets, &t);
    }
}

/* Where the other's is still in a store buffer, it comes later anyway. */
void simt_host_ticket_before(const char *site, uint64_t item, uint32_t what, uint64_t a, uint64_t b, uint64_t other)
{
    simt_machine *m = simt_current;
    if (m->config.quiet) return;
    simt_ticket_record t = ticket_of(m, site, item, what, a, b);
    if (!vec_push(m, &m->tickets, &t)) return;
    simt_ticket_record *all = (simt_ticket_record *)m->tickets.p;
    size_t last = m->tickets.n - 1, at = last;
    while (at && !(all[at - 1].item == other && all[at - 1].stream == t.stream)) at--;
    if (!at--) return;
    memmove(all + at + 1, all + at, (last - at) * sizeof *all);
    all[at] = t;
}
