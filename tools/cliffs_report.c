/* SPDX-License-Identifier: Apache-2.0
 *
 * cliffs_report.c - see cliffs_report.h.
 */
#include "tools/cliffs_report.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tools/table_text.h"

/* ---- The record: a line for each of its columns ---------------------------------------------- */

/* Texts are char[bytes], OUT_COUNT, OUT_PLAIN and OUT_FLAG are uint64_t, other kinds are double. */
#define AT(field) offsetof(cliffs_row, field), sizeof((cliffs_row *)0)->field
/* clang-format off */
static const struct {
    out_column column;
    size_t at, bytes;
} fields[] = {
    { { "policy",      NULL, OUT_TEXT },    AT(policy) },
    { { "mode",        NULL, OUT_TEXT },    AT(mode) },
    { { "operation",   NULL, OUT_TEXT },    AT(operation) },
    { { "pattern",     NULL, OUT_TEXT },    AT(pattern) },
    { { "capacity",    NULL, OUT_PLAIN },   AT(capacity) },
    { { "dim",         NULL, OUT_PLAIN },   AT(dim) },
    { { "batch",       NULL, OUT_PLAIN },   AT(batch) },
    { { "calls",       NULL, OUT_PLAIN },   AT(calls) },
    { { "items_per_s", NULL, OUT_RATE },    AT(rate) },
    { { "least_per_s", NULL, OUT_RATE },    AT(least) },
    { { "most_per_s",  NULL, OUT_RATE },    AT(most) },
    { { "below",       NULL, OUT_FLAG },    AT(below) },
    { { "of_best",     NULL, OUT_PERCENT }, AT(of_best) },
    { { "marked",      NULL, OUT_FLAG },    AT(marked) },
    { { "load",        NULL, OUT_REAL },    AT(load) },
    { { "expected",    NULL, OUT_REAL },    AT(expected) },
    { { "miss",        NULL, OUT_PLAIN },   AT(outcome[HD_MISS]) },
    { { "hit",         NULL, OUT_PLAIN },   AT(outcome[HD_HIT]) },
    { { "inserted",    NULL, OUT_PLAIN },   AT(outcome[HD_INSERTED]) },
    { { "updated",     NULL, OUT_PLAIN },   AT(outcome[HD_UPDATED]) },
    { { "evicted",     NULL, OUT_PLAIN },   AT(outcome[HD_EVICTED]) },
    { { "refused",     NULL, OUT_PLAIN },   AT(outcome[HD_REFUSED]) },
    { { "reserved",    NULL, OUT_PLAIN },   AT(outcome[HD_RESERVED]) },
    { { "erased",      NULL, OUT_PLAIN },   AT(outcome[HD_ERASED]) },
    { { "pinned",      NULL, OUT_PLAIN },   AT(outcome[HD_PINNED]) },
    { { "pending",     NULL, OUT_PLAIN },   AT(outcome[HD_PENDING]) },
    { { "why",         NULL, OUT_TEXT },    AT(why) },
};
/* clang-format on */
enum { FIELDS = sizeof fields / sizeof *fields };

/* Four digits say all that a rate can. */
static double four_digits(double v)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", v);
    return atof(text);
}

static out_value value_of(const cliffs_row *row, size_t f)
{
    const char *p = (const char *)row + fields[f].at;
    out_kind kind = fields[f].column.kind;
    uint64_t whole;
    double real;
    if (kind == OUT_TEXT) return *p ? out_text(p) : out_none();
    if (kind == OUT_PLAIN || kind == OUT_FLAG) {
        memcpy(&whole, p, sizeof whole);
        return out_count(whole);
    }
    memcpy(&real, p, sizeof real);
    return real > 0 || kind == OUT_REAL ? out_real(four_digits(real)) : out_none();
}

out *cliffs_record(const cliffs_table *t, tool_form form)
{
    static out_column column[FIELDS];
    out_value cell[FIELDS];
    for (size_t f = 0; f < FIELDS; f++) column[f] = fields[f].column;
    out *o = out_open(form, "heddle.bench.cliffs/1", column, FIELDS);
    for (size_t i = 0; i < t->rows; i++) {
        for (size_t f = 0; f < FIELDS; f++) cell[f] = value_of(&t->row[i], f);
        out_row(o, cell);
    }
    return o;
}

int cliffs_add(cliffs_table *t, const cliffs_row *row)
{
    cliffs_row *all = (cliffs_row *)realloc(t->row, (t->rows + 1) * sizeof *all);
    if (!all) return tool_say(TOOL_SYSTEM, "memory was refused while reporting");
    t->row = all;
    t->row[t->rows++] = *row;
    return TOOL_OK;
}

void cliffs_drop(cliffs_table *t)
{
    free(t->row);
    memset(t, 0, sizeof *t);
}

/* ---- Marks ----------------------------------------------------------------------------------- */

static const cliff_pattern *pattern_named(const char *name)
{
    for (size_t i = 0; i < cliff_pattern_count; i++)
        if (strcmp(cliff_patterns[i].name, name) == 0) return &cliff_patterns[i];
    return NULL;
}

static bool is_compared(const cliffs_row *row)
{
    return row->rate > 0 && !(pattern_named(row->pattern)->flags & CLIFF_APART);
}

static bool may_be_best(const cliffs_row *row)
{
    return is_compared(row) && !row->below && !(pattern_named(row->pattern)->flags & CLIFF_CACHED);
}

