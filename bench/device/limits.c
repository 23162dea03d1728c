/* SPDX-License-Identifier: Apache-2.0
 *
 * limits.c - the list of limits, and their measurement one after the other.
 */
#include "bench/device/limits.h"

enum { FAR, NEAR, BYTES, ACCESSES };

const bench_limit_row bench_limit_rows[BENCH_LIMIT_COUNT] = {
#define BENCH_LIMIT_ROW(name, kind, bytes, memory, unit, what) \
    { #name, what, { kind, bytes, 0 }, memory == NEAR, unit == BYTES },
    BENCH_LIMITS(BENCH_LIMIT_ROW)
#undef BENCH_LIMIT_ROW
};

/* As much as it has, of what is asked for. */
static hd_status take_most(const bench_device *device, uint64_t *bytes, void **p)
{
    enum { LEAST = 1 << 20 };
    hd_status e = device->take("limits", *bytes, p);
    while (e == HD_ENOMEM && *bytes / 2 >= LEAST) {
        *bytes /= 2;
        e = device->take("limits", *bytes, p);
    }
    return e;
}

/* One limit, in memory of p. */
static hd_status measure(const bench_device *device, int i, void *p, uint64_t far_bytes, uint64_t near_bytes,
                         double *per_s)
{
    bench_limit l = bench_limit_rows[i].limit;
    l.within = bench_limit_rows[i].near ? near_bytes : l.kind == LIMIT_COPY ? far_bytes / 2 : far_bytes;
    return device->limit(&l, p, per_s);
}

/* A limit of the memory, for a profiler: points show the same counters, and how near they come to these. */
static hd_status watch(const bench_device *device, int i, void *p, uint64_t far_bytes, uint64_t near_bytes)
{
    double unused;
    if (bench_limit_rows[i].limit.kind == LIMIT_LAUNCH) return HD_OK;
    hd_status e = device->watch(BENCH_WATCHED_LIMITS + (unsigned)i);
    if (!e) e = measure(device, i, p, far_bytes, near_bytes, &unused);
    hd_status ended = device->unwatch();
    return e ? e : ended;
}

hd_status bench_limits_measure(const bench_device *device, uint64_t far_bytes, uint64_t near_bytes, bool watched,
                               bench_limits *limits)
{
    void *p;
    hd_status e = take_most(device, &far_bytes, &p);
    if (e) return e;
    if (near_bytes > far_bytes) near_bytes = far_bytes;
    e = device->fill(p, 0x55, far_bytes);
    for (int i = 0; i < BENCH_LIMIT_COUNT && !e; i++) {
        e = measure(device, i, p, far_bytes, near_bytes, &limits->per_s[i]);
        if (!e && watched) e = watch(device, i, p, far_bytes, near_bytes);
    }
    device->give(p);
    return e;
}
