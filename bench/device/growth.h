/* SPDX-License-Identifier: Apache-2.0
 *
 * growth.h - the cost of growth: buckets are split and merged (Hive section IV-C, V-A), and batches find the table too
 * small for them.
 */
#ifndef HD_BENCH_GROWTH_H
#define HD_BENCH_GROWTH_H

#include "bench/device/fixture.h"

typedef struct bench_growth {
    bench_shape shape; /* capacity: as the table begins           */
    double load;       /* the load factor that it is kept at      */
    uint64_t to, n;    /* entries in the end; new ones of a batch */
    uint64_t split;    /* buckets that are split, or merged; 0: all */
    bool invariants;   /* also checks invariants: for small tables  */
} bench_growth;

typedef struct bench_growth_measure {
    double seconds;          /* by this machine's clock, what is waited for with it                             */
    uint64_t items;          /* that were inserted; or entries of the buckets that were split, or were merged   */
    uint64_t resizes;        /* growths that there were                                                         */
    uint64_t from, capacity; /* as the table began, and was in the end                                          */
    char wrong[160];         /* empty: every key was there afterwards, with its value                           */
} bench_growth_measure;

typedef enum bench_growth_way {
    GROWTH_NONE,   /* the table has room for all from the beginning: what the others are held against */
    GROWTH_CALLER, /* hd_grow before a batch that would pass the load factor, an eighth more at least */
    GROWTH_DOUBLE, /* likewise, to the end of a doubling                                              */
    GROWTH_CALL    /* hd_run_growing                                                                  */
} bench_growth_way;

/* Batches of n new keys, from a table of shape.capacity at its load factor until `to` are there. `here`: arrays of this
 * machine. */
hd_status growth_fill(const bench_device *device, const bench_growth *g, bench_growth_way way, bool here,
                      bench_growth_measure *m);

/* A table at its load factor is split, and what was split is merged again; that may end early, where there is no
 * room. */
hd_status growth_resize(const bench_device *device, const bench_growth *g, bench_growth_measure *up,
                        bench_growth_measure *down);

#endif
