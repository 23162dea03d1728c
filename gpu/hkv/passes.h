/* SPDX-License-Identifier: Apache-2.0
 *
 * passes.h - upserts in which a key may come many times. Items of one key would queue for its entry or its bucket. With
 * skewed keys the queue of the most frequent key takes longer than the whole batch. So a batch that does not promise
 * distinct keys runs in four passes. Each pass is a launch over the items that the pass before left:
 *
 *     pass      handles           leaves            conflicts of items of one key
 *     present   present keys      absent keys       none: no key comes or goes, so items overwrite each other
 *     absent    absent keys       present keys      one item inserts the key; the pass leaves the others
 *     again     present keys      absent keys       as in `present`
 *     rest      all items         nothing           items of evicted keys; each runs under its bucket locks
 *
 * The policy must not read the old score (HD_ORDER_FREE). Then an item that was overwritten needs no effect of its own.
 * The items of a batch may take effect in any order, so the order of the passes is allowed (doc/contract.md). A window
 * of items goes through all passes before the next window begins.
 */
#ifndef HKV_PASSES_H
#define HKV_PASSES_H

#include "gpu/hkv/item.h"

SIMT_FN bool hkv_passes_present(const hkv_args *a) { return hkv_is_present(a->pass); }

/* True: the items of this pass are those that the pass before left. */
SIMT_FN bool hkv_passes_on(const hkv_args *a) { return a->pass > HKV_PRESENT; }

/* How many items the pass before left. */
SIMT_FN uint32_t hkv_passed(const hkv_args *a)
{
    return hkv_passes_on(a) ? simt_ld_u32(a->left_count + a->pass - HKV_ABSENT) : 0;
}

/* The list of items that pass p leaves. Two lists take turns. */
SIMT_FN uint32_t *hkv_left_by(const hkv_args *a, uint32_t p) { return a->left_item + (p % 2) * a->left_window; }

/* The position of item first + n in the list that pass `absent` left; any number if it is not in it. */
SIMT_FN uint32_t *hkv_left_place(const hkv_args *a, uint32_t n) { return a->left_item + 2 * a->left_window + n; }

/* Item k of this pass; a->last: there is none. passed: how many items the pass before left. */
SIMT_FN uint64_t hkv_pass_item(const hkv_args *a, uint32_t passed, uint64_t k)
{
    if (!hkv_passes_on(a)) return a->first + k;
    return k < passed ? a->first + simt_ld_u32(hkv_left_by(a, a->pass - 1) + k) : a->last;
}

/* True: pass `absent` left item i. A position may be stale, so it counts only if the list has the item there. */
SIMT_FN bool hkv_absent_left(const hkv_args *a, uint64_t i)
{
    uint32_t n = (uint32_t)(i - a->first), place = simt_ld_u32(hkv_left_place(a, n));
    return place < hkv_passed(a) && simt_ld_u32(hkv_left_by(a, HKV_ABSENT) + place) == n;
}

/* Appends the items of the lanes with HKV_TO_NEXT to the list of this pass. The lanes are then free. */
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

/* Clears counts that this pass does not read: the first pass clears those of the two passes after it, the last pass
 * clears that of the first. */
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
