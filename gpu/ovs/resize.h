/* SPDX-License-Identifier: Apache-2.0
 *
 * resize.h - the kernels of growing and shrinking, a warp for each segment, and the kernel that moves segments between
 * near and far memory. They run alone on the table.
 *
 *   split     Each key stays, or goes to the same slot of the new segment. Then both segments are settled.
 *   merge     Copies the keys of segment round + g to segment g. If they do not fit, it takes them away again, and says
 *             so. `unmerge` takes away the copies of a pair that is not to be merged, because a later one does not fit.
 *   settle    Keys move to the first free slots of their ways until no key has one. Then all free slots are fresh.
 */
#ifndef OVS_RESIZE_H
#define OVS_RESIZE_H

#include "gpu/ovs/steps.h"

SIMT_FN uint64_t ovs_first_segment(const ovs_args *a) { return a->b.first + gpu_thread() / 32; }
SIMT_FN uint64_t ovs_segment_stride(void) { return gpu_threads() / 32; }

/* Stores a word to the first free slot of the first `steps` buckets of a way in the segment; false: none is free. */
SIMT_FN bool ovs_put_early(simt_tile w, const ovs_view *v, uint64_t *segment, uint64_t h, uint64_t steps, uint64_t word)
{
    uint32_t who = 0;
    SIMT_ROLLED
    for (uint64_t step = 0; step < steps && !who; step += ovs_at_once(w)) {
        uint64_t mine = step + ovs_lane_bucket(w);
        uint64_t *slot = segment + ovs_step_in(v, h, mine < steps ? mine : step) * OVS_SLOTS + ovs_lane_slot(w);
        uint64_t there = simt_ldrlx_u64(slot);
        who = simt_ballot(w, mine < steps && ovs_is_free(there));
        if (who && w.rank == simt_ffs(who) - 1) simt_strlx_u64(slot, word);
        simt_join();
    }
    simt_sync_tile(w);
    return who != 0;
}

/* Moves displaced keys among 32 neighbouring slots, of which the lane has slot s, to earlier buckets. True: one moved.
 */
SIMT_FN bool ovs_pull(simt_tile w, const ovs_view *v, uint64_t *segment, uint64_t s)
{
    bool has = s < ovs_segment_slots(v), moved = false;
    uint64_t word = has ? simt_ldrlx_u64(segment + s) : ovs_vacant(), h = ovs_hash(v, ovs_key_of(word));
    uint64_t steps = ovs_step_of(v, h, s / OVS_SLOTS);
    uint32_t left = simt_ballot(w, ovs_is_key(word) && steps > 0);
    for (; left; left &= left - 1) {
        uint32_t who = simt_ffs(left) - 1;
        uint64_t its_h = simt_shfl_u64(w, h, who);
        uint64_t its_word = simt_shfl_u64(w, word, who);
        uint64_t its_steps = simt_shfl_u64(w, steps, who);
        if (!ovs_put_early(w, v, segment, its_h, its_steps, its_word)) continue;
        if (w.rank == who) simt_strlx_u64(segment + s, ovs_vacant());
        simt_sync_tile(w);
        moved = true;
    }
    return moved;
}

SIMT_FN void ovs_settle(simt_tile w, const ovs_view *v, uint64_t g)
{
    uint64_t *segment = ovs_segment_at(v, g);
    uint64_t slots = ovs_segment_slots(v);
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint64_t s = 0; s < slots; s += 32) moved = ovs_pull(w, v, segment, s + w.rank) || moved;
    }
    for (uint64_t s = w.rank; s < slots; s += 32)
        if (ovs_is_free(simt_ldrlx_u64(segment + s))) simt_strlx_u64(segment + s, ovs_fresh());
    simt_sync_tile(w);
    if (!ovs_digests_at(v, g)) return;
    for (uint64_t s = w.rank; s < slots; s += 32) ovs_renew_digest(v, g * slots + s, simt_ldrlx_u64(segment + s));
    simt_sync_tile(w);
}

SIMT_FN void ovs_settle_segments(const ovs_args *a)
{
    simt_tile w = simt_tile_of(32);
    for (uint64_t g = ovs_first_segment(a); g < a->b.last; g += ovs_segment_stride()) ovs_settle(w, &a->v, g);
}

/* ---- Growing --------------------------------------------------------------------------------- */

