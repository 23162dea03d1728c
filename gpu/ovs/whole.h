/* SPDX-License-Identifier: Apache-2.0
 *
 * whole.h - kernels over all slots, and lists, a thread per slot. They run alone on the table, or only read it.
 */
#ifndef OVS_WHOLE_H
#define OVS_WHOLE_H

#include "gpu/ovs/steps.h"

SIMT_FN void ovs_sweep(const ovs_args *a)
{
    uint64_t n = 0;
    for (uint64_t e = a->b.first + gpu_thread(); e < a->b.last; e += gpu_threads()) {
        uint64_t *slot = ovs_at(&a->v, e), word = simt_ldrlx_u64(slot);
        if (!gpu_holds(&a->b, OVS_HALF, (const uint8_t *)slot, word)) continue;
        if (a->b.op == HD_OP_ERASE_IF) simt_strlx_u64(slot, ovs_vacant());
        n++;
    }
    simt_join();
    if (a->b.count) gpu_add_up(a->b.count, n);
}

SIMT_FN void ovs_clear_words(const ovs_args *a)
{
    for (uint64_t e = a->b.first + gpu_thread(); e < a->b.last; e += gpu_threads()) {
        simt_strlx_u64(ovs_at(&a->v, e), ovs_fresh());
        ovs_renew_digest(&a->v, e, ovs_fresh());
    }
}

/* Whether item, or slot, x lists, and the word of the slot. */
SIMT_FN bool ovs_lists(const ovs_args *a, uint64_t x, uint64_t *word)
{
    *word = 0;
    if (x >= a->b.last) return false;
    if (a->b.stage_flag) return simt_ld_u8(a->b.stage_flag + (x - a->b.first)) != 0;
    uint64_t *slot = ovs_at(&a->v, x);
    *word = simt_ldrlx_u64(slot);
    return gpu_holds(&a->b, OVS_HALF, (const uint8_t *)slot, *word);
}

SIMT_FN void ovs_list(const ovs_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t word;
    for (gpu_list l = gpu_list_begin(w, &a->b); gpu_list_goes_on(&l);) {
        bool mine = ovs_lists(a, l.x + w.rank, &word);
        simt_join();
        gpu_list_next(w, &a->b, OVS_HALF, mine, word, &l);
    }
}

#endif
