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

/* For 16 slots of 64 bits, two hash functions, words, and one operation, or mixed batches: constants, so that the rest of the text falls out. */
#define HIVE_SPECIAL(variant, family, OP, is_mixed, is_distinct, blocks)                                                          \
    static __global__ void __launch_bounds__(HIVE_VOLLEY_THREADS, blocks) hive_special_##variant##_##OP##_##is_mixed##_##is_distinct(const __grid_constant__ hive_args a) \
    {                                                                                                                           \
        hive_kind k = hive_kind_of(&a, 16, 32, 2, false);                                                                       \
        k.op = HD_OP_##OP;                                                                                                      \
        k.mixed = is_mixed;                                                                                                     \
        k.distinct = is_distinct;                                                                                               \
        k.moves = hive_inserts(&k);                                                                                             \
        k.aligned = true;                                                                                                       \
        hive_volleys(&a, &k);                                                                                                   \
    }
#include "gpu/hive/registry.inc"
#undef HIVE_SPECIAL

typedef struct special {
    uint32_t kernel, op;
    bool mixed, distinct;
    const void *entry;
} special;

static const special specials[] = {
#define HIVE_SPECIAL(variant, family, OP, is_mixed, is_distinct, blocks) \
    { HIVE_NUMBER_##variant##_##family, HD_OP_##OP, is_mixed, is_distinct, (const void *)hive_special_##variant##_##OP##_##is_mixed##_##is_distinct },
#include "gpu/hive/registry.inc"
#undef HIVE_SPECIAL
};
#undef HIVE_KERNEL

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
enum { SPECIALS = sizeof specials / sizeof *specials };
static_assert(sizeof entries / sizeof *entries == HIVE_KERNELS, "every kernel has its entry");
static_assert((int)HIVE_KERNELS + (int)SPECIALS <= (int)HIVE_NAMED, "every entry has its number");

/* Whether keys come in, so that it matters whether they are distinct. */
static bool comes_in(const special *s)
{
    return s->mixed || hive_op_inserts(s->op);
}

static bool is_for(const special *s, uint32_t kernel, const hive_args *a)
{
    bool in = comes_in(s), aligned = ((uintptr_t)a->value | (uintptr_t)a->value_out) % 4 == 0;
    bool usual = aligned && a->v.slots == 16 && a->v.half == 32 && a->v.hashes == 2 && !a->v.masks;
    return usual && s->kernel == kernel && s->mixed == (a->each != nullptr) && (s->mixed || s->op == a->op) && a->moves == in && (!in || s->distinct == a->distinct);
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
