/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_bars.c - a panel of bars that lie on their sides: names of groups at the left, or above where they are long, and
 * every value at the end of its bar, or within the parts of a stack.
 */
#include <math.h>
#include <string.h>

#include "tools/scale.h"
#include "tools/svg_parts.h"

enum { ONE_BAR = 16, BAR = 12, GAP = 10 }; /* pixels */

typedef struct room {
    scale x;
    double left; /* of the bars */
    bool above;  /* names of groups stand above their bars */
} room;

/* The value; of several series the name stands beside it in the first group, where there is room for both. */
static const char *value_text(char text[300], const chart_panel *p, size_t k, size_t g, double space)
{
    char value[SCALE_TEXT];
    scale_text(value, p->y.format, p->series[k].point[g].y);
    if (g == 0 && p->count > 1) {
        snprintf(text, 300, "%s  %.200s", value, p->series[k].name);
        if (svg_text_width(text, SVG_TEXT) <= space) return text;
    }
    return strcpy(text, value);
}

static const char *title_text(char text[300], const chart_panel *p, size_t k, size_t g)
{
    char value[SCALE_TEXT];
    scale_exact(value, p->y.format, p->series[k].point[g].y);
    snprintf(text, 300, "%.100s, %.100s: %s", p->group[g], p->series[k].name, value);
    return text;
}

/* The most that one bar, or one stack, needs; and the widest text at its end. */
static double most_of(const chart_panel *p, double *widest)
{
    double most = 0;
    char text[300];
    *widest = 0;
    for (size_t g = 0; g < p->groups; g++) {
        double sum = 0;
        for (size_t k = 0; k < p->count; k++) {
            const chart_point *v = &p->series[k].point[g];
            double width = isnan(v->y) ? 0 : svg_text_width(value_text(text, p, k, g, 0), SVG_TEXT);
            double high = isnan(v->high) ? v->y : v->high;
            if (isnan(high)) continue;
            sum = p->kind == CHART_STACKS ? sum + v->y : high;
            if (sum > most) most = sum;
            if (width > *widest) *widest = width;
        }
    }
    return most;
}

static void room_fit(room *r, const svg_area *a, const chart_panel *p)
{
    double widest = 0, value_width, most = most_of(p, &value_width);
    for (size_t g = 0; g < p->groups; g++) {
        double width = svg_text_width(p->group[g], SVG_TEXT);
        if (width > widest) widest = width;
    }
    r->above = widest > 0.42 * a->width;
    r->left = a->x + (r->above ? 0 : widest + 10);
    if (p->kind == CHART_STACKS) value_width = 0;
    scale_fit(&r->x, &p->y, 0, most, r->left, a->x + a->width - value_width - 14, 5, true);
    if (isnan(p->y.most)) r->x.high = most; /* no ticks are drawn: the values stand there */
    r->x.low = 0;
    if (!(r->x.high > 0)) r->x.high = 1;
}

/* From the least to the most of the repetitions. */
static void whisker(const svg_area *a, const room *r, const chart_point *v, double y)
{
    if (isnan(v->low) || v->high <= v->low) return;
    double from = scale_at(&r->x, v->low), to = scale_at(&r->x, v->high);
    fprintf(a->f, "<path class=\"whisker\" d=\"M%.1f,%.1fH%.1fM%.1f,%.1fv6M%.1f,%.1fv6\"/>\n", from, y, to, from, y - 3,
            to, y - 3);
}

static void bars_of(svg_area *a, const room *r, const chart_panel *p, size_t g)
{
    double height = p->count == 1 ? ONE_BAR : BAR;
    char text[300];
    for (size_t k = 0; k < p->count; k++, a->y += height + 3) {
        const chart_point *v = &p->series[k].point[g];
        if (isnan(v->y)) {
            svg_text(a->f, r->left + 4, a->y + height - 2, "soft", "start", "none");
            continue;
        }
        double end = scale_at(&r->x, v->y), most = isnan(v->high) ? end : scale_at(&r->x, v->high);
        svg_bar(a->f, k, r->left, a->y, end - r->left, height, title_text(text, p, k, g));
        whisker(a, r, v, a->y + height / 2);
        double after = (most > end ? most : end) + 6;
        value_text(text, p, k, g, a->x + a->width - after);
        svg_text(a->f, after, a->y + height - 2, "value", "start", text);
    }
}

static void stack_of(svg_area *a, const room *r, const chart_panel *p, size_t g)
{
    double sum = 0;
    char text[300];
    for (size_t k = 0; k < p->count; k++) {
        const chart_point *v = &p->series[k].point[g];
        if (isnan(v->y) || v->y <= 0) continue;
        double from = scale_at(&r->x, sum), to = scale_at(&r->x, sum += v->y);
        svg_bar(a->f, k, from, a->y, to - from, ONE_BAR + 2, title_text(text, p, k, g));
        scale_text(text, p->y.format, v->y);
        if (svg_text_width(text, SVG_TEXT) + 4 < to - from)
            svg_text(a->f, (from + to) / 2, a->y + ONE_BAR - 2, "within", "middle", text);
    }
    a->y += ONE_BAR + 5;
}

void svg_bars(svg_area *a, const chart_panel *p)
{
    room r;
    if (!a->named && p->count > 1) svg_legend(a, p);
    room_fit(&r, a, p);
    if (*p->y.label) {
        svg_text(a->f, r.left, a->y + 10, "soft", "start", p->y.label);
        a->y += SVG_LINE + 4;
    }
    double from = a->y;
    for (size_t g = 0; g < p->groups; g++) {
        double before = a->y;
        if (r.above)
            a->y += SVG_LINE * svg_lines_of_text(a->f, r.left + 5, a->y + 11, a->width - 5, "name", p->group[g]);
        if (p->kind == CHART_STACKS)
            stack_of(a, &r, p, g);
        else
            bars_of(a, &r, p, g);
        if (!r.above) svg_text(a->f, r.left - 8, (before + a->y) / 2 + 3, "name", "end", p->group[g]);
        a->y += r.above || p->count > 1 ? GAP : 4;
    }
    fprintf(a->f, "<path class=\"axis\" d=\"M%.1f,%.1fV%.1f\"/>\n", r.left, from - 3, a->y - 4);
    a->y += 14;
}
