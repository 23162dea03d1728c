/* SPDX-License-Identifier: Apache-2.0
 *
 * roofline.h - the floor of an operation: what its memory accesses would take at the machine's own limits (limits.h),
 * one after the other, if the kernel did nothing else. Counted are the places that the layout (ref/hkv/layout.h) and
 * the operation force: random places read, dirtied in part, or overwritten whole; and bytes that stream. Locks,
 * counters and instructions are not: they are the kernel's. The same for Hive, by ref/hive/layout.h.
 */
#ifndef HD_BENCH_ROOFLINE_H
#define HD_BENCH_ROOFLINE_H

#include "bench/device/limits.h"
#include "bench/device/buffers.h"

/* Places per item, on average. */
typedef struct bench_places {
    double lines;      /* digests or bounds read, of 128 bytes, near      */
    double reads;      /* keys, or keys with scores, read: up to a sector */
    double scans;      /* 128 bytes of scores read                        */
    double buckets;    /* whole buckets of words read, of bucket_bytes     */
    double near_dirty; /* digests or bounds changed                       */
    double dirty;      /* keys and scores changed, less than a sector     */
    double values_read, values_written;
    double bytes; /* of arrays that stream, and of planes read in order */
    uint32_t bucket_bytes;
    bool known; /* the design's places are counted */
} bench_places;

/* Per item: words of what is done, then values (random read, random write), then bytes that stream: so many, and so
 * many values. */
typedef struct bench_place_row {
    double uses, rescores, puts, takes, value_read, value_written, bytes, values;
} bench_place_row;

enum { BENCH_PLACE_ROWS = 10 };
/* Of an item whose key is there, and of one whose key is not. */
extern const struct bench_places_row {
    hd_op op;
    bench_place_row found, absent;
} bench_places_rows[BENCH_PLACE_ROWS];

/* Seconds per item; 0: not known. */
double bench_floor_s(const bench_places *p, uint32_t value_bytes, const bench_limits *limits);

#endif
