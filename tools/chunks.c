/* SPDX-License-Identifier: Apache-2.0
 *
 * chunks.c - see chunks.h.
 *
 * Range r of the file goes to slot r % slots. Its reader fills the slot as often as the range needs. The caller takes
 * the slots in turn. When it is done with the last keys of a range, the slot belongs to another range.
 *
 * What cannot be read in ranges is read by the caller itself: so a signal ends its wait for a pipe.
 */
#include "tools/chunks.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "tools/memory.h"
#include "workload/kmer_range.h"
#include "workload/stream.h"

enum {
    RANGE_BYTES = CHUNK_KEYS, /* a range of FASTA has no more keys than bytes */
    PIECE = 4096,             /* requests at a time */
    SPARE = 3,                /* slots that wait for the caller, or are the caller's */
    WHY = 512
};
#define SLOT_BYTES (sizeof(uint64_t) * CHUNK_KEYS)

typedef struct chunk_slot {
    uint64_t *key; /* (CHUNK_KEYS) */
    size_t n;
    uint64_t range;
    bool filled;       /* the caller's */
    bool last, ran_on; /* the range's last keys; hd_kmer_ran_on */
    double share;
    hd_status status;
    char why[WHY];
} chunk_slot;

struct chunks {
    hd_source_args args;
    const hd_device_seam *device;
    hd_source *whole; /* the caller reads the file; NULL: threads read ranges */
    uint8_t marker;
    uint64_t bytes, ranges; /* of the file */
    chunk_slot *slot;       /* (slots) */
    uint64_t *keys;         /* (slots, CHUNK_KEYS) */
    uint32_t slots, threads;
    pthread_t *thread;         /* (threads) */
    uint64_t next;             /* the caller's range */
    chunk_slot *taken;         /* the caller has its keys; or NULL */
    hd_request request[PIECE]; /* the caller reads into */

    pthread_mutex_t lock; /* of what follows, and of slots' `range` and `filled` */
    pthread_cond_t changed;
    uint64_t begun; /* ranges that have a reader */
    bool stopped;
};

static chunk_slot *slot_of(const chunks *c, uint64_t range) { return &c->slot[range % c->slots]; }

/* ---- Readers --------------------------------------------------------------------------------- */

/* Waits until the slot is empty, and the range's. False: the reading is over. */
static bool await_empty(chunks *c, const chunk_slot *s, uint64_t range)
{
    pthread_mutex_lock(&c->lock);
    while (!c->stopped && (s->filled || s->range != range)) pthread_cond_wait(&c->changed, &c->lock);
    bool goes_on = !c->stopped;
    pthread_mutex_unlock(&c->lock);
    return goes_on;
}

