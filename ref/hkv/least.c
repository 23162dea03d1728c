/* SPDX-License-Identifier: Apache-2.0
 *
 * least.c - see least.h. Which number is the least cannot be predicted, so there is no branch on it.
 */
#include "ref/hkv/least.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* The first of the least of n numbers that are `step` apart, n > 0. Each quarter has a least number of its own, so that
 * no comparison waits for the one before it. step is a constant where this is called, and n if it is a usual one: then
 * there are no branches, and no loop. */
static inline uint32_t first_least(const uint64_t *p, uint32_t n, uint32_t step, uint64_t *least)
{
    uint64_t low[4] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
    size_t quarter = n / 4, at[4] = { 0, 0, 0, 0 };
    for (size_t i = 0; i < quarter; i++)
        for (size_t k = 0; k < 4; k++) {
            uint64_t x = p[(k * quarter + i) * step];
            at[k] = x < low[k] ? i : at[k];
            low[k] = x < low[k] ? x : low[k];
        }
    for (size_t k = 1; k < 4; k++) {
        uint64_t less = (uint64_t)0 - (low[k] < low[0]); /* all bits, or none: gcc makes branches of conditions here */
        at[0] ^= (at[0] ^ (k * quarter + at[k])) & less;
        low[0] ^= (low[0] ^ low[k]) & less;
    }
    for (size_t i = 4 * quarter; i < n; i++) {
        at[0] = p[i * step] < low[0] ? i : at[0];
        low[0] = p[i * step] < low[0] ? p[i * step] : low[0];
    }
    *least = low[0];
    return (uint32_t)at[0];
}

/* The least of HKV_BOUNDED numbers. */
static inline uint64_t least_of_block(const uint64_t *p, uint32_t step)
{
    uint64_t low = p[0];
    for (uint32_t i = 1; i < HKV_BOUNDED; i++) low = p[i * step] < low ? p[i * step] : low;
    return low;
}

/* As first_least, for many numbers: blocks are compared by their least numbers, and one of them is searched. The last
 * block overlaps the one before it. */
static inline uint32_t first_least_of_many(const uint64_t *p, uint32_t n, uint32_t step, uint64_t *least)
{
    uint64_t low = UINT64_MAX;
    size_t at = 0;
    if (n < HKV_BOUNDED) return first_least(p, n, step, least);
    for (size_t i = 0; i < n; i += HKV_BOUNDED) {
        size_t last = n - HKV_BOUNDED, block = i < last ? i : last;
        uint64_t x = least_of_block(p + block * step, step);
        at = x < low ? block : at;
        low = x < low ? x : low;
    }
    return (uint32_t)at + first_least(p + at * step, HKV_BOUNDED, step, least);
}

#ifdef __x86_64__
/* The same of eight numbers at a time, n >= 8: each lane keeps its least number and where that was. Of fewer than some
 * 60 numbers it is slower: the lanes are compared in six steps, and each waits for the one before it. */
__attribute__((target("avx512f"))) static uint32_t first_least_in_lanes(const uint64_t *p, uint32_t n, uint32_t step,
                                                                        uint64_t *least)
{
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    __m512i low = _mm512_set1_epi64(-1), at = lane;
    for (size_t i = 0; i < n; i += 8) {
        size_t last = n - 8, block = i < last ? i : last;
        const uint64_t *from = p + block * step - (step - 1); /* a pair begins with the key */
        __m512i x = _mm512_loadu_si512(from);
        if (step == 2) x = _mm512_permutex2var_epi64(x, odd, _mm512_loadu_si512(from + 8));
        at = _mm512_mask_add_epi64(at, _mm512_cmplt_epu64_mask(x, low), lane, _mm512_set1_epi64((long long)block));
        low = _mm512_min_epu64(low, x);
    }
    *least = _mm512_reduce_min_epu64(low);
    __mmask8 equal = _mm512_cmpeq_epu64_mask(low, _mm512_set1_epi64((long long)*least));
    return (uint32_t)_mm512_mask_reduce_min_epu64(equal, at);
}
#endif

uint32_t hkv_least_score(const hkv_view *v, uint64_t e, uint32_t n, uint64_t *least)
{
    const uint64_t *score = hkv_score_at(v, e);
#ifdef __x86_64__
    enum { LANES_FROM = 64 };
    if (n >= LANES_FROM && __builtin_cpu_supports("avx512f")) return first_least_in_lanes(score, n, v->step, least);
#endif
    return v->step == 1 ? first_least_of_many(score, n, 1, least) : first_least_of_many(score, n, 2, least);
}

uint32_t hkv_least_of_group(const hkv_view *v, uint64_t e, uint64_t *least)
{
    const uint64_t *score = hkv_score_at(v, e);
    HD_ASSERT(e % HKV_BOUNDED == 0, "a group begins in the midst of another");
    return v->step == 1 ? first_least(score, HKV_BOUNDED, 1, least) : first_least(score, HKV_BOUNDED, 2, least);
}

uint32_t hkv_least_bound(const hkv_view *v, uint64_t e, uint64_t *least)
{
    enum { USUAL = 128 / HKV_BOUNDED };
    const uint64_t *bound = v->bound + e / HKV_BOUNDED;
    uint32_t n = v->slots / HKV_BOUNDED;
    HD_ASSERT(e % v->slots == 0 && v->slots % HKV_BOUNDED == 0, "a bucket has no whole groups");
    return HKV_BOUNDED * (n == USUAL ? first_least(bound, USUAL, 1, least) : first_least(bound, n, 1, least));
}
