/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.h - kernels over all slots, and lists, a thread per slot. They run alone on the table, or only read it.
 */
#ifndef OVS_SCAN_H
#define OVS_SCAN_H

#include "gpu/ovs/steps.h"

/* Where the value of the slot at `slot` is. */
SIMT_FN uint64_t *ovs_value_word(const ovs_args *a, uint64_t *slot) { return slot + OVS_PAIRS * a->v.pairs; }

/* Whether that slot, whose word or key word was seen, has an entry for which the predicate is true. */
SIMT_FN bool ovs_holds(const ovs_args *a, uint64_t *slot, uint64_t word)
{
    const uint8_t *value = (const uint8_t *)ovs_value_word(a, slot);
    return ovs_is_key_in(&a->v, word) && gpu_holds_entry(&a->b, ovs_key_in(&a->v, word), value, ovs_half(&a->v) / 8);
}

SIMT_FN void ovs_sweep_slot(const ovs_args *a, uint64_t *slot)
{
    uint64_t key = ovs_key_in(&a->v, simt_ldrlx_u64(slot));
    ovs_lose_copies(&a->v, ovs_hash(&a->v, key), key);
    simt_strlx_u64(slot, ovs_vacant_in(&a->v));
}

SIMT_FN void ovs_sweep(const ovs_args *a)
{
    uint64_t n = 0;
    for (uint64_t e = a->b.first + gpu_thread(); e < a->b.last; e += gpu_threads()) {
        uint64_t *slot = ovs_at(&a->v, e);
        if (!ovs_holds(a, slot, simt_ldrlx_u64(slot))) continue;
        if (a->b.op == HD_OP_ERASE_IF) ovs_sweep_slot(a, slot);
        n++;
    }
    simt_join();
    if (a->b.count) gpu_add_up(a->b.count, n);
}

SIMT_FN void ovs_clear_words(const ovs_args *a)
{
    for (uint64_t e = a->b.first + gpu_thread(); e < a->b.last; e += gpu_threads()) {
        simt_strlx_u64(ovs_at(&a->v, e), ovs_fresh_in(&a->v));
        ovs_renew_digest(&a->v, e, ovs_fresh());
    }
    for (uint64_t i = gpu_thread(); i < ovs_copy_words(&a->v); i += gpu_threads()) simt_strlx_u64(a->v.copy + i, 0);
}

/* Whether item, or slot, x lists, and the key and the value of the slot. */
SIMT_FN bool ovs_lists(const ovs_args *a, uint64_t x, uint64_t *key, uint64_t *value)
{
    *key = *value = 0;
    if (x >= a->b.last) return false;
    if (a->b.stage_flag) return simt_ld_u8(a->b.stage_flag + (x - a->b.first)) != 0;
    uint64_t *slot = ovs_at(&a->v, x);
    uint64_t word = simt_ldrlx_u64(slot);
    if (!ovs_holds(a, slot, word)) return false;
    *key = ovs_key_in(&a->v, word);
    *value = a->v.pairs ? simt_ldrlx_u64(ovs_value_word(a, slot)) : word_value_of(OVS_HALF, word);
    return true;
}

SIMT_FN void ovs_list(const ovs_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t key, value;
    for (gpu_list l = gpu_list_begin(w, &a->b); gpu_list_goes_on(&l);) {
        bool mine = ovs_lists(a, l.x + w.rank, &key, &value);
        simt_join();
        gpu_list_next_entry(w, &a->b, mine, key, value, ovs_half(&a->v) / 8, &l);
    }
}

#endif
