/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.h - a table filled with different keys, step by step: what each load factor costs and keeps. The
 * keys are a bijection of 1, 2, 3, ..., so that none comes twice, and spread evenly.
 */
#ifndef HD_FILL_H
#define HD_FILL_H

#include "tools/replay.h"

typedef struct fill_row {
    const char *policy;
    double asked; /* keys offered so far, as a part of the capacity */
    uint64_t offered, size, evicted, refused;
    double kept; /* of the offered keys, the part that is found (of a sample of at most 64 Ki) */
    double inserts_per_s, finds_per_s;
} fill_row;

/* One table of p's shape per policy, `capacity` entries. (policies x parts) rows, written in that order;
 * parts ascend. TOOL_OK or the exit code of what was said. */
int fill_run(const replay_plan *p, const replay_list *policies, const double *part, size_t parts, uint64_t capacity,
             fill_row *row);

#endif
