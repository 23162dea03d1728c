/* SPDX-License-Identifier: Apache-2.0
 *
 * range.h - how a table with ranges of keys is resized: rounds of splits, or of merges and moves. This is what the
 * reference and the backends share: which segments a round takes, and the directory after it. Keys are moved elsewhere:
 * by resize.c, or by kernels (gpu/ovs/range.h).
 *
 *   split   A round splits the segments that have more than half as many keys as the fullest, the fullest first. Where
 *           no segment has two keys, it takes the widest ranges. The new segments get the next numbers.
 *   room    For keys that wait for room, because no slot of their ways is free. A first round splits all segments that
 *           such keys belong to. Further rounds split those for which keys of theirs and keys that wait would fill more
 *           than three quarters. Medians are those of both: so keys that come in ascending order do not all go to the
 *           last half.
 *   merge   A round merges neighbours, in the order of keys, whose keys fill nine tenths of a segment at most: those
 *           whose sum is near the least. The numbers that become free go to the segments with the last numbers, which
 *           move.
 *
 * No segment is in two tasks of a round.
 */
#ifndef HD_OVS_RANGE_H
#define HD_OVS_RANGE_H

#include "base/design.h"
#include "ref/ovs/layout.h"

/* Arrays of the reference's plan; `waiting` is for so many keys. */
hd_status ovs_plan_take(ovs_plan *p, const hd_seams *s, uint64_t rows, uint64_t waiting);
void ovs_plan_give(ovs_plan *p, const hd_seams *s);
/* One to resize a table to so many segments; nothing without ranges. */
hd_status ovs_plan_for_size(ovs_plan *p, const ovs_view *v, const hd_seams *s, uint64_t segments);

/* Rows that are enough for a plan of room for n keys. */
uint64_t ovs_rows_for_room(const ovs_view *v, uint64_t n);
/* The keys that wait: p->wait has room for n. */
void ovs_plan_wait(ovs_plan *p, const uint64_t *key, uint64_t n);
/* A round of splits for keys that wait; p->tasks 0: there is no more to do. first: p->keys is not known yet. When it
 * is, ovs_plan_weigh adds those that wait, and returns how many segments the table will have, at most. */
void ovs_plan_room(const ovs_view *v, ovs_plan *p, bool first);
uint64_t ovs_plan_weigh(const ovs_view *v, ovs_plan *p);

/* So many segments, with ranges of equal width; and so many segments, as their numbers tell, whatever is in rows. */
void ovs_cut_evenly(ovs_view *v);
void ovs_set_segments(ovs_view *v, uint64_t segments);

/* The directory of a table whose segments have these keys (hd_backend.learn). Between the keys of two segments it is
 * free where a range ends: segments without a key get ranges there, in proportion to the width, and else the middle is
 * the border. So equal keys give equal directories. */
hd_status ovs_learn(ovs_view *v, const hd_seams *s, const hd_keys *keys);

/* A round of splits, at most `most`; p->keys is known. When the tasks have their first keys: the directory then. */
void ovs_plan_splits(const ovs_view *v, ovs_plan *p, uint64_t most);
void ovs_rows_split(ovs_view *v, ovs_plan *p);

/* A round of merges, at most `most`; p->tasks 0: no pair fits. When the tasks know whether they are done: the directory
 * after them, and the moves that are left to do. A pair that is not done is not taken again. */
void ovs_plan_merges(const ovs_view *v, ovs_plan *p, uint64_t most);
void ovs_rows_merge(ovs_view *v, ovs_plan *p);

/* The directory as before the round, with so many segments. */
void ovs_rows_undo(ovs_view *v, const ovs_plan *p, uint64_t segments);

#endif
