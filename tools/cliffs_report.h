/* SPDX-License-Identifier: Apache-2.0
 *
 * cliffs_report.h - the matrix of `heddle bench cliffs`: a row for each operation under a policy in a mode, a column
 * for each pattern of keys; and its record, a row for each cell.
 */
#ifndef HD_CLIFFS_REPORT_H
#define HD_CLIFFS_REPORT_H

#include "bench/device/cliffs.h"
#include "tools/output.h"

/* A cell, as it is recorded. */
typedef struct cliffs_row {
    char policy[16], mode[8], operation[24], pattern[16];
    uint64_t capacity, dim, batch, calls;
    double rate, least, most; /* items per second: the median of the repetitions, and their range; 0: none */
    uint64_t below;           /* the rate is that of a smaller batch; one of the wanted size passes the limit */
    double of_best;           /* the rate, as a share of the best of the matrix's row; 0: it is not compared */
    uint64_t marked;
    double load, expected; /* load factor before; share of the items that should find a key */
    uint64_t outcome[HD_OUTCOME_COUNT];
    char why[160];
} cliffs_row;

typedef struct cliffs_table {
    cliffs_row *row; /* (rows), those of one operation under one policy in one mode beside each other */
    size_t rows;
} cliffs_table;

/* TOOL_OK, or memory was refused. */
int cliffs_add(cliffs_table *t, const cliffs_row *row);
void cliffs_drop(cliffs_table *t);

/* How many rows from this one on are one row of the matrix. */
size_t cliffs_row_length(const cliffs_table *t, size_t from);

/* Sets of_best and marked of rows that are one row of the matrix. A cell is marked if it reaches less than half of the
 * best rate, or stands for a batch that would pass the limit. Patterns with CLIFF_CACHED never set the best rate. */
void cliffs_mark(cliffs_row *row, size_t rows);

/* The columns of a matrix, in the order of cliff_patterns. */
typedef struct cliffs_shown {
    const cliff_pattern *pattern[32];
    size_t patterns;
} cliffs_shown;

/* Prints one row of the matrix, and before the first of a policy and a mode the head. */
void cliffs_print(const cliffs_shown *shown, const cliffs_row *row, size_t rows, bool first);
/* What stands below: how many cells are marked, what the columns are. */
void cliffs_print_end(const cliffs_shown *shown, const cliffs_table *t);

/* The record, without its facts; the caller's to close or drop. */
out *cliffs_record(const cliffs_table *t, tool_form form);

/* Reads a record (TSV), and marks it anew. */
int cliffs_read(cliffs_table *t, const char *path);

#endif
