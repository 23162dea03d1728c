/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the kernels of the ordered table compiled for the host machine, and the design whose batches they run.
 */
#include "gpu/sl/launch.h"
#include "gpu/sl/segments.h"

extern const hd_design hd_design_sl_host;

static const hd_variant *const variants[] = { &sl_variant_segments, NULL };

static hd_host_text *const shared[] = {
#define SL_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gpu/sl/kernels.inc"
#undef SL_KERNEL
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
