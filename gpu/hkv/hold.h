/* SPDX-License-Identifier: Apache-2.0
 *
 * hold.h - taking and dropping what an item must own: the locks of its buckets, or an entry.
 *
 * Lock order:
 *   - A function here makes one attempt and returns. Only the caller's loop repeats it.
 *   - An item that owns an entry tries no further lock.
 *   - Bucket locks are taken in ascending order. If the second fails, the first is dropped.
 *   - The owner of an entry waits for nothing. So the holder of a bucket may wait for an entry and claim it
 *     (coalesced.h does).
 *
 * Memory order: each CAS that takes is an acquire. It pairs with the release store in hkv_let_go(), or with the release
 * store that publishes the key. HKV_SYNC extends the acquire of rank 0 to the tile, and puts the stores of the tile
 * before the release of rank 0.
 */
#ifndef HKV_HOLD_H
#define HKV_HOLD_H

#include "gpu/hkv/item.h"

/* Ends an attempt of rank 0, for all lanes of the tile: got it, or not. */
SIMT_FN bool hkv_took(simt_tile t, hkv_one *o, bool got, uint32_t holds)
{
    HD_ASSERT(o->holds == HKV_HOLDS_NOTHING, "lock order: an item that owns something tries no further lock");
    got = HKV_FROM0(t, got);
    if (!got) return false;
    HKV_SYNC(t);
    o->holds = holds;
    return true;
}

/* Tries the locks of both candidate buckets. */
SIMT_FN bool hkv_try_buckets(simt_tile t, const hkv_args *a, hkv_one *o)
{
    uint64_t low = o->first < o->second ? o->first : o->second, high = o->first ^ o->second ^ low;
    bool got = false;
    if (t.rank == 0) {
        got = simt_cas_u32(a->lock + low, 0, 1, SIMT_ACQUIRE) == 0;
        if (got && high != low) {
            got = simt_cas_u32(a->lock + high, 0, 1, SIMT_ACQUIRE) == 0;
            if (!got) simt_strel_u32(a->lock + low, 0);
        }
    }
    return hkv_took(t, o, got, HKV_HOLDS_BUCKETS);
}

/* Tries to own the entry o->entry: replaces its key by HD_KEY_LOCKED. */
SIMT_FN bool hkv_try_entry(simt_tile t, const hkv_args *a, hkv_one *o)
{
    bool got = false;
    HD_ASSERT(o->entry < hkv_capacity(&a->v), "an item claims an entry that the table lacks");
    if (t.rank == 0) got = simt_cas_u64(hkv_key_at(&a->v, o->entry), o->key, HD_KEY_LOCKED, SIMT_ACQUIRE) == o->key;
    return hkv_took(t, o, got, HKV_HOLDS_ENTRY);
}

/* Drops what the item holds. An entry gets its key back. */
SIMT_FN void hkv_let_go(simt_tile t, const hkv_args *a, hkv_one *o)
{
    if (o->holds == HKV_HOLDS_NOTHING) return;
    HKV_SYNC(t);
    if (t.rank == 0) {
        if (o->holds == HKV_HOLDS_ENTRY) simt_strel_u64(hkv_key_at(&a->v, o->entry), o->key);
        if (o->holds == HKV_HOLDS_BUCKETS && o->second != o->first) simt_strel_u32(a->lock + o->second, 0);
        if (o->holds == HKV_HOLDS_BUCKETS) simt_strel_u32(a->lock + o->first, 0);
    }
    o->holds = HKV_HOLDS_NOTHING;
}

#endif
