/* SPDX-License-Identifier: Apache-2.0
 *
 * scale.c - see scale.h.
 */
#include "tools/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/output.h"

static void tick_add(scale *s, double value)
{
    if (s->ticks < CHART_TICKS) s->tick[s->ticks++] = value;
}

/* The round number that makes at most `want` steps of `range`. */
static double step_of(double range, int want)
{
    static const double factor[] = { 1, 2, 2.5, 5 };
    double power = pow(10, floor(log10(range / want)));
    for (size_t i = 0; i < sizeof factor / sizeof *factor; i++)
        if (range / (power * factor[i]) <= want + 1e-9) return power * factor[i];
    return power * 10;
}

static void linear(scale *s, int want, bool from_zero)
{
    if (from_zero && s->low > 0) s->low = 0;
    if (!(s->high > s->low)) s->high = s->low + (fabs(s->low) > 1 ? fabs(s->low) : 1);
    double step = step_of(s->high - s->low, want);
    if (from_zero && isnan(s->axis->most)) s->high = ceil(s->high / step - 1e-9) * step;
    double first = ceil(s->low / step - 1e-9), last = floor(s->high / step + 1e-9);
    for (int i = 0; i < CHART_TICKS && first + i <= last; i++) tick_add(s, (first + i) * step);
}

/* Powers of ten; where they are few, twice and five times them, too. */
static void logarithmic(scale *s)
{
    static const double factor[] = { 1, 2, 5 };
    if (!(s->high > s->low)) s->high = 2 * s->low;
    s->low = log10(s->low), s->high = log10(s->high);
    int factors = s->high - s->low < 3 ? 3 : 1;
    for (double power = floor(s->low); power <= s->high; power++)
        for (int f = 0; f < factors; f++) {
            double at = power + log10(factor[f]);
            if (at >= s->low - 1e-9 && at <= s->high + 1e-9) tick_add(s, pow(10, power) * factor[f]);
        }
}

void scale_fit(scale *s, const chart_axis *axis, double low, double high, double start, double end, int want,
               bool from_zero)
{
    *s = (scale){ .axis = axis, .low = low, .high = high, .start = start, .end = end };
    if (!isnan(axis->least)) s->low = axis->least;
    if (!isnan(axis->most)) s->high = axis->most;
    if (axis->log)
        logarithmic(s);
    else
        linear(s, want, from_zero && isnan(axis->least));
    if (!axis->ticks) return;
    s->ticks = 0;
    for (int i = 0; i < axis->ticks; i++) {
        double at = axis->log ? log10(axis->tick[i]) : axis->tick[i];
        if (at >= s->low - 1e-9 && at <= s->high + 1e-9) tick_add(s, axis->tick[i]);
    }
}

double scale_at(const scale *s, double value)
{
    double v = s->axis->log ? log10(value) : value;
    if (v < s->low) v = s->low;
    if (v > s->high) v = s->high;
    return s->start + (s->end - s->start) * (v - s->low) / (s->high - s->low);
}

/* Three digits and a power of 1,000, from 10,000 on; below, the number with separators. */
static void count_text(char text[SCALE_TEXT], double value)
{
    static const char *const unit[] = { "", "k", "M", "G", "T", "P" };
    int u = 0;
    if (fabs(value) < 10000) {
        char cell[OUT_CELL];
        bool whole = value >= 1000 && value == floor(value);
        if (whole)
            snprintf(text, SCALE_TEXT, "%.20s", out_format(cell, OUT_COUNT, out_count((uint64_t)value)));
        else
            snprintf(text, SCALE_TEXT, "%.4g", value);
        return;
    }
    while (fabs(value) >= 999.5 && u < 5) value /= 1000, u++;
    snprintf(text, SCALE_TEXT, "%.3g%s", value, unit[u]);
}

const char *scale_text(char text[SCALE_TEXT], chart_format format, double value)
{
    if (fabs(value) < 1e-12) value = 0; /* a sum of steps, where it should be 0 */
    if (format == CHART_PERCENT)
        snprintf(text, SCALE_TEXT, "%.4g%%", 100 * value);
    else if (format == CHART_PLAIN && fabs(value) < 10000)
        snprintf(text, SCALE_TEXT, "%.4g", value);
    else
        count_text(text, value);
    if (format == CHART_RATE) strcat(text, "/s");
    return text;
}

const char *scale_exact(char text[SCALE_TEXT], chart_format format, double value)
{
    char cell[OUT_CELL];
    if (format == CHART_PERCENT)
        snprintf(text, SCALE_TEXT, "%.6g%%", 100 * value);
    else if (format == CHART_COUNT && value >= 0 && value < 1e15 && value == floor(value))
        snprintf(text, SCALE_TEXT, "%.30s", out_format(cell, OUT_COUNT, out_count((uint64_t)value)));
    else
        snprintf(text, SCALE_TEXT, "%.6g%s", value, format == CHART_RATE ? "/s" : "");
    return text;
}
