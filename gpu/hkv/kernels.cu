/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.cu - the HKV kernels as CUDA entry points, and the table that a launch looks them up in.
 */
#define HKV_EXPRESSIONS 0 /* kernels_expression.cu */
#define HKV_APART       0 /* kernels_apart.cu */
#define HD_POLICIES_PLAIN
#define HKV_REGISTRY hkv_cuda_variants
#include "gpu/hkv/registry.h"

#include "gpu/hkv/expressions.h"
#include "gpu/hkv/kernel_numbers.h"
#include "gpu/hkv/special.h"

/* A find that puts nothing off (fetch.h). */
static __device__ __forceinline__ void hkv_direct_lookup_now(hkv_args *a)
{
    a->fetch.entry = nullptr;
    hkv_direct_lookup(a);
}

/* clang-format off */
HKV_SPECIAL(hkv_special_coalesced_FIND_WHOLE_single,
            hkv_coalesced_lookup, HD_OP_FIND, HKV_WHOLE, false, 7)
HKV_SPECIAL(hkv_special_coalesced_FIND_WHOLE_dual,
            hkv_coalesced_lookup, HD_OP_FIND, HKV_WHOLE, true, 7)
HKV_SPECIAL(hkv_special_coalesced_CONTAINS_WHOLE_single,
            hkv_coalesced_lookup, HD_OP_CONTAINS, HKV_WHOLE, false, 7)
HKV_SPECIAL(hkv_special_coalesced_CONTAINS_WHOLE_dual,
            hkv_coalesced_lookup, HD_OP_CONTAINS, HKV_WHOLE, true, 7)
HKV_SPECIAL(hkv_special_coalesced_FIND_PTR_WHOLE_single,
            hkv_coalesced_lookup, HD_OP_FIND_PTR, HKV_WHOLE, false, 7)
HKV_SPECIAL(hkv_special_coalesced_FIND_PTR_WHOLE_dual,
            hkv_coalesced_lookup, HD_OP_FIND_PTR, HKV_WHOLE, true, 7)
HKV_SPECIAL(hkv_special_coalesced_TOUCH_WHOLE_single,
            hkv_coalesced_update, HD_OP_TOUCH, HKV_WHOLE, false, 6)
HKV_SPECIAL(hkv_special_coalesced_TOUCH_WHOLE_dual,
            hkv_coalesced_update, HD_OP_TOUCH, HKV_WHOLE, true, 5)
HKV_SPECIAL(hkv_special_coalesced_ASSIGN_WHOLE_single,
            hkv_coalesced_update, HD_OP_ASSIGN, HKV_WHOLE, false, 6)
HKV_SPECIAL(hkv_special_coalesced_ASSIGN_WHOLE_dual,
            hkv_coalesced_update, HD_OP_ASSIGN, HKV_WHOLE, true, 5)
HKV_SPECIAL(hkv_special_coalesced_ASSIGN_SCORES_WHOLE_single,
            hkv_coalesced_update, HD_OP_ASSIGN_SCORES, HKV_WHOLE, false, 6)
HKV_SPECIAL(hkv_special_coalesced_ASSIGN_SCORES_WHOLE_dual,
            hkv_coalesced_update, HD_OP_ASSIGN_SCORES, HKV_WHOLE, true, 6)
HKV_SPECIAL(hkv_special_coalesced_INSERT_OR_ASSIGN_WHOLE_single,
            hkv_coalesced_upsert, HD_OP_INSERT_OR_ASSIGN, HKV_WHOLE, false, 5)
HKV_SPECIAL(hkv_special_coalesced_INSERT_OR_ASSIGN_WHOLE_dual,
            hkv_coalesced_upsert, HD_OP_INSERT_OR_ASSIGN, HKV_WHOLE, true, 4)
HKV_SPECIAL(hkv_special_coalesced_INSERT_AND_EVICT_WHOLE_single,
            hkv_coalesced_upsert, HD_OP_INSERT_AND_EVICT, HKV_WHOLE, false, 4)
HKV_SPECIAL(hkv_special_coalesced_INSERT_AND_EVICT_WHOLE_dual,
            hkv_coalesced_upsert, HD_OP_INSERT_AND_EVICT, HKV_WHOLE, true, 4)
