/* SPDX-License-Identifier: Apache-2.0
 *
 * chart_reports.c - which chart a report has: a row of `drawn` for each schema, and a function that picks its figures.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/chart.h"
#include "tools/output.h"

/* ---- Parts of a chart ------------------------------------------------------------------------ */

enum { TEXT = 512 };

static const char *text_at(const json_t *row, const char *key)
{
    const char *s = json_string_value(json_object_get(row, key));
    return s ? s : "";
}

static double number_at(const json_t *row, const char *key) { return json_number_value(json_object_get(row, key)); }

static json_t *json_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
static json_t *json_format(const char *format, ...)
{
    char text[TEXT];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    json_t *s = json_string(text);
    return s ? s : json_string("?"); /* cut within a character */
}

static uint64_t count_at(const json_t *row, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(row, key));
    return n > 0 ? (uint64_t)n : 0;
}

static const char *count_text(char text[OUT_CELL], const json_t *row, const char *key)
{
    return out_format(text, OUT_COUNT, out_count(count_at(row, key)));
}

/* The series of `list` that is called `name`, which is made when there is none; `key` is its list. */
static json_t *series_named(json_t *list, const char *name, const char *key)
{
    size_t i;
    json_t *s;
    json_array_foreach(list, i, s) if (strcmp(text_at(s, "name"), name) == 0) return json_object_get(s, key);
    json_array_append_new(list, json_pack("{s:s, s:[]}", "name", name, key));
    return json_object_get(json_array_get(list, json_array_size(list) - 1), key);
}

/* A point [x, y] or, with `low` and `high`, [x, y, low, high]. Nothing where the row has no y. */
static void point_add(json_t *list, const char *name, const json_t *row, const char *x, const char *const y[3])
{
    const json_t *value = json_object_get(row, y[0]);
    if (!json_is_number(value)) return;
    json_t *points = series_named(list, name, "points");
    json_t *p = json_pack("[f, f]", number_at(row, x), json_number_value(value));
    for (int i = 1; i < 3 && y[i]; i++) json_array_append_new(p, json_real(number_at(row, y[i])));
    json_array_append_new(points, p);
}

/* A bar: a value and its range; null where the row has none. */
static void value_add(json_t *list, const char *name, const json_t *row, const char *const y[3])
{
    const json_t *value = json_object_get(row, y[0]);
    json_t *one = json_is_number(value) ? json_real(json_number_value(value)) : json_null();
    if (json_is_number(value) && y[1]) one = json_pack("[o, f, f]", one, number_at(row, y[1]), number_at(row, y[2]));
    json_array_append_new(series_named(list, name, "values"), one);
}

static json_t *axis(const char *label, const char *format, const char *scale)
{
    return json_pack("{s:s, s:s, s:s}", "label", label, "format", format, "scale", scale);
}

/* Takes the references. */
static json_t *panel(const char *kind, json_t *x, json_t *y, json_t *groups, json_t *series)
{
    return json_pack("{s:s, s:o*, s:o, s:o*, s:o}", "kind", kind, "x", x, "y", y, "groups", groups, "series", series);
}

static json_t *chart_of(json_t *title, json_t *below, json_t *panels)
{
    return json_pack("{s:s, s:o, s:o*, s:o}", "schema", "heddle.chart/1", "title", title, "below", below, "panels",
                     panels);
}

/* "one bucket per key, admission by score"; a report of exact caches alone does not say it. */
static const char *shape(const json_t *report)
{
    if (!json_object_get(report, "dual")) return "exact caches";
    static const char *const shapes[2][2] = { { "one bucket per key", "one bucket per key, admission by score" },
                                              { "two buckets per key", "two buckets per key, admission by score" } };
    return shapes[json_is_true(json_object_get(report, "dual"))][strcmp(text_at(report, "admit"), "score") == 0];
}

/* ---- heddle sweep ---------------------------------------------------------------------------- */

static json_t *sizes_chart(const json_t *report, const json_t *rows)
{
    static const char *const one[3] = { "miss_ratio" };
    static const char *const several[3] = { "miss_ratio_mean", "miss_ratio_least", "miss_ratio_most" };
    char requests[OUT_CELL], distinct[OUT_CELL];
    bool seeds = json_object_get(report, "seeds") != NULL, bytes = strcmp(text_at(report, "unit"), "bytes") == 0;
    size_t i, most = 0;
    json_t *row, *list = json_array();
    json_array_foreach(rows, i, row)
    {
        point_add(list, text_at(row, "policy"), row, "capacity", seeds ? several : one);
        if (count_at(row, "requests") > count_at(json_array_get(rows, most), "requests")) most = i;
    }
    count_text(requests, json_array_get(rows, most), "requests");
    count_text(distinct, report, "distinct");
    json_t *below = count_at(report, "distinct")
                        ? json_format("%s requests, %s different keys; %s", requests, distinct, shape(report))
                        : json_format("%s requests; %s", requests, shape(report));
    return chart_of(json_format("Miss ratio over sizes: %s", text_at(report, "trace")), below,
                    json_pack("[o]",
                              panel("lines", axis(bytes ? "capacity, bytes" : "capacity, entries", "count", "log"),
                                    axis("miss ratio", "plain", "linear"), NULL, list)));
}

