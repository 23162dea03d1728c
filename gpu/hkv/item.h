/* SPDX-License-Identifier: Apache-2.0
 *
 * item.h - one item on its way: what is known of it between its steps, how it begins, and the search in its buckets.
 */
#ifndef HKV_ITEM_H
#define HKV_ITEM_H

#include "gpu/hkv/locate.h"
#include "gpu/hkv/variant.h"

#define HKV_NONE UINT64_MAX /* no entry */

enum { HKV_NO_ITEM = HD_OUTCOME_COUNT, HKV_UNDECIDED, HKV_TO_NEXT /* to the next pass */ };
enum { HKV_HOLDS_NOTHING, HKV_HOLDS_BUCKETS, HKV_HOLDS_ENTRY, HKV_HOLDS_PINS };
enum { HKV_KEEP, HKV_REPLACE, HKV_ADD, HKV_ZERO }; /* what becomes of the value in the table */

typedef struct hkv_one {
    uint64_t i, key;
    uint64_t first, second;              /* its candidate buckets; the same one in single mode */
    uint64_t entry;                      /* where it is now; HKV_NONE */
    uint64_t score;                      /* its score now; REFUSED: what it would have been. Rank 0 knows it */
    uint64_t gone_key, gone_score;       /* EVICTED: who left. Rank 0 knows it */
    uint8_t *out;                        /* where the entry's old value goes before it is changed; NULL: nowhere */
    const uint8_t *in;                   /* what it is replaced by, or what is added */
    hkv_seen_bucket at_first, at_second; /* when looked */
    uint32_t outcome, holds, change;
    uint8_t digest;
    bool looked, fresh; /* fresh: the entry is new, its key not yet in place */
    bool rated;         /* its score goes into the table together with its key */
} hkv_one;

/* The key of item i, which may be one too far. */
SIMT_FN uint64_t hkv_item_key(const hkv_args *a, uint64_t i) { return i < a->last ? simt_ld_u64(a->key + i) : 0; }

/* Items from a->last on are none, so that a tile stays together to the end. */
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
    o.digest = 0;
    o.looked = o.fresh = o.rated = false;
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

/* Looks in both candidate buckets, in the second only when the key is not in the first. */
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

#endif
