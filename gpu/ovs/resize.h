/* SPDX-License-Identifier: Apache-2.0
 *
 * resize.h - the kernels of growing and shrinking, a warp for each segment. They run alone on the table.
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

/* What a slot holds, on its way to another: its word, or its key word and its value word. */
typedef struct ovs_moved {
    uint64_t word, value; /* value: of pairs */
} ovs_moved;

SIMT_FN ovs_moved ovs_take_up(const ovs_view *v, uint64_t *slot)
{
    ovs_moved m;
    m.word = simt_ldrlx_u64(slot);
    m.value = v->pairs ? simt_ldrlx_u64(slot + OVS_PAIRS) : 0;
    return m;
}
SIMT_FN void ovs_put_down(const ovs_view *v, uint64_t *slot, ovs_moved m)
{
    simt_strlx_u64(slot, m.word);
    if (v->pairs) simt_strlx_u64(slot + OVS_PAIRS, m.value);
}
SIMT_FN ovs_moved ovs_moved_of(simt_tile w, const ovs_view *v, ovs_moved m, uint32_t lane)
{
    m.word = simt_shfl_u64(w, m.word, lane);
    if (v->pairs) m.value = simt_shfl_u64(w, m.value, lane);
    return m;
}

/* Puts it into the first free slot of the first `steps` buckets of a way in the segment; false: none is free. */
SIMT_FN bool ovs_put_early(simt_tile w, const ovs_view *v, uint64_t *segment, uint64_t h, uint64_t steps, ovs_moved m)
{
    uint32_t who = 0, bits = ovs_slot_bits(v);
    SIMT_ROLLED
    for (uint64_t step = 0; step < steps && !who; step += 32u >> bits) {
        uint64_t mine = step + (w.rank >> bits);
        uint64_t *slot =
            segment + ovs_step_in(v, h, mine < steps ? mine : step) * OVS_LINE_WORDS + ovs_slot_in(v, w.rank);
        uint64_t there = simt_ldrlx_u64(slot);
        who = simt_ballot(w, mine < steps && ovs_is_free_in(v, there));
        if (who && w.rank == simt_ffs(who) - 1) ovs_put_down(v, slot, m);
        simt_join();
    }
    simt_sync_tile(w);
    return who != 0;
}

/* Moves displaced keys among 32 neighbouring slots, of which the lane has slot s, to earlier buckets. True: one moved.
 */
SIMT_FN bool ovs_pull(simt_tile w, const ovs_view *v, uint64_t *segment, uint64_t s)
{
    bool moved = false;
    uint64_t *slot = segment + ovs_word_in(v, s);
    ovs_moved m = { ovs_vacant_in(v), 0 };
    if (s < ovs_segment_slots(v)) m = ovs_take_up(v, slot);
    simt_join();
    uint64_t h = ovs_hash(v, ovs_key_in(v, m.word)), steps = ovs_step_of(v, h, ovs_bucket_of(v, s));
    uint32_t left = simt_ballot(w, ovs_is_key_in(v, m.word) && steps > 0);
    for (; left; left &= left - 1) {
        uint32_t who = simt_ffs(left) - 1;
        uint64_t its_h = simt_shfl_u64(w, h, who);
        ovs_moved its = ovs_moved_of(w, v, m, who);
        uint64_t its_steps = simt_shfl_u64(w, steps, who);
        if (!ovs_put_early(w, v, segment, its_h, its_steps, its)) continue;
        if (w.rank == who) simt_strlx_u64(slot, ovs_vacant_in(v));
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
    for (uint64_t s = w.rank; s < slots; s += 32) {
        uint64_t *slot = segment + ovs_word_in(v, s);
        if (ovs_is_free_in(v, simt_ldrlx_u64(slot))) simt_strlx_u64(slot, ovs_fresh_in(v));
    }
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
            uint64_t at = ovs_word_in(v, s);
            ovs_moved m = ovs_take_up(v, from + at);
            bool key = ovs_is_key_in(v, m.word),
                 goes = key && ovs_segment_of(v, ovs_hash(v, ovs_key_in(v, m.word))) != g;
            if (!goes) m.word = ovs_vacant_in(v);
            ovs_put_down(v, to + at, m);
            if (goes) simt_strlx_u64(from + at, ovs_vacant_in(v));
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
    for (uint64_t s = w.rank; s < ovs_segment_slots(v); s += 32)
        n += ovs_is_key_in(v, simt_ldrlx_u64(segment + ovs_word_in(v, s)));
    simt_join();
    return simt_reduce_add_u64(w, n);
}

/* False: a key found no slot. */
SIMT_FN bool ovs_copy_keys(simt_tile w, const ovs_view *v, uint64_t *from, uint64_t *to)
{
    uint64_t slots = ovs_segment_slots(v);
    for (uint64_t s = 0; s < slots; s += 32) {
        ovs_moved m = { ovs_vacant_in(v), 0 };
        if (s + w.rank < slots) m = ovs_take_up(v, from + ovs_word_in(v, s + w.rank));
        simt_join();
        for (uint32_t left = simt_ballot(w, ovs_is_key_in(v, m.word)); left; left &= left - 1) {
            ovs_moved its = ovs_moved_of(w, v, m, simt_ffs(left) - 1);
            if (!ovs_put_early(w, v, to, ovs_hash(v, ovs_key_in(v, its.word)), ovs_way(v), its)) return false;
        }
    }
    return true;
}

/* Segment g has no key of another segment then. */
SIMT_FN void ovs_drop_copies(simt_tile w, const ovs_view *v, uint64_t g)
{
    uint64_t *segment = ovs_segment_at(v, g);
    for (uint64_t s = w.rank; s < ovs_segment_slots(v); s += 32) {
        uint64_t *slot = segment + ovs_word_in(v, s), word = simt_ldrlx_u64(slot);
        if (!ovs_is_key_in(v, word) || ovs_segment_of(v, ovs_hash(v, ovs_key_in(v, word))) == g) continue;
        simt_strlx_u64(slot, ovs_vacant_in(v));
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

#endif
