/* SPDX-License-Identifier: Apache-2.0
 *
 * t_random.c - thousands of small random cases of every design, each judged after every batch: fields, operations and
 * kernels are drawn from the space of cases (judge/space.h), half of the cases run all operations. HEDDLE_TEST_SCALE
 * multiplies their number. A failure prints the case for `heddle run`.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/hive/rows.h"
#include "judge/rules.h"
#include "judge/run.h"
#include "judge/space.h"
#include "base/op.h"
#include "tests/testing.h"
#include "workload/expressions.h"
#include "policies/expression.h"

/* Of the first design, a cache, and of each other; by the reference, and by kernels, of which long runs have all and
 * others half; items of a case, about. */
enum {
    CASES = 3000,
    KERNEL_CASES = 120,
    OTHER_CASES = 400,
    OTHER_KERNEL_CASES = 160,
    ITEMS = 3000,
    KERNEL_ITEMS = 700,
    MANY = 100
};

/* Now and then random expressions, and of caches the largest buckets and values. */
static void draw_more(hd_case *c, uint64_t number)
{
    hd_policy_use use;
    hd_rng g = hd_rng_from(number);
    if (judge_dictionary(c->design)) return;
    if (number % 7 == 0) do
            hd_expressions_draw(&g, c->policy);
        while (hd_policy_read(c->policy, &use));
    if (number % 31 != 3 || c->table.hkv.dual || strcmp(c->kernel, "ref") != 0) return;
    c->capacity = 1;
    c->slots = number % 2 ? 4096 : 3;
    c->value_bytes = number % 2 ? 8 : 65536;
    c->batch = 8;
}

static hd_case draw_case(const space *s, const char *op, uint64_t number, uint64_t items)
{
    hd_case c;
    space_domain d = space_all(s);
    if (op) space_fix(s, &d, "op", op);
    check(space_random(s, &d, NULL, number), "there is no such case");
    must(space_case(s, &d, number, &c));
    draw_more(&c, number);
    c.batches = 1 + items / (c.batch + 20);
    if (strcmp(c.backend, "cuda") == 0) c.batches = 100 + c.batch * c.batches / 16, c.batch = 1;
    return c;
}

/* Half of the cases run all operations. */
static const char *op_of(uint64_t number) { return number % 2 ? "mix" : NULL; }

static void run_case(const hd_case *c, hd_run_report *report)
{
    char text[1024];
    hd_case_print(c, text, sizeof text);
    test_case("%s", text);
    must(hd_case_run(c, NULL, NULL, report));
    check(!report->wrong[0], "%s", report->wrong);
}

/* Every outcome and operation that the design has was met; where cases are fewer than MANY, some may not be drawn. */
static void all_was_met(const space *s, const hd_run_report *all, uint64_t cases)
{
    bool dictionary = judge_dictionary(s->design), many = test_quarter(cases) >= MANY;
    check(all->judged == all->requests, "%llu of %llu items were judged", (ull)all->judged, (ull)all->requests);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) {
        bool never = dictionary ? o == HD_EVICTED || o == HD_REFUSED || o == HD_PINNED : o == HD_PENDING;
        check(never ? !all->counters.outcome[o] : !many || all->counters.outcome[o] > 0, "%s: %llu items were %s",
              s->design, (ull)all->counters.outcome[o], hd_outcome_name((hd_outcome)o));
    }
    for (int o = 0; many && o < HD_OP_COUNT_; o++) {
        space_domain d = space_all(s);
        space_fix(s, &d, "op", hd_op_name((hd_op)o));
        check(all->counters.op[o] || !space_possible(s, &d, NULL), "%s: no %s was run", s->design,
              hd_op_name((hd_op)o));
    }
}

static void run_design(const char *design, const char *backend, uint64_t cases, uint64_t items)
{
    hd_run_report all = { 0 }, report;
    space *s;
    must(space_open(design, backend, &s));
    for (uint64_t k = 0; k < test_quarter(cases); k++) {
        hd_case c = draw_case(s, op_of(k), k, items);
        run_case(&c, &report);
        all.requests += report.requests;
        all.judged += report.judged;
        for (int o = 0; o < HD_OUTCOME_COUNT; o++) all.counters.outcome[o] += report.counters.outcome[o];
        for (int o = 0; o < HD_OP_COUNT_; o++) all.counters.op[o] += report.counters.op[o];
    }
    all_was_met(s, &all, cases);
    test_tried("differential", all.judged, "items of %s on %s executed and judged, of %llu random cases", design,
               backend, (ull)test_quarter(cases));
    space_close(s);
}

