/* SPDX-License-Identifier: Apache-2.0
 *
 * pins.h - pins: a word per entry, its holder (ref/hkv/layout.h), and a count of the entries that have one. Kernels
 * read the count first, so a table without pins pays one load per launch or item, which is cached, and nothing per
 * entry.
 *
 * lock_keys pins by one CAS of the word from 0 to the holder; unlock_keys unpins by one CAS back. They are inserters,
 * so they run alone, and no key moves meanwhile. A find_or_insert with a holder pins by a store: its items hold their
 * buckets. In all other launches holders do not change.
 */
#ifndef HKV_PINS_H
#define HKV_PINS_H

#include "base/op.h"
#include "gpu/hkv/args.h"
#include "simt/simt.h"

/* The holder that items of the batch pin by, or unpin; 0: they change no pins. */
SIMT_FN uint64_t hkv_holder(const hkv_args *a) { return HD_OP_IN(a->op, HD_OPS_PIN) ? a->holder : 0; }

SIMT_FN bool hkv_has_pins(const hkv_args *a) { return hkv_holder(a) || simt_ld_u64(&a->pins->count) != 0; }

/* The plane of holders; NULL: there is none. A captured launch may be older than the plane, and has NULL in its
 * argument. */
SIMT_FN uint64_t *hkv_holders(const hkv_args *a)
{
    if (a->v.holder) return a->v.holder;
    return (uint64_t *)(uintptr_t)simt_ld_u64(&a->pins->plane);
}

/* Whether entry e is pinned, in a table that has pins. */
SIMT_FN bool hkv_has_holder(const hkv_args *a, uint64_t e) { return simt_ld_u64(hkv_holders(a) + e) != 0; }

/* Whether items of the batch must leave entry e as it is. A holder may use what it has pinned itself. */
SIMT_FN bool hkv_is_pinned(const hkv_args *a, uint64_t e)
{
    if (!hkv_has_pins(a)) return false;
    uint64_t holder = simt_ld_u64(hkv_holders(a) + e);
    return holder != 0 && holder != hkv_holder(a);
}

/* Counts n entries that were pinned, or unpinned. */
SIMT_FN void hkv_pins_add(const hkv_args *a, uint64_t n)
{
    simt_add_u64(&a->pins->count, a->op == HD_OP_UNLOCK_KEYS ? 0 - n : n, SIMT_RELAXED);
    if (a->v.holder) simt_strlx_u64(&a->pins->plane, (uint64_t)(uintptr_t)a->v.holder);
}

/* The same of the lanes with `changed`: one addition per warp. */
SIMT_FN void hkv_pins_count(const hkv_args *a, bool changed)
{
    simt_tile w = simt_tile_of(32);
    uint32_t n = simt_popc(simt_ballot(w, changed));
    if (n && w.rank == 0) hkv_pins_add(a, n);
}

#endif
