/* SPDX-License-Identifier: Apache-2.0
 *
 * zipf_fit.c - the likeliest exponent, by bisection.
 *
 * With c(r) requests of rank r, the log likelihood of s is -s * sum c(r) ln r - C ln H(s), where
 * H(s) = sum r^-s over ranks 1 to N. It is concave, and flat where the observed mean of ln r is the law's:
 * sum r^-s ln r / H(s), which falls as s grows.
 */
#include "tools/zipf_fit.h"

#include <math.h>

/* The sum of f(r) = r^-s (ln r)^p for r in first .. last, p 0 or 1: exactly up to HEAD, then by the integral and the
 * ends (Euler and Maclaurin; the next term is f'/12, below 1e-8 of the sum). */
enum { HEAD = 4096 };

static double term(double r, double s, int p) { return pow(r, -s) * (p ? log(r) : 1); }

/* An antiderivative of term. */
static double integral(double r, double s, int p)
{
    double a = 1 - s, l = log(r);
    if (fabs(a) < 1e-6) return p ? l * l / 2 : l;
    return p ? pow(r, a) * (l / a - 1 / (a * a)) : pow(r, a) / a;
}

static double sum(uint64_t first, uint64_t last, double s, int p)
{
    double all = 0;
    uint64_t r = first;
    for (; r <= last && r <= HEAD; r++) all += term((double)r, s, p);
    if (r > last) return all;
    double from = (double)(r - 1), to = (double)last; /* both above HEAD, or HEAD itself */
    return all + integral(to, s, p) - integral(from, s, p) + (term(to, s, p) - term(from, s, p)) / 2;
}

/* ln 1 + ... + ln n. */
static double ln_factorial(uint64_t n) { return lgamma((double)n + 1); }

/* Ranks of equal counts are one step: their cumulative share is a straight line, so the gap, which is to a
 * curve bent one way, is greatest at an end or inside; ends and middle are compared. */
static double gap_of(const tally_step *step, size_t steps, uint64_t requests, uint64_t keys, double s)
{
    double gap = 0, all = sum(1, keys, s, 0), seen = 0, expected = 0;
    uint64_t rank = 0;
    for (size_t i = steps; i-- && step[i].times >= ZIPF_FIT_TIMES;) {
        uint64_t part[2] = { (step[i].keys + 1) / 2, step[i].keys / 2 };
        for (int k = 0; k < 2; k++) {
            seen += (double)(part[k] * step[i].times) / (double)requests;
            expected += part[k] ? sum(rank + 1, rank + part[k], s, 0) / all : 0;
            rank += part[k];
            gap = fmax(gap, fabs(seen - expected));
        }
    }
    return gap;
}

zipf_fit zipf_fit_steps(const tally_step *step, size_t steps)
{
    zipf_fit fit = { 0, 0, 0 };
    uint64_t keys = 0, requests = 0;
    double ln_ranks = 0; /* summed over requests */
    for (size_t i = steps; i-- && step[i].times >= ZIPF_FIT_TIMES;) {
        ln_ranks += (double)step[i].times * (ln_factorial(keys + step[i].keys) - ln_factorial(keys));
        keys += step[i].keys;
        requests += step[i].keys * step[i].times;
    }
    if (keys < ZIPF_FIT_KEYS) return fit;
    double mean = ln_ranks / (double)requests, low = 0, high = 4;
    for (int i = 0; i < 40; i++) {
        double s = (low + high) / 2;
        if (sum(1, keys, s, 1) / sum(1, keys, s, 0) > mean)
            low = s;
        else
            high = s;
    }
    fit.keys = keys;
    fit.exponent = (low + high) / 2;
    fit.gap = gap_of(step, steps, requests, keys, fit.exponent);
    return fit;
}
