/* SPDX-License-Identifier: Apache-2.0
 *
 * t_crash_judge.c - the judge of crashes: a table that survives them passes, and each fault of its kernels and of its
 * recovery meets its objection.
 */
#include <stdio.h>
#include <string.h>

#include "judge/crash.h"
#include "judge/kernels.h"
#include "tests/on_machine.h"
#include "tests/slate.h"

extern const judge_design judge_design_toy;

static simt_machine *machine;
static uint64_t images_tried;

/* The crashes of some schedules of a case. */
static void explored_case(const char *text, const simt_config *c, simt_exploration *e)
{
    hd_case is;
    uint32_t row;
    fixture *s;
    comparison *a;
    simt_recovery how;
    test_case("%s", text);
    must(hd_case_parse(text, &is));
    must(fixture_kernel_row(&is, &row));
    fixture_kernel k = fixture_kernel_at(judge_design_of(&is), row, 32, 2);
    const fixture_kernel *kernels[] = { &k };
    must(fixture_open(&is, kernels, 1, &s));
    must(comparison_open(s, &a));
    must(crash_recovery(a, &how));
    const simt_trial trial = crash_trial(a);
    must(simt_explore_crashes(machine, &trial, &how, c, 4, 0, 100, e));
    images_tried += e->images;
    comparison_close(a);
}

static void explored(const char *op, const char *kernel, uint64_t seed, const simt_config *c, simt_exploration *e)
{
    char text[256];
    snprintf(text, sizeof text, "slate.%s.%s value=8 pins=0 buckets=1 slots=4 batch=5x1 keys=uniform:6 seed=%llu", op,
             kernel, (ull)seed);
    explored_case(text, c, e);
}

static simt_config way(uint64_t n)
{
    simt_config c = simt_config_default();
    c.strategy = n % 3 ? SIMT_RANDOM : SIMT_PCT;
    c.weak = n % 4 == 3;
    c.seed = n;
    c.step_limit = 20000; /* a lane may spin until then where a schedule is made short */
    return c;
}

static const char *const ops[] = { "insert_or_assign", "erase", "mixed" };

static void a_sound_table_survives(void)
{
    uint64_t points = 0;
    for (uint64_t n = 0; n < test_times(60); n++) {
        const simt_config c = way(n);
        simt_exploration e;
        explored(ops[n % 3], "sound", n, &c, &e);
        check(!e.wrong, "%s", e.finding.story);
        points += e.points;
        simt_exploration_free(machine, &e);
    }
    check(points > test_times(60) * 4, "%llu crashes", (ull)points);
    test_tried("crashes", images_tried, "images of a table that survives them");
}

typedef struct planted {
    const char *op, *kernel;
    slate_recovery recovery;
    const char *sentence;
} planted;

static const planted faults[] = {
    { "insert_or_assign", "no_fence", SLATE_RIGHT, "has the value" },
    { "insert_or_assign", "device_fence", SLATE_RIGHT, "has the value" },
    { "insert_or_assign", "key_first", SLATE_RIGHT, "has the value" },
    { "mixed", "late_erase", SLATE_RIGHT, "places" },
    { "insert_or_assign", "sound", SLATE_LEAVES_CLAIMS, "is claimed" },
    { "insert_or_assign", "sound", SLATE_DROPS, "is gone" },
    { "insert_or_assign", "sound", SLATE_COUNTS, "leaves other bytes in 'runs'" },
    { "insert_or_assign", "sound", SLATE_ZEROES, "a crash in it, leaves other bytes in 'value'" },
    { "insert_or_assign", "sound", SLATE_GIVES_UP, "recovery: slot" },
};

static void each_fault_is_found(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        simt_exploration e = { .wrong = false };
        uint64_t n = 0;
        slate_recovers = faults[i].recovery;
        for (bool found = false; !found && n < 200; n++) {
            simt_config c = way(n);
            simt_exploration_free(machine, &e);
            explored(faults[i].op, faults[i].kernel, n, &c, &e);
            found = e.wrong && strstr(e.finding.story, faults[i].sentence);
        }
        check(e.finding.fault == SIMT_CRASH && strstr(e.finding.story, faults[i].sentence), "'%s' was not said, but %s",
              faults[i].sentence, e.finding.story);
        check(faults[i].recovery != SLATE_RIGHT || e.lost_n <= 1, "%zu words have lost stores", e.lost_n);
        simt_exploration_free(machine, &e);
    }
    slate_recovers = SLATE_RIGHT;
}

static hd_status nothing_to_do(fixture *s, void *table) { return (void)s, (void)table, HD_OK; }
static bool is_board(const fixture *s, const char *region) { return (void)s, strcmp(region, "toy: a board") == 0; }

/* A design with its own hd_gpu: which of its arrays are persistent, the port says. Its kernels have no fences. */
static void hosted_designs_crash(void)
{
    judge_design toy = judge_design_toy;
    simt_exploration e;
    const simt_config c = way(1);
    toy.name = "lasting_toy";
    toy.recover = nothing_to_do;
    toy.persistent = is_board;
    must(judge_design_add(&toy, NULL));
    explored_case("lasting_toy.insert_or_assign.plain value=8 pins=0 buckets=2 slots=32 batch=3x1 keys=uniform:90", &c,
                  &e);
    check(e.finding.fault == SIMT_CRASH && strstr(e.finding.story, "has the value") && e.lost_n == 1, "%s",
          e.finding.story);
    simt_exploration_free(machine, &e);
}

static void others_are_refused(void)
{
    hd_case c;
    fixture *s;
    comparison *a;
    simt_recovery how;
    must(hd_case_parse("hkv.find.tlpv1 buckets=2 slots=4 batch=2x1 keys=uniform:6", &c));
    fixture_kernel k = fixture_kernel_at(judge_design_of(&c), 0, 32, 2);
    const fixture_kernel *kernels[] = { &k };
    must(fixture_open(&c, kernels, 1, &s));
    must(comparison_open(s, &a));
    must_fail(crash_recovery(a, &how), HD_EINVAL, "design hkv recovers nothing");
    comparison_close(a);
}

int main(void)
{
    const struct CMUnitTest crashes[] = { unit(a_sound_table_survives), unit(each_fault_is_found),
                                          unit(hosted_designs_crash), unit(others_are_refused) };
    if (judge_design_add(&judge_design_slate, NULL)) return 1;
    return test_run_on(&machine, crashes);
}
