/* SPDX-License-Identifier: Apache-2.0
 *
 * zipf.h - ranks 1 to n, rank k with probability proportional to k^-s, for any s from 0 to 2 and n up to
 * 2^62, in constant memory: rejection-inversion (Hoermann, Derflinger: Rejection-Inversion to Generate
 * Variates from Monotone Discrete Distributions, ACM TOMACS 6, 1996).
 *
 * With h(x) = x^-s and H an antiderivative of h, draw u evenly between H(1.5) - h(1) and H(n + 0.5) and
 * round H^-1(u) to a rank k. Because h is convex, the stretch of u that rounds to k is a little longer
 * than h(k); u is kept if it falls on the last h(k) of it, else drawn again. Rank 1 is always kept.
 * H(x) is the form that is 0 at 1 and goes over into log x at s = 1 without a seam:
 *
 *     H(x) = (x^(1-s) - 1) / (1 - s) = expm1((1-s) log x) / (1-s)     H^-1(u) = exp(log1p((1-s) u) / (1-s))
 */
#ifndef HD_ZIPF_H
#define HD_ZIPF_H

#include <stdbool.h>

#include "workload/explog.h"
#include "workload/rng.h"

#define HD_ZIPF_KEYS_MAX (1ull << 62)

typedef struct hd_zipf {
    double s;              /* the exponent */
    double slope, inverse; /* 1 - s; 1 / (1 - s), unused at s = 1 */
    double low, step;      /* u = low + j step, j of 53 bits */
    double near;           /* k - x up to this needs no test: it is enough at k = 2, and so everywhere */
    double wide;           /* from this x on, a step of u spans at least WIDE ranks */
    uint64_t n;
} hd_zipf;

/* Where a step of u spans more ranks than this, those low bits of k that neither the step nor the double x can
 * tell are drawn anew, so that every rank can come. The share of a single rank is then below 2^-50. */
#define HD_ZIPF_WIDE 8.0
/* Beyond it, stretch and h(k) differ by less than s (s + 1) / (24 k^2) < 2^-53 of themselves: no test. */
#define HD_ZIPF_FLAT (1ull << 26)

HD_FN double hd_zipf_h(const hd_zipf *z, double x) { return hd_exp(-z->s * hd_log(x)); }

HD_FN double hd_zipf_H(const hd_zipf *z, double x)
{
    double l = hd_log(x);
    return z->slope == 0 ? l : hd_expm1(z->slope * l) * z->inverse;
}

HD_FN double hd_zipf_H_inverse(const hd_zipf *z, double u)
{
    return hd_exp(z->slope == 0 ? u : hd_log1p(z->slope * u) * z->inverse);
}

/* The same exponent over ranks 1 to n, 1 <= n <= 2^62. */
HD_FN void hd_zipf_resize(hd_zipf *z, uint64_t n)
{
    z->n = n;
    z->step = (hd_zipf_H(z, (double)n + 0.5) - z->low) * 0x1p-53;
    /* x^s step = WIDE; never for an n that double can count */
    double ratio = HD_ZIPF_WIDE / z->step, most = 44 * z->s; /* e^44 > 2^63 */
    if (ratio <= 1)
        z->wide = 0;
    else
        z->wide = hd_log(ratio) > most ? 0x1p63 : hd_exp(hd_log(ratio) / z->s);
}

/* 0 <= s <= 2 */
HD_FN hd_zipf hd_zipf_of(double s, uint64_t n)
{
    hd_zipf z = { s, 1 - s, s == 1 ? 0 : 1 / (1 - s), 0, 0, 0, 0, 0 };
    z.low = hd_zipf_H(&z, 1.5) - 1;
    z.near = 2 - hd_zipf_H_inverse(&z, hd_zipf_H(&z, 2.5) - hd_zipf_h(&z, 2));
    hd_zipf_resize(&z, n);
    return z;
}

HD_FN uint64_t hd_zipf_rank(const hd_zipf *z, hd_rng *g)
{
    if (z->s == 0) return 1 + hd_rng_below(g, z->n);
    for (;;) {
        double u = z->low + (double)(hd_rng_next(g) >> 11) * z->step;
        if (z->slope * u <= -1) continue; /* x without end: u was rounded past H(n + 0.5) */
        double x = hd_zipf_H_inverse(z, u);
        if (x >= 0x1p63) continue;
        uint64_t k = (uint64_t)(x + 0.5);
        if (x >= z->wide) {
            double ranks = z->step * x / (1 + z->slope * u); /* that a step spans here: step / h(x) */
            if (ranks > 0x1p60) ranks = 0x1p60;
            uint64_t low_bits = UINT64_MAX >> (__builtin_clzll((uint64_t)ranks) - 1);
            k = (k & ~low_bits) | (hd_rng_next(g) & low_bits);
        }
        if (k < 1) k = 1;
        if (k > z->n) continue; /* past it again, but less */
        if ((double)k - x <= z->near || k >= HD_ZIPF_FLAT || x >= z->wide) return k;
        if (u >= hd_zipf_H(z, (double)k + 0.5) - hd_zipf_h(z, (double)k)) return k;
    }
}

#endif
