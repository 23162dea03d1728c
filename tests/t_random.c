/* SPDX-License-Identifier: Apache-2.0
 *
 * t_random.c - thousands of small random cases, each with all operations, judged after every batch: policies, single
 * and dual mode, buckets of 2 to 4096 slots, values of 0 to 65,536 bytes, duplicates, reserved keys, extreme scores,
 * pins, epochs, growth, snapshots. HEDDLE_TEST_SCALE multiplies their number. A failure prints the case for `heddle
 * run`.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/hive/rows.h"
#include "gpu/hkv/rows.h"
#include "judge/run.h"
#include "base/design.h"
#include "policies/expression.h"
#include "tests/testing.h"
#include "workload/expressions.h"

enum { CASES = 3000, KERNEL_CASES = 120, HIVE_CASES = 400, HIVE_KERNEL_CASES = 160, ORDERED_CASES = 400 };

static uint64_t one_of(uint64_t *r, const uint64_t *list, size_t n) { return list[test_below(r, n)]; }
#define ONE_OF(r, ...) \
    one_of((r), (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* Values are as large as 2 MiB of table allow. */
static void draw_shape(hd_case *c, uint64_t *r)
{
    do {
        c->buckets = ONE_OF(r, 1, 1, 2, 3, 4, 5, 7, 8, 13, 64);
        c->slots = (uint32_t)ONE_OF(r, 2, 2, 3, 4, 4, 7, 8, 16, 32, 100, 128, 1024, 4096);
        c->value_bytes = (uint32_t)ONE_OF(r, 0, 1, 3, 8, 8, 16, 24, 100, 65536);
    } while (c->buckets * c->slots * (17 + c->value_bytes) > 2 << 20);
    c->table.hkv.dual = c->buckets > 1 && test_below(r, 2);
}

static void draw_load(hd_case *c, uint64_t *r)
{
    uint64_t capacity = c->buckets * c->slots, keys = 1 + capacity * ONE_OF(r, 1, 3, 4, 8, 32) / 2;
    bool large = c->value_bytes > 1000, parallel = c->value_bytes < 100 && test_below(r, 40) == 0;
    c->batch = large ? 1 + test_below(r, 8) : 1 + test_below(r, ONE_OF(r, 4, 30, 200));
    c->batches = large ? 20 : 1 + (4000 + test_below(r, 4000)) / (c->batch + 20);
    c->threads = 1;
    /* above the reference's threshold */
    if (parallel) c->batch = 2100 + test_below(r, 2000), c->batches = 8, c->threads = 2;
    snprintf(c->keys, sizeof c->keys, test_below(r, 3) ? "uniform:%llu" : "zipf:0.9,%llu", (unsigned long long)keys);
    c->reserved_ppm = (uint32_t)ONE_OF(r, 0, 0, 10000, 200000);
    c->distinct = test_below(r, 8) == 0;
    c->duplicate_ppm = (uint32_t)ONE_OF(r, 0, 100000, 700000);
    c->extreme_ppm = (uint32_t)ONE_OF(r, 0, 50000, 500000);
    c->raw_ppm = (uint32_t)ONE_OF(r, 0, 0, 200000);
}

/* NULL, or why a case's batches of an operation are none for the variant. */
static const char *unfit(const char *variant, hkv_family f, const hd_case *c)
{
    hd_info shape = {
        .slots = c->slots, .value_bytes = c->value_bytes, .hkv.dual = c->table.hkv.dual, .layout = HD_LAYOUT_PAIRS
    };
    uint32_t row = hkv_row_of(variant, f);
    return row == hkv_row_count() ? HD_OTHER_OPERATION : hkv_row(row)->fits(&shape);
}

/* Those that run the case: its operation and the inserts between; of everything, whatever they have. */
static bool runs(const char *variant, const hd_case *c)
{
    if (strcmp(c->op, "mix") == 0) {
        for (int f = 0; f <= HKV_CLEAR; f++) {
            const char *why = unfit(variant, (hkv_family)f, c);
            if (why && strcmp(why, HD_OTHER_OPERATION) != 0) return false;
        }
        return true;
    }
    uint32_t op = 0;
    while (op < HD_OP_COUNT_ && strcmp(c->op, hd_op_name((hd_op)op)) != 0) op++;
    return !unfit(variant, HKV_UPSERT, c) && (op == HD_OP_COUNT_ || !unfit(variant, hkv_family_of(op), c));
}

