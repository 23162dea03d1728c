/* SPDX-License-Identifier: Apache-2.0
 *
 * add.h - accum_or_assign's arithmetic, element by element, on values in device memory. f16 and bf16 are widened, added
 * as f32 and rounded to nearest even (simt/float.h); integers wrap. Written apart from ref/accum.c, which judges it.
 *
 * Atomic sums of 1- and 2-byte integers are a compare-and-swap of the 32-bit word that has the element. The word may
 * have bytes of other values, too: while one launch adds atomically, no lane of it may write values in another way. And
 * it may reach up to three bytes beyond the last value: a plane of values is a whole number of words.
 */
#ifndef GPU_ADD_H
#define GPU_ADD_H

#include "heddle.h"
#include "simt/simt.h"

SIMT_FN uint32_t gpu_elem_bytes(uint32_t elem)
{
    if (elem == HD_I8 || elem == HD_U8) return 1;
    if (elem == HD_F16 || elem == HD_BF16 || elem == HD_I16) return 2;
    return elem == HD_F32 || elem == HD_I32 ? 4 : 8;
}

SIMT_FN uint64_t gpu_sum(uint32_t elem, uint64_t a, uint64_t b)
{
    switch (elem) {
    case HD_F32: return simt_sum_f32((uint32_t)a, (uint32_t)b);
    case HD_F64: return simt_sum_f64(a, b);
    case HD_F16: return simt_sum_f16((uint32_t)a, (uint32_t)b);
    case HD_BF16: return simt_sum_bf16((uint32_t)a, (uint32_t)b);
    default: return a + b; /* what is too much is cut off by the store */
    }
}

/* An element of n bytes, by one access where it lies on a multiple of n, else by bytes. */
SIMT_FN uint64_t gpu_elem_load(const uint8_t *p, uint32_t n)
{
    uint64_t x;
    if (n == 8 && (uintptr_t)p % 8 == 0) return simt_ld_u64((const uint64_t *)(const void *)p);
    if (n == 4 && (uintptr_t)p % 4 == 0) return simt_ld_u32((const uint32_t *)(const void *)p);
    x = simt_ld_u8(p);
    if (n > 1) x |= (uint64_t)simt_ld_u8(p + 1) << 8;
    SIMT_ROLLED
    for (uint32_t k = 2; k < n; k++) x |= (uint64_t)simt_ld_u8(p + k) << 8 * k;
    return x;
}

SIMT_FN void gpu_elem_store(uint8_t *p, uint32_t n, uint64_t x)
{
    if (n == 8 && (uintptr_t)p % 8 ==
                      0) { /* GCOVR_EXCL_BR_LINE: here and below, a table's values lie on multiples of their elements */
        simt_st_u64((uint64_t *)(void *)p, x);
    } else if (n == 4 && (uintptr_t)p % 4 == 0) { /* GCOVR_EXCL_BR_LINE */
        simt_st_u32((uint32_t *)(void *)p, (uint32_t)x);
    } else {
        SIMT_ROLLED
        for (uint32_t k = 0; k < n; k++) simt_st_u8(p + k, (uint8_t)(x >> 8 * k));
    }
}

/* A piece of a value is a single element of n bytes, or n = 16 bytes of elements, on a multiple of n. Bytes beyond the
 * n-th are 0. */
SIMT_FN simt_v4 gpu_piece_load(const uint8_t *p, uint32_t n)
{
    if (n == 16) return simt_ld_v4((const simt_v4 *)(const void *)p);
    uint64_t x = gpu_elem_load(p, n);
    simt_v4 r;
    r.x = (uint32_t)x;
    r.y = (uint32_t)(x >> 32);
    r.z = r.w = 0;
    return r;
}

/* The sums of the integers of a word: four, two or one. No carry leaves its integer. */
SIMT_FN uint32_t gpu_integers_sum(uint32_t elem, uint32_t a, uint32_t b)
{
    uint32_t bytes = gpu_elem_bytes(elem), tops = bytes == 1 ? 0x80808080u : bytes == 2 ? 0x80008000u : 0x80000000u;
    return ((a & ~tops) + (b & ~tops)) ^ ((a ^ b) & tops);
}

/* The elements of 32 bits: four of 8 bits, two of 16 bits, or one. */
SIMT_FN uint32_t gpu_word_sum(uint32_t elem, uint32_t a, uint32_t b)
{
    if (elem == HD_F32) return simt_sum_f32(a, b);
    if (elem != HD_F16 && elem != HD_BF16) return gpu_integers_sum(elem, a, b);
    return (uint32_t)gpu_sum(elem, a & 0xffffu, b & 0xffffu) | (uint32_t)gpu_sum(elem, a >> 16, b >> 16) << 16;
}

