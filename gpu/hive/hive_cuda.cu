/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_cuda.cu - the Hive kernels as CUDA entry points, and the table that a launch looks them up in.
 */
#define HIVE_MIX64 /* tables with hash functions by name: hive_named_cuda.cu */

#include "gpu/entry.h"
#include "gpu/hive/kernels.h"
#include "gpu/hive/named.h"
#include "gpu/hive/rows.h"

/* In the order of hive_kernel. */
static const void *const entries[] = {
#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what) (const void *)hive_kernel_##variant##_##family,
#include "gpu/hive/registry.inc"
#undef HIVE_KERNEL
    (const void *)hive_kernel_list,
    (const void *)hive_kernel_split,
    (const void *)hive_kernel_restash,
    (const void *)hive_kernel_measure,
    (const void *)hive_kernel_merge,
    (const void *)hive_kernel_thin,
    (const void *)hive_kernel_word_enter,
    (const void *)hive_kernel_word_leave,
};
static_assert(sizeof entries / sizeof *entries == HIVE_KERNELS, "every kernel has its entry");
static_assert((int)HIVE_KERNELS <= (int)HIVE_NAMED, "every entry has its number");

const void *hive_cuda_entry(uint32_t kernel, const void *args, uint32_t *number)
{
    const void *named = hive_named_entry(kernel, args);
    if (kernel >= HIVE_KERNELS) return nullptr;
    if (named) return *number = HIVE_NAMED + kernel, named;
    *number = kernel;
    return entries[kernel];
}
