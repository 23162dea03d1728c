/* SPDX-License-Identifier: Apache-2.0
 *
 * t_sl_agree.c - the kernels of the ordered table: every operation against the reference (judge/comparison.h), for many
 * fixtures and schedules, with segments of 8 to 32 entries, so that most batches split and join some; in windows of few
 * items; with far segments; two batches at a time. HEDDLE_TEST_SCALE makes the search longer or shorter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/sl/own.h"
#include "gpu/sl/rows.h"
#include "judge/rules.h"
#include "tests/exploring.h"
#include "tests/on_machine.h"

extern const judge_design judge_design_sl;
static simt_machine *machine;

typedef struct counts {
    totals all;
    ull splits, joins; /* rows that came and went in the last runs */
} counts;

/* ---- One fixture ------------------------------------------------------------------------------- */

static uint64_t rows_of(const fixture *s) { return ((const sl_own *)s->table)->words->numbers.rows; }

/* Rows before the run. */
static uint64_t rows_before(const fixture *s)
{
    const uint8_t *at = (const uint8_t *)&((const sl_own *)s->table)->words->numbers.rows;
    uint64_t rows;
    memcpy(&rows, s->initial + (at - s->memory), sizeof rows);
    return rows;
}

static void explore(comparison *a, const fixture *s, const hd_case *c, simt_config w, ull schedules, counts *t)
{
    explore_case(machine, a, c, w, 3, schedules, &t->all);
    if (rows_of(s) > rows_before(s)) t->splits += rows_of(s) - rows_before(s);
    if (rows_of(s) < rows_before(s)) t->joins += rows_before(s) - rows_of(s);
}

static simt_config way(uint64_t n)
{
    simt_config w = explore_way(n);
    w.pct_depth = 3;
    w.pct_length = 20000;
    return w;
}

/* Parts of one table, and windows of so many items (0: one for the batch). */
static void run_parts(const hd_case *c, uint32_t parts, uint64_t n, uint64_t window, ull schedules, counts *t)
{
    fixture_kernel kernel[2];
    const fixture_kernel *kernels[2] = { &kernel[0], &kernel[1] };
    fixture *s;
    comparison *a;
    for (uint32_t k = 0; k < parts; k++) {
        uint32_t row;
        must(fixture_kernel_row(&c[k], &row));
        kernel[k] = fixture_kernel_at(&judge_design_sl, row, 32u << n % 2, 1 + (uint32_t)(n / 2 % 3));
        kernel[k].window = window;
    }
    must(fixture_open(c, kernels, parts, &s));
    must(comparison_open(s, &a));
    explore(a, s, c, way(n), schedules, t);
    comparison_close(a);
}

static hd_case case_of(const char *shape, hd_op op, uint64_t seed)
{
    char text[512];
    hd_case c;
    snprintf(text, sizeof text, "sl.%s.segments slots=8 %s seed=%llu", hd_op_name(op), shape, (ull)seed);
    must(hd_case_parse(text, &c));
    return c;
}

/* ---- Every operation --------------------------------------------------------------------------- */

/* Both widths, one segment and many, keys that come often, more items than a table has places. */
static const char *const shapes[] = {
    "segment=128 capacity=60 batch=24x1 keys=uniform:60 duplicate=100000 reserved=50000",
    "segment=128 capacity=16 batch=12x1 keys=uniform:30 duplicate=200000",
    "segment=128 value=8 capacity=100 batch=40x1 keys=uniform:120 duplicate=200000 reserved=50000",
    "segment=256 capacity=300 batch=70x1 keys=uniform:400",
    "segment=128 capacity=200 batch=90x1 keys=uniform:3 reserved=20000", /* long runs of equal keys */
    "segment=128 value=8 capacity=60 batch=130x1 keys=uniform:1000",
    "segment=256 value=8 capacity=500 batch=33x1 keys=uniform:18446744073709551612",
    "segment=128 capacity=700 batch=64x1 keys=uniform:900 distinct=1",
    "segment=1024 capacity=640 batch=70x1 keys=uniform:900 duplicate=50000", /* eight lines */
    "segment=1024 value=8 capacity=400 batch=50x1 keys=uniform:5000",
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void test_agrees(void **unused)
{
    (void)unused;
    counts t;
    uint64_t n = 0;
    memset(&t, 0, sizeof t);
    for (uint32_t row = 0; row < sl_row_count(); row++)
        for (int op = 0; op < HD_OP_COUNT_; op++)
            for (uint64_t k = 0; fixture_runs(&judge_design_sl, row, (hd_op)op) && k < test_quarter(72); k++, n++) {
                hd_case c = case_of(shapes[k % SHAPES], (hd_op)op, n + 1);
                run_parts(&c, 1, n, 0, 3, &t);
            }
    test_tried("schedules", t.all.schedules, "of %llu fixtures of sl, %llu distinct", t.all.fixtures, t.all.distinct);
    test_note("last runs: %llu inserted, %llu pending, %llu updated, %llu hits, %llu erased, %llu misses; %llu "
              "segments came, %llu went",
              t.all.outcome[HD_INSERTED], t.all.outcome[HD_PENDING], t.all.outcome[HD_UPDATED], t.all.outcome[HD_HIT],
              t.all.outcome[HD_ERASED], t.all.outcome[HD_MISS], t.splits, t.joins);
    check(t.all.outcome[HD_INSERTED] && t.all.outcome[HD_PENDING] && t.all.outcome[HD_UPDATED] &&
              t.all.outcome[HD_HIT] && t.all.outcome[HD_ERASED] && t.all.outcome[HD_MISS] && t.splits && t.joins,
          "something never happened: see above");
}

/* ---- Windows ----------------------------------------------------------------------------------- */

/* A window holds as many items as the table has room for; here it holds few, and a batch has several. */
static void test_windows(void **unused)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_ERASE, HD_OP_ACCUM_OR_ASSIGN, HD_OP_FIND_OR_INSERT,
                                 HD_OP_FIND_MISSED };
    (void)unused;
    counts t;
    memset(&t, 0, sizeof t);
    for (uint64_t n = 0; n < test_quarter(180); n++) {
        hd_case c = case_of(shapes[n / 5 % SHAPES], ops[n % 5], 5000 + n);
        run_parts(&c, 1, n, 3 + n * 7 % 40, 2, &t);
    }
    test_tried("schedules", t.all.schedules, "of %llu fixtures of sl whose batches have several windows, %llu distinct",
               t.all.fixtures, t.all.distinct);
    check(t.all.outcome[HD_INSERTED] && t.all.outcome[HD_ERASED] && t.splits && t.joins, "no segment came or went");
}

