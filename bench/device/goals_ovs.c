/* SPDX-License-Identifier: Apache-2.0
 *
 * goals_ovs.c - figures of tables of segments, all of which are in device memory: 0.9 of what Hive reaches there with
 * the same keys at the same load factor, in calls of 16 Mi items (bench/lab/ovs.md). Rows without figures are measured,
 * too. Far segments are in bench/lab/segments.sh.
 */
#include "bench/device/goals.h"

enum { MIXED = 4 << 20 };

static const bench_goal rows[] = {
    { HD_OP_FIND, 1, false, 0, GOAL_AT(22, 0), GOAL_NONE },
    { HD_OP_FIND, 0, false, 0, GOAL_AT(15, 0), GOAL_NONE },
    { HD_OP_CONTAINS, 0.6, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_FIND_PTR, 1, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_EXPORT, 1, false, 1 << 20, GOAL_NONE, GOAL_NONE },
    { HD_OP_ASSIGN, 1, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_INSERT_OR_ASSIGN, 1, false, 0, GOAL_AT(10.6, 0), GOAL_NONE },
    { HD_OP_INSERT_OR_ASSIGN, 0, false, 0, GOAL_AT(9.8, 0), GOAL_NONE },
    { HD_OP_FIND_OR_INSERT, 0, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_ERASE, 1, false, 0, GOAL_AT(10.8, 0), GOAL_NONE },
    { BENCH_MIXED, 0.5, false, MIXED, GOAL_NONE, GOAL_NONE },
};

static void near_of(hd_config *c, double share) { c->ovs.near_bytes = bench_share_of(c, share); }

/* Its buckets are read as Hive's are. */
const bench_goals bench_goals_ovs = { .design = "ovs",
                                      .device = "H200",
                                      .dim = { 1 },
                                      .load = { 0.85 },
                                      .n = 1 << 24,
                                      .bulk = true,
                                      .row = rows,
                                      .rows = sizeof rows / sizeof *rows,
                                      .places = bench_places_hive,
                                      .near = near_of,
                                      .doubles = true };
