/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - the table on which points are measured: brought to a load factor, with a list of its keys. One fixture
 * serves all points of a shape, so a table of gigabytes is opened once.
 */
#ifndef HD_BENCH_FIXTURE_H
#define HD_BENCH_FIXTURE_H

#include "bench/device/device.h"

typedef struct bench_shape {
    hd_config table; /* value_bytes and the budget of values in the device's memory follow from the next two */
    uint32_t words;  /* of 32 bits, in a value */
    double near;     /* share of the values that are in the device's memory; 0: no tiers */
} bench_shape;

/* What is usual in a design. */
bench_shape bench_shape_of(const char *design, const char *backend);

/* Whether each key has two candidate buckets. */
bool bench_shape_dual(const bench_shape *shape);

/* Whether the operation needs the caller's scores, by the policy of such a table. */
bool bench_shape_scores(const bench_shape *shape, hd_op op);

typedef struct bench_fixture {
    const bench_device *device;
    bench_shape shape;
    hd_table *table;
    hd_info info;
    uint64_t fresh;   /* keys of this number and above were never in the table */
    uint64_t drawn;   /* batches so far: each has an order of its own         */
    uint64_t scored;  /* batches with scores so far                           */
    bool evicts;      /* the design does, and keeps scores; one that does not may leave items pending */
    bool blank;       /* to be made anew: some values may be zero, or slots say that they were used */
    uint64_t at_once; /* entries that are inserted, or listed, at a time      */
    uint64_t *key;    /* (at_once)        */
    void *value;      /* (at_once, words) */
    uint64_t *listed, *score, *present; /* (places) keys and scores as export lists them; those to draw from */
    uint64_t presents;
    bool settled;    /* the values of the most frequent keys are in the device's memory */
    double left_out; /* the share that present leaves out, the oldest; below 0: present is not known */
    uint64_t *count; /* (1), the device's */
} bench_fixture;

/* s->shape is what the table is: no field of its design is "as usual". */
hd_status bench_fixture_open(bench_fixture *s, const bench_device *device, const bench_shape *shape);
void bench_fixture_close(bench_fixture *s); /* a zeroed fixture is allowed */

/* Brings the table to about so many entries, with keys that were never there; to the capacity: until it is full, and
 * has been for a while. */
hd_status bench_fixture_level(bench_fixture *s, uint64_t entries);
hd_status bench_fixture_size(bench_fixture *s, uint64_t *entries);

/* Makes present[] the keys that are in the table, without the oldest ones. */
hd_status bench_fixture_list(bench_fixture *s, double left_out);
/* For in-bucket tiers and skewed keys: gives the most frequent keys the best scores and promotes their values. */
hd_status bench_fixture_settle(bench_fixture *s, double zipf);
/* The table's content changed: present[] is out of date. */
void bench_fixture_changed(bench_fixture *s);

/* A batch's drawing: `hits` of n keys from present[], after bench_fixture_list, the others fresh. */
bench_draw bench_fixture_draw(bench_fixture *s, uint64_t n, uint64_t hits, double zipf);

/* Where the policy needs the caller's scores: makes those of a new batch in score[b->n], and gives them to it. */
hd_status bench_fixture_score(bench_fixture *s, hd_batch *b, uint64_t *score);

/* Puts (insert_or_assign) or erases the keys number first to first + n - 1, in a queue. */
hd_status bench_fixture_put_numbers(bench_fixture *s, uint64_t first, uint64_t n, bool erase);
/* The same for a list of keys in the device's memory. */
hd_status bench_fixture_put(bench_fixture *s, const uint64_t *key, uint64_t n);

#endif
