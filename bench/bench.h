/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.h - times one line, always in these steps:
 *
 *     judge     the same case at a reduced size, and a mix of all operations on the same shape, run under the oracle
 *               (judge/run.h); if it objects, nothing is timed
 *     warm up   one repetition that does not count
 *     repeat    batches until --min-time has passed inside hd_run; making keys and undoing changes is not timed
 *     check     every item had the outcome that its probe must have, and the table's counters agree
 *
 * The bench does not pin threads and changes no setting of the machine.
 */
#ifndef HD_BENCH_H
#define HD_BENCH_H

#include "bench/stage.h"

typedef struct bench_plan {
    uint64_t repeat;   /* repetitions that count */
    double min_time_s; /* of each                */
    const char *data;  /* folder where the files of trace cases are; NULL: none */
} bench_plan;

typedef struct bench_time {
    uint64_t items;
    double wall_s, cpu_s;
} bench_time;

typedef struct bench_result {
    bench_time *time; /* (times) one per repetition */
    size_t times;
    uint64_t capacity, judged; /* judged: items the oracle approved */
    double load;               /* of the table, when done                             */
    double table_bytes;        /* per entry, by hd_table_info                         */
    double resident_bytes;     /* per entry, by what the process grew; 0: not known   */
    char skipped[512];         /* why it was not timed; ""                            */
    char wrong[1024];          /* what judge or check said; ""                        */
} bench_result;

/* Called between batches; true stops: then a result without times. */
typedef bool bench_stop(void *context);

/* HD_OK also for what was skipped or is wrong. The stage is reused, and the caller's to strike. result->time is
 * the caller's to free. */
hd_status bench_line_run(const bench_line *l, const bench_plan *plan, bench_stage *stage, bench_stop *stop,
                         void *context, bench_result *result);

#endif
