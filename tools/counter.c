/* SPDX-License-Identifier: Apache-2.0
 *
 * counter.c - see counter.h. Three ways:
 *
 *     small tables    the caller counts
 *     large tables    the caller collects keys by the parts of the table (parts.h). A thread counts the parts that have
 *                     become full. Signals go to the caller: it is the one that waits for files
 *     on a device     the caller puts a copy of the keys and a batch on streams (counter_device.h)
 */
#include "tools/counter.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "tools/counter_device.h"
#include "tools/parts.h"

enum { LISTS = 2 };

/* Keys that were collected. */
typedef struct counted_list {
    parts_list parts;
    double total;   /* keys that are expected in all; 0: that is not known */
    uint64_t bytes; /* tally_parted_bytes, when it had been counted */
    bool full;      /* it waits to be counted, or is counted */
} counted_list;

struct counter {
    tally *counts;
    counter_device *device; /* NULL: none */
    uint64_t *key;          /* (the most that a batch of the tally has) */
    uint8_t *outcome;       /* likewise */
    pthread_t thread;
    bool threaded;
    unsigned filled; /* the list that the caller fills */
    uint64_t given;  /* keys                           */
    size_t gathered; /* of `key`, if tally_gathers: fewer than tally_batch, which does not fall */
    parts collected;
    _Atomic uint64_t counted;
    _Atomic bool stopped;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    counted_list list[LISTS];
    bool ended;
    hd_status status;
    char why[512];
};

/* Both threads may. The first failure is kept. */
static void fail(counter *c, hd_status status)
{
    pthread_mutex_lock(&c->lock);
    if (!c->status) {
        c->status = status;
        snprintf(c->why, sizeof c->why, "%s", hd_why());
    }
    pthread_mutex_unlock(&c->lock);
}

static hd_status failure(counter *c)
{
    pthread_mutex_lock(&c->lock);
    hd_status status = c->status;
    pthread_mutex_unlock(&c->lock);
    return status ? hd_fail(status, "%s", c->why) : HD_OK;
}

/* In batches as large as they should be. After a failure, and when it is stopped, the rest is left out. */
static void count_keys(counter *c, const uint64_t *key, size_t n)
{
    hd_status status = HD_OK;
    for (size_t i = 0, batch; i < n && !status && !atomic_load(&c->stopped); i += batch) {
        batch = tally_batch(c->counts);
        if (batch > n - i) batch = n - i;
        status = failure(c);
        if (!status) status = tally_add(c->counts, key + i, batch, c->outcome);
    }
    if (status) fail(c, status);
    atomic_store(&c->counted, c->counts->counted);
}

/* Batches of tally_batch keys, of whatever came. */
static void gather(counter *c, const uint64_t *key, size_t n)
{
    for (size_t i = 0, now; i < n; i += now) {
        size_t room = tally_batch(c->counts) - c->gathered;
        now = room < n - i ? room : n - i;
        memcpy(c->key + c->gathered, key + i, now * sizeof *key);
        c->gathered += now;
        if (now < room) return;
        count_keys(c, c->key, c->gathered);
        c->gathered = 0;
    }
}

