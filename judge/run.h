/* SPDX-License-Identifier: Apache-2.0
 *
 * run.h - runs a case, judged or not, and reports. The command `heddle run`, the random-sequence
 * tests and the fuzzers are callers.
 */
#ifndef HD_RUN_H
#define HD_RUN_H

#include "workload/case.h"

/* Keyed batches of one part of a run: how the hit rate develops. */
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
    uint32_t by;                          /* HD_RUN_...: the judge that said it */
} hd_run_report;

/* progress(context, done, total) is called between batches; may be NULL; nonzero stops the run. */
typedef int hd_progress(void *context, uint64_t done, uint64_t total);

/* HD_OK also when the judge objected: see report->wrong. serve: the reads of a batch run first, as one
 * find_or_insert, then the writes, as one insert_or_assign. Batches of an operation that inserts nothing alternate
 * with insert_or_assign of other keys, so that there are entries to find. mix: every operation, and sometimes
 * growth, a snapshot, or a new holder. */
hd_status hd_case_run(const hd_case *c, hd_progress *progress, void *context, hd_run_report *report);

/* Replaces the case's seed as the source of decisions: the operation, the number of items, keys (of as many as the
 * case's source has, and the reserved ones), scores, events between batches. Values still come from the seed. 0 is
 * the most ordinary choice. */
typedef struct hd_choices {
    uint64_t (*below)(void *self, uint64_t n);    /* 0 to n - 1, n > 0                   */
    uint64_t (*number)(void *self);               /* any                                 */
    bool (*more)(void *self);                     /* false: no more batches              */
    void (*batch)(void *self, const hd_batch *b); /* called before each batch; NULL: not */
    void *self;
} hd_choices;

hd_status hd_case_run_by(const hd_case *c, const hd_choices *choices, hd_run_report *report);

/* The judges of a run. To measure what one of them is worth, a run can leave it out. */
enum {
    HD_RUN_ARRAYS = 1 << 0,     /* outputs stay within their bounds, and are untouched where nothing was delivered */
    HD_RUN_ORACLE = 1 << 1,     /* outcomes, lists, contents, clock                                          */
    HD_RUN_INVARIANTS = 1 << 2, /* hd_check                                                                  */
    HD_RUN_COUNTERS = 1 << 3,   /* the table's counters against the outcomes */
    HD_RUN_ALL = (1 << 4) - 1
};
/* report->by: the judge that objected. */
hd_status hd_case_run_judged(const hd_case *c, uint32_t judges, hd_progress *progress, void *context,
                             hd_run_report *report);

#endif
