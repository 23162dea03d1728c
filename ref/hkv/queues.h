/* SPDX-License-Identifier: Apache-2.0
 *
 * queues.h - policies with queues, ghosts and counters (HD_QUEUES, HD_REMEMBERS, HD_COUNTS): what a bucket tells such a
 * policy of a key that it is to take, which entry leaves, and what the bucket remembers then. doc/contract-hkv.md,
 * "Policies with queues".
 */
#ifndef HKV_REF_QUEUES_H
#define HKV_REF_QUEUES_H

#include "ref/hkv/hkv.h"

/* A bucket that is to take a new entry. Ghosts are places in v->ghost; HKV_NOWHERE: there is none. */
typedef struct hkv_taking {
    uint64_t bucket;
    hd_score_in in;     /* state: the new one */
    uint64_t ghost;     /* of the key, in one of its buckets       */
    uint64_t oldest[2]; /* of each list of the bucket              */
    uint64_t room;      /* the first place that has no ghost       */
    uint64_t newest;    /* the greatest order in the bucket        */
    uint32_t list;      /* the key of the entry that leaves joins it; 0: none */
} hkv_taking;

/* full: an entry must leave. */
hkv_taking hkv_taking_of(const hkv_view *v, const hkv_item *it, const hkv_home *at, uint64_t bucket, bool full);

/* The entry that leaves the bucket first, pinned ones apart; HKV_NOWHERE: there is none. Where keys are counted, t->in
 * has what the counters say of it. */
uint64_t hkv_first_to_leave(const hkv_view *v, hkv_taking *t);

/* An entry with score `old` leaves: asks the policy whether its key is remembered, and which one is forgotten. After
 * that the item's score can be asked for. */
void hkv_ask_to_remember(const hkv_view *v, hkv_taking *t, uint64_t old);

/* The item has its place: the key that left is remembered, if it joins a list; the item's is forgotten. */
void hkv_take(const hkv_view *v, const hkv_taking *t, uint64_t gone_key);

/* ---- Counters of keys ---- */

/* Whether the item, whose key is not reserved, is counted: its operation may insert. */
bool hkv_is_counted(const hkv_view *v, const hkv_item *it);

/* Counts the key in its buckets. */
void hkv_count(const hkv_view *v, const hkv_home *at, uint64_t key);

/* The counters of these buckets, which can be put back. room: twice HKV_COUNT_WORDS_MOST. */
void hkv_counts_keep(const hkv_view *v, const hkv_home *at, uint64_t *room);
void hkv_counts_put_back(const hkv_view *v, const hkv_home *at, const uint64_t *room);

#endif
