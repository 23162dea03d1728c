/* SPDX-License-Identifier: Apache-2.0
 *
 * run.h - runs a case, judged or not, and reports. The command `heddle run`, the random-sequence
 * tests and the fuzzers are callers.
 */
#ifndef HD_RUN_H
#define HD_RUN_H

#include "workload/case.h"

/* Of the keyed batches in one part of a run: how the hit rate went. */
enum { HD_RUN_WINDOWS = 48 };
typedef struct hd_run_window {
    uint64_t items, hits;
} hd_run_window;

typedef struct hd_run_report {
    hd_counters counters;
    hd_info info;
    uint64_t size;
    uint64_t requests, distinct_batches;  /* items of keyed batches; batches that promised distinct keys */
    double seconds;                       /* inside hd_run only                                      */
    const char *ran;                      /* by the last batch                                       */
    hd_run_window window[HD_RUN_WINDOWS]; /* equal parts of the batches                   */
    uint64_t contents_hash;               /* XXH3 of the contents, order-free: for determinism      */
    uint64_t judged;                      /* items the oracle approved                               */
    char wrong[512];                      /* "" or what the oracle said, with batch and item         */
    uint32_t by;                          /* HD_RUN_...: who said it                                 */
} hd_run_report;

/* progress(context, done, total) is called between batches; may be NULL; nonzero stops the run. */
typedef int hd_progress(void *context, uint64_t done, uint64_t total);

/* HD_OK also when the judge objected: see report->wrong.
 *
 * serve: of every batch, the reads go first, as one find_or_insert, then the writes, as one insert_or_assign.
 * An operation that inserts nothing takes turns with insert_or_assign of other keys, so that there is
 * something to find. mix: every operation, and now and then growth, a snapshot, a new holder. */
hd_status hd_case_run(const hd_case *c, hd_progress *progress, void *context, hd_run_report *report);

/* Where the decisions of a run come from, in the place of the case's seed: which operation, how many items, which keys
 * (of as many as the case's source has, and the reserved ones), scores, what happens besides. Values are still the
 * seed's. 0 is the quiet answer. */
typedef struct hd_choices {
    uint64_t (*below)(void *self, uint64_t n);    /* 0 to n - 1, n > 0                   */
    uint64_t (*number)(void *self);               /* any                                 */
    bool (*more)(void *self);                     /* false: no more batches              */
    void (*batch)(void *self, const hd_batch *b); /* told of each before it is run; NULL: not */
    void *self;
} hd_choices;

hd_status hd_case_run_by(const hd_case *c, const hd_choices *choices, hd_run_report *report);

/* Who judges a run. To see what one of them is worth, a run can do without it. */
enum {
    HD_RUN_ARRAYS = 1 << 0,     /* outputs within their bounds, and where nothing was delivered as they were */
    HD_RUN_ORACLE = 1 << 1,     /* outcomes, lists, contents, clock                                          */
    HD_RUN_INVARIANTS = 1 << 2, /* hd_check                                                                  */
    HD_RUN_COUNTERS = 1 << 3,   /* the table's against the outcomes                                          */
    HD_RUN_ALL = (1 << 4) - 1
};
/* report->by: who objected. */
hd_status hd_case_run_judged(const hd_case *c, uint32_t judges, hd_progress *progress, void *context,
                             hd_run_report *report);

#endif
