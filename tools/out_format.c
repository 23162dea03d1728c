/* SPDX-License-Identifier: Apache-2.0
 *
 * out_format.c - one value of a report as text for people.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/output.h"

static void format_thousands(char text[OUT_CELL], uint64_t n)
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *at = text;
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0) *at++ = ',';
        *at++ = digits[i];
    }
    *at = 0;
}

/* Three significant digits and a unit: the `step`-th power that keeps the number under `step`. */
static void format_scaled(char text[OUT_CELL], double d, double step, const char *const *unit)
{
    int u = 0;
    while (d >= step && unit[u + 1]) d /= step, u++;
    snprintf(text, OUT_CELL, "%.*f%s", d < 10 && (u || d != (double)(int)d) ? 2 : d < 100 && u ? 1 : 0, d, unit[u]);
}

static void format_seconds(char text[OUT_CELL], double s)
{
    if (s < 1e-7)
        snprintf(text, OUT_CELL, "%.1f ns", s * 1e9);
    else if (s < 1e-6)
        snprintf(text, OUT_CELL, "%.0f ns", s * 1e9);
    else if (s < 1e-3)
        snprintf(text, OUT_CELL, "%.1f us", s * 1e6);
    else if (s < 1)
        snprintf(text, OUT_CELL, "%.1f ms", s * 1e3);
    else if (s < 100)
        snprintf(text, OUT_CELL, "%.2f s", s);
    else
        snprintf(text, OUT_CELL, "%.0f:%02d min", (double)(int64_t)(s / 60), (int)((int64_t)s % 60));
}

const char *out_format(char text[OUT_CELL], out_kind kind, out_value v)
{
    static const char *const per_second[] = { "/s", " k/s", " M/s", " G/s", NULL };
    static const char *const bytes[] = { " B", " KiB", " MiB", " GiB", " TiB", NULL };
    double d = v.is == OUT_IS_COUNT ? (double)v.count : v.real;
    if (v.is == OUT_IS_NONE) return strcpy(text, "-");
    if (v.is == OUT_IS_TEXT) return snprintf(text, OUT_CELL, "%s", v.text), text;
    switch (kind) {
    case OUT_TEXT:
    case OUT_PLAIN:
        if (v.is == OUT_IS_COUNT)
            snprintf(text, OUT_CELL, "%" PRIu64, v.count);
        else
            snprintf(text, OUT_CELL, "%g", d);
        break;
    case OUT_COUNT:
        if (v.is == OUT_IS_COUNT)
            format_thousands(text, v.count);
        else
            snprintf(text, OUT_CELL, "%.1f", d);
        break;
    case OUT_HEX: snprintf(text, OUT_CELL, "0x%016" PRIx64, v.count); break;
    case OUT_RATIO: snprintf(text, OUT_CELL, "%.4f", d); break;
    case OUT_PERCENT: snprintf(text, OUT_CELL, "%.1f%%", d * 100); break;
    case OUT_REAL: snprintf(text, OUT_CELL, "%.4g", d); break;
    case OUT_FIXED: snprintf(text, OUT_CELL, "%.2f", d); break;
    case OUT_BYTES: format_scaled(text, d, 1024, bytes); break;
    case OUT_SECONDS: format_seconds(text, d); break;
    case OUT_RATE: format_scaled(text, d, 1000, per_second); break;
    case OUT_FLAG: strcpy(text, v.count ? "yes" : "no"); break;
    }
    return text;
}
