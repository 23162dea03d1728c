/* SPDX-License-Identifier: Apache-2.0
 *
 * contention.h - many threads on one table, each with a stream and a role: the cost of a batch lock, and which batches
 * it lets run at the same time (HKV section 5.4, Exp 3e).
 */
#ifndef HD_BENCH_CONTENTION_H
#define HD_BENCH_CONTENTION_H

#include "bench/device/fixture.h"

enum { CROWD_MOST = 64 };

/* Threads that find, that assign, and that insert_or_assign; keys that are in the table, so that its content stays what
 * it is. */
typedef struct bench_contention {
    uint32_t finders, updaters, inserters;
    uint64_t n, batches; /* items of a batch; batches of a thread */
    bool waits;          /* each batch is waited for before the thread's next one */
} bench_contention;

typedef struct bench_contention_measure {
    double seconds; /* from the first batch of the first thread to the end of the last */
    uint64_t items;
    char wrong[160]; /* empty: every outcome and every value was what it should be */
} bench_contention_measure;

/* On a fixture whose keys are listed (bench_fixture_list). */
hd_status contention_measure(bench_fixture *s, const bench_contention *p, bench_contention_measure *m);

#endif
