/* SPDX-License-Identifier: Apache-2.0
 *
 * chart.h - a chart as data: panels of lines or bars. Its JSON form, heddle.chart/1, is what `heddle plot` reads
 * (doc/output.md). svg.h draws it.
 *
 * chart_read turns the JSON into a chart, and says what is wrong with it. chart_of_report makes the JSON of a chart out
 * of a report of the command.
 */
#ifndef HD_CHART_H
#define HD_CHART_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    CHART_PANELS = 64, /* of a chart */
    CHART_SERIES = 49, /* of a panel: svg.h has that many pairs of a colour and a dash */
    CHART_GROUPS = 1000,
    CHART_POINTS = 1 << 20, /* of a series */
    CHART_TICKS = 64,
    CHART_COLUMNS = 4,
    CHART_WIDTH = 720, /* pixels; the usual one */
    CHART_WIDTH_LEAST = 280,
    CHART_WIDTH_MOST = 2000
};

typedef enum chart_kind {
    CHART_LINES,
    CHART_STEPS, /* lines that keep a value until the next point */
    CHART_BARS,  /* a group of bars for each of `group`; point[i] belongs to group i */
    CHART_STACKS /* the same, one behind the other */
} chart_kind;

/* How numbers of an axis are written. */
typedef enum chart_format {
    CHART_PLAIN,   /* 0.25           */
    CHART_COUNT,   /* 1,024; 131k    */
    CHART_PERCENT, /* of a share: 25% */
    CHART_RATE     /* 131M/s         */
} chart_format;

typedef struct chart_axis {
    const char *label;
    chart_format format;
    bool log;           /* else linear; a linear axis of values begins at 0 */
    double least, most; /* what is drawn; NAN: what the data need */
    double tick[CHART_TICKS];
    int ticks; /* 0: chosen */
} chart_axis;

/* low and high: a range about y; NAN where there is none. y NAN: no value. */
typedef struct chart_point {
    double x, y, low, high;
} chart_point;

typedef struct chart_series {
    const char *name;
    bool loose; /* markers without a line */
    chart_point *point;
    size_t points;
} chart_series;

typedef struct chart_panel {
    chart_kind kind;
    const char *title; /* NULL: none */
    chart_axis x, y;   /* y: of the values, also where bars lie on their sides */
    const char *group[CHART_GROUPS];
    size_t groups;
    chart_series series[CHART_SERIES];
    size_t count; /* of series */
} chart_panel;

typedef struct chart {
    const char *title, *below, *source; /* below, source: NULL: none. Strings belong to `json` */
    int columns;                        /* of panels, where there is room */
    chart_panel *panel;                 /* (panels) */
    size_t panels;
    json_t *json;
} chart;

/* Reads heddle.chart/1; `what` names it in messages. TOOL_OK, and chart_drop frees *c; or the exit code, and it was
 * said what is wrong. */
int chart_read(const char *what, json_t *json, chart *c);
void chart_drop(chart *c);

/* The chart of a report that the command printed as JSON, or of one that is a chart already: a new reference. NULL: it
 * was said why there is none, with *code the exit code. */
json_t *chart_of_report(const char *what, json_t *report, int *code);

#endif
