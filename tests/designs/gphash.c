/* SPDX-License-Identifier: Apache-2.0
 *
 * gphash.c - GPHash, for tests/conform.h: both layouts, all splits of a warp into levels, hashes and slots, keys that
 * come often, and tables that are full.
 */
#include "tests/conform.h"

static const char *const shapes[] = {
    "capacity=40 batch=16x1 keys=uniform:30 duplicate=200000 reserved=50000",
    "capacity=40 value=20 batch=16x1 keys=uniform:30 duplicate=200000 reserved=50000",
    "capacity=20 slots=4 levels=4 value=2 batch=24x1 keys=uniform:4",
    "capacity=20 slots=4 levels=4 value=3 layout=cells batch=12x1 keys=uniform:4",
    "capacity=10 slots=16 levels=1 value=0 batch=40x1 keys=uniform:60",
    "capacity=10 slots=2 levels=4 hashes=4 value=16 batch=33x1 keys=uniform:900 distinct=1",
    "capacity=60 slots=16 hashes=1 layout=cells value=4 batch=20x1 keys=uniform:9",
    "capacity=200 slots=32 hashes=1 levels=1 batch=30x1 keys=uniform:18446744073709551612",
    "capacity=20 slots=4 levels=4 value=2 batch=24x1 keys=uniform:4 index=near",
    "capacity=40 value=20 batch=16x1 keys=uniform:30 duplicate=200000 reserved=50000 index=near",
    "capacity=40 value=20 batch=16x1 keys=uniform:30 duplicate=200000 index=near cache=values cached=9",
    "capacity=20 slots=4 levels=4 value=12 batch=24x1 keys=uniform:9 index=far cache=values",
    "capacity=20 slots=4 levels=4 value=12 batch=24x1 keys=uniform:9 index=far cache=buckets cached=99",
    "capacity=40 value=2 batch=16x1 keys=uniform:30 duplicate=200000 index=far cache=buckets",
};

static uint64_t rounds(uint32_t row, int op) { return (void)row, (void)op, test_quarter(40); }

/* Two batches of readers, and one of readers beside itself. */
static void two_at_a_time(void **unused)
{
    static const hd_op pairs[][2] = { { HD_OP_FIND, HD_OP_CONTAINS },
                                      { HD_OP_FIND_PTR, HD_OP_FIND },
                                      { HD_OP_SIZE_IF, HD_OP_FIND_MISSED } };
    totals t = { 0 };
    (void)unused;
    for (uint64_t n = 0; n < test_quarter(60); n++) {
        scene x = scene_begin(n, 32, 3);
        for (int k = 0; k < 2; k++) {
            hd_op op = pairs[n % 3][k];
            hd_case c = conform_case(op, "warp", 700 + n, "%s", shapes[n / 3 % CONFORM_COUNT(shapes)]);
            scene_part_of(&x, conform_row("warp", op), n, &c);
        }
        scene_run(&x, &t);
    }
    test_tried("schedules", t.schedules, "of %llu fixtures of gphash with two batches at a time, %llu distinct",
               t.fixtures, t.distinct);
}

/* Two and three items that insert, erase and look up one key, in a table with room and in a full one: all schedules by
 * warp with at most one preemption, or two. */
static void all_meetings(void **unused)
{
    static const char *const tables[] = { "capacity=6 slots=8 keys=uniform:1", "capacity=6 value=12 keys=uniform:1",
                                          "capacity=6 slots=2 levels=4 hashes=4 value=12 keys=uniform:2" };
    static const int ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND_OR_INSERT, HD_OP_ACCUM_OR_ASSIGN, JUDGE_MIXED };
    totals t = { 0 };
    (void)unused;
    for (uint64_t n = 0; n < CONFORM_COUNT(tables) * CONFORM_COUNT(ops); n++) {
        scene x = scene_search(n == 4 ? 2 : 1, 20000);
        int op = ops[n % CONFORM_COUNT(ops)];
        hd_case c = conform_case(op, "warp", 40 + n, "%s batch=%ux1", tables[n / CONFORM_COUNT(ops)], n % 2 ? 3 : 2);
        scene_part(&x, conform_row("warp", op), 32, 3, &c);
        scene_run(&x, &t);
    }
    test_tried("schedules", t.schedules, "of %llu fixtures of gphash in which items with one key meet, %llu distinct",
               t.fixtures, t.distinct);
}

static const struct CMUnitTest tests[] = { unit(two_at_a_time), unit(all_meetings) };

const conform_design conform_this = { .judge = &judge_design_gphash,
                                      .shapes = shapes,
                                      .shapes_n = CONFORM_COUNT(shapes),
                                      .rounds = rounds,
                                      .schedules = 2,
                                      .whole = 2,
                                      .windows = true,
                                      .tests = tests,
                                      .tests_n = CONFORM_COUNT(tests) };
