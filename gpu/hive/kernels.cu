/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.cu - the Hive kernels as CUDA entry points, and the table that a launch looks them up in.
 */
#define HIVE_MIX64 /* tables with hash functions by name: kernels_named.cu */

#define HIVE_REGISTRY hive_cuda_variants
#include "gpu/hive/registry.h"

#include "gpu/hive/kernel_numbers.h"
#include "gpu/hive/named.h"

/* What a special entry is compiled for: a variant's usual table, with two hash functions and slots of 64 bits, and one
 * operation, or mixed batches. All that is constant then, so that the rest of the text falls out, and registers with
 * it. */
typedef struct usual {
    uint32_t slots;
    bool masks;
} usual;
static constexpr usual usual_batched = { 16, false }, usual_wabc = { 32, true }; /* the paper's bucket, with its mask */

static __device__ __forceinline__ void items_batched(const hive_args *a, uint32_t op, bool is_mixed, bool is_distinct)
{
    hive_kind k = hive_kind_of(a, usual_batched.slots, 32, 2, usual_batched.masks);
    k.op = op;
    k.mixed = is_mixed;
    k.distinct = is_distinct;
    k.moves = hive_inserts(&k);
    k.aligned = true;
    hive_batcheds(a, &k);
}

/* The operation is a constant. What else is_for asks is promised to the compiler. */
static __device__ __forceinline__ void items_wabc(const hive_args *a, uint32_t op, bool is_mixed, bool is_distinct)
{
    bool in = is_mixed || gpu_op_inserts(op);
    __builtin_assume(a->v.slots == usual_wabc.slots);
    __builtin_assume(a->v.half == 32);
    __builtin_assume(a->v.hashes == 2);
    __builtin_assume(a->v.masks == usual_wabc.masks);
    __builtin_assume(a->moves == in);
    __builtin_assume(!in || a->b.distinct == is_distinct);
    hive_items_as(a, simt_tile_of(32), op, is_mixed);
}

/* Special entry points; `blocks` of `threads` run on a multiprocessor at a time. */
#define HIVE_SPECIAL(name, text, operation, is_mixed, is_distinct, threads, blocks)                     \
    static __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ hive_args a) \
    {                                                                                                   \
        text(&a, operation, is_mixed, is_distinct);                                                     \
    }
/* clang-format off */
HIVE_SPECIAL(hive_special_batched_FIND_false_false,
             items_batched, HD_OP_FIND, false, false, HIVE_BATCHED_THREADS, 4)
HIVE_SPECIAL(hive_special_batched_FIND_PTR_false_false,
             items_batched, HD_OP_FIND_PTR, false, false, HIVE_BATCHED_THREADS, 4)
HIVE_SPECIAL(hive_special_batched_CONTAINS_false_false,
             items_batched, HD_OP_CONTAINS, false, false, HIVE_BATCHED_THREADS, 4)
HIVE_SPECIAL(hive_special_batched_ASSIGN_false_false,
             items_batched, HD_OP_ASSIGN, false, false, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_batched_ASSIGN_VALUES_false_false,
             items_batched, HD_OP_ASSIGN_VALUES, false, false, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_batched_INSERT_OR_ASSIGN_false_false,
             items_batched, HD_OP_INSERT_OR_ASSIGN, false, false, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_batched_INSERT_OR_ASSIGN_false_true,
             items_batched, HD_OP_INSERT_OR_ASSIGN, false, true, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_batched_FIND_OR_INSERT_false_false,
             items_batched, HD_OP_FIND_OR_INSERT, false, false, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_batched_FIND_OR_INSERT_false_true,
             items_batched, HD_OP_FIND_OR_INSERT, false, true, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_batched_ACCUM_OR_ASSIGN_false_false,
             items_batched, HD_OP_ACCUM_OR_ASSIGN, false, false, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_batched_ACCUM_OR_ASSIGN_false_true,
             items_batched, HD_OP_ACCUM_OR_ASSIGN, false, true, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_batched_ERASE_false_false,
             items_batched, HD_OP_ERASE, false, false, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_batched_FIND_true_false,
             items_batched, HD_OP_FIND, true, false, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_batched_FIND_true_true,
             items_batched, HD_OP_FIND, true, true, HIVE_BATCHED_THREADS, 3)
HIVE_SPECIAL(hive_special_wabc_FIND_false_false,
             items_wabc, HD_OP_FIND, false, false, 128, 8)
HIVE_SPECIAL(hive_special_wabc_INSERT_OR_ASSIGN_false_false,
             items_wabc, HD_OP_INSERT_OR_ASSIGN, false, false, 128, 6)
HIVE_SPECIAL(hive_special_wabc_INSERT_OR_ASSIGN_false_true,
             items_wabc, HD_OP_INSERT_OR_ASSIGN, false, true, 128, 6)
HIVE_SPECIAL(hive_special_wabc_ERASE_false_false,
             items_wabc, HD_OP_ERASE, false, false, 128, 8)
HIVE_SPECIAL(hive_special_wabc_FIND_true_false,
             items_wabc, HD_OP_FIND, true, false, 128, 5)
HIVE_SPECIAL(hive_special_wabc_FIND_true_true,
             items_wabc, HD_OP_FIND, true, true, 128, 5)
