/* SPDX-License-Identifier: Apache-2.0
 *
 * order.h - the items of a batch in the order of the addresses that they access: what is sorted (gpu/sort.h).
 */
#ifndef OVS_ORDER_H
#define OVS_ORDER_H

#include "gpu/ovs/copies.h"
#include "gpu/ovs/digest.h"
#include "gpu/sort.h"

/* Whether the digests on the way of a key with hash h say that it is absent. */
SIMT_FN bool ovs_ruled_out(const ovs_view *v, uint64_t h)
{
    uint8_t *digests = ovs_digests_at(v, ovs_segment_of(v, h));
    if (!digests) return false;
    SIMT_ROLLED
    for (uint32_t step = 0; step < ovs_way(v); step++) {
        ovs_digests d = ovs_load_digests(digests, ovs_step_in(v, h, step), false);
        if (ovs_has_digest(&d, ovs_digest_of(h))) return false;
        if (ovs_has_digest(&d, 0)) break;
    }
    return true;
}

/* The outcome of item i, which reads no bucket. */
SIMT_FN void ovs_settle_item(const ovs_args *a, uint64_t i, uint32_t outcome, uint64_t value)
{
    simt_started(i);
    simt_ticket(i, outcome, 0, OVS_NOWHERE);
    gpu_deliver(&a->b, OVS_HALF, i, a->b.op, outcome, value, (const uint8_t *)0, false);
}

/* The bucket where the way of item i's key begins; of a reserved key, that behind the last. `settles`: items whose keys
 * digests rule out are MISS now, and no warp owns their segment, which is one further. Of batches that leave settled
 * items out, those whose keys have copies are HIT now. */
SIMT_FN uint32_t ovs_code(const ovs_args *a, uint64_t i, bool settles, uint32_t *outcome)
{
    uint64_t key = simt_ld_u64(a->b.key + i), h = ovs_hash(&a->v, key), copy = 0;
    if (key >= word_keys(ovs_half(&a->v))) return (uint32_t)ovs_buckets(&a->v);
    if (a->kept && ovs_may_copy(&a->v, h)) copy = ovs_copy_of(&a->v, h, key);
    if (copy == 0 && (!settles || !ovs_ruled_out(&a->v, h))) return (uint32_t)ovs_way_bucket(&a->v, h, 0);
    *outcome = copy ? HD_HIT : HD_MISS;
    ovs_settle_item(a, i, *outcome, word_value_of(OVS_HALF, ~copy));
    return (uint32_t)(ovs_buckets(&a->v) + ovs_lines(&a->v));
}

/* Where the words of the lanes that keep their items go: one after another, in no order of warps. */
SIMT_FN uint64_t ovs_keep(simt_tile w, const ovs_args *a, bool keeps)
{
    uint32_t lanes = simt_ballot(w, keeps);
    uint64_t at = 0;
    if (w.rank == 0 && lanes) at = simt_add_u64(a->kept, simt_popc(lanes), SIMT_RELAXED);
    simt_join();
    return simt_shfl_u64(w, at, 0) + simt_popc(lanes & ((1u << w.rank) - 1));
}

/* Item first + i is word i of `sorted`, in front of the sort, unless only those that are kept have words. No word is
 * taken yet. */
SIMT_FN void ovs_lay_codes(const ovs_args *a)
{
    simt_tile w = simt_tile_of(32);
    bool settles = (a->v.guided || a->kept) && !gpu_op_inserts(a->b.op);
    uint64_t n = a->b.last - a->b.first, counted = 0;
    if (gpu_thread() == 0) simt_st_u64(a->next, 0);
    if (gpu_thread() == 0 && a->kept) simt_st_u64(a->kept_next, 0);
    simt_join();
    for (uint64_t i = gpu_thread(); i - w.rank < n; i += gpu_threads()) {
        uint32_t outcome = GPU_UNDECIDED;
        uint64_t word = 0, at = i;
        if (i < n) word = (uint64_t)(ovs_code(a, a->b.first + i, settles, &outcome) >> a->code_shift) << 32 | i;
        simt_join();
        bool keeps = i < n && (!a->kept || outcome == GPU_UNDECIDED);
        if (a->kept) at = ovs_keep(w, a, keeps);
        if (keeps) simt_st_u64(a->sorted + at, word);
        simt_join();
        if (settles) gpu_count_lanes(w, &counted, outcome);
    }
    simt_join();
    gpu_tally_lanes(w, &a->b, counted);
}

#endif
