/* SPDX-License-Identifier: Apache-2.0
 *
 * special.h - entry points for single operations on usual tables, of which kernels.cu and kernels_scoring.inc each
 * have a list.
 */
#ifndef HKV_SPECIAL_H
#define HKV_SPECIAL_H

#include "gpu/hkv/args.h"
#include "gpu/hkv/variant.h"

/* The element types that special entries leave out. Their code would make the sums of all other types spill registers.
 * The general kernels add them. */
static __host__ __device__ __forceinline__ bool hkv_elem_is_rare(uint32_t elem) { return elem > HD_U64; }

static constexpr uint32_t HKV_BY_QUEUES = HD_QUEUES | HD_REMEMBERS | HD_COUNTS;

/* Special entry points: for 128 slots, pairs, one operation, one pass, single or dual.
 * All that is constant then, so that the compiler removes the rest of the text, and needs fewer registers. `blocks`
 * of 128 threads run on a multiprocessor at a time. */
#define HKV_SPECIAL(name, text, operation, its_pass, is_dual, blocks) \
    HKV_SPECIAL_OF(name, text, operation, its_pass, is_dual, blocks, HKV_APART ? ~HKV_BY_QUEUES : ~0u)
/* The same, for policies with queues. */
#define HKV_SPECIAL_QUEUES(name, text, operation, its_pass, is_dual, blocks) \
    HKV_SPECIAL_OF(name, text, operation, its_pass, is_dual, blocks, ~0u)
#define HKV_SPECIAL_OF(name, text, operation, its_pass, is_dual, blocks, flags)                    \
    static __global__ void __launch_bounds__(128, blocks) name(const __grid_constant__ hkv_args a) \
    {                                                                                              \
        hkv_args b = a;                                                                            \
        b.program = HKV_EXPRESSIONS ? &a.v.program : nullptr; /* no pointer into a copy */         \
        b.op = operation;                                                                          \
        b.groups.pass = its_pass;                                                                  \
        b.v.dual = is_dual;                                                                        \
        b.v.step = 2;                                                                              \
        b.v.slots = 128;                                                                           \
        b.policy_flags &= (flags);                                                                 \
        if (HKV_EXPRESSIONS && !HKV_APART) b.v.policy = HD_POLICY_EXPRESSION;                      \
        if (operation != HD_OP_INSERT_AND_EVICT) b.list.stage_flag = nullptr;                      \
        if (operation != HD_OP_FIND) b.fetch.entry = nullptr;                                      \
        b.holder = 0; /* hkv_special_among() */                                                    \
        if (operation == HD_OP_ACCUM_OR_ASSIGN && hkv_elem_is_rare(b.elem)) b.elem = HD_U64;       \
        text(&b);                                                                                  \
    }

typedef struct hkv_special {
    const hd_variant *variant;
    uint32_t family, op, pass;
    hd_kernel_entry entry[2]; /* single, dual */
} hkv_special;

/* The entry of the list for a launch of this row; NULL: the table or the operation has none. queues: the list is for
 * policies with queues. */
static const hd_kernel_entry *hkv_special_among(const hkv_special *list, size_t n, const hd_variant *variant,
                                                const hd_variant_row *row, const hkv_args *a, bool queues)
{
    if (a->v.slots != 128 || a->v.step != 2 || a->holder) return nullptr;
    if (!(a->policy_flags & HD_QUEUES) == queues) return nullptr;
    if (a->op == HD_OP_ACCUM_OR_ASSIGN && hkv_elem_is_rare(a->elem)) return nullptr;
    for (const hkv_special *s = list; s < list + n; s++)
        if (s->variant == variant && s->family == row->family && s->op == a->op && s->pass == a->groups.pass)
            return s->entry[a->v.dual].address ? &s->entry[a->v.dual] : nullptr;
    return nullptr;
}

#endif
