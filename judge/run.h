/* SPDX-License-Identifier: Apache-2.0
 *
 * run.h - runs a case, judged or not, and reports. The command `heddle run`, the random-sequence
 * tests and (later) the fuzzers are callers.
 */
#ifndef HD_RUN_H
#define HD_RUN_H

#include "lib/case.h"

typedef struct hd_run_report {
    hd_counters counters;
    hd_info info;
    uint64_t size;
    uint64_t requests, distinct_batches;
    double seconds;        /* inside hd_run only                                      */
    const char *ran;
    uint64_t contents_hash; /* XXH3 of the exported contents, order-free: for determinism */
    uint64_t judged;       /* items the oracle approved                               */
    char wrong[512];       /* "" or what the oracle said, with batch and item         */
} hd_run_report;

/* progress(context, done, total) is called between batches; may be NULL; nonzero stops the run. */
typedef int hd_progress(void *context, uint64_t done, uint64_t total);

/* HD_OK also when the judge objected: see report->wrong. */
hd_status hd_case_run(const hd_case *c, hd_progress *progress, void *context, hd_run_report *report);

#endif