HKV_SPECIAL(hkv_special_coalesced_FIND_OR_INSERT_WHOLE_single,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT, HKV_WHOLE, false, 5)
HKV_SPECIAL(hkv_special_coalesced_FIND_OR_INSERT_WHOLE_dual,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT, HKV_WHOLE, true, 4)
HKV_SPECIAL(hkv_special_coalesced_FIND_OR_INSERT_PTR_WHOLE_single,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT_PTR, HKV_WHOLE, false, 5)
HKV_SPECIAL(hkv_special_coalesced_FIND_OR_INSERT_PTR_WHOLE_dual,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT_PTR, HKV_WHOLE, true, 4)
HKV_SPECIAL(hkv_special_coalesced_ACCUM_OR_ASSIGN_WHOLE_single,
            hkv_coalesced_upsert, HD_OP_ACCUM_OR_ASSIGN, HKV_WHOLE, false, 5)
HKV_SPECIAL(hkv_special_coalesced_ACCUM_OR_ASSIGN_WHOLE_dual,
            hkv_coalesced_upsert, HD_OP_ACCUM_OR_ASSIGN, HKV_WHOLE, true, 4)
HKV_SPECIAL(hkv_special_coalesced_ERASE_WHOLE_single,
            hkv_coalesced_erase, HD_OP_ERASE, HKV_WHOLE, false, 6)
HKV_SPECIAL(hkv_special_coalesced_ERASE_WHOLE_dual,
            hkv_coalesced_erase, HD_OP_ERASE, HKV_WHOLE, true, 6)
HKV_SPECIAL(hkv_special_coalesced_INSERT_OR_ASSIGN_SINGLES_single,
            hkv_coalesced_upsert, HD_OP_INSERT_OR_ASSIGN, HKV_SINGLES, false, 5)
HKV_SPECIAL(hkv_special_coalesced_INSERT_OR_ASSIGN_SINGLES_dual,
            hkv_coalesced_upsert, HD_OP_INSERT_OR_ASSIGN, HKV_SINGLES, true, 4)
HKV_SPECIAL(hkv_special_coalesced_INSERT_AND_EVICT_SINGLES_single,
            hkv_coalesced_upsert, HD_OP_INSERT_AND_EVICT, HKV_SINGLES, false, 4)
HKV_SPECIAL(hkv_special_coalesced_INSERT_AND_EVICT_SINGLES_dual,
            hkv_coalesced_upsert, HD_OP_INSERT_AND_EVICT, HKV_SINGLES, true, 4)
HKV_SPECIAL(hkv_special_coalesced_FIND_OR_INSERT_SINGLES_single,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT, HKV_SINGLES, false, 5)
HKV_SPECIAL(hkv_special_coalesced_FIND_OR_INSERT_SINGLES_dual,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT, HKV_SINGLES, true, 4)
HKV_SPECIAL(hkv_special_coalesced_FIND_OR_INSERT_PTR_SINGLES_single,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT_PTR, HKV_SINGLES, false, 5)
HKV_SPECIAL(hkv_special_coalesced_FIND_OR_INSERT_PTR_SINGLES_dual,
            hkv_coalesced_upsert, HD_OP_FIND_OR_INSERT_PTR, HKV_SINGLES, true, 4)
HKV_SPECIAL(hkv_special_coalesced_ACCUM_OR_ASSIGN_SINGLES_single,
            hkv_coalesced_upsert, HD_OP_ACCUM_OR_ASSIGN, HKV_SINGLES, false, 5)
HKV_SPECIAL(hkv_special_coalesced_ACCUM_OR_ASSIGN_SINGLES_dual,
            hkv_coalesced_upsert, HD_OP_ACCUM_OR_ASSIGN, HKV_SINGLES, true, 4)
HKV_SPECIAL(hkv_special_coalesced_TOUCH_SINGLES_single,
            hkv_coalesced_update, HD_OP_TOUCH, HKV_SINGLES, false, 6)
HKV_SPECIAL(hkv_special_coalesced_TOUCH_SINGLES_dual,
            hkv_coalesced_update, HD_OP_TOUCH, HKV_SINGLES, true, 5)
HKV_SPECIAL(hkv_special_coalesced_ASSIGN_SINGLES_single,
            hkv_coalesced_update, HD_OP_ASSIGN, HKV_SINGLES, false, 6)
HKV_SPECIAL(hkv_special_coalesced_ASSIGN_SINGLES_dual,
            hkv_coalesced_update, HD_OP_ASSIGN, HKV_SINGLES, true, 5)
HKV_SPECIAL(hkv_special_coalesced_ASSIGN_VALUES_SINGLES_single,
            hkv_coalesced_update, HD_OP_ASSIGN_VALUES, HKV_SINGLES, false, 6)
HKV_SPECIAL(hkv_special_coalesced_ASSIGN_VALUES_SINGLES_dual,
            hkv_coalesced_update, HD_OP_ASSIGN_VALUES, HKV_SINGLES, true, 5)
HKV_SPECIAL(hkv_special_coalesced_ASSIGN_SCORES_SINGLES_single,
            hkv_coalesced_update, HD_OP_ASSIGN_SCORES, HKV_SINGLES, false, 6)
