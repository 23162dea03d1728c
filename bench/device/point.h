/* SPDX-License-Identifier: Apache-2.0
 *
 * point.h - one operation at one share of hits and load factor, proved and then timed:
 *
 *     prove     on a table of the same shape with few buckets, whose invariants are checked afterwards, then on the
 *               table itself: one call; outcomes, values, lists and scores are what the drawing says (prove.c)
 *     queue     calls on fresh batches put on the stream one after the other, timed by the device's clock; the first
 *               repetition does not count
 *     wall      one call and a wait for it, by this machine's clock
 *     watch     instead: of a few calls the last one, alone, for a profiler; what it says goes by that one's number
 *     check     the table's counters say that every item of the timed calls had an outcome that it may have
 *
 * A queue that inserts begins as far below the load factor as it ends above, and what it put is taken away again; a
 * queue that erases the other way round. A full table stays full. Where a queue would change too much of the table it
 * is cut into parts.
 *
 * A point in bulk is one call of as many keys as the table has at its load factor: into an empty one, of all that are
 * there, of as many that are not; and of a mixed batch as many operations, after which it is there. A table that does
 * not evict is made anew after what changed it: its slots know whether they were used.
 */
#ifndef HD_BENCH_POINT_H
#define HD_BENCH_POINT_H

#include "bench/device/buffers.h"
#include "base/design.h"

typedef struct bench_point {
    hd_op op;          /* or BENCH_MIXED                     */
    double hits, load; /* hits: of a mixed batch, the share of lookups and erases that find their keys */
    uint64_t n;        /* items of a call; for export, slots */
    double zipf;       /* 0: distinct keys, all alike        */
    bool bulk;
    const char *variant; /* NULL: the table chooses            */
} bench_point;

/* The least capacity at which so many keys are no more than that load factor. */
static inline uint64_t point_room(uint64_t n, double load)
{
    uint64_t capacity = (uint64_t)((double)n / load);
    while ((uint64_t)(load * (double)capacity) < n) capacity++;
    return capacity;
}

enum { POINT_REPEAT_MOST = 64 };

typedef struct bench_effort {
    uint64_t repeat, calls;  /* calls 0: 20, or as many as make 4 Mi items, but at most 256 */
    bool queue, wall, watch; /* watch: neither of the others */
    unsigned number;         /* of the point that is watched */
    uint64_t memory_most;    /* of the arrays of a queue */
} bench_effort;

typedef struct bench_measure {
    double queue_s[POINT_REPEAT_MOST]; /* (times) seconds per item, a repetition each */
    size_t times;
    double wall_s; /* per item, median of the calls; 0: not asked */
    uint64_t calls, parts;
    double hits, load; /* as they were: of the timed items, of the table before the last part */
    uint64_t fate[HD_OUTCOME_COUNT];
    const char *ran; /* "hkv.find.tlpv1"; static storage */
    char wrong[512]; /* what was found to be wrong; "" */
} bench_measure;

/* HD_OK also where m->wrong says that a result is not right. The buffers are kept from point to point. */
hd_status point_measure(const bench_point *p, const bench_effort *effort, bench_fixture *s, bench_buffers *t,
                        bench_measure *m);

/* NULL, or why the variant, or a row of it, cannot run such a point. */
const char *point_unsupported(const bench_point *p, const bench_fixture *s);
const char *point_unsupported_row(const bench_point *p, const bench_fixture *s, const hd_kernel *row);

/* ---- For prove.c ----------------------------------------------------------------------------- */

/* Call c as a batch, and its keys and values, from a new drawing. */
hd_batch point_batch(const bench_point *p, const bench_fixture *s, const bench_buffers *t, uint64_t c);
/* mix NULL: it is not asked for */
hd_status point_draw(const bench_point *p, bench_fixture *s, const bench_buffers *t, uint64_t c, uint32_t generation,
                     bench_mix *mix);
/* By how much a call changes the number of entries. */
uint64_t point_changes(const bench_point *p);
uint64_t point_hits(const bench_point *p);

/* One call on the table as it is, and all that can be said of it; m->wrong says what is not right. */
hd_status point_prove(const bench_point *p, bench_fixture *s, const bench_buffers *t, bench_measure *m);

#endif
