/* SPDX-License-Identifier: Apache-2.0
 *
 * median.c - see median.h.
 */
#include "bench/median.h"

#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

double median_of(double *all, size_t n)
{
    qsort(all, n, sizeof *all, by_size);
    return n % 2 ? all[n / 2] : (all[n / 2 - 1] + all[n / 2]) / 2;
}
