/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_cuda.cu - the Hive kernels as CUDA entry points, and the table that a launch looks them up in.
 */
#define HIVE_MIX64 /* tables with hash functions by name: hive_named_cuda.cu */

#include "gpu/entry.h"
#include "gpu/hive/kernels.h"
#include "gpu/hive/named.h"
#include "gpu/hive/rows.h"

#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what)

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

/* Its text has no constants to be told: what is_for asks is promised to the compiler. */
static __device__ __forceinline__ void items_wabc(const hive_args *a, uint32_t op, bool is_mixed, bool is_distinct)
{
    bool in = is_mixed || hive_op_inserts(op);
    __builtin_assume(a->v.slots == usual_wabc.slots);
    __builtin_assume(a->v.half == 32);
    __builtin_assume(a->v.hashes == 2);
    __builtin_assume(a->v.masks == usual_wabc.masks);
    __builtin_assume((a->each != nullptr) == is_mixed);
    __builtin_assume(is_mixed || a->op == op);
    __builtin_assume(a->moves == in);
    __builtin_assume(!in || a->distinct == is_distinct);
    hive_wabc_items(a);
}

#define HIVE_SPECIAL(variant, family, OP, is_mixed, is_distinct, threads, blocks)                       \
    static __global__ void __launch_bounds__(threads, blocks)                                           \
        hive_special_##variant##_##OP##_##is_mixed##_##is_distinct(const __grid_constant__ hive_args a) \
    {                                                                                                   \
        items_##variant(&a, HD_OP_##OP, is_mixed, is_distinct);                                         \
    }
#include "gpu/hive/registry.inc"
#undef HIVE_SPECIAL

typedef struct special {
    usual shape;
    uint32_t kernel, op;
    bool mixed, distinct;
    const void *entry;
} special;

static const special specials[] = {
#define HIVE_SPECIAL(variant, family, OP, is_mixed, is_distinct, threads, blocks) \
    { usual_##variant, HIVE_NUMBER_##variant##_##family,                          \
      HD_OP_##OP,      is_mixed,                                                  \
      is_distinct,     (const void *)hive_special_##variant##_##OP##_##is_mixed##_##is_distinct },
#include "gpu/hive/registry.inc"
#undef HIVE_SPECIAL
};
#undef HIVE_KERNEL

/* In the order of hive_kernel. */
static const void *const entries[] = {
#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what) \
    (const void *)hive_kernel_##variant##_##family,
#include "gpu/hive/registry.inc"
#undef HIVE_KERNEL
    (const void *)hive_kernel_list,       (const void *)hive_kernel_split,      (const void *)hive_kernel_restash,
    (const void *)hive_kernel_measure,    (const void *)hive_kernel_merge,      (const void *)hive_kernel_thin,
    (const void *)hive_kernel_word_enter, (const void *)hive_kernel_word_leave, (const void *)hive_kernel_count_each,
};
enum { SPECIALS = sizeof specials / sizeof *specials };
static_assert(sizeof entries / sizeof *entries == HIVE_KERNELS, "every kernel has its entry");
static_assert((int)HIVE_KERNELS + (int)SPECIALS <= (int)HIVE_NAMED, "every entry has its number");

/* Whether keys come in, so that it matters whether they are distinct. */
static bool comes_in(const special *s) { return s->mixed || hive_op_inserts(s->op); }

static bool is_for(const special *s, uint32_t kernel, const hive_args *a)
{
    bool in = comes_in(s), aligned = ((uintptr_t)a->value | (uintptr_t)a->value_out) % 4 == 0;
    bool is_usual =
        aligned && a->v.slots == s->shape.slots && a->v.half == 32 && a->v.hashes == 2 && a->v.masks == s->shape.masks;
    return is_usual && s->kernel == kernel && s->mixed == (a->each != nullptr) && (s->mixed || s->op == a->op) &&
           a->moves == in && (!in || s->distinct == a->distinct);
}

const void *hive_cuda_entry(uint32_t kernel, const void *args, uint32_t *number)
{
    const hive_args *a = (const hive_args *)args;
    const void *named = hive_named_entry(kernel, args);
    if (kernel >= HIVE_KERNELS) return nullptr;
    if (named) return *number = HIVE_NAMED + kernel, named;
    for (uint32_t s = 0; s < SPECIALS && kernel < HIVE_ROWS; s++) {
        if (!is_for(&specials[s], kernel, a)) continue;
        *number = HIVE_KERNELS + s;
        return specials[s].entry;
    }
    *number = kernel;
    return entries[kernel];
}