static json_t *windows_chart(const json_t *report, const json_t *rows)
{
    static const char *const y[3] = { "miss_ratio" };
    char every[OUT_CELL], name[TEXT];
    bool one_size = true;
    size_t i;
    json_t *row, *list = json_array();
    json_array_foreach(rows, i, row) one_size =
        one_size && strcmp(text_at(row, "asked"), text_at(json_array_get(rows, 0), "asked")) == 0;
    json_array_foreach(rows, i, row)
    {
        snprintf(name, sizeof name, "%s%s%s", text_at(row, "policy"), one_size ? "" : " ",
                 one_size ? "" : text_at(row, "asked"));
        point_add(list, name, row, "first", y);
        /* the last window has an end, too */
        json_t *next = json_array_get(rows, i + 1);
        if (next && number_at(next, "first") >= number_at(row, "first")) continue;
        json_t *last = json_deep_copy(row);
        json_object_set_new(last, "first", json_real(number_at(row, "first") + number_at(row, "requests")));
        point_add(list, name, last, "first", y);
        json_decref(last);
    }
    count_text(every, report, "every");
    return chart_of(json_format("Miss ratio over time: %s", text_at(report, "trace")),
                    json_format("windows of %s requests; %s", every, shape(report)),
                    json_pack("[o]", panel("steps", axis("requests", "count", "linear"),
                                           axis("miss ratio", "plain", "linear"), NULL, list)));
}

static json_t *fill_chart(const json_t *report, const json_t *rows)
{
    static const struct {
        const char *key, *label, *format;
    } shown[] = { { "finds_per_s", "finds per second", "rate" },
                  { "inserts_per_s", "inserts per second", "rate" },
                  { "kept", "offered keys that are kept", "percent" } };
    char capacity[OUT_CELL], slots[OUT_CELL];
    size_t i;
    json_t *row, *panels = json_array();
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        const char *const y[3] = { shown[k].key };
        json_t *list = json_array();
        json_array_foreach(rows, i, row) point_add(list, text_at(row, "policy"), row, "load_factor", y);
        json_array_append_new(panels,
                              panel("lines", axis("keys offered, as a multiple of the capacity", "plain", "linear"),
                                    axis(shown[k].label, shown[k].format, "linear"), NULL, list));
    }
    count_text(capacity, report, "capacity");
    count_text(slots, report, "slots");
    return chart_of(json_string("Filling a table"),
                    json_format("%s entries, %s per bucket; %s", capacity, slots, shape(report)), panels);
}

/* ---- heddle run ------------------------------------------------------------------------------ */

static json_t *run_chart(const json_t *report, const json_t *rows)
{
    static const char *const y[3] = { "share" };
    double at = 0;
    size_t i;
    json_t *row, *groups = json_array(), *list = json_array(), *points = json_array();
    json_array_foreach(rows, i, row)
    {
        if (number_at(row, "items") <= 0) continue;
        json_array_append_new(groups, json_string(text_at(row, "outcome")));
        value_add(list, "share of the items", row, y);
    }
    json_t *panels =
        json_pack("[o]", panel("bars", NULL, axis("share of the items", "percent", "linear"), groups, list));
    json_array_foreach(json_object_get(report, "windows"), i, row)
    {
        double items = number_at(row, "items"), rate = items > 0 ? number_at(row, "hits") / items : 0;
        if (items > 0) json_array_append_new(points, json_pack("[f, f]", at, rate));
        at += items;
        if (items > 0) json_array_append_new(points, json_pack("[f, f]", at, rate));
    }
    if (json_array_size(points) > 2)
        json_array_append_new(panels,
                              panel("lines", axis("items", "count", "linear"), axis("hit rate", "percent", "linear"),
                                    NULL, json_pack("[{s:s, s:O}]", "name", "hit rate", "points", points)));
    json_decref(points);
    return chart_of(json_string("A case, run"), json_format("%s", text_at(report, "case")), panels);
}