void cliffs_mark(cliffs_row *row, size_t rows)
{
    double best = 0;
    for (size_t i = 0; i < rows; i++)
        if (may_be_best(&row[i]) && row[i].rate > best) best = row[i].rate;
    for (size_t i = 0; i < rows; i++) {
        bool compared = is_compared(&row[i]);
        row[i].of_best = compared && best > 0 ? row[i].rate / best : 0;
        row[i].marked = compared && (row[i].below || row[i].rate < best / 2);
    }
}

/* ---- The matrix ------------------------------------------------------------------------------ */

enum { OPERATION_WIDTH = 19, CELL_WIDTH = 9 };

/* 1e6 items per second: "3,300" is 3300, "0.0042" 0.0042; "<": no more than that; "*": marked. */
static void print_cell(const cliffs_row *row)
{
    char text[32] = "-";
    double m = row ? row->rate * 1e-6 : 0;
    if (row && row->rate > 0)
        snprintf(text, sizeof text, m >= 100 ? "%s%.0f%s" : "%s%.3g%s", row->below ? "<" : "", m,
                 row->marked ? "*" : " ");
    printf(" %*s", CELL_WIDTH, text);
}

static const cliffs_row *row_of(const cliffs_row *row, size_t rows, const cliff_pattern *p)
{
    for (size_t i = 0; i < rows; i++)
        if (strcmp(row[i].pattern, p->name) == 0) return &row[i];
    return NULL;
}

void cliffs_print(const cliffs_shown *shown, const cliffs_row *row, size_t rows, bool first)
{
    if (first) {
        printf("\n%s, %s\n%-*s", row->policy, row->mode, OPERATION_WIDTH, "");
        for (size_t i = 0; i < shown->patterns; i++) printf(" %*s", CELL_WIDTH, shown->pattern[i]->name);
        putchar('\n');
    }
    printf("%-*s", OPERATION_WIDTH, row->operation);
    for (size_t i = 0; i < shown->patterns; i++) print_cell(row_of(row, rows, shown->pattern[i]));
    putchar('\n');
    fflush(stdout);
}

void cliffs_print_end(const cliffs_shown *shown, const cliffs_table *t)
{
    size_t marked = 0, compared = 0;
    for (size_t i = 0; i < t->rows; i++) marked += t->row[i].marked != 0, compared += is_compared(&t->row[i]);
    printf("\n%zu of %zu cells are marked (*): less than half of the best of their row, or a batch that would pass the "
           "limit (<: its rate is no more than that). Patterns whose keys stay in the cache never set the best\n\n",
           marked, compared);
    for (size_t i = 0; i < shown->patterns; i++)
        printf("%-*s %s\n", CELL_WIDTH, shown->pattern[i]->name, shown->pattern[i]->what);
}

/* ---- A record that was saved ----------------------------------------------------------------- */

static void field_read(cliffs_row *row, size_t f, const char *text)
{
    char *p = (char *)row + fields[f].at;
    out_kind kind = fields[f].column.kind;
    if (kind == OUT_TEXT) {
        snprintf(p, fields[f].bytes, "%s", text);
    } else if (kind == OUT_PLAIN || kind == OUT_FLAG) {
        uint64_t whole = kind == OUT_FLAG ? !strcmp(text, "true") : (uint64_t)strtoull(text, NULL, 10);
        memcpy(p, &whole, sizeof whole);
    } else {
        double real = atof(text);
        memcpy(p, &real, sizeof real);
    }
}

/* Which fields the columns are; FIELDS: none of them. The line is cut in place. */
static size_t head_read(char *line, size_t *field)
{
    size_t columns = 0;
    for (char *name; line && columns < 2 * FIELDS; columns++) {
        name = strsep(&line, "\t");
        field[columns] = 0;
        while (field[columns] < FIELDS && strcmp(fields[field[columns]].column.key, name) != 0) field[columns]++;
    }
    return columns;
}

static int row_read(cliffs_table *t, char *line, const size_t *field, size_t columns, const char *path)
{
    cliffs_row row;
    memset(&row, 0, sizeof row);
    for (size_t c = 0; line && c < columns; c++) {
        const char *text = strsep(&line, "\t");
        if (field[c] < FIELDS) field_read(&row, field[c], text);
    }
    if (!pattern_named(row.pattern))
        return tool_say(TOOL_DATA, "%s: this is no record of cliffs: there is no pattern '%s'", path, row.pattern);
    return cliffs_add(t, &row);
}

static bool is_same_row(const cliffs_row *a, const cliffs_row *b)
{
    return strcmp(a->policy, b->policy) == 0 && strcmp(a->mode, b->mode) == 0 &&
           strcmp(a->operation, b->operation) == 0;
}

size_t cliffs_row_length(const cliffs_table *t, size_t from)
{
    size_t n = 1;
    while (from + n < t->rows && is_same_row(&t->row[from], &t->row[from + n])) n++;
    return n;
}

int cliffs_read(cliffs_table *t, const char *path)
{
    size_t field[2 * FIELDS], columns = 0;
    char *text;
    int code = table_text(&text, path, "record of cliffs");
    for (char *rest = text, *line; !code && rest && (line = strsep(&rest, "\n"), *line || rest);) {
        if (*line == '#') continue;
        if (columns)
            code = row_read(t, line, field, columns, path);
        else
            columns = head_read(line, field);
    }
    if (!code && t->rows == 0) code = tool_say(TOOL_DATA, "%s: this is no record of cliffs", path);
    for (size_t i = 0, n; !code && i < t->rows; i += n) {
        n = cliffs_row_length(t, i);
        cliffs_mark(t->row + i, n);
    }
    free(text);
    return code;
}
