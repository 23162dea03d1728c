/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu.c - this machine as a device for points: plain loops in one thread, without asynchronous work.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/device/device.h"
#include "bench/machine.h"
#include "base/error.h"

static hd_status here_open(char name[128])
{
    machine m;
    machine_look(&m);
    snprintf(name, 128, "%.120s", m.cpu);
    return HD_OK;
}

static void here_close(void) {}
static void *here_stream(void) { return NULL; }
static hd_status here_more(void **stream) { return *stream = NULL, HD_OK; }
static void here_fewer(void *stream) { (void)stream; }
static hd_status here_wait_for(void *stream) { return (void)stream, HD_OK; }

static hd_status here_take(const char *what, uint64_t bytes, void **p)
{
    *p = NULL;
    if (bytes == 0) return HD_OK;
    *p = bytes <= SIZE_MAX ? malloc(bytes) : NULL;
    return *p ? HD_OK : hd_fail(HD_ENOMEM, "%s: memory for %" PRIu64 " bytes was refused", what, bytes);
}

static void here_give(void *p) { free(p); }

static hd_status here_fill(void *p, int byte, uint64_t bytes)
{
    memset(p, byte, bytes);
    return HD_OK;
}

static hd_status here_read(void *here, const void *there, uint64_t bytes)
{
    memcpy(here, there, bytes);
    return HD_OK;
}

static hd_status here_wait(void) { return HD_OK; }

/* ---- Batches --------------------------------------------------------------------------------- */

static hd_status here_keys(const bench_draw *d, uint64_t *key)
{
    for (uint64_t i = 0; i < d->n; i++) key[i] = bench_key(d, i);
    return HD_OK;
}

static hd_status here_ops(const bench_mix *m, uint8_t *each)
{
    uint8_t fate;
    for (uint64_t i = 0; i < m->n; i++) each[i] = bench_mixed_op(m, i, &fate);
    return HD_OK;
}

static hd_status here_values(const uint64_t *key, uint64_t n, uint32_t words, uint32_t generation, void *value)
{
    for (uint64_t i = 0; i < n; i++) bench_value(key[i], generation, words, (uint32_t *)value + i * words);
    return HD_OK;
}

static hd_status here_scores(uint64_t batch, uint64_t n, uint64_t *score)
{
    for (uint64_t i = 0; i < n; i++) score[i] = bench_score(batch, i);
    return HD_OK;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static hd_status here_sort(uint64_t *key, uint64_t n)
{
    qsort(key, n, sizeof *key, by_size);
    return HD_OK;
}

static hd_status here_answers(const bench_answers *a, bench_told *told)
{
    uint32_t word[4];
    memset(told, 0, sizeof *told);
    for (uint64_t i = 0; i < a->n; i++)
        for (uint32_t words = bench_answer(a, i, word); words > 0;) told->count[word[--words]]++;
    return HD_OK;
}

static hd_status here_keep(const uint64_t *key, const uint64_t *score, uint64_t n, uint64_t least, uint64_t *kept,
                           uint64_t *keeps)
{
    *keeps = 0;
    for (uint64_t i = 0; i < n; i++)
        if (score[i] >= least) kept[(*keeps)++] = key[i];
    return HD_OK;
}

/* ---- Time ------------------------------------------------------------------------------------ */

static double began;

static hd_status here_begin(void)
{
    began = machine_wall_s();
    return HD_OK;
}

static hd_status here_end(double *seconds)
{
    *seconds = machine_wall_s() - began;
    return HD_OK;
}

/* ---- Limits ---------------------------------------------------------------------------------- */

enum { ACCESSES = 1 << 18 };

static uint64_t volatile sunk; /* what was read goes somewhere */

static uint64_t touch_one(const bench_limit *l, uint8_t *p, uint64_t i)
{
    uint8_t *at = p + hd_mulhi64(hd_mix64(i), l->within / l->bytes) * l->bytes;
    uint64_t sum = 0;
    if (l->kind == LIMIT_RANDOM_WRITE)
        memset(at, (int)i, l->bytes);
    else if (l->kind == LIMIT_ATOMIC)
        __atomic_compare_exchange_n((uint64_t *)(void *)at, &sum, i, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    else
        for (uint32_t w = 0; w < l->bytes; w += 8) sum += *(uint64_t *)(void *)(at + w);
    return sum;
}

static uint64_t touch_all(const bench_limit *l, uint8_t *p)
{
    uint64_t sum = 0;
    switch (l->kind) {
    case LIMIT_COPY: memcpy(p + l->within, p, l->within); return 2 * l->within;
    case LIMIT_WRITE: memset(p, 1, l->within); return l->within;
    case LIMIT_READ:
        for (uint64_t w = 0; w + 8 <= l->within; w += 8) sum += *(uint64_t *)(void *)(p + w);
        sunk = sum;
        return l->within;
    case LIMIT_LAUNCH:
        for (int i = 0; i < ACCESSES; i++) here_wait(), sunk = sum;
        return ACCESSES;
    default:
        for (uint64_t i = 0; i < ACCESSES; i++) sum += touch_one(l, p, i);
        sunk = sum;
        return ACCESSES;
    }
}

static hd_status here_limit(const bench_limit *limit, void *p, double *per_s)
{
    double start = machine_wall_s(), seconds = 0;
    uint64_t done = 0;
    while (seconds <= 0) done += touch_all(limit, (uint8_t *)p), seconds = machine_wall_s() - start;
    *per_s = (double)done / seconds;
    return HD_OK;
}

static hd_status here_watch(unsigned number)
{
    (void)number;
    return HD_OK;
}

static hd_status here_unwatch(void) { return HD_OK; }

const bench_device bench_here = {
    here_open,  here_close, here_stream, here_more,  here_fewer,   here_wait_for, here_take, here_give,    here_fill,
    here_read,  here_wait,  here_keys,   here_ops,   here_values,  here_scores,   here_sort, here_answers, here_keep,
    here_begin, here_end,   here_limit,  here_watch, here_unwatch, NULL,          NULL,      NULL,         NULL,
};
