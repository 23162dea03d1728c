/* SPDX-License-Identifier: Apache-2.0
 *
 * collective.c - ballots, votes, shuffles, reductions and the two barriers, with exact masks: a collective happens when
 * every lane of its mask has come to it, and all have come to the same one.
 */
#include <string.h>

#include "simt/finding.h"
#include "simt/observer.h"
#include "simt/schedule.h"

static bool same_site(const char *a, const char *b) { return a == b || strcmp(a, b) == 0; }

/* Reports at once whatever could make lanes of w wait for each other forever. */
static void check_arrival(simt_machine *m, const lane *l, const char *site, simt_collective_op op, uint32_t mask)
{
    const warp *w = l->warp;
    uint32_t bit = 1u << l->ids.lane, block = l->ids.block, gone = mask & ~w->alive;
    if (!(mask & bit)) {
        found(m, SIMT_OUTSIDE, "a lane takes part in a collective whose mask leaves it out");
        found_more(m, "block %u, lane %u at %s: %s, mask 0x%08x", block, l->ids.lane, simt_site_name(site),
                   collective_name(op), mask);
        return;
    }
    if (gone) {
        found(m, SIMT_LEFT, "a mask names lanes that have left, or never were: 0x%08x", gone);
        found_more(m, "block %u, lane %u at %s: %s, mask 0x%08x", block, l->ids.lane, simt_site_name(site),
                   collective_name(op), mask);
        return;
    }
    for (uint32_t bits = (w->waiting | w->at_barrier) & mask; bits; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(bits);
        const lane *o = w->member[i];
        if (w->waiting >> i & 1 && o->mask & bit && (o->mask != mask || o->op != op || !same_site(o->site, site))) {
            found(m, SIMT_MISMATCH, "lanes of one warp are at different collectives, or at one with different masks");
            found_more(m, "block %u, lane %u at %s: %s, mask 0x%08x", block, l->ids.lane, simt_site_name(site),
                       collective_name(op), mask);
            found_more(m, "block %u, lane %u at %s: %s, mask 0x%08x", block, i, simt_site_name(o->site),
                       collective_name(o->op), o->mask);
            return;
        }
        if (w->at_barrier >> i & 1) {
            found(m, SIMT_DEADLOCK, "a lane waits in a collective for one that waits at the block's barrier");
            found_more(m, "block %u, lane %u at %s: %s, mask 0x%08x", block, l->ids.lane, simt_site_name(site),
                       collective_name(op), mask);
            found_more(m, "block %u, lane %u at %s: sync_block", block, i, simt_site_name(o->site));
            return;
        }
    }
}

/* ---- What each lane gets --------------------------------------------------------------------- */

static uint64_t reduced(const warp *w, uint32_t mask, simt_collective_op op)
{
    uint64_t r = op == SIMT_REDUCE_MIN ? UINT64_MAX : 0;
    for (uint32_t bits = mask; bits; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(bits);
        uint64_t v = w->given[i];
        switch (op) {
        case SIMT_REDUCE_MIN: r = v < r ? v : r; break;
        case SIMT_REDUCE_MAX: r = v > r ? v : r; break;
        case SIMT_REDUCE_ADD: r += v; break;
        default: r |= (uint64_t)(v != 0) << i; break; /* the ballot that votes are made of */
        }
    }
    return r;
}

static uint64_t matching(const warp *w, uint32_t mask, uint32_t lane)
{
    uint64_t r = 0;
    for (uint32_t bits = mask; bits; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(bits);
        r |= (uint64_t)(w->given[i] == w->given[lane]) << i;
    }
    return r;
}

static uint64_t shuffled_in(simt_machine *m, const warp *w, simt_collective_op op, uint32_t mask, uint32_t lane)
{
    uint32_t from = op == SIMT_SHFL ? w->arg[lane] : lane ^ w->arg[lane];
    if (from < WARP_LANES && mask >> from & 1) return w->given[from];
    found(m, SIMT_OUTSIDE, "a shuffle reads lane %u, which is not in its mask", from);
    found_more(m, "block %u, lane %u at %s: %s, mask 0x%08x", w->member[lane]->ids.block, lane,
               simt_site_name(w->member[lane]->site), collective_name(op), mask);
    return 0;
}

