/* SPDX-License-Identifier: Apache-2.0
 *
 * growth_way.h - the schedules under which tests let tables grow on the host machine.
 */
#ifndef TESTS_GROWTH_WAY_H
#define TESTS_GROWTH_WAY_H

#include <string.h>

#include "judge/growth.h"
#include "tests/testing.h"

/* Schedule number n: by lane or by warp, at random or by priorities, with strong or weak memory; races are detected. */
static inline simt_config growth_way(uint64_t n)
{
    simt_config w = simt_config_default();
    w.seed = n * 1000;
    w.unit = n % 4 == 3 ? SIMT_BY_WARP : SIMT_BY_LANE;
    w.strategy = n % 2 ? SIMT_RANDOM : SIMT_PCT;
    w.pct_depth = 4;
    w.pct_length = 4000;
    w.preempt = n % 5 == 0 ? SIMT_AT_ALL : SIMT_AT_ATOMIC;
    w.race = true;
    w.weak = n % 3 == 0;
    w.step_limit = 100000000;
    return w;
}

/* Lets the table of this case grow and shrink `times` times, by schedule number n, and adds up in *all. */
static inline void growth_try(const char *text, uint64_t n, uint64_t times, judge_growth *all)
{
    hd_case c;
    judge_growth g;
    simt_config w = growth_way(n);
    must(hd_case_parse(text, &c));
    test_case("%s, way %llu", text, (ull)n);
    must(judge_growth_run(&c, &w, times, 0, &g));
    check(!g.wrong[0], "%s", g.wrong);
    all->grown += g.grown;
    all->shrunk += g.shrunk;
    all->short_of += g.short_of;
    all->stashed += g.stashed;
    all->entries += g.entries;
}

#endif
