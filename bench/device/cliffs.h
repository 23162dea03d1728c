/* SPDX-License-Identifier: Apache-2.0
 *
 * cliffs.h - measures every operation with every pattern of keys, from one state of a table, to find where rates fall.
 * A cell is one operation with one pattern:
 *
 *     state     the table is full and has no pins. It is filled again after each cell that changed it. Its keys are
 *               listed, without the quarter that has the lowest scores
 *     climb     single calls of 1/512, 1/64 and 1/8 of a batch, then of a whole batch. A larger call is made only if
 *               it is predicted to take no longer than the limit. Sizes are skipped if the prediction allows it
 *     queue     calls of new batches, timed by the device's clock: as many as are wanted and the limit allows. If it
 *               allows none, the last call of the climb is the result
 *     check     the table's counters have every timed item, with an outcome that it may have, and the number of items
 *               that found their keys is that of the pattern
 */
#ifndef HD_BENCH_CLIFFS_H
#define HD_BENCH_CLIFFS_H

#include "bench/device/point.h"

typedef enum cliff_draw {
    CLIFF_SHARE, /* distinct keys; `of` them are keys of the table, the others are new */
    CLIFF_ZIPF,  /* Zipf's law with the exponent `of`; the most frequent keys are those of the table */
    CLIFF_HOT,   /* `of` keys of the table, each as often as the others */
    CLIFF_WHOLE  /* no keys: operations on all entries */
} cliff_draw;

enum {
    CLIFF_PROMISED = 1, /* batches are `distinct`                                 */
    CLIFF_SORTED = 2,   /* keys ascend                                            */
    CLIFF_TOUCHED = 4,  /* every entry was touched before                         */
    CLIFF_GRAPH = 8,    /* the queue is captured, and launched as one graph       */
    CLIFF_APART = 16,   /* is not compared with the other patterns                */
    CLIFF_CACHED = 32   /* most keys stay in the cache: is compared, but never the best of a row */
};

typedef struct cliff_pattern {
    const char *name, *what;
    cliff_draw draw;
    double of;
    uint64_t batch; /* 0: the plan's */
    unsigned flags;
} cliff_pattern;

typedef struct cliff_op {
    hd_op op, before, after; /* those beside it are not timed; HD_OP_COUNT_: none */
    const char *pred;
    double counts;                   /* the share of all entries that it counts; below 0: it counts none */
    const char *why;                 /* not NULL: why it is not measured */
    const char *name;                /* of the row; NULL: the operation's */
    const bench_buffers_row *arrays; /* of a batch; NULL: those of bench_buffers_any */
} cliff_op;

extern const cliff_pattern cliff_patterns[];
extern const size_t cliff_pattern_count;
extern const cliff_op cliff_ops[];
extern const size_t cliff_op_count;

const char *cliff_op_name(const cliff_op *o);

/* Operations with keys have patterns of keys; the others have CLIFF_WHOLE. */
bool cliff_applies(const cliff_op *o, const cliff_pattern *p);

typedef struct cliff_plan {
    uint64_t batch, calls,
        repeat;           /* calls: of a queue of `batch` items each; of other sizes as many items, if it can be */
    uint64_t memory_most; /* of the arrays of a queue */
    double limit_s;       /* of a call, and of a queue */
    hd_elem elem;         /* of accum_or_assign */
} cliff_plan;

/* How many keys a law of Zipf has: 64 Mi; less on small tables, 4 times as many as there are entries. */
uint64_t cliff_universe(uint64_t capacity);

/* What a table is, for bench_fixture_open: with room for pins; on this machine, one thread. */
bench_shape cliff_shape(const char *backend);

typedef struct cliff_cell {
    uint64_t n, calls;                  /* items of a call, timed calls of a repetition               */
    double item_s[POINT_REPEAT_MOST];   /* (times) seconds per item                                   */
    size_t times;                       /* 0: see why                                                 */
    bool below;                         /* batches are smaller than wanted: larger ones pass the limit */
    double load, expected;              /* load factor before; share of items that should find a key  */
    uint64_t outcome[HD_OUTCOME_COUNT]; /* of all timed items, by the counters                       */
    char why[160];                      /* why it was not measured, or what is wrong                  */
    bool wrong;
} cliff_cell;

/* HD_OK also where cell->why says that there is no result. The fixture and the buffers are kept from cell to cell. */
hd_status cliff_measure(const cliff_plan *plan, const cliff_op *o, const cliff_pattern *p, bench_fixture *s,
                        bench_buffers *t, cliff_cell *cell);

#endif
