/* SPDX-License-Identifier: Apache-2.0
 *
 * segments - the only variant: its kernels, and those that its batches share. Readers and updaters take a thread per
 * key; batches that insert and erase are sorted, and a block takes a segment (args.h).
 */
#ifndef SL_SEGMENTS_H
#define SL_SEGMENTS_H

#include "concurrency/word.h"
#include "gpu/sl/carry.h"
#include "gpu/sl/check.h"
#include "gpu/sl/far.h"
#include "gpu/sl/flip.h"
#include "gpu/sl/lines.h"
#include "gpu/sl/look.h"
#include "gpu/sl/variant.h"
#include "gpu/sl/whole.h"

SIMT_ENTRY(sl_kernel_look, sl_args, sl_look)
SIMT_ENTRY(sl_kernel_range, sl_args, sl_range)
SIMT_ENTRY(sl_kernel_ends, sl_args, sl_ends)
SIMT_ENTRY(sl_kernel_update, sl_args, sl_update)
SIMT_ENTRY(sl_kernel_apply, sl_args, sl_apply)
SIMT_ENTRY(sl_kernel_sweep, sl_args, sl_sweep)
SIMT_ENTRY(sl_kernel_export, sl_args, sl_list)
SIMT_ENTRY(sl_kernel_clear, sl_args, sl_clear_homes)

/* The same of tables with far segments. */
SIMT_ENTRY(sl_kernel_look_far, sl_args, sl_look_far)
SIMT_ENTRY(sl_kernel_range_far, sl_args, sl_range_far)
SIMT_ENTRY(sl_kernel_update_far, sl_args, sl_update_far)
SIMT_ENTRY(sl_kernel_apply_far, sl_args, sl_apply_far)

SIMT_ENTRY(sl_kernel_survey, sl_args, sl_survey)
SIMT_ENTRY(sl_kernel_merge_fresh_far, sl_args, sl_merge_fresh_far)
SIMT_ENTRY(sl_kernel_commit_far, sl_args, sl_commit_far)
SIMT_ENTRY(sl_kernel_survey_joined, sl_args, sl_survey_joined)
SIMT_ENTRY(sl_kernel_commit_joined_far, sl_args, sl_commit_joined_far)

/* What the items of a window had to list. */
SIMT_ENTRY(sl_kernel_list, sl_args, sl_list)

/* The steps of a window, in their order. */
SIMT_ENTRY(sl_kernel_label, sl_args, sl_label)
SIMT_ENTRY(sl_kernel_sort_count, gpu_sort, gpu_sort_count)
SIMT_ENTRY(sl_kernel_sort_scan, gpu_sort, gpu_sort_scan)
SIMT_ENTRY(sl_kernel_sort_lay, gpu_sort, gpu_sort_lay)
SIMT_ENTRY(sl_kernel_heads, sl_args, sl_heads)
SIMT_ENTRY(sl_kernel_heads_far, sl_args, sl_heads_far)
SIMT_ENTRY(sl_kernel_list_heads, sl_args, sl_list_heads)
SIMT_ENTRY(sl_kernel_plan_count, sl_args, sl_plan_count)
SIMT_ENTRY(sl_kernel_plan_write, sl_args, sl_plan_write)
SIMT_ENTRY(sl_kernel_merge_fresh, sl_args, sl_merge_fresh)
SIMT_ENTRY(sl_kernel_next_rows, sl_args, sl_next_rows)
SIMT_ENTRY(sl_kernel_commit, sl_args, sl_commit)
SIMT_ENTRY(sl_kernel_join, sl_args, sl_join)
SIMT_ENTRY(sl_kernel_stay_count, sl_args, sl_stay_count)
SIMT_ENTRY(sl_kernel_stay_write, sl_args, sl_stay_write)
SIMT_ENTRY(sl_kernel_commit_joined, sl_args, sl_commit_joined)

/* A table that grows or shrinks. */
SIMT_ENTRY(sl_kernel_carry_sums, sl_carry_args, sl_carry_sums)
SIMT_ENTRY(sl_kernel_sum_rows, sl_args, sl_sum_rows)
SIMT_ENTRY(sl_kernel_carry, sl_carry_args, sl_carry)
SIMT_ENTRY(sl_kernel_carry_end, sl_carry_args, sl_carry_end)

/* hd_check, and the end of hd_load. */
SIMT_ENTRY(sl_kernel_check_rows, sl_check_args, sl_check_rows)
SIMT_ENTRY(sl_kernel_check_entries, sl_check_args, sl_check_entries)
SIMT_ENTRY(sl_kernel_mark_buckets, sl_check_args, sl_mark_buckets)
SIMT_ENTRY(sl_kernel_settle_homes, sl_check_args, sl_settle_homes)
SIMT_ENTRY(sl_kernel_settle_label, sl_check_args, sl_settle_label)
SIMT_ENTRY(sl_kernel_settle_rows, sl_check_args, sl_settle_rows)
SIMT_ENTRY(sl_kernel_settle_near, sl_check_args, sl_settle_near)

/* Before and after a batch under the batch lock group3. */
SIMT_ENTRY(sl_kernel_word_enter, hd_word_args, hd_word_enter)
SIMT_ENTRY(sl_kernel_word_leave, hd_word_args, hd_word_leave)

static const hd_variant sl_variant_segments = {
    .name = "segments",
    .row = {
        { SL_LOOK, sl_kernel_look, 1, SL_THREADS, sl_fits_all, HD_ORDER,
          HD_WHAT("lookup: a thread per key, a search in the directory and one in a segment") },
        { SL_RANGE, sl_kernel_range, 1, SL_THREADS, sl_fits_all, HD_EXACT,
          HD_WHAT("range: a thread per item searches, eight lanes copy") },
        { SL_ENDS, sl_kernel_ends, 1, 32, sl_fits_all, HD_EXACT,
          HD_WHAT("min, max: one thread") },
        { SL_UPDATE, sl_kernel_update, 1, SL_THREADS, sl_fits_all, HD_ORDER,
          HD_WHAT("update: a thread per key, one store") },
        { SL_FLIP, sl_kernel_apply, 1, SL_THREADS, sl_fits_all, HD_ORDER,
          HD_WHAT("insert, erase: sorted by key, a block per segment merges, no locks") },
        { SL_SWEEP, sl_kernel_sweep, 1, SL_THREADS, sl_fits_all, HD_EXACT,
          HD_WHAT("sweep: a thread per home or place; erase_if: a warp per segment") },
        { SL_EXPORT, sl_kernel_export, 1, SL_THREADS, sl_fits_all, HD_EXACT,
          HD_WHAT("export: a warp per part of the range counts, and then writes") },
        { SL_CLEAR, sl_kernel_clear, 1, SL_THREADS, sl_fits_all, HD_EXACT,
          HD_WHAT("clear: a thread per home") },
    },
    .ran = SL_RAN("segments"),
};

#endif
