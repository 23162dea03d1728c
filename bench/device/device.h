/* SPDX-License-Identifier: Apache-2.0
 *
 * device.h - the device on which points are measured: a GPU (cuda.cu), or this machine (cpu.c), which runs the same
 * points on tables of its backends. All functions but `give` return HD_OK, or an error with a reason in hd_why(). Work
 * that they put on the stream is in order with the batches there; only the functions that say so wait for it.
 */
#ifndef HD_BENCH_DEVICE_H
#define HD_BENCH_DEVICE_H

#include "bench/device/draw.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bench_limit_kind {
    LIMIT_COPY, /* sequential, bytes read and bytes written both count */
    LIMIT_READ,
    LIMIT_WRITE,
    LIMIT_RANDOM_READ, /* each access is `bytes`, aligned, anywhere in `within` */
    LIMIT_RANDOM_WRITE,
    LIMIT_ATOMIC, /* compare and swap of 8 bytes */
    LIMIT_LAUNCH  /* of an empty kernel, in a queue; on this machine a call of a function */
} bench_limit_kind;

typedef struct bench_limit {
    bench_limit_kind kind;
    uint32_t bytes;  /* 8 to 256, a power of two */
    uint64_t within; /* bytes of memory          */
} bench_limit;

typedef struct bench_device {
    /* Its name; HD_ECUDA: there is none. Brings its clocks up. */
    hd_status (*open)(char name[128]);
    void (*close)(void);
    void *(*stream)(void);            /* for hd_batch.stream */
    hd_status (*more)(void **stream); /* another one; on this machine there is none: NULL */
    void (*fewer)(void *stream);
    hd_status (*wait_for)(void *stream);
    hd_status (*take)(const char *what, uint64_t bytes, void **p); /* HD_ENOMEM; *p is NULL for 0 bytes */
    void (*give)(void *p);
    hd_status (*fill)(void *p, int byte, uint64_t bytes);
    hd_status (*read)(void *here, const void *there, uint64_t bytes); /* waits */
    hd_status (*wait)(void);

    hd_status (*keys)(const bench_draw *d, uint64_t *key);
    /* Of a mixed batch: each[i] is item i's operation. */
    hd_status (*ops)(const bench_mix *m, uint8_t *each);
    hd_status (*values)(const uint64_t *key, uint64_t n, uint32_t words, uint32_t generation, void *value);
    hd_status (*scores)(uint64_t batch, uint64_t n, uint64_t *score); /* bench_score */
    hd_status (*sort)(uint64_t *key, uint64_t n);                     /* ascending; may wait */
    hd_status (*answers)(const bench_answers *a, bench_told *told);   /* waits */
    /* Moves the keys whose score is at least `least` to kept[], in any order; waits. */
    hd_status (*keep)(const uint64_t *key, const uint64_t *score, uint64_t n, uint64_t least, uint64_t *kept,
                      uint64_t *keeps);

    /* The time of what is put on the stream in between, by the device's clock; end waits. */
    hd_status (*begin)(void);
    hd_status (*end)(double *seconds);
    /* Accesses per second (bytes for the sequential ones, launches) in the memory p of limit.within bytes (twice that
     * for LIMIT_COPY). */
    hd_status (*limit)(const bench_limit *limit, void *p, double *per_s);

    /* What is put on the stream in between is what a profiler that was told to wait for it sees; the first kernel that
     * it sees has `number` blocks and does nothing. unwatch waits. */
    hd_status (*watch)(unsigned number);
    hd_status (*unwatch)(void);

    /* What is put on the stream between the first two becomes a graph, and does not run; launch puts the graph on the
     * stream. NULL: this device has no graphs. */
    hd_status (*capture)(void);
    hd_status (*captured)(void **graph);
    hd_status (*launch)(void *graph);
    void (*forget)(void *graph); /* waits */
} bench_device;

extern const bench_device bench_here;
extern const bench_device bench_cuda; /* of builds with CUDA */

#ifdef __cplusplus
}
#endif
#endif