SIMT_FN simt_v4 gpu_piece_sum(uint32_t elem, simt_v4 a, simt_v4 b)
{
    simt_v4 r;
    if (gpu_elem_bytes(elem) == 8) {
        uint64_t low = gpu_sum(elem, (uint64_t)a.y << 32 | a.x, (uint64_t)b.y << 32 | b.x);
        uint64_t high = gpu_sum(elem, (uint64_t)a.w << 32 | a.z, (uint64_t)b.w << 32 | b.z);
        r.x = (uint32_t)low;
        r.y = (uint32_t)(low >> 32);
        r.z = (uint32_t)high;
        r.w = (uint32_t)(high >> 32);
        return r;
    }
    r.x = gpu_word_sum(elem, a.x, b.x);
    r.y = gpu_word_sum(elem, a.y, b.y);
    r.z = gpu_word_sum(elem, a.z, b.z);
    r.w = gpu_word_sum(elem, a.w, b.w);
    return r;
}

/* Adds a piece of n bytes of 1- or 2-byte integers; n is 1, 2 or 16. The other integers of a word get 0 more. */
SIMT_FN void gpu_small_add(uint32_t elem, uint8_t *p, uint32_t n, simt_v4 x)
{
    uint32_t *word = (uint32_t *)(void *)((uintptr_t)p & ~(uintptr_t)3), words = n == 16 ? 4 : 1;
    x.x <<= 8 * ((uintptr_t)p & 3);
    SIMT_ROLLED
    for (uint32_t k = 0; k < words; k++) {
        uint32_t there, seen = simt_ldrlx_u32(word + k);
        do {
            there = seen;
            seen = simt_cas_u32(word + k, there, gpu_integers_sum(elem, there, x.x), SIMT_RELAXED);
        } while (seen != there);
        x.x = x.y;
        x.y = x.z;
        x.z = x.w;
    }
}

/* Adds a piece of n bytes, each element atomically. Relaxed. */
SIMT_FN void gpu_piece_add(uint32_t elem, uint8_t *p, uint32_t n, simt_v4 x)
{
    void *at = p;
    uint64_t low = (uint64_t)x.y << 32 | x.x, high = (uint64_t)x.w << 32 | x.z;
    bool wide = n == 16;
    switch (elem) {
    case HD_F32:
        if (wide) simt_add_4f32((uint32_t *)at, x);
        if (!wide) simt_add_f32((uint32_t *)at, x.x);
        break;
    case HD_F16:
        if (wide) simt_add_8f16((uint16_t *)at, x);
        if (!wide) simt_add_f16((uint16_t *)at, x.x);
        break;
    case HD_BF16:
        if (wide) simt_add_8bf16((uint16_t *)at, x);
        if (!wide) simt_add_bf16((uint16_t *)at, x.x);
        break;
    case HD_F64:
        simt_add_f64((uint64_t *)at, low);
        if (wide) simt_add_f64((uint64_t *)at + 1, high);
        break;
    case HD_I8:
    case HD_U8:
    case HD_I16: gpu_small_add(elem, p, n, x); break;
    case HD_I32:
        simt_add_u32((uint32_t *)at, x.x, SIMT_RELAXED);
        if (wide) {
            simt_add_u32((uint32_t *)at + 1, x.y, SIMT_RELAXED);
            simt_add_u32((uint32_t *)at + 2, x.z, SIMT_RELAXED);
            simt_add_u32((uint32_t *)at + 3, x.w, SIMT_RELAXED);
        }
        break;
    default:
        simt_add_u64((uint64_t *)at, low, SIMT_RELAXED);
        if (wide) simt_add_u64((uint64_t *)at + 1, high, SIMT_RELAXED);
        break;
    }
}

/* to[] += from[], shared out over the tile. */
SIMT_FN void gpu_add(simt_tile t, uint8_t *to, const uint8_t *from, uint32_t bytes, uint32_t elem)
{
    uint32_t n = gpu_elem_bytes(elem);
    for (uint32_t at = t.rank * n; at < bytes; at += t.size * n) {
        uint64_t old = gpu_elem_load(to + at, n);
        uint64_t add = gpu_elem_load(from + at, n);
        gpu_elem_store(to + at, n, gpu_sum(elem, old, add));
    }
}

#endif
