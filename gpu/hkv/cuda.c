/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_cuda.c - HKV tables in a device's memory. Their kernels are gpu/hkv/kernels.cu's.
 */
#include "gpu/hkv/launch.h"
#include "gpu/hkv/select.h"

extern const hd_design hd_design_hkv_cuda;

static hd_status shape(const hd_config *c, hd_info *info) { return hd_cuda_shape(&hkv_gpu, c, info); }
static hd_status open(const hd_info *info, const hd_seams *s, void **state)
{
    return hd_cuda_open(&hkv_gpu, info, s, state);
}

const hd_design hd_design_hkv_cuda = {
    .name = "hkv",
    .what = "a bucketed cache in a GPU's memory",
    .params = &hkv_params,
    .shape = shape,
    .open = open,
    .select = hkv_select,
    HD_ON_CUDA,
    .owns = true,
};

#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what) HKV_ROW(cuda, variant, family, what)
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL
