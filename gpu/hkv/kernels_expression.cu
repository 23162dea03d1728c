/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels_expression.cu - the HKV kernels that score items, for tables whose policy is expressions
 * (policies/program.h). kernels.cu compiles the same code for all other tables: the machine that runs programs would
 * cost them registers and local memory.
 */
#include "gpu/hkv/args.h"
#include "simt/simt.h"

/* A file's own: kernels.cu has entry points of these names. */
#undef SIMT_KERNEL
#define SIMT_KERNEL(name, args_type, a) \
    static __global__ void __attribute__((unused)) name(const __grid_constant__ args_type a)

/* A kernel copies its argument, which the compiler keeps in registers, and points to the program in the original. */
template <typename any_args> static __device__ __forceinline__ void keep_program(any_args *, const any_args *) {}
static __device__ __forceinline__ void keep_program(hkv_args *copy, const hkv_args *a)
{
    copy->program = &a->v.program;
    copy->v.policy = HD_POLICY_EXPRESSION;
}

#undef SIMT_ENTRY
#define SIMT_ENTRY(NAME, args_type, text) \
    SIMT_KERNEL(NAME, args_type, a)       \
    {                                     \
        args_type copy = a;               \
        keep_program(&copy, &a);          \
        text(&copy);                      \
    }

#define HKV_EXPRESSIONS 1
#define HKV_REGISTRY    hkv_cuda_expression_variants
#include "gpu/hkv/registry.h"

#include "gpu/hkv/expressions.h"
#include "gpu/hkv/kernel_numbers.h"
#include "gpu/hkv/special.h"

/* clang-format off */
HKV_SPECIAL(hkv_special_expression_TOUCH_WHOLE_single,
            hkv_coalesced_update, HD_OP_TOUCH, HKV_WHOLE, false, 5)
HKV_SPECIAL(hkv_special_expression_TOUCH_WHOLE_dual,
            hkv_coalesced_update, HD_OP_TOUCH, HKV_WHOLE, true, 5)
HKV_SPECIAL(hkv_special_expression_TOUCH_SINGLES_single,
            hkv_coalesced_update, HD_OP_TOUCH, HKV_SINGLES, false, 5)
HKV_SPECIAL(hkv_special_expression_TOUCH_SINGLES_dual,
            hkv_coalesced_update, HD_OP_TOUCH, HKV_SINGLES, true, 5)
HKV_SPECIAL(hkv_special_expression_ASSIGN_WHOLE_single,
            hkv_coalesced_update, HD_OP_ASSIGN, HKV_WHOLE, false, 5)
HKV_SPECIAL(hkv_special_expression_ASSIGN_WHOLE_dual,
            hkv_coalesced_update, HD_OP_ASSIGN, HKV_WHOLE, true, 5)
HKV_SPECIAL(hkv_special_expression_ASSIGN_SINGLES_single,
            hkv_coalesced_update, HD_OP_ASSIGN, HKV_SINGLES, false, 5)
HKV_SPECIAL(hkv_special_expression_ASSIGN_SINGLES_dual,
            hkv_coalesced_update, HD_OP_ASSIGN, HKV_SINGLES, true, 5)
HKV_SPECIAL(hkv_special_expression_INSERT_OR_ASSIGN_WHOLE_single,
            hkv_coalesced_upsert, HD_OP_INSERT_OR_ASSIGN, HKV_WHOLE, false, 4)
HKV_SPECIAL(hkv_special_expression_INSERT_OR_ASSIGN_WHOLE_dual,
            hkv_coalesced_upsert, HD_OP_INSERT_OR_ASSIGN, HKV_WHOLE, true, 4)
HKV_SPECIAL(hkv_special_expression_INSERT_OR_ASSIGN_SINGLES_single,
            hkv_coalesced_upsert, HD_OP_INSERT_OR_ASSIGN, HKV_SINGLES, false, 4)
HKV_SPECIAL(hkv_special_expression_INSERT_OR_ASSIGN_SINGLES_dual,
            hkv_coalesced_upsert, HD_OP_INSERT_OR_ASSIGN, HKV_SINGLES, true, 4)
HKV_SPECIAL(hkv_special_expression_FIND_OR_INSERT_WHOLE_single,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT, HKV_WHOLE, false, 4)
HKV_SPECIAL(hkv_special_expression_FIND_OR_INSERT_WHOLE_dual,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT, HKV_WHOLE, true, 4)
HKV_SPECIAL(hkv_special_expression_FIND_OR_INSERT_SINGLES_single,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT, HKV_SINGLES, false, 4)
HKV_SPECIAL(hkv_special_expression_FIND_OR_INSERT_SINGLES_dual,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT, HKV_SINGLES, true, 4)

static const hkv_special specials[] = {
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_TOUCH, HKV_WHOLE,
      { hkv_special_expression_TOUCH_WHOLE_single,
        hkv_special_expression_TOUCH_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_TOUCH, HKV_SINGLES,
      { hkv_special_expression_TOUCH_SINGLES_single,
        hkv_special_expression_TOUCH_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_ASSIGN, HKV_WHOLE,
      { hkv_special_expression_ASSIGN_WHOLE_single,
        hkv_special_expression_ASSIGN_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_ASSIGN, HKV_SINGLES,
      { hkv_special_expression_ASSIGN_SINGLES_single,
        hkv_special_expression_ASSIGN_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_INSERT_OR_ASSIGN, HKV_WHOLE,
      { hkv_special_expression_INSERT_OR_ASSIGN_WHOLE_single,
        hkv_special_expression_INSERT_OR_ASSIGN_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_INSERT_OR_ASSIGN, HKV_SINGLES,
      { hkv_special_expression_INSERT_OR_ASSIGN_SINGLES_single,
        hkv_special_expression_INSERT_OR_ASSIGN_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_FIND_OR_INSERT, HKV_WHOLE,
      { hkv_special_expression_FIND_OR_INSERT_WHOLE_single,
        hkv_special_expression_FIND_OR_INSERT_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_FIND_OR_INSERT, HKV_SINGLES,
      { hkv_special_expression_FIND_OR_INSERT_SINGLES_single,
        hkv_special_expression_FIND_OR_INSERT_SINGLES_dual } },
};
/* clang-format on */

const void *hkv_expression_entry(uint32_t kernel, const void *args)
{
    const hd_variant *of;
    const hkv_args *a = (const hkv_args *)args;
    const hd_variant_row *row = hd_variant_row_at(hkv_cuda_expression_variants, kernel, &of);
    bool scores = row ? row->family == HKV_UPDATE || row->family == HKV_UPSERT
                      : kernel == HKV_NUMBER_groups_join || kernel == HKV_NUMBER_groups_pick ||
                            kernel == HKV_NUMBER_groups_deliver;
    if (!scores || a->v.policy != HD_POLICY_EXPRESSION) return nullptr;
    const hd_kernel_entry *entry =
        row ? hkv_special_among(specials, sizeof specials / sizeof *specials, of, row, a) : nullptr;
    if (row) return entry ? entry->address : row->entry.address;
    if (kernel == HKV_NUMBER_groups_join) return (const void *)hkv_kernel_groups_join;
    if (kernel == HKV_NUMBER_groups_pick) return (const void *)hkv_kernel_groups_pick;
    return (const void *)hkv_kernel_groups_deliver;
}

const void *hkv_expression_module(void) { return (const void *)hkv_kernel_groups_join; }