/* The sectors of a kernel; null where it did not run. */
static json_t *sectors_of(const json_t *rows, const char *operation, const char *kernel, double buckets)
{
    size_t i;
    json_t *row, *found = NULL;
    json_array_foreach(rows, i, row) if (strcmp(text_at(row, "operation"), operation) == 0 &&
                                         strcmp(text_at(row, "kernel"), kernel) == 0 &&
                                         number_at(row, "buckets") == buckets) found = json_object_get(row, "sectors");
    return json_is_number(found) ? json_incref(found) : json_null();
}

/* The panel of an operation: a group for each kernel, and in it a bar for each number of candidate buckets. */
static json_t *operation_panel(const json_t *rows, const char *operation)
{
    static const char *const names[] = { "one bucket per key", "two buckets per key" };
    json_t *row, *kernels = json_object(), *groups = json_array(), *list = json_array();
    const char *kernel;
    bool has[2] = { false, false };
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (strcmp(text_at(row, "operation"), operation) != 0 || !json_is_number(json_object_get(row, "sectors")))
            continue;
        json_object_set_new(kernels, text_at(row, "kernel"), json_true());
        has[number_at(row, "buckets") > 1] = true;
    }
    json_object_foreach(kernels, kernel, row)
    {
        json_array_append_new(groups, json_string(kernel));
        for (int k = 0; k < 2; k++)
            if (has[k])
                json_array_append_new(series_named(list, names[k], "values"),
                                      sectors_of(rows, operation, kernel, k + 1));
    }
    json_decref(kernels);
    json_t *own = panel("bars", NULL, axis("sectors per key", "plain", "linear"), groups, list);
    json_object_set_new(own, "title", json_string(operation));
    return own;
}

static json_t *kernels_chart(const json_t *report, const json_t *rows)
{
    json_t *panels = json_array(), *seen = json_object(), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *operation = text_at(row, "operation");
        if (!json_is_number(json_object_get(row, "sectors")) || json_object_get(seen, operation)) continue;
        json_object_set_new(seen, operation, json_true());
        json_array_append_new(panels, operation_panel(rows, operation));
    }
    json_decref(seen);
    json_t *chart = chart_of(json_string("Memory sectors that each kernel accesses per key"),
                             json_format("%s", text_at(report, "case")), panels);
    json_object_set_new(chart, "columns", json_integer(2));
    return chart;
}

/* ---- heddle bench ---------------------------------------------------------------------------- */

/* The words of a name between slashes that all names share, in order, and one name without them. */
static void shared_words(const json_t *names, char shared[TEXT], size_t index, char own[TEXT])
{
    char first[TEXT], other[TEXT], *keep[2], *a, *b;
    *shared = *own = 0;
    snprintf(first, sizeof first, "%s", json_string_value(json_array_get(names, index)));
    size_t words = 0;
    for (a = strtok_r(first, "/", &keep[0]); a; a = strtok_r(NULL, "/", &keep[0]), words++) {
        bool same = json_array_size(names) > 1;
        for (size_t i = 0; i < json_array_size(names) && same; i++) {
            snprintf(other, sizeof other, "%s", json_string_value(json_array_get(names, i)));
            b = strtok_r(other, "/", &keep[1]);
            for (size_t w = 0; b && w < words; w++) b = strtok_r(NULL, "/", &keep[1]);
            same = b && strcmp(a, b) == 0;
        }
        char *to = same ? shared : own;
        if (strlen(to) + strlen(a) + 2 < TEXT) strcat(strcat(to, *to ? " " : ""), a);
    }
}

/* Google Benchmark's form: of each case the aggregates, one after the other. */
static json_t *bench_chart(const json_t *report, const json_t *rows)
{
    static const struct {
        const char *key, *name;
    } more[] = { { "goal_items_per_second", "goal" }, { "peer_items_per_second", "best other library" } };
    const json_t *context = json_object_get(report, "context");
    json_t *row, *names = json_array(), *list = json_array(), *groups = json_array();
    bool has[2] = { false, false };
    char shared[TEXT], own[TEXT];
    size_t i;
    json_array_foreach(rows, i, row) for (int k = 0; k < 2; k++) has[k] |= number_at(row, more[k].key) > 0;
    json_array_foreach(rows, i, row)
    {
        double slow = number_at(json_array_get(rows, i + 2), "real_time"),
               fast = number_at(json_array_get(rows, i + 1), "real_time");
        if (strcmp(text_at(row, "aggregate_name"), "median") != 0 || fast <= 0 || slow <= 0) continue;
        json_array_append_new(names, json_string(text_at(row, "run_name")));
        json_array_append_new(series_named(list, "measured", "values"),
                              json_pack("[f, f, f]", number_at(row, "items_per_second"), 1e9 / slow, 1e9 / fast));
        for (int k = 0; k < 2; k++) {
            const char *const y[3] = { more[k].key };
            if (has[k]) value_add(list, more[k].name, row, y);
        }
    }
    for (i = 0; i < json_array_size(names); i++) {
        shared_words(names, shared, i, own);
        json_array_append_new(groups, json_string(*own ? own : shared));
    }
    bool device = *text_at(context, "device");
    json_t *below = json_format("%s%s%s; median of the repetitions, with their range",
                                device ? text_at(context, "device") : text_at(context, "cpu_model"),
                                json_array_size(names) && *shared ? "; " : "", json_array_size(names) ? shared : "");
    json_decref(names);
    return chart_of(json_string("Items per second"), below,
                    json_pack("[o]", panel("bars", NULL, axis("items per second", "rate", "linear"), groups, list)));
}