/* ---- Near and far ------------------------------------------------------------------------------ */

/* The least device memory of the case's table, as the refusal of less says it. */
static ull least_near(const hd_case *c)
{
    hd_config f = hd_case_config(c);
    hd_table *table;
    f.backend = "host";
    f.sl.near_bytes = 1;
    ull least = 0;
    check(hd_open(&f, &table) == HD_EINVAL, "one byte of device memory was enough");
    const char *at = strstr(hd_why(), "at least ");
    check(at && sscanf(at, "at least %llu", &least) == 1, "the refusal does not say how much is enough: %s", hd_why());
    return least;
}

/* Segments beyond the device memory are in host memory: other kernels search them. Every other shape has windows of few
 * items, so that lookups and updates are sorted, too. */
static void test_far_segments(void **unused)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_ERASE,       HD_OP_FIND,
                                 HD_OP_ASSIGN,           HD_OP_RANGE,       HD_OP_SUCCESSOR,
                                 HD_OP_EXPORT,           HD_OP_ERASE_IF,    HD_OP_PREDECESSOR,
                                 HD_OP_FIND_OR_INSERT,   HD_OP_FIND_MISSED, HD_OP_CONTAINS,
                                 HD_OP_ACCUM_OR_ASSIGN };
    enum { OPS = sizeof ops / sizeof *ops };
    (void)unused;
    counts t;
    ull far = 0;
    memset(&t, 0, sizeof t);
    for (uint64_t n = 0; n < test_quarter(40 * OPS); n++) {
        uint64_t kind = n / OPS;
        hd_case c = case_of(shapes[kind % SHAPES], ops[n % OPS], 9000 + n);
        uint64_t homes =
            (c.capacity * 8 * (c.value_bytes / 4) + c.table.sl.segment_bytes - 1) / c.table.sl.segment_bytes;
        c.table.sl.near_bytes = least_near(&c) + kind / 2 % homes * c.table.sl.segment_bytes;
        run_parts(&c, 1, n, kind % 2 ? 7 + n % 30 : 0, 2, &t);
        far += kind / 2 % homes + 1 < homes;
    }
    test_tried("schedules", t.all.schedules, "of %llu fixtures of sl, %llu of them with far segments, %llu distinct",
               t.all.fixtures, far, t.all.distinct);
    check(far, "no fixture has a far segment");
}

/* ---- Two batches at a time --------------------------------------------------------------------- */

static void test_together(void **unused)
{
    static const hd_op pairs[][2] = { { HD_OP_FIND, HD_OP_RANGE },
                                      { HD_OP_PREDECESSOR, HD_OP_SUCCESSOR },
                                      { HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES },
                                      { HD_OP_CONTAINS, HD_OP_SIZE_IF },
                                      { HD_OP_ASSIGN_VALUES, HD_OP_ASSIGN } };
    (void)unused;
    counts t;
    memset(&t, 0, sizeof t);
    for (uint64_t n = 0; n < test_quarter(180); n++) {
        hd_case c[2];
        for (int k = 0; k < 2; k++) c[k] = case_of(shapes[n / 5 % SHAPES], pairs[n % 5][k], 12000 + n);
        run_parts(c, 2, n, 0, 3, &t);
    }
    test_tried("schedules", t.all.schedules, "of %llu fixtures of sl with two batches at a time, %llu distinct",
               t.all.fixtures, t.all.distinct);
}

int main(void)
{
    static const struct CMUnitTest tests[] = { unit(test_agrees), unit(test_windows), unit(test_far_segments),
                                               unit(test_together) };
    return test_run_on(&machine, tests);
}