/* By any variant that can. On the host machine tickets say in which order the items of a batch took effect; a device
 * does not say: there they come one at a time. */
static void draw_kernel(hd_case *c, uint64_t *r, const char *backend)
{
    uint32_t row;
    do row = (uint32_t)test_below(r, hkv_row_count());
    while (!hkv_is_first(row) || !(strcmp(hkv_row_name(row), "tlpv1") == 0 || runs(hkv_row_name(row), c)));
    snprintf(c->backend, sizeof c->backend, "%s", backend);
    snprintf(c->kernel, sizeof c->kernel, "%s", hkv_row_name(row));
    c->batches = c->batches / 2 + 1;
    c->threads = 1;
    if (strcmp(backend, "cuda") != 0) return;
    c->batches = 100 + c->batch * c->batches / 16;
    c->batch = 1;
}

/* A row of the registry, or sometimes random expressions. */
static void draw_policy(hd_case *c, uint64_t number, uint64_t *r)
{
    enum { SOMETIMES = 2 }; /* as often as so many rows */
    hd_row row;
    hd_policy_use use;
    hd_rng g = hd_rng_from(number);
    size_t rows = 0, pick;
    while (hd_list(HD_POLICIES, rows, &row)) rows++;
    pick = (size_t)test_below(r, rows + SOMETIMES);
    if (hd_list(HD_POLICIES, pick, &row)) {
        snprintf(c->policy, sizeof c->policy, "%s", row.name);
        return;
    }
    do hd_expressions_draw(&g, c->policy);
    while (hd_policy_read(c->policy, &use));
}

static hd_case draw_case(uint64_t number, const char *backend)
{
    uint64_t r = number ^ 0x72616e646f6d;
    hd_case c = hd_case_default();
    uint64_t op = test_below(&r, 100);
    bool one = op < HD_OP_COUNT_ && !hd_op_does((hd_op)op, HD_ORDERED), serve = !one && op < HD_OP_COUNT_;
    snprintf(c.op, sizeof c.op, "%s", one ? hd_op_name((hd_op)op) : serve ? "serve" : "mix");
    draw_policy(&c, number, &r);
    draw_shape(&c, &r);
    draw_load(&c, &r);
    /* accum_or_assign alone cannot run where no element type divides the value; mix leaves it out */
    if (strcmp(c.op, "accum_or_assign") == 0 && c.value_bytes % 2) strcpy(c.op, "mix");
    c.table.hkv.admit = test_below(&r, 4) ? HD_ADMIT_SCORE : HD_ADMIT_ALWAYS;
    c.table_seed = test_below(&r, 2) ? test_random(&r) : 0;
    c.epoch_every = (uint32_t)ONE_OF(&r, 0, 1, 5, 50);
    c.table.hkv.pins = (uint32_t)ONE_OF(&r, 0, 1, 2, 3, 16, 1024);
    c.seed = number;
    c.judge = true;
    if (strcmp(backend, "ref") != 0) draw_kernel(&c, &r, backend);
    uint64_t bytes = c.buckets * c.slots * c.value_bytes;
    c.table.hkv.tiers = test_below(&r, 2) ? HD_TIERS_POSITION : HD_TIERS_BUCKET;
    c.table.hkv.device_value_bytes = ONE_OF(&r, 0, 0, 1, bytes / 10 + 1, bytes / 2 + 1, bytes + 1);
    c.table.hkv.fetch = (hd_fetch)test_below(&r, 3);
    bool known = strcmp(backend, "cuda") != 0; /* what the clock says */
    c.table.clock = known && test_below(&r, 4) == 0 ? HD_CLOCK_DEVICE : HD_CLOCK_LOGICAL;
    if (strcmp(backend, "ref") == 0) c.layout = test_below(&r, 2) ? HD_LAYOUT_PLANES : HD_LAYOUT_PAIRS;
    return c;
}

