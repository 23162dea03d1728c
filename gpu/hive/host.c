/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the Hive kernels compiled for the host machine, the table that a launch looks them up in, and the design
 * whose batches they run.
 */
#define HIVE_REGISTRY hive_host_variants
#include "gpu/hive/registry.h"

#include "gpu/hive/launch.h"

extern const hd_design hd_design_hive_host;

static hd_host_text *const shared[] = {
#define HIVE_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gpu/hive/kernels.inc"
#undef HIVE_KERNEL
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
