/* SPDX-License-Identifier: Apache-2.0
 *
 * search_run.c - looks for a bug among batches that go through the public interface: case after case, with seeds that
 * follow each other, judged as `heddle run` does.
 *
 *     run CASE
 */
#include <stdio.h>
#include <string.h>

#include "judge/run.h"
#include "base/error.h"
#include "judge/museum/museum.h"
#include "simt/machine.h"

/* The judge that a call belongs to which fails and should not. */
static museum_judge judge_of_failure(const char *why)
{
    static const struct {
        simt_fault fault;
        museum_judge by;
    } of[] = {
        { SIMT_BOUNDS, MUSEUM_BOUNDS },    { SIMT_MISALIGNED, MUSEUM_BOUNDS },    { SIMT_DEADLOCK, MUSEUM_COLLECTIVES },
        { SIMT_LEFT, MUSEUM_COLLECTIVES }, { SIMT_MISMATCH, MUSEUM_COLLECTIVES }, { SIMT_ENDLESS, MUSEUM_PATIENCE },
        { SIMT_IN_FLIGHT, MUSEUM_COPIES }, { SIMT_UNINITIALISED, MUSEUM_COPIES }, { SIMT_SPACE, MUSEUM_BOUNDS },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strstr(why, simt_fault_name(of[i].fault))) return of[i].by;
    return MUSEUM_ORACLE; /* which never saw it fail */
}

static museum_judge judge_of(uint32_t by)
{
    return by == HD_RUN_ARRAYS       ? MUSEUM_ARRAYS
           : by == HD_RUN_INVARIANTS ? MUSEUM_INVARIANTS
           : by == HD_RUN_COUNTERS   ? MUSEUM_COUNTERS
                                     : MUSEUM_ORACLE;
}

static uint32_t judges_left(uint32_t muted_checks)
{
    uint32_t judges = HD_RUN_ALL;
    for (uint32_t by = 1; by < HD_RUN_ALL; by <<= 1)
        if (muted_checks >> judge_of(by) & 1) judges &= ~by;
    return judges;
}

const char *museum_look_run(const museum_search *s, museum_sight *sight)
{
    hd_case c;
    hd_status status = hd_case_parse(s->what, &c);
    if (status) return hd_why();
    c.judge = true;
    for (c.seed = 1; c.seed <= s->fixtures && !sight->found; c.seed++) {
        hd_run_report report;
        sight->tries++;
        status = hd_case_run_judged(&c, judges_left(s->muted_checks), NULL, NULL, &report);
        sight->hash = sight->hash * 31 + report.contents_hash;
        if (status)
            museum_heard(s, sight, judge_of_failure(hd_why()), hd_why());
        else if (report.wrong[0])
            museum_heard(s, sight, judge_of(report.by), report.wrong);
        if (!sight->found) continue;
        sight->seed = c.seed;
        hd_case_print(&c, sight->at, sizeof sight->at);
    }
    return NULL;
}
