/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_lines.c - a panel of lines: axes, curves with their ranges, and the name of each at its right end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/scale.h"
#include "tools/svg_parts.h"

enum { MARKED = 60 }; /* points of a curve, at most, that have markers, and their numbers as text */

typedef struct frame {
    scale x, y;
    double left, right, top, bottom;
} frame;

static double widest_name(const chart_panel *p)
{
    double most = 0;
    for (size_t k = 0; k < p->count; k++) {
        double width = svg_text_width(p->series[k].name, SVG_TEXT);
        if (width > most) most = width;
    }
    return most;
}

/* Whether the names stand beside the lines. */
static bool is_named_beside(const chart_panel *p, double width) { return widest_name(p) + 24 <= 0.3 * width; }

static void widen(double *low, double *high, double value)
{
    if (value < *low) *low = value;
    if (value > *high) *high = value;
}

/* The numbers of all series, also of their ranges. */
static void extent(const chart_panel *p, double x[2], double y[2])
{
    x[0] = y[0] = INFINITY, x[1] = y[1] = -INFINITY;
    for (size_t k = 0; k < p->count; k++)
        for (size_t i = 0; i < p->series[k].points; i++) {
            const chart_point *at = &p->series[k].point[i];
            widen(&x[0], &x[1], at->x);
            widen(&y[0], &y[1], at->y);
            if (!isnan(at->low)) widen(&y[0], &y[1], at->low);
            if (!isnan(at->high)) widen(&y[0], &y[1], at->high);
        }
}

/* Where all curves together have few different places, these are the ticks. */
static void ticks_of_points(scale *s, const chart_panel *p)
{
    enum { FEW = 12 };
    double at[FEW];
    int n = 0;
    if (p->x.ticks) return;
    for (size_t k = 0; k < p->count; k++)
        for (size_t i = 0; i < p->series[k].points; i++) {
            double x = p->series[k].point[i].x;
            int place = 0;
            while (place < n && at[place] < x) place++;
            if (place < n && at[place] == x) continue;
            if (n == FEW) return;
            memmove(at + place + 1, at + place, (size_t)(n - place) * sizeof *at);
            at[place] = x;
            n++;
        }
    s->ticks = n;
    memcpy(s->tick, at, (size_t)n * sizeof *at);
}

static void frame_fit(frame *f, const svg_area *a, const chart_panel *p, double at_right)
{
    double x[2], y[2], height = a->width * 0.5;
    char text[SCALE_TEXT];
    extent(p, x, y);
    height = height < 150 ? 150 : height > 300 ? 300 : height;
    f->top = a->y, f->bottom = a->y + height;
    scale_fit(&f->y, &p->y, y[0], y[1], f->bottom, f->top, 5, true);
    double widest = 0;
    for (int i = 0; i < f->y.ticks; i++) {
        double width = svg_text_width(scale_text(text, p->y.format, f->y.tick[i]), SVG_TEXT);
        if (width > widest) widest = width;
    }
    f->left = a->x + widest + 8, f->right = a->x + a->width - at_right;
    scale_fit(&f->x, &p->x, x[0], x[1], f->left + 8, f->right - 8, (int)((f->right - f->left) / 80) + 1, false);
    if (p->kind == CHART_LINES && (p->x.log || p->series[0].points <= 12)) ticks_of_points(&f->x, p);
}

static void axes(svg_area *a, const chart_panel *p, const frame *f)
{
    char text[SCALE_TEXT];
    for (int i = 0; i < f->y.ticks; i++) {
        double y = scale_at(&f->y, f->y.tick[i]);
        fprintf(a->f, "<path class=\"grid\" d=\"M%.1f,%.1fH%.1f\"/>\n", f->left, y, f->right);
        svg_text(a->f, f->left - 6, y + 4, "soft", "end", scale_text(text, p->y.format, f->y.tick[i]));
    }
    fprintf(a->f, "<path class=\"axis\" d=\"M%.1f,%.1fH%.1f", f->left, f->bottom, f->right);
    for (int i = 0; i < f->x.ticks; i++) fprintf(a->f, "M%.1f,%.1fv4", scale_at(&f->x, f->x.tick[i]), f->bottom);
    fputs("\"/>\n", a->f);
    double free_from = 0;
    for (int i = 0; i < f->x.ticks; i++) {
        double x = scale_at(&f->x, f->x.tick[i]), half;
        scale_text(text, p->x.format, f->x.tick[i]);
        half = svg_text_width(text, SVG_TEXT) / 2;
        if (x - half < free_from) continue;
        svg_text(a->f, x, f->bottom + 18, "soft", "middle", text);
        free_from = x + half + 8;
    }
    svg_text(a->f, (f->left + f->right) / 2, f->bottom + 36, "soft", "middle", p->x.label);
}

/* ---- Curves ---------------------------------------------------------------------------------- */

