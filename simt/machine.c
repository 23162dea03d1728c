/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.c - the host machine from open to close: launches are cut into blocks, a few blocks are resident at a time,
 * and every lane of a resident block is a fiber.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "simt/finding.h"
#include "simt/list.h"
#include "simt/observer.h"
#include "simt/schedule.h"

/* ---- A lane's life --------------------------------------------------------------------------- */

static void lane_leaves(simt_machine *m, lane *l)
{
    warp *w = l->warp;
    block *b = w->block;
    uint32_t bit = 1u << l->ids.lane;
    HD_ASSERT(w->alive & bit && b->alive > 0, "a lane ends twice");
    HD_ASSERT(!((w->waiting | w->at_barrier) & bit), "a lane ends that waits");
    /* stores may outlive their lane */
    while (l->held && schedule_choose(m, 2)) lane_stop(l, "the end of the kernel", 0);
    if (l->held) OBSERVERS_CALL(m, on_release, l);
    HD_ASSERT(l->held == 0, "a lane ends before its stores are visible");
    w->alive &= ~bit;
    schedule_ready(m, w, w->ready & ~bit);
    b->alive--;
    OBSERVERS_CALL(m, on_lane_end, l);
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
        fiber_switch(&l->fiber, &m->hub); /* used again for a lane of another block */
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
    l->site = l->warp->site[l->ids.lane] = "the start of the kernel";
    HD_ASSERT(!(l->warp->alive >> l->ids.lane & 1), "a lane begins twice");
    l->warp->stop_kind[l->ids.lane] = 0;
    l->spins = l->copies_n = l->copy_group = 0;
    l->warp->alive |= 1u << l->ids.lane;
    OBSERVERS_CALL(m, on_lane_begin, l);
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
            uint32_t f = (uint32_t)(hash_spread(right ^ (seed + round * 0x632be59bd9b4e019ull)) >> 40) & mask;
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
    uint32_t k = n ? schedule_choose(m, n) : 0;
    HD_ASSERT(n == 0 || k < n, "a choice is none of those there are");
    return n ? ready[k] : NULL;
}

static bool block_begins(simt_machine *m, block *b)
{
    launch *of = next_launch(m);
    if (!of) return false;
    bool orderly = schedule_strategy(m) == SIMT_SEARCH || schedule_strategy(m) == SIMT_ROUND_ROBIN;
    if (of->started == 0) OBSERVERS_CALL(m, on_launch, of);
    OBSERVERS_CALL(m, on_block, b); /* the last block of this room has ended */
    b->of = of;
    b->number = orderly ? of->started : shuffled(of->started, of->blocks, m->config.seed);
    HD_ASSERT(b->number < of->blocks && of->started < of->blocks, "a launch has more blocks than were asked for");
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
        w->alive = w->waiting = w->at_barrier = w->yielding = w->has_begun = 0;
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
    for (uint32_t i = 0; i < b->warps_n; i++) OBSERVERS_CALL(m, on_converge, &b->warps[i]);
    HD_ASSERT(b->alive == 0 && b->arrived == 0, "a block ends before its lanes");
    HD_ASSERT(b->of->ended < b->of->started && m->running > 0, "a block ends twice");
    b->of->ended++;
    if (b->of->ended == b->of->blocks) OBSERVERS_CALL(m, on_launch_end, b->of);
    b->of = NULL;
    m->running--;
    blocks_begin(m);
}

/* ---- Rooms for lanes ------------------------------------------------------------------------- */

static void stacks_free(simt_machine *m)
{
    if (m->stacks) munmap(m->stacks, m->stacks_bytes);
    m->stacks = NULL;
    m->stacks_bytes = 0;
}

/* Stacks stay for the next rooms: each of them costs page faults. */
static bool stacks_take(simt_machine *m, uint32_t lanes)
{
    size_t bytes = (size_t)lanes * STACK_BYTES;
    if (bytes <= m->stacks_bytes) return true;
    stacks_free(m);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    /* only in tests, by the seams: the system refuses no reservation of this size. GCOVR_EXCL_BR_LINE */
    if (p == MAP_FAILED) return false;
    m->stacks = (char *)p;
    m->stacks_bytes = bytes;
    return true;
}

