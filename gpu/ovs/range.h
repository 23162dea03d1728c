/* SPDX-License-Identifier: Apache-2.0
 *
 * range.h - the kernels that resize tables with ranges (ref/ovs/range.h), a warp for each segment or task. They run
 * alone on the table. Which segments are split or merged is the host's choice.
 *
 *   count    How many keys each segment has, or each that a task is about.
 *   median   The first keys of the upper halves of segments that are to be split. Reads only.
 *   halve    The keys of upper halves move to the new segments, both are settled, and the directory is written.
 *   join     Copies the keys of segment `from` to its neighbour `to`, and settles that. If they do not fit, it takes
 *            them away again. `unjoin` takes them away again in any case.
 *   move     Segments move to homes that have become free, and the directory is written.
 *
 * The directory is written from the host's copy by the launch that makes it true: no launch can fail in between.
 */
#ifndef OVS_RANGE_H
#define OVS_RANGE_H

#include "gpu/ovs/resize.h"

/* The rows in use, from the host's copy to the device's, if the device has one. */
SIMT_FN void ovs_write_rows(const ovs_args *a)
{
    for (uint64_t r = gpu_thread(); r < a->rows; r += gpu_threads())
        simt_st_u64(a->v.row + r, simt_ld_u64(a->row_here + r));
}

SIMT_FN ovs_task ovs_task_at(const ovs_args *a, uint64_t j)
{
    const ovs_task *p = a->task + j;
    ovs_task t;
    t.from = simt_ld_u32(&p->from);
    t.to = simt_ld_u32(&p->to);
    t.keys = simt_ld_u32(&p->keys);
    t.first = simt_ld_u32(&p->first);
    t.last = simt_ld_u32(&p->last);
    t.wait = simt_ld_u32(&p->wait);
    t.waits = simt_ld_u32(&p->waits);
    t.done = 0;
    return t;
}

SIMT_FN void ovs_count_segments(const ovs_args *a)
{
    simt_tile w = simt_tile_of(32);
    for (uint64_t j = ovs_first_segment(a); j < a->b.last; j += ovs_segment_stride()) {
        uint64_t g = a->task ? simt_ld_u32(&a->task[j].from) : j;
        uint64_t n = ovs_count_keys(w, &a->v, ovs_segment_at(&a->v, g));
        if (w.rank == 0) simt_st_u32(a->keys + g, (uint32_t)n);
        simt_join();
    }
}

/* ---- Splits ---------------------------------------------------------------------------------- */

SIMT_FN uint64_t ovs_keys_below(simt_tile w, const ovs_view *v, uint64_t *segment, uint64_t bound)
{
    uint64_t n = 0;
    for (uint64_t s = w.rank; s < ovs_segment_slots(v); s += 32) {
        uint64_t word = simt_ldrlx_u64(segment + s);
        n += ovs_is_key(word) && ovs_key_of(word) < bound;
    }
    simt_join();
    return simt_reduce_add_u64(w, n);
}

/* As the reference does: half of the keys, rounded down, are below it; with fewer than two keys it is the middle. */
SIMT_FN uint64_t ovs_median(simt_tile w, const ovs_args *a, const ovs_task *t)
{
    const ovs_view *v = &a->v;
    uint64_t low = (uint64_t)t->first + 1, high = t->last, *segment = ovs_segment_at(v, t->from);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2, below = ovs_waits_below(t, a->wait, middle);
        if (t->keys >= 2) below += ovs_keys_below(w, v, segment, middle);
        if (below == t->keys / 2) return middle;
        if (below < t->keys / 2)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return low;
}

SIMT_FN void ovs_find_medians(const ovs_args *a)
{
    simt_tile w = simt_tile_of(32);
    for (uint64_t j = ovs_first_segment(a); j < a->b.last; j += ovs_segment_stride()) {
        ovs_task t = ovs_task_at(a, j);
        uint64_t first = ovs_median(w, a, &t);
        simt_sync_tile(w); /* all have read the task */
        if (w.rank == 0) simt_st_u32(&a->task[j].first, (uint32_t)first);
        simt_join();
    }
}

SIMT_FN void ovs_halve_segments(const ovs_args *a)
{
    const ovs_view *v = &a->v;
    simt_tile w = simt_tile_of(32);
    for (uint64_t j = ovs_first_segment(a); j < a->b.last; j += ovs_segment_stride()) {
        ovs_task t = ovs_task_at(a, j);
        uint64_t *from = ovs_segment_at(v, t.from), *to = ovs_segment_at(v, t.to);
        for (uint64_t s = w.rank; s < ovs_segment_slots(v); s += 32) {
            uint64_t word = simt_ldrlx_u64(from + s);
            bool goes = ovs_is_key(word) && ovs_key_of(word) >= t.first;
            simt_strlx_u64(to + s, goes ? word : ovs_vacant());
            if (goes) simt_strlx_u64(from + s, ovs_vacant());
        }
        simt_sync_tile(w);
        ovs_settle(w, v, t.from);
        ovs_settle(w, v, t.to);
    }
    ovs_write_rows(a);
}

/* ---- Merges and moves ------------------------------------------------------------------------ */

/* The directory is as before the merges. */
SIMT_FN void ovs_join_segments(const ovs_args *a)
{
    const ovs_view *v = &a->v;
    simt_tile w = simt_tile_of(32);
    for (uint64_t j = ovs_first_segment(a); j < a->b.last; j += ovs_segment_stride()) {
        ovs_task t = ovs_task_at(a, j);
        bool fits = ovs_copy_keys(w, v, ovs_segment_at(v, t.from), ovs_segment_at(v, t.to));
        if (fits)
            ovs_settle(w, v, t.to);
        else
            ovs_drop_copies(w, v, t.to);
        if (w.rank == 0) simt_st_u32(&a->task[j].done, fits);
        simt_join();
    }
}

SIMT_FN void ovs_unjoin_segments(const ovs_args *a)
{
    simt_tile w = simt_tile_of(32);
    for (uint64_t j = ovs_first_segment(a); j < a->b.last; j += ovs_segment_stride())
        ovs_drop_copies(w, &a->v, ovs_task_at(a, j).to);
}

SIMT_FN void ovs_move_segments(const ovs_args *a)
{
    const ovs_view *v = &a->v;
    simt_tile w = simt_tile_of(32);
    for (uint64_t j = ovs_first_segment(a); j < a->b.last; j += ovs_segment_stride()) {
        ovs_task t = ovs_task_at(a, j);
        uint64_t *from = ovs_segment_at(v, t.from), *to = ovs_segment_at(v, t.to), slots = ovs_segment_slots(v);
        for (uint64_t s = w.rank; s < slots; s += 32) {
            uint64_t word = simt_ldrlx_u64(from + s);
            simt_strlx_u64(to + s, word);
            ovs_renew_digest(v, t.to * slots + s, word);
        }
        simt_join();
    }
    ovs_write_rows(a);
}

/* Their entry points. */
#define OVS_KERNEL(number, entry, args, text)
#define OVS_RANGE_KERNEL(number, entry, args, text) SIMT_ENTRY(entry, args, text)
#include "gpu/ovs/kernels.inc"
#undef OVS_RANGE_KERNEL
#undef OVS_KERNEL

#endif
