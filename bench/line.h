/* SPDX-License-Identifier: Apache-2.0
 *
 * line.h - one line of a file of cases: a case string (workload/case.h), and besides it the words that say what
 * is timed:
 *
 *     name=find.hit probe=hit fill=1 hkv.find.ref capacity=1Mi batch=65536 threads=1
 *
 *     name=WORD    what the result is called; the line itself when not given
 *     fill=F       the table is filled to this load factor before (1: until nearly every bucket is full)
 *     probe=hit    keys that are in the table, in random order
 *     probe=miss   keys that never were; for operations that do not insert
 *     probe=new    keys that never were; for operations that insert
 *     probe=keys   the case's keys=, made beforehand
 *     probe=trace  the case's keys= is a file; timed is all of a replay: opening, reading, running, closing
 *
 * Of a case, the number of batches and the seed of the mix mean nothing here. Empty lines and lines that
 * begin with # say nothing.
 */
#ifndef HD_BENCH_LINE_H
#define HD_BENCH_LINE_H

#include "workload/case.h"

typedef enum bench_probe { BENCH_HIT, BENCH_MISS, BENCH_NEW, BENCH_KEYS, BENCH_TRACE, BENCH_PROBES } bench_probe;

enum { BENCH_NAME = 192, BENCH_LINE = 1024 };

typedef struct bench_line {
    char name[BENCH_NAME];
    hd_case c;
    hd_op op;
    bench_probe probe;
    double fill;
} bench_line;

/* HD_EINVAL names the word. An operation's usual probe is hit, or new when it inserts. */
hd_status bench_line_parse(const char *text, bench_line *l);

/* The next line of `*text` that says something, into line[]; moves *text past it. False at the end; a line of
 * BENCH_LINE bytes or more is cut, and its parse then fails. */
bool bench_line_next(const char **text, char line[BENCH_LINE]);

#endif
