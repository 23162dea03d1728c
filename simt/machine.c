/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.c - the host machine from open to close: launches are cut into blocks, a few blocks are resident at a time,
 * and every lane of a resident block is a fiber.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "simt/state.h"

_Thread_local simt_hot_state simt_hot;
_Thread_local simt_machine *simt_current;

/* ---- Memory ---------------------------------------------------------------------------------- */

bool vec_push(simt_machine *m, vec *v, const void *element)
{
    if (v->n == v->places) {
        size_t places = v->places ? v->places * 2 : 64;
        void *p;
        if (hd_take(&m->seams, "simt: list", places, v->size, &p)) {
            found(m, SIMT_RESOURCE, "no memory for %zu elements of a list", places);
            return false;
        }
        if (v->n) memcpy(p, v->p, v->n * v->size);
        hd_give(&m->seams, v->p, v->places, v->size);
        v->p = p;
        v->places = places;
    }
    char *to = (char *)v->p + v->n++ * v->size;
    if (v->size == sizeof(simt_decision))
        memcpy(to, element, sizeof(simt_decision)); /* one a stop */
    else
        memcpy(to, element, v->size);
    return true;
}

static void vec_free(simt_machine *m, vec *v)
{
    hd_give(&m->seams, v->p, v->places, v->size);
    v->p = NULL;
    v->n = v->places = 0;
}

void vec_of(simt_machine *m, vec *v, size_t size)
{
    if (v->size != size) vec_free(m, v);
    v->size = size;
    v->n = 0;
}

static uint64_t spread(uint64_t key) { return (key * 0x9e3779b97f4a7c15ull) ^ (key * 0x9e3779b97f4a7c15ull) >> 29; }

static bool table_grow(simt_machine *m, table *t)
{
    table old = *t;
    void *p;
    t->places = old.places ? old.places * 2 : 1024;
    if (hd_take(&m->seams, "simt: table", t->places, t->size, &p)) {
        *t = old;
        found(m, SIMT_RESOURCE, "no memory for a table of %zu places", old.places * 2);
        return false;
    }
    t->p = (uint8_t *)p;
    t->n = 0;
    memset(t->p, 0, t->places * t->size);
    for (size_t i = 0; i < old.places; i++) {
        const slot_head *from = (const slot_head *)(const void *)(old.p + i * old.size);
        if (from->generation != m->generation) continue;
        void *to = table_at(m, t, from->key, true);
        memcpy(to, from, t->size);
    }
    hd_give(&m->seams, old.p, old.places, old.size);
    return true;
}

void *table_at(simt_machine *m, table *t, uint64_t key, bool create)
{
    if (create && (t->n + 1) * 2 > t->places && !table_grow(m, t)) return NULL;
    if (t->places == 0) return NULL;
    for (size_t i = spread(key) >> 20 & (t->places - 1);; i = (i + 1) & (t->places - 1)) {
        slot_head *s = (slot_head *)(void *)(t->p + i * t->size);
        bool present = s->generation == m->generation;
        if (present && s->key == key) return s;
        if (present) continue;
        if (!create) return NULL;
        memset(s, 0, t->size);
        s->key = key;
        s->generation = m->generation;
        t->n++;
        return s;
    }
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t machine_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* ---- A lane's life --------------------------------------------------------------------------- */

void lane_stop(lane *l, const char *site, uint32_t kind)
{
    simt_machine *m = simt_current;
    l->site = site;
    l->stop_kind = kind;
    lane *next = m->direct ? schedule_next(m) : NULL;
    if (next != l) fiber_switch(&l->fiber, next ? &next->fiber : &m->hub);
}

_Noreturn void lane_hang(lane *l)
{
    for (;;) fiber_switch(&l->fiber, &simt_current->hub);
}

static void lane_leaves(simt_machine *m, lane *l)
{
    warp *w = l->warp;
    block *b = w->block;
    uint32_t bit = 1u << l->ids.lane;
    /* stores may outlive their lane */
    while (l->stores_n && schedule_choose(m, 2)) lane_stop(l, "the end of the kernel", 0);
    if (l->stores_n) weak_drain(m, l);
    l->state = LANE_GONE;
    w->alive &= ~bit;
    schedule_ready(m, w, w->ready & ~bit);
    b->alive--;
    if (m->config.race) race_lane_ends(m, l, b->of);
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        const lane *o = w->member[i];
        if (!(w->waiting >> i & 1) || !(o->mask & bit)) continue;
        found(m, SIMT_LEFT, "a lane has left that others wait for");
        found_more(m, "block %u, lane %u (thread %u) has returned from the kernel", l->ids.block, l->ids.lane,
                   l->ids.thread);
        found_more(m, "block %u, lane %u waits at %s: %s, mask 0x%08x", o->ids.block, o->ids.lane,
                   simt_site_name(o->site), collective_name(o->op), o->mask);
        break;
    }
    if (!b->arrived) return;
    found(m, SIMT_LEFT, "a thread has left that others wait for at the block's barrier");
    found_more(m, "block %u, thread %u has returned from the kernel", b->number, l->ids.thread);
    found_more(m, "block %u, %u of its threads wait at %s: sync_block", b->number, b->arrived,
               simt_site_name(b->barrier));
}

