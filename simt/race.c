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
#include "simt/race.h"

#include <string.h>

#include "base/error.h"
#include "simt/finding.h"
#include "simt/list.h"
#include "simt/observers.h"

enum {
    KEPT = 4,
    CLOCKS_FRESH = 1024 /* lanes in one run that still have a clock each; more share them, and races may be missed */
};

typedef struct past_access {
    uint32_t time, clock; /* time 0: free */
    uint8_t bytes;        /* of the eight, as bits */
    bool write, atomic;
    uint32_t block, thread;
    const char *site;
} past_access;

typedef struct shadow {
    slot_head head;
    past_access kept[KEPT];
} shadow;

typedef struct sync_variable {
    slot_head head;
    size_t vector; /* 1 + place in sync_clocks of what its last release knew; 0: none yet */
} sync_variable;

/* A lane's vector clocks, (width) each. */
typedef struct lane_clocks {
    uint32_t *known;    /* what happened before it                     */
    uint32_t *acquired; /* what relaxed loads saw, for a fence to come */
    uint32_t *fenced;   /* known at its last fence, for relaxed stores to come */
    uint32_t clock;     /* index of its own component */
} lane_clocks;

typedef struct launch_clocks {
    /* (width): what its lanes know when they begin, and what they knew at their end: the next of the stream begins with
     * it */
    uint32_t *begun, *known;
} launch_clocks;

typedef struct race {
    uint64_t random;        /* its own: a replay draws no other */
    uint32_t width, clocks; /* components of a vector clock; handed out */
    uint32_t *memory;       /* (memory_n) of all vector clocks but the variables' */
    size_t memory_n;
    vec lanes, launches; /* lane_clocks, launch_clocks */
    table shadow, syncs; /* shadow, sync_variable */
    vec sync_clocks;     /* (width) uint32_t */
} race;

/* ---- Clocks ---------------------------------------------------------------------------------- */

static bool race_wanted(const simt_config *c) { return c->race || c->weak || c->cumulative; }

static lane_clocks *clocks_of(const race *r, const lane *l) { return (lane_clocks *)r->lanes.p + l->number; }

static launch_clocks *launch_at(const race *r, const simt_machine *m, const launch *of)
{
    return (launch_clocks *)r->launches.p + (of - (const launch *)m->launches.p);
}

static bool clocks_room(race *r, simt_machine *m, size_t n)
{
    if (n <= r->memory_n) return true;
    void *p;
    hd_give(&m->seams, r->memory, r->memory_n, sizeof(uint32_t));
    r->memory = NULL;
    r->memory_n = 0;
    if (hd_take(&m->seams, "simt: clocks", n, sizeof(uint32_t), &p)) {
        found(m, SIMT_RESOURCE, "no memory for the clocks of %u lanes", r->width);
        return false;
    }
    r->memory = (uint32_t *)p;
    r->memory_n = n;
    return true;
}

/* Three vectors a lane, two a launch, and one for every variable that orders something. */
static bool race_begin(void *self, simt_machine *m, uint64_t lanes)
{
    race *r = (race *)self;
    r->random = m->config.seed;
    r->shadow.n = r->syncs.n = 0;
    r->shadow.size = sizeof(shadow);
    r->syncs.size = sizeof(sync_variable);
    r->width = (uint32_t)(lanes <= CLOCKS_FRESH ? lanes : m->lanes_n);
    r->clocks = 0;
    vec_of(m, &r->sync_clocks, r->width * sizeof(uint32_t));
    vec_of(m, &r->lanes, sizeof(lane_clocks));
    vec_of(m, &r->launches, sizeof(launch_clocks));
    size_t n = (size_t)r->width * (3 * (size_t)m->lanes_n + 2 * m->launches.n);
    if (!clocks_room(r, m, n)) return false;
    uint32_t *at = r->memory;
    bool room = true;
    for (uint32_t i = 0; i < m->lanes_n && room; i++, at += 3 * r->width) {
        lane_clocks c = { at, at + r->width, at + 2 * r->width, 0 };
        room = vec_push(m, &r->lanes, &c);
    }
    for (size_t i = 0; i < m->launches.n && room; i++, at += 2 * r->width) {
        launch_clocks c = { at, at + r->width };
        memset(at, 0, 2 * r->width * sizeof *at); /* a lane's are set when it begins */
        room = vec_push(m, &r->launches, &c);
    }
    return room;
}

static void race_close(void *self, simt_machine *m)
{
    race *r = (race *)self;
    vec_free(m, &r->lanes);
    vec_free(m, &r->launches);
    vec_free(m, &r->sync_clocks);
    table_free(m, &r->shadow);
    table_free(m, &r->syncs);
    hd_give(&m->seams, r->memory, r->memory_n, sizeof(uint32_t));
}

