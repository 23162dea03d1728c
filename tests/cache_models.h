/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_models.h - slow models of exact caches, each from its paper: arrays in order of age, searched from end to end.
 * They share a hash and a random generator with tools/caches/, and no other code.
 */
#ifndef HD_TESTS_CACHE_MODELS_H
#define HD_TESTS_CACHE_MODELS_H

#include "workload/rng.h"
#include "workload/workload.h"

enum { MODEL_QUEUES = 4, MODEL_MOST = 6000 };

typedef struct model_entry {
    uint64_t key, size;
    uint64_t times, first, last, before; /* requests, and numbers of requests: the first, the last, the one before it */
    double value;
    long double weight;
    int mark;
} model_entry;

typedef struct model_queue {
    model_entry at[MODEL_MOST]; /* (n), the oldest first */
    size_t n;
} model_queue;

typedef struct cache_model cache_model;

typedef struct model_rule {
    const char *name;
    unsigned residents; /* the queues that hold entries, as bits */
    void (*hit)(cache_model *m, int q, size_t i);
    void (*miss)(cache_model *m, model_entry x);
    bool bytes;
} model_rule;

struct cache_model {
    const model_rule *rule;
    uint64_t capacity, number, left;
    bool bytes;
    hd_rng rng;
    model_queue q[MODEL_QUEUES];
    double value;    /* the target of ARC, L of GDSF */
    int64_t hand;    /* the index of SIEVE's; -1: none */
    uint64_t target; /* of CLOCK-Pro */
    uint8_t *count;  /* (groups, 4, 16): the sketch of TinyLFU */
    uint64_t groups, added;
};

const model_rule *model_at(size_t i); /* NULL past the end */
void model_open(cache_model *m, const model_rule *rule, uint64_t capacity, bool bytes, uint64_t seed);
void model_close(cache_model *m);
hd_outcome model_run(cache_model *m, uint64_t key, uint64_t size);
uint64_t model_entries(const cache_model *m);

/* What the models' files share. */
uint64_t model_units(const cache_model *m, int q);
uint64_t model_used(const cache_model *m);
bool model_lacks(const cache_model *m, uint64_t size);
int64_t model_find(const cache_model *m, int q, uint64_t key); /* -1: it is not there */
model_entry model_take(cache_model *m, int q, size_t i);
void model_put(cache_model *m, int q, model_entry x);
/* The sketch of TinyLFU counts the request. */
void model_see(cache_model *m, uint64_t key);
/* An entry that leaves the cache. */
model_entry model_leave(cache_model *m, int q, size_t i);

extern const model_rule model_lirs, model_tinylfu, model_wtinylfu, model_lruk, model_lrfu, model_hyperbolic,
    model_lfuda, model_gdsf, model_clockpro;

#endif