static void range(const svg_area *a, const frame *f, const chart_series *s, size_t k)
{
    size_t n = 0;
    for (size_t i = 0; i < s->points; i++)
        if (!isnan(s->point[i].low)) n++;
    if (n < 2) return;
    fprintf(a->f, "<path class=\"range c%zu\" d=\"", k % SVG_COLOURS);
    const char *sign = "M";
    for (size_t i = 0; i < s->points; i++, sign = "L")
        fprintf(a->f, "%s%.1f,%.1f", sign, scale_at(&f->x, s->point[i].x),
                scale_at(&f->y, isnan(s->point[i].high) ? s->point[i].y : s->point[i].high));
    for (size_t i = s->points; i-- > 0;)
        fprintf(a->f, "L%.1f,%.1f", scale_at(&f->x, s->point[i].x),
                scale_at(&f->y, isnan(s->point[i].low) ? s->point[i].y : s->point[i].low));
    fputs("z\"/>\n", a->f);
}

static void curve(const svg_area *a, const frame *f, const chart_panel *p, size_t k)
{
    const chart_series *s = &p->series[k];
    if (s->loose) return;
    fprintf(a->f, "<path class=\"line c%zu\" stroke-dasharray=\"%s\" d=\"", k % SVG_COLOURS, svg_dash(k));
    for (size_t i = 0; i < s->points; i++) {
        double x = scale_at(&f->x, s->point[i].x), y = scale_at(&f->y, s->point[i].y);
        if (i == 0)
            fprintf(a->f, "M%.1f,%.1f", x, y);
        else if (p->kind == CHART_STEPS)
            fprintf(a->f, "H%.1fV%.1f", x, y);
        else
            fprintf(a->f, "L%.1f,%.1f", x, y);
    }
    fprintf(a->f, "\"><title>");
    svg_escape(a->f, s->name);
    fputs("</title></path>\n", a->f);
}

static void points(const svg_area *a, const frame *f, const chart_panel *p, size_t k)
{
    const chart_series *s = &p->series[k];
    char x[SCALE_TEXT], y[SCALE_TEXT], title[256];
    if (s->points > MARKED || p->kind == CHART_STEPS) return;
    for (size_t i = 0; i < s->points; i++) {
        scale_exact(x, p->x.format, s->point[i].x);
        scale_exact(y, p->y.format, s->point[i].y);
        snprintf(title, sizeof title, "%.100s: %s at %s", s->name, y, x);
        svg_marker(a->f, k, scale_at(&f->x, s->point[i].x), scale_at(&f->y, s->point[i].y), title);
    }
}

/* ---- Names ----------------------------------------------------------------------------------- */

typedef struct end {
    size_t series;
    double x, y, text_y;
} end;

static int by_height(const void *a, const void *b)
{
    double x = ((const end *)a)->y, y = ((const end *)b)->y;
    return (x > y) - (x < y);
}

/* The names, moved apart as far as they need. */
static void names(const svg_area *a, const frame *f, const chart_panel *p)
{
    end at[CHART_SERIES];
    size_t n = p->count;
    for (size_t k = 0; k < n; k++) {
        const chart_point *last = &p->series[k].point[p->series[k].points - 1];
        double y = scale_at(&f->y, last->y);
        at[k] = (end){ k, scale_at(&f->x, last->x), y, y };
    }
    qsort(at, n, sizeof *at, by_height);
    for (size_t i = 1; i < n; i++)
        if (at[i].text_y < at[i - 1].text_y + SVG_LINE) at[i].text_y = at[i - 1].text_y + SVG_LINE;
    double limit = f->bottom + 4;
    for (size_t i = n; i-- > 0; limit -= SVG_LINE)
        if (at[i].text_y > limit) at[i].text_y = limit;
    for (size_t i = 0; i < n; i++) {
        fprintf(a->f, "<path class=\"lead c%zu\" d=\"M%.1f,%.1fL%.1f,%.1f\"/>\n", at[i].series % SVG_COLOURS,
                at[i].x + 5, at[i].y, f->right + 6, at[i].text_y);
        svg_marker(a->f, at[i].series, f->right + 10, at[i].text_y, NULL);
        svg_text(a->f, f->right + 20, at[i].text_y + 4, "name", "start", p->series[at[i].series].name);
    }
}

void svg_lines(svg_area *a, const chart_panel *p)
{
    frame f;
    bool beside = !a->named && is_named_beside(p, a->width);
    if (!a->named && !beside) svg_legend(a, p);
    if (*p->y.label) {
        svg_text(a->f, a->x, a->y + 10, "soft", "start", p->y.label);
        a->y += SVG_LINE + 8;
    }
    frame_fit(&f, a, p, beside ? widest_name(p) + 24 : 4);
    axes(a, p, &f);
    for (size_t k = 0; k < p->count; k++) range(a, &f, &p->series[k], k);
    for (size_t k = 0; k < p->count; k++) {
        fputs("<g>", a->f);
        curve(a, &f, p, k);
        points(a, &f, p, k);
        fputs("</g>\n", a->f);
    }
    if (beside) names(a, &f, p);
    a->y = f.bottom + 54;
}
