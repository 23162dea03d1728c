/* SPDX-License-Identifier: Apache-2.0
 *
 * lrfu.c - full:lrfu, LRFU of Lee et al. (IEEE Transactions on Computers, 2001, section 2): a request t requests ago
 * weighs (1/2)^(t / 1024), and the entry with the least sum of weights leaves.
 *
 * Weights keep their order as time goes by, so a sum is kept as that of 2^(n / 1024) over the numbers n of the entry's
 * requests: a mantissa and an exponent. The powers come from square roots, which are the same on every machine.
 */
#include <math.h>

#include "tools/caches/cache.h"

enum { PERIOD_BITS = 10, PERIOD = 1 << PERIOD_BITS }; /* requests in which a weight halves */

typedef struct lrfu {
    double power[PERIOD]; /* 2^(i / PERIOD) */
} lrfu;

static hd_status lrfu_open(baseline *b)
{
    double *power = ((lrfu *)b->own)->power, root = 2;
    power[0] = 1;
    for (int bit = PERIOD / 2; bit; bit /= 2) { /* the power of each bit, then of each number by its bits */
        root = sqrt(root);
        for (int i = 0; i < PERIOD; i += 2 * bit) power[i + bit] = power[i] * root;
    }
    return HD_OK;
}

/* The rank of a sum: its exponent, and as time its mantissa, 1 to 2, whose bits are in the order of its values. */
static void weight_split(double mantissa, uint64_t exponent, cache_rank *x)
{
    if (mantissa >= 2) {
        mantissa /= 2;
        exponent++;
    }
    x->rank = exponent;
    memcpy(&x->time, &mantissa, sizeof mantissa);
}

/* The sum with the present request. old: NULL, or the sum without it, which is less. */
static cache_rank weight_add(const baseline *b, const cache_rank *old)
{
    double mantissa = ((const lrfu *)b->own)->power[b->number % PERIOD], sum = 0;
    uint64_t exponent = b->number / PERIOD;
    cache_rank x;
    if (old) memcpy(&sum, &old->time, sizeof sum);
    if (old && old->rank > exponent) {
        sum += ldexp(mantissa, -(int)(old->rank - exponent));
        exponent = old->rank;
    } else if (old && exponent - old->rank < 64)
        sum = mantissa + ldexp(sum, -(int)(exponent - old->rank));
    else
        sum = mantissa;
    weight_split(sum, exponent, &x);
    return x;
}

static hd_status lrfu_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    cache_rank x = weight_add(b, cache_heap_of(b, at));
    cache_heap_set(b, at, x.rank, x.time);
    return HD_OK;
}

static void lrfu_miss(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    while (cache_lacks(b, size)) cache_heap_drop(b);
    cache_rank x = weight_add(b, NULL);
    cache_heap_add(b, cache_enter(b, at, r, size), x.rank, x.time);
}

const cache_kind cache_lrfu = {
    .row = { "full:lrfu", "the least sum of weights leaves; a request's weight halves in 1024 requests",
             "ToC 50(12), 2001, section 2", "a sum per entry", .bytes = true },
    .hit = lrfu_hit,
    .miss = lrfu_miss,
    .open = lrfu_open,
    .own = sizeof(lrfu),
    .heap = true,
};
