/* SPDX-License-Identifier: Apache-2.0
 *
 * goals.c - the figures. HierarchicalKV's were measured on the device that is named, with its default options, by the same workloads:
 * keys in a queue of batches, values in the GPU's memory also where its dual mode would keep them in this machine's.
 */
#include "bench/device/goals.h"

#include <string.h>

static const char design_of_figures[] = "hkv", device_of_figures[] = "H200";
enum { ITEMS_OF_FIGURES = 1 << 20 };

const uint32_t goal_dims[GOAL_DIMS] = { 8, 32, 64 };
const double goal_loads[GOAL_LOADS] = { 0.5, 0.75, 1 };

#define ALL(a, b, c) { { a, b, c }, { a, b, c }, { a, b, c } }
#define NO 0

const bench_goal bench_goals[] = {
    { HD_OP_FIND, 1, false, { { 10.5, NO, 10 }, { 7.8, NO, 7.6 }, { 5.4, NO, 5.3 } }, { { 4.39, 4.38, 4.38 }, { 4.36, 4.35, 4.34 }, { 4.22, 4.20, 4.20 } } },
    { HD_OP_FIND, 0, false, ALL(20, NO, 20), { { 6.86, 6.69, 6.55 }, { 6.85, 6.65, 6.53 }, { 6.88, 6.67, 6.58 } } },
    { HD_OP_FIND_PTR, 1, false, ALL(15, NO, 15), { { 8.15, 7.95, 4.90 }, { 8.10, 7.94, 4.91 }, { 8.69, 8.35, 4.91 } } },
    { HD_OP_CONTAINS, 0.6, false, ALL(17, NO, 17), { { 6.93, 6.89, 6.83 }, { 6.87, 6.88, 6.82 }, { 6.99, 6.92, 6.86 } } },
    { HD_OP_EXPORT, 1, false, ALL(NO, NO, NO), { { 10.5, 10.8, 10.9 }, { 1.39, 1.20, 1.10 }, { 0.66, 0.50, 0.36 } } },
    { HD_OP_ASSIGN, 0.6, false, { { 8, NO, 8 }, { 7, NO, 7 }, { 5, NO, 5 } }, { { 4.31, 3.95, 3.97 }, { 3.88, 3.89, 3.91 }, { 3.52, 3.51, 3.54 } } },
    { HD_OP_ASSIGN_SCORES, 0.6, false, ALL(12, NO, 11), { { 6.02, 5.24, 5.31 }, { 6.00, 5.23, 5.28 }, { 6.37, 5.36, 5.41 } } },
    { HD_OP_INSERT_OR_ASSIGN, 0, false, { { 4.6, NO, 3.2 }, { 4.0, NO, 2.9 }, { 3.0, NO, 2.3 } }, { { 2.42, 2.27, 1.23 }, { 2.33, 2.20, 1.25 }, { 2.10, 1.98, 1.21 } } },
    { HD_OP_INSERT_OR_ASSIGN, 0.6, false, { { 5.2, NO, 4.0 }, { 4.5, NO, 3.6 }, { 3.4, NO, 2.8 } }, { { 2.45, 2.33, 1.42 }, { 2.38, 2.27, 1.44 }, { 2.13, 2.04, 1.40 } } },
    { HD_OP_INSERT_OR_ASSIGN, 1, false, { { 6.2, NO, 6.0 }, { 5.4, NO, 5.2 }, { 4.0, NO, 3.9 } }, { { 2.48, 2.46, 1.66 }, { 2.44, 2.43, 1.65 }, { 2.15, 2.14, 1.59 } } },
    { HD_OP_INSERT_AND_EVICT, 0.6, false, { { 4.8, NO, 3.4 }, { 4.1, NO, 3.0 }, { 3.0, NO, 2.3 } }, { { 2.43, 2.33, 0.84 }, { 2.09, 1.94, 0.84 }, { 1.83, 1.73, 0.81 } } },
    { HD_OP_FIND_OR_INSERT, 0.6, false, { { 5.2, NO, 4.0 }, { 4.5, NO, 3.6 }, { 3.4, NO, 2.8 } }, { { 2.48, 2.36, 1.44 }, { 2.41, 2.29, 1.44 }, { 2.14, 2.08, 1.39 } } },
    { HD_OP_ERASE, 1, false, ALL(9, NO, 9), { { 4.06, 3.92, 2.47 }, { 4.05, 3.92, 2.47 }, { 4.33, 4.20, 2.59 } } },
    { HD_OP_FIND_OR_INSERT_PTR, 0.6, false, ALL(6.5, NO, 5.0), { { 2.68, 2.51, 1.01 }, { 2.66, 2.50, 1.02 }, { 2.75, 2.62, 1.07 } } },
    { HD_OP_FIND, 1, true, { { 8, NO, 8 }, { 6.5, NO, 6.5 }, { 4.8, NO, 4.8 } }, { { 3.00, 3.01, 2.98 }, { 2.98, 2.98, 2.96 }, { 2.90, 2.91, 2.88 } } },
    { HD_OP_INSERT_OR_ASSIGN, 0, true, { { NO, NO, 2.5 }, { NO, NO, 2.3 }, { NO, NO, 2.0 } }, { { 0.81, 0.69, 0.56 }, { 0.81, 0.69, 0.56 }, { 0.81, 0.69, 0.55 } } },
    { HD_OP_COUNT_, 0, false, ALL(NO, NO, NO), ALL(NO, NO, NO) },
};

uint64_t goal_capacity(uint32_t dim) { return dim <= 32 ? 128ull << 20 : 64ull << 20; }

bench_peers goal_of(const char *design, const char *device, hd_op op, double hits, bool dual, uint32_t dim, double load, uint64_t capacity, uint64_t n)
{
    bench_peers p = { 0, 0 };
    const bench_goal *g = bench_goals;
    int d = 0, l = 0;
    if (strcmp(design, design_of_figures) != 0 || !strstr(device, device_of_figures) || n != ITEMS_OF_FIGURES || capacity != goal_capacity(dim)) return p;
    while (g->op != HD_OP_COUNT_ && !(g->op == op && g->hits == hits && g->dual == dual)) g++;
    while (d < GOAL_DIMS && goal_dims[d] != dim) d++;
    while (l < GOAL_LOADS && goal_loads[l] != load) l++;
    if (g->op == HD_OP_COUNT_ || d == GOAL_DIMS || l == GOAL_LOADS) return p;
    p.goal = g->goal[d][l];
    p.hkv = g->hkv[d][l];
    return p;
}