/* clang-format on */

typedef struct special {
    const hd_variant *variant; /* its row of items */
    usual shape;
    uint32_t op;
    bool mixed, distinct;
    hd_kernel_entry entry;
} special;

/* clang-format off */
static const special specials[] = {
    { &hive_variant_batched, usual_batched, HD_OP_FIND, false, false,
      hive_special_batched_FIND_false_false },
    { &hive_variant_batched, usual_batched, HD_OP_FIND_PTR, false, false,
      hive_special_batched_FIND_PTR_false_false },
    { &hive_variant_batched, usual_batched, HD_OP_CONTAINS, false, false,
      hive_special_batched_CONTAINS_false_false },
    { &hive_variant_batched, usual_batched, HD_OP_ASSIGN, false, false,
      hive_special_batched_ASSIGN_false_false },
    { &hive_variant_batched, usual_batched, HD_OP_ASSIGN_VALUES, false, false,
      hive_special_batched_ASSIGN_VALUES_false_false },
    { &hive_variant_batched, usual_batched, HD_OP_INSERT_OR_ASSIGN, false, false,
      hive_special_batched_INSERT_OR_ASSIGN_false_false },
    { &hive_variant_batched, usual_batched, HD_OP_INSERT_OR_ASSIGN, false, true,
      hive_special_batched_INSERT_OR_ASSIGN_false_true },
    { &hive_variant_batched, usual_batched, HD_OP_FIND_OR_INSERT, false, false,
      hive_special_batched_FIND_OR_INSERT_false_false },
    { &hive_variant_batched, usual_batched, HD_OP_FIND_OR_INSERT, false, true,
      hive_special_batched_FIND_OR_INSERT_false_true },
    { &hive_variant_batched, usual_batched, HD_OP_ACCUM_OR_ASSIGN, false, false,
      hive_special_batched_ACCUM_OR_ASSIGN_false_false },
    { &hive_variant_batched, usual_batched, HD_OP_ACCUM_OR_ASSIGN, false, true,
      hive_special_batched_ACCUM_OR_ASSIGN_false_true },
    { &hive_variant_batched, usual_batched, HD_OP_ERASE, false, false,
      hive_special_batched_ERASE_false_false },
    { &hive_variant_batched, usual_batched, HD_OP_FIND, true, false,
      hive_special_batched_FIND_true_false },
    { &hive_variant_batched, usual_batched, HD_OP_FIND, true, true,
      hive_special_batched_FIND_true_true },
    { &hive_variant_wabc, usual_wabc, HD_OP_FIND, false, false,
      hive_special_wabc_FIND_false_false },
    { &hive_variant_wabc, usual_wabc, HD_OP_INSERT_OR_ASSIGN, false, false,
      hive_special_wabc_INSERT_OR_ASSIGN_false_false },
    { &hive_variant_wabc, usual_wabc, HD_OP_INSERT_OR_ASSIGN, false, true,
      hive_special_wabc_INSERT_OR_ASSIGN_false_true },
    { &hive_variant_wabc, usual_wabc, HD_OP_ERASE, false, false,
      hive_special_wabc_ERASE_false_false },
    { &hive_variant_wabc, usual_wabc, HD_OP_FIND, true, false,
      hive_special_wabc_FIND_true_false },
    { &hive_variant_wabc, usual_wabc, HD_OP_FIND, true, true,
      hive_special_wabc_FIND_true_true },
};
/* clang-format on */

static const hd_kernel_entry shared[] = {
#define HIVE_KERNEL(number, entry, args, text) entry,
#include "gpu/hive/kernels.inc"
#undef HIVE_KERNEL
};

/* Whether keys come in, so that it matters whether they are distinct. */
static bool comes_in(const special *s) { return s->mixed || gpu_op_inserts(s->op); }

static bool is_for(const special *s, const hd_variant *variant, const hive_args *a)
{
    bool in = comes_in(s), aligned = ((uintptr_t)a->b.value | (uintptr_t)a->b.value_out) % 4 == 0;
    bool is_usual =
        aligned && a->v.slots == s->shape.slots && a->v.half == 32 && a->v.hashes == 2 && a->v.masks == s->shape.masks;
    return is_usual && s->variant == variant && s->mixed == (a->b.each != nullptr) && (s->mixed || s->op == a->b.op) &&
           a->moves == in && (!in || s->distinct == a->b.distinct);
}

extern "C" const void *hive_cuda_entry(uint32_t kernel, const void *args)
{
    const hive_args *a = (const hive_args *)args;
    const void *named = hive_named_entry(kernel, args);
    const hd_variant *of;
    if (named) return named;
    if (kernel >= HD_SHARED_KERNELS)
        return kernel < HIVE_KERNELS ? shared[kernel - HD_SHARED_KERNELS].address : nullptr;
    const hd_variant_row *row = hd_variant_row_at(hive_cuda_variants, kernel, &of);
    if (!row) return nullptr;
    for (const special &s : specials)
        if (row->family == GPU_ITEMS && is_for(&s, of, a)) return s.entry.address;
    return row->entry.address;
}

extern "C" const void *hive_cuda_module(uint32_t i)
{
    return i == 0 ? shared[0].address : i == 1 ? hive_named_module() : nullptr;
}
