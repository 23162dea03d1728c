/* SPDX-License-Identifier: Apache-2.0
 *
 * points_report.h - the table of points: rows that are printed as they come, files of them (TSV, CSV), and the JSON
 * that Google Benchmark's compare.py reads.
 */
#ifndef HD_POINTS_REPORT_H
#define HD_POINTS_REPORT_H

#include <stdio.h>

#include "bench/device/limits.h"
#include "tools/bench_report.h"
#include "tools/points.h"

enum { POINTS_COLUMNS = 29, POINTS_CELL = 32 };
typedef enum points_column {
    POINTS_OPERATION,
    POINTS_HITS,
    POINTS_BUCKETS,
    POINTS_DIM,
    POINTS_LOAD,
    POINTS_KEYS,
    POINTS_BATCH,
    POINTS_CAPACITY,
    POINTS_LAYOUT,
    POINTS_VARIANT,
    POINTS_RATE,
    POINTS_SPREAD,
    POINTS_WALL,
    POINTS_GOAL,
    POINTS_PEER,
    POINTS_FLOOR,
    POINTS_OF_FLOOR,
    POINTS_OF_GOAL,
    POINTS_CALLS,
    POINTS_NEAR,
    POINTS_TIERS,
    POINTS_FETCH,
    POINTS_DESIGN,
    POINTS_SLOTS,
    POINTS_FORM,
    POINTS_PENDING,
    POINTS_SPARE,
    POINTS_HASH,
    POINTS_SET /* the parameters that are not usual and have no column */
} points_column;

typedef struct points_row {
    char cell[POINTS_COLUMNS][POINTS_CELL];
} points_row;

typedef struct points_report {
    bench_report json; /* rows and points are the same in number */
    points_row *point;
    tool_form form;
    char device[128];
    bench_limits limits;
    bool others; /* tables have other values than usual of parameters without a column */
} points_report;

/* Whether a parameter has a column, under its own name or another. */
bool points_has_column(const hd_param *p);

/* Prints what stands above the rows, where they are printed as they come (text). */
void points_report_begin(points_report *r);
/* Adds a row, and prints it. TOOL_OK, or memory was refused. */
int points_report_add(points_report *r, const bench_point *p, const bench_fixture *s, const bench_measure *m);
/* What is left to print. */
int points_report_end(const points_report *r);
int points_report_save(const points_report *r, const char *path);
void points_report_drop(points_report *r);

/* Which rows are short of their goals, and what is known of them (points_short.c). */
void points_short_print(const points_report *r, FILE *f);
/* The same of a TSV that points_report_save wrote. */
int points_short_of(const char *path);
/* Which column has this name; -1: none. */
int points_column_named(const char *name);

/* The limits alone, also to files. */
int points_limits_print(const points_report *r, const char *const *save, int saves);

#endif
