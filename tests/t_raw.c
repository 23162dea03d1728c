/* SPDX-License-Identifier: Apache-2.0
 *
 * t_raw.c - kernel code accesses device and shared memory only through the dialect. Every kernel is compiled so that
 * its C accesses are instrumented (tests/raw.h), and runs all its operations, with one and two candidate buckets: no
 * access may be to such memory. The test finds kernels that make one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hkv/rows.h"
#include "judge/comparison.h"
#include "judge/hkv/fixture.h"
#include "judge/kernels.h"
#include "base/op.h"
#include "policies/policy.h"
#include "tests/on_machine.h"
#include "tests/raw.h"
#include "tests/testing.h"

#ifdef HD_RAW

enum { WORDS = 1024 };

static simt_machine *machine;

/* ---- Caught ---------------------------------------------------------------------------------- */

static void caught(const raw_kernel *k, raw_args *a, simt_config c)
{
    const simt_finding *f = simt_machine_finding(machine);
    simt_machine_forget(machine);
    must(simt_machine_region(machine, a->in, 4 * WORDS, "in"));
    must(simt_machine_region(machine, a->out, 4 * WORDS, "out"));
    must(simt_machine_launch(machine, k->kernel, a, sizeof *a, 1, 64, 0));
    bool clean = simt_machine_run(machine, &c);
    if (!k->sentence) {
        check(clean, "%s", f->story);
        return;
    }
    check(!clean && f->fault == SIMT_RAW, "found: %s: %s", simt_fault_name(f->fault), f->story);
    check(strstr(f->story, k->sentence), "another sentence: %s", f->story);
    check(strstr(f->story, "block 0, lane 5 (thread 5) of lanes 0x"), "not who: %s", f->story);
    check(strstr(f->story, "its last operation of the dialect was at raw_kernels.c:"), "not after what: %s", f->story);
    check(strstr(f->story, " at raw_kernels.c:") || strstr(f->story, "code at 0x"), "not where: %s", f->story);
}

static void test_caught(void)
{
    raw_args a = { (uint32_t *)test_alloc(WORDS, 4), (uint32_t *)test_alloc(WORDS, 4) };
    memset(a.in, 0, 4 * WORDS);
    memset(a.out, 0, 4 * WORDS);
    for (int i = 0; i < raw_kernels_n; i++)
        for (int way = 0; way < 4; way++) {
            simt_config c = simt_config_default();
            c.unit = way & 1 ? SIMT_BY_WARP : SIMT_BY_LANE;
            c.preempt = way & 2 ? SIMT_AT_NONE : SIMT_AT_ALL;
            c.race = c.weak = way == 2;
            test_case("%s, way %d", raw_kernels[i].name, way);
            caught(&raw_kernels[i], &a, c);
        }
    test_note("%d kernels; the last one: %s", raw_kernels_n, simt_machine_finding(machine)->story);
    free(a.in);
    free(a.out);
}

/* ---- Clean ----------------------------------------------------------------------------------- */

static const char *const shapes[] = {
    "buckets=2 slots=16 batch=12x1 keys=uniform:10 value=16 duplicate=200000 reserved=50000 extreme=100000 pins=3",
    "buckets=3 slots=32 batch=40x1 keys=uniform:400 value=64 duplicate=100000 admit=always pins=2 near=1000",
    "buckets=2 slots=16 batch=24x1 keys=uniform:40 value=12 duplicate=300000 reserved=50000 pins=0",
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void clean_case(const char *text, fixture_kernel kernel, uint64_t n)
{
    const fixture_kernel *kernels[] = { &kernel };
    hd_case c;
    fixture *s;
    comparison *a;
    simt_exploration e;
    simt_config w = simt_config_default();
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    must(fixture_open(&c, kernels, 1, &s));
    must(comparison_open(s, &a));
    w.seed = n;
    w.weak = n % 3 == 0;
    w.meter = n % 2;
    w.shared_bytes = 48 << 10;
    w.step_limit = 2000000;
    simt_trial trial = comparison_trial(a);
    must(simt_explore(machine, &trial, &w, 2, 0, 0, &e));
    check(!e.wrong, "%s: %s", simt_fault_name(e.finding.fault), e.finding.story);
    simt_exploration_free(machine, &e);
    comparison_close(a);
}

static void clean(uint32_t row, hd_op op, bool dual, uint64_t n)
{
    char text[512];
    snprintf(text, sizeof text, "hkv.%s.%s %s policy=%s dual=%d seed=%llu", hd_op_name(op), hkv_row_name(row),
             shapes[n % SHAPES], hd_policy_rows[n % HD_POLICY_COUNT].name, dual, (ull)n + 1);
    clean_case(text, hkv_fixture_kernel_at(row, 32u << n % 2, 2), n);
}

/* Of another design every operation, on tables of each of two shapes. */
static uint64_t clean_others(const char *design, const char *const shape[2], uint64_t n)
{
    const judge_design *d = judge_design_named(design);
    for (uint32_t row = 0; row < fixture_row_count(d); row++)
        for (int op = 0; op < 2 * HD_OP_COUNT_; op++) {
            char text[512];
            if (!fixture_runs(d, row, (hd_op)(op / 2))) continue;
            snprintf(text, sizeof text, "%s.%s.%s %s keys=uniform:99 seed=%llu", design, hd_op_name((hd_op)(op / 2)),
                     fixture_row_name(d, row), shape[op % 2], (ull)n + 1);
            clean_case(text, fixture_kernel_at(d, row, 32u << n % 2, 2), n);
            n++;
        }
    return n;
}

static void test_clean(void)
{
    static const char *const sl[] = { "slots=8 segment=128 capacity=90 value=4 batch=20x1",
                                      "slots=8 segment=128 capacity=90 value=8 batch=20x1" },
                             *const gfsl[] = { "slots=6 buckets=16 batch=20x1", "slots=30 buckets=5 batch=20x1" };
    uint64_t n = 0, before = raw_told();
    for (uint32_t row = 0; row < hkv_row_count(); row++)
        for (int op = 0; op < HD_OP_COUNT_; op++)
            for (int dual = 0; dual < 2; dual++)
                for (int k = 0; k < SHAPES && hkv_family_of((uint32_t)op) == hkv_row(row)->family; k++)
                    clean(row, (hd_op)op, dual, n++);
    n = clean_others("sl", sl, n);
    n = clean_others("gfsl", gfsl, n);
    check(raw_told() > before + n, "%llu C accesses were told of: the kernels are not compiled for it",
          (ull)(raw_told() - before));
    test_tried("schedules", 2 * n,
               "of fixtures whose C accesses are told of: %llu to what is the kernels' own, no other",
               (ull)(raw_told() - before));
}

int main(void)
{
    const struct CMUnitTest raw[] = { unit(test_caught), unit(test_clean) };
    return test_run_on(&machine, raw);
}

#else

/* Sanitizers have uses of their own for the functions that this test replaces. */
static void test_raw(void)
{
    test_skip(
        "C accesses of kernels are told of in builds without sanitizers, by compilers that have -fsanitize=thread");
}

static const struct CMUnitTest raw[] = { unit(test_raw) };

int main(void) { return test_run(raw); }

#endif
