/* SPDX-License-Identifier: Apache-2.0
 *
 * goals_hkv.c - HKV's figures. HierarchicalKV's were measured on the device that is named, with its default options, by
 * the same workloads: keys in a queue of batches, values in the GPU's memory also where its dual mode would keep them
 * in this machine's.
 */
#include "bench/device/goals.h"

/* clang-format off */
#define ALL(a, b, c) { { a, b, c }, { a, b, c }, { a, b, c } }
#define NO 0

/* The operation, hits, dual, n; then goals and peers: a triple of load factors for each dim. */
static const bench_goal rows[] = {
    { HD_OP_FIND, 1, false, 0, { { 10.5, NO, 10 }, { 7.8, NO, 7.6 }, { 5.4, NO, 5.3 } },
      { { 4.39, 4.38, 4.38 }, { 4.36, 4.35, 4.34 }, { 4.22, 4.20, 4.20 } } },
    { HD_OP_FIND, 0, false, 0, ALL(20, NO, 20),
      { { 6.86, 6.69, 6.55 }, { 6.85, 6.65, 6.53 }, { 6.88, 6.67, 6.58 } } },
    { HD_OP_FIND_PTR, 1, false, 0, ALL(15, NO, 15),
      { { 8.15, 7.95, 4.90 }, { 8.10, 7.94, 4.91 }, { 8.69, 8.35, 4.91 } } },
    { HD_OP_CONTAINS, 0.6, false, 0, ALL(17, NO, 17),
      { { 6.93, 6.89, 6.83 }, { 6.87, 6.88, 6.82 }, { 6.99, 6.92, 6.86 } } },
    { HD_OP_EXPORT, 1, false, 0, ALL(NO, NO, NO),
      { { 10.5, 10.8, 10.9 }, { 1.39, 1.20, 1.10 }, { 0.66, 0.50, 0.36 } } },
    { HD_OP_ASSIGN, 0.6, false, 0, { { 8, NO, 8 }, { 7, NO, 7 }, { 5, NO, 5 } },
      { { 4.31, 3.95, 3.97 }, { 3.88, 3.89, 3.91 }, { 3.52, 3.51, 3.54 } } },
    { HD_OP_ASSIGN_SCORES, 0.6, false, 0, ALL(12, NO, 11),
      { { 6.02, 5.24, 5.31 }, { 6.00, 5.23, 5.28 }, { 6.37, 5.36, 5.41 } } },
    { HD_OP_INSERT_OR_ASSIGN, 0, false, 0, { { 4.6, NO, 3.2 }, { 4.0, NO, 2.9 }, { 3.0, NO, 2.3 } },
      { { 2.42, 2.27, 1.23 }, { 2.33, 2.20, 1.25 }, { 2.10, 1.98, 1.21 } } },
    { HD_OP_INSERT_OR_ASSIGN, 0.6, false, 0, { { 5.2, NO, 4.0 }, { 4.5, NO, 3.6 }, { 3.4, NO, 2.8 } },
      { { 2.45, 2.33, 1.42 }, { 2.38, 2.27, 1.44 }, { 2.13, 2.04, 1.40 } } },
    { HD_OP_INSERT_OR_ASSIGN, 1, false, 0, { { 6.2, NO, 6.0 }, { 5.4, NO, 5.2 }, { 4.0, NO, 3.9 } },
      { { 2.48, 2.46, 1.66 }, { 2.44, 2.43, 1.65 }, { 2.15, 2.14, 1.59 } } },
    { HD_OP_INSERT_AND_EVICT, 0.6, false, 0, { { 4.8, NO, 3.4 }, { 4.1, NO, 3.0 }, { 3.0, NO, 2.3 } },
      { { 2.43, 2.33, 0.84 }, { 2.09, 1.94, 0.84 }, { 1.83, 1.73, 0.81 } } },
    { HD_OP_FIND_OR_INSERT, 0.6, false, 0, { { 5.2, NO, 4.0 }, { 4.5, NO, 3.6 }, { 3.4, NO, 2.8 } },
      { { 2.48, 2.36, 1.44 }, { 2.41, 2.29, 1.44 }, { 2.14, 2.08, 1.39 } } },
    { HD_OP_ERASE, 1, false, 0, ALL(9, NO, 9),
      { { 4.06, 3.92, 2.47 }, { 4.05, 3.92, 2.47 }, { 4.33, 4.20, 2.59 } } },
    { HD_OP_FIND_OR_INSERT_PTR, 0.6, false, 0, ALL(6.5, NO, 5.0),
      { { 2.68, 2.51, 1.01 }, { 2.66, 2.50, 1.02 }, { 2.75, 2.62, 1.07 } } },
    { HD_OP_FIND, 1, true, 0, { { 8, NO, 8 }, { 6.5, NO, 6.5 }, { 4.8, NO, 4.8 } },
      { { 3.00, 3.01, 2.98 }, { 2.98, 2.98, 2.96 }, { 2.90, 2.91, 2.88 } } },
    { HD_OP_INSERT_OR_ASSIGN, 0, true, 0, { { NO, NO, 2.5 }, { NO, NO, 2.3 }, { NO, NO, 2.0 } },
      { { 0.81, 0.69, 0.56 }, { 0.81, 0.69, 0.56 }, { 0.81, 0.69, 0.55 } } },
};
/* clang-format on */

static void near_of(hd_config *c, double share)
{
    c->hkv.device_value_bytes = (uint64_t)(share * (double)c->capacity) * c->value_bytes + 1; /* 0 would be all */
}

const bench_goals bench_goals_hkv = { .design = "hkv",
                                      .device = "H200",
                                      .dim = { 8, 32, 64 },
                                      .load = { 0.5, 0.75, 1 },
                                      .n = 1 << 20,
                                      .row = rows,
                                      .rows = sizeof rows / sizeof *rows,
                                      .places = bench_places_hkv,
                                      .near = near_of };