static void rooms_free(simt_machine *m)
{
    for (uint32_t i = 0; i < m->lanes_n; i++)
        if (m->lanes[i].fiber.sp) fiber_drop(&m->lanes[i].fiber);
    hd_give(&m->seams, m->lanes, m->lanes_n, sizeof *m->lanes);
    hd_give(&m->seams, m->warps, m->warps_n, sizeof *m->warps);
    hd_give(&m->seams, m->blocks, m->blocks_n, sizeof *m->blocks);
    hd_give(&m->seams, m->shared, m->blocks_n, 2 * m->shared_bytes);
    hd_give(&m->seams, m->lane_memory, m->lane_memory_bytes, 1);
    m->lanes = NULL;
    m->warps = NULL;
    m->blocks = NULL;
    m->shared = m->lane_memory = NULL;
    m->lanes_n = m->warps_n = m->blocks_n = 0;
}

static void rooms_link(simt_machine *m)
{
    for (uint32_t i = 0; i < m->blocks_n; i++) {
        block *b = &m->blocks[i];
        b->warps = &m->warps[i * m->warps_per_block];
        b->shared = m->shared + 2 * i * m->shared_bytes;
        b->written = b->shared + m->shared_bytes;
    }
    for (uint32_t i = 0; i < m->warps_n; i++) {
        m->warps[i].number = i;
        m->warps[i].block = &m->blocks[i / m->warps_per_block];
    }
    for (uint32_t i = 0; i < m->lanes_n; i++) {
        lane *l = &m->lanes[i];
        l->number = i;
        l->warp = &m->warps[i / WARP_LANES];
        l->warp->member[i % WARP_LANES] = l;
        l->copies = (pending_copy *)(void *)m->lane_memory + (size_t)i * COPIES;
        fiber_make(&l->fiber, m->stacks + (size_t)i * STACK_BYTES, STACK_BYTES, i, lane_main, l);
    }
}

/* n elements of `size` bytes; NULL: there is no memory. */
static void *take_raw(simt_machine *m, const char *what, size_t n, size_t size)
{
    void *p;
    return hd_take(&m->seams, what, n, size, &p) ? NULL : p;
}

static void *take_zeroed(simt_machine *m, const char *what, size_t n, size_t size)
{
    void *p = take_raw(m, what, n, size);
    return p ? memset(p, 0, n * size) : NULL;
}

/* Up to the first that is refused; rooms_free knows by the counts what there is. */
static bool rooms_take(simt_machine *m, uint32_t blocks, uint32_t warps, uint32_t lanes, size_t shared_bytes)
{
    m->lanes = (lane *)take_zeroed(m, "simt: lanes", lanes, sizeof(lane));
    if (!m->lanes) return false;
    m->lanes_n = lanes;
    m->warps = (warp *)take_zeroed(m, "simt: warps", warps, sizeof(warp));
    if (!m->warps) return false;
    m->warps_n = warps;
    m->blocks = (block *)take_zeroed(m, "simt: blocks", blocks, sizeof(block));
    if (!m->blocks) return false;
    m->blocks_n = blocks;
    m->shared_bytes = shared_bytes;
    m->shared = (uint8_t *)take_raw(m, "simt: shared memory", blocks, 2 * shared_bytes);
    if (!m->shared) return false;
    m->lane_memory_bytes = lanes * sizeof(pending_copy) * COPIES;
    m->lane_memory = (uint8_t *)take_raw(m, "simt: buffers", m->lane_memory_bytes, 1);
    return m->lane_memory && stacks_take(m, lanes);
}

/* Rooms for `blocks` resident blocks of `threads`. Those of the last run are used again when they are large enough. */
static bool rooms_make(simt_machine *m, uint32_t blocks, uint32_t threads, size_t shared_bytes)
{
    uint32_t warps_per_block = (threads + WARP_LANES - 1) / WARP_LANES;
    if (m->lanes && m->blocks_n == blocks && m->warps_per_block == warps_per_block && m->shared_bytes == shared_bytes &&
        m->finding.fault == SIMT_NO_FAULT)
        return true;
    rooms_free(m);
    uint32_t warps = blocks * warps_per_block;
    if (!rooms_take(m, blocks, warps, warps * WARP_LANES, shared_bytes)) {
        rooms_free(m);
        return false;
    }
    m->warps_per_block = warps_per_block;
    rooms_link(m);
    return true;
}

/* ---- The caller's side ----------------------------------------------------------------------- */

simt_config simt_config_default(void)
{
    return (
        simt_config){ .unit = SIMT_BY_LANE, .strategy = SIMT_RANDOM, .preempt = SIMT_AT_ALL, .seed = 1, .race = true };
}

