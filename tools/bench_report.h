/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_report.h - what `heddle bench` prints: a table for people, CSV or TSV for files, and the JSON that
 * Google Benchmark's tools/compare.py reads.
 */
#ifndef HD_BENCH_REPORT_H
#define HD_BENCH_REPORT_H

#include <stdio.h>

#include "bench/bench.h"
#include "bench/machine.h"
#include "tools/tool.h"

/* A figure beside the times. */
typedef struct bench_extra {
    const char *key; /* static storage */
    double value;
} bench_extra;

enum { BENCH_EXTRAS = 8 };

/* One case that was timed. Times are seconds per item. */
typedef struct bench_row {
    char name[2 * BENCH_NAME];
    uint32_t threads;                 /* of the table; 0: OpenMP's default   */
    bench_result result;              /* owns its times                      */
    double median_s, least_s, most_s; /* of the repetitions, on the wall     */
    double mad_s;                     /* median absolute deviation from it   */
    double cpu_s;                     /* median, of processor time           */
    bench_extra extra[BENCH_EXTRAS];  /* (extras) of what is not a table of this machine */
    int extras;
} bench_row;

/* Fills the statistics of row->result's times (at least one). */
void bench_row_summarise(bench_row *row);

typedef struct bench_report {
    machine on;
    bench_plan plan;
    const char *command; /* "heddle bench ops", as it can be run again */
    bench_row *row;      /* (rows) */
    size_t rows;
    const char *schema;      /* NULL: heddle.bench/1               */
    const char *device;      /* that was measured; NULL: this machine */
    const bench_extra *fact; /* (facts) about it */
    size_t facts;
} bench_report;

/* Standard output, in the line's form. */
int bench_report_print(const bench_report *r, tool_form form);
/* A file, in the form that its name stands for. */
int bench_report_save(const bench_report *r, const char *path);

/* The JSON to f; false: memory was refused. */
bool bench_report_json(const bench_report *r, FILE *f);

#endif
