/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.c - one line: judged first, then timed.
 */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/timed.h"
#include "judge/run.h"
#include "base/error.h"

/* ---- Judge ----------------------------------------------------------------------------------- */

static hd_status judge_case(const hd_case *c, bench_stop *stop, void *context, bench_result *r)
{
    hd_run_report report;
    if (*r->wrong || stop(context)) return HD_OK;
    hd_status e = hd_case_run(c, NULL, NULL, &report);
    if (e) return e;
    if (*report.wrong) snprintf(r->wrong, sizeof r->wrong, "the judge says: %s", report.wrong);
    r->judged += report.judged;
    return HD_OK;
}

/* Eight buckets and 16 Ki items: seconds become milliseconds, and full buckets stay full. keys: of a trace. GPU kernels
 * take the items of a batch in an order that this judge does not know: they get 2 Ki batches of one. */
static hd_status judge_line(const bench_line *l, const char *keys, bench_stop *stop, void *context, bench_result *r)
{
    enum { BUCKETS = 8, BATCH = 512, BATCHES = 32, ALONE = 2048 };
    hd_case c = l->c;
    c.buckets = 0;
    if (c.capacity > (uint64_t)BUCKETS * c.slots) c.capacity = (uint64_t)BUCKETS * c.slots;
    if (c.batch > BATCH) c.batch = BATCH;
    c.batches = BATCHES;
    if (strcmp(hd_case_config(&c).backend, "ref") != 0) {
        c.batch = 1;
        c.batches = ALONE;
    }
    c.distinct = false;
    c.judge = true;
    snprintf(c.keys, sizeof c.keys, "uniform:%u", 2 * BUCKETS * c.slots);
    if (keys && snprintf(c.keys, sizeof c.keys, "%s", keys) >= (int)sizeof c.keys)
        return hd_fail(HD_EINVAL, "keys: the file's path is longer than %zu characters", sizeof c.keys - 1);
    hd_status e = judge_case(&c, stop, context, r);
    snprintf(c.op, sizeof c.op, "mix");
    return e ? e : judge_case(&c, stop, context, r);
}

/* ---- One line -------------------------------------------------------------------------------- */

hd_status bench_line_run(const bench_line *l, const bench_plan *plan, bench_stage *stage, bench_stop *stop,
                         void *context, bench_result *r)
{
    char keys[4096 + 256] = "";
    bool trace = l->probe == BENCH_TRACE;
    memset(r, 0, sizeof *r);
    hd_status e = trace ? replays_keys(l, plan->data, keys, sizeof keys) : HD_OK;
    if (e) return e;
    if (trace && !*keys) {
        snprintf(r->skipped, sizeof r->skipped, "the file of %s is not there: give its folder by --data or HEDDLE_DATA",
                 l->c.keys);
        return HD_OK;
    }
    r->time = (bench_time *)calloc(plan->repeat, sizeof *r->time);
    if (!r->time) return hd_fail(HD_ENOMEM, "--repeat: memory was refused");
    e = judge_line(l, trace ? keys : NULL, stop, context, r);
    if (e || *r->wrong || stop(context)) return e;
    return trace ? replays_time(l, keys, plan, stop, context, r) : batches_time(l, plan, stage, stop, context, r);
}
