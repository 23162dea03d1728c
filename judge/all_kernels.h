/* SPDX-License-Identifier: Apache-2.0
 *
 * all_kernels.h - runs one workload through every kernel on the simulator. The reference fills a table with the case's
 * requests. Then each kernel of each operation that the case names starts from a copy of that table and runs the next
 * requests, twice:
 *
 *   in turn    warp after warp; the memory traffic that a GPU would have is counted
 *   at random  a quarter of the requests, with random switches at atomics, under the race detector
 *
 * A comparison (judge/comparison.h) judges both runs. All of it is done once with one candidate bucket per key and once
 * with two. The case names one operation, serve (find_or_insert and insert_or_assign) or mix (all operations).
 */
#ifndef HD_JUDGE_ALL_KERNELS_H
#define HD_JUDGE_ALL_KERNELS_H

#include "judge/design.h"
#include "judge/run.h"

enum {
    ALL_KERNELS_BATCH = 4096,
    ALL_KERNELS_FILL = 1 << 22
}; /* requests at most: run by a kernel, and by the reference before */

typedef struct all_kernels_row {
    hd_op op; /* or JUDGE_MIXED */
    judge_row kernel;
    uint32_t row; /* its number */
    bool dual;
    uint32_t buckets;        /* in which a key may be */
    char unsupported[96];    /* "", or why it cannot run such a table; the fields below are then 0 */
    uint64_t items;          /* items that ran and were judged; of operations on the whole table, slots */
    uint64_t hits, ref_hits; /* of the first run's keys, and the reference's on the same              */
    uint64_t metered;        /* items of the first run, to which belong:                                */
    uint64_t steps, sectors, lines, atomics;
    uint64_t far_sectors; /* of the sectors: of memory behind the bus */
    char wrong[512];      /* "", or the comparison's objection */
    bool at_random;       /* wrong: in random order only                                             */
    char again[512];      /* wrong: the case that reproduces it */
} all_kernels_row;

typedef struct all_kernels {
    const judge_design *design;
    all_kernels_row *row; /* (rows) by operation, candidate buckets, variant */
    size_t rows;
    uint64_t ran, items, wrong; /* rows, their items, rows that went wrong */
    uint64_t filled, asked;     /* requests: that the reference served before, and for every kernel */
    double seconds;
} all_kernels;

/* HD_OK also when a kernel went wrong. The case's kernel is ref for all, or the name of one. progress counts rows. A
 * failure leaves nothing to close. */
hd_status all_kernels_run(const hd_case *c, hd_progress *progress, void *context, all_kernels *t);
void all_kernels_close(all_kernels *t);

/* Whether the kernel of a row that ran agrees with the reference: "yes"; "shape", if it may choose differently, so that
 * only invariants and the number of entries were judged; "no". */
const char *all_kernels_agrees(const all_kernels_row *r);

#endif
