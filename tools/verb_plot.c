/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_plot.c - a report, or a chart, drawn as SVG.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/chart.h"
#include "tools/input.h"
#include "tools/plot.h"
#include "workload/stream.h"

typedef struct plot_options {
    const char *output;
    uint32_t width;
    bool fit;
} plot_options;

static const tool_option option[] = {
    { "output", 'o', "FILE", "write the plot there, a name that ends in .svg, instead of to standard output",
      TOOL_FIELD(plot_options, output) },
    { "width", 'w', "N", "pixels (720)", TOOL_RANGE(plot_options, width, CHART_WIDTH_LEAST, CHART_WIDTH_MOST) },
    { "fit", 'f', NULL, "lines: begin the axis of the values near the least one instead of at 0, and say so there",
      TOOL_FIELD(plot_options, fit) },
    { .name = NULL },
};

enum { MOST_BYTES = 256 << 20 };

/* The whole file, plain or compressed; the caller frees it. */
static int read_all(const char *path, char **text, size_t *bytes)
{
    hd_stream *s = NULL;
    hd_status e = hd_stream_open(&input_seams, path, &s);
    const uint8_t *p;
    size_t n = 0, room = 0;
    *text = NULL, *bytes = 0;
    while (!e && !(e = hd_stream_peek(s, 1, &p, &n)) && n > 0) {
        if (*bytes + n > MOST_BYTES)
            e = hd_fail(HD_ECORRUPT, "%s: a report has at most 256 MiB", path);
        else if (*bytes + n > room) {
            room = 2 * (*bytes + n);
            char *more = (char *)realloc(*text, room);
            if (more)
                *text = more;
            else
                e = hd_fail(HD_ENOMEM, "memory was refused");
        }
        if (e) break;
        memcpy(*text + *bytes, p, n);
        *bytes += n;
        hd_stream_skip(s, n);
    }
    hd_stream_close(s);
    return e ? tool_fail(e) : TOOL_OK;
}

/* The report that `path` has; NULL: *code, and it was said why. */
static json_t *report_read(const char *path, int *code)
{
    char *text;
    size_t bytes;
    json_error_t error;
    *code = read_all(path, &text, &bytes);
    json_t *report = *code ? NULL : json_loadb(text ? text : "", bytes, 0, &error);
    if (!*code && !report) *code = tool_say(TOOL_DATA, "%s: line %d: it is no JSON: %s", path, error.line, error.text);
    free(text);
    return report;
}

/* The least and the greatest number of a panel of lines, with their ranges. */
static void values_of(const json_t *panel, double value[2])
{
    size_t s, i, k;
    json_t *series, *point;
    value[0] = INFINITY, value[1] = -INFINITY;
    json_array_foreach(json_object_get(panel, "series"), s, series)
        json_array_foreach(json_object_get(series, "points"), i, point) for (k = 1; k < json_array_size(point); k++)
    {
        const json_t *at = json_array_get(point, k);
        double v = json_is_number(at) ? json_number_value(at) : NAN;
        if (v < value[0]) value[0] = v;
        if (v > value[1]) value[1] = v;
    }
}

/* Lets a linear axis of lines begin at a round number below its values. */
static void fit(json_t *panel)
{
    json_t *y = json_object_get(panel, "y");
    const char *kind = json_string_value(json_object_get(panel, "kind")), *label, *scale;
    double value[2];
    label = json_string_value(json_object_get(y, "label"));
    scale = json_string_value(json_object_get(y, "scale"));
    if (!y || !kind || strcmp(kind, "lines") != 0 || (scale && strcmp(scale, "log") == 0)) return;
    values_of(panel, value);
    if (!(value[0] > 0) || !(value[1] > value[0]) || json_object_get(y, "least")) return;
    double step = pow(10, floor(log10(value[1] - value[0]))), least = floor(value[0] / step) * step;
    if (!(least > 0)) return;
    json_object_set_new(y, "least", json_real(least));
    json_object_set_new(y, "label", json_sprintf("%.200s (the axis does not begin at 0)", label ? label : ""));
}

/* The chart that would be drawn: for other programs, or to change it. */
static json_t *chart_fitted(const char *path, json_t *report, bool fitted, int *code)
{
    size_t i;
    json_t *panel, *chart = chart_of_report(path, report, code);
    if (chart && fitted) json_array_foreach(json_object_get(chart, "panels"), i, panel) fit(panel);
    return chart;
}

static int chart_print(json_t *chart)
{
    int code = json_dumpf(chart, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) ? TOOL_SYSTEM : TOOL_OK;
    putchar('\n');
    return code;
}

static int run(tool_line *line, int argc, char **argv)
{
    plot_options o = { .width = CHART_WIDTH };
    int code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    const char *path = line->words ? line->word[0] : "-";
    if (line->form == TOOL_CSV) return tool_say(TOOL_USAGE, "a chart has no CSV; the report that it shows has");
    if (o.output && (code = plot_file("--output", o.output))) return code;
    if (strcmp(path, "-") != 0 && (code = tool_file("REPORT", path))) return code;
    if ((code = tool_apart("--output", o.output, path))) return code;
    json_t *report = report_read(path, &code);
    if (!report) return code;
    json_t *chart = chart_fitted(path, report, o.fit, &code);
    if (chart)
        code = line->form == TOOL_JSON ? chart_print(chart)
                                       : plot_json(path, chart, (int)o.width, o.output ? o.output : "-");
    json_decref(chart);
    json_decref(report);
    return code;
}

static const char doc[] =
    "Draws a report that the command printed with --json as SVG: of heddle run, run --kernels, sweep, curve, sim, and "
    "bench. REPORT is a file, or - for standard input, which is the default. It draws any chart that is written as "
    "heddle.chart/1 (doc/output.md), too; --json prints the report's chart in that form.\n"
    "\n"
    "A plot is light or dark, as the reader's system is. Lines and bars differ by colour, and also by dash, marker or "
    "texture; every number stands in the file as text.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle sweep zipf:0.99,10000 --requests 100000 --sizes 1%,10%,50% --json -o curves.json\n"
    "  heddle plot curves.json --width 480 -o narrow.svg\n"
    "  heddle plot curves.json --fit -o closer.svg\n"
    "  heddle plot curves.json --json\n";

const tool_verb verb_plot = { "plot", "[REPORT]", "draw a report as SVG", doc, 0, 1, option, NULL, run };
