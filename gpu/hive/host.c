/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the Hive kernels compiled for the host machine, the table that a launch looks them up in, and the design
 * whose batches they run.
 */
#define HIVE_REGISTRY hive_host_variants
#include "gpu/hive/registry.h"

#include "gpu/hive/launch.h"

extern const hd_design hd_design_hive_host;

/* By number, less HD_SHARED_KERNELS. */
static hd_host_text *const shared[] = {
    [HIVE_NUMBER_list - HD_SHARED_KERNELS] = hive_kernel_list,
    [HIVE_NUMBER_split - HD_SHARED_KERNELS] = hive_kernel_split,
    [HIVE_NUMBER_restash - HD_SHARED_KERNELS] = hive_kernel_restash,
    [HIVE_NUMBER_measure - HD_SHARED_KERNELS] = hive_kernel_measure,
    [HIVE_NUMBER_merge - HD_SHARED_KERNELS] = hive_kernel_merge,
    [HIVE_NUMBER_thin - HD_SHARED_KERNELS] = hive_kernel_thin,
    [HIVE_NUMBER_check - HD_SHARED_KERNELS] = hive_kernel_check,
    [HIVE_NUMBER_settle - HD_SHARED_KERNELS] = hive_kernel_settle,
    [HIVE_NUMBER_word_enter - HD_SHARED_KERNELS] = hive_kernel_word_enter,
    [HIVE_NUMBER_word_leave - HD_SHARED_KERNELS] = hive_kernel_word_leave,
};

hd_host_text *hive_host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(hive_host_variants, shared, HIVE_KERNELS - HD_SHARED_KERNELS, kernel);
}

/* clang-format off */
const hd_design hd_design_hive_host = {
    .name = "hive", .what = "a dictionary that grows, its GPU kernels on the host machine",
    .params = &hive_params, .policy = "none", .variants = hive_variants, .unfit = hive_unfit_row,
    .gpu = &hive_gpu, .host_kernel = hive_host_kernel, .owns = true, HD_ON_HOST, .resize = hd_host_resize
};
/* clang-format on */