/* A store in every turn, and a width that no store can change: so that the compiler takes several at a time. */
static void join(const race *r, uint32_t *into, const uint32_t *from)
{
    const uint32_t width = r->width;
    for (uint32_t i = 0; i < width; i++) into[i] = from[i] > into[i] ? from[i] : into[i];
}

static void copy(const race *r, uint32_t *into, const uint32_t *from) { memcpy(into, from, r->width * sizeof *into); }

/* A launch knows what earlier launches of its stream knew at their end. */
static void race_launch(void *self, simt_machine *m, const launch *of)
{
    const race *r = (const race *)self;
    for (const launch *k = (const launch *)m->launches.p; k < of; k++)
        if (k->stream == of->stream) join(r, launch_at(r, m, of)->begun, launch_at(r, m, k)->known);
}

/* A lane of a new block gets a component of its own while there are unused ones. After that it takes over the
 * component of its room, as if it continued the lane that ended there. */
static void race_lane_begin(void *self, simt_machine *m, const lane *l)
{
    race *r = (race *)self;
    lane_clocks *c = clocks_of(r, l);
    bool fresh = r->clocks < r->width;
    uint32_t before = fresh ? 0 : c->known[l->number];
    c->clock = fresh ? r->clocks++ : l->number;
    copy(r, c->known, launch_at(r, m, l->warp->block->of)->begun);
    memset(c->acquired, 0, r->width * sizeof(uint32_t));
    memset(c->fenced, 0, r->width * sizeof(uint32_t));
    HD_ASSERT(c->clock < r->width, "a lane has no component of its own");
    if (before > c->known[c->clock]) c->known[c->clock] = before;
    c->known[c->clock]++;
}

static void race_lane_end(void *self, simt_machine *m, const lane *l)
{
    const race *r = (const race *)self;
    join(r, launch_at(r, m, l->warp->block->of)->known, clocks_of(r, l)->known);
}

lane_time race_time(const void *self, const lane *l)
{
    const lane_clocks *c = clocks_of((const race *)self, l);
    lane_time now = { c->known[c->clock], c->clock };
    return now;
}

bool race_knows(const void *self, const lane *l, lane_time then)
{
    return then.time <= clocks_of((const race *)self, l)->known[then.clock];
}

/* ---- Accesses -------------------------------------------------------------------------------- */

static bool ordered(const lane_clocks *c, const past_access *a)
{
    return a->clock == c->clock || a->time <= c->known[a->clock];
}

static void race_found(simt_machine *m, const char *site, const void *p, bool write, bool atomic, const past_access *a)
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

static bool conflict(const past_access *a, const past_access *b)
{
    return (a->bytes & b->bytes) && (a->write || b->write) && !(a->atomic && b->atomic);
}

/* Whether `now` stands for `then` from now on: the lane's own access like it, or one that it overwrites in order. An
 * atomic access must not take the place of a plain one, whose races it would not have. */
static bool stands_for(const past_access *now, const past_access *then, bool before)
{
    if (then->bytes != now->bytes || now->atomic > then->atomic) return false;
    return (then->clock == now->clock && now->write >= then->write) || (before && now->write);
}

/* Checks one granule for a race, and records the access. */
static void access_granule(race *r, simt_machine *m, const lane_clocks *c, shadow *s, const void *p, past_access now)
{
    past_access *keep = NULL;
    for (int i = 0; i < KEPT; i++) {
        past_access *then = &s->kept[i];
        if (then->time == 0) {
            keep = keep ? keep : then;
            continue;
        }
        bool before = ordered(c, then);
        if (!before && conflict(then, &now)) {
            race_found(m, now.site, p, now.write, now.atomic, then);
            return;
        }
        if (stands_for(&now, then, before)) keep = then;
    }
    *(keep ? keep : &s->kept[machine_random(&r->random) >> 62]) = now;
}

static void check(race *r, simt_machine *m, const memory_access *a, bool write, bool atomic)
{
    const lane *l = m->now;
    const lane_clocks *c = clocks_of(r, l);
    past_access now = { c->known[c->clock], c->clock, 0, write, atomic, l->ids.block, l->ids.thread, a->site };
    uintptr_t p = (uintptr_t)a->p, end = p + a->bytes;
    while (p < end && !m->finding.fault) {
        unsigned first = p & 7, n = (unsigned)(end - p < 8 - first ? end - p : 8 - first);
        shadow *s = (shadow *)table_at(m, &r->shadow, p >> 3, true);
        if (!s) return;
        now.bytes = (uint8_t)(((1u << n) - 1) << first);
        access_granule(r, m, c, s, (const void *)p, now);
        p += n;
    }
}

