/* SPDX-License-Identifier: Apache-2.0
 *
 * batches.h - what pages.c and chunks.c share: the paper's sizes, scaled, and batches of keys, sorted or not. Included
 * once by each program, after papers/words.h.
 */
#ifndef PAPERS_OVS_BATCHES_H
#define PAPERS_OVS_BATCHES_H

#include "papers/ovs/paging.h"
#include "workload/workload.h"

enum { MIB = 1 << 20, PAIR = 8 /* bytes of a key and a value */ };

/* Which keys, how many at once, and what is done with them. Sizes are the paper's. */
typedef struct inputs {
    char kind[16], range[16], op[16], sort[16];
    uint64_t seed, scale;
    double keys, batch, hold; /* millions            */
    double memory;            /* of the GPU, in MiB  */
} inputs;

static inline uint64_t scaled(double paper, const inputs *in) { return (uint64_t)(paper / (double)in->scale + 0.5); }
static inline uint64_t scaled_millions(double millions, const inputs *in) { return scaled(millions * 1e6, in); }

/* The greatest key of a sparse sequence. */
static inline uint64_t top_key(const inputs *in)
{
    return scaled(strcmp(in->range, "artifact") == 0 ? 4e9 : (double)UINT32_MAX - 1, in);
}

/* What is left for a table beside the keys and values of a batch, in bytes; at least a block. */
static inline uint64_t room_of(const inputs *in)
{
    const double room = in->memory * MIB / (double)in->scale - (double)scaled_millions(in->batch, in) * PAIR;
    if (room < 1 << BLOCK_BITS) stop("memory", "there is no room for a block beside a batch");
    return (uint64_t)room;
}

/* ---- Items ----------------------------------------------------------------------------------- */

typedef struct item {
    uint32_t rank, key; /* sorted by rank */
} item;

/* A batch, and as much space again to sort it in; `absent` is added to each key: keys that are in no table. */
typedef struct batches {
    hd_source *source;
    uint64_t absent, left, most, n; /* n: of this batch */
    item *items, *spare;
} batches;

/* By rank, stable: four passes of a byte. */
static inline void batch_sort(batches *b)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        uint64_t at[257] = { 0 };
        for (uint64_t i = 0; i < b->n; i++) at[(b->items[i].rank >> shift & 0xff) + 1]++;
        for (int d = 0; d < 256; d++) at[d + 1] += at[d];
        for (uint64_t i = 0; i < b->n; i++) b->spare[at[b->items[i].rank >> shift & 0xff]++] = b->items[i];
        item *sorted = b->spare;
        b->spare = b->items;
        b->items = sorted;
    }
}

/* The first so many millions of the kind's keys. */
static inline batches batches_of(const inputs *in, double millions, uint64_t absent)
{
    char spec[128];
    batches b = { .absent = absent, .left = scaled_millions(millions, in), .most = scaled_millions(in->batch, in) };
    snprintf(spec, sizeof spec, "pattern:%s,%llu,range=%llu,block=%llu", in->kind, (unsigned long long)b.left,
             (unsigned long long)top_key(in), (unsigned long long)scaled(5e8, in));
    must(hd_source_open_spec(spec, in->seed, &b.source));
    b.items = (item *)calloc(b.most, sizeof *b.items);
    b.spare = (item *)calloc(b.most, sizeof *b.spare);
    if (!b.items || !b.spare) stop("batch", "there is no memory");
    return b;
}

/* The next batch; false after the last one. */
static inline bool batch_next(batches *b)
{
    enum { PIECE = 4096 };
    hd_request r[PIECE];
    b->n = b->left < b->most ? b->left : b->most;
    b->left -= b->n;
    for (uint64_t i = 0; i < b->n;) {
        size_t got = 0;
        must(hd_source_next(b->source, r, b->n - i < PIECE ? b->n - i : PIECE, &got));
        for (size_t j = 0; j < got; j++) b->items[i++].key = (uint32_t)(r[j].key + b->absent);
    }
    return b->n > 0;
}

static inline void batches_close(batches *b)
{
    hd_source_close(b->source);
    free(b->items);
    free(b->spare);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static inline void one_of(const char *name, const char *value, const char *const *all)
{
    while (*all && strcmp(*all, value) != 0) all++;
    if (!*all) stop(name, value);
}

static inline void inputs_check(const inputs *in)
{
    one_of("range", in->range, (const char *const[]){ "sparse", "artifact", NULL });
    if (in->scale == 0) stop("scale", "at least 1");
    if (scaled_millions(in->keys, in) == 0 || scaled_millions(in->batch, in) == 0) stop("keys, batch", "at least 1");
    if (strcmp(in->op, "insert") != 0 && in->keys > in->hold) stop("keys", "more than hold");
}

#endif
