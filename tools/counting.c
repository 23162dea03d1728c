/* SPDX-License-Identifier: Apache-2.0
 *
 * counting.c - batches from a thread that reads to a thread that counts. Signals go to the one that reads: it is the
 * one that waits for files.
 */
#include "tools/counting.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/thread.h"

enum { BATCHES = 2 };

typedef struct counting_batch {
    uint64_t *key;  /* (the most that a batch of the tally has) */
    size_t n, most; /* keys; how many it should have            */
    double share;
    bool full; /* it waits to be counted, or is counted */
} counting_batch;

struct counting {
    tally *counts;
    uint8_t *outcome;
    pthread_t thread;
    bool threaded;
    unsigned filled; /* the batch that the caller fills */
    _Atomic uint64_t counted;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    counting_batch batch[BATCHES];
    bool ended;
    hd_status status;
    char why[512];
};

static void fail(counting *c, hd_status status)
{
    pthread_mutex_lock(&c->lock);
    c->status = status;
    snprintf(c->why, sizeof c->why, "%s", hd_why());
    pthread_mutex_unlock(&c->lock);
}

/* A full batch. After a failure the rest is left out. */
static void count(counting *c, counting_batch *b)
{
    hd_status status = HD_OK;
    if (!c->status) {
        tally_expect(c->counts, b->share);
        status = tally_add(c->counts, b->key, b->n, c->outcome);
    }
    if (status) fail(c, status);
    atomic_store(&c->counted, c->counts->counted);
    pthread_mutex_lock(&c->lock);
    b->most = tally_batch(c->counts);
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

uint64_t *counting_room(counting *c, size_t *most)
{
    counting_batch *b = &c->batch[c->filled];
    pthread_mutex_lock(&c->lock);
    while (b->full) pthread_cond_wait(&c->changed, &c->lock);
    bool failed = c->status != HD_OK;
    *most = b->most;
    pthread_mutex_unlock(&c->lock);
    return failed ? NULL : b->key;
}

void counting_give(counting *c, size_t n, double share)
{
    counting_batch *b = &c->batch[c->filled];
    pthread_mutex_lock(&c->lock);
    b->n = n;
    b->share = share;
    b->full = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (!c->threaded) count(c, b);
    c->filled = (c->filled + 1) % BATCHES;
}

uint64_t counting_counted(const counting *c) { return atomic_load(&c->counted); }

hd_status counting_close(counting *c)
{
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
