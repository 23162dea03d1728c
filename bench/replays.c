/* SPDX-License-Identifier: Apache-2.0
 *
 * replays.c - times whole replays of a trace: opening, reading, running, closing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine.h"
#include "bench/timed.h"
#include "bench/unpack.h"
#include "base/error.h"

enum { REPLAY_BATCH = 4096 }; /* as heddle sim has it */

typedef struct replay_arrays {
    hd_request request[REPLAY_BATCH];
    uint64_t key[REPLAY_BATCH];
    uint8_t outcome[REPLAY_BATCH];
} replay_arrays;

/* One replay, from opening to closing. */
static hd_status replay_once(const bench_line *l, const char *keys, replay_arrays *u, const void *value,
                             hd_counters *fate, hd_info *info)
{
    hd_config f = hd_case_config(&l->c);
    hd_table *t = NULL;
    hd_source *s = NULL;
    hd_status e = hd_open(&f, &t);
    if (!e) e = hd_source_open_spec(keys, l->c.seed, &s);
    for (size_t got = 1; got && !e;) {
        e = hd_source_next(s, u->request, REPLAY_BATCH, &got);
        for (size_t i = 0; i < got && !e; i++) u->key[i] = u->request[i].key;
        hd_batch b = { .op = l->op, .n = got, .elem = HD_U64, .key = u->key, .value = value, .outcome = u->outcome };
        if (!e && got) e = hd_run(t, &b);
    }
    if (!e) e = hd_counters_sync(t, fate);
    if (!e) e = hd_table_info(t, info);
    hd_source_close(s);
    hd_close(t);
    return e;
}

/* Replays until enough time has passed. Each must come to the same outcomes as the first one. */
static hd_status replay_repetition(const bench_line *l, const char *keys, replay_arrays *u, const void *value,
                                   double min_time_s, hd_counters *first, bench_time *t, bench_result *r)
{
    memset(t, 0, sizeof *t);
    hd_info info;
    hd_counters fate;
    hd_status e = HD_OK;
    do {
        double cpu = machine_cpu_s(), wall = machine_wall_s();
        e = replay_once(l, keys, u, value, &fate, &info);
        t->wall_s += machine_wall_s() - wall;
        t->cpu_s += machine_cpu_s() - cpu;
        if (e) break;
        t->items += fate.items;
        if (!first->items) *first = fate;
        if (!fate.items)
            snprintf(r->wrong, sizeof r->wrong, "the trace has no requests");
        else if (memcmp(first->outcome, fate.outcome, sizeof fate.outcome) != 0)
            snprintf(r->wrong, sizeof r->wrong, "two replays of one trace came to different outcomes");
        r->capacity = info.capacity;
        r->table_bytes = (double)info.memory_bytes / (double)info.capacity;
        r->load = (double)fate.outcome[HD_INSERTED] / (double)info.capacity;
    } while (!*r->wrong && t->wall_s < min_time_s);
    return e;
}

hd_status replays_time(const bench_line *l, const char *keys, const bench_plan *plan, bench_stop *stop, void *context,
                       bench_result *r)
{
    replay_arrays *u = (replay_arrays *)malloc(sizeof *u);
    void *value = calloc(REPLAY_BATCH, l->c.value_bytes + 1u);
    hd_status e = u && value ? HD_OK : hd_fail(HD_ENOMEM, "batch: memory was refused");
    hd_counters first;
    memset(&first, 0, sizeof first);
    bench_time warm;
    if (!e) e = replay_repetition(l, keys, u, value, plan->min_time_s / 2, &first, &warm, r);
    for (uint64_t i = 0; i < plan->repeat && !e && !*r->wrong && !stop(context); i++) {
        e = replay_repetition(l, keys, u, value, plan->min_time_s, &first, &r->time[r->times], r);
        r->times++;
    }
    free(value);
    free(u);
    return e;
}

/* ---- Where the trace is ---------------------------------------------------------------------- */

/* The case's keys= with the path where the file really is; "" when it is nowhere. */
hd_status replays_keys(const bench_line *l, const char *data, char *keys, size_t bytes)
{
    const char *colon = strchr(l->c.keys, ':');
    if (!colon) return hd_fail(HD_EINVAL, "keys: '%s' names no file", l->c.keys);
    char file[sizeof l->c.keys], path[4096];
    size_t n = strcspn(colon + 1, ",");
    snprintf(file, sizeof file, "%.*s", (int)n, colon + 1);
    hd_status e = trace_locate(file, data, path, sizeof path);
    keys[0] = 0;
    if (!e && *path) snprintf(keys, bytes, "%.*s%s%s", (int)(colon + 1 - l->c.keys), l->c.keys, path, colon + 1 + n);
    return e;
}
