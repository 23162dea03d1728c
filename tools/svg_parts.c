/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_parts.c - see svg_parts.h.
 */
#include "tools/svg_parts.h"

#include <stdlib.h>
#include <string.h>

void svg_escape(FILE *f, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '"': fputs("&quot;", f); break;
        default: putc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, f);
        }
}

double svg_text_width(const char *text, double size)
{
    double em = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c & 0xc0) == 0x80) continue; /* within a character */
        em += strchr("il.,:;|'!", c) ? 0.34 : strchr("mwMW%@", c) ? 0.95 : c >= 'A' && c <= 'Z' ? 0.72 : 0.6;
    }
    return em * size;
}

void svg_text(FILE *f, double x, double y, const char *style, const char *anchor, const char *text)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\"", x, y, style);
    if (strcmp(anchor, "start") != 0) fprintf(f, " text-anchor=\"%s\"", anchor);
    putc('>', f);
    svg_escape(f, text);
    fputs("</text>\n", f);
}

/* How many bytes of a text fit into `width`: whole words, or a part of a word that is too long alone; at least one
 * character. line: room for the text. */
static size_t bytes_that_fit(const char *text, double width, double size, char *line)
{
    size_t fits = 0, n = 0;
    for (; text[n]; n++) {
        memcpy(line, text, n + 1);
        line[n + 1] = 0;
        bool first_byte = ((unsigned char)text[n] & 0xc0) != 0x80;
        if (svg_text_width(line, size) > width) {
            if (fits) return fits;
            if (n > 0 && first_byte) return n;
        } else if (text[n + 1] == ' ' || !text[n + 1])
            fits = n + 1;
    }
    return n;
}

int svg_lines_of_text(FILE *f, double x, double y, double width, const char *style, const char *text)
{
    bool title = strcmp(style, "title") == 0;
    double size = title ? 15 : SVG_TEXT, step = title ? 20 : SVG_LINE;
    int lines = 0;
    char *line = (char *)calloc(strlen(text) + 1, 1);
    while (line && *text) {
        size_t fits = bytes_that_fit(text, width, size, line);
        line[fits] = 0;
        svg_text(f, x, y + step * lines++, style, "start", line);
        text += fits;
        while (*text == ' ') text++;
    }
    free(line);
    return lines;
}

/* Circle, square, triangle, diamond, triangle downwards, cross, plus. */
static const char *const markers[SVG_COLOURS] = {
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "M-3.6,-3.6h7.2v7.2h-7.2z",
    "M0,-4.6L4.4,3.4H-4.4z",
    "M0,-5L5,0L0,5L-5,0z",
    "M0,4.6L4.4,-3.4H-4.4z",
    "M-4,-4L4,4M-4,4L4,-4",
    "M-5,0H5M0,-5V5",
};

static const char *const dashes[SVG_COLOURS] = { "", "7 3", "2 3", "9 3 2 3", "12 4", "4 4", "1 2" };

/* From the eighth series on colours come again, with other dashes and markers: of 49 series no two have the same colour
 * and dash, nor the same dash and marker. */
static size_t dash_of(size_t k) { return (k + k / SVG_COLOURS) % SVG_COLOURS; }
static size_t marker_of(size_t k) { return (k + 2 * (k / SVG_COLOURS)) % SVG_COLOURS; }

const char *svg_dash(size_t k) { return dashes[dash_of(k)]; }

void svg_marker(FILE *f, size_t k, double x, double y, const char *title)
{
    fprintf(f, "<path class=\"mark c%zu\" transform=\"translate(%.1f %.1f)\" d=\"%s\"", k % SVG_COLOURS, x, y,
            markers[marker_of(k)]);
    if (!title) {
        fputs("/>\n", f);
        return;
    }
    fputs("><title>", f);
    svg_escape(f, title);
    fputs("</title></path>\n", f);
}

/* ---- Bars ------------------------------------------------------------------------------------ */

/* How a bar of a colour is textured: lines of the ground across it and along it. */
static const struct {
    int across; /* pixels between lines; 0: none */
    int along;  /* lines */
    bool pale;
} textures[SVG_COLOURS] = { { 0, 0, false }, { 6, 0, false }, { 0, 0, true }, { 0, 1, false },
                            { 3, 0, false }, { 0, 2, false }, { 6, 0, true } };

void svg_bar(FILE *f, size_t k, double x, double y, double width, double height, const char *title)
{
    size_t t = dash_of(k);
    fprintf(f, "<g class=\"bar c%zu%s\"><title>", k % SVG_COLOURS, textures[t].pale ? " pale" : "");
    svg_escape(f, title);
    fprintf(f, "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", x, y, width, height);
    bool textured = (textures[t].across || textures[t].along) && width > 3;
    if (textured) fputs("<path class=\"texture\" d=\"", f);
    for (double at = 3; textured && textures[t].across && at < width; at += textures[t].across)
        fprintf(f, "M%.1f,%.1fv%.1f", x + at, y, height);
    for (int i = 1; textured && i <= textures[t].along; i++)
        fprintf(f, "M%.1f,%.1fh%.1f", x, y + height * i / (textures[t].along + 1), width);
    fputs(textured ? "\"/></g>\n" : "</g>\n", f);
}

/* ---- Legends --------------------------------------------------------------------------------- */

static void swatch(FILE *f, const chart_panel *p, size_t k, double x, double y)
{
    if (p->kind >= CHART_BARS) {
        svg_bar(f, k, x + 2, y - 6, SVG_SWATCH - 8, 12, p->series[k].name);
        return;
    }
    if (!p->series[k].loose)
        fprintf(f, "<path class=\"line c%zu\" stroke-dasharray=\"%s\" d=\"M%.1f,%.1fh%d\"/>\n", k % SVG_COLOURS,
                svg_dash(k), x, y, SVG_SWATCH - 4);
    svg_marker(f, k, x + SVG_SWATCH / 2 - 2, y, NULL);
}

void svg_legend(svg_area *a, const chart_panel *p)
{
    double x = a->x;
    for (size_t k = 0; k < p->count; k++) {
        double width = SVG_SWATCH + svg_text_width(p->series[k].name, SVG_TEXT) + 16;
        if (x > a->x && x + width > a->x + a->width) {
            x = a->x;
            a->y += SVG_LINE + 2;
        }
        swatch(a->f, p, k, x, a->y + 8);
        svg_text(a->f, x + SVG_SWATCH, a->y + 12, "name", "start", p->series[k].name);
        x += width;
    }
    a->y += SVG_LINE + 8;
}
