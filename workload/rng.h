/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.h - the chance in workloads: 64 random bits, a number below a bound, and the scrambling that
 * turns popularity ranks into keys. Integer arithmetic only: the same on every machine.
 *
 * The generator is xoshiro256** (Blackman, Vigna: Scrambled Linear Pseudorandom Number Generators,
 * ACM TOMS 47, 2021), its state filled by SplitMix64 (Steele, Lea, Flood: Fast Splittable
 * Pseudorandom Number Generators, OOPSLA 2014). Period 2^256 - 1; not for secrets.
 */
#ifndef HD_RNG_H
#define HD_RNG_H

#include "heddle.h"
#include "simt/fn.h"

typedef struct hd_rng {
    uint64_t s[4]; /* not all zero */
} hd_rng;

HD_FN uint64_t hd_rotate_left(uint64_t x, int n) { return (x << n) | (x >> (64 - n)); }

/* A bijection of the 64-bit words in which every input bit moves about half of the output bits
 * (SplitMix64's finaliser; the constants are Stafford's variant 13). */
HD_FN uint64_t hd_avalanche(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#define HD_GOLDEN 0x9e3779b97f4a7c15u /* 2^64 / golden ratio, odd: SplitMix64's step */

HD_FN hd_rng hd_rng_from(uint64_t seed)
{
    hd_rng g;
    for (int i = 0; i < 4; i++) g.s[i] = hd_avalanche(seed + (uint64_t)(i + 1) * HD_GOLDEN); /* four different words */
    return g;
}

HD_FN uint64_t hd_rng_next(hd_rng *g)
{
    uint64_t *s = g->s, out = hd_rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = hd_rotate_left(s[3], 45);
    return out;
}

/* 0 to n - 1, each equally likely; n >= 1. The high word of random x n is the answer, after dropping
 * the 2^64 mod n low words that would favour some (Lemire: Fast Random Integer Generation in an
 * Interval, ACM TOMACS 29, 2019). The division is reached with probability n / 2^64. */
HD_FN uint64_t hd_rng_below(hd_rng *g, uint64_t n)
{
    __extension__ typedef unsigned __int128 wide;
    wide m = (wide)hd_rng_next(g) * n;
    if ((uint64_t)m < n)
        for (uint64_t dropped = (0 - n) % n; (uint64_t)m < dropped;) m = (wide)hd_rng_next(g) * n;
    return (uint64_t)(m >> 64);
}

/* The key of rank i: a bijection of the words that are no reserved key, so that popular keys are not
 * neighbours and no key is reserved. The same for every seed: two runs speak of the same keys. A word
 * that would land on a reserved key walks on along its cycle, as in format-preserving encryption. */
HD_FN uint64_t hd_scramble(uint64_t i)
{
    do i = hd_avalanche(i + HD_GOLDEN);
    while (i >= HD_KEY_RESERVED);
    return i;
}

#endif
