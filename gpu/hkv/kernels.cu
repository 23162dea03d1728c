/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_cuda.cu - the HKV kernels as CUDA entry points, and the table that a launch looks them up in.
 */
#include "gpu/entry.h"
#include "gpu/hkv/kernels.h"
#include "gpu/hkv/rows.h"

#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what)

/* For 128 slots, pairs, one operation, one pass (or both over what is present), single or dual: constants, so that the
 * rest of the text falls out. */
#define HKV_SPECIAL_ONE(variant, family, OP, PASS, threads, blocks, mode, is_dual)         \
    static __global__ void __launch_bounds__(threads, blocks)                              \
        hkv_special_##variant##_##OP##_##PASS##_##mode(const __grid_constant__ hkv_args a) \
    {                                                                                      \
        hkv_args b = a;                                                                    \
        b.op = HD_OP_##OP;                                                                 \
        if (HKV_##PASS != HKV_PRESENT) b.pass = HKV_##PASS;                                \
        b.v.dual = is_dual;                                                                \
        b.v.step = 2;                                                                      \
        b.v.slots = 128;                                                                   \
        if (HD_OP_##OP != HD_OP_INSERT_AND_EVICT) b.stage_flag = nullptr;                  \
        if (HD_OP_##OP != HD_OP_FIND) b.fetch_entry = nullptr;                             \
        hkv_##variant##_##family(&b);                                                      \
    }
#define HKV_SPECIAL(variant, family, OP, PASS, threads, blocks, blocks_dual)   \
    HKV_SPECIAL_ONE(variant, family, OP, PASS, threads, blocks, single, false) \
    HKV_SPECIAL_ONE(variant, family, OP, PASS, threads, blocks_dual, dual, true)
#include "gpu/hkv/registry.inc"
#undef HKV_SPECIAL

/* Lists wait for memory: as many warps as there are registers for. */
static __global__ void __launch_bounds__(128, 6) hkv_special_list(const __grid_constant__ hkv_args a)
{
    hkv_list(&a, HKV_BY_WARP, (uint8_t *)0);
}

typedef struct special {
    uint32_t kernel, op, pass;
    const void *entry[2]; /* single, dual */
} special;

static const special specials[] = {
#define HKV_SPECIAL(variant, family, OP, PASS, threads, blocks, blocks_dual) \
    { HKV_NUMBER_##variant##_##family,                                       \
      HD_OP_##OP,                                                            \
      HKV_##PASS,                                                            \
      { (const void *)hkv_special_##variant##_##OP##_##PASS##_single,        \
        (const void *)hkv_special_##variant##_##OP##_##PASS##_dual } },
#include "gpu/hkv/registry.inc"
#undef HKV_SPECIAL
};
#undef HKV_KERNEL

/* In the order of hkv_kernel. */
static const void *const entries[] = {
#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what) \
    (const void *)hkv_kernel_##variant##_##family,
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL
    (const void *)hkv_special_list,      (const void *)hkv_kernel_fetch_sort, (const void *)hkv_kernel_fetch_values,
    (const void *)hkv_kernel_word_enter, (const void *)hkv_kernel_word_leave,
};
enum { SPECIALS = sizeof specials / sizeof *specials };
static_assert(sizeof entries / sizeof *entries == HKV_KERNELS, "every kernel has its entry");
static_assert(HKV_KERNELS + 2 * SPECIALS <= GPU_ENTRIES_MOST, "every entry has its number");

const void *hkv_cuda_entry(uint32_t kernel, const void *args, uint32_t *number)
{
    const hkv_args *a = (const hkv_args *)args;
    if (kernel >= HKV_KERNELS) return nullptr;
    bool usual = kernel < HKV_ROWS && a->v.slots == 128 && a->v.step == 2; /* others have other arguments */
    uint32_t pass = usual ? hkv_is_present(a->pass) ? (uint32_t)HKV_PRESENT : a->pass : 0;
    for (uint32_t s = 0; s < SPECIALS && usual; s++) {
        if (specials[s].kernel != kernel || specials[s].op != a->op || specials[s].pass != pass) continue;
        *number = HKV_KERNELS + 2 * s + a->v.dual;
        return specials[s].entry[a->v.dual];
    }
    *number = kernel;
    return entries[kernel];
}
