/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels_expression.cu - the HKV kernels that score items, for tables whose policy is expressions (policies/program.h).
 * kernels.cu compiles the same code for all other tables: a call of the program would cost registers.
 */
#include "simt/simt.h"

/* A file's own: kernels.cu has entry points of these names. */
#undef SIMT_KERNEL
#define SIMT_KERNEL(name, args_type, a) \
    static __global__ void __attribute__((unused)) name(const __grid_constant__ args_type a)

#define HKV_EXPRESSIONS 1
#define HKV_REGISTRY    hkv_cuda_expression_variants
#include "gpu/hkv/registry.h"

#include "gpu/hkv/expressions.h"
#include "gpu/hkv/kernel_numbers.h"

const void *hkv_expression_entry(uint32_t kernel, const void *args)
{
    const hd_variant *of;
    const hkv_args *a = (const hkv_args *)args;
    const hd_variant_row *row = hd_variant_row_at(hkv_cuda_expression_variants, kernel, &of);
    bool scores = row ? row->family == HKV_UPDATE || row->family == HKV_UPSERT
                      : kernel == HKV_NUMBER_groups_join || kernel == HKV_NUMBER_groups_pick ||
                            kernel == HKV_NUMBER_groups_deliver;
    if (!scores || a->v.policy != HD_POLICY_EXPRESSION) return nullptr;
    if (row) return row->entry.address;
    if (kernel == HKV_NUMBER_groups_join) return (const void *)hkv_kernel_groups_join;
    if (kernel == HKV_NUMBER_groups_pick) return (const void *)hkv_kernel_groups_pick;
    return (const void *)hkv_kernel_groups_deliver;
}
