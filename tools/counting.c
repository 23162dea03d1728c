/* SPDX-License-Identifier: Apache-2.0
 *
 * counting.c - batches from a thread that reads to a thread that counts. Signals go to the one that reads: it is the
 * one that waits for files.
 *
 * Keys of a large table are collected by its parts (parts.h) by the thread that reads. A batch has the parts that have
 * become full then.
 */
#include "tools/counting.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "tools/parts.h"

enum { BATCHES = 2 };

typedef struct counting_batch {
    uint64_t *key;    /* (the most that a batch of the tally has) */
    size_t n, most;   /* keys; how many it should have            */
    parts_list parts; /* keys that were collected                 */
    double total;     /* keys that are expected in all; 0: that is not known */
    uint64_t bytes;   /* tally_parted_bytes, when it had been counted        */
    bool full;        /* it waits to be counted, or is counted               */
} counting_batch;

struct counting {
    tally *counts;
    uint8_t *outcome;
    pthread_t thread;
    bool threaded;
    unsigned filled; /* the batch that the caller fills */
    uint64_t given;  /* keys                            */
    parts collected;
    _Atomic uint64_t counted;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    counting_batch batch[BATCHES];
    bool ended;
    hd_status status;
    char why[512];
};

/* Both threads may. The first failure is kept. */
static void fail(counting *c, hd_status status)
{
    pthread_mutex_lock(&c->lock);
    if (!c->status) {
        c->status = status;
        snprintf(c->why, sizeof c->why, "%s", hd_why());
    }
    pthread_mutex_unlock(&c->lock);
}

static bool has_failed(counting *c)
{
    pthread_mutex_lock(&c->lock);
    bool failed = c->status != HD_OK;
    pthread_mutex_unlock(&c->lock);
    return failed;
}

/* After a failure the rest is left out. */
static void count_keys(counting *c, const uint64_t *key, size_t n)
{
    hd_status status = n == 0 || has_failed(c) ? HD_OK : tally_add(c->counts, key, n, c->outcome);
    if (status) fail(c, status);
    atomic_store(&c->counted, c->counts->counted);
}

/* The keys of parts, one part after another, in as few batches of the table as there can be. The batch's own memory has
 * no keys then. */
static void count_parts(counting *c, counting_batch *b)
{
    size_t n = 0;
    for (parts_batch *part; (part = parts_list_take(&b->parts));) {
        if (n + part->n > tally_batch(c->counts)) {
            count_keys(c, b->key, n);
            n = 0;
        }
        memcpy(b->key + n, part->key, part->n * sizeof *part->key);
        n += part->n;
        free(part);
    }
    count_keys(c, b->key, n);
}

/* A full batch. */
static void count(counting *c, counting_batch *b)
{
    tally_expect(c->counts, b->total);
    count_keys(c, b->key, b->n);
    count_parts(c, b);
    pthread_mutex_lock(&c->lock);
    b->most = tally_batch(c->counts);
    b->bytes = tally_parted_bytes(c->counts);
    b->full = false;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void *count_all(void *context)
{
    counting *c = (counting *)context;
    for (unsigned i = 0;; i = (i + 1) % BATCHES) {
        counting_batch *b = &c->batch[i];
        pthread_mutex_lock(&c->lock);
        while (!b->full && !c->ended) pthread_cond_wait(&c->changed, &c->lock);
        bool over = !b->full;
        pthread_mutex_unlock(&c->lock);
        if (over) return NULL;
        count(c, b);
    }
}

static void release(counting *c)
{
    for (int i = 0; i < BATCHES; i++) free(c->batch[i].key);
    free(c->outcome);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

hd_status counting_open(tally *t, counting **to)
{
    counting *c = (counting *)calloc(1, sizeof *c);
    if (!c) return hd_fail(HD_ENOMEM, "the memory of a batch was refused");
    c->counts = t;
    c->collected.seed = t->seed;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    c->outcome = (uint8_t *)malloc(t->most);
    bool taken = c->outcome != NULL;
    for (int i = 0; i < BATCHES; i++) {
        c->batch[i].most = tally_batch(t);
        c->batch[i].key = (uint64_t *)malloc(t->most * sizeof(uint64_t));
        taken = taken && c->batch[i].key;
    }
    if (!taken) {
        release(c);
        return hd_fail(HD_ENOMEM, "the memory of a batch was refused");
    }
    c->threaded = hd_thread_start(&c->thread, count_all, c);
    *to = c;
    return HD_OK;
}

/* The batch to fill, when it has been counted. */
static counting_batch *free_batch(counting *c)
{
    counting_batch *b = &c->batch[c->filled];
    pthread_mutex_lock(&c->lock);
    while (b->full) pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return b;
}

static void give(counting *c, counting_batch *b)
{
    pthread_mutex_lock(&c->lock);
    b->full = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (!c->threaded) count(c, b);
    c->filled = (c->filled + 1) % BATCHES;
}

uint64_t *counting_room(counting *c, size_t *most)
{
    counting_batch *b = free_batch(c);
    *most = b->most;
    return has_failed(c) ? NULL : b->key;
}

void counting_give(counting *c, size_t n, double share)
{
    counting_batch *b = &c->batch[c->filled];
    c->given += n;
    b->total = share > 0 && share <= 1 ? (double)c->given / share : 0;
    parts_fit(&c->collected, b->bytes, &b->parts);
    b->n = c->collected.count ? 0 : n;
    if (c->collected.count && !parts_add(&c->collected, b->key, n, &b->parts))
        fail(c, hd_fail(HD_ENOMEM, "the memory of a batch was refused"));
    give(c, b);
}

uint64_t counting_counted(const counting *c) { return atomic_load(&c->counted); }

hd_status counting_close(counting *c)
{
    counting_batch *b = free_batch(c);
    b->n = 0;
    parts_end(&c->collected, &b->parts);
    give(c, b);
    pthread_mutex_lock(&c->lock);
    c->ended = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (c->threaded) pthread_join(c->thread, NULL);
    hd_status status = c->status;
    if (status) hd_fail(status, "%s", c->why);
    release(c);
    return status;
}
