/* SPDX-License-Identifier: Apache-2.0
 *
 * explog.h - exp and log for workloads, made of + - * / only, so that every machine, compiler and C
 * library gets the same bits and a seed means the same requests everywhere. (The C library's own differ
 * between libraries, and between processors with and without fused multiply-add.) Relative errors stay
 * below 2^-50 on the ranges named; a test compares them with the C library's.
 *
 * A compiler that fuses a*b + c into one rounding would change the bits. ISO mode (-std=c11) forbids
 * it in gcc, the pragma in clang, -ffp-contract=off in both; the tests pin hashes that would notice.
 */
#ifndef HD_EXPLOG_H
#define HD_EXPLOG_H

#include <string.h>

#include "simt/fn.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* ln 2 in two parts: the first has 32 significant bits, so that its product with an exponent is exact. */
#define HD_LN2_HIGH 0x1.62e42feep-1
#define HD_LN2_LOW  0x1.a39ef35793c76p-33

/* log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1], as 2 atanh(f / (2 + f)): the odd series, cut where
 * its terms fall below 2^-55. Relatively exact near 0. */
HD_FN double hd_log_near_1(double f)
{
    double s = f / (2 + f), z = s * s, z2 = z * z, z4 = z2 * z2;
    double low = (1 + z * (1.0 / 3)) + z2 * (1.0 / 5 + z * (1.0 / 7));
    double mid = (1.0 / 9 + z * (1.0 / 11)) + z2 * (1.0 / 13 + z * (1.0 / 15));
    double high = (1.0 / 17 + z * (1.0 / 19)) + z2 * (1.0 / 21);
    return 2 * s * (low + z4 * (mid + z4 * high));
}

/* log(1 + t) for t > -1, 1 + t at least 2^-1022. */
HD_FN double hd_log1p(double t)
{
    const uint64_t half_root = 0x3fe6a09e667f3bcdu; /* the bits of sqrt(1/2): where a mantissa starts */
    double w = 1 + t, m;
    uint64_t bits;
    memcpy(&bits, &w, 8);
    int64_t e = (int64_t)(bits - half_root) >> 52;
    bits -= (uint64_t)e << 52;
    memcpy(&m, &bits, 8);
    double f = e == 0 ? t : m - 1; /* t itself: 1 + t may have lost its low bits */
    return (double)e * HD_LN2_HIGH + (hd_log_near_1(f) + (double)e * HD_LN2_LOW);
}

HD_FN double hd_log(double x) { return hd_log1p(x - 1); } /* x >= 1/2, below 2^64 */

/* exp(r) - 1 for |r| <= 0.35: the series, cut where its terms fall below 2^-55. */
HD_FN double hd_expm1_near_0(double r)
{
    double r2 = r * r, r4 = r2 * r2;
    double low = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
    double mid = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
    double high = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800));
    return r + r2 * (low + r4 * (mid + r4 * high));
}

/* exp(y) for |y| <= 700. */
HD_FN double hd_exp(double y)
{
    int64_t e = (int64_t)(y * 0x1.71547652b82fep+0 + (y < 0 ? -0.5 : 0.5)); /* y / ln 2, to the nearest */
    double r = (y - (double)e * HD_LN2_HIGH) - (double)e * HD_LN2_LOW, power;
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    memcpy(&power, &bits, 8);
    return power + power * hd_expm1_near_0(r);
}

/* exp(y) - 1, relatively exact near 0; |y| <= 700. */
HD_FN double hd_expm1(double y) { return y > -0.34 && y < 0.34 ? hd_expm1_near_0(y) : hd_exp(y) - 1; }

#endif
