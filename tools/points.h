/* SPDX-License-Identifier: Apache-2.0
 *
 * points.h - `heddle bench --backend NAME`: which points are wanted, one after the other.
 */
#ifndef HD_POINTS_H
#define HD_POINTS_H

#include "bench/device/goals.h"
#include "tools/output.h"

enum { POINTS_LIST = 16 };

typedef struct points_options {
    const char *backend;
    const char *const *save; /* (saves) files */
    int saves;
    uint64_t repeat;     /* 0: the usual  */
    const char *command; /* as it can be typed again */
} points_options;

/* Numbers that a word asks for, or texts (as they stand, or NULL: what is usual). */
typedef struct points_numbers {
    double v[POINTS_LIST]; /* whole ones are exact: they are at most 2^40 */
    int n;
} points_numbers;
typedef struct points_texts {
    const char *v[POINTS_LIST];
    int n;
} points_texts;

/* A parameter (base/param.h), and the values that tables are to have of it. */
typedef struct points_axis {
    const hd_param *param;
    const hd_params *of;
    points_texts values;
} points_axis;
enum { POINTS_AXES = 16 };

/* What the words ask for. An empty list stands for what the design's table of goals has. */
typedef struct points_wish {
    const char *design, *backend;
    const bench_goals *goals;
    hd_op op[POINTS_LIST];
    int ops;
    points_numbers hits, load, dim, capacity, batch, bulk;
    points_numbers zipf; /* 0: distinct keys */
    points_numbers near;
    points_texts variant; /* NULL: the table's choice */
    points_axis axis[POINTS_AXES];
    int axes;
    bool as_goals; /* neither batch nor bulk was asked for: rows have the calls of their goals */
    bool all_variants, limits_only;
    bench_effort effort;
    char text[4096]; /* what the texts point into */
} points_wish;

/* The axis of a parameter; NULL: the words do not ask for it. */
const points_axis *points_axis_of(const points_wish *w, const char *name);

/* Reads the words of the command line; TOOL_OK, or it was said which is wrong. */
int points_wish_read(points_wish *w, const char *backend, char **word, int words);

/* Where tables of a backend are measured; NULL: not in this build. */
const bench_device *bench_device_for(const char *backend);

/* Opens the device; TOOL_OK, or it was said why there is none. */
int points_device_open(const bench_device *device, char name[128]);

/* Opens the device and a report whose first fact is its name; TOOL_OK, or as points_device_open. */
int points_begin(const bench_device *device, char name[128], out **report, tool_form form, const char *schema,
                 const out_column *column, int columns);
/* Saves and prints a report of so many rows; the exit code. */
int points_finish(const points_options *o, out *report, uint64_t rows, int code);

int points_run(tool_line *line, const points_options *o);

#endif
