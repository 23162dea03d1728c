/* SPDX-License-Identifier: Apache-2.0
 *
 * add.h - accum_or_assign's arithmetic, element by element, on values in device memory. f16 and bf16 are widened, added
 * as f32 and rounded to nearest even; integers wrap. Written apart from ref/accum.c, which judges it.
 */
#ifndef GPU_ADD_H
#define GPU_ADD_H

#ifndef __CUDA_ARCH__
#include <string.h>
#endif

#include "heddle.h"
#include "simt/simt.h"

SIMT_FN float gpu_float_of(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
#endif
}

SIMT_FN uint32_t gpu_bits_of(float f)
{
#ifdef __CUDA_ARCH__
    return __float_as_uint(f);
#else
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
#endif
}

/* binary16: the exponent is rebased from 15 to 127. A subnormal is its fraction times 2^-24, which f32 holds. */
SIMT_FN float gpu_f16_widen(uint32_t h)
{
    uint32_t sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
    if (rest >= 0x7c00u) return gpu_float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x0400u) return gpu_float_of(sign | ((rest << 13) + (112u << 23)));
    return gpu_float_of(sign | gpu_bits_of((float)rest * 5.9604644775390625e-8f));
}

SIMT_FN uint32_t gpu_f16_round(float f)
{
    uint32_t x = gpu_bits_of(f), sign = x >> 16 & 0x8000u, size = x & 0x7fffffffu;
    if (size > 0x7f800000u) return sign | 0x7e00u | (size >> 13 & 0x3ffu);
    if (size >= 0x477ff000u) return sign | 0x7c00u; /* 65,520 is half way to 2^16, and even is up */
    if (size >= 0x38800000u) return sign | ((size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13);
    /* A subnormal: 0.5 has 2^-24 as the unit of its last bit, so that this addition rounds. */
    return sign | (gpu_bits_of(gpu_float_of(size) + 0.5f) - 0x3f000000u);
}

SIMT_FN float gpu_bf16_widen(uint32_t h) { return gpu_float_of(h << 16); }

SIMT_FN uint32_t gpu_bf16_round(float f)
{
    uint32_t x = gpu_bits_of(f);
    if ((x & 0x7fffffffu) > 0x7f800000u) return x >> 16 | 0x40u;
    return (x + 0x7fffu + (x >> 16 & 1u)) >> 16;
}

SIMT_FN uint32_t gpu_elem_bytes(uint32_t elem)
{
    return elem == HD_F16 || elem == HD_BF16 ? 2 : elem == HD_F32 || elem == HD_I32 ? 4 : 8;
}

SIMT_FN uint64_t gpu_sum(uint32_t elem, uint64_t a, uint64_t b)
{
    switch (elem) {
    case HD_F32: return gpu_bits_of(gpu_float_of((uint32_t)a) + gpu_float_of((uint32_t)b));
    case HD_F16: return gpu_f16_round(gpu_f16_widen((uint32_t)a) + gpu_f16_widen((uint32_t)b));
    case HD_BF16: return gpu_bf16_round(gpu_bf16_widen((uint32_t)a) + gpu_bf16_widen((uint32_t)b));
    default: return a + b; /* what is too much is cut off by the store */
    }
}

/* An element of n bytes, by one access where it lies on a multiple of n, else by bytes. */
SIMT_FN uint64_t gpu_elem_load(const uint8_t *p, uint32_t n)
{
    uint64_t x = 0;
    if (n == 8 && (uintptr_t)p % 8 == 0) return simt_ld_u64((const uint64_t *)(const void *)p);
    if (n == 4 && (uintptr_t)p % 4 == 0) return simt_ld_u32((const uint32_t *)(const void *)p);
    for (uint32_t k = 0; k < n; k++) x |= (uint64_t)simt_ld_u8(p + k) << 8 * k;
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
        for (uint32_t k = 0; k < n; k++) simt_st_u8(p + k, (uint8_t)(x >> 8 * k));
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
