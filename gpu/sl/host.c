/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the kernels of the ordered table compiled for the host machine, and the design whose batches they run.
 */
#include "gpu/sl/launch.h"
#include "gpu/sl/segments.h"

extern const hd_design hd_design_sl_host;

static const hd_variant *const variants[] = { &sl_variant_segments, NULL };

/* By number, less HD_SHARED_KERNELS. */
static hd_host_text *const shared[] = {
    [SL_NUMBER_list - HD_SHARED_KERNELS] = sl_kernel_list,
    [SL_NUMBER_apply_far - HD_SHARED_KERNELS] = sl_kernel_apply_far,
    [SL_NUMBER_update_far - HD_SHARED_KERNELS] = sl_kernel_update_far,
    [SL_NUMBER_range_far - HD_SHARED_KERNELS] = sl_kernel_range_far,
    [SL_NUMBER_look_far - HD_SHARED_KERNELS] = sl_kernel_look_far,
    [SL_NUMBER_label - HD_SHARED_KERNELS] = sl_kernel_label,
    [SL_NUMBER_sort_count - HD_SHARED_KERNELS] = sl_kernel_sort_count,
    [SL_NUMBER_sort_scan - HD_SHARED_KERNELS] = sl_kernel_sort_scan,
    [SL_NUMBER_sort_lay - HD_SHARED_KERNELS] = sl_kernel_sort_lay,
    [SL_NUMBER_heads - HD_SHARED_KERNELS] = sl_kernel_heads,
    [SL_NUMBER_heads_far - HD_SHARED_KERNELS] = sl_kernel_heads_far,
    [SL_NUMBER_list_heads - HD_SHARED_KERNELS] = sl_kernel_list_heads,
    [SL_NUMBER_plan_count - HD_SHARED_KERNELS] = sl_kernel_plan_count,
    [SL_NUMBER_plan_write - HD_SHARED_KERNELS] = sl_kernel_plan_write,
    [SL_NUMBER_survey - HD_SHARED_KERNELS] = sl_kernel_survey,
    [SL_NUMBER_merge_fresh - HD_SHARED_KERNELS] = sl_kernel_merge_fresh,
    [SL_NUMBER_next_rows - HD_SHARED_KERNELS] = sl_kernel_next_rows,
    [SL_NUMBER_commit - HD_SHARED_KERNELS] = sl_kernel_commit,
    [SL_NUMBER_merge_fresh_far - HD_SHARED_KERNELS] = sl_kernel_merge_fresh_far,
    [SL_NUMBER_commit_far - HD_SHARED_KERNELS] = sl_kernel_commit_far,
    [SL_NUMBER_commit_joined - HD_SHARED_KERNELS] = sl_kernel_commit_joined,
    [SL_NUMBER_survey_joined - HD_SHARED_KERNELS] = sl_kernel_survey_joined,
    [SL_NUMBER_commit_joined_far - HD_SHARED_KERNELS] = sl_kernel_commit_joined_far,
    [SL_NUMBER_join - HD_SHARED_KERNELS] = sl_kernel_join,
    [SL_NUMBER_stay_count - HD_SHARED_KERNELS] = sl_kernel_stay_count,
    [SL_NUMBER_stay_write - HD_SHARED_KERNELS] = sl_kernel_stay_write,
    [SL_NUMBER_carry_sums - HD_SHARED_KERNELS] = sl_kernel_carry_sums,
    [SL_NUMBER_sum_rows - HD_SHARED_KERNELS] = sl_kernel_sum_rows,
    [SL_NUMBER_carry - HD_SHARED_KERNELS] = sl_kernel_carry,
    [SL_NUMBER_carry_end - HD_SHARED_KERNELS] = sl_kernel_carry_end,
    [SL_NUMBER_check_rows - HD_SHARED_KERNELS] = sl_kernel_check_rows,
    [SL_NUMBER_check_entries - HD_SHARED_KERNELS] = sl_kernel_check_entries,
    [SL_NUMBER_mark_buckets - HD_SHARED_KERNELS] = sl_kernel_mark_buckets,
    [SL_NUMBER_settle_homes - HD_SHARED_KERNELS] = sl_kernel_settle_homes,
    [SL_NUMBER_settle_label - HD_SHARED_KERNELS] = sl_kernel_settle_label,
    [SL_NUMBER_settle_rows - HD_SHARED_KERNELS] = sl_kernel_settle_rows,
    [SL_NUMBER_settle_near - HD_SHARED_KERNELS] = sl_kernel_settle_near,
    [SL_NUMBER_word_enter - HD_SHARED_KERNELS] = sl_kernel_word_enter,
    [SL_NUMBER_word_leave - HD_SHARED_KERNELS] = sl_kernel_word_leave,
};

hd_host_text *sl_host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(variants, shared, SL_KERNELS - HD_SHARED_KERNELS, kernel);
}

/* clang-format off */
const hd_design hd_design_sl_host = {
    .name = "sl", .what = "a dictionary that keeps its keys in order, its GPU kernels on the host machine",
    .params = &sl_params, .policy = "none", .usual = sl_usual, .variants = sl_variants, .unfit = sl_unfit_row,
    .gpu = &sl_gpu, .host_kernel = sl_host_kernel, .owns = true, HD_ON_HOST, .resize = hd_host_resize,
    .set_near = hd_host_set_near
};
/* clang-format on */
