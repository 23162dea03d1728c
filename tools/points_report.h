/* SPDX-License-Identifier: Apache-2.0
 *
 * points_report.h - the table of points: rows that are printed as they come, files of them (TSV, CSV), and the JSON that Google
 * Benchmark's compare.py reads.
 */
#ifndef HD_POINTS_REPORT_H
#define HD_POINTS_REPORT_H

#include "bench/device/limits.h"
#include "tools/bench_report.h"
#include "tools/points.h"

enum { POINTS_COLUMNS = 21, POINTS_CELL = 32 };

typedef struct points_row {
    char cell[POINTS_COLUMNS][POINTS_CELL];
} points_row;

typedef struct points_report {
    bench_report json;  /* rows and points are the same in number */
    points_row *point;
    tool_form form;
    char device[128];
    bench_limits limits;
} points_report;

/* Prints what stands above the rows, where they are printed as they come (text). */
void points_report_begin(points_report *r);
/* Adds a row, and prints it. TOOL_OK, or memory was refused. */
int points_report_add(points_report *r, const bench_point *p, const bench_stand *s, const bench_measure *m);
/* What is left to print. */
int points_report_end(const points_report *r);
int points_report_save(const points_report *r, const char *path);
void points_report_drop(points_report *r);

/* The limits alone, also to files. */
int points_limits_print(const points_report *r, const char *const *save, int saves);

#endif
