/* SPDX-License-Identifier: Apache-2.0
 *
 * float.h - floating-point numbers as bits: f32, f64, and the 16-bit formats, which are widened to f32 and rounded to
 * nearest even. Written apart from ref/accum.c, which judges it.
 */
#ifndef SIMT_FLOAT_H
#define SIMT_FLOAT_H

#ifndef __CUDA_ARCH__
#include <string.h>
#endif

#include "simt/fn.h"

HD_FN float simt_float_of(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
#endif
}

HD_FN uint32_t simt_bits_of(float f)
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
HD_FN float simt_f16_widen(uint32_t h)
{
    uint32_t sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
    if (rest >= 0x7c00u) return simt_float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x0400u) return simt_float_of(sign | ((rest << 13) + (112u << 23)));
    return simt_float_of(sign | simt_bits_of((float)rest * 5.9604644775390625e-8f));
}

HD_FN uint32_t simt_f16_round(float f)
{
    uint32_t x = simt_bits_of(f), sign = x >> 16 & 0x8000u, size = x & 0x7fffffffu;
    if (size > 0x7f800000u) return sign | 0x7e00u | (size >> 13 & 0x3ffu);
    if (size >= 0x477ff000u) return sign | 0x7c00u; /* 65,520 is half way to 2^16, and even is up */
    if (size >= 0x38800000u) return sign | ((size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13);
    /* A subnormal: 0.5 has 2^-24 as the unit of its last bit, so that this addition rounds. */
    return sign | (simt_bits_of(simt_float_of(size) + 0.5f) - 0x3f000000u);
}

HD_FN float simt_bf16_widen(uint32_t h) { return simt_float_of(h << 16); }

HD_FN uint32_t simt_bf16_round(float f)
{
    uint32_t x = simt_bits_of(f);
    if ((x & 0x7fffffffu) > 0x7f800000u) return x >> 16 | 0x40u;
    return (x + 0x7fffu + (x >> 16 & 1u)) >> 16;
}

HD_FN uint64_t simt_sum_f64(uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH__
    return (uint64_t)__double_as_longlong(__longlong_as_double((long long)a) + __longlong_as_double((long long)b));
#else
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
#endif
}

HD_FN uint32_t simt_sum_f32(uint32_t a, uint32_t b) { return simt_bits_of(simt_float_of(a) + simt_float_of(b)); }
HD_FN uint32_t simt_sum_f16(uint32_t a, uint32_t b) { return simt_f16_round(simt_f16_widen(a) + simt_f16_widen(b)); }
HD_FN uint32_t simt_sum_bf16(uint32_t a, uint32_t b)
{
    return simt_bf16_round(simt_bf16_widen(a) + simt_bf16_widen(b));
}

#endif
