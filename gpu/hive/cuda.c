/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_cuda.c - Hive tables in a device's memory. Their kernels are gpu/hive/kernels.cu's.
 */
#include "gpu/hive/launch.h"

extern const hd_design hd_design_hive_cuda;

static hd_status shape(const hd_config *c, hd_info *info) { return hd_cuda_shape(&hive_gpu, c, info); }
static hd_status open(const hd_info *info, const hd_seams *s, void **state)
{
    return hd_cuda_open(&hive_gpu, info, s, state);
}

const hd_design hd_design_hive_cuda = {
    .name = "hive",
    .what = "a dictionary in a GPU's memory",
    .policy = "none",
    .params = &hive_params,
    .shape = shape,
    .open = open,
    HD_ON_CUDA,
    .owns = true,
    .resize = hd_cuda_resize,
};

#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what) HIVE_ROW(cuda, variant, family, what)
#include "gpu/hive/registry.inc"
#undef HIVE_KERNEL
