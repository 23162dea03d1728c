/* SPDX-License-Identifier: Apache-2.0
 *
 * baseline.h - fully associative caches with exact eviction, to compare tables with. One request is one access of one
 * entry; sizes of objects do not count. A hit is HD_UPDATED. A miss is HD_INSERTED while there is room, then HD_EVICTED
 * or HD_REFUSED: only full:belady refuses a key. The rules are in doc/output.md.
 */
#ifndef HD_BASELINE_H
#define HD_BASELINE_H

#include "workload/workload.h"

typedef struct baseline baseline;

/* A row of the table of baselines. */
typedef struct baseline_row {
    const char *name; /* "full:lru" */
    const char *what;
    bool next;   /* it reads hd_request.next */
    bool seeded; /* its choices depend on the seed */
} baseline_row;
const baseline_row *baseline_at(size_t i); /* NULL past the end */
/* NULL: it is none. */
const baseline_row *baseline_named(const char *name);

typedef struct baseline_config {
    const baseline_row *row;
    uint64_t capacity; /* entries, at least 1; memory grows with the entries that there are */
    uint64_t seed;
    bool always; /* full:belady admits every key, too */
} baseline_config;
/* HD_ENOMEM. */
hd_status baseline_open(const baseline_config *config, baseline **b);
void baseline_close(baseline *b); /* NULL is fine */

/* The next n requests, in order. outcome: (n). HD_ENOMEM; HD_ECORRUPT, if the row reads hd_request.next: a key came at
 * another request than the one before it said. */
hd_status baseline_run(baseline *b, const hd_request *r, size_t n, uint8_t *outcome);

/* The next access of every request of a source: (*n), by position, counted from 1; 0 if there is none. `limit` requests
 * are read, 0: all. The caller frees *next. HD_EINVAL: more than 2^32 - 2 requests; HD_ENOMEM; errors of the source.
 * stops: asked between batches; true ends the walk with HD_EIO. */
hd_status baseline_next(const hd_source_args *a, uint64_t limit, bool (*stops)(void), uint32_t **next, uint64_t *n);

#endif
