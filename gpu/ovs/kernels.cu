/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.cu - the ovs kernels as CUDA entry points, and the table that a launch looks them up in. These are for tables
 * whose segments are chosen by hashes; kernels_range.cu has those for tables with ranges of keys.
 */
#define OVS_HASHED
#define OVS_REGISTRY ovs_cuda_variants
#include "gpu/ovs/registry.h"

#include "gpu/ovs/kernel_numbers.h"

/* kernels_range.cu: the entry point for tables with ranges; NULL: the kernel is the same. Where there is one, the
 * arguments begin with a view. */
extern "C" const void *ovs_cuda_range_entry(uint32_t kernel);

/* In the order of ovs_kernel. */
static const hd_kernel_entry shared[] = { ovs_kernel_list,       ovs_kernel_codes,     ovs_kernel_sort_count,
                                          ovs_kernel_sort_scan,  ovs_kernel_sort_lay,  ovs_kernel_split,
                                          ovs_kernel_merge,      ovs_kernel_unmerge,   ovs_kernel_settle,
                                          ovs_kernel_check,      ovs_kernel_shut,      ovs_kernel_renew,
                                          ovs_kernel_word_enter, ovs_kernel_word_leave };
static_assert(sizeof shared / sizeof *shared == OVS_NUMBER_range_count - HD_SHARED_KERNELS,
              "every kernel has its entry");

/* Special entry points. What a row's text is compiled for is promised to the compiler, so that the rest of it falls
 * out, and registers with it; `blocks` of `threads` run on a multiprocessor at a time. plain: no segment has digests.
 * find: besides, all items are finds. */
#define OVS_SPECIAL(name, text, promise, threads, blocks)                                              \
    static __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ ovs_args a) \
    {                                                                                                  \
        __builtin_assume(promise);                                                                     \
        text(&a);                                                                                      \
    }
#define OVS_PLAIN a.v.guided == 0
#define OVS_FINDS !a.b.each &&a.b.op == HD_OP_FIND
OVS_SPECIAL(ovs_special_quad_plain, ovs_quad_items, OVS_PLAIN, OVS_QUAD_THREADS, 2)
OVS_SPECIAL(ovs_special_quad_plain_find, ovs_quad_items, (OVS_PLAIN) && (OVS_FINDS), OVS_QUAD_THREADS, 3)
OVS_SPECIAL(ovs_special_quad_find, ovs_quad_items, OVS_FINDS, OVS_QUAD_THREADS, 3)
OVS_SPECIAL(ovs_special_flip_plain, ovs_flip_items, OVS_PLAIN, GPU_ITEMS_THREADS, 7)
OVS_SPECIAL(ovs_special_probe4_plain, ovs_probe4_items, OVS_PLAIN, GPU_ITEMS_THREADS, 6)
OVS_SPECIAL(ovs_special_probe8_plain, ovs_probe8_items, OVS_PLAIN, GPU_ITEMS_THREADS, 7)
OVS_SPECIAL(ovs_special_probe16_plain, ovs_probe16_items, OVS_PLAIN, GPU_ITEMS_THREADS, 8)
OVS_SPECIAL(ovs_special_probe32_plain, ovs_probe32_items, OVS_PLAIN, GPU_ITEMS_THREADS, 8)

/* A row's entry point, and its special ones; where `finds`, for finds alone. */
static const struct {
    hd_kernel_entry row, special;
    bool plain, finds;
} specials[] = {
    { ovs_kernel_quad_items, ovs_special_quad_plain_find, true, true },
    { ovs_kernel_quad_items, ovs_special_quad_find, false, true },
    { ovs_kernel_quad_items, ovs_special_quad_plain, true, false },
    { ovs_kernel_flip_items, ovs_special_flip_plain, true, false },
    { ovs_kernel_probe4_items, ovs_special_probe4_plain, true, false },
    { ovs_kernel_probe8_items, ovs_special_probe8_plain, true, false },
    { ovs_kernel_probe16_items, ovs_special_probe16_plain, true, false },
    { ovs_kernel_probe32_items, ovs_special_probe32_plain, true, false },
};

static const void *special_for(const void *row, const ovs_args *a)
{
    bool plain = a->v.guided == 0, finds = !a->b.each && a->b.op == HD_OP_FIND;
    for (const auto &s : specials)
        if (s.row.address == row && (plain || !s.plain) && (finds || !s.finds)) return s.special.address;
    return row;
}

extern "C" const void *ovs_cuda_entry(uint32_t kernel, const void *args)
{
    const void *of_ranges = ovs_cuda_range_entry(kernel);
    if (of_ranges && static_cast<const ovs_view *>(args)->ranges) return of_ranges;
    if (kernel >= OVS_NUMBER_range_count) return nullptr;
    if (kernel >= HD_SHARED_KERNELS) return shared[kernel - HD_SHARED_KERNELS].address;
    const hd_variant_row *row = hd_variant_row_numbered(ovs_cuda_variants, kernel);
    return row ? special_for(row->entry.address, static_cast<const ovs_args *>(args)) : nullptr;
}
