/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels_named.cu - the Hive kernels that hash, for tables with named hash functions (hive_view.functions). kernels.cu
 * compiles the same code for all other tables: a call of any of nine functions would cost registers.
 */
#include "gpu/hive/named.h"
#include "simt/simt.h"

/* A file's own: kernels.cu has entry points of these names. */
#undef SIMT_KERNEL
#define SIMT_KERNEL(name, args_type, a) \
    static __global__ void __attribute__((unused)) name(const __grid_constant__ args_type a)

#define HIVE_REGISTRY hive_cuda_named_variants
#include "gpu/hive/registry.h"

#include "gpu/hive/kernel_numbers.h"

const void *hive_named_entry(uint32_t kernel, const void *args)
{
    const hd_variant *of;
    const hd_variant_row *row = hd_variant_row_at(hive_cuda_named_variants, kernel, &of);
    if (kernel >= HIVE_NUMBER_word_enter || !((const hive_view *)args)->functions) return nullptr;
    if (row) return row->entry.address;
    if (kernel == HIVE_NUMBER_split) return (const void *)hive_kernel_split;
    if (kernel == HIVE_NUMBER_restash) return (const void *)hive_kernel_restash;
    if (kernel == HIVE_NUMBER_check) return (const void *)hive_kernel_check;
    if (kernel == HIVE_NUMBER_settle) return (const void *)hive_kernel_settle;
    return kernel == HIVE_NUMBER_thin ? (const void *)hive_kernel_thin : nullptr;
}

const void *hive_named_module(void) { return (const void *)hive_kernel_thin; }
