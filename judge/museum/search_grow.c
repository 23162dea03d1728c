/* SPDX-License-Identifier: Apache-2.0
 *
 * search_grow.c - looks for a bug in a table that grows, or shrinks, on the host machine: table after table, each
 * resized by one schedule after another, judged as judge/growth.h does.
 *
 *     grow CASE
 */
#include <string.h>

#include "judge/growth.h"
#include "base/error.h"
#include "judge/museum/museum.h"

static museum_judge judge_of(const judge_growth *g)
{
    if (g->by == JUDGE_GROWTH_CONTENTS) return MUSEUM_CONTENTS;
    if (g->by == JUDGE_GROWTH_INVARIANTS) return MUSEUM_INVARIANTS;
    return strstr(g->wrong, simt_fault_name(SIMT_RACE))      ? MUSEUM_RACES
           : strstr(g->wrong, simt_fault_name(SIMT_BOUNDS))  ? MUSEUM_BOUNDS
           : strstr(g->wrong, simt_fault_name(SIMT_ENDLESS)) ? MUSEUM_PATIENCE
                                                             : MUSEUM_COLLECTIVES;
}

/* By lane and by warp, at random and by priorities. */
static simt_config way(uint64_t seed, uint32_t muted_checks)
{
    simt_config w = simt_config_default();
    w.unit = seed % 4 == 3 ? SIMT_BY_WARP : SIMT_BY_LANE;
    w.strategy = seed % 2 ? SIMT_RANDOM : SIMT_PCT;
    w.pct_depth = 4;
    w.pct_length = 4000;
    w.seed = seed * 1000;
    w.race = !(muted_checks >> MUSEUM_RACES & 1);
    w.weak = seed % 3 == 0 && !(muted_checks >> MUSEUM_WEAK & 1);
    w.step_limit = 10000000;
    return w;
}

const char *museum_look_grow(const museum_search *s, museum_sight *sight)
{
    hd_case c;
    hd_status status = hd_case_parse(s->what, &c);
    uint32_t muted_checks = (s->muted_checks >> MUSEUM_CONTENTS & 1 ? (uint32_t)JUDGE_GROWTH_CONTENTS : 0) |
                            (s->muted_checks >> MUSEUM_INVARIANTS & 1 ? (uint32_t)JUDGE_GROWTH_INVARIANTS : 0);
    for (c.seed = 1; c.seed <= s->fixtures && !status && !sight->found; c.seed++) {
        judge_growth g;
        simt_config w = way(c.seed, s->muted_checks);
        status = judge_growth_run(&c, &w, s->schedules, muted_checks, &g);
        sight->tries += g.grown + g.shrunk;
        sight->hash = sight->hash * 31 + g.entries * 7 + g.stashed;
        if (status || !g.wrong[0] || !museum_heard(s, sight, judge_of(&g), g.wrong)) continue;
        sight->seed = c.seed;
        hd_case_print(&c, sight->at, sizeof sight->at);
    }
    return status ? hd_why() : NULL;
}
