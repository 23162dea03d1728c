/* SPDX-License-Identifier: Apache-2.0
 *
 * range.h - how a table with ranges of keys is resized: rounds of splits, or of merges and moves. This is what the
 * reference and the backends share: which segments a round takes, and the directory after it. Keys are moved elsewhere:
 * by resize.c, or by kernels (gpu/ovs/range.h).
 *
 *   split   A round splits the segments that have more than half as many keys as the fullest, the fullest first. Where no
 *           segment has two keys, it takes the widest ranges. The new segments get the next numbers.
 *   merge   A round merges neighbours, in the order of keys, whose keys fill nine tenths of a segment at most: those whose
 *           sum is near the least. The numbers that become free go to the segments with the last numbers, which move.
 *
 * No segment is in two tasks of a round.
 */
#ifndef HD_OVS_RANGE_H
#define HD_OVS_RANGE_H

#include "base/seam.h"
#include "ref/ovs/layout.h"

typedef struct ovs_plan {
    uint32_t *keys; /* (rows) of each segment */
    uint64_t *was;  /* (rows) the directory before the round */
    ovs_task *task; /* (rows) the round's splits, or its merges and then its moves; splits and merges in the order of
                       keys */
    uint64_t tasks, moves;
    uint64_t rows; /* as many as the larger of the two tables has */
} ovs_plan;

/* Arrays of the reference's plan. */
hd_status ovs_plan_take(ovs_plan *p, const hd_seams *s, uint64_t rows);
void ovs_plan_give(ovs_plan *p, const hd_seams *s);

/* So many segments, with ranges of equal width; and so many segments, as their numbers tell, whatever is in rows. */
void ovs_cut_evenly(ovs_view *v);
void ovs_set_segments(ovs_view *v, uint64_t segments);

/* A round of splits, at most `most`; p->keys is known. When the tasks have their first keys: the directory after them. */
void ovs_plan_splits(const ovs_view *v, ovs_plan *p, uint64_t most);
void ovs_rows_split(ovs_view *v, ovs_plan *p);

/* A round of merges, at most `most`; p->tasks 0: no pair fits. When the tasks know whether they are done: the directory
 * after them, and the moves that are left to do. A pair that is not done is not taken again. */
void ovs_plan_merges(const ovs_view *v, ovs_plan *p, uint64_t most);
void ovs_rows_merge(ovs_view *v, ovs_plan *p);

/* The directory as before the round, with so many segments. */
void ovs_rows_undo(ovs_view *v, const ovs_plan *p, uint64_t segments);

#endif