/* Shared memory begins anew with a block. */
static void race_block(void *self, simt_machine *m, const block *b)
{
    race *r = (race *)self;
    for (size_t i = 0; i < b->shared_used; i += 4) {
        uintptr_t p = (uintptr_t)(b->shared + i);
        shadow *s = i % 8 ? NULL : (shadow *)table_at(m, &r->shadow, p >> 3, false);
        if (s) memset(s->kept, 0, sizeof s->kept);
        sync_variable *v = (sync_variable *)table_at(m, &r->syncs, p, false);
        if (v) v->vector = 0;
    }
}

/* ---- What orders lanes ----------------------------------------------------------------------- */

static uint32_t *vector_of(const race *r, const sync_variable *s)
{
    HD_ASSERT(s->vector > 0 && s->vector <= r->sync_clocks.n, "a variable has no clock");
    return (uint32_t *)r->sync_clocks.p + (s->vector - 1) * r->width;
}

static void order_read(race *r, simt_machine *m, const void *p, bool acquire)
{
    const lane_clocks *c = clocks_of(r, m->now);
    const sync_variable *s = (const sync_variable *)table_at(m, &r->syncs, (uintptr_t)p, false);
    if (s && s->vector) join(r, acquire ? c->known : c->acquired, vector_of(r, s));
}

static void order_write(race *r, simt_machine *m, const void *p, bool release, bool rmw)
{
    const lane_clocks *c = clocks_of(r, m->now);
    sync_variable *s = (sync_variable *)table_at(m, &r->syncs, (uintptr_t)p, true);
    if (!s) return;
    const uint32_t *knows = release ? c->known : c->fenced;
    if (!s->vector) {
        if (!vec_push(m, &r->sync_clocks, knows)) return;
        s->vector = r->sync_clocks.n;
    } else if (rmw) {
        join(r, vector_of(r, s), knows); /* a read-modify-write carries the release sequence on ... */
    } else {
        copy(r, vector_of(r, s), knows); /* ... a store ends it */
    }
    if (release) c->known[c->clock]++;
}

/* A read-modify-write may only read: on_done knows. */
static void race_access(void *self, simt_machine *m, const memory_access *a)
{
    bool write = a->way != ACCESS_LOAD && a->way != ACCESS_COPY_FROM;
    if (a->way != ACCESS_RMW) check((race *)self, m, a, write, a->kind != SIMT_LD && a->kind != SIMT_ST);
}

static bool race_store(void *self, simt_machine *m, const memory_access *a)
{
    if (a->kind != SIMT_ST) order_write((race *)self, m, a->p, a->kind == SIMT_STREL, false);
    return false;
}

static void race_done(void *self, simt_machine *m, const memory_access *a)
{
    race *r = (race *)self;
    if (a->way == ACCESS_LOAD && a->kind != SIMT_LD) /* each element's release */
        for (uint32_t i = 0; i < a->bytes; i += a->bytes == 16 ? 4 : a->bytes)
            order_read(r, m, (const uint8_t *)a->p + i, a->kind == SIMT_LDACQ);
    if (a->way == ACCESS_COPY_FROM && a->kind != SIMT_LD) order_read(r, m, a->p, false);
    if (a->way != ACCESS_RMW) return;
    check(r, m, a, a->wrote, true);
    if (m->finding.fault) return;
    order_read(r, m, a->p, a->order & SIMT_ACQUIRE);
    if (a->wrote) order_write(r, m, a->p, a->order & SIMT_RELEASE, true);
}

static void race_fence(void *self, simt_machine *m, const char *site, bool of_system)
{
    const race *r = (const race *)self;
    const lane_clocks *c = clocks_of(r, m->now);
    (void)site, (void)of_system;
    join(r, c->known, c->acquired);
    copy(r, c->fenced, c->known);
    c->known[c->clock]++;
}

/* All know what each knew. */
static void race_sync(void *self, simt_machine *m, lane *const *lanes, uint32_t n)
{
    const race *r = (const race *)self;
    const lane_clocks *first = clocks_of(r, lanes[0]);
    (void)m;
    for (uint32_t i = 1; i < n; i++) join(r, first->known, clocks_of(r, lanes[i])->known);
    for (uint32_t i = 1; i < n; i++) copy(r, clocks_of(r, lanes[i])->known, first->known);
    for (uint32_t i = 0; i < n; i++) {
        const lane_clocks *c = clocks_of(r, lanes[i]);
        c->known[c->clock]++;
    }
}

/* clang-format off */
const simt_observer simt_race = {
    .kinds = SIMT_AT_ALL, .state_bytes = sizeof(race), .wanted = race_wanted, .on_run = race_begin,
    .on_launch = race_launch, .on_block = race_block, .on_lane_begin = race_lane_begin,
    .on_lane_end = race_lane_end, .on_access = race_access, .on_store = race_store, .on_done = race_done,
    .on_fence = race_fence, .on_sync = race_sync, .close = race_close
};
/* clang-format on */
