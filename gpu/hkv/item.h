/* SPDX-License-Identifier: Apache-2.0
 *
 * item.h - an item in progress: its state between the steps, how it begins, and the search in its buckets.
 */
#ifndef HKV_ITEM_H
#define HKV_ITEM_H

#include "gpu/hkv/locate.h"
#include "gpu/hkv/variant.h"

#define HKV_NONE UINT64_MAX /* no entry */

/* hkv_one.outcome, besides the outcomes of hd_outcome: the lane has no item; the item needs another turn. */
enum { HKV_NO_ITEM = HD_OUTCOME_COUNT, HKV_UNDECIDED };
enum { HKV_HOLDS_NOTHING, HKV_HOLDS_BUCKETS, HKV_HOLDS_ENTRY };
enum { HKV_KEEP, HKV_REPLACE, HKV_ADD, HKV_ZERO }; /* hkv_one.change: what happens to the value in the table */

typedef struct hkv_one {
    uint64_t i, key;
    uint64_t first, second;              /* its candidate buckets; equal in single mode */
    uint64_t entry;                      /* where the key is, or will be; HKV_NONE: nowhere */
    uint64_t score;                      /* its score; REFUSED: the score of the refused entry. Valid in rank 0 */
    uint64_t gone_key, gone_score;       /* EVICTED: the evicted entry. Valid in rank 0 */
    uint8_t *out;                        /* where the old value is copied before it changes; NULL: nowhere */
    const uint8_t *in;                   /* the new value, or the value to add */
    hkv_seen_bucket at_first, at_second; /* what the search saw; valid if `looked` */
    uint32_t outcome, holds, change;
    uint32_t group; /* pass LEADERS: the item leads this group */
    uint8_t digest;
    bool looked;
    bool fresh; /* the entry is new, and its key is not published yet */
    bool rated; /* the publication of the key also stores the score */
    bool told;  /* it has taken effect, and its ticket is drawn. Valid in rank 0 */
    bool pins;  /* it has pinned or unpinned its entry. Valid in rank 0 */
} hkv_one;

/* The key of item i; 0 if i is past the last item. An item whose flag is no hd_accum counts as one with a reserved key:
 * the host does not check arrays of the device. */
SIMT_FN uint64_t hkv_item_key(const hkv_args *a, uint64_t i)
{
    if (i >= a->last) return 0;
    uint64_t key = simt_ld_u64(a->key + i);
    if (a->flag && simt_ld_u8(a->flag + i) > HD_EITHER) key = HD_KEY_EMPTY;
    return key;
}

/* Begins item i, which has `key`. From a->last on it returns HKV_NO_ITEM, so that all lanes of a tile run equally many
 * turns. */
SIMT_FN hkv_one hkv_begin_with(const hkv_args *a, uint64_t i, uint64_t key)
{
    hkv_one o;
    o.i = i;
    o.key = 0;
    o.first = o.second = 0;
    o.entry = HKV_NONE;
    o.score = o.gone_key = o.gone_score = 0;
    o.out = (uint8_t *)0;
    o.in = (const uint8_t *)0;
    o.outcome = HKV_NO_ITEM;
    o.holds = HKV_HOLDS_NOTHING;
    o.change = HKV_KEEP;
    o.group = 0;
    o.digest = 0;
    o.looked = o.fresh = o.rated = o.told = o.pins = false;
    if (i >= a->last) return o;
    simt_started(i);
    o.key = key;
    uint64_t h = hd_hash(o.key, a->v.seed);
    o.first = o.second = hd_first_bucket(h, a->v.buckets);
    if (a->v.dual) o.second = hd_second_bucket(h, a->v.buckets);
    o.digest = hd_digest(h);
    o.outcome = HKV_UNDECIDED;
    if (o.key >= HD_KEY_RESERVED) o.outcome = HD_RESERVED;
    return o;
}

SIMT_FN hkv_one hkv_begin(const hkv_args *a, uint64_t i) { return hkv_begin_with(a, i, hkv_item_key(a, i)); }

SIMT_FN const uint8_t *hkv_digests_of(const hkv_args *a, uint64_t b) { return a->v.digest + hkv_entry(&a->v, b, 0); }

/* Searches the first candidate bucket, and in dual mode the second if the key is not in the first. first, second: the
 * digests of the buckets. */
SIMT_FN void hkv_search(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o, const uint8_t *first,
                        const uint8_t *second)
{
    const hkv_view *v = &a->v;
    bool contended = family == HKV_UPDATE, room = family == HKV_UPSERT;
    o->looked = true;
    o->entry = HKV_NONE;
    o->at_first = hkv_look(t, v, o->first, first, o->digest, o->key, contended, room);
    o->at_second = o->at_first;
    if (o->at_first.slot < v->slots) {
        o->entry = hkv_entry(v, o->first, o->at_first.slot);
    } else if (v->dual) {
        o->at_second = hkv_look(t, v, o->second, second, o->digest, o->key, contended, room);
        if (o->at_second.slot < v->slots) o->entry = hkv_entry(v, o->second, o->at_second.slot);
    }
}

/* True: the search saw an owned entry that may have the key. */
SIMT_FN bool hkv_saw_busy(const hkv_one *o) { return o->at_first.busy || o->at_second.busy; }

#endif