HKV_SPECIAL(hkv_special_coalesced_ASSIGN_SCORES_SINGLES_dual,
            hkv_coalesced_update, HD_OP_ASSIGN_SCORES, HKV_SINGLES, true, 6)
HKV_SPECIAL(hkv_special_direct_FIND_WHOLE_single,
            hkv_direct_lookup_now, HD_OP_FIND, HKV_WHOLE, false, 8)
HKV_SPECIAL(hkv_special_direct_FIND_WHOLE_dual,
            hkv_direct_lookup_now, HD_OP_FIND, HKV_WHOLE, true, 8)
HKV_SPECIAL(hkv_special_direct_CONTAINS_WHOLE_single,
            hkv_direct_lookup, HD_OP_CONTAINS, HKV_WHOLE, false, 8)
HKV_SPECIAL(hkv_special_direct_CONTAINS_WHOLE_dual,
            hkv_direct_lookup, HD_OP_CONTAINS, HKV_WHOLE, true, 8)
HKV_SPECIAL(hkv_special_direct_FIND_PTR_WHOLE_single,
            hkv_direct_lookup, HD_OP_FIND_PTR, HKV_WHOLE, false, 8)
HKV_SPECIAL(hkv_special_direct_FIND_PTR_WHOLE_dual,
            hkv_direct_lookup, HD_OP_FIND_PTR, HKV_WHOLE, true, 8)
HKV_SPECIAL(hkv_special_warp_EXPORT_WHOLE_single,
            hkv_warp_export, HD_OP_EXPORT, HKV_WHOLE, false, 6)
HKV_SPECIAL(hkv_special_warp_EXPORT_WHOLE_dual,
            hkv_warp_export, HD_OP_EXPORT, HKV_WHOLE, true, 6)
/* clang-format on */

/* Lists wait for memory: as many warps as there are registers for. */
static __global__ void __launch_bounds__(128, 6) hkv_special_list(const __grid_constant__ hkv_args a)
{
    hkv_list_window(&a);
}
static const hd_kernel_entry special_list = { hkv_special_list };

