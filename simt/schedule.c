/* SPDX-License-Identifier: Apache-2.0
 *
 * schedule.c - chooses the lane that runs next. Every decision of a run is made by schedule_choose, and 0 is always the
 * default: continue the lane that ran, take blocks in order, make a store visible at once. A schedule is the list of
 * decisions other than 0, so a shorter schedule is a simpler report.
 */
#include "simt/schedule.h"

#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/error.h"
#include "simt/finding.h"
#include "simt/list.h"
#include "simt/observer.h"

_Thread_local simt_hot_state simt_hot;

typedef struct tape_entry {
    uint32_t choice, choices;
} tape_entry;

simt_strategy schedule_strategy(const simt_machine *m)
{
    return m->config.strategy == SIMT_REPLAY ? m->config.replayed : m->config.strategy;
}

/* ---- Decisions ------------------------------------------------------------------------------- */

static uint32_t replay(simt_machine *m, uint32_t n)
{
    const simt_config *c = &m->config;
    while (m->replayed < c->schedule_n && c->schedule[m->replayed].at < m->decision) m->replayed++;
    bool listed = m->replayed < c->schedule_n && c->schedule[m->replayed].at == m->decision;
    return listed ? c->schedule[m->replayed].choice % n : 0;
}

static uint32_t search(simt_machine *m, uint32_t n)
{
    if (m->decision == m->tape.n) {
        tape_entry e = { 0, n };
        if (!vec_push(m, &m->tape, &e)) return 0;
    }
    tape_entry *e = (tape_entry *)m->tape.p + m->decision;
    HD_ASSERT(e->choices == n && e->choice < n, "the same choices lead to another decision");
    e->choices = n;
    return e->choice;
}

static uint32_t decide(simt_machine *m, uint32_t answer)
{
    simt_decision d = { m->decision++, answer };
    if (answer) vec_push(m, &m->schedule, &d);
    return answer;
}

static uint32_t answer_for(simt_machine *m, uint32_t n)
{
    switch (m->config.strategy) {
    case SIMT_REPLAY: return replay(m, n);
    case SIMT_SEARCH: return search(m, n);
    case SIMT_ROUND_ROBIN: return 0;
    default: return (uint32_t)((machine_random(&m->random) >> 32) * n >> 32);
    }
}

uint32_t schedule_choose(simt_machine *m, uint32_t n) { return n <= 1 ? 0 : decide(m, answer_for(m, n)); }

bool simt_machine_next(simt_machine *m)
{
    tape_entry *e = (tape_entry *)m->tape.p;
    size_t n = m->decision < m->tape.n ? (size_t)m->decision : m->tape.n;
    while (n && e[n - 1].choice + 1 >= e[n - 1].choices) n--;
    m->tape.n = n;
    if (n == 0) return false;
    e[n - 1].choice++;
    return true;
}

void simt_machine_restart(simt_machine *m) { m->tape.n = 0; }

const simt_decision *simt_machine_schedule(const simt_machine *m, size_t *n)
{
    *n = m->schedule.n;
    return (const simt_decision *)m->schedule.p;
}

static void set_priority(lane *l, int64_t priority)
{
    l->warp->lane_priority[l->number % WARP_LANES] = priority; /* it may not have begun */
    l->warp->best_known = false;
}

