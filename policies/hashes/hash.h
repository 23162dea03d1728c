/* SPDX-License-Identifier: Apache-2.0
 *
 * hash.h - from a key to its buckets and its digest: one definition for every backend.
 *
 *     h      = mix64(key ^ seed)            64 well-mixed bits; a bijection of the key
 *     first  = h * buckets / 2^64           the bits from the top: any bucket count works, and doubling
 *                                           it splits bucket b into 2b and 2b+1
 *     second = the same of h with its halves exchanged; the next bucket when it equals the first
 *     digest = 1 + 255 * (low 16 bits of both halves, xored) / 2^16      never 0, the EMPTY code
 *
 * Differs: HKV takes h mod buckets and bits 32-39 (its text) or 31:24 (its Algorithm 1) as digest. A
 * remainder costs a 64-bit division and does not split on growth. Folding both halves keeps the digest
 * independent of both buckets up to 2^16 of them, and nearly so up to 2^24: the low bits of either
 * half alone would be spent on choosing the second bucket of a large table.
 */
#ifndef HD_HASH_H
#define HD_HASH_H

#include "simt/fn.h"

/* MurmurHash3's 64-bit finaliser (Appleby). */
HD_FN uint64_t hd_mix64(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    x ^= x >> 33;
    return x;
}

/* The upper 64 bits of a product. */
HD_FN uint64_t hd_mulhi64(uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b);
#else
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)a * b) >> 64);
#endif
}

HD_FN uint64_t hd_hash(uint64_t key, uint64_t seed) { return hd_mix64(key ^ seed); }

HD_FN uint64_t hd_first_bucket(uint64_t h, uint64_t buckets) { return hd_mulhi64(h, buckets); }

/* Never the first; needs buckets >= 2. */
HD_FN uint64_t hd_second_bucket(uint64_t h, uint64_t buckets)
{
    uint64_t first = hd_first_bucket(h, buckets);
    uint64_t b = hd_first_bucket(h << 32 | h >> 32, buckets);
    if (b != first) return b;
    return b + 1 < buckets ? b + 1 : 0;
}

HD_FN uint8_t hd_digest(uint64_t h)
{
    uint32_t low = (uint32_t)(h ^ h >> 32) & 0xffff;
    return (uint8_t)(1 + (low * 255 >> 16));
}

#endif
