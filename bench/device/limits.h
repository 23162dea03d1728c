/* SPDX-License-Identifier: Apache-2.0
 *
 * limits.h - the measured limits of a machine: the rates of its memory without other work. roofline.h computes floors
 * from them.
 *
 * `far` limits access more memory than any cache holds. `near` limits access as much as a table's digests, a byte per
 * entry, of which a large cache holds a part.
 */
#ifndef HD_BENCH_LIMITS_H
#define HD_BENCH_LIMITS_H

#include "bench/device/device.h"

/* X(name, kind, bytes, memory, unit, what) */
#define BENCH_LIMITS(X)                                                                             \
    X(copy, LIMIT_COPY, 16, FAR, BYTES, "sequential copy, bytes read and written")                  \
    X(read, LIMIT_READ, 16, FAR, BYTES, "sequential read")                                          \
    X(write, LIMIT_WRITE, 16, FAR, BYTES, "sequential write")                                       \
    X(read_8, LIMIT_RANDOM_READ, 8, FAR, ACCESSES, "random reads of 8 bytes")                       \
    X(read_32, LIMIT_RANDOM_READ, 32, FAR, ACCESSES, "random reads of 32 bytes, a sector")          \
    X(read_64, LIMIT_RANDOM_READ, 64, FAR, ACCESSES, "random reads of 64 bytes")                    \
    X(read_128, LIMIT_RANDOM_READ, 128, FAR, ACCESSES, "random reads of 128 bytes, a line")         \
    X(read_256, LIMIT_RANDOM_READ, 256, FAR, ACCESSES, "random reads of 256 bytes")                 \
    X(write_8, LIMIT_RANDOM_WRITE, 8, FAR, ACCESSES, "random writes of 8 bytes: part of a sector")  \
    X(write_32, LIMIT_RANDOM_WRITE, 32, FAR, ACCESSES, "random writes of 32 bytes: a whole sector") \
    X(write_64, LIMIT_RANDOM_WRITE, 64, FAR, ACCESSES, "random writes of 64 bytes")                 \
    X(write_128, LIMIT_RANDOM_WRITE, 128, FAR, ACCESSES, "random writes of 128 bytes")              \
    X(write_256, LIMIT_RANDOM_WRITE, 256, FAR, ACCESSES, "random writes of 256 bytes")              \
    X(atomic, LIMIT_ATOMIC, 8, FAR, ACCESSES, "random compare-and-swaps of 8 bytes")                \
    X(near_line, LIMIT_RANDOM_READ, 128, NEAR, ACCESSES, "random reads of a line of the digests")   \
    X(near_write, LIMIT_RANDOM_WRITE, 8, NEAR, ACCESSES, "random writes to the digests")            \
    X(near_atomic, LIMIT_ATOMIC, 8, NEAR, ACCESSES, "random compare-and-swaps in as much memory")   \
    X(launch, LIMIT_LAUNCH, 8, NEAR, ACCESSES, "launches of an empty kernel, in a queue")

typedef enum bench_limit_name {
#define BENCH_LIMIT_NAME(name, kind, bytes, memory, unit, what) BENCH_##name,
    BENCH_LIMITS(BENCH_LIMIT_NAME)
#undef BENCH_LIMIT_NAME
        BENCH_LIMIT_COUNT
} bench_limit_name;

typedef struct bench_limits {
    double per_s[BENCH_LIMIT_COUNT];
} bench_limits;

typedef struct bench_limit_row {
    const char *name, *what;
    bench_limit limit; /* within: set when it is measured */
    bool near, in_bytes;
} bench_limit_row;

extern const bench_limit_row bench_limit_rows[BENCH_LIMIT_COUNT];

/* device.watch gets this number plus i for limit i; points have lower numbers. */
enum { BENCH_WATCHED_LIMITS = 4096 };

/* watched: each is also shown to a profiler. Takes memory of the device for as long: as much as there is, up to
 * far_bytes. */
hd_status bench_limits_measure(const bench_device *device, uint64_t far_bytes, uint64_t near_bytes, bool watched,
                               bench_limits *limits);

#endif