/* The first so many cases of a backend, each judged; together they see every outcome and operation often. */
static void run_cases(const char *backend, uint64_t cases)
{
    hd_run_report all = { 0 };
    for (uint64_t k = 0; k < test_times(cases); k++) {
        char text[1024];
        hd_run_report report;
        hd_case c = draw_case(k, backend);
        hd_case_print(&c, text, sizeof text);
        test_case("%s", text);
        must(hd_case_run(&c, NULL, NULL, &report));
        check(!report.wrong[0], "%s", report.wrong);
        all.requests += report.requests;
        all.judged += report.judged;
        for (int o = 0; o < HD_OUTCOME_COUNT; o++) all.counters.outcome[o] += report.counters.outcome[o];
        for (int o = 0; o < HD_OP_COUNT_; o++) all.counters.op[o] += report.counters.op[o];
    }
    check(all.judged == all.requests, "%llu of %llu items were judged", (unsigned long long)all.judged,
          (unsigned long long)all.requests);
    bool many = test_times(cases) >= cases; /* where tests are made shorter, some may not be drawn */
    for (int o = 0; many && o < HD_PENDING; o++)
        check(all.counters.outcome[o] > test_times(cases / 3), "hardly any item was %s",
              hd_outcome_name((hd_outcome)o));
    check(all.counters.outcome[HD_PENDING] == 0, "a cache leaves no item pending");
    for (int o = 0; many && o < HD_OP_COUNT_; o++) {
        if (hd_op_does((hd_op)o, HD_ORDERED)) continue;
        check(all.counters.op[o] > test_some(test_times(cases / 8)), "hardly any %s was run", hd_op_name((hd_op)o));
    }
    test_tried("differential", all.judged, "items executed and judged, of %llu random cases",
               (unsigned long long)test_times(cases));
}

static void cases_are_truthful(void **state)
{
    (void)state;
    run_cases(test_backend("ref"), CASES);
}

static void kernels_are_truthful(void **state)
{
    (void)state;
    run_cases("host", KERNEL_CASES);
}

/* So many hash functions, none twice; now and then. */
static void draw_hash(uint64_t *r, uint32_t hashes, char *text, size_t bytes)
{
    uint64_t n = 0, taken = 0, length = 0;
    hd_row row;
    if (test_below(r, 3)) return;
    while (hd_list(HD_HASHES, n, &row)) n++;
    for (uint32_t i = 0; i < hashes; i++) {
        uint64_t k;
        do k = test_below(r, n);
        while (taken >> k & 1);
        taken |= 1ull << k;
        hd_list(HD_HASHES, k, &row);
        length += (uint64_t)snprintf(text + length, bytes - length, "%s%s", i ? "," : "", row.name);
    }
}

/* A design that evicts nothing, by its reference: one operation, all of them, or mixed batches; growth, shrinking and
 * snapshots in between. */
static hd_case draw_hive_case(uint64_t number)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND,           HD_OP_FIND_MISSED,
                                 HD_OP_ACCUM_OR_ASSIGN,  HD_OP_FIND_OR_INSERT, HD_OP_ERASE,
                                 HD_OP_EXPORT,           HD_OP_ERASE_IF,       HD_OP_SIZE_IF };
    uint64_t r = number ^ 0x68697665, op = test_below(&r, 20), capacity;
    hd_case c = hd_case_of("hive");
    snprintf(c.op, sizeof c.op, "%s", op < sizeof ops / sizeof *ops ? hd_op_name(ops[op]) : op < 14 ? "mixed" : "mix");
    c.buckets = ONE_OF(&r, 1, 1, 2, 3, 4, 5, 7, 8, 13, 64);
    c.slots = (uint32_t)ONE_OF(&r, 8, 16, 32);
    c.value_bytes = (uint32_t)ONE_OF(&r, 4, 4, 2);
    c.table.hive.hashes = (uint32_t)ONE_OF(&r, 2, 3);
    c.table.hive.spare = (uint32_t)ONE_OF(&r, HD_SPARE_USUAL, HD_SPARE_USUAL, 0, 1, 2, 3);
    c.layout = test_below(&r, 2) ? HD_LAYOUT_WORDS : HD_LAYOUT_MASKS;
    capacity = c.buckets * c.slots;
    c.batch = 1 + test_below(&r, ONE_OF(&r, 4, 30, 200));
    c.batches = 1 + (4000 + test_below(&r, 4000)) / (c.batch + 20);
    snprintf(c.keys, sizeof c.keys, test_below(&r, 3) ? "uniform:%llu" : "zipf:0.9,%llu",
             (unsigned long long)(1 + capacity * ONE_OF(&r, 1, 2, 3, 8) / 2));
    c.reserved_ppm = (uint32_t)ONE_OF(&r, 0, 10000, 200000);
    c.distinct = test_below(&r, 8) == 0;
    c.duplicate_ppm = (uint32_t)ONE_OF(&r, 0, 100000, 700000);
    c.table_seed = test_below(&r, 2) ? test_random(&r) : 0;
    draw_hash(&r, c.table.hive.hashes, c.table.hive.hash, sizeof c.table.hive.hash);
    c.seed = number;
    c.judge = true;
    if (c.value_bytes == 2 && strcmp(c.op, "accum_or_assign") == 0) strcpy(c.op, "mixed");
    return c;
}

