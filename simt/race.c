/* SPDX-License-Identifier: Apache-2.0
 *
 * race.c - data races by happens-before, with vector clocks (Lamport 1978; Djit+ and FastTrack are the method's names
 * in the literature). Two accesses race when they meet in a byte, one writes, not both are atomic, and neither happens
 * before the other. What orders lanes: an acquire that reads what a release wrote, fences around relaxed accesses,
 * sync_tile, sync_block, and one kernel after another in a stream. Ballots and shuffles order nothing, as on the
 * device.
 *
 * Eight bytes of memory have one shadow: the last few accesses to them. Four are kept; a fifth replaces one at random,
 * so that a race between accesses that are far apart may be missed in one schedule and found in another.
 */
#include <string.h>

#include "simt/state.h"

enum { KEPT = 4 };

typedef struct access {
    uint32_t time, clock; /* time 0: free */
    uint8_t bytes;        /* of the eight, as bits */
    bool write, atomic;
    uint32_t block, thread;
    const char *site;
} access;

typedef struct shadow {
    slot_head head;
    access kept[KEPT];
} shadow;

typedef struct sync_variable {
    slot_head head;
    size_t vector; /* 1 + place in sync_clocks of what its last release knew; 0: none yet */
} sync_variable;

/* ---- Clocks ---------------------------------------------------------------------------------- */

/* Three vectors a lane, two a launch, and one for every variable that orders something. */
bool race_begin(simt_machine *m, uint64_t lanes)
{
    m->shadow.size = sizeof(shadow);
    m->syncs.size = sizeof(sync_variable);
    m->width = (uint32_t)(lanes <= CLOCKS_FRESH ? lanes : m->lanes_n);
    m->clocks = 0;
    vec_of(m, &m->sync_clocks, m->width * sizeof(uint32_t));
    size_t n = (size_t)m->width * (3 * (size_t)m->lanes_n + 2 * m->launches.n);
    if (n > m->clock_memory_n) {
        void *p;
        hd_give(&m->seams, m->clock_memory, m->clock_memory_n, sizeof(uint32_t));
        m->clock_memory = NULL;
        m->clock_memory_n = 0;
        if (hd_take(&m->seams, "simt: clocks", n, sizeof(uint32_t), &p)) {
            found(m, SIMT_RESOURCE, "no memory for the clocks of %u lanes", m->width);
            return false;
        }
        m->clock_memory = (uint32_t *)p;
        m->clock_memory_n = n;
    }
    memset(m->clock_memory, 0, n * sizeof(uint32_t));
    uint32_t *at = m->clock_memory;
    for (uint32_t i = 0; i < m->lanes_n; i++, at += 3 * m->width) {
        m->lanes[i].known = at;
        m->lanes[i].acquired = at + m->width;
        m->lanes[i].fenced = at + 2 * m->width;
    }
    launch *all = (launch *)m->launches.p;
    for (size_t i = 0; i < m->launches.n; i++, at += 2 * m->width) {
        all[i].begun = at;
        all[i].known = at + m->width;
    }
    return true;
}

static void join(const simt_machine *m, uint32_t *into, const uint32_t *from)
{
    for (uint32_t i = 0; i < m->width; i++)
        if (from[i] > into[i]) into[i] = from[i];
}

static void copy(const simt_machine *m, uint32_t *into, const uint32_t *from)
{
    memcpy(into, from, m->width * sizeof *into);
}

/* A lane of a new block has a component of its own while there are fresh ones; else it takes over that of its room, as
 * if it went on where the lane before it ended. */
void race_lane_begins(simt_machine *m, lane *l, const launch *of)
{
    bool fresh = m->clocks < m->width;
    uint32_t before = fresh ? 0 : l->known[l->number];
    l->clock = fresh ? m->clocks++ : l->number;
    copy(m, l->known, of->begun);
    memset(l->acquired, 0, m->width * sizeof(uint32_t));
    memset(l->fenced, 0, m->width * sizeof(uint32_t));
    if (before > l->known[l->clock]) l->known[l->clock] = before;
    l->known[l->clock]++;
}

void race_lane_ends(simt_machine *m, const lane *l, launch *of) { join(m, of->known, l->known); }

/* ---- Accesses -------------------------------------------------------------------------------- */

static bool ordered(const lane *l, const access *a) { return a->clock == l->clock || a->time <= l->known[a->clock]; }