SIMT_FN void ovs_split_segments(const ovs_args *a)
{
    const ovs_view *v = &a->v;
    simt_tile w = simt_tile_of(32);
    for (uint64_t g = ovs_first_segment(a); g < a->b.last; g += ovs_segment_stride()) {
        uint64_t *from = ovs_segment_at(v, g), *to = ovs_segment_at(v, a->round + g);
        for (uint64_t s = w.rank; s < ovs_segment_slots(v); s += 32) {
            uint64_t word = simt_ldrlx_u64(from + s);
            bool key = ovs_is_key(word), goes = key && ovs_segment_of(v, ovs_hash(v, ovs_key_of(word))) != g;
            simt_strlx_u64(to + s, goes ? word : ovs_vacant());
            if (goes) simt_strlx_u64(from + s, ovs_vacant());
        }
        simt_sync_tile(w);
        ovs_settle(w, v, g);
        ovs_settle(w, v, a->round + g);
    }
}

/* ---- Shrinking ------------------------------------------------------------------------------- */

SIMT_FN uint64_t ovs_count_keys(simt_tile w, const ovs_view *v, uint64_t *segment)
{
    uint64_t n = 0;
    for (uint64_t s = w.rank; s < ovs_segment_slots(v); s += 32) n += ovs_is_key(simt_ldrlx_u64(segment + s));
    simt_join();
    return simt_reduce_add_u64(w, n);
}

/* False: a key found no slot. */
SIMT_FN bool ovs_copy_keys(simt_tile w, const ovs_view *v, uint64_t *from, uint64_t *to)
{
    uint64_t slots = ovs_segment_slots(v);
    for (uint64_t s = 0; s < slots; s += 32) {
        bool has = s + w.rank < slots;
        uint64_t word = has ? simt_ldrlx_u64(from + s + w.rank) : ovs_vacant();
        for (uint32_t left = simt_ballot(w, ovs_is_key(word)); left; left &= left - 1) {
            uint64_t key_word = simt_shfl_u64(w, word, simt_ffs(left) - 1), h = ovs_hash(v, ovs_key_of(key_word));
            if (!ovs_put_early(w, v, to, h, ovs_way(v), key_word)) return false;
        }
    }
    return true;
}

/* Segment g has no key of another segment then. */
SIMT_FN void ovs_drop_copies(simt_tile w, const ovs_view *v, uint64_t g)
{
    uint64_t *segment = ovs_segment_at(v, g);
    for (uint64_t s = w.rank; s < ovs_segment_slots(v); s += 32) {
        uint64_t word = simt_ldrlx_u64(segment + s);
        if (!ovs_is_key(word) || ovs_segment_of(v, ovs_hash(v, ovs_key_of(word))) == g) continue;
        simt_strlx_u64(segment + s, ovs_vacant());
        ovs_renew_digest(v, g * ovs_segment_slots(v) + s, ovs_vacant());
    }
    simt_join();
}

/* v is the table before it shrinks. */
SIMT_FN void ovs_merge_segments(const ovs_args *a)
{
    const ovs_view *v = &a->v;
    simt_tile w = simt_tile_of(32);
    for (uint64_t g = ovs_first_segment(a); g < a->b.last; g += ovs_segment_stride()) {
        uint64_t *to = ovs_segment_at(v, g), *from = ovs_segment_at(v, a->round + g);
        uint64_t keys = ovs_count_keys(w, v, to) + ovs_count_keys(w, v, from);
        if (ovs_may_merge(v, keys) && ovs_copy_keys(w, v, from, to)) continue;
        ovs_drop_copies(w, v, g);
        if (w.rank == 0) simt_max_u64(a->crowded, g + 1, SIMT_RELAXED);
        simt_join();
    }
}

SIMT_FN void ovs_unmerge_segments(const ovs_args *a)
{
    simt_tile w = simt_tile_of(32);
    for (uint64_t g = ovs_first_segment(a); g < a->b.last; g += ovs_segment_stride()) ovs_drop_copies(w, &a->v, g);
}

/* ---- Near and far ---------------------------------------------------------------------------- */

/* A thread per slot. */
SIMT_FN void ovs_move_words(const ovs_move_args *a)
{
    uint64_t slots = ovs_segment_slots(&a->from);
    for (uint64_t e = a->first * slots + gpu_thread(); e < a->last * slots; e += gpu_threads())
        simt_strlx_u64(ovs_at(&a->to, e), simt_ldrlx_u64(ovs_at(&a->from, e)));
}

#endif
