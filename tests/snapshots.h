/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshots.h - shared by the tests of snapshots: tables of several shapes with entries, and the numbers and checksums
 * of doc/snapshot.md, computed independently.
 */
#ifndef SNAPSHOTS_H
#define SNAPSHOTS_H

#include "tests/faulty.h"
#include "tests/model.h"

typedef struct snapshot_shape {
    const char *policy;
    uint64_t buckets;
    uint32_t slots, value_bytes;
    bool dual;
    hd_admit admit;
    uint64_t seed;
} snapshot_shape;

hd_config shape_config(const snapshot_shape *s);
hd_table *shape_open(const snapshot_shape *s);

/* n upserts of random keys below 2 x n, with random scores: a batch; or in order, for tables that are then compared
 * slot by slot. Scores differ: of several least ones any may leave, and which does may hang on lower bounds, which a
 * snapshot does not have. */
void feed(hd_table *t, uint64_t n, uint64_t seed);
void feed_in_order(hd_table *t, uint64_t n, uint64_t seed);

/* Slot by slot, clock and epoch included; and b is in order. */
void same_table(hd_table *a, hd_table *b);

uint64_t snapshot_number(const uint8_t *p, int bytes);
void snapshot_sum(uint8_t *sum, const uint8_t *p, size_t bytes); /* sum: 16 bytes */
bool snapshot_sum_is(const uint8_t *sum, const uint8_t *p, size_t bytes);
/* Where the four sections begin, and the end. */
void snapshot_sections(const uint8_t *p, size_t bytes, size_t at[5]);

#endif
