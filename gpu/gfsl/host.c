/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the kernels of the skip list gfsl compiled for the host machine, and the design whose batches they run.
 */
#include "gpu/gfsl/chunk.h"
#include "gpu/gfsl/launch.h"

extern const hd_design hd_design_gfsl_host;

static const hd_variant *const variants[] = { &gfsl_variant_chunk, NULL };

/* By number, less HD_SHARED_KERNELS. */
static hd_host_text *const shared[] = {
    [GFSL_NUMBER_list - HD_SHARED_KERNELS] = gfsl_kernel_list,
    [GFSL_NUMBER_prune - HD_SHARED_KERNELS] = gfsl_kernel_prune,
    [GFSL_NUMBER_thin - HD_SHARED_KERNELS] = gfsl_kernel_thin,
    [GFSL_NUMBER_relink - HD_SHARED_KERNELS] = gfsl_kernel_relink,
    [GFSL_NUMBER_release - HD_SHARED_KERNELS] = gfsl_kernel_release,
    [GFSL_NUMBER_word_enter - HD_SHARED_KERNELS] = gfsl_kernel_word_enter,
    [GFSL_NUMBER_word_leave - HD_SHARED_KERNELS] = gfsl_kernel_word_leave,
};

static hd_host_text *host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(variants, shared, GFSL_KERNELS - HD_SHARED_KERNELS, kernel);
}

const hd_design hd_design_gfsl_host = {
    .name = "gfsl",
    .what = "the skip list GFSL, its GPU kernels on the host machine",
    .params = &gfsl_params,
    .policy = "none",
    .variants = gfsl_variants,
    .unfit = gfsl_unfit_row,
    .gpu = &gfsl_gpu,
    .host_kernel = host_kernel,
    .owns = true,
    HD_ON_HOST,
};