static void hand_over(chunks *c, chunk_slot *s)
{
    pthread_mutex_lock(&c->lock);
    s->filled = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* The next keys of the range; the source is opened for the first of them, and closed after the last. */
static void read_more(chunks *c, chunk_slot *s, hd_source **source)
{
    hd_kmer_range part = { s->range * RANGE_BYTES, RANGE_BYTES, c->marker };
    hd_status e = *source ? HD_OK : hd_kmer_range_open(&c->args, &part, source);
    s->n = 0;
    if (!e) e = hd_kmer_keys(*source, s->key, CHUNK_KEYS, &s->n);
    s->status = e;
    s->last = e || s->n < CHUNK_KEYS;
    if (e) snprintf(s->why, sizeof s->why, "%s", hd_why());
    if (!*source) return;
    s->ran_on = hd_kmer_ran_on(*source);
    s->share = hd_source_share(*source);
    if (!s->last) return;
    hd_source_close(*source);
    *source = NULL;
}

/* False: the reading is over. */
static bool read_range(chunks *c, uint64_t range)
{
    chunk_slot *s = slot_of(c, range);
    hd_source *source = NULL;
    do {
        if (!await_empty(c, s, range)) {
            hd_source_close(source);
            return false;
        }
        read_more(c, s, &source);
        hand_over(c, s);
    } while (source);
    return true;
}

static uint64_t range_take(chunks *c)
{
    pthread_mutex_lock(&c->lock);
    uint64_t range = c->stopped ? c->ranges : c->begun;
    c->begun += range < c->ranges;
    pthread_mutex_unlock(&c->lock);
    return range;
}

static void *read_ranges(void *context)
{
    chunks *c = (chunks *)context;
    for (uint64_t range; (range = range_take(c)) < c->ranges && read_range(c, range);) {
    }
    return NULL;
}

/* ---- The caller ------------------------------------------------------------------------------ */

/* The caller does not need the keys any more that it has taken. */
static void give_back(chunks *c)
{
    chunk_slot *s = c->taken;
    if (!s) return;
    pthread_mutex_lock(&c->lock);
    if (s->last) s->range += c->slots;
    s->filled = false;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    c->taken = NULL;
}

/* The slot of the caller's range, when it is filled. */
static chunk_slot *take(chunks *c)
{
    chunk_slot *s = slot_of(c, c->next);
    pthread_mutex_lock(&c->lock);
    while (!s->filled) pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
    c->taken = s;
    if (s->last) c->next = s->ran_on ? c->ranges : c->next + 1;
    return s;
}

static hd_status next_of_ranges(chunks *c, chunk *to)
{
    give_back(c);
    while (c->next < c->ranges) {
        chunk_slot *s = take(c);
        if (s->status) {
            c->next = c->ranges;
            return hd_fail(s->status, "%s", s->why);
        }
        if (s->n) {
            *to = (chunk){ s->key, s->n, s->share };
            return HD_OK;
        }
        give_back(c);
    }
    return HD_OK;
}

static hd_status next_of_all(chunks *c, chunk *to)
{
    hd_source *w = c->whole;
    chunk_slot *s = c->slot;
    hd_status e = HD_OK;
    size_t got = 1;
    for (s->n = 0; s->n < CHUNK_KEYS && got && !e;) {
        size_t want = CHUNK_KEYS - s->n < PIECE ? CHUNK_KEYS - s->n : PIECE;
        e = hd_source_next(w, c->request, want, &got);
        for (size_t i = 0; i < got && !e; i++) s->key[s->n++] = c->request[i].key;
    }
    *to = (chunk){ s->key, e ? 0 : s->n, hd_source_share(w) };
    return e;
}

hd_status chunks_next(chunks *c, chunk *to)
{
    *to = (chunk){ NULL, 0, 1 };
    return c->whole ? next_of_all(c, to) : next_of_ranges(c, to);
}

uint64_t chunks_skipped(const chunks *c) { return c->whole ? c->whole->skipped : 0; }

/* ---- Opening and closing --------------------------------------------------------------------- */

static hd_status slots_take(chunks *c)
{
    void *keys = NULL;
    c->slot = (chunk_slot *)calloc(c->slots, sizeof *c->slot);
    if (!c->slot) return hd_fail(HD_ENOMEM, "the memory of %" PRIu32 " chunks of a file was refused", c->slots);
    hd_status e = memory_take_near(c->device, "chunks of a file", c->slots * SLOT_BYTES, &keys);
    c->keys = (uint64_t *)keys;
    if (e) return e;
    for (uint32_t i = 0; i < c->slots; i++) {
        c->slot[i].key = c->keys + (size_t)i * CHUNK_KEYS;
        c->slot[i].range = i;
    }
    return HD_OK;
}

/* As many of the threads as there can be. None: the caller reads the file. */
static hd_status threads_start(chunks *c, uint32_t threads)
{
    c->thread = (pthread_t *)calloc(threads, sizeof *c->thread);
    if (!c->thread) return hd_fail(HD_ENOMEM, "the memory of %" PRIu32 " threads was refused", threads);
    while (c->threads < threads && hd_thread_start(&c->thread[c->threads], read_ranges, c)) c->threads++;
    return c->threads ? HD_OK : hd_source_open(&c->args, &c->whole);
}

static hd_status start(chunks *c, uint32_t threads)
{
    const hd_source *w = c->whole;
    bool in_ranges = !c->args.lenient && hd_stream_plain(w->file) && w->bytes_total > RANGE_BYTES;
    c->bytes = w->bytes_total;
    c->ranges = (c->bytes + RANGE_BYTES - 1) / RANGE_BYTES;
    c->marker = hd_kmer_marker(w);
    c->args.seams = w->seams;
    if (threads > c->ranges) threads = (uint32_t)c->ranges;
    c->slots = in_ranges ? threads + SPARE : 1;
    hd_status e = slots_take(c);
    if (e || !in_ranges) return e;
    hd_source_close(c->whole);
    c->whole = NULL;
    return threads_start(c, threads);
}

hd_status chunks_open(const chunks_config *config, chunks **to)
{
    chunks *c = (chunks *)calloc(1, sizeof *c);
    if (!c) return hd_fail(HD_ENOMEM, "the memory of a reader was refused");
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    c->args = *config->args;
    c->device = config->device;
    hd_status e = hd_source_open(&c->args, &c->whole);
    if (!e) c->whole->any = true; /* a file without a k-mer is no failure */
    if (!e) e = start(c, config->threads);
    if (e)
        chunks_close(c);
    else
        *to = c;
    return e;
}

void chunks_close(chunks *c)
{
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    c->stopped = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < c->threads; i++) pthread_join(c->thread[i], NULL);
    free(c->thread);
    hd_source_close(c->whole);
    memory_give_near(c->device, c->keys, c->slots * SLOT_BYTES);
    free(c->slot);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
