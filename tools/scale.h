/* SPDX-License-Identifier: Apache-2.0
 *
 * scale.h - from numbers to places along an axis, and which numbers to write there.
 */
#ifndef HD_SCALE_H
#define HD_SCALE_H

#include "tools/chart.h"

typedef struct scale {
    const chart_axis *axis;
    double low, high;  /* of the numbers, high > low; logarithms on a logarithmic axis */
    double start, end; /* of the places */
    double tick[CHART_TICKS];
    int ticks;
} scale;

enum { SCALE_TEXT = 40 };

/* An axis for numbers from `low` to `high`, which lies from `start` to `end`, with about `want` ticks. `from_zero`: a
 * linear axis begins at 0, and ends at a tick. */
void scale_fit(scale *s, const chart_axis *axis, double low, double high, double start, double end, int want,
               bool from_zero);

/* The place of a number; of one beyond the axis, the nearer end. */
double scale_at(const scale *s, double value);

/* A number as the axis writes it, and as a reader wants to know it: with six digits. */
const char *scale_text(char text[SCALE_TEXT], chart_format format, double value);
const char *scale_exact(char text[SCALE_TEXT], chart_format format, double value);

#endif