/* Whether the variant of a row runs the case's operation, by this row or by another of its. */
static bool hive_row_runs(uint32_t row, const hd_case *c)
{
    uint32_t op = 0;
    while (op < HD_OP_COUNT_ && strcmp(hd_op_name((hd_op)op), c->op) != 0) op++;
    for (uint32_t r = 0; r < hive_row_count() && op < HD_OP_COUNT_; r++)
        if (strcmp(hive_row_name(r), hive_row_name(row)) == 0 && hive_row(r)->family == gpu_family_of(op)) return true;
    return op == HD_OP_COUNT_; /* mixed, or all in turn */
}

static bool hive_row_fits(uint32_t row, const hd_case *c)
{
    hd_info shape = {
        .slots = c->slots, .value_bytes = c->value_bytes, .hive.hashes = c->table.hive.hashes, .layout = c->layout
    };
    return row == hive_row_count() || (!hive_row(row)->fits(&shape) && hive_row_runs(row, c));
}

/* Runs a case by a kernel of a backend. What became of its items is added to *all. On a device items come one at a
 * time, as HKV's do. */
static void run_drawn(hd_case c, const char *backend, const char *kernel, uint64_t items, hd_run_report *all)
{
    char text[1024];
    hd_run_report report;
    snprintf(c.backend, sizeof c.backend, "%s", backend);
    snprintf(c.kernel, sizeof c.kernel, "%s", kernel);
    if (c.batches > 1 + items / (c.batch + 20)) c.batches = 1 + items / (c.batch + 20);
    if (strcmp(backend, "cuda") == 0) c.batches = 100 + c.batch * c.batches / 16, c.batch = 1;
    hd_case_print(&c, text, sizeof text);
    test_case("%s", text);
    must(hd_case_run(&c, NULL, NULL, &report));
    check(!report.wrong[0], "%s", report.wrong);
    all->judged += report.judged;
    all->requests += report.requests;
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) all->counters.outcome[o] += report.counters.outcome[o];
}

/* Case k, or the next one of a shape that the row has; hive_row_count(): by the reference. */
static void run_hive_case(uint64_t k, const char *backend, uint32_t row, uint64_t items, hd_run_report *all)
{
    hd_case c = draw_hive_case(k);
    while (!hive_row_fits(row, &c)) c = draw_hive_case(k += 100003);
    run_drawn(c, backend, row == hive_row_count() ? "ref" : hive_row_name(row), items, all);
}

/* Of so many cases; where tests are made shorter, some outcomes may not be drawn. */
static void all_was_met(const hd_run_report *all, uint64_t cases, uint64_t least)
{
    check(all->judged == all->requests, "%llu of %llu items were judged", (unsigned long long)all->judged,
          (unsigned long long)all->requests);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) {
        bool never = o == HD_EVICTED || o == HD_REFUSED || o == HD_PINNED;
        check(never ? all->counters.outcome[o] == 0 : all->counters.outcome[o] > least || test_times(cases) < cases,
              "%llu items were %s", (unsigned long long)all->counters.outcome[o], hd_outcome_name((hd_outcome)o));
    }
}

