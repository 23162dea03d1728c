/* SPDX-License-Identifier: Apache-2.0
 *
 * baseline.h - fully associative caches with exact eviction, to compare tables with. One request is one access of one
 * entry. A hit is HD_UPDATED, and leaves the entry's size as it is. A miss is HD_EVICTED if entries left, HD_INSERTED
 * if there was room, and HD_REFUSED if the key did not get in. The policies are in tools/caches/, a file each; their
 * rules are in doc/output.md.
 */
#ifndef HD_BASELINE_H
#define HD_BASELINE_H

#include "workload/workload.h"

typedef struct baseline baseline;

/* A row of the table of baselines. */
typedef struct baseline_row {
    const char *name; /* "full:lru" */
    const char *what;
    const char *paper; /* with the section; NULL: it has none */
    const char *state; /* what it keeps besides the order of the entries; NULL: nothing */
    bool next;         /* it reads hd_request.next */
    bool seeded;       /* its choices depend on the seed */
    bool bytes;        /* its capacity may be in bytes */
} baseline_row;
const baseline_row *baseline_at(size_t i); /* NULL past the end */
/* NULL: it is none. */
const baseline_row *baseline_named(const char *name);

typedef struct baseline_config {
    const baseline_row *row;
    uint64_t capacity; /* units, 1 to 2^62; memory grows with the entries that there are */
    uint64_t seed;
    bool bytes;  /* the unit is a byte of hd_request.size, not an entry */
    bool always; /* full:belady admits every key, too */
} baseline_config;
/* HD_ENOMEM; HD_EINVAL: the row takes no bytes. */
hd_status baseline_open(const baseline_config *config, baseline **b);
void baseline_close(baseline *b); /* NULL is fine */
uint64_t baseline_entries(const baseline *b);

/* The next n requests, in order. outcome: (n). HD_ENOMEM; HD_ECORRUPT, if the row reads hd_request.next: a key came at
 * another request than the one before it said. */
hd_status baseline_run(baseline *b, const hd_request *r, size_t n, uint8_t *outcome);

/* The next access of every request of a source: (*n), by position, counted from 1; 0 if there is none. `limit` requests
 * are read, 0: all. The caller frees *next. HD_EINVAL: more than 2^32 - 2 requests; HD_ENOMEM; errors of the source.
 * stops: asked between batches; true ends the walk with HD_EIO. */
hd_status baseline_next(const hd_source_args *a, uint64_t limit, bool (*stops)(void), uint32_t **next, uint64_t *n);

#endif
