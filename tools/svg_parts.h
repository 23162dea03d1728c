/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_parts.h - what the pictures of svg.h are put together of: text whose width is known, lines of text, swatches; and
 * the panels.
 */
#ifndef HD_SVG_PARTS_H
#define HD_SVG_PARTS_H

#include "tools/svg.h"

enum { SVG_COLOURS = 7, SVG_TEXT = 12, SVG_LINE = 17, SVG_SWATCH = 30 }; /* pixels, but for the first */

/* The area of a panel; y: where it begins, and after it is drawn where it ends. */
typedef struct svg_area {
    FILE *f;
    double x, y, width;
    bool named; /* whether a legend names the series already */
} svg_area;

/* Text with what XML demands; control characters become '?'. */
void svg_escape(FILE *f, const char *text);

/* The width of a text, rather too large than too small: which font the reader has is not known. */
double svg_text_width(const char *text, double size);

/* One line. `style`: name, soft, title, value; `anchor`: start, middle, end. */
void svg_text(FILE *f, double x, double y, const char *style, const char *anchor, const char *text);

/* Lines of at most `width` pixels from baseline y on. The result is the number of lines. */
int svg_lines_of_text(FILE *f, double x, double y, double width, const char *style, const char *text);

/* A marker of series k; `title`: what it stands for, NULL: nothing. */
void svg_marker(FILE *f, size_t k, double x, double y, const char *title);
/* The dash of series k, as an attribute. */
const char *svg_dash(size_t k);

/* Names of the series with a sample each, from a->y on, which moves below them. */
void svg_legend(svg_area *a, const chart_panel *p);

/* A bar of series k. */
void svg_bar(FILE *f, size_t k, double x, double y, double width, double height, const char *title);

/* Draws a panel of lines or steps, or of bars or stacks. */
void svg_lines(svg_area *a, const chart_panel *p);
void svg_bars(svg_area *a, const chart_panel *p);

#endif