static void hive_is_truthful(void **state)
{
    hd_run_report all = { 0 };
    (void)state;
    for (uint64_t k = 0; k < test_times(HIVE_CASES); k++) run_hive_case(k, "ref", hive_row_count(), 8000, &all);
    all_was_met(&all, HIVE_CASES, test_times(HIVE_CASES / 3));
    test_tried("differential", all.judged, "items of a dictionary executed and judged, of %llu random cases",
               (unsigned long long)test_times(HIVE_CASES));
}

/* Its kernels, on the host machine in the order of their tickets; between batches the table grows and shrinks, by
 * kernels too. */
static void hive_kernels_are_truthful(void **state)
{
    const char *backend = strcmp(test_backend("host"), "cuda") == 0 ? "cuda" : "host";
    (void)state;
    for (uint32_t row = 0; row < hive_row_count(); row++) {
        hd_run_report all = { 0 };
        if (hive_row(row)->family != GPU_ITEMS) continue;
        for (uint64_t k = 0; k < test_times(HIVE_KERNEL_CASES); k++) run_hive_case(1000 + k, backend, row, 700, &all);
        all_was_met(&all, HIVE_KERNEL_CASES, test_times(HIVE_KERNEL_CASES / 10));
        test_tried("differential", all.judged, "items of a dictionary by the kernels %s, judged", hive_row_name(row));
    }
}

/* Mixed batches of few keys by several blocks: items of all blocks meet at each key. */
static void hive_blocks_are_truthful(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < hive_row_count(); row++)
        for (uint64_t seed = 1; seed <= test_times(8); seed++) {
            char text[256];
            hd_case c;
            hd_run_report report;
            uint32_t slots = hive_row(row)->lanes == 32 ? 32 : 8;
            snprintf(text, sizeof text,
                     "hive.mixed.%s backend=host buckets=%u slots=%u layout=%s spare=0 batch=800x6 keys=uniform:256 "
                     "seed=%llu judge=1",
                     hive_row_name(row), 368 / slots, slots, slots == 32 ? "masks" : "words", (unsigned long long)seed);
            if (hive_row(row)->family != GPU_ITEMS) continue;
            test_case("%s", text);
            must(hd_case_parse(text, &c));
            check(hive_row_fits(row, &c), "the case is none for the row");
            must(hd_case_run(&c, NULL, NULL, &report));
            check(!report.wrong[0], "%s", report.wrong);
        }
}

/* A design that keeps keys in order, by its reference: one operation, or all of them. Segments are small, so that keys
 * of one batch are in many. */
static hd_case draw_ordered_case(uint64_t number)
{
    static const hd_op ops[] = { HD_OP_PREDECESSOR, HD_OP_SUCCESSOR, HD_OP_RANGE, HD_OP_MIN,
                                 HD_OP_MAX,         HD_OP_FIND,      HD_OP_ERASE, HD_OP_ERASE_IF,
                                 HD_OP_EXPORT,      HD_OP_SIZE_IF,   HD_OP_CLEAR, HD_OP_ACCUM_OR_ASSIGN };
    uint64_t r = number ^ 0x6f726465, op = test_below(&r, 24), fit;
    hd_case c = hd_case_of("sl");
    snprintf(c.op, sizeof c.op, "%s", op < sizeof ops / sizeof *ops ? hd_op_name(ops[op]) : "mix");
    c.value_bytes = (uint32_t)ONE_OF(&r, 4, 4, 8);
    c.table.sl.segment_bytes = (uint32_t)ONE_OF(&r, 128, 128, 128, 256, 1024, 65536);
    fit = c.table.sl.segment_bytes / (c.value_bytes == 4 ? 8 : 16);
    c.slots = (uint32_t)ONE_OF(&r, 8, 8, fit < 4096 ? fit : 4096);
    c.capacity = fit * ONE_OF(&r, 1, 2, 3, 5, 8, 70);
    if (c.capacity > 20000) c.capacity = fit;
    c.batch = 1 + test_below(&r, ONE_OF(&r, 4, 30, 200));
    c.batches = 1 + (4000 + test_below(&r, 4000)) / (c.batch + 20);
    snprintf(c.keys, sizeof c.keys, test_below(&r, 3) ? "uniform:%llu" : "zipf:0.9,%llu",
             (unsigned long long)(1 + c.capacity * ONE_OF(&r, 1, 2, 3, 8) / 2));
    c.reserved_ppm = (uint32_t)ONE_OF(&r, 0, 10000, 200000);
    c.distinct = test_below(&r, 8) == 0;
    c.duplicate_ppm = (uint32_t)ONE_OF(&r, 0, 100000, 700000);
    c.seed = number;
    c.judge = true;
    return c;
}

