/* SPDX-License-Identifier: Apache-2.0
 *
 * runner.h - the state of a case while it runs; for run*.c and mix.c only.
 */
#ifndef HD_JUDGE_RUNNER_H
#define HD_JUDGE_RUNNER_H

#include "judge/arrays.h"
#include "judge/map.h"
#include "judge/oracle.h"
#include "judge/run.h"
#include "judge/rules.h"
#include "judge/mem_files.h"
#include "workload/rng.h"
#include "workload/workload.h"

typedef struct runner {
    const hd_case *c;
    hd_config config;
    hd_run_report *report;
    hd_table *table;
    hd_oracle *oracle; /* NULL: not judged                                   */
    uint32_t judges;   /* HD_RUN_...: the judges that count */
    hd_source *source;
    hd_request *request; /* (c->batch) the batch's share of the source         */
    uint64_t requests;   /* how many there are; fewer than c->batch at the end */
    judge_arrays arrays;
    judge_map seen; /* keys of a batch that promises distinct ones ...    */
    bool starved;   /* ... and had no memory for them all                 */
    /* (3, arrays.most) the items of a batch in the order of their tickets; the tickets' numbers; how many had taken
     * effect when each began. NULL: item order */
    uint64_t *order;
    uint64_t time_ns;  /* HD_CLOCK_DEVICE: what the clock says  */
    judge_shelf shelf; /* where mix keeps its snapshots                      */
    hd_rng rng;
    const hd_choices *choices; /* NULL: rng decides                              */
    hd_elem elem;              /* of accum_or_assign: one per case, so that no sum is a NaN */
    bool adds;                 /* batches add to values, in any order of their items */
    bool mixes;                /* the design has mixed batches                       */
    bool resizes;              /* it grows and shrinks where it is                   */
    bool moves;                /* it has a limit of device memory that can change    */
    bool in_order;             /* the reference runs the batches                     */
    bool filling;              /* these are not yet the case's batches               */
    uint64_t batch;            /* number of the batch, from 0                        */
    uint64_t start_buckets;
    hd_info shape;                      /* of the table as it was opened                      */
    uint64_t outcome[HD_OUTCOME_COUNT]; /* judged: what the table's counters must say   */
} runner;

static inline bool runner_failed(const runner *r) { return r->report->wrong[0] != 0; }
static inline bool runner_by_device(const runner *r) { return r->config.clock == HD_CLOCK_DEVICE; }

/* run_inputs.c. The next requests of the source, up to n; r->requests: how many. */
hd_status runner_take(runner *r, uint64_t n);
/* A batch of the next requests [first, first + n), keys as the case asks for, inputs filled in. n may become
 * less when keys must be distinct. */
void runner_fill(runner *r, hd_batch *b, hd_op op, const uint64_t *pick, uint64_t n);
/* Makes a batch of inserts one in which every item has an operation of its own. */
void runner_mix(runner *r, hd_batch *b);
/* Whether the table's design has the operation. */
bool runner_runs(const runner *r, hd_op op);
/* Draws a value; no element is a NaN or infinite. */
void runner_value(runner *r, uint8_t *value);
/* Decisions. runner_rarely: 0 to n - 1, where 0 is the least ordinary choice. */
uint64_t runner_below(runner *r, uint64_t n);
uint64_t runner_rarely(runner *r, uint64_t n);
uint64_t runner_number(runner *r);

/* run_batch.c. Runs, times and judges a batch. An objection is in report->wrong. */
hd_status runner_run(runner *r, hd_batch *b);
/* Adds the table's counters to the report's, checks them, and forgets the table. */
hd_status runner_retire(runner *r);
/* Records an objection of judge `by` (HD_RUN_...). False: there is none, or the judge does not count. */
bool runner_wrong(runner *r, uint32_t by, const char *what, const char *sentence);

/* mix.c: one batch of something; what is done to the table between batches; the arguments of the batch's predicate. */
hd_status mix_step(runner *r);
uint64_t runner_near(const runner *r); /* the table's limit of device memory; 0: there is none */
hd_status runner_between(runner *r, hd_case_between what);
void runner_predicate(runner *r, hd_batch *b, const hd_info *info);

#endif
