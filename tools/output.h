/* SPDX-License-Identifier: Apache-2.0
 *
 * output.h - one way to print results. A report is facts, then one table; it is printed at the end
 * as aligned text for people, as JSON or as CSV (doc/output.md):
 *
 *     out *o = out_open(line->form, "heddle.sim/1", column, columns);
 *     out_fact(o, "trace", "trace", OUT_TEXT, out_text(path));
 *     out_row(o, (const out_value[]){ out_text("lru"), out_count(misses), out_real(ratio) });
 *     out_note(o, "a line for people\n");
 *     return out_close(o, TOOL_OK);
 *
 * Times and rates, which differ from run to run, stand under keys that end in `_s` and nothing else
 * does: strip those keys and equal runs print equal reports. Thousand separators, units and notes
 * are in text only.
 */
#ifndef HD_OUTPUT_H
#define HD_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "tools/tool.h"

typedef enum out_kind {
    OUT_TEXT,    /* left-aligned                                          */
    OUT_COUNT,   /* 113,872                                               */
    OUT_PLAIN,   /* a number that names something: 113872                 */
    OUT_HEX,     /* 0x00000000000000ff; a string in JSON                  */
    OUT_RATIO,   /* 0.873                                                 */
    OUT_PERCENT, /* of a share 0 to 1: text 87.3%, elsewhere 0.873        */
    OUT_REAL,    /* 12.3                                                  */
    OUT_FIXED,   /* text 12.34, however large; elsewhere as OUT_REAL      */
    OUT_BYTES,   /* text 17.0 MiB, elsewhere bytes                        */
    OUT_SECONDS, /* text 1.23 s, elsewhere seconds; key ends in _s        */
    OUT_RATE,    /* text 7.52 M/s, elsewhere per second; key in per_s     */
    OUT_FLAG     /* yes, no; true, false                                  */
} out_kind;

typedef struct out_column {
    const char *key;  /* in JSON and CSV */
    const char *head; /* in text; NULL: not shown there */
    out_kind kind;
} out_column;

/* One cell. out_none() is "-" in text, null in JSON, empty in CSV. */
enum out_is { OUT_IS_NONE, OUT_IS_TEXT, OUT_IS_COUNT, OUT_IS_REAL };
typedef struct out_value {
    enum out_is is;
    const char *text; /* copied by out_row and out_fact */
    uint64_t count;
    double real;
} out_value;

static inline out_value out_none(void)
{
    out_value v = { OUT_IS_NONE, NULL, 0, 0 };
    return v;
}
static inline out_value out_text(const char *s)
{
    out_value v = { OUT_IS_TEXT, s, 0, 0 };
    return v;
}
static inline out_value out_count(uint64_t n)
{
    out_value v = { OUT_IS_COUNT, NULL, n, 0 };
    return v;
}
static inline out_value out_real(double d)
{
    out_value v = { OUT_IS_REAL, NULL, 0, d };
    return v;
}
static inline out_value out_flag(bool b) { return out_count(b); }

typedef struct out out;

/* columns = 0: a report of facts alone, which CSV prints as key,value. Columns must outlive the
 * report. Memory refused while reporting ends in TOOL_SYSTEM from out_close, not earlier. */
out *out_open(tool_form form, const char *schema, const out_column *column, int columns);
/* key and label must outlive the report; label NULL: not shown in text. */
void out_fact(out *o, const char *key, const char *label, out_kind kind, out_value v);
void out_row(out *o, const out_value *cell); /* (columns) */
/* Whether the report's form leaves out its facts: CSV of rows. */
bool out_drops_facts(const out *o);
void out_note(out *o, const char *format, ...) __attribute__((format(printf, 2, 3))); /* text only, after all */
/* One more member of the JSON object, and of nothing else. The report takes the value; NULL: memory was refused. The
 * key must outlive the report. */
void out_member(out *o, const char *key, json_t *value);
/* Prints to standard output, frees, and returns `code`, or TOOL_SYSTEM when there was no memory for
 * it. NULL is fine: it stands for a report that could not be opened. */
int out_close(out *o, int code);
/* Also, and before: the report in another form to another place. False: not all of it arrived. */
bool out_print(const out *o, tool_form form, FILE *f);
/* To a file, which appears when it is complete; out_save: in the form that its name stands for (save.h). */
int out_save(const out *o, const char *path);
/* A plot of it, as SVG (plot.h). */
int out_plot(const out *o, const char *path);
int out_save_as(const out *o, tool_form form, const char *path);
void out_drop(out *o); /* frees, prints nothing */

/* The text form of one value, as the table prints it. Returns `text`. */
enum { OUT_CELL = 96 };
const char *out_format(char text[OUT_CELL], out_kind kind, out_value v);

#endif