static void ordered_is_truthful(void **state)
{
    hd_run_report all = { 0 }, report;
    (void)state;
    for (uint64_t k = 0; k < test_times(ORDERED_CASES); k++) {
        char text[1024];
        hd_case c = draw_ordered_case(k);
        hd_case_print(&c, text, sizeof text);
        test_case("%s", text);
        must(hd_case_run(&c, NULL, NULL, &report));
        check(!report.wrong[0], "%s", report.wrong);
        all.judged += report.judged;
        all.requests += report.requests;
        for (int o = 0; o < HD_OUTCOME_COUNT; o++) all.counters.outcome[o] += report.counters.outcome[o];
        for (int op = 0; op < HD_OP_COUNT_; op++) all.counters.op[op] += report.counters.op[op];
    }
    all_was_met(&all, ORDERED_CASES, test_times(ORDERED_CASES / 3));
    check(all.counters.op[HD_OP_RANGE] && all.counters.op[HD_OP_PREDECESSOR] && all.counters.op[HD_OP_MAX],
          "an ordered operation was not drawn");
    test_tried("differential", all.judged, "items of an ordered table executed and judged, of %llu random cases",
               (unsigned long long)test_times(ORDERED_CASES));
}

/* Entries are pairs of words, whose batches are not mixed. */
static void make_pairs(hd_case *c)
{
    c->slots = 8;
    c->value_bytes = 8;
    c->table.ovs.guide = HD_GUIDE_NONE;
    c->table.ovs.partition = HD_PARTITION_HASH;
    c->table.ovs.copy_bytes = 0;
    if (strcmp(c->op, "mixed") == 0) strcpy(c->op, "insert_or_assign");
}

/* The same requests to tables of segments, of which some may be far: by the reference, and by kernels. */
static hd_case draw_ovs_case(uint64_t number)
{
    hd_case c = draw_hive_case(number), usual = hd_case_of("ovs");
    uint64_t r = number ^ 0x6f7673;
    snprintf(c.design, sizeof c.design, "ovs");
    c.slots = usual.slots;
    c.value_bytes = usual.value_bytes;
    c.layout = usual.layout;
    c.table = usual.table;
    c.table.ovs.segment_bytes = (uint32_t)ONE_OF(&r, 128, 256, 1024, 4096);
    c.table.ovs.near_bytes = ONE_OF(&r, 0, 1, 2, 5) * c.table.ovs.segment_bytes;
    c.table.ovs.guide = (hd_guide)ONE_OF(&r, HD_GUIDE_NONE, HD_GUIDE_DIGEST);
    c.table.ovs.partition = (hd_partition)ONE_OF(&r, HD_PARTITION_HASH, HD_PARTITION_RANGE);
    if (test_below(&r, 3) == 0) {
        make_pairs(&c);
    } else {
        c.table.ovs.copy_bytes = ONE_OF(&r, 0, 32, 128, 1024);
    }
    return c;
}

