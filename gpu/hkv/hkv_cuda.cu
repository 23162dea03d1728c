/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_cuda.cu - the HKV kernels as CUDA entry points, and the table that a launch looks them up in.
 */
#include "gpu/hkv/hkv_cuda.h"

#include "gpu/hkv/kernels.h"
#include "gpu/hkv/rows.h"

/* In the order of hkv_kernel. */
static const void *const entries[] = {
#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what) (const void *)hkv_kernel_##variant##_##family,
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL
    (const void *)hkv_kernel_list_count,
    (const void *)hkv_kernel_list_write,
};
static_assert(sizeof entries / sizeof *entries == HKV_KERNELS, "every kernel has its entry");

const void *hkv_cuda_entry(uint32_t kernel) { return kernel < HKV_KERNELS ? entries[kernel] : nullptr; }
