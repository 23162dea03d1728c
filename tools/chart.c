/* SPDX-License-Identifier: Apache-2.0
 *
 * chart.c - reads heddle.chart/1. Every number is finite and every limit is kept afterwards, so that what draws a chart
 * need not ask again.
 */
#include "tools/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

/* Where in the chart, for messages: "FILE: panel 1, series 2". */
typedef struct place {
    const char *what;
    size_t panel, series; /* from 1; 0: none */
} place;

static int wrong(const place *p, const char *say)
{
    if (p->series) return tool_say(TOOL_DATA, "%s: panel %zu, series %zu: %s", p->what, p->panel, p->series, say);
    if (p->panel) return tool_say(TOOL_DATA, "%s: panel %zu: %s", p->what, p->panel, say);
    return tool_say(TOOL_DATA, "%s: %s", p->what, say);
}

/* A member that may be absent. */
static int text_of(const place *p, const json_t *object, const char *key, const char **text)
{
    const json_t *v = json_object_get(object, key);
    char say[80];
    *text = json_string_value(v);
    if (*text || !v || json_is_null(v)) return TOOL_OK;
    snprintf(say, sizeof say, "%s is no text", key);
    return wrong(p, say);
}

/* Sizes that scales compute with: nothing overflows. What is smaller than 1e-18 is 0. */
static bool is_fit(const json_t *v) { return json_is_number(v) && fabs(json_number_value(v)) <= 1e18; }
static double value_of(const json_t *v) { return fabs(json_number_value(v)) < 1e-18 ? 0 : json_number_value(v); }

static int number_of(const place *p, const json_t *object, const char *key, double *number)
{
    const json_t *v = json_object_get(object, key);
    char say[80];
    *number = v && is_fit(v) ? value_of(v) : NAN;
    if (!v || json_is_null(v) || is_fit(v)) return TOOL_OK;
    snprintf(say, sizeof say, "%s is no number between -1e18 and 1e18", key);
    return wrong(p, say);
}

/* ---- Axes ------------------------------------------------------------------------------------ */

static int ticks_read(const place *p, const json_t *list, chart_axis *a)
{
    size_t n = json_array_size(list);
    if (list && (!json_is_array(list) || n > CHART_TICKS)) return wrong(p, "ticks is no list of at most 64 numbers");
    for (size_t i = 0; i < n; i++) {
        if (!is_fit(json_array_get(list, i))) return wrong(p, "a tick is no number");
        a->tick[i] = value_of(json_array_get(list, i));
        if (a->log && a->tick[i] <= 0) return wrong(p, "a tick of a logarithmic axis is not above 0");
        if (i && a->tick[i] <= a->tick[i - 1]) return wrong(p, "ticks do not ascend");
    }
    a->ticks = (int)n;
    return TOOL_OK;
}

static int axis_read(const place *p, const json_t *from, chart_axis *a)
{
    static const char *const formats[] = { "plain", "count", "percent", "rate" };
    const char *format, *scale;
    *a = (chart_axis){ .label = "", .least = NAN, .most = NAN };
    if (!from) return TOOL_OK;
    if (!json_is_object(from)) return wrong(p, "an axis is no object");
    int code = text_of(p, from, "label", &a->label);
    if (!a->label) a->label = "";
    if (!code) code = text_of(p, from, "format", &format);
    if (!code) code = text_of(p, from, "scale", &scale);
    if (!code) code = number_of(p, from, "least", &a->least);
    if (!code) code = number_of(p, from, "most", &a->most);
    if (code) return code;
    size_t f = 0;
    while (format && f < 4 && strcmp(format, formats[f]) != 0) f++;
    if (f == 4) return wrong(p, "format is one of plain, count, percent, rate");
    a->format = (chart_format)f;
    if (scale && strcmp(scale, "log") != 0 && strcmp(scale, "linear") != 0)
        return wrong(p, "scale is one of linear, log");
    a->log = scale && strcmp(scale, "log") == 0;
    if (a->log && (a->least <= 0 || a->most <= 0)) return wrong(p, "a logarithmic axis begins above 0");
    if (a->least >= a->most) return wrong(p, "least is not below most");
    return ticks_read(p, json_object_get(from, "ticks"), a);
}

/* ---- Series ---------------------------------------------------------------------------------- */

/* [x, y] or [x, y, low, high]. */
static int point_read(const place *p, const chart_panel *own, const json_t *from, chart_point *point)
{
    size_t n = json_array_size(from);
    double v[4] = { 0, 0, NAN, NAN };
    if (n != 2 && n != 4) return wrong(p, "a point is [x, y] or [x, y, low, high]");
    for (size_t i = 0; i < n; i++) {
        if (!is_fit(json_array_get(from, i))) return wrong(p, "a point has no numbers between -1e18 and 1e18");
        v[i] = value_of(json_array_get(from, i));
    }
    *point = (chart_point){ v[0], v[1], v[2], v[3] };
    bool low = own->y.log && (point->y <= 0 || point->low <= 0 || point->high <= 0);
    if (low || (own->x.log && point->x <= 0)) return wrong(p, "a point of a logarithmic axis is not above 0");
    return TOOL_OK;
}