static void ovs_is_truthful(void **state)
{
    static const char *const kernels[] = { "ref", "quad", "probe16", "probe4", "probe8", "probe32", "flip", "wide" };
    (void)state;
    for (int kernel = 0; kernel < 8; kernel++) {
        hd_run_report all = { 0 };
        uint64_t cases = test_times(kernel ? HIVE_KERNEL_CASES : HIVE_CASES / 2);
        for (uint64_t k = 0; k < cases; k++) {
            hd_case c = draw_ovs_case(2000 + k);
            int op = 0;
            while (op < HD_OP_COUNT_ && strcmp(hd_op_name((hd_op)op), c.op) != 0) op++;
            bool whole = op < HD_OP_COUNT_ && !hd_op_does((hd_op)op, HD_NEEDS_KEY);
            const char *name = kernels[kernel]; /* whose variant does not run all operations */
            if (whole && kernel && strcmp(name, "probe16") != 0) strcpy(c.op, "mixed");
            bool pairs = strcmp(name, "wide") == 0, alike = pairs || strcmp(name, "flip") == 0;
            bool any = op == HD_OP_COUNT_; /* of all operations */
            if (alike && (whole || any)) strcpy(c.op, "insert_or_assign");
            if (pairs) make_pairs(&c);
            if (kernel && !alike && c.value_bytes == 8) continue; /* wide and flip run pairs */
            run_drawn(c, kernel ? "host" : "ref", kernels[kernel], kernel ? 700 : 8000, &all);
        }
        all_was_met(&all, kernel ? HIVE_KERNEL_CASES : HIVE_CASES / 2, cases / 20);
        test_tried("differential", all.judged, "items of segments by %s, judged", kernels[kernel]);
    }
}

/* Lists that are made in several segments, and in several windows of a batch. */
static void long_lists_are_truthful(void **state)
{
    static const char *const cases[] = {
        "hkv.export.tlpv1 buckets=80 slots=128 batch=9000x4 keys=uniform:20000 value=8",
        "hkv.export.tlpv2 buckets=800 slots=13 batch=9000x4 keys=uniform:20000 value=16",
        "hkv.export.warp buckets=80 slots=128 batch=10240x4 keys=uniform:20000 value=16",
        "hkv.find_missed.tlpv1 buckets=80 slots=128 batch=9000x4 keys=uniform:20000 value=8",
        "hkv.insert_and_evict.tlpv1 buckets=40 slots=128 batch=20000x2 keys=uniform:40000 value=16",
    };
    (void)state;
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
static void cases_repeat(void **state)
{
    (void)state;
    if (strcmp(test_backend("ref"), "ref") != 0) test_skip("the reference alone has threads");
    for (uint64_t k = 0; k < 150; k++) {
        char text[1024];
        hd_run_report a, b;
        hd_case c = draw_case(k * 7919, test_backend("ref"));
        if (k % 3 == 0 && c.value_bytes < 100) c.batch = 3000, c.batches = 4;
        hd_case_print(&c, text, sizeof text);
        test_case("%s, once more with 3 threads", text);
        must(hd_case_run(&c, NULL, NULL, &a));
        c.threads = 3;
        must(hd_case_run(&c, NULL, NULL, &b));
        check(!a.wrong[0] && !b.wrong[0], "%s%s", a.wrong, b.wrong);
        check(a.contents_hash == b.contents_hash && a.size == b.size && a.info.now == b.info.now,
              "the contents differ");
        check(memcmp(&a.counters, &b.counters, sizeof a.counters) == 0, "the counters differ");
    }
}

/* A run without the judge does the same. */
static void judging_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 60; k++) {
        hd_run_report a, b;
        hd_case c = draw_case(k * 104729, test_backend("ref"));
        strcpy(c.op, "serve");
        if (strcmp(c.kernel, "ref") != 0 && !runs(c.kernel, &c)) strcpy(c.kernel, "tlpv1"); /* it was drawn for mix */
        must(hd_case_run(&c, NULL, NULL, &a));
        c.judge = false;
        must(hd_case_run(&c, NULL, NULL, &b));
        check(a.contents_hash == b.contents_hash && a.requests == b.requests && b.judged == 0,
              "case %llu differs when judged", (unsigned long long)k);
    }
}

static const struct CMUnitTest random[] = {
    unit(cases_are_truthful),     unit(kernels_are_truthful),      unit(hive_is_truthful),
    unit(ordered_is_truthful),    unit(hive_kernels_are_truthful), unit(hive_blocks_are_truthful),
    unit(ovs_is_truthful),        unit(long_lists_are_truthful),   unit(cases_repeat),
    unit(judging_changes_nothing)
};

int main(void) { return test_run(random); }
