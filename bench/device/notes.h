/* SPDX-License-Identifier: Apache-2.0
 *
 * notes.h - notes on a row of the goals table: what was tried for it (bench/lab/tried.txt), and what a profiler counted
 * (results/GPU.counters.tsv). The program contains both.
 */
#ifndef HD_BENCH_NOTES_H
#define HD_BENCH_NOTES_H

#include <stdbool.h>
#include <stddef.h>

/* As the columns of a table of points have it. */
typedef struct bench_row_key {
    const char *operation, *hits, *buckets, *dim, *load, *keys, *batch, *capacity;
    const char *design; /* "": the usual one; lines of others begin with its name and a point: "hive.find" */
} bench_row_key;

/* The next line of what was tried for such a row, from *at on, which begins as 0 and moves: its text, `bytes` long.
 * NULL: no more. */
const char *notes_tried(const bench_row_key *row, size_t *at, size_t *bytes);

/* What was counted of it, for people: "latency (l2 0.52, ...)" ; false: nothing was, on a device of that name. */
bool notes_counted(const char *device, const bench_row_key *row, char *text, size_t bytes);

#endif