/* The keys of parts, one part after another, in as few batches of the table as there can be. */
static void count_parts(counter *c, counted_list *list)
{
    size_t n = 0;
    tally_expect(c->counts, list->total);
    for (parts_batch *part; (part = parts_list_take(&list->parts));) {
        if (n + part->n > tally_batch(c->counts)) {
            count_keys(c, c->key, n);
            n = 0;
        }
        memcpy(c->key + n, part->key, part->n * sizeof *part->key);
        n += part->n;
        free(part);
    }
    count_keys(c, c->key, n);
    pthread_mutex_lock(&c->lock);
    list->bytes = tally_parted_bytes(c->counts);
    list->full = false;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void *count_lists(void *context)
{
    counter *c = (counter *)context;
    for (unsigned i = 0;; i = (i + 1) % LISTS) {
        counted_list *list = &c->list[i];
        pthread_mutex_lock(&c->lock);
        while (!list->full && !c->ended) pthread_cond_wait(&c->changed, &c->lock);
        bool over = !list->full;
        pthread_mutex_unlock(&c->lock);
        if (over) return NULL;
        count_parts(c, list);
    }
}

static void release(counter *c)
{
    counter_device_close(c->device);
    free(c->key);
    free(c->outcome);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static hd_status take_memory(counter *c)
{
    tally *t = c->counts;
    if (tally_is_far(t)) return counter_device_open(t, &c->device);
    c->outcome = (uint8_t *)malloc(t->most);
    c->key = (uint64_t *)malloc(t->most * sizeof *c->key);
    return c->outcome && c->key ? HD_OK : hd_fail(HD_ENOMEM, "the memory of a batch was refused");
}

hd_status counter_open(tally *t, counter **to)
{
    counter *c = (counter *)calloc(1, sizeof *c);
    if (!c) return hd_fail(HD_ENOMEM, "the memory of a batch was refused");
    c->counts = t;
    c->collected.seed = t->seed;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    hd_status status = take_memory(c);
    if (status) {
        release(c);
        return status;
    }
    c->threaded = !c->device && hd_thread_start(&c->thread, count_lists, c);
    *to = c;
    return HD_OK;
}

static void await_counted(counter *c, const counted_list *list)
{
    pthread_mutex_lock(&c->lock);
    while (list->full) pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

/* The list to fill, when it has been counted. */
static counted_list *free_list(counter *c)
{
    await_counted(c, &c->list[c->filled]);
    return &c->list[c->filled];
}

static void give(counter *c, counted_list *list)
{
    pthread_mutex_lock(&c->lock);
    list->full = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (!c->threaded) count_parts(c, list);
    c->filled = (c->filled + 1) % LISTS;
}

static void collect(counter *c, const uint64_t *key, size_t n, double total)
{
    counted_list *list = free_list(c);
    list->total = total;
    parts_fit(&c->collected, list->bytes, &list->parts);
    if (!parts_add(&c->collected, key, n, &list->parts))
        fail(c, hd_fail(HD_ENOMEM, "the memory of a batch was refused"));
    give(c, list);
}

/* The thread has nothing to do. */
static void count_here(counter *c, const uint64_t *key, size_t n, double total)
{
    for (int i = 0; i < LISTS; i++) await_counted(c, &c->list[i]);
    tally_expect(c->counts, total);
    if (tally_gathers(c->counts))
        gather(c, key, n);
    else
        count_keys(c, key, n);
    for (int i = 0; i < LISTS; i++) c->list[i].bytes = tally_parted_bytes(c->counts);
    parts_fit(&c->collected, c->list->bytes, &c->list[c->filled].parts);
}

static void count_there(counter *c, const uint64_t *key, size_t n, double total)
{
    tally_expect(c->counts, total);
    hd_status status = counter_device_give(c->device, key, n);
    if (status) fail(c, status);
    atomic_store(&c->counted, c->counts->counted);
}

hd_status counter_give(counter *c, const uint64_t *key, size_t n, double share)
{
    c->given += n;
    double total = share > 0 && share <= 1 ? (double)c->given / share : 0;
    if (c->device)
        count_there(c, key, n, total);
    else if (c->collected.count)
        collect(c, key, n, total);
    else
        count_here(c, key, n, total);
    return failure(c);
}

uint64_t counter_counted(const counter *c) { return atomic_load(&c->counted); }

/* What is collected, and the end of the thread. */
static void end(counter *c)
{
    counted_list *list = free_list(c);
    parts_end(&c->collected, &list->parts);
    give(c, list);
    pthread_mutex_lock(&c->lock);
    c->ended = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (c->threaded) pthread_join(c->thread, NULL);
}

hd_status counter_close(counter *c, bool stopped)
{
    atomic_store(&c->stopped, stopped);
    hd_status status = c->device ? counter_device_end(c->device) : HD_OK;
    if (status) fail(c, status);
    count_keys(c, c->key, c->gathered);
    if (!c->device) end(c);
    status = c->status;
    if (status) hd_fail(status, "%s", c->why);
    release(c);
    return status;
}
