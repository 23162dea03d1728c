/* SPDX-License-Identifier: Apache-2.0
 *
 * digests.h - compares up to 128 digests of a bucket with one, and answers with a mask: bit i stands for digest i.
 *
 * All 128 slots of a usual bucket are one mask. A processor cannot predict in which half of a bucket a key is, so no
 * branch depends on it.
 *
 * SSE2, which every x86-64 processor has, compares 16 bytes and packs the results into bits in two instructions; no
 * compiler makes the second one out of C. Elsewhere eight bytes are compared in one word.
 */
#ifndef HD_HKV_DIGESTS_H
#define HD_HKV_DIGESTS_H

#include <string.h>

#include "ref/hkv/layout.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { HKV_DIGESTS_AT_ONCE = 128 };

__extension__ typedef unsigned __int128 hkv_mask;

/* Eight digests. In x = word ^ pattern the wanted bytes are zero. A byte of `other` has its highest bit set exactly if
 * that of x is not zero: adding 0x7f to the low seven bits carries into bit 7 unless they are zero, and no byte carries
 * into the next. The product moves bit 8i of the eight flags to bit 56 + i. Bytes are little-endian. */
static inline uint64_t hkv_digests_equal_8(const uint8_t *p, uint8_t digest)
{
    const uint64_t ones = 0x0101010101010101u, low = 0x7f7f7f7f7f7f7f7fu;
    uint64_t word;
    memcpy(&word, p, 8);
    uint64_t x = word ^ ones * digest, other = ((x & low) + low) | x;
    return ((~other >> 7 & ones) * 0x0102040810204080u) >> 56;
}

static inline uint64_t hkv_digests_equal_16(const uint8_t *p, uint8_t digest)
{
#ifdef __SSE2__
    /* a register of 16 equal bytes, by way of a word: gcc has a byte go through memory, which waits for the store */
    __m128i pattern = _mm_set1_epi32((int)(0x01010101u * digest)),
            x = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, pattern));
#else
    return hkv_digests_equal_8(p, digest) | hkv_digests_equal_8(p + 8, digest) << 8;
#endif
}

static inline uint64_t hkv_digests_equal_64(const uint8_t *p, uint8_t digest)
{
    return hkv_digests_equal_16(p, digest) | hkv_digests_equal_16(p + 16, digest) << 16 |
           hkv_digests_equal_16(p + 32, digest) << 32 | hkv_digests_equal_16(p + 48, digest) << 48;
}

/* Of n digests at p, n < 128, those that equal `digest`. Reads these n bytes and no others. Not inline: it is for
 * tables of an unusual number of slots, and would cost the others registers. */
hkv_mask hkv_digests_equal(const uint8_t *p, uint32_t n, uint8_t digest);

/* The number of the lowest bit that is set; 127: none is. */
static inline uint32_t hkv_lowest(hkv_mask mask)
{
    uint64_t low = (uint64_t)mask, high = (uint64_t)(mask >> 64), none = (uint64_t)0 - (low == 0);
    uint64_t half = (low & ~none) | (high & none) | 1ull << 63;
    return (uint32_t)(none & 64) + (uint32_t)__builtin_ctzll(half);
}

static inline uint32_t hkv_bits(hkv_mask mask)
{
    if (!mask) return 0; /* of a full bucket; many processors count in a function */
    return (uint32_t)(__builtin_popcountll((uint64_t)mask) + __builtin_popcountll((uint64_t)(mask >> 64)));
}

/* Which slots of bucket b, from s on, have the digest: a bit for each of up to HKV_DIGESTS_AT_ONCE slots. */
static inline hkv_mask hkv_slots_with(const hkv_view *v, uint64_t b, uint32_t s, uint8_t digest)
{
    const uint8_t *p = v->digest + hkv_entry(v, b, s);
    if (v->slots - s < HKV_DIGESTS_AT_ONCE) return hkv_digests_equal(p, v->slots - s, digest);
    return hkv_digests_equal_64(p, digest) | (hkv_mask)hkv_digests_equal_64(p + 64, digest) << 64;
}

/* The first slot of bucket b that has the digest; v->slots: none. */
static inline uint32_t hkv_first_with(const hkv_view *v, uint64_t b, uint8_t digest)
{
    for (uint32_t s = 0; s < v->slots; s += HKV_DIGESTS_AT_ONCE) {
        hkv_mask match = hkv_slots_with(v, b, s, digest);
        if (match) return s + hkv_lowest(match);
    }
    return v->slots;
}

#endif
