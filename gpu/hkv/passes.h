/* SPDX-License-Identifier: Apache-2.0
 *
 * passes.h - batches in which one key may come many times. Items that each want the entry of their key, or its bucket,
 * for themselves queue up, and where keys are drawn as they are in the world the queue of the commonest takes longer
 * than the whole batch. So an upsert that was not promised distinct keys is run in passes, each over the items that the
 * pass before it left:
 *
 *     present   the items whose key is there. Nobody comes or goes, so that items of one key overwrite each other, or
 *               write their scores side by side, and nobody queues
 *     absent    the items whose key is not. Of those that want the same key one brings it in, the others are left
 *     again     those, as in the first pass
 *     rest      those whose key has been evicted by then: one by one, under the locks of their buckets
 *
 * For policies whose new score does not depend on the old: else no item may be left out. The items of a batch may take
 * effect in any order, so in this one (contract.md). A batch goes through all passes a window at a time.
 */
#ifndef HKV_PASSES_H
#define HKV_PASSES_H

#include "gpu/hkv/item.h"

SIMT_FN bool hkv_passes_present(const hkv_args *a) { return hkv_is_present(a->pass); }

/* Its items came from the pass before. */
SIMT_FN bool hkv_passes_on(const hkv_args *a) { return a->pass > HKV_PRESENT; }

/* How many. */
SIMT_FN uint32_t hkv_passed(const hkv_args *a)
{
    return hkv_passes_on(a) ? simt_ld_u32(a->left_count + a->pass - HKV_ABSENT) : 0;
}

/* What pass p leaves lies in one of two halves, by turns. */
SIMT_FN uint32_t *hkv_left_by(const hkv_args *a, uint32_t p) { return a->left_item + (p % 2) * a->left_window; }

/* Where item first + n is in what the absent left. */
SIMT_FN uint32_t *hkv_left_place(const hkv_args *a, uint32_t n) { return a->left_item + 2 * a->left_window + n; }

/* The item at place k of the items of this pass; a->last: there is none. passed: how many there are. */
SIMT_FN uint64_t hkv_pass_item(const hkv_args *a, uint32_t passed, uint64_t k)
{
    if (!hkv_passes_on(a)) return a->first + k;
    return k < passed ? a->first + simt_ld_u32(hkv_left_by(a, a->pass - 1) + k) : a->last;
}

/* Whether the absent left item i. Places that nobody wrote are anything: only one that leads back to its item
 * counts. */
SIMT_FN bool hkv_absent_left(const hkv_args *a, uint64_t i)
{
    uint32_t n = (uint32_t)(i - a->first), place = simt_ld_u32(hkv_left_place(a, n));
    return place < hkv_passed(a) && simt_ld_u32(hkv_left_by(a, HKV_ABSENT) + place) == n;
}

/* The lanes' items that are left to the next pass. */
SIMT_FN void hkv_pass_leave(simt_tile w, const hkv_args *a, hkv_one *o)
{
    bool leaves = o->outcome == HKV_TO_NEXT;
    uint32_t who = simt_ballot(w, leaves), at = 0;
    if (!who) return;
    if (w.rank == 0) at = simt_add_u32(a->left_count + a->pass - HKV_PRESENT, simt_popc(who), SIMT_RELAXED);
    at = simt_shfl_u32(w, at, 0) + hkv_place_among(w, who);
    uint32_t n = (uint32_t)(o->i - a->first);
    if (leaves) simt_st_u32(hkv_left_by(a, a->pass) + at, n);
    if (leaves && a->pass == HKV_ABSENT) simt_st_u32(hkv_left_place(a, n), at);
    if (leaves) o->outcome = HKV_NO_ITEM;
    simt_join();
}

/* Counts that no launch of this pass looks at are 0 again: the first pass clears those of the next two, the last that
 * of the first. */
SIMT_FN void hkv_pass_clear(const hkv_args *a)
{
    if (simt_block() != 0 || simt_thread() != 0) return;
    if (a->pass == HKV_PRESENT) {
        simt_st_u32(a->left_count + 1, 0);
        simt_st_u32(a->left_count + 2, 0);
    }
    if (a->pass == HKV_REST) simt_st_u32(a->left_count, 0);
}

#endif
