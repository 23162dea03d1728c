/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hive_growth.c - Hive's kernels of growth (split, measure, merge, thin, restash) on the host machine, under many
 * schedules, with the race detector and with weak memory, in full tables of every shape. HEDDLE_TEST_SCALE makes the
 * test longer or shorter.
 */
#include <string.h>

#include "judge/growth.h"
#include "tests/testing.h"

typedef unsigned long long ull;

static const char *const shapes[] = {
    "buckets=1 slots=8",
    "buckets=2 slots=8 hashes=3 layout=masks",
    "buckets=3 slots=16 value=2",
    "buckets=2 slots=32 layout=masks",
    "buckets=5 slots=8 layout=masks value=2 spare=3",
    "buckets=3 slots=8 hashes=3 spare=0",
};
enum { SHAPES = sizeof shapes / sizeof *shapes, TIMES = 8 };

static simt_config way(uint64_t n)
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

static void test_schedules(void **unused)
{
    (void)unused;
    judge_growth all;
    memset(&all, 0, sizeof all);
    for (uint64_t n = 0; n < test_times(30); n++) {
        char text[512];
        hd_case c;
        judge_growth g;
        simt_config w = way(n / SHAPES + n);
        snprintf(text, sizeof text, "hive.mix.tile %s seed=%llu", shapes[n % SHAPES], (ull)n + 1);
        must(hd_case_parse(text, &c));
        test_case("%s, way %llu", text, (ull)(n / SHAPES + n));
        must(judge_growth_run(&c, &w, TIMES, 0, &g));
        check(!g.wrong[0], "%s", g.wrong);
        all.grown += g.grown, all.shrunk += g.shrunk, all.short_of += g.short_of, all.stashed += g.stashed,
            all.entries += g.entries;
    }
    test_tried("schedules", all.grown + all.shrunk, "of growth and shrinking of hive, %llu entries", (ull)all.entries);
    test_note("%llu grew, %llu shrank, %llu of them not as far as was asked; of %llu entries %llu were in the stash",
              (ull)all.grown, (ull)all.shrunk, (ull)all.short_of, (ull)all.entries, (ull)all.stashed);
    check(all.grown && all.shrunk && all.short_of && all.stashed, "something never happened: see above");
}

static const struct CMUnitTest tests[] = { unit(test_schedules) };

int main(void) { return test_run(tests); }
