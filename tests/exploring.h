/* SPDX-License-Identifier: Apache-2.0
 *
 * exploring.h - for tests that run the kernels of a design against its reference (judge/comparison.h): one fixture in
 * many schedules, and what became of its items.
 */
#ifndef EXPLORING_H
#define EXPLORING_H

#include "judge/comparison.h"
#include "judge/design.h"
#include "judge/kernels.h"
#include "tests/testing.h"

typedef unsigned long long ull;

typedef struct totals {
    ull schedules, distinct, fixtures;
    ull outcome[HD_OUTCOME_COUNT], moves; /* of each fixture's last run */
    ull special;                          /* what else a test counts    */
} totals;

/* Explores and judges; a failure says how to see it again. watch: the invariants are looked at after so many steps. */
static inline void explore_case(simt_machine *machine, comparison *a, const hd_case *c, simt_config w, uint32_t watch,
                                ull schedules, totals *t)
{
    static const char *const strategies[] = { "in turn", "random", "pct", "search", "replay" };
    simt_exploration e;
    char text[512], schedule[512], buckets[4096] = "";
    hd_case_print(c, text, sizeof text);
    test_case("%s", text);
    comparison_watch_with(a, &w, watch);
    w.shared_bytes = 48 << 10;
    simt_trial trial = comparison_trial(a);
    must(simt_explore(machine, &trial, &w, schedules, 0, 400, &e));
    t->schedules += e.schedules;
    t->distinct += e.distinct;
    t->fixtures++;
    if (e.wrong) {
        simt_schedule_print(e.schedule, e.schedule_n, schedule, sizeof schedule);
        if (!e.finding.fault) comparison_draw(a, buckets, sizeof buckets);
        check(false, "%s: %s\nunit %s, %s%s, preempted at %u, seed %llu; schedule %s\n%s",
              simt_fault_name(e.finding.fault), e.finding.story, w.unit == SIMT_BY_LANE ? "lane" : "warp",
              strategies[w.strategy], w.weak ? ", weak" : "", w.preempt, (ull)e.seed, schedule, buckets);
    }
    check(w.strategy != SIMT_SEARCH || e.exhausted, "not all schedules were run: %llu", (ull)e.schedules);
    size_t n;
    const simt_ticket_record *ticket = simt_machine_tickets(machine, &n);
    for (size_t i = 0; i < n; i++) {
        if (ticket[i].item == JUDGE_MOVE)
            t->moves++;
        else
            t->outcome[ticket[i].what]++;
    }
    simt_exploration_free(machine, &e);
}

/* All schedules by warp with at most so many preemptions, at atomics. */
static inline simt_config explore_all(uint32_t bound)
{
    simt_config w = simt_config_default();
    w.strategy = SIMT_SEARCH;
    w.preempt = SIMT_AT_ATOMIC;
    w.unit = SIMT_BY_WARP;
    w.bound = bound;
    return w;
}

/* Way n of running schedules. */
static inline simt_config explore_way(uint64_t n)
{
    simt_config w = simt_config_default();
    w.seed = n * 7919;
    w.unit = n % 4 == 1 ? SIMT_BY_WARP : SIMT_BY_LANE;
    w.strategy = n % 2 ? SIMT_RANDOM : SIMT_PCT;
    w.pct_depth = 3 + (uint32_t)(n / 2 % 2);
    w.pct_length = 4000;
    w.preempt = n % 3 == 0 ? SIMT_AT_SYNC : n % 3 == 1 ? SIMT_AT_ATOMIC : SIMT_AT_ALL;
    w.weak = n % 4 == 2;
    w.step_limit = 20000000;
    return w;
}

#endif