simt_config simt_config_in_turn(void)
{
    return (simt_config){ .unit = SIMT_BY_WARP, .strategy = SIMT_ROUND_ROBIN, .preempt = SIMT_AT_NONE, .seed = 1 };
}

hd_status simt_machine_open_with(const hd_seams *seams, const simt_observer *const *observers, size_t n,
                                 simt_machine **machine)
{
    enum { ALIGN = 16 };
    void *p;
    const hd_seams *s = seams ? seams : &hd_seams_os;
    size_t bytes = sizeof(simt_machine);
    if (n > OBSERVERS) return hd_fail(HD_EINVAL, "simt: more than %d observers", OBSERVERS);
    for (size_t i = 0; i < n; i++) bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN + observers[i]->state_bytes;
    hd_status status = hd_take(s, "simt: machine", 1, bytes, &p);
    if (status) return status;
    simt_machine *m = (simt_machine *)memset(p, 0, bytes);
    size_t at = sizeof *m;
    for (size_t i = 0; i < n; at += observers[i++]->state_bytes) {
        at = (at + ALIGN - 1) / ALIGN * ALIGN;
        m->observers[i].observer = observers[i];
        m->observers[i].self = (char *)p + at;
    }
    HD_ASSERT(at <= bytes, "an observer's state is beyond the machine's memory");
    m->observers_n = (uint32_t)n;
    m->state_bytes = bytes;
    m->seams = *s;
    m->launches.size = sizeof(launch);
    m->schedule.size = sizeof(simt_decision);
    m->tape.size = 2 * sizeof(uint32_t);
    m->change_points.size = sizeof(uint64_t);
    m->tickets.size = sizeof(simt_ticket_record);
    m->starts.size = 2 * sizeof(uint64_t);
    m->owners.size = sizeof(place_owner);
    *machine = m;
    return HD_OK;
}

void *observer_state(const simt_machine *m, const simt_observer *observer)
{
    for (uint32_t i = 0; i < m->watching_n; i++)
        if (m->watching[i].observer == observer) return m->watching[i].self;
    return NULL;
}

static void launches_drop(simt_machine *m)
{
    launch *all = (launch *)m->launches.p;
    for (size_t i = 0; i < m->launches.n; i++) hd_give(&m->seams, all[i].args, all[i].args_bytes, 1);
    m->launches.n = m->persisted.n = 0;
}

void simt_machine_close(simt_machine *m)
{
    if (!m) return;
    launches_drop(m);
    rooms_free(m);
    stacks_free(m);
    for (uint32_t i = 0; i < m->observers_n; i++)
        if (m->observers[i].observer->close) m->observers[i].observer->close(m->observers[i].self, m);
    vec *const lists[] = { &m->launches, &m->schedule, &m->tape,   &m->change_points,
                           &m->tickets,  &m->starts,   &m->owners, &m->persisted };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) vec_free(m, lists[i]);
    hd_seams s = m->seams;
    hd_give(&s, m, 1, m->state_bytes);
}

hd_status simt_machine_region(simt_machine *m, void *p, size_t bytes, const char *name)
{
    if (m->regions == REGIONS) return hd_fail(HD_EINVAL, "region: more than %d", REGIONS);
    region r = { (uint8_t *)p, bytes, name, strstr(name, "far ") != NULL, false };
    if (bytes) m->memory[m->regions++] = r;
    return HD_OK;
}

void simt_machine_region_end(simt_machine *m, const void *p)
{
    uint32_t i = 0;
    while (i < m->regions && m->memory[i].p != p) i++;
    if (i == m->regions) return;
    memmove(&m->memory[i], &m->memory[i + 1], (m->regions - i - 1) * sizeof *m->memory);
    m->regions--;
    memset(m->last_region, 0, sizeof m->last_region);
}

void simt_machine_forget(simt_machine *m)
{
    m->regions = 0;
    m->forgotten++;
    memset(m->last_region, 0, sizeof m->last_region);
    launches_drop(m);
}