void schedule_begin(simt_machine *m)
{
    const simt_config *c = &m->config;
    m->decision = 0;
    m->schedule.n = m->replayed = 0;
    m->preemptions = 0;
    m->patient = schedule_strategy(m) == SIMT_ROUND_ROBIN || schedule_strategy(m) == SIMT_SEARCH;
    m->lanes_open = m->warps_open = 0;
    m->last_lane = NULL;
    m->last_warp = NULL;
    m->low_priority = 0;
    m->change_points.n = 0;
    if (c->strategy != SIMT_PCT) return;
    for (uint32_t i = 0; i < m->lanes_n; i++) set_priority(&m->lanes[i], (int64_t)(machine_random(&m->random) >> 2));
    for (uint32_t i = 0; i < m->warps_n; i++) m->warps[i].priority = (int64_t)(machine_random(&m->random) >> 2);
    uint32_t depth = c->pct_depth ? c->pct_depth : 3, length = c->pct_length ? c->pct_length : 1000;
    for (uint32_t i = 1; i < depth; i++) {
        uint64_t at = machine_random(&m->random) % length;
        vec_push(m, &m->change_points, &at);
    }
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* Counted at each change, because there is a choice at every stop. */
static void recount(simt_machine *m, warp *w)
{
    uint32_t now = m->patient ? w->ready & ~w->yielding : w->ready, n = simt_popc(now);
    HD_ASSERT(!(w->ready & (w->waiting | ~w->alive)), "a lane is ready that waits, or has left");
    HD_ASSERT(m->lanes_open >= w->candidates_n && m->warps_open >= (w->candidates != 0), "a count is below 0");
    m->lanes_open += n - w->candidates_n;
    m->warps_open += (uint32_t)(now != 0) - (uint32_t)(w->candidates != 0);
    w->candidates = now;
    w->candidates_n = n;
    w->best_known = false;
}

void schedule_ready(simt_machine *m, warp *w, uint32_t lanes)
{
    w->ready = lanes;
    recount(m, w);
}

static void yields(simt_machine *m, warp *w, uint32_t lanes)
{
    w->yielding = lanes;
    if (m->patient) recount(m, w);
}

static uint32_t lowest(uint32_t bits) { return (uint32_t)__builtin_ctz(bits); }

static warp *next_warp(const simt_machine *m, warp *w) { return w + 1 == m->warps + m->warps_n ? m->warps : w + 1; }

/* The place of the k-th set bit, from 0. Chance chose k, so a branch on it would be mispredicted every other time: sums
 * of all bits up to each byte find the byte, the first with more than k; its bits, one to a byte of a longer word, are
 * then found in the same way. */
static uint32_t nth_by_sums(uint32_t bits, uint32_t k)
{
    const uint64_t ones = 0x0101010101010101ull, tops = 0x8080808080808080ull;
    uint32_t n = bits - (bits >> 1 & 0x55555555u);
    n = (n & 0x33333333u) + (n >> 2 & 0x33333333u);
    n = ((n + (n >> 4)) & 0x0f0f0f0fu) * 0x01010101u;
    uint32_t more = ((n | 0x80808080u) - (k + 1) * 0x01010101u) & 0x80808080u, at = lowest(more) - 7;
    k -= (uint32_t)((uint64_t)n << 8 >> at) & 0xff;
    uint64_t apart = (bits >> at & 0xff) * ones & 0x8040201008040201ull;
    uint64_t up_to = ((apart + (tops - ones)) >> 7 & ones) * ones;
    return at + ((uint32_t)__builtin_ctzll(((up_to | tops) - (k + 1) * ones) & tops) >> 3);
}

#ifdef __x86_64__
/* An instruction deposits one bit at the k-th set bit, where the processor has it. */
__attribute__((target("bmi2"))) static uint32_t nth(uint32_t bits, uint32_t k)
{
    return __builtin_cpu_supports("bmi2") ? lowest(_pdep_u32(1u << k, bits)) : nth_by_sums(bits, k);
}
#else
static uint32_t nth(uint32_t bits, uint32_t k) { return nth_by_sums(bits, k); }
#endif

/* Candidate k, counted from `from` on and around: candidate 0 is `from` itself when it may be chosen. */
static lane *lane_from(const simt_machine *m, const lane *from, uint32_t k)
{
    warp *w = from ? from->warp : m->warps;
    uint32_t above = w->candidates & (from ? ~0u << from->ids.lane : ~0u), n = simt_popc(above);
    if (k < n) return w->member[nth(above, k)];
    k -= n;
    for (w = next_warp(m, w); k >= w->candidates_n; w = next_warp(m, w)) k -= w->candidates_n;
    return w->member[nth(w->candidates, k)]; /* after a full round in the first warp: k is among the lanes below
                                              * `from` */
}

static warp *warp_from(const simt_machine *m, warp *from, uint32_t k)
{
    warp *w = from ? from : m->warps;
    while (!w->candidates || k--) w = next_warp(m, w);
    return w;
}

/* The lane of w with the highest priority, of those that may be chosen. It is looked for when these have changed. */
static uint32_t best_of(warp *w)
{
    if (w->best_known) return w->best;
    uint32_t best = lowest(w->candidates);
    for (uint32_t left = w->candidates; left; left &= left - 1)
        if (w->lane_priority[lowest(left)] > w->lane_priority[best]) best = lowest(left);
    w->best_known = true;
    return w->best = best;
}

/* How many candidates are before a lane of w, counted from the machine's first. */
static uint32_t candidates_before(const simt_machine *m, const warp *w, uint32_t lane)
{
    uint32_t n = simt_popc(w->candidates & ((1u << lane) - 1));
    for (const warp *x = m->warps; x < w; x++) n += x->candidates_n;
    return n;
}

/* In the order of lane_from. No two lanes have the same priority. */
static uint32_t best_lane(const simt_machine *m)
{
    const lane *from = m->last_lane;
    const warp *best = NULL;
    for (warp *w = m->warps; w < m->warps + m->warps_n; w++) {
        if (!w->candidates) continue;
        uint32_t l = best_of(w);
        if (!best || w->lane_priority[l] > best->lane_priority[best->best]) best = w;
    }
    uint32_t passed = from ? candidates_before(m, from->warp, from->ids.lane) : 0;
    return (candidates_before(m, best, best->best) + m->lanes_open - passed) % m->lanes_open;
}

/* In the order of warp_from. Of warps with the same priority the first one. */
static uint32_t best_warp(const simt_machine *m)
{
    const warp *best = NULL;
    warp *w = m->last_warp ? m->last_warp : m->warps;
    uint32_t passed = 0, k = 0;
    for (uint32_t i = 0; i < m->warps_n; i++, w = next_warp(m, w)) {
        if (!w->candidates) continue;
        if (!best || w->priority > best->priority) best = w, k = passed;
        passed++;
    }
    return k;
}

/* Which candidate has the highest priority. A change point puts the one that ran last at the end. */
static uint32_t by_priority(simt_machine *m)
{
    bool lanes = m->config.unit == SIMT_BY_LANE;
    const uint64_t *at = (const uint64_t *)m->change_points.p;
    for (size_t i = 0; i < m->change_points.n; i++) {
        if (at[i] != m->decision) continue;
        if (lanes && m->last_lane) set_priority(m->last_lane, --m->low_priority);
        if (!lanes && m->last_warp) m->last_warp->priority = --m->low_priority;
    }
    HD_ASSERT(m->lanes_open && m->warps_open, "there is nothing to choose from");
    return lanes ? best_lane(m) : best_warp(m);
}

/* Which of n candidates; the running one is candidate 0 when it `may_stay`. */
static uint32_t pick(simt_machine *m, uint32_t n, bool may_stay)
{
    if (n <= 1) return 0;
    if (m->config.strategy == SIMT_PCT) return decide(m, by_priority(m));
    if (schedule_strategy(m) == SIMT_SEARCH && may_stay && m->preemptions == m->config.bound) return 0;
    uint32_t k = schedule_choose(m, n);
    if (k && may_stay) m->preemptions++;
    return k;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void deadlock(simt_machine *m)
{
    found(m, SIMT_DEADLOCK, "no lane can go on: they wait for each other");
    for (uint32_t i = 0; i < m->lanes_n; i++) {
        const lane *l = &m->lanes[i];
        if (l->warp->waiting >> l->ids.lane & 1)
            found_more(m, "block %u, lane %u of warp %u waits at %s: %s, mask 0x%08x, for lanes 0x%08x", l->ids.block,
                       l->ids.lane, l->ids.thread / WARP_LANES, simt_site_name(l->site), collective_name(l->op),
                       l->mask, l->mask & ~l->warp->waiting);
        if (l->warp->at_barrier >> l->ids.lane & 1)
            found_more(m, "block %u, thread %u waits at %s: sync_block", l->ids.block, l->ids.thread,
                       simt_site_name(l->site));
    }
}

/* l runs now, or will when it is switched to. */
static void make_current(simt_machine *m, lane *l)
{
    uint32_t bit = 1u << l->ids.lane;
    HD_ASSERT(l->warp->alive & l->warp->ready & bit, "a lane runs that is not ready");
    m->now = l;
    m->totals.switches++;
    m->totals.hash = (m->totals.hash ^ (l->number + 1)) * 0x100000001b3ull ^ m->totals.steps;
    if (l->warp->yielding & bit) yields(m, l->warp, l->warp->yielding & ~bit);
    simt_hot.ids = &l->ids;
}

/* Whether the watcher is to be called before the next step. It needs the hub's stack. */
static bool watch_due(const simt_machine *m)
{
    uint32_t every = m->config.watch_every;
    return m->wrote && m->config.watch && every && m->totals.switches % every == 0 && m->finding.fault == SIMT_NO_FAULT;
}

static void watch(simt_machine *m)
{
    m->wrote = false;
    const char *why = m->config.watch(m->config.context);
    if (!why) return;
    found(m, SIMT_WATCHED, "%s", why);
    found_more(m, "after block %u, thread %u had come to %s", m->now->ids.block, m->now->ids.thread,
               simt_site_name(m->now->site));
}

/* From the hub, into the lane that is current. Lanes pass on to each other; back when one leaves its kernel, when
 * something is found, when the watcher is due, or when a group has run. */
static void run(simt_machine *m)
{
    fiber_switch(&m->hub, &m->now->fiber);
    if (watch_due(m)) watch(m);
}

/* The lanes of w that may be chosen. A group that spins yields to the group that it waits for. */
static uint32_t going(const warp *w)
{
    return w->candidates & ~w->yielding ? w->candidates & ~w->yielding : w->candidates;
}

/* A lane stands where it stopped: lanes of a warp that stand at the same place are a group. */
static uint32_t standing_with(const warp *w, uint32_t lane, uint32_t of)
{
    const char *site = w->site[lane];
    uint32_t kind = w->stop_kind[lane], group = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++) group |= (uint32_t)(w->site[i] == site && w->stop_kind[i] == kind) << i;
    return group & of;
}

/* Of `bits` the first lane of each group: what there is to choose from. */
static uint32_t leaders_of(const warp *w, uint32_t bits)
{
    uint32_t leaders = 0;
    for (uint32_t left = bits; left; left &= ~standing_with(w, lowest(left), left)) leaders |= left & -left;
    return leaders;
}

/* The next lane of w's group that runs, which becomes the current one; NULL: all have run, or something was found. */
static lane *next_of_group(simt_machine *m, const warp *w)
{
    if (!m->group_left || m->finding.fault != SIMT_NO_FAULT) return NULL;
    lane *l = w->member[lowest(m->group_left)];
    m->group_left &= m->group_left - 1;
    make_current(m, l);
    return l;
}

/* Lock step: lanes of w, in order. */
static void run_group(simt_machine *m, const warp *w, uint32_t lanes)
{
    m->group_left = lanes;
    while (next_of_group(m, w)) run(m);
}

static void forget_yields(simt_machine *m)
{
    for (uint32_t i = 0; i < m->warps_n; i++) yields(m, &m->warps[i], 0);
}

/* Units to choose from; 0: no lane can go on, and that is a finding. If all that can go on spin, they may wait for a
 * store that is not visible yet: one becomes visible, whatever the schedule chooses, as all do in time. */
static uint32_t candidates(simt_machine *m, bool lanes)
{
    if (m->held && schedule_choose(m, 16) == 1) OBSERVERS_CALL(m, on_release, NULL);
    uint32_t n = lanes ? m->lanes_open : m->warps_open;
    if (n) return n;
    if (m->held) OBSERVERS_CALL(m, on_release, NULL);
    forget_yields(m);
    n = lanes ? m->lanes_open : m->warps_open;
    if (!n) deadlock(m);
    return n;
}

/* By a lane that stops: which is next; NULL: the hub decides. */
static lane *schedule_next(simt_machine *m)
{
    uint32_t n = m->finding.fault == SIMT_NO_FAULT ? candidates(m, true) : 0;
    if (!n) return NULL;
    const lane *last = m->last_lane;
    bool may_stay = last && (last->warp->candidates >> last->ids.lane & 1);
    m->last_lane = lane_from(m, last, pick(m, n, may_stay));
    make_current(m, m->last_lane);
    return m->last_lane;
}

static bool next_group(simt_machine *m)
{
    uint32_t n = candidates(m, false);
    if (!n) return false;
    bool may_stay = m->last_warp && m->last_warp->candidates;
    warp *w = m->last_warp = warp_from(m, m->last_warp, pick(m, n, may_stay));
    uint32_t may = going(w), leader = leaders_of(w, may), k = schedule_choose(m, simt_popc(leader));
    while (k--) leader &= leader - 1;
    run_group(m, w, standing_with(w, lowest(leader), may));
    return true;
}

enum { NEAR = 3 };

/* A group of lanes of one warp that may be chosen. */
typedef struct group {
    warp *of;
    uint32_t lanes;
} group;

/* What next_access chooses from: how many groups of each distance there are, and the first of each that has no access
 * to make (lanes 0: none). */
typedef struct groups {
    uint32_t n[NEAR];
    group local[NEAR];
} groups;

/* How far a group is from the one that ran last: has lanes of it, is of its warp, is of another. */
static uint32_t distance(const simt_machine *m, const group *g)
{
    return g->of != m->last_warp ? 2 : g->lanes & m->last_lanes ? 0 : 1;
}

/* Goes over all groups by warp and first lane. Returns number k of those at distance d, if there is one. */
static group look_at_groups(simt_machine *m, groups *all, uint32_t d, uint32_t k)
{
    group found = { NULL, 0 };
    for (uint32_t i = 0; i < m->warps_n; i++) {
        warp *w = &m->warps[i];
        for (uint32_t left = going(w); left;) {
            group g = { w, standing_with(w, lowest(left), left) };
            uint32_t far = distance(m, &g);
            left &= ~g.lanes;
            if (!w->stop_kind[lowest(g.lanes)] && !all->local[far].lanes) all->local[far] = g;
            if (far == d && all->n[far] == k) found = g;
            all->n[far]++;
        }
    }
    return found;
}

/* config.local_first: a group that has no access to make, else one that is chosen, nearer ones first. */
static bool next_access(simt_machine *m)
{
    if (!candidates(m, false)) return false;
    groups all, again;
    memset(&all, 0, sizeof all);
    memset(&again, 0, sizeof again);
    look_at_groups(m, &all, NEAR, 0);
    group g = { NULL, 0 };
    for (uint32_t d = 0; d < NEAR && !g.lanes; d++) g = all.local[d];
    bool local = g.lanes != 0;
    if (!local) {
        uint32_t free = all.n[0] ? all.n[0] : all.n[1] ? all.n[1] : all.n[2];
        uint32_t k = schedule_choose(m, m->preemptions < m->config.bound ? all.n[0] + all.n[1] + all.n[2] : free),
                 d = 0;
        m->preemptions += k >= free;
        while (k >= all.n[d]) k -= all.n[d++];
        g = look_at_groups(m, &again, d, k);
    }
    bool its_turn = !local || distance(m, &g) == 0;
    if (its_turn) m->last_lanes = local ? m->last_lanes | g.lanes : g.lanes;
    if (its_turn) m->last_warp = g.of;
    run_group(m, g.of, g.lanes);
    return true;
}

static bool next_lane(simt_machine *m)
{
    if (!schedule_next(m)) return false;
    run(m);
    return true;
}

/* Until a block has ended, or something is found. */
void schedule_run(simt_machine *m)
{
    bool lanes = m->config.unit == SIMT_BY_LANE;
    while (m->finding.fault == SIMT_NO_FAULT)
        if (!(lanes                   ? next_lane(m)
              : m->config.local_first ? next_access(m)
                                      : next_group(m)) ||
            m->now->warp->block->alive == 0)
            return;
}

void schedule_backoff(simt_machine *m, lane *l)
{
    yields(m, l->warp, l->warp->yielding | 1u << l->ids.lane);
    set_priority(l, --m->low_priority);
    l->warp->priority = --m->low_priority;
    l->spins = 0;
}

/* ---- Stops ----------------------------------------------------------------------------------- */

void lane_stop(lane *l, const char *site, uint32_t kind)
{
    simt_machine *m = simt_current;
    l->site = site;
    l->warp->site[l->ids.lane] = site;
    l->warp->stop_kind[l->ids.lane] = kind;
    lane *next = NULL;
    if (!watch_due(m)) next = m->config.unit == SIMT_BY_LANE ? schedule_next(m) : next_of_group(m, l->warp);
    if (next != l) fiber_switch(&l->fiber, next ? &next->fiber : &m->hub);
}

_Noreturn void lane_hang(lane *l)
{
    for (;;) fiber_switch(&l->fiber, &simt_current->hub);
}
