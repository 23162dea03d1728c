/* SPDX-License-Identifier: Apache-2.0
 *
 * chart.c - reads heddle.chart/1. Every number is finite and every limit is kept afterwards, so that what draws a chart
 * need not ask again.
 *
 * The first mistake is said and kept in the reader; what is read after it is not used.
 */
#include "tools/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

typedef struct reader {
    const char *what;     /* the file, for messages */
    size_t panel, series; /* where it is, from 1; 0: nowhere */
    int code;             /* TOOL_OK; or of the first mistake */
} reader;

static void wrong(reader *r, const char *say)
{
    if (r->code) return;
    if (r->series)
        r->code = tool_say(TOOL_DATA, "%s: panel %zu, series %zu: %s", r->what, r->panel, r->series, say);
    else if (r->panel)
        r->code = tool_say(TOOL_DATA, "%s: panel %zu: %s", r->what, r->panel, say);
    else
        r->code = tool_say(TOOL_DATA, "%s: %s", r->what, say);
}

static void need(reader *r, bool holds, const char *say)
{
    if (!holds) wrong(r, say);
}

static bool is_absent(const json_t *v) { return !v || json_is_null(v); }

/* Sizes that scales compute with: nothing overflows. What is smaller than 1e-18 is 0. */
static bool is_fit(const json_t *v) { return json_is_number(v) && fabs(json_number_value(v)) <= 1e18; }
static double value_of(const json_t *v) { return fabs(json_number_value(v)) < 1e-18 ? 0 : json_number_value(v); }

/* Members that may be absent: then NULL, NAN, or the first of the words. */
static const char *text_of(reader *r, const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    char say[80];
    snprintf(say, sizeof say, "%s is no text", key);
    need(r, is_absent(v) || json_is_string(v), say);
    return json_string_value(v);
}

static double number_of(reader *r, const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    char say[80];
    snprintf(say, sizeof say, "%s is no number between -1e18 and 1e18", key);
    need(r, is_absent(v) || is_fit(v), say);
    return is_fit(v) ? value_of(v) : NAN;
}

static int word_of(reader *r, const json_t *object, const char *key, const char *const *words, const char *say)
{
    const char *text = text_of(r, object, key);
    int i = 0;
    while (text && words[i] && strcmp(text, words[i]) != 0) i++;
    need(r, words[i] != NULL, say);
    return i;
}

/* ---- Axes ------------------------------------------------------------------------------------ */

static void ticks_read(reader *r, const json_t *list, chart_axis *a)
{
    size_t n = json_array_size(list);
    need(r, !list || (json_is_array(list) && n <= CHART_TICKS), "ticks is no list of at most 64 numbers");
    for (size_t i = 0; i < n && !r->code; i++) {
        need(r, is_fit(json_array_get(list, i)), "a tick is no number");
        a->tick[i] = value_of(json_array_get(list, i));
        need(r, !a->log || a->tick[i] > 0, "a tick of a logarithmic axis is not above 0");
        need(r, i == 0 || a->tick[i] > a->tick[i - 1], "ticks do not ascend");
    }
    a->ticks = r->code ? 0 : (int)n;
}

static void axis_read(reader *r, const json_t *from, chart_axis *a)
{
    static const char *const formats[] = { "plain", "count", "percent", "rate", NULL };
    static const char *const scales[] = { "linear", "log", NULL };
    *a = (chart_axis){ .label = "", .least = NAN, .most = NAN };
    if (!from) return;
    need(r, json_is_object(from), "an axis is no object");
    const char *label = text_of(r, from, "label");
    if (label) a->label = label;
    a->format = (chart_format)word_of(r, from, "format", formats, "format is one of plain, count, percent, rate");
    a->log = word_of(r, from, "scale", scales, "scale is one of linear, log") == 1;
    a->least = number_of(r, from, "least");
    a->most = number_of(r, from, "most");
    need(r, !(a->log && (a->least <= 0 || a->most <= 0)), "a logarithmic axis begins above 0");
    need(r, !(a->least >= a->most), "least is not below most");
    ticks_read(r, json_object_get(from, "ticks"), a);
}

/* ---- Series ---------------------------------------------------------------------------------- */

/* [x, y] or [x, y, low, high]. */
static void point_read(reader *r, const chart_panel *own, const json_t *from, chart_point *point)
{
    size_t n = json_array_size(from);
    double v[4] = { 0, 0, NAN, NAN };
    need(r, n == 2 || n == 4, "a point is [x, y] or [x, y, low, high]");
    for (size_t i = 0; i < n && i < 4; i++) {
        need(r, is_fit(json_array_get(from, i)), "a point has no numbers between -1e18 and 1e18");
        v[i] = value_of(json_array_get(from, i));
    }
    *point = (chart_point){ v[0], v[1], v[2], v[3] };
    bool low = own->y.log && (point->y <= 0 || point->low <= 0 || point->high <= 0);
    need(r, !low && !(own->x.log && point->x <= 0), "a point of a logarithmic axis is not above 0");
}

