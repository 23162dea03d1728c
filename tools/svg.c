/* SPDX-License-Identifier: Apache-2.0
 *
 * svg.c - the frame of a chart: style, title, description, legend, panels in columns, source.
 *
 * The style has no variables, since programs that convert SVG do not know them: colours for a light ground, then those
 * for a dark one. tests/t_plot.sh computes the contrast of each with its ground: 4.5 of text, 3 of lines and bars.
 */
#include "tools/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/scale.h"
#include "tools/svg_parts.h"

enum { MARGIN = 18, BETWEEN = 24, NARROW = 300 }; /* pixels; NARROW: the least width of one of several columns */

static const char style[] =
    "<style>\n"
    ".heddle-chart text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
    "fill:#1d2430;stroke:none}\n"
    ".heddle-chart .title{font-size:15px;font-weight:600}\n"
    ".heddle-chart .head{font-weight:600}\n"
    ".heddle-chart .soft{fill:#566070}\n"
    ".heddle-chart .ground{fill:#ffffff;stroke:none}\n"
    ".heddle-chart .grid{stroke:#d9dde3;fill:none}\n"
    ".heddle-chart .axis{stroke:#566070;fill:none}\n"
    ".heddle-chart .c0{stroke:#0072b2;fill:#0072b2}\n"
    ".heddle-chart .c1{stroke:#c1560a;fill:#c1560a}\n"
    ".heddle-chart .c2{stroke:#00805c;fill:#00805c}\n"
    ".heddle-chart .c3{stroke:#a8527f;fill:#a8527f}\n"
    ".heddle-chart .c4{stroke:#8a6a00;fill:#8a6a00}\n"
    ".heddle-chart .c5{stroke:#2b7fb0;fill:#2b7fb0}\n"
    ".heddle-chart .c6{stroke:#333333;fill:#333333}\n"
    ".heddle-chart .line{fill:none;stroke-width:2.2;stroke-linejoin:round}\n"
    ".heddle-chart .mark{stroke-width:1.6}\n"
    ".heddle-chart .lead{fill:none;stroke-width:1;stroke-opacity:.6}\n"
    ".heddle-chart .range{stroke:none;fill-opacity:.18}\n"
    ".heddle-chart .bar{stroke-width:1}\n"
    ".heddle-chart .pale rect{fill-opacity:.3}\n"
    ".heddle-chart .texture{stroke:#ffffff;fill:none;stroke-width:1.5}\n"
    ".heddle-chart .whisker{stroke:#1d2430;fill:none;stroke-width:1.5}\n"
    ".heddle-chart .within{paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".heddle-chart text{fill:#e4e8ee}\n"
    ".heddle-chart .soft{fill:#a3adbb}\n"
    ".heddle-chart .ground{fill:#14181f}\n"
    ".heddle-chart .grid{stroke:#343d4b}\n"
    ".heddle-chart .axis{stroke:#a3adbb}\n"
    ".heddle-chart .c0{stroke:#56b4e9;fill:#56b4e9}\n"
    ".heddle-chart .c1{stroke:#e69f00;fill:#e69f00}\n"
    ".heddle-chart .c2{stroke:#2fbf95;fill:#2fbf95}\n"
    ".heddle-chart .c3{stroke:#d99abf;fill:#d99abf}\n"
    ".heddle-chart .c4{stroke:#f0e442;fill:#f0e442}\n"
    ".heddle-chart .c5{stroke:#8cc8ee;fill:#8cc8ee}\n"
    ".heddle-chart .c6{stroke:#d5d9df;fill:#d5d9df}\n"
    ".heddle-chart .line{fill:none}\n"
    ".heddle-chart .lead{fill:none}\n"
    ".heddle-chart .range{stroke:none}\n"
    ".heddle-chart .texture{stroke:#14181f}\n"
    ".heddle-chart .whisker{stroke:#e4e8ee}\n"
    ".heddle-chart .within{stroke:#14181f}\n"
    "}\n"
    "</style>\n";

/* ---- In words -------------------------------------------------------------------------------- */

/* "lru: from 0.7 at 64 to 0.1 at 1,024"; of bars: "insert: 12 measured, 10 goal". */
static void series_in_words(FILE *f, const chart_panel *p, size_t k)
{
    const chart_series *s = &p->series[k];
    const chart_point *first = &s->point[0], *last = &s->point[s->points - 1];
    char x[SCALE_TEXT], y[SCALE_TEXT], to_x[SCALE_TEXT], to_y[SCALE_TEXT];
    svg_escape(f, s->name);
    fprintf(f, ": from %s at %s to %s at %s. ", scale_exact(y, p->y.format, first->y),
            scale_exact(x, p->x.format, first->x), scale_exact(to_y, p->y.format, last->y),
            scale_exact(to_x, p->x.format, last->x));
}

static void group_in_words(FILE *f, const chart_panel *p, size_t g)
{
    char y[SCALE_TEXT];
    svg_escape(f, p->group[g]);
    putc(':', f);
    for (size_t k = 0; k < p->count; k++) {
        const chart_point *v = &p->series[k].point[g];
        fprintf(f, "%s %s", k ? "," : "", isnan(v->y) ? "none" : scale_exact(y, p->y.format, v->y));
        if (p->count == 1) continue;
        putc(' ', f);
        svg_escape(f, p->series[k].name);
    }
    fputs(". ", f);
}

static void in_words(FILE *f, const chart *c)
{
    enum { GROUPS = 40 };
    if (c->below) {
        svg_escape(f, c->below);
        fputs(". ", f);
    }
    for (size_t i = 0; i < c->panels; i++) {
        const chart_panel *p = &c->panel[i];
        bool bars = p->kind >= CHART_BARS;
        if (p->title) {
            svg_escape(f, p->title);
            fputs(": ", f);
        }
        fputs(bars ? "bars of " : "lines of ", f);
        svg_escape(f, p->y.label);
        if (!bars) {
            fputs(" over ", f);
            svg_escape(f, p->x.label);
        }
        fputs(". ", f);
        for (size_t g = 0; g < p->groups && g < GROUPS; g++) group_in_words(f, p, g);
        for (size_t k = 0; !bars && k < p->count; k++) series_in_words(f, p, k);
    }
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Whether one legend serves all panels: several that have the same series. */
static bool same_series(const chart *c)
{
    for (size_t i = 1; i < c->panels; i++) {
        const chart_panel *a = &c->panel[0], *b = &c->panel[i];
        if (a->count != b->count || (a->kind >= CHART_BARS) != (b->kind >= CHART_BARS)) return false;
        for (size_t k = 0; k < a->count; k++)
            if (strcmp(a->series[k].name, b->series[k].name) != 0) return false;
    }
    return c->panels > 1 && c->panel[0].count > 1;
}

static void panel_draw(svg_area *a, const chart_panel *p)
{
    if (p->title) {
        svg_text(a->f, a->x, a->y + 11, "head", "start", p->title);
        a->y += SVG_LINE + 6;
    }
    if (p->kind >= CHART_BARS)
        svg_bars(a, p);
    else
        svg_lines(a, p);
}

/* Panels from left to right, row by row. */
static double panels_draw(const chart *c, FILE *f, double y, double width)
{
    int columns = (size_t)c->columns < c->panels ? c->columns : (int)c->panels;
    while (columns > 1 && (width - BETWEEN * (columns - 1)) / columns < NARROW) columns--;
    double each = (width - BETWEEN * (columns - 1)) / columns, lowest = y;
    svg_area a = { f, MARGIN, y, width, false };
    if (same_series(c)) {
        svg_legend(&a, &c->panel[0]);
        a.named = true;
        y = lowest = a.y;
    }
    for (size_t i = 0; i < c->panels; i++) {
        size_t column = i % (size_t)columns;
        if (column == 0) y = lowest;
        a.x = MARGIN + (double)column * (each + BETWEEN), a.y = y, a.width = each;
        panel_draw(&a, &c->panel[i]);
        if (a.y > lowest) lowest = a.y;
    }
    return lowest;
}

bool svg_write(const chart *c, int width, FILE *f)
{
    char *body = NULL;
    size_t bytes = 0;
    double inner = width - 2 * MARGIN, y = MARGIN + 14;
    FILE *b = open_memstream(&body, &bytes);
    if (!b) return false;
    y += 20 * (svg_lines_of_text(b, MARGIN, y, inner, "title", c->title) - 1);
    if (c->below) y += SVG_LINE * svg_lines_of_text(b, MARGIN, y + 20, inner, "soft", c->below);
    y = panels_draw(c, b, y + 20, inner);
    if (c->source) y += SVG_LINE * svg_lines_of_text(b, MARGIN, y + 8, inner, "soft", c->source);
    bool whole = !ferror(b);
    whole = fclose(b) == 0 && whole;
    if (whole) {
        int height = (int)ceil(y + MARGIN - 14);
        fprintf(f,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"heddle-chart\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                "height=\"%d\" role=\"img\">\n<title>",
                width, height, width, height);
        svg_escape(f, c->title);
        fputs("</title>\n<desc>", f);
        in_words(f, c);
        fprintf(f, "</desc>\n%s<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", style, width, height);
        fwrite(body, 1, bytes, f);
        fputs("</svg>\n", f);
    }
    free(body);
    return whole && !ferror(f);
}