static void race_found(simt_machine *m, const char *site, const void *p, bool write, bool atomic, const access *a)
{
    uint64_t offset;
    const char *name = simt_machine_name(m, p, &offset);
    const lane *l = m->now;
    found(m, SIMT_RACE, "a data race on %s, byte %llu: nothing orders these two", name, (unsigned long long)offset);
    found_more(m, "block %u, thread %u at %s: %s %s", l->ids.block, l->ids.thread, simt_site_name(site),
               atomic ? "atomic" : "plain", write ? "write" : "read");
    found_more(m, "block %u, thread %u at %s: %s %s, before", a->block, a->thread, simt_site_name(a->site),
               a->atomic ? "atomic" : "plain", a->write ? "write" : "read");
}

/* One granule: is there a race, and where to keep the access. */
static void access_granule(simt_machine *m, shadow *s, const void *p, access now)
{
    const lane *l = m->now;
    access *keep = NULL;
    for (int i = 0; i < KEPT; i++) {
        access *a = &s->kept[i];
        if (a->time == 0) {
            keep = keep ? keep : a;
            continue;
        }
        bool before = ordered(l, a);
        if (!before && (a->bytes & now.bytes) && (a->write || now.write) && !(a->atomic && now.atomic)) {
            race_found(m, now.site, p, now.write, now.atomic, a);
            return;
        }
        /* What the new access stands for from now on: the lane's own like it, or what it overwrote in order. An atomic
         * access must not take the place of a plain one, whose races it would not have. */
        bool like = a->clock == l->clock && a->bytes == now.bytes && now.write >= a->write && now.atomic <= a->atomic;
        bool over = before && now.write && a->bytes == now.bytes && now.atomic <= a->atomic;
        if (like || over) keep = a;
    }
    *(keep ? keep : &s->kept[machine_random(&m->shadow_random) >> 62]) = now;
}

void race_access(simt_machine *m, const char *site, const void *address, uint32_t bytes, bool write, bool atomic)
{
    const lane *l = m->now;
    access now = { l->known[l->clock], l->clock, 0, write, atomic, l->ids.block, l->ids.thread, site };
    uintptr_t p = (uintptr_t)address, end = p + bytes;
    while (p < end && !m->finding.fault) {
        unsigned first = p & 7, n = (unsigned)(end - p < 8 - first ? end - p : 8 - first);
        shadow *s = (shadow *)table_at(m, &m->shadow, p >> 3, true);
        if (!s) return;
        now.bytes = (uint8_t)(((1u << n) - 1) << first);
        access_granule(m, s, (const void *)p, now);
        p += n;
    }
}

void race_forget(simt_machine *m, const uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4) {
        shadow *s = i % 8 ? NULL : (shadow *)table_at(m, &m->shadow, (uintptr_t)(p + i) >> 3, false);
        if (s) memset(s->kept, 0, sizeof s->kept);
        sync_variable *v = (sync_variable *)table_at(m, &m->syncs, (uintptr_t)(p + i), false);
        if (v) v->vector = 0;
        if (m->config.weak) weak_forget(m, p + i);
    }
}

/* ---- What orders lanes ----------------------------------------------------------------------- */

static uint32_t *vector_of(const simt_machine *m, const sync_variable *s)
{
    return (uint32_t *)m->sync_clocks.p + (s->vector - 1) * m->width;
}

void race_read(simt_machine *m, const void *p, bool acquire)
{
    lane *l = m->now;
    const sync_variable *s = (const sync_variable *)table_at(m, &m->syncs, (uintptr_t)p, false);
    if (s && s->vector) join(m, acquire ? l->known : l->acquired, vector_of(m, s));
}

void race_write(simt_machine *m, const void *p, bool release, bool rmw)
{
    lane *l = m->now;
    sync_variable *s = (sync_variable *)table_at(m, &m->syncs, (uintptr_t)p, true);
    if (!s) return;
    const uint32_t *knows = release ? l->known : l->fenced;
    if (!s->vector) {
        if (!vec_push(m, &m->sync_clocks, knows)) return;
        s->vector = m->sync_clocks.n;
    } else if (rmw) {
        join(m, vector_of(m, s), knows); /* a read-modify-write carries the release sequence on ... */
    } else {
        copy(m, vector_of(m, s), knows); /* ... a store ends it */
    }
    if (release) l->known[l->clock]++;
}

void race_fence(simt_machine *m)
{
    lane *l = m->now;
    join(m, l->known, l->acquired);
    copy(m, l->fenced, l->known);
    l->known[l->clock]++;
}

void race_join(simt_machine *m, lane *const *lanes, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) join(m, lanes[0]->known, lanes[i]->known);
    for (uint32_t i = 1; i < n; i++) copy(m, lanes[i]->known, lanes[0]->known);
    for (uint32_t i = 0; i < n; i++) lanes[i]->known[lanes[i]->clock]++;
}