static void synchronize(simt_machine *m, lane *const *members, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (members[i]->held) OBSERVERS_CALL(m, on_release, members[i]);
    OBSERVERS_CALL(m, on_sync, members, n);
}

static void order_memory(simt_machine *m, const warp *w, uint32_t mask)
{
    lane *members[WARP_LANES];
    uint32_t n = 0;
    for (uint32_t bits = mask; bits; bits &= bits - 1) members[n++] = w->member[__builtin_ctz(bits)];
    synchronize(m, members, n);
}

static void complete(simt_machine *m, warp *w, simt_collective_op op, uint32_t mask)
{
    bool shuffles = op == SIMT_SHFL || op == SIMT_SHFL_XOR;
    HD_ASSERT(!(mask & ~w->alive) && !(mask & w->at_barrier), "a collective ends without a lane of its mask");
    if (mask == w->alive) OBSERVERS_CALL(m, on_converge, w);
    uint64_t r = shuffles || op == SIMT_MATCH || op == SIMT_SYNC ? 0 : reduced(w, mask, op);
    if (op == SIMT_ANY) r = r != 0;
    if (op == SIMT_ALL) r = r == mask;
    for (uint32_t bits = mask; bits; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(bits);
        w->result[i] = shuffles ? shuffled_in(m, w, op, mask, i) : op == SIMT_MATCH ? matching(w, mask, i) : r;
    }
    if (op == SIMT_SYNC) order_memory(m, w, mask);
}

static void step(simt_machine *m, const char *site)
{
    if (++m->totals.steps <= m->config.step_limit) return;
    found(m, SIMT_ENDLESS, "%llu steps and no end: lanes spin, or the limit is too low",
          (unsigned long long)m->config.step_limit);
    found_more(m, "block %u, thread %u at %s", m->now->ids.block, m->now->ids.thread, simt_site_name(site));
    lane_hang(m->now);
}

/* The lanes of `mask` that wait at this collective. check_arrival excludes collectives with another mask. */
static uint32_t here(const warp *w, uint32_t mask)
{
    uint32_t n = w->waiting & mask;
    for (uint32_t bits = n; bits; bits &= bits - 1) {
        const lane *o = w->member[__builtin_ctz(bits)];
        if (o->mask != mask) n &= ~(1u << o->ids.lane);
    }
    return n;
}

/* The common case, that the lanes of the mask that wait all do so at this very collective, is checked against one. */
static bool plain_arrival(const lane *l, const char *site, simt_collective_op op, uint32_t mask)
{
    const warp *w = l->warp;
    uint32_t others = w->waiting & mask;
    if (!(mask >> l->ids.lane & 1) || (mask & ~w->alive) || (mask & w->at_barrier)) return false;
    if (!others) return true;
    const gathering *g = &w->at[__builtin_ctz(mask)];
    return g->mask == mask && g->op == op && g->site == site && g->come == others;
}

/* l comes to its collective. Returns the lanes of its mask that are there. */
static uint32_t gather(warp *w, const lane *l, bool plain)
{
    uint32_t bit = 1u << l->ids.lane, come = w->waiting & l->mask;
    gathering *g = &w->at[__builtin_ctz(l->mask)];
    if (!plain) return here(w, l->mask) | bit;
    if (!come) *g = (gathering){ l->site, l->op, l->mask, 0 };
    return g->come |= bit;
}

/* Until the last lane of the mask has come. */
static void wait_for_others(simt_machine *m, lane *l)
{
    warp *w = l->warp;
    uint32_t bit = 1u << l->ids.lane;
    w->waiting |= bit;
    schedule_ready(m, w, w->ready & ~bit);
    lane_stop(l, l->site, 0);
}