static void lane_main(void *arg)
{
    lane *l = (lane *)arg;
    for (;;) {
        simt_machine *m = simt_current;
        const launch *of = l->warp->block->of;
        of->kernel(of->args);
        lane_leaves(m, l);
        fiber_switch(&l->fiber, &m->hub); /* entered again as a lane of another block */
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void lane_begins(simt_machine *m, lane *l, const block *b, uint32_t thread)
{
    l->ids.lane = thread % WARP_LANES;
    l->ids.thread = thread;
    l->ids.threads = b->of->threads;
    l->ids.block = b->number;
    l->ids.blocks = b->of->blocks;
    l->state = LANE_READY;
    l->site = "the start of the kernel";
    l->stop_kind = l->spins = l->copies_n = l->copy_group = l->turns_n = l->joins = 0;
    l->warp->alive |= 1u << l->ids.lane;
    if (m->config.race) race_lane_begins(m, l, b->of);
}

/* Feistel rounds over a domain that holds n, walked until the image is below n: a permutation of 0 .. n - 1. */
static uint32_t shuffled(uint32_t i, uint32_t n, uint64_t seed)
{
    unsigned half = 1;
    while (1ull << 2 * half < n) half++;
    uint32_t mask = (1u << half) - 1;
    do {
        uint32_t left = i >> half, right = i & mask;
        for (uint64_t round = 0; round < 4; round++) {
            uint32_t f = (uint32_t)(spread(right ^ (seed + round * 0x632be59bd9b4e019ull)) >> 40) & mask;
            uint32_t next = left ^ f;
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

/* The first launch with a block to start whose stream lets it; NULL when there is none. */
static launch *next_launch(simt_machine *m)
{
    launch *all = (launch *)m->launches.p, *ready[WARP_LANES];
    uint32_t n = 0;
    for (size_t i = 0; i < m->launches.n && n < WARP_LANES; i++) {
        bool held = all[i].started == all[i].blocks;
        for (size_t k = 0; k < i; k++) held = held || (all[k].stream == all[i].stream && all[k].ended < all[k].blocks);
        if (!held) ready[n++] = &all[i];
    }
    return n ? ready[schedule_choose(m, n)] : NULL;
}

/* What earlier launches of the stream knew at their end, this one knows. */
static void inherit(simt_machine *m, launch *of)
{
    const launch *all = (const launch *)m->launches.p;
    for (const launch *k = all; k < of; k++)
        for (uint32_t i = 0; k->stream == of->stream && i < m->width; i++)
            if (k->known[i] > of->begun[i]) of->begun[i] = k->known[i];
}

static bool block_begins(simt_machine *m, block *b)
{
    launch *of = next_launch(m);
    if (!of) return false;
    bool orderly = schedule_strategy(m) == SIMT_SEARCH || schedule_strategy(m) == SIMT_ROUND_ROBIN;
    if (m->config.race && of->started == 0) inherit(m, of);
    if (m->config.race) race_forget(m, b->shared, b->shared_used); /* the room's last block is gone */
    b->of = of;
    b->number = orderly ? of->started : shuffled(of->started, of->blocks, m->config.seed);
    of->started++;
    b->warps_n = (of->threads + WARP_LANES - 1) / WARP_LANES;
    b->alive = of->threads;
    b->arrived = b->arrays = 0;
    b->barrier = NULL;
    b->shared_used = 0;
    memset(b->shared, 0xa5, m->shared_bytes);
    memset(b->written, BYTE_UNWRITTEN, m->shared_bytes);
    for (uint32_t i = 0; i < m->warps_per_block; i++) {
        warp *w = &b->warps[i];
        w->alive = w->waiting = w->at_barrier = w->yielding = 0;
        for (uint32_t k = 0; k < WARP_LANES && i * WARP_LANES + k < of->threads; k++)
            lane_begins(m, w->member[k], b, i * WARP_LANES + k);
        schedule_ready(m, w, w->alive);
    }
    m->running++;
    return true;
}

/* Fills free places with blocks, until there are no blocks or no places. */
static void blocks_begin(simt_machine *m)
{
    for (uint32_t i = 0; i < m->blocks_n; i++)
        if (!m->blocks[i].of && !block_begins(m, &m->blocks[i])) return;
}

/* Called by the scheduler when a block's last lane has left. */
static void block_ends(simt_machine *m, block *b)
{
    for (uint32_t i = 0; i < b->warps_n; i++) meter_close(m, &b->warps[i]);
    b->of->ended++;
    b->of = NULL;
    m->running--;
    blocks_begin(m);
}

/* ---- Rooms for lanes ------------------------------------------------------------------------- */

static void rooms_free(simt_machine *m)
{
    for (uint32_t i = 0; i < m->lanes_n; i++) fiber_drop(&m->lanes[i].fiber);
    for (uint32_t i = 0; i < m->warps_n; i++) vec_free(m, &m->warps[i].open);
    if (m->stacks) munmap(m->stacks, m->stacks_bytes);
    hd_give(&m->seams, m->lanes, m->lanes_n, sizeof *m->lanes);
    hd_give(&m->seams, m->warps, m->warps_n, sizeof *m->warps);
    hd_give(&m->seams, m->blocks, m->blocks_n, sizeof *m->blocks);
    hd_give(&m->seams, m->shared, m->blocks_n, 2 * m->shared_bytes);
    hd_give(&m->seams, m->lane_memory, m->lane_memory_bytes, 1);
    m->lanes = NULL;
    m->warps = NULL;
    m->blocks = NULL;
    m->shared = m->lane_memory = NULL;
    m->stacks = NULL;
    m->lanes_n = m->warps_n = m->blocks_n = 0;
}

static void rooms_link(simt_machine *m)
{
    size_t stores = sizeof(pending_store) * STORE_BUFFER, copies = sizeof(pending_copy) * COPIES;
    for (uint32_t i = 0; i < m->blocks_n; i++) {
        block *b = &m->blocks[i];
        b->warps = &m->warps[i * m->warps_per_block];
        b->shared = m->shared + 2 * i * m->shared_bytes;
        b->written = b->shared + m->shared_bytes;
    }
    for (uint32_t i = 0; i < m->warps_n; i++) {
        m->warps[i].number = i;
        m->warps[i].block = &m->blocks[i / m->warps_per_block];
        m->warps[i].open.size = 0; /* meter.c sets it */
    }
    for (uint32_t i = 0; i < m->lanes_n; i++) {
        lane *l = &m->lanes[i];
        uint8_t *own = m->lane_memory + i * (stores + copies);
        l->number = i;
        l->warp = &m->warps[i / WARP_LANES];
        l->warp->member[i % WARP_LANES] = l;
        l->stores = (pending_store *)(void *)own;
        l->copies = (pending_copy *)(void *)(own + stores);
        fiber_make(&l->fiber, m->stacks + (size_t)i * STACK_BYTES, STACK_BYTES, i, lane_main, l);
    }
}

/* Rooms for `blocks` resident blocks of `threads`; those of the last run serve again when they fit and are whole. */
static bool rooms_make(simt_machine *m, uint32_t blocks, uint32_t threads, size_t shared_bytes)
{
    uint32_t warps_per_block = (threads + WARP_LANES - 1) / WARP_LANES;
    if (m->lanes && m->blocks_n == blocks && m->warps_per_block == warps_per_block && m->shared_bytes == shared_bytes &&
        m->finding.fault == SIMT_NO_FAULT)
        return true;
    rooms_free(m);
    uint32_t warps = blocks * warps_per_block, lanes = warps * WARP_LANES;
    size_t own = sizeof(pending_store) * STORE_BUFFER + sizeof(pending_copy) * COPIES;
    void *l, *w, *b, *s, *o;
    bool refused = hd_take(&m->seams, "simt: lanes", lanes, sizeof(lane), &l);
    if (!refused) m->lanes = (lane *)memset(l, 0, lanes * sizeof(lane));
    refused = refused || hd_take(&m->seams, "simt: warps", warps, sizeof(warp), &w);
    if (!refused) m->warps = (warp *)memset(w, 0, warps * sizeof(warp)), m->warps_n = warps;
    refused = refused || hd_take(&m->seams, "simt: blocks", blocks, sizeof(block), &b);
    if (!refused)
        m->blocks = (block *)memset(b, 0, blocks * sizeof(block)), m->blocks_n = blocks, m->shared_bytes = shared_bytes;
    refused = refused || hd_take(&m->seams, "simt: shared memory", blocks, 2 * shared_bytes, &s);
    if (!refused) m->shared = (uint8_t *)s;
    refused = refused || hd_take(&m->seams, "simt: buffers", lanes * own, 1, &o);
    if (!refused) m->lane_memory = (uint8_t *)o, m->lane_memory_bytes = lanes * own;
    void *stacks = refused ? MAP_FAILED
                           : mmap(NULL, (size_t)lanes * STACK_BYTES, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks ==
        MAP_FAILED) { /* by the seams, in tests: the system refuses no reservation of this size. GCOVR_EXCL_BR_LINE */
        hd_give(&m->seams, m->lanes, lanes, sizeof(lane));
        m->lanes = NULL;
        rooms_free(m);
        return false;
    }
    m->stacks = (char *)stacks;
    m->stacks_bytes = (size_t)lanes * STACK_BYTES;
    m->lanes_n = lanes;
    m->warps_per_block = warps_per_block;
    rooms_link(m);
    return true;
}

/* ---- The caller's side ----------------------------------------------------------------------- */

simt_config simt_config_default(void)
{
    simt_config c;
    memset(&c, 0, sizeof c);
    c.unit = SIMT_BY_LANE;
    c.strategy = SIMT_RANDOM;
    c.preempt = SIMT_AT_ALL;
    c.seed = 1;
    c.race = true;
    return c;
}

hd_status simt_machine_open(const hd_seams *seams, simt_machine **machine)
{
    void *p;
    const hd_seams *s = seams ? seams : &hd_seams_os;
    hd_status status = hd_take(s, "simt: machine", 1, sizeof(simt_machine), &p);
    if (status) return status;
    simt_machine *m = (simt_machine *)memset(p, 0, sizeof(simt_machine));
    m->seams = *s;
    m->launches.size = sizeof(launch);
    m->schedule.size = sizeof(simt_decision);
    m->tape.size = 2 * sizeof(uint32_t);
    m->change_points.size = sizeof(uint64_t);
    m->tickets.size = sizeof(simt_ticket_record);
    m->events.size = sizeof(simt_event);
    m->starts.size = 2 * sizeof(uint64_t);
    m->sites.size = sizeof(simt_site);
    *machine = m;
    return HD_OK;
}

static void launches_drop(simt_machine *m)
{
    launch *all = (launch *)m->launches.p;
    for (size_t i = 0; i < m->launches.n; i++) hd_give(&m->seams, all[i].args, all[i].args_bytes, 1);
    m->launches.n = 0;
}

void simt_machine_close(simt_machine *m)
{
    if (!m) return;
    launches_drop(m);
    rooms_free(m);
    vec *const lists[] = { &m->launches, &m->schedule, &m->tape,  &m->change_points, &m->tickets,
                           &m->events,   &m->starts,   &m->sites, &m->sync_clocks };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) vec_free(m, lists[i]);
    table *const tables[] = { &m->shadow, &m->syncs, &m->pasts };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        hd_give(&m->seams, tables[i]->p, tables[i]->places, tables[i]->size);
    hd_give(&m->seams, m->clock_memory, m->clock_memory_n, sizeof(uint32_t));
    hd_seams s = m->seams;
    hd_give(&s, m, 1, sizeof *m);
}

hd_status simt_machine_region(simt_machine *m, void *p, size_t bytes, const char *name)
{
    if (m->regions == REGIONS) return hd_fail(HD_EINVAL, "region: more than %d", REGIONS);
    region r = { (uint8_t *)p, bytes, name };
    if (bytes) m->memory[m->regions++] = r;
    return HD_OK;
}

void simt_machine_forget(simt_machine *m)
{
    m->regions = 0;
    memset(m->last_region, 0, sizeof m->last_region);
    launches_drop(m);
}

hd_status simt_machine_launch(simt_machine *m, void (*kernel)(const void *), const void *args, size_t args_bytes,
                              uint32_t blocks, uint32_t threads, uint32_t stream)
{
    if (threads == 0 || threads > 1024) return hd_fail(HD_EINVAL, "threads: %u is outside 1 to 1024", threads);
    if (blocks == 0) return HD_OK;
    launch k;
    void *copy;
    memset(&k, 0, sizeof k);
    hd_status status = hd_take(&m->seams, "simt: arguments", args_bytes, 1, &copy);
    if (status) return status;
    if (args_bytes) memcpy(copy, args, args_bytes);
    k.kernel = kernel;
    k.args = copy;
    k.args_bytes = args_bytes;
    k.blocks = blocks;
    k.threads = threads;
    k.stream = stream;
    if (vec_push(m, &m->launches, &k)) return HD_OK;
    hd_give(&m->seams, copy, args_bytes, 1);
    return hd_fail(HD_ENOMEM, "simt: no memory for a launch");
}

static uint32_t hooks_of(const simt_config *c)
{
    bool all = c->race || c->meter || c->trace || c->watch; /* weak memory brings race along */
    return all ? (uint32_t)SIMT_AT_ALL : c->preempt | SIMT_RMW;
}

/* Everything that belongs to one run. false: a finding says why not. */
static bool run_begin(simt_machine *m, const simt_config *c)
{
    uint32_t most = 0, blocks = 0;
    uint64_t lanes = 0;
    const launch *all = (const launch *)m->launches.p;
    for (size_t i = 0; i < m->launches.n; i++) {
        most = all[i].threads > most ? all[i].threads : most;
        blocks = all[i].blocks > UINT32_MAX - blocks ? UINT32_MAX : blocks + all[i].blocks;
        lanes += (uint64_t)all[i].blocks * all[i].threads;
    }
    uint32_t resident = c->resident ? c->resident : 4;
    size_t shared_bytes = c->shared_bytes ? (c->shared_bytes + 127u) & ~127u : 16384;
    bool whole = rooms_make(m, resident < blocks ? resident : blocks, most, shared_bytes);
    memset(&m->finding, 0, sizeof m->finding);
    memset(&m->totals, 0, sizeof m->totals);
    m->config = *c;
    m->config.race = c->race || c->weak;
    if (!m->config.step_limit) m->config.step_limit = 10000000;
    m->random = m->shadow_random = c->seed;
    m->running = m->buffered = 0;
    m->generation++;
    m->shadow.n = m->syncs.n = m->pasts.n = 0;
    m->tickets.n = m->events.n = m->starts.n = m->sites.n = 0;
    for (uint32_t i = 0; i < m->blocks_n; i++) m->blocks[i].of = NULL;
    for (uint32_t i = 0; i < m->lanes_n; i++) m->lanes[i].state = LANE_GONE, m->lanes[i].stores_n = 0;
    for (uint32_t i = 0; i < m->warps_n; i++)
        m->warps[i].alive = m->warps[i].ready = m->warps[i].candidates = m->warps[i].candidates_n = 0;
    schedule_begin(m);
    if (!whole) found(m, SIMT_RESOURCE, "no memory for %u resident blocks of %u threads", resident, most);
    return whole && (!m->config.race || race_begin(m, lanes));
}

bool simt_machine_run(simt_machine *m, const simt_config *c)
{
    if (m->launches.n == 0) return true;
    /* a fiber goes on where it was begun: it may have kept that thread's variables */
    if (m->thread != &simt_current) rooms_free(m);
    m->thread = &simt_current;
    simt_current = m;
    fiber_hub(&m->hub);
    if (run_begin(m, c)) {
        simt_hot.hooks = hooks_of(&m->config);
        blocks_begin(m);
        while (m->running && m->finding.fault == SIMT_NO_FAULT) {
            schedule_run(m);
            for (uint32_t i = 0; i < m->blocks_n; i++)
                if (m->blocks[i].of && m->blocks[i].alive == 0 && m->finding.fault == SIMT_NO_FAULT)
                    block_ends(m, &m->blocks[i]);
        }
    }
    simt_hot.hooks = 0;
    m->totals.decisions = m->decision;
    launches_drop(m);
    return m->finding.fault == SIMT_NO_FAULT;
}

const hd_seams *simt_machine_seams(const simt_machine *m) { return &m->seams; }

const simt_finding *simt_machine_finding(const simt_machine *m) { return &m->finding; }
simt_totals simt_machine_totals(const simt_machine *m) { return m->totals; }

const simt_ticket_record *simt_machine_tickets(const simt_machine *m, size_t *n)
{
    *n = m->tickets.n;
    return (const simt_ticket_record *)m->tickets.p;
}

const simt_event *simt_machine_events(const simt_machine *m, size_t *n)
{
    *n = m->events.n;
    return (const simt_event *)m->events.p;
}
