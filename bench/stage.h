/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.h - the filled table on which a case is timed, with keys to look up. Filling 2^26 entries takes many seconds,
 * so a stage is kept for the next case of the same shape.
 */
#ifndef HD_BENCH_STAGE_H
#define HD_BENCH_STAGE_H

#include "bench/line.h"
#include "workload/workload.h"

typedef struct bench_stage {
    hd_case c; /* the shape; table NULL: none yet    */
    double fill;
    hd_table *table;
    hd_info info;
    uint64_t fresh;         /* key number `fresh` and later ones were never in the table    */
    uint64_t *present;      /* (presents) keys that are in it, shuffled; NULL: not known    */
    uint64_t presents, at;  /* at: the next to be used            */
    uint64_t submitted;     /* items so far, by every batch       */
    int64_t resident_bytes; /* what filling added to the process  */
} bench_stage;

/* Opens and fills a table of this shape, unless the stage is one already. */
hd_status stage_set(bench_stage *s, const hd_case *c, double fill);
void stage_strike(bench_stage *s); /* takes it down; a zeroed stage is fine */

/* Runs a batch and counts its items: everything that touches the table goes through here. */
hd_status stage_run(bench_stage *s, hd_batch *b);
/* What was in the table may have left. */
void stage_changed(bench_stage *s);

/* The most keys that stage_keys can give at once without one coming twice. */
hd_status stage_most(bench_stage *s, bench_probe probe, uint64_t *most);
/* n keys for a probe (hit, miss, new), n <= stage_most. */
hd_status stage_keys(bench_stage *s, bench_probe probe, uint64_t *key, uint64_t n);

double stage_load(bench_stage *s);

#endif
