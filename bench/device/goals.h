/* SPDX-License-Identifier: Apache-2.0
 *
 * goals.h - the rows of the table that `heddle bench` prints for a GPU: which operation at which share of hits, how fast it is to be,
 * and how fast HierarchicalKV is. Figures hold on one kind of GPU, for the shapes that they were set for.
 */
#ifndef HD_BENCH_GOALS_H
#define HD_BENCH_GOALS_H

#include "heddle.h"

enum { GOAL_DIMS = 3, GOAL_LOADS = 3 };

/* Values of 8, 32 and 64 floats; load factors 0.5, 0.75 and 1. */
extern const uint32_t goal_dims[GOAL_DIMS];
extern const double goal_loads[GOAL_LOADS];

/* 1e9 items per second, batches of 1 Mi distinct keys in a queue; 0: none. */
typedef struct bench_goal {
    hd_op op;
    double hits;
    bool dual;
    double goal[GOAL_DIMS][GOAL_LOADS];
    double hkv[GOAL_DIMS][GOAL_LOADS];
} bench_goal;

extern const bench_goal bench_goals[]; /* in the order of a run; ends with op HD_OP_COUNT_ */

/* The capacity that belongs to a value of so many floats. */
uint64_t goal_capacity(uint32_t dim);

/* The figures for a point of a design, where there are any: on a device of that name, batches of n. */
typedef struct bench_peers {
    double goal, hkv;
} bench_peers;
bench_peers goal_of(const char *design, const char *device, hd_op op, double hits, bool dual, uint32_t dim, double load, uint64_t capacity, uint64_t n);

#endif
