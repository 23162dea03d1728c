/* SPDX-License-Identifier: Apache-2.0
 *
 * chi.h - Pearson's chi-squared test: is this sample drawn from this distribution? Each bin has an expected count. The
 * result is the probability that a true sample deviates at least as much. Bins with a small expected count are joined
 * with the bins after them, so a caller may use any number of bins.
 */
#ifndef CHI_H
#define CHI_H

#include <math.h>

#include "tests/testing.h"

/* Upper tail of the chi-squared distribution, P(X >= x) with `freedom` degrees: the regularised incomplete
 * gamma function Q(freedom/2, x/2), by its series below the mean and its continued fraction above. */
static inline double chi_tail(double freedom, double x)
{
    double a = freedom / 2, y = x / 2;
    if (y <= 0) return 1;
    double scale = exp(a * log(y) - y - lgamma(a));
    if (y < a + 1) {
        double term = 1 / a, sum = term;
        for (double n = a + 1; term > sum * 1e-16; n++) sum += term *= y / n;
        return 1 - scale * sum;
    }
    /* Lentz: b0 + a1/(b1 + a2/(b2 + ...)), bn = y + 2n + 1 - a, an = n (a - n) */
    double b = y + 1 - a, c = 1e300, d = 1 / b, f = d;
    for (int n = 1; n < 100000; n++) {
        double an = n * (a - n);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        f *= c * d;
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return scale * f;
}

/* The probability that n bins of a true sample stray from `expected` at least as far as `seen` does. Bins are
 * joined until each expects 10; both arrays must have the same sum. */
static inline double chi_p(const uint64_t *seen, const double *expected, size_t n)
{
    double x = 0, e = 0, s = 0, left = 0;
    size_t bins = 0;
    for (size_t i = 0; i < n; i++) left += expected[i];
    for (size_t i = 0; i < n; i++) {
        e += expected[i];
        s += (double)seen[i];
        left -= expected[i];
        if (i + 1 < n && (e < 10 || left < 10)) continue; /* what is left joins the last bin */
        check(e > 0 || s == 0, "%g draws in bin %zu, where none can be", s, i);
        if (e > 0) {
            x += (s - e) * (s - e) / e;
            bins++;
        }
        e = s = 0;
    }
    return bins > 1 ? chi_tail((double)(bins - 1), x) : 1;
}

/* Pearson's sum for `classes` that expect the same share of n draws. */
static inline double chi_of_even(const uint64_t *seen, uint64_t classes, uint64_t n)
{
    double expected = (double)n / (double)classes, x = 0;
    for (uint64_t i = 0; i < classes; i++) x += ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected;
    return x;
}

/* Seeds are fixed, so this holds or fails for good; a right sampler had a chance of one in a million to fail
 * it when its seed was chosen. The other end catches samples that are too even to be chance. */
static inline void chi_check(const uint64_t *seen, const double *expected, size_t n)
{
    double p = chi_p(seen, expected, n);
    check(p > 1e-6, "p = %g: not this distribution", p);
    check(p < 1 - 1e-6 || p == 1, "p = 1 - %g: too even", 1 - p);
}

#endif