/* A number, [number, low, high], or null. */
static void bar_read(reader *r, const chart_panel *own, const json_t *from, size_t group, chart_point *point)
{
    double v[3] = { NAN, NAN, NAN };
    size_t n = json_array_size(from);
    bool ranged = json_is_array(from), fits = ranged ? n == 3 : json_is_null(from) || is_fit(from);
    if (is_fit(from)) v[0] = value_of(from);
    for (size_t i = 0; i < n && i < 3; i++) {
        fits = fits && is_fit(json_array_get(from, i));
        v[i] = value_of(json_array_get(from, i));
    }
    need(r, fits, "a value is a number, [number, low, high], or null");
    need(r, !own->y.log && !(v[0] < 0) && !(v[1] < 0) && !(v[2] < 0), "bars have values from 0 on, on a linear axis");
    *point = (chart_point){ (double)group, v[0], v[1], v[2] };
}

static void points_read(reader *r, const chart_panel *own, const json_t *list, chart_series *s)
{
    bool bars = own->kind >= CHART_BARS;
    for (size_t i = 0; i < s->points && !r->code; i++) {
        const json_t *one = json_array_get(list, i);
        if (bars)
            bar_read(r, own, one, i, &s->point[i]);
        else
            point_read(r, own, one, &s->point[i]);
        need(r, bars || i == 0 || s->point[i].x >= s->point[i - 1].x, "its points go back");
    }
}

static void series_read(reader *r, const chart_panel *own, const json_t *from, chart_series *s)
{
    bool bars = own->kind >= CHART_BARS;
    const json_t *list = json_object_get(from, bars ? "values" : "points"), *line = json_object_get(from, "line");
    size_t n = json_array_size(list);
    s->name = text_of(r, from, "name");
    s->loose = json_is_false(line);
    need(r, s->name && *s->name, "it has no name");
    need(r, !line || json_is_boolean(line), "line is neither true nor false");
    need(r, n > 0, bars ? "it has no values" : "it has no points");
    need(r, n <= CHART_POINTS, "it has more than 1,048,576 points");
    need(r, !bars || n == own->groups, "it has not one value for each group");
    if (r->code) return;
    s->point = (chart_point *)calloc(n, sizeof *s->point);
    s->points = n;
    if (s->point)
        points_read(r, own, list, s);
    else
        r->code = tool_say(TOOL_SYSTEM, "memory was refused");
}

/* ---- Panels ---------------------------------------------------------------------------------- */

static void groups_read(reader *r, const json_t *list, chart_panel *own)
{
    size_t n = json_array_size(list);
    bool bars = own->kind >= CHART_BARS;
    need(r, bars || !list, "lines have no groups");
    need(r, !bars || (n > 0 && n <= CHART_GROUPS), "groups is no list of 1 to 1,000 names");
    for (size_t i = 0; i < n && !r->code; i++) {
        own->group[i] = json_string_value(json_array_get(list, i));
        need(r, own->group[i] != NULL, "a group is no text");
    }
    own->groups = r->code ? 0 : n;
}

static void panel_read(reader *r, const json_t *from, chart_panel *own)
{
    static const char *const kinds[] = { "lines", "steps", "bars", "stacks", NULL };
    static const char kind[] = "kind is one of lines, steps, bars, stacks";
    const json_t *list = json_object_get(from, "series");
    size_t n = json_array_size(list);
    need(r, json_object_get(from, "kind") != NULL, kind);
    own->kind = (chart_kind)word_of(r, from, "kind", kinds, kind);
    own->title = text_of(r, from, "title");
    axis_read(r, json_object_get(from, "x"), &own->x);
    axis_read(r, json_object_get(from, "y"), &own->y);
    groups_read(r, json_object_get(from, "groups"), own);
    need(r, n > 0 && n <= CHART_SERIES, "series is no list of 1 to 49 series");
    for (size_t i = 0; i < n && !r->code; i++) {
        r->series = i + 1;
        series_read(r, own, json_array_get(list, i), &own->series[i]);
    }
    r->series = 0;
    own->count = r->code ? 0 : n;
}

static void panels_read(reader *r, const json_t *list, chart *c)
{
    need(r, c->panels > 0 && c->panels <= CHART_PANELS, "panels is no list of 1 to 64 panels");
    if (r->code) return;
    c->panel = (chart_panel *)calloc(c->panels, sizeof *c->panel);
    if (!c->panel) r->code = tool_say(TOOL_SYSTEM, "memory was refused");
    for (size_t i = 0; i < c->panels && !r->code; i++) {
        r->panel = i + 1;
        panel_read(r, json_array_get(list, i), &c->panel[i]);
    }
}

int chart_read(const char *what, json_t *json, chart *c)
{
    reader r = { .what = what };
    const json_t *list = json_object_get(json, "panels");
    *c = (chart){ .panels = json_array_size(list), .json = json_incref(json) };
    c->title = text_of(&r, json, "title");
    c->below = text_of(&r, json, "below");
    c->source = text_of(&r, json, "source");
    double columns = number_of(&r, json, "columns");
    need(&r, c->title && *c->title, "it has no title");
    need(&r, !(columns < 1 || columns > CHART_COLUMNS), "columns is a number from 1 to 4");
    c->columns = columns >= 1 && columns <= CHART_COLUMNS ? (int)columns : 1;
    panels_read(&r, list, c);
    if (r.code) chart_drop(c);
    return r.code;
}

void chart_drop(chart *c)
{
    for (size_t i = 0; c->panel && i < c->panels; i++)
        for (size_t k = 0; k < CHART_SERIES; k++) free(c->panel[i].series[k].point);
    free(c->panel);
    json_decref(c->json);
    *c = (chart){ .json = NULL };
}
