/* SPDX-License-Identifier: Apache-2.0
 *
 * model.h - the rules of doc/contract-hkv.md in their simplest form: a bucket is an array of (key, score, value),
 * searched from end to end. Unlike the judge, the model knows hashes, buckets and policies, so it says in which bucket
 * every entry must be and what its score must be. It shares no line with ref/ or policies/.
 *
 * Any entry that holds the least score may be evicted. So the test tells the model which entry left, and the model
 * answers whether that was legal. Everything else must be exactly as the model says.
 */
#ifndef MODEL_H
#define MODEL_H

#include "tests/testing.h"

typedef struct model {
    char policy[512];
    uint64_t buckets, seed, now; /* now: the clock of the next item */
    uint32_t slots, value_bytes, epoch;
    bool dual, always;
    uint32_t spared;             /* of the upsert at m->now: entries that it spared, ... */
    uint64_t least;              /* ... and the least score that stays in its bucket     */
    int ghost;                   /* ... and the list in which its key was; 4 more: it was forgotten by it */
    struct model_past *past;     /* (buckets) what they remember, of policies with queues */
    struct model_counts *counts; /* (buckets) of policies that count keys */
    uint32_t *used;              /* (buckets)                     */
    uint64_t *key;               /* (buckets, slots)              */
    uint64_t *score;             /* (buckets, slots)              */
    uint8_t *value;              /* (buckets, slots, value_bytes) */
} model;

/* An entry that left, or did not enter, as a table reports it. */
typedef struct model_entry {
    uint64_t key, score;
    const void *value;
} model_entry;

enum { MODEL_NONE = -1 };

void model_open(model *m, hd_table *table); /* empty, of the table's shape, policy, clock and epoch */
void model_load(model *m, hd_table *table); /* as open, with the table's entries */
void model_close(model *m);

/* The key whose hash is h: fmix64 backwards. Makes keys that meet where a test wants them to. */
uint64_t model_unhash(uint64_t h, uint64_t seed);

/* The candidate buckets of a key; returns how many there are, 1 or 2. */
unsigned model_buckets(const model *m, uint64_t key, uint64_t b[2]);
int64_t model_find(const model *m, uint64_t key); /* the entry's place, or MODEL_NONE */
uint64_t model_size(const model *m);

/* Whether the model restates the policy; it can say nothing about scores when it does not. */
bool model_restates(const model *m);

/* Policies with queues (model_queues.c). take: absent key comes to bucket `to` of its n, if that has room; the place of
 * the entry that leaves, or MODEL_NONE. The buckets remember it then. */
bool model_has_queues(const model *m);
void model_queues_open(model *m);
void model_queues_close(model *m);
uint64_t model_queues_on_insert(const model *m);
uint64_t model_queues_on_hit(const model *m, uint64_t old, uint64_t given);
int64_t model_queues_take(model *m, const uint64_t b[2], unsigned n, uint64_t to, uint64_t key);

/* Policies that count keys (model_counts.c). A use of the key; how often bucket b has counted it. */
bool model_has_counts(const model *m);
void model_counts_open(model *m);
void model_counts_close(model *m);
void model_count(model *m, uint64_t key);
uint64_t model_count_of(const model *m, uint64_t b, uint64_t key);

/* What the policy makes of an item at m->now. */
uint64_t model_on_insert(const model *m, uint64_t given);
uint64_t model_on_hit(const model *m, uint64_t old, uint64_t given);

/* One upsert at m->now, which the table says had outcome `said`, with `left` from its list when it was
 * EVICTED or REFUSED. NULL: so it must be, and now it is so here; else a sentence. */
const char *model_upsert(model *m, uint64_t key, const void *value, uint64_t given, hd_outcome said,
                         const model_entry *left);
void model_erase(model *m, int64_t place);

/* NULL: the table holds exactly the model's entries, each in the same bucket, at the same clock. */
const char *model_compare(const model *m, hd_table *table);

/* Contents of a table: sorted by key, so that two tables can be compared whatever their shape. */
typedef struct model_contents {
    uint64_t n;
    uint64_t *key, *score, *slot; /* (n) */
    uint8_t *value;               /* (n, value_bytes) */
    uint64_t now;
    uint32_t value_bytes, epoch;
} model_contents;
void contents_take(model_contents *c, hd_table *table);
void contents_give(model_contents *c);
/* Same keys, scores and values; when `whole`, also the same clock, epoch and slots. */
bool contents_equal(const model_contents *a, const model_contents *b, bool whole);

/* The value a test gives to a key at some time: bytes no other (key, time) has, by SplitMix64. */
void value_make(void *value, uint32_t value_bytes, uint64_t key, uint64_t time);

#endif
