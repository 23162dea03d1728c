/* SPDX-License-Identifier: Apache-2.0
 *
 * direct.h - lookups of few keys, with the least latency. A warp reads all keys of a bucket at once and compares them.
 * It reads no digests. So only three loads wait for one another: the caller's key, the keys of the bucket, the value.
 * A bucket of 128 pairs has 2 KiB, sixteen times what `coalesced` reads of it. With many keys this costs more than the
 * latency.
 *
 * Differs: HKV has no such kernel.
 */
#ifndef HKV_DIRECT_H
#define HKV_DIRECT_H

#include "gpu/hkv/kernels.h"

enum { HKV_DIRECT_KEYS = 4 /* per lane and load; a warp covers the 128 keys of a usual bucket */ };

/* The slot of `key` in bucket b; a->v.slots: absent. Empty slots have a reserved key, which no item looks up. */
SIMT_FN uint32_t hkv_direct_slot(simt_tile w, const hkv_args *a, uint64_t b, uint64_t key)
{
    const hkv_view *v = &a->v;
    const uint64_t *keys = hkv_key_at(v, hkv_entry(v, b, 0));
    for (uint32_t begin = 0; begin < v->slots; begin += 32 * HKV_DIRECT_KEYS) {
        uint64_t there[HKV_DIRECT_KEYS];
        uint32_t mine = v->slots;
        SIMT_UNROLL
        for (uint32_t k = 0; k < HKV_DIRECT_KEYS; k++) {
            uint32_t slot = begin + 32 * k + w.rank;
            there[k] = slot < v->slots ? simt_ld_u64(keys + slot * v->step) : HD_KEY_EMPTY;
        }
        SIMT_UNROLL
        for (uint32_t k = 0; k < HKV_DIRECT_KEYS; k++)
            if (there[k] == key) mine = begin + 32 * k + w.rank;
        simt_join();
        uint32_t who = simt_ballot(w, mine < v->slots);
        if (who) return simt_shfl_u32(w, mine, simt_ffs(who) - 1);
    }
    return v->slots;
}

SIMT_FN void hkv_direct_search(simt_tile w, const hkv_args *a, hkv_one *o)
{
    const hkv_view *v = &a->v;
    uint64_t b = o->first;
    uint32_t slot = hkv_direct_slot(w, a, b, o->key);
    if (slot == v->slots && v->dual) {
        b = o->second;
        slot = hkv_direct_slot(w, a, b, o->key);
    }
    o->looked = true;
    if (slot < v->slots) o->entry = hkv_entry(v, b, slot);
}

/* Copies the value by the widest access that both addresses allow. The loops are rolled: code that runs once costs more
 * to load than to run. */
SIMT_FN void hkv_direct_copy(simt_tile w, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    uint32_t low = (uint32_t)((uintptr_t)to | (uintptr_t)from | bytes);
    if (low % 16 == 0) {
        SIMT_ROLLED
        for (uint32_t at = 16 * w.rank; at < bytes; at += 16 * w.size)
            simt_st_v4((simt_v4 *)(void *)(to + at), simt_ld_v4((const simt_v4 *)(const void *)(from + at)));
    } else if (low % 4 == 0) {
        SIMT_ROLLED
        for (uint32_t at = 4 * w.rank; at < bytes; at += 4 * w.size)
            simt_st_u32((uint32_t *)(void *)(to + at), simt_ld_u32((const uint32_t *)(const void *)(from + at)));
    } else {
        SIMT_ROLLED
        for (uint32_t at = w.rank; at < bytes; at += w.size) simt_st_u8(to + at, simt_ld_u8(from + at));
    }
    simt_join();
}

SIMT_FN void hkv_direct_lookup(const hkv_args *a)
{
    simt_tile w = simt_tile_of(32);
    SIMT_ROLLED
    for (uint64_t i = a->first + hkv_warp_number(); i < a->last; i += hkv_warps()) {
        hkv_one o = hkv_begin(a, i);
        if (o.outcome == HKV_UNDECIDED) {
            hkv_direct_search(w, a, &o);
            hkv_decide_lookup(w, a, &o);
        }
        if (o.out) hkv_direct_copy(w, o.out, hkv_value(&a->v, o.entry), a->v.value_bytes);
        hkv_end(w, a, &o);
        if (w.rank == o.outcome) simt_add_u64(a->tally + w.rank, 1, SIMT_RELAXED);
    }
}

SIMT_ENTRY(hkv_kernel_direct_lookup, hkv_args, hkv_direct_lookup)

static const hd_variant hkv_variant_direct = {
    .name = "direct",
    .row = { { HKV_LOOKUP, hkv_kernel_direct_lookup, 32, 128, hkv_fits_all, HD_ORDER,
               HD_WHAT("lookup: a warp per key reads all keys of the bucket at once; for few keys") } },
    .ran = HKV_RAN("direct"),
};

#endif

HKV_LISTED(hkv_variant_direct)
