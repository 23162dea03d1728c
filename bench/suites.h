/* SPDX-License-Identifier: Apache-2.0
 *
 * suites.h - the files of bench/cases, contained in the program.
 */
#ifndef HD_BENCH_SUITES_H
#define HD_BENCH_SUITES_H

typedef struct bench_suite {
    const char *name; /* "ops": bench/cases/ops.txt       */
    const char *text; /* the file, as bench_line_next reads it */
} bench_suite;

/* { NULL, NULL } after the last. */
extern const bench_suite bench_suites[];

#endif
