/* SPDX-License-Identifier: Apache-2.0
 *
 * timed.h - the two kinds of measurements: batches on a filled table, and replays of a trace.
 */
#ifndef HD_BENCH_TIMED_H
#define HD_BENCH_TIMED_H

#include "bench/bench.h"

/* Both fill r's times; what does not check out stands in r->wrong. */
hd_status batches_time(const bench_line *l, const bench_plan *plan, bench_stage *stage, bench_stop *stop, void *context,
                       bench_result *r);
hd_status replays_time(const bench_line *l, const char *keys, const bench_plan *plan, bench_stop *stop, void *context,
                       bench_result *r);

/* The case's keys= with the path where the file really is; "" when it is nowhere. */
hd_status replays_keys(const bench_line *l, const char *data, char *keys, size_t bytes);

#endif
