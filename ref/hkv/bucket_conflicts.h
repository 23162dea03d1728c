/* SPDX-License-Identifier: Apache-2.0
 *
 * bucket_conflicts.h - which thread runs which item of a block, where an item may use two buckets.
 *
 * Items that share a bucket, directly or by way of other items of the block, are a party. One thread runs all items of
 * a party, in their order, so every bucket sees the order of the batch. Parties share nothing, so threads wait for each
 * other at the end of a block only. Which thread runs a party follows from its buckets alone: every thread computes the
 * same turns for itself, and nothing is allocated.
 *
 * A cell stands for all buckets whose numbers are equal in their low bits. That joins parties that share no bucket, and
 * never parts one. With at least four cells for each item parties are small: the items are the edges of a random graph
 * that has half as many as it needs for a large component.
 */
#ifndef HD_HKV_BUCKET_CONFLICTS_H
#define HD_HKV_BUCKET_CONFLICTS_H

#include "ref/hkv/hkv.h"

enum {
    HKV_TURNS_MOST = 1024,              /* items of a block: a thread has 10 KiB for them on its stack */
    HKV_TURNS_LEAST = 512,              /* fewer are not worth that threads wait for each other */
    HKV_CELLS_MOST = 4 * HKV_TURNS_MOST /* a power of two */
};

typedef struct hkv_turns {
    uint16_t owner[HKV_TURNS_MOST]; /* the thread that runs the item */
    uint16_t cell[HKV_CELLS_MOST];  /* a cell of the same party, the root of a tree at last */
} hkv_turns;

/* How many items a block of such a table has, at most; below HKV_TURNS_LEAST its buckets are too few to share out. */
uint64_t hkv_turns_of(const hkv_view *v);

/* The owners of n items among so many threads. n is at most hkv_turns_of(v). */
void hkv_take_turns(const hkv_view *v, const uint64_t *key, uint64_t n, uint64_t threads, hkv_turns *t);

#endif
