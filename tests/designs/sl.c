/* SPDX-License-Identifier: Apache-2.0
 *
 * sl.c - the ordered table, for tests/conform.h: segments of 8 to 32 entries, so that most batches split and join some.
 * Then batches in windows of few items, far segments, and two batches at a time.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/sl/state.h"
#include "tests/conform.h"

/* Both widths, one segment and many, keys that come often, more items than a table has places. */
static const char *const shapes[] = {
    "slots=8 segment=128 capacity=60 batch=24x1 keys=uniform:60 duplicate=100000 reserved=50000",
    "slots=8 segment=128 capacity=16 batch=12x1 keys=uniform:30 duplicate=200000",
    "slots=8 segment=128 value=8 capacity=100 batch=40x1 keys=uniform:120 duplicate=200000 reserved=50000",
    "slots=8 segment=256 capacity=300 batch=70x1 keys=uniform:400",
    "slots=8 segment=128 capacity=200 batch=90x1 keys=uniform:3 reserved=20000", /* long runs of equal keys */
    "slots=8 segment=128 value=8 capacity=60 batch=130x1 keys=uniform:1000",
    "slots=8 segment=256 value=8 capacity=500 batch=33x1 keys=uniform:18446744073709551612",
    "slots=8 segment=128 capacity=700 batch=64x1 keys=uniform:900 distinct=1",
    "slots=8 segment=1024 capacity=640 batch=70x1 keys=uniform:900 duplicate=50000", /* eight lines */
    "slots=8 segment=1024 value=8 capacity=400 batch=50x1 keys=uniform:5000",
};
enum { SHAPES = CONFORM_COUNT(shapes), SPLITS = 0, JOINS };

static uint64_t rounds(uint32_t row, int op) { return (void)row, (void)op, test_quarter(72); }

static simt_config way(uint64_t n, uint32_t lanes)
{
    simt_config w = conform_way(n, lanes);
    w.pct_depth = 3;
    w.pct_length = 20000;
    return w;
}

/* Segments that came and went in the last runs. */
static void look(const fixture *s, totals *t)
{
    const uint8_t *at = (const uint8_t *)&((const sl_state *)s->table)->words->numbers.rows;
    uint64_t before, now;
    memcpy(&now, at, sizeof now);
    memcpy(&before, s->initial + (at - s->memory), sizeof before);
    if (now > before) t->special[SPLITS] += now - before;
    if (now < before) t->special[JOINS] += before - now;
}

static hd_case case_of(uint64_t shape, int op, uint64_t seed)
{
    return conform_case(op, "segments", seed, "%s", shapes[shape % SHAPES]);
}

/* A window holds as many items as the table has room for; here it holds few, and a batch has several. */
static void windows(void **unused)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_ERASE, HD_OP_ACCUM_OR_ASSIGN, HD_OP_FIND_OR_INSERT,
                                 HD_OP_FIND_MISSED };
    totals t = { 0 };
    (void)unused;
    for (uint64_t n = 0; n < test_quarter(180); n++) {
        scene x = scene_begin(n, 32, 2);
        hd_case c = case_of(n / 5, ops[n % 5], 5000 + n);
        scene_part_of(&x, conform_row(NULL, ops[n % 5]), n, &c);
        x.kernel[0].window = 3 + n * 7 % 40;
        scene_run(&x, &t);
    }
    test_tried("schedules", t.schedules, "of %llu fixtures of sl whose batches have several windows, %llu distinct",
               t.fixtures, t.distinct);
    bool all = t.outcome[HD_INSERTED] && t.outcome[HD_ERASED] && t.special[SPLITS] && t.special[JOINS];
    check(all || t.fixtures < 20, "no segment came or went");
}

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
static void far_segments(void **unused)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_ERASE,       HD_OP_FIND,
                                 HD_OP_ASSIGN,           HD_OP_RANGE,       HD_OP_SUCCESSOR,
                                 HD_OP_EXPORT,           HD_OP_ERASE_IF,    HD_OP_PREDECESSOR,
                                 HD_OP_FIND_OR_INSERT,   HD_OP_FIND_MISSED, HD_OP_CONTAINS,
                                 HD_OP_ACCUM_OR_ASSIGN };
    enum { OPS = sizeof ops / sizeof *ops };
    totals t = { 0 };
    ull far = 0;
    (void)unused;
    for (uint64_t n = 0; n < test_quarter(40 * OPS); n++) {
        uint64_t kind = n / OPS;
        hd_case c = case_of(kind, ops[n % OPS], 9000 + n);
        uint64_t segment = c.table.sl.segment_bytes,
                 homes = (c.capacity * 8 * (c.value_bytes / 4) + segment - 1) / segment;
        scene x = scene_begin(n, 32, 2);
        c.table.sl.near_bytes = least_near(&c) + kind / 2 % homes * segment;
        scene_part_of(&x, conform_row(NULL, ops[n % OPS]), n, &c);
        x.kernel[0].window = kind % 2 ? 7 + n % 30 : 0;
        scene_run(&x, &t);
        far += kind / 2 % homes + 1 < homes;
    }
    test_tried("schedules", t.schedules, "of %llu fixtures of sl, %llu of them with far segments, %llu distinct",
               t.fixtures, far, t.distinct);
    check(far, "no fixture has a far segment");
}

static void two_at_a_time(void **unused)
{
    static const hd_op pairs[][2] = { { HD_OP_FIND, HD_OP_RANGE },
                                      { HD_OP_PREDECESSOR, HD_OP_SUCCESSOR },
                                      { HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES },
                                      { HD_OP_CONTAINS, HD_OP_SIZE_IF },
                                      { HD_OP_ASSIGN_VALUES, HD_OP_ASSIGN } };
    totals t = { 0 };
    (void)unused;
    for (uint64_t n = 0; n < test_quarter(180); n++) {
        scene x = scene_begin(n, 32, 3);
        for (int k = 0; k < 2; k++) {
            hd_case c = case_of(n / 5, pairs[n % 5][k], 12000 + n);
            scene_part_of(&x, conform_row(NULL, pairs[n % 5][k]), n, &c);
        }
        scene_run(&x, &t);
    }
    test_tried("schedules", t.schedules, "of %llu fixtures of sl with two batches at a time, %llu distinct", t.fixtures,
               t.distinct);
}

static const struct CMUnitTest tests[] = { unit(windows), unit(far_segments), unit(two_at_a_time) };

const conform_design conform_this = { .judge = &judge_design_sl,
                                      .shapes = shapes,
                                      .shapes_n = SHAPES,
                                      .restarts = true,
                                      .rounds = rounds,
                                      .schedules = 3,
                                      .whole = 3,
                                      .way = way,
                                      .watch = 3,
                                      .look = look,
                                      .special = { "segments came", "segments went" },
                                      .tests = tests,
                                      .tests_n = CONFORM_COUNT(tests) };
