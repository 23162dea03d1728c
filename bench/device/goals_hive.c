/* SPDX-License-Identifier: Apache-2.0
 *
 * goals_hive.c - Hive's figures: 32-bit keys and values, 2^26 keys a call, at load factors 0.9 and 0.95. Peers are the
 * best of cuCollections (static_map), WarpCore, BGHT (bcht), DyCuckoo and SlabHash on the device that is named, by the
 * same bulk calls; for mixed batches SlabHash, in one kernel. Rows without figures are measured, too.
 *
 * Mixed batches are measured twice: of 2^26 items, of which a table ends at that load factor, as the peer's were, and
 * the goal is; and smaller than a table, so that its load factor stays where it is.
 */
#include "bench/device/goals.h"

enum { MIXED = 4 << 20 };

static const bench_goal rows[] = {
    { HD_OP_FIND, 1, false, 0, GOAL_AT(14, 13), GOAL_AT(12.3, 11.4) },
    { HD_OP_FIND, 0, false, 0, GOAL_AT(10, 9), GOAL_AT(8.9, 6.9) },
    { HD_OP_CONTAINS, 0.6, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_FIND_PTR, 1, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_EXPORT, 1, false, 1 << 20, GOAL_NONE, GOAL_NONE },
    { HD_OP_ASSIGN, 1, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_INSERT_OR_ASSIGN, 1, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_INSERT_OR_ASSIGN, 0, false, 0, GOAL_AT(10, 9.5), GOAL_AT(9.3, 8.6) },
    { HD_OP_FIND_OR_INSERT, 0, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_ERASE, 1, false, 0, GOAL_AT(11, 10), GOAL_AT(9.8, 8.9) },
    { BENCH_MIXED, 0.5, false, MIXED, GOAL_NONE, GOAL_NONE },
    { BENCH_MIXED, 0.5, false, 0, GOAL_AT(10, 0), GOAL_AT(5.4, 0) },
};

const bench_goals bench_goals_hive = { .design = "hive",
                                       .device = "H200",
                                       .dim = { 1 },
                                       .load = { 0.9, 0.95 },
                                       .n = 1 << 26,
                                       .bulk = true,
                                       .row = rows,
                                       .rows = sizeof rows / sizeof *rows,
                                       .places = bench_places_hive };