uint64_t simt_host_collective(const char *site, simt_collective_op op, uint32_t mask, uint64_t v, uint32_t arg)
{
    simt_machine *m = simt_current;
    lane *l = m->now;
    warp *w = l->warp;
    step(m, site);
    bool plain = plain_arrival(l, site, op, mask);
    if (!plain) check_arrival(m, l, site, op, mask);
    if (m->finding.fault) lane_hang(l);

    l->op = op;
    l->mask = mask;
    w->given[l->ids.lane] = v;
    w->arg[l->ids.lane] = arg;
    l->spins = 0;
    l->site = site;
    if (gather(w, l, plain) != mask) {
        wait_for_others(m, l);
    } else {
        complete(m, w, op, mask);
        if (m->finding.fault) lane_hang(l);
        HD_ASSERT((w->waiting & mask) == (mask & ~(1u << l->ids.lane)), "a lane of the mask has not come");
        w->at[__builtin_ctz(mask)].come = 0;
        w->waiting &= ~mask;
        schedule_ready(m, w, w->ready | mask);
        if (m->config.unit == SIMT_BY_WARP) lane_stop(l, site, 0); /* all go on together */
    }
    OBSERVERS_CALL(m, on_collective, l);
    return w->result[l->ids.lane];
}

void simt_host_join(const char *site)
{
    simt_machine *m = simt_current;
    (void)site;
    OBSERVERS_CALL(m, on_join, m->now);
}

/* ---- The block's barrier --------------------------------------------------------------------- */

static void barrier_release(simt_machine *m, block *b)
{
    lane *members[1024];
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->warps_n; i++) {
        warp *w = &b->warps[i];
        for (uint32_t bits = w->at_barrier; bits; bits &= bits - 1) members[n++] = w->member[__builtin_ctz(bits)];
        schedule_ready(m, w, w->ready | w->at_barrier);
        w->at_barrier = 0;
    }
    HD_ASSERT(n == b->arrived, "a barrier opens for other threads than have come");
    synchronize(m, members, n);
    b->arrived = 0;
    b->barrier = NULL;
}

void simt_host_sync_block(const char *site)
{
    simt_machine *m = simt_current;
    lane *l = m->now;
    warp *w = l->warp;
    block *b = w->block;
    uint32_t bit = 1u << l->ids.lane;
    step(m, site);
    if (b->barrier && !same_site(b->barrier, site)) {
        found(m, SIMT_MISMATCH, "threads of one block are at different barriers");
        found_more(m, "block %u, thread %u at %s: sync_block", l->ids.block, l->ids.thread, simt_site_name(site));
        found_more(m, "block %u, others at %s: sync_block", l->ids.block, simt_site_name(b->barrier));
    } else if (b->alive < b->of->threads) {
        found(m, SIMT_LEFT, "a block's barrier is reached after %u of its threads have left",
              b->of->threads - b->alive);
        found_more(m, "block %u, thread %u at %s: sync_block", l->ids.block, l->ids.thread, simt_site_name(site));
    }
    for (uint32_t bits = w->waiting; bits && !m->finding.fault; bits &= bits - 1) {
        const lane *o = w->member[__builtin_ctz(bits)];
        if (!(o->mask & bit)) continue;
        found(m, SIMT_DEADLOCK, "a lane waits at the block's barrier, and another waits for it in a collective");
        found_more(m, "block %u, lane %u at %s: sync_block", l->ids.block, l->ids.lane, simt_site_name(site));
        found_more(m, "block %u, lane %u at %s: %s, mask 0x%08x", l->ids.block, o->ids.lane, simt_site_name(o->site),
                   collective_name(o->op), o->mask);
    }
    if (m->finding.fault) lane_hang(l);
    b->barrier = site;
    l->spins = 0;
    l->site = site;
    w->at_barrier |= bit;
    schedule_ready(m, w, w->ready & ~bit);
    if (++b->arrived < b->alive)
        lane_stop(l, site, 0);
    else
        barrier_release(m, b);
}

void simt_host_backoff(const char *site)
{
    simt_machine *m = simt_current;
    step(m, site);
    /* other lanes may wait for a lane that waits: no effect of it is held back forever */
    if (m->now->held && schedule_choose(m, 2) == 0) OBSERVERS_CALL(m, on_release, m->now);
    schedule_backoff(m, m->now);
    lane_stop(m->now, site, 0);
}
