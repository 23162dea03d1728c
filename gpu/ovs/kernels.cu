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
extern "C" const void *ovs_cuda_range_module(void);

static const hd_kernel_entry shared[] = {
#define OVS_KERNEL(number, entry, args, text) entry,
#define OVS_RANGE_KERNEL(number, entry, args, text)
#include "gpu/ovs/kernels.inc"
#undef OVS_RANGE_KERNEL
#undef OVS_KERNEL
};

/* Special entry points of rows. Their text is compiled for less than the row's: what the rest needs falls out, and
 * registers with it. `blocks` of `threads` run on a multiprocessor at a time.
 *
 * Of `quad`. only: the operation of all items, whose values are aligned then; HD_OP_COUNT_: any. guides: segments may
 * have digests, and entries copies. */
#define QUAD_SPECIAL(name, only, guides, blocks)                                                                \
    static __global__ void __launch_bounds__(OVS_QUAD_THREADS, blocks) name(const __grid_constant__ ovs_args a) \
    {                                                                                                           \
        ovs_quad_kind k = ovs_quad_kind_of(&a);                                                                 \
        if (only != HD_OP_COUNT_) {                                                                             \
            k.op = only;                                                                                        \
            k.mixed = false;                                                                                    \
            k.aligned = true;                                                                                   \
        }                                                                                                       \
        if (!guides) k.guided = k.copies = false;                                                               \
        ovs_quad_run(&a, &k);                                                                                   \
    }
QUAD_SPECIAL(ovs_special_quad_plain, HD_OP_COUNT_, false, 2)
QUAD_SPECIAL(ovs_special_quad_plain_find, HD_OP_FIND, false, 3)
QUAD_SPECIAL(ovs_special_quad_find, HD_OP_FIND, true, 4)
QUAD_SPECIAL(ovs_special_quad_plain_erase, HD_OP_ERASE, false, 3)
QUAD_SPECIAL(ovs_special_quad_plain_put, HD_OP_INSERT_OR_ASSIGN, false, 2)

/* Of `wide`, whose tables hold pairs. only: as above. */
#define WIDE_SPECIAL(name, only, blocks)                                                                        \
    static __global__ void __launch_bounds__(OVS_QUAD_THREADS, blocks) name(const __grid_constant__ ovs_args a) \
    {                                                                                                           \
        ovs_wide_kind k = ovs_wide_kind_of(&a);                                                                 \
        if (only != HD_OP_COUNT_) k.op = only;                                                                  \
        ovs_wide_run(&a, &k);                                                                                   \
    }
WIDE_SPECIAL(ovs_special_wide, HD_OP_COUNT_, 4)
WIDE_SPECIAL(ovs_special_wide_find, HD_OP_FIND, 4)
WIDE_SPECIAL(ovs_special_wide_erase, HD_OP_ERASE, 4)
WIDE_SPECIAL(ovs_special_wide_put, HD_OP_INSERT_OR_ASSIGN, 4)

/* Of others. promise: what is true besides; plain: ovs_is_plain. wide: ovs_view.pairs. */
#define OVS_SPECIAL(name, text, promise, wide, threads, blocks)                                        \
    static __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ ovs_args a) \
    {                                                                                                  \
        __builtin_assume(promise);                                                                     \
        __builtin_assume(a.v.pairs == wide);                                                           \
        text(&a);                                                                                      \
    }
#define OVS_PLAIN a.v.guided == 0 && a.v.copy_sets == 0
OVS_SPECIAL(ovs_special_flip_plain, ovs_flip_items, OVS_PLAIN, 0, GPU_ITEMS_THREADS, 7)
OVS_SPECIAL(ovs_special_flip_words, ovs_flip_items, true, 0, GPU_ITEMS_THREADS, 6)
OVS_SPECIAL(ovs_special_flip_pairs, ovs_flip_items, OVS_PLAIN, 1, GPU_ITEMS_THREADS, 6)
OVS_SPECIAL(ovs_special_probe4_plain, ovs_probe4_items, OVS_PLAIN, 0, GPU_ITEMS_THREADS, 6)
OVS_SPECIAL(ovs_special_probe8_plain, ovs_probe8_items, OVS_PLAIN, 0, GPU_ITEMS_THREADS, 7)
OVS_SPECIAL(ovs_special_probe16_plain, ovs_probe16_items, OVS_PLAIN, 0, GPU_ITEMS_THREADS, 8)
OVS_SPECIAL(ovs_special_probe32_plain, ovs_probe32_items, OVS_PLAIN, 0, GPU_ITEMS_THREADS, 8)

/* A row's entry point, and its special ones: `op` as in QUAD_SPECIAL; plain: as in OVS_SPECIAL.
 * pairs: entries are pairs of words, else words. */
static const struct {
    hd_kernel_entry row, special;
    bool plain;
    uint32_t op;
    bool pairs;
} specials[] = {
    { ovs_kernel_quad_items, ovs_special_quad_plain_find, true, HD_OP_FIND, false },
    { ovs_kernel_quad_items, ovs_special_quad_find, false, HD_OP_FIND, false },
    { ovs_kernel_quad_items, ovs_special_quad_plain_erase, true, HD_OP_ERASE, false },
    { ovs_kernel_quad_items, ovs_special_quad_plain_put, true, HD_OP_INSERT_OR_ASSIGN, false },
    { ovs_kernel_quad_items, ovs_special_quad_plain, true, HD_OP_COUNT_, false },
    { ovs_kernel_wide_items, ovs_special_wide_find, true, HD_OP_FIND, true },
    { ovs_kernel_wide_items, ovs_special_wide_erase, true, HD_OP_ERASE, true },
    { ovs_kernel_wide_items, ovs_special_wide_put, true, HD_OP_INSERT_OR_ASSIGN, true },
    { ovs_kernel_wide_items, ovs_special_wide, true, HD_OP_COUNT_, true },
    { ovs_kernel_flip_items, ovs_special_flip_plain, true, HD_OP_COUNT_, false },
    { ovs_kernel_flip_items, ovs_special_flip_words, false, HD_OP_COUNT_, false },
    { ovs_kernel_flip_items, ovs_special_flip_pairs, true, HD_OP_COUNT_, true },
    { ovs_kernel_probe4_items, ovs_special_probe4_plain, true, HD_OP_COUNT_, false },
    { ovs_kernel_probe8_items, ovs_special_probe8_plain, true, HD_OP_COUNT_, false },
    { ovs_kernel_probe16_items, ovs_special_probe16_plain, true, HD_OP_COUNT_, false },
    { ovs_kernel_probe32_items, ovs_special_probe32_plain, true, HD_OP_COUNT_, false },
};

static const void *special_for(const void *row, const ovs_args *a)
{
    bool plain = ovs_is_plain(&a->v), pairs = a->v.pairs != 0,
         aligned = ((uintptr_t)a->b.value | (uintptr_t)a->b.value_out) % 4 == 0;
    uint32_t op = !a->b.each && aligned ? a->b.op : (uint32_t)HD_OP_COUNT_;
    for (const auto &s : specials)
        if (s.row.address == row && (plain || !s.plain) && (s.op == op || s.op == HD_OP_COUNT_) && s.pairs == pairs)
            return s.special.address;
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

extern "C" const void *ovs_cuda_module(uint32_t i)
{
    return i == 0 ? shared[0].address : i == 1 ? ovs_cuda_range_module() : nullptr;
}