static void run_designs(const char *backend, uint64_t cases, uint64_t others, uint64_t items)
{
    hd_row row;
    for (size_t i = 0; hd_list(HD_DESIGNS, i, &row); i++) run_design(row.name, backend, i ? others : cases, items);
}

static void cases_are_truthful(void) { run_designs(test_backend("ref"), CASES, OTHER_CASES, ITEMS); }

static void kernels_are_truthful(void) { run_designs("host", KERNEL_CASES, OTHER_KERNEL_CASES, KERNEL_ITEMS); }

/* Mixed batches of few keys by several blocks: items of all blocks meet at each key. */
static void hive_blocks_are_truthful(void)
{
    for (uint32_t row = 0; row < hive_row_count(); row++)
        for (uint64_t seed = 1; seed <= test_times(8); seed++) {
            char text[256];
            hd_case c;
            hd_run_report report;
            uint32_t slots = hive_row(row)->lanes == 32 ? 32 : 8;
            snprintf(text, sizeof text,
                     "hive.mixed.%s backend=host buckets=%u slots=%u layout=%s spare=0 batch=800x6 keys=uniform:256 "
                     "seed=%llu judge=1",
                     hive_row_name(row), 368 / slots, slots, slots == 32 ? "masks" : "words", (ull)seed);
            if (hive_row(row)->family != GPU_ITEMS) continue;
            test_case("%s", text);
            must(hd_case_parse(text, &c));
            must(hd_case_run(&c, NULL, NULL, &report));
            check(!report.wrong[0], "%s", report.wrong);
        }
}

/* Lists that are made in several segments, and in several windows of a batch. */
static void long_lists_are_truthful(void)
{
    static const char *const cases[] = {
        "hkv.export.tlpv1 buckets=80 slots=128 batch=9000x4 keys=uniform:20000 value=8",
        "hkv.export.tlpv2 buckets=800 slots=13 batch=9000x4 keys=uniform:20000 value=16",
        "hkv.export.warp buckets=80 slots=128 batch=10240x4 keys=uniform:20000 value=16",
        "hkv.find_missed.tlpv1 buckets=80 slots=128 batch=9000x4 keys=uniform:20000 value=8",
        "hkv.insert_and_evict.tlpv1 buckets=40 slots=128 batch=20000x2 keys=uniform:40000 value=16",
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        hd_case c;
        hd_run_report report;
        test_case("%s backend=host judge=1", cases[k]);
        must(hd_case_parse(cases[k], &c));
        snprintf(c.backend, sizeof c.backend, "host");
        c.judge = true;
        must(hd_case_run(&c, NULL, NULL, &report));
        check(!report.wrong[0], "%s", report.wrong);
    }
}

/* The same case gives the same report, and another number of threads changes nothing. */
static void cases_repeat(void)
{
    space *s;
    if (strcmp(test_backend("ref"), "ref") != 0) test_skip("the reference alone has threads");
    must(space_open("hkv", "ref", &s));
    for (uint64_t k = 0; k < 150; k++) {
        hd_run_report a, b;
        hd_case c = draw_case(s, op_of(k), k * 7919, ITEMS);
        c.threads = 1;
        if (k % 3 == 0 && c.value_bytes < 100) c.batch = 3000, c.batches = 4;
        run_case(&c, &a);
        c.threads = 3;
        run_case(&c, &b);
        check(a.contents_hash == b.contents_hash && a.size == b.size && a.info.now == b.info.now,
              "the contents differ");
        check(memcmp(&a.counters, &b.counters, sizeof a.counters) == 0, "the counters differ");
    }
    space_close(s);
}

/* A run without the judge does the same. */
static void judging_changes_nothing(void)
{
    space *s;
    must(space_open("hkv", test_backend("ref"), &s));
    for (uint64_t k = 0; k < 60; k++) {
        hd_run_report a, b;
        hd_case c = draw_case(s, "serve", k * 104729, ITEMS);
        run_case(&c, &a);
        c.judge = false;
        run_case(&c, &b);
        check(a.contents_hash == b.contents_hash && a.requests == b.requests && b.judged == 0,
              "case %llu differs when judged", (ull)k);
    }
    space_close(s);
}

static const struct CMUnitTest random[] = {
    unit(cases_are_truthful),      unit(kernels_are_truthful), unit(hive_blocks_are_truthful),
    unit(long_lists_are_truthful), unit(cases_repeat),         unit(judging_changes_nothing)
};

int main(void) { return test_run(random); }
