/* SPDX-License-Identifier: Apache-2.0
 *
 * median.h - statistics of repeated measurements.
 */
#ifndef HD_MEDIAN_H
#define HD_MEDIAN_H

#include <stddef.h>

/* Sorts all[n], n > 0; of an even number it is the mean of the two in the middle. */
double median_of(double *all, size_t n);

#endif
