/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the kernels of the skip list gfsl compiled for the host machine, and the design whose batches they run.
 */
#include "gpu/gfsl/chunk.h"
#include "gpu/gfsl/launch.h"

extern const hd_design hd_design_gfsl_host;

static const hd_variant *const variants[] = { &gfsl_variant_chunk, NULL };

static hd_host_text *const shared[] = {
#define GFSL_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gpu/gfsl/kernels.inc"
#undef GFSL_KERNEL
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
