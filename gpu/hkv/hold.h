/* SPDX-License-Identifier: Apache-2.0
 *
 * hold.h - taking hold of what must not change meanwhile, and letting go. Each try is one attempt. An item waits for no
 * lock while it has hold of something, and takes the locks of two buckets in ascending order; who holds an entry waits
 * for nobody, so that coalesced may keep its bucket while it waits for one.
 */
#ifndef HKV_HOLD_H
#define HKV_HOLD_H

#include "gpu/hkv/item.h"

/* Its bucket locks; pairs with the releases in hkv_let_go. */
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
    got = HKV_FROM0(t, got);
    if (!got) return false;
    HKV_SYNC(t);
    o->holds = HKV_HOLDS_BUCKETS;
    return true;
}

/* One entry, of an updater; pairs with the release in hkv_let_go. */
SIMT_FN bool hkv_try_entry(simt_tile t, const hkv_args *a, hkv_one *o)
{
    bool got = false;
    if (t.rank == 0) got = simt_cas_u64(hkv_key_at(&a->v, o->entry), o->key, HD_KEY_LOCKED, SIMT_ACQUIRE) == o->key;
    got = HKV_FROM0(t, got);
    if (!got) return false;
    HKV_SYNC(t);
    o->holds = HKV_HOLDS_ENTRY;
    return true;
}

SIMT_FN bool hkv_try_pins(simt_tile t, const hkv_args *a, hkv_one *o)
{
    bool got = false;
    if (t.rank == 0) got = simt_cas_u32(a->pin_lock, 0, 1, SIMT_ACQUIRE) == 0;
    got = HKV_FROM0(t, got);
    if (!got) return false;
    HKV_SYNC(t);
    o->holds = HKV_HOLDS_PINS;
    return true;
}

SIMT_FN void hkv_let_go(simt_tile t, const hkv_args *a, hkv_one *o)
{
    if (o->holds == HKV_HOLDS_NOTHING) return;
    HKV_SYNC(t);
    if (t.rank == 0) {
        if (o->holds == HKV_HOLDS_ENTRY) simt_strel_u64(hkv_key_at(&a->v, o->entry), o->key);
        if (o->holds == HKV_HOLDS_PINS) simt_strel_u32(a->pin_lock, 0);
        if (o->holds == HKV_HOLDS_BUCKETS && o->second != o->first) simt_strel_u32(a->lock + o->second, 0);
        if (o->holds == HKV_HOLDS_BUCKETS) simt_strel_u32(a->lock + o->first, 0);
    }
    o->holds = HKV_HOLDS_NOTHING;
}

#endif