/* clang-format off */
static const hkv_special specials[] = {
    { &hkv_variant_coalesced, HKV_LOOKUP, HD_OP_FIND, HKV_WHOLE,
      { hkv_special_coalesced_FIND_WHOLE_single,
        hkv_special_coalesced_FIND_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_LOOKUP, HD_OP_CONTAINS, HKV_WHOLE,
      { hkv_special_coalesced_CONTAINS_WHOLE_single,
        hkv_special_coalesced_CONTAINS_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_LOOKUP, HD_OP_FIND_PTR, HKV_WHOLE,
      { hkv_special_coalesced_FIND_PTR_WHOLE_single,
        hkv_special_coalesced_FIND_PTR_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_TOUCH, HKV_WHOLE,
      { hkv_special_coalesced_TOUCH_WHOLE_single,
        hkv_special_coalesced_TOUCH_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_ASSIGN, HKV_WHOLE,
      { hkv_special_coalesced_ASSIGN_WHOLE_single,
        hkv_special_coalesced_ASSIGN_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_ASSIGN_SCORES, HKV_WHOLE,
      { hkv_special_coalesced_ASSIGN_SCORES_WHOLE_single,
        hkv_special_coalesced_ASSIGN_SCORES_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_INSERT_OR_ASSIGN, HKV_WHOLE,
      { hkv_special_coalesced_INSERT_OR_ASSIGN_WHOLE_single,
        hkv_special_coalesced_INSERT_OR_ASSIGN_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_INSERT_AND_EVICT, HKV_WHOLE,
      { hkv_special_coalesced_INSERT_AND_EVICT_WHOLE_single,
        hkv_special_coalesced_INSERT_AND_EVICT_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_FIND_OR_INSERT, HKV_WHOLE,
      { hkv_special_coalesced_FIND_OR_INSERT_WHOLE_single,
        hkv_special_coalesced_FIND_OR_INSERT_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_FIND_OR_INSERT_PTR, HKV_WHOLE,
      { hkv_special_coalesced_FIND_OR_INSERT_PTR_WHOLE_single,
        hkv_special_coalesced_FIND_OR_INSERT_PTR_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_ACCUM_OR_ASSIGN, HKV_WHOLE,
      { hkv_special_coalesced_ACCUM_OR_ASSIGN_WHOLE_single,
        hkv_special_coalesced_ACCUM_OR_ASSIGN_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_ERASE, HD_OP_ERASE, HKV_WHOLE,
      { hkv_special_coalesced_ERASE_WHOLE_single,
        hkv_special_coalesced_ERASE_WHOLE_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_INSERT_OR_ASSIGN, HKV_SINGLES,
      { hkv_special_coalesced_INSERT_OR_ASSIGN_SINGLES_single,
        hkv_special_coalesced_INSERT_OR_ASSIGN_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_INSERT_AND_EVICT, HKV_SINGLES,
      { hkv_special_coalesced_INSERT_AND_EVICT_SINGLES_single,
        hkv_special_coalesced_INSERT_AND_EVICT_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_FIND_OR_INSERT, HKV_SINGLES,
      { hkv_special_coalesced_FIND_OR_INSERT_SINGLES_single,
        hkv_special_coalesced_FIND_OR_INSERT_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_FIND_OR_INSERT_PTR, HKV_SINGLES,
      { hkv_special_coalesced_FIND_OR_INSERT_PTR_SINGLES_single,
        hkv_special_coalesced_FIND_OR_INSERT_PTR_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPSERT, HD_OP_ACCUM_OR_ASSIGN, HKV_SINGLES,
      { hkv_special_coalesced_ACCUM_OR_ASSIGN_SINGLES_single,
        hkv_special_coalesced_ACCUM_OR_ASSIGN_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_TOUCH, HKV_SINGLES,
      { hkv_special_coalesced_TOUCH_SINGLES_single,
        hkv_special_coalesced_TOUCH_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_ASSIGN, HKV_SINGLES,
      { hkv_special_coalesced_ASSIGN_SINGLES_single,
        hkv_special_coalesced_ASSIGN_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_ASSIGN_VALUES, HKV_SINGLES,
      { hkv_special_coalesced_ASSIGN_VALUES_SINGLES_single,
        hkv_special_coalesced_ASSIGN_VALUES_SINGLES_dual } },
    { &hkv_variant_coalesced, HKV_UPDATE, HD_OP_ASSIGN_SCORES, HKV_SINGLES,
      { hkv_special_coalesced_ASSIGN_SCORES_SINGLES_single,
        hkv_special_coalesced_ASSIGN_SCORES_SINGLES_dual } },
    { &hkv_variant_direct, HKV_LOOKUP, HD_OP_FIND, HKV_WHOLE,
      { hkv_special_direct_FIND_WHOLE_single,
        hkv_special_direct_FIND_WHOLE_dual } },
    { &hkv_variant_direct, HKV_LOOKUP, HD_OP_CONTAINS, HKV_WHOLE,
      { hkv_special_direct_CONTAINS_WHOLE_single,
        hkv_special_direct_CONTAINS_WHOLE_dual } },
    { &hkv_variant_direct, HKV_LOOKUP, HD_OP_FIND_PTR, HKV_WHOLE,
      { hkv_special_direct_FIND_PTR_WHOLE_single,
        hkv_special_direct_FIND_PTR_WHOLE_dual } },
    { &hkv_variant_warp, HKV_EXPORT, HD_OP_EXPORT, HKV_WHOLE,
      { hkv_special_warp_EXPORT_WHOLE_single,
        hkv_special_warp_EXPORT_WHOLE_dual } },
};
/* clang-format on */

static const hd_kernel_entry shared[] = {
#define HKV_KERNEL(number, entry, args, text) entry,
#include "gpu/hkv/kernels.inc"
#undef HKV_KERNEL
};

static const hd_kernel_entry *special_of(const hd_variant *variant, const hd_variant_row *row, const hkv_args *a)
{
    if (variant == &hkv_variant_direct && a->fetch.entry) return nullptr;
    return hkv_special_among(specials, sizeof specials / sizeof *specials, variant, row, a, false);
}

extern "C" const void *hkv_cuda_entry(uint32_t kernel, const void *args)
{
    const hd_variant *of;
    const void *scores = hkv_apart_entry(kernel, args);
    if (!scores) scores = hkv_expression_entry(kernel, args);
    if (scores) return scores;
    if (kernel == HKV_NUMBER_list) return special_list.address;
    if (kernel >= HD_SHARED_KERNELS) return kernel < HKV_KERNELS ? shared[kernel - HD_SHARED_KERNELS].address : nullptr;
    const hd_variant_row *row = hd_variant_row_at(hkv_cuda_variants, kernel, &of);
    const hd_kernel_entry *entry = row ? special_of(of, row, (const hkv_args *)args) : nullptr;
    return entry ? entry->address : row ? row->entry.address : nullptr;
}

extern "C" const void *hkv_cuda_module(uint32_t i)
{
    return i == 0 ? shared[0].address : i == 1 ? hkv_expression_module() : i == 2 ? hkv_apart_module() : nullptr;
}