static const char *const per_second[3] = { "items_per_s", "least_per_s", "most_per_s" };

static json_t *locks_chart(const json_t *report, const json_t *rows)
{
    json_t *row, *list = json_array(), *groups = json_array();
    size_t i;
    json_array_foreach(rows, i, row)
    {
        json_array_append_new(groups, json_format("%s, %s: %g finders, %g updaters, %g inserters", text_at(row, "lock"),
                                                  text_at(row, "calls"), number_at(row, "finders"),
                                                  number_at(row, "updaters"), number_at(row, "inserters")));
        value_add(list, "items per second", row, per_second);
    }
    return chart_of(json_string("Items per second of all threads, by batch lock"),
                    json_format("%s; median of the repetitions, with their range", text_at(report, "device")),
                    json_pack("[o]", panel("bars", NULL, axis("items per second", "rate", "linear"), groups, list)));
}

static json_t *growth_chart(const json_t *report, const json_t *rows)
{
    json_t *row, *list = json_array(), *groups = json_array();
    char from[OUT_CELL], to[OUT_CELL];
    size_t i;
    json_array_foreach(rows, i, row)
    {
        count_text(from, row, "from");
        count_text(to, row, "to");
        json_array_append_new(groups, json_format("%s, %s arrays: %s to %s slots", text_at(row, "what"),
                                                  text_at(row, "arrays"), from, to));
        value_add(list, "items per second", row, per_second);
    }
    return chart_of(json_string("Items per second of a table that grows"),
                    json_format("%s, %s; median of the repetitions, with their range", text_at(report, "device"),
                                text_at(report, "design")),
                    json_pack("[o]", panel("bars", NULL, axis("items per second", "rate", "linear"), groups, list)));
}

/* ---- All of them ----------------------------------------------------------------------------- */

static json_t *itself(const json_t *report, const json_t *rows)
{
    (void)rows;
    return json_incref((json_t *)(uintptr_t)report);
}

static const struct {
    const char *schema, *rows; /* NULL: it needs none */
    json_t *(*chart)(const json_t *report, const json_t *rows);
} drawn[] = {
    { "heddle.chart/1", NULL, itself },
    { "heddle.run/1", "rows", run_chart },
    { "heddle.kernels/1", "rows", kernels_chart },
    { "heddle.sim/1", "rows", sizes_chart },
    { "heddle.sweep/1", "rows", sizes_chart },
    { "heddle.curve/1", "rows", sizes_chart },
    { "heddle.windows/1", "rows", windows_chart },
    { "heddle.fill/1", "rows", fill_chart },
    { "heddle.bench/1", "benchmarks", bench_chart },
    { "heddle.bench.points/1", "benchmarks", bench_chart },
    { "heddle.bench.locks/1", "rows", locks_chart },
    { "heddle.bench.growth/1", "rows", growth_chart },
};

/* The schemas that have a chart, with commas between them. */
static const char *schemas(void)
{
    static char all[TEXT];
    if (!*all)
        for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) strcat(strcat(all, i ? ", " : ""), drawn[i].schema);
    return all;
}

json_t *chart_of_report(const char *what, json_t *report, int *code)
{
    const char *schema = text_at(report, "schema");
    if (!*schema) schema = text_at(json_object_get(report, "context"), "schema");
    *code = TOOL_DATA;
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        if (strcmp(schema, drawn[i].schema) != 0) continue;
        const json_t *rows = drawn[i].rows ? json_object_get(report, drawn[i].rows) : NULL;
        if (drawn[i].rows && json_array_size(rows) == 0) {
            tool_say(TOOL_DATA, "%s: there are no rows to draw", what);
            return NULL;
        }
        json_t *chart = drawn[i].chart(report, rows);
        if (!chart) *code = tool_say(TOOL_SYSTEM, "memory was refused");
        return chart;
    }
    if (*schema)
        tool_say(TOOL_DATA, "%s: there is no plot of %.60s; there are plots of %s", what, schema, schemas());
    else
        tool_say(TOOL_DATA, "%s: it is no report: it has no member schema", what);
    return NULL;
}
