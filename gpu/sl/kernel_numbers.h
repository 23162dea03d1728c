/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the numbers of the kernels that are not rows of the variant.
 */
#ifndef SL_KERNEL_NUMBERS_H
#define SL_KERNEL_NUMBERS_H

#include "base/variant.h"

typedef enum sl_kernel {
    SL_NUMBER_list = HD_SHARED_KERNELS,
    SL_NUMBER_look_far,
    SL_NUMBER_range_far,
    SL_NUMBER_update_far,
    SL_NUMBER_apply_far,
    SL_NUMBER_label,
    SL_NUMBER_sort_count,
    SL_NUMBER_sort_scan,
    SL_NUMBER_sort_lay,
    SL_NUMBER_heads,
    SL_NUMBER_heads_far,
    SL_NUMBER_list_heads,
    SL_NUMBER_plan_count,
    SL_NUMBER_plan_write,
    SL_NUMBER_survey,
    SL_NUMBER_merge_fresh,
    SL_NUMBER_next_rows,
    SL_NUMBER_commit,
    SL_NUMBER_merge_fresh_far,
    SL_NUMBER_commit_far,
    SL_NUMBER_join,
    SL_NUMBER_stay_count,
    SL_NUMBER_stay_write,
    SL_NUMBER_commit_joined,
    SL_NUMBER_survey_joined,
    SL_NUMBER_commit_joined_far,
    SL_NUMBER_carry_sums,
    SL_NUMBER_sum_rows,
    SL_NUMBER_carry,
    SL_NUMBER_carry_end,
    SL_NUMBER_check_rows,
    SL_NUMBER_check_entries,
    SL_NUMBER_mark_buckets,
    SL_NUMBER_settle_homes,
    SL_NUMBER_settle_label,
    SL_NUMBER_settle_rows,
    SL_NUMBER_settle_near,
    SL_NUMBER_word_enter, /* of a batch lock: concurrency/word.h */
    SL_NUMBER_word_leave,
    SL_KERNELS
} sl_kernel;

#endif