/* A number, [number, low, high], or null. */
static int value_read(const place *p, const chart_panel *own, const json_t *from, size_t i, chart_point *point)
{
    const json_t *v = json_is_array(from) ? json_array_get(from, 0) : from;
    const json_t *low = json_array_get(from, 1), *high = json_array_get(from, 2);
    *point = (chart_point){ (double)i, NAN, NAN, NAN };
    if (json_is_null(from)) return TOOL_OK;
    bool ranged = json_is_array(from);
    if (!is_fit(v) || (ranged && (json_array_size(from) != 3 || !is_fit(low) || !is_fit(high))))
        return wrong(p, "a value is a number, [number, low, high], or null");
    point->y = value_of(v);
    if (ranged) point->low = value_of(low), point->high = value_of(high);
    bool below = point->y < 0 || point->low < 0 || point->high < 0;
    if (below || own->y.log) return wrong(p, "bars have values from 0 on, on a linear axis");
    return TOOL_OK;
}

static int series_read(const place *p, const chart_panel *own, const json_t *from, chart_series *s)
{
    bool bars = own->kind >= CHART_BARS;
    const json_t *list = json_object_get(from, bars ? "values" : "points"), *line = json_object_get(from, "line");
    int code = text_of(p, from, "name", &s->name);
    if (code) return code;
    if (!s->name || !*s->name) return wrong(p, "it has no name");
    if (line && !json_is_boolean(line)) return wrong(p, "line is neither true nor false");
    s->loose = json_is_false(line);
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n == 0) return wrong(p, bars ? "it has no values" : "it has no points");
    if (n > CHART_POINTS) return wrong(p, "it has more than 1,048,576 points");
    if (bars && n != own->groups) return wrong(p, "it has not one value for each group");
    s->point = (chart_point *)calloc(n, sizeof *s->point);
    if (!s->point) return tool_say(TOOL_SYSTEM, "memory was refused");
    for (size_t i = 0; i < n && !code; i++) {
        const json_t *one = json_array_get(list, i);
        code = bars ? value_read(p, own, one, i, &s->point[i]) : point_read(p, own, one, &s->point[i]);
        if (!code && !bars && i && s->point[i].x < s->point[i - 1].x) code = wrong(p, "its points go back");
    }
    s->points = n;
    return code;
}

/* ---- Panels ---------------------------------------------------------------------------------- */

static int groups_read(const place *p, const json_t *from, chart_panel *own)
{
    const json_t *list = json_object_get(from, "groups");
    own->groups = json_array_size(list);
    if (own->kind < CHART_BARS) return list ? wrong(p, "lines have no groups") : TOOL_OK;
    if (own->groups == 0 || own->groups > CHART_GROUPS) return wrong(p, "groups is no list of 1 to 1,000 names");
    for (size_t i = 0; i < own->groups; i++) {
        own->group[i] = json_string_value(json_array_get(list, i));
        if (!own->group[i]) return wrong(p, "a group is no text");
    }
    return TOOL_OK;
}

static int panel_read(place *p, const json_t *from, chart_panel *own)
{
    static const char *const kinds[] = { "lines", "steps", "bars", "stacks" };
    const char *kind;
    int code = text_of(p, from, "kind", &kind);
    if (!code) code = text_of(p, from, "title", &own->title);
    if (!code) code = axis_read(p, json_object_get(from, "x"), &own->x);
    if (!code) code = axis_read(p, json_object_get(from, "y"), &own->y);
    if (code) return code;
    size_t k = 0;
    while (k < 4 && (!kind || strcmp(kind, kinds[k]) != 0)) k++;
    if (k == 4) return wrong(p, "kind is one of lines, steps, bars, stacks");
    own->kind = (chart_kind)k;
    code = groups_read(p, from, own);
    const json_t *list = json_object_get(from, "series");
    own->count = json_array_size(list);
    if (!code && (own->count == 0 || own->count > CHART_SERIES)) {
        own->count = 0;
        code = wrong(p, "series is no list of 1 to 49 series");
    }
    for (size_t i = 0; i < own->count && !code; i++) {
        p->series = i + 1;
        code = series_read(p, own, json_array_get(list, i), &own->series[i]);
    }
    p->series = 0;
    return code;
}

int chart_read(const char *what, json_t *json, chart *c)
{
    place p = { what, 0, 0 };
    double columns;
    const json_t *list = json_object_get(json, "panels");
    *c = (chart){ .panels = json_array_size(list), .json = json_incref(json) };
    int code = text_of(&p, json, "title", &c->title);
    if (!code) code = text_of(&p, json, "below", &c->below);
    if (!code) code = text_of(&p, json, "source", &c->source);
    if (!code) code = number_of(&p, json, "columns", &columns);
    if (!code && (!c->title || !*c->title)) code = wrong(&p, "it has no title");
    if (!code && (columns < 1 || columns > CHART_COLUMNS)) code = wrong(&p, "columns is a number from 1 to 4");
    if (!code && (c->panels == 0 || c->panels > CHART_PANELS)) code = wrong(&p, "panels is no list of 1 to 64 panels");
    if (!code) c->columns = isnan(columns) ? 1 : (int)columns;
    if (!code) c->panel = (chart_panel *)calloc(c->panels, sizeof *c->panel);
    if (!code && !c->panel) code = tool_say(TOOL_SYSTEM, "memory was refused");
    for (size_t i = 0; i < c->panels && !code; i++) {
        p.panel = i + 1;
        code = panel_read(&p, json_array_get(list, i), &c->panel[i]);
    }
    if (code) chart_drop(c);
    return code;
}

void chart_drop(chart *c)
{
    for (size_t i = 0; c->panel && i < c->panels; i++)
        for (size_t k = 0; k < CHART_SERIES; k++) free(c->panel[i].series[k].point);
    free(c->panel);
    json_decref(c->json);
    *c = (chart){ .json = NULL };
}