hd_status simt_machine_launch(simt_machine *m, void (*kernel)(const void *), const void *args, size_t args_bytes,
                              uint32_t blocks, uint32_t threads, uint32_t stream)
{
    if (threads == 0 || threads > 1024) return hd_fail(HD_EINVAL, "threads: %u is outside 1 to 1024", threads);
    if (blocks == 0) return HD_OK;
    void *copy;
    hd_status status = hd_take(&m->seams, "simt: arguments", args_bytes, 1, &copy);
    if (status) return status;
    if (args_bytes) memcpy(copy, args, args_bytes);
    const launch k = {
        .kernel = kernel, .args = copy, .args_bytes = args_bytes, .blocks = blocks, .threads = threads, .stream = stream
    };
    if (vec_push(m, &m->launches, &k)) return HD_OK;
    hd_give(&m->seams, copy, args_bytes, 1);
    return hd_fail(HD_ENOMEM, "simt: no memory for a launch");
}

/* Kinds of access that go through the machine. */
static uint32_t kinds_seen(const simt_machine *m)
{
    uint32_t kinds = m->config.preempt | SIMT_RMW | (m->config.watch ? (uint32_t)SIMT_AT_ALL : 0);
    for (uint32_t i = 0; i < m->watching_n; i++) kinds |= m->watching[i].observer->kinds;
    return kinds;
}

/* The lists that accesses go through. */
static void access_lists(simt_machine *m)
{
    watcher *access = m->on_access, *load = m->on_load, *store = m->on_store, *done = m->on_done;
    const watcher end = { NULL, NULL };
    for (uint32_t i = 0; i < m->watching_n; i++) {
        const watcher o = m->watching[i];
        if (o.observer->on_access) *access++ = o;
        if (o.observer->on_load) *load++ = o;
        if (o.observer->on_store) *store++ = o;
        if (o.observer->on_done) *done++ = o;
    }
    *access = *load = *store = *done = end;
}

/* The observers of this run. false: a finding says why one cannot. */
static bool observers_begin(simt_machine *m, uint64_t lanes)
{
    m->watching_n = 0;
    for (uint32_t i = 0; i < m->observers_n; i++)
        if (m->observers[i].observer->wanted(&m->config)) m->watching[m->watching_n++] = m->observers[i];
    access_lists(m);
    for (uint32_t i = 0; i < m->watching_n; i++) {
        const watcher *o = &m->watching[i];
        if (o->observer->on_run && !o->observer->on_run(o->self, m, lanes)) return false;
    }
    return true;
}

/* Clears what the rooms hold from the last run. */
static void rooms_clear(simt_machine *m)
{
    for (uint32_t i = 0; i < m->blocks_n; i++) m->blocks[i].of = NULL;
    for (uint32_t i = 0; i < m->lanes_n; i++) m->lanes[i].held = 0;
    for (uint32_t i = 0; i < m->warps_n; i++) {
        warp *w = &m->warps[i];
        w->alive = w->ready = w->waiting = w->at_barrier = w->candidates = w->candidates_n = 0;
    }
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
    if (!m->config.step_limit) m->config.step_limit = 10000000;
    m->random = c->seed;
    m->running = m->held = 0;
    m->wrote = true;
    m->generation++;
    m->tickets.n = m->starts.n = m->owners.n = m->watching_n = 0;
    rooms_clear(m);
    schedule_begin(m);
    if (!whole) found(m, SIMT_RESOURCE, "no memory for %u resident blocks of %u threads", resident, most);
    return whole && observers_begin(m, lanes);
}

bool simt_machine_run(simt_machine *m, const simt_config *c)
{
    if (m->launches.n == 0) return true;
    /* a fiber stays on the thread on which it began: it may have kept addresses of thread-local variables */
    if (m->thread != &simt_current) rooms_free(m);
    m->thread = &simt_current;
    simt_current = m;
    fiber_hub(&m->hub);
    if (run_begin(m, c)) {
        simt_hot.hooks = kinds_seen(m);
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

uint64_t simt_clock_ns(void)
{
    const hd_time_seam *time = &simt_current->seams.time;
    return time->unix_ns(time->self);
}

bool simt_machine_now(uint32_t *block, uint32_t *thread, const char **site)
{
    if (!simt_hot.hooks || !simt_current->now) return false;
    *block = simt_current->now->ids.block;
    *thread = simt_current->now->ids.thread;
    *site = simt_current->now->site;
    return true;
}

const hd_seams *simt_machine_seams(const simt_machine *m) { return &m->seams; }

const simt_finding *simt_machine_finding(const simt_machine *m) { return &m->finding; }
simt_totals simt_machine_totals(const simt_machine *m) { return m->totals; }
