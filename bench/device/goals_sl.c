/* SPDX-License-Identifier: Apache-2.0
 *
 * goals_sl.c - figures of ordered tables in device memory: 2^26 keys in one call, half of the places in use. The peer
 * is MVGpuBTree on the device that is named. Successors are inclusive and of keys that are there, so that each answer
 * is known.
 */
#include "bench/device/goals.h"

static const bench_goal rows[] = {
    { HD_OP_FIND, 1, false, 0, GOAL_AT(4, 0), GOAL_AT(1.98, 0) },
    { HD_OP_FIND, 0, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_CONTAINS, 0.6, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_SUCCESSOR, 1, false, 0, GOAL_AT(4, 0), GOAL_NONE },
    { HD_OP_PREDECESSOR, 1, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_EXPORT, 1, false, 1 << 20, GOAL_NONE, GOAL_NONE },
    { HD_OP_ASSIGN, 1, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_INSERT_OR_ASSIGN, 1, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_INSERT_OR_ASSIGN, 0, false, 0, GOAL_AT(2, 0), GOAL_AT(0.73, 0) },
    { HD_OP_FIND_OR_INSERT, 0, false, 0, GOAL_NONE, GOAL_NONE },
    { HD_OP_ERASE, 1, false, 0, GOAL_NONE, GOAL_NONE },
};

static void near_of(hd_config *c, double share) { c->sl.near_bytes = bench_share_of(c, share); }

const bench_goals bench_goals_sl = { .design = "sl",
                                     .device = "H200",
                                     .dim = { 1 },
                                     .load = { 0.5 },
                                     .n = 1 << 26,
                                     .bulk = true,
                                     .row = rows,
                                     .rows = sizeof rows / sizeof *rows,
                                     .near = near_of };
