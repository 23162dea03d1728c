/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.cu - the kernels of the ordered table as CUDA entry points, and the table that a launch looks them up in.
 */
#include "gpu/sl/segments.h"

#include "gpu/sl/kernel_numbers.h"

static const hd_variant *const variants[] = { &sl_variant_segments, nullptr };

/* In the order of sl_kernel. */
static const hd_kernel_entry shared[] = {
    sl_kernel_list,
    sl_kernel_look_far,
    sl_kernel_range_far,
    sl_kernel_update_far,
    sl_kernel_apply_far,
    sl_kernel_label,
    sl_kernel_sort_count,
    sl_kernel_sort_scan,
    sl_kernel_sort_lay,
    sl_kernel_heads,
    sl_kernel_heads_far,
    sl_kernel_list_heads,
    sl_kernel_plan_count,
    sl_kernel_plan_write,
    sl_kernel_survey,
    sl_kernel_merge_fresh,
    sl_kernel_next_rows,
    sl_kernel_commit,
    sl_kernel_merge_fresh_far,
    sl_kernel_commit_far,
    sl_kernel_join,
    sl_kernel_stay_count,
    sl_kernel_stay_write,
    sl_kernel_commit_joined,
    sl_kernel_survey_joined,
    sl_kernel_commit_joined_far,
    sl_kernel_carry_sums,
    sl_kernel_sum_rows,
    sl_kernel_carry,
    sl_kernel_carry_end,
    sl_kernel_check_rows,
    sl_kernel_check_entries,
    sl_kernel_mark_buckets,
    sl_kernel_settle_homes,
    sl_kernel_settle_label,
    sl_kernel_settle_rows,
    sl_kernel_settle_near,
    sl_kernel_word_enter,
    sl_kernel_word_leave,
};
static_assert(sizeof shared / sizeof *shared == SL_KERNELS - HD_SHARED_KERNELS, "every kernel has its entry");

extern "C" const void *sl_cuda_entry(uint32_t kernel, const void *args)
{
    const hd_variant *of;
    (void)args;
    if (kernel >= HD_SHARED_KERNELS) return kernel < SL_KERNELS ? shared[kernel - HD_SHARED_KERNELS].address : nullptr;
    const hd_variant_row *row = hd_variant_row_at(variants, kernel, &of);
    return row ? row->entry.address : nullptr;
}

extern "C" const void *sl_cuda_module(uint32_t i) { return i == 0 ? shared[0].address : nullptr; }
