/* SPDX-License-Identifier: Apache-2.0
 *
 * accum.c - adding values element by element.
 */
#include "ref/accum.h"

#include <string.h>

#include "base/assert.h"

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

float hd_bf16_widen(uint16_t h) { return float_of((uint32_t)h << 16); }

uint16_t hd_bf16_round(float f)
{
    uint32_t x = bits_of(f);
    if (f != f) return (uint16_t)(x >> 16 | 0x40); /* quiet, and not rounded up to infinity */
    return (uint16_t)((x + 0x7fff + (x >> 16 & 1)) >> 16);
}

float hd_f16_widen(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 0x1f, fraction = h & 0x3ff;
    if (exponent == 0x1f) return float_of(sign | 0x7f800000u | fraction << 13);
    if (exponent) return float_of(sign | (exponent + 112) << 23 | fraction << 13);
    float subnormal = (float)fraction * 0x1p-24f; /* exact */
    return float_of(sign | bits_of(subnormal));
}

uint16_t hd_f16_round(float f)
{
    uint32_t x = bits_of(f), sign = x >> 16 & 0x8000, magnitude = x & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff)); /* NaN, made quiet */
    if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00); /* 65,520 and above round to infinity */
    if (magnitude < 0x38800000u) {
        /* Below 2^-14: adding 2^-1 puts the unit of binary16's subnormals, 2^-24, at float's last bit, so
         * that the addition itself rounds to nearest even. */
        uint32_t rounded = bits_of(float_of(magnitude) + 0.5f);
        return (uint16_t)(sign | (rounded - 0x3f000000u));
    }
    uint32_t rebased = magnitude - (112u << 23);
    return (uint16_t)(sign | (rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}

uint32_t hd_elem_bytes(hd_elem e)
{
    static const uint8_t bytes[HD_ELEM_COUNT] = {
        [HD_F32] = 4, [HD_F16] = 2, [HD_BF16] = 2, [HD_I32] = 4, [HD_I64] = 8,
        [HD_U64] = 8, [HD_F64] = 8, [HD_I8] = 1,   [HD_U8] = 1,  [HD_I16] = 2
    };
    HD_ASSERT((unsigned)e < HD_ELEM_COUNT);
    return bytes[e];
}

static void add_one(hd_elem e, void *into, const void *from)
{
    union {
        float f;
        double g;
        uint8_t c;
        uint16_t h;
        uint32_t w;
        uint64_t d;
    } a, b;
    uint32_t bytes = hd_elem_bytes(e);
    memcpy(&a, into, bytes);
    memcpy(&b, from, bytes);
    switch (e) {
    case HD_F32: a.f += b.f; break;
    case HD_F16: a.h = hd_f16_round(hd_f16_widen(a.h) + hd_f16_widen(b.h)); break;
    case HD_BF16: a.h = hd_bf16_round(hd_bf16_widen(a.h) + hd_bf16_widen(b.h)); break;
    case HD_I32: a.w += b.w; break; /* two's complement: signed and unsigned sums have the same bits */
    case HD_F64: a.g += b.g; break;
    case HD_I8:
    case HD_U8: a.c = (uint8_t)(a.c + b.c); break;
    case HD_I16: a.h = (uint16_t)(a.h + b.h); break;
    default: a.d += b.d; break; /* HD_I64, HD_U64 */
    }
    memcpy(into, &a, bytes);
}

void hd_accum_add(hd_elem e, void *into, const void *from, uint32_t bytes)
{
    HD_ASSERT(bytes % hd_elem_bytes(e) == 0, "a value is no whole number of elements");
    for (uint32_t i = 0; i < bytes; i += hd_elem_bytes(e)) add_one(e, (char *)into + i, (const char *)from + i);
}
