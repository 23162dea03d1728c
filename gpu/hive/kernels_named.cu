/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_named_cuda.cu - the Hive kernels that hash, for tables whose hash functions have names (hive_view.functions).
 * The same text as hive_cuda.cu compiles for all others, where a call of any of nine functions would cost registers.
 */
#include "gpu/entry.h"
#include "gpu/hive/named.h"
#include "simt/simt.h"

#undef SIMT_KERNEL
#define SIMT_KERNEL(name, args_type, a) \
    static __global__ void __attribute__((unused)) name(const __grid_constant__ args_type a)

#include "gpu/hive/kernels.h"
#include "gpu/hive/rows.h"

static const void *const rows[] = {
#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what) \
    (const void *)hive_kernel_##variant##_##family,
#include "gpu/hive/registry.inc"
#undef HIVE_KERNEL
};
static_assert(HIVE_KERNELS <= GPU_ENTRIES_MOST - HIVE_NAMED, "every entry has its number");

const void *hive_named_entry(uint32_t kernel, const void *args)
{
    if (kernel >= HIVE_NUMBER_word_enter || !((const hive_args *)args)->v.functions) return nullptr;
    if (kernel < HIVE_ROWS) return rows[kernel];
    if (kernel == HIVE_NUMBER_split) return (const void *)hive_kernel_split;
    if (kernel == HIVE_NUMBER_restash) return (const void *)hive_kernel_restash;
    return kernel == HIVE_NUMBER_thin ? (const void *)hive_kernel_thin : nullptr;
}
