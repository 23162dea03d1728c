/* SPDX-License-Identifier: Apache-2.0
 *
 * output.c - a report is kept until its end, then printed in one of three forms.
 */
#include "tools/output.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/plot.h"
#include "tools/save.h"

typedef struct out_fact_row {
    const char *key, *label;
    out_kind kind;
    out_value value;
} out_fact_row;

struct out {
    tool_form form;
    const char *schema;
    const out_column *column;
    int columns;
    out_fact_row *fact; /* (facts)          */
    out_value *cell;    /* (rows, columns)  */
    char *note;         /* NUL-terminated   */
    json_t *member;     /* an object: more members of the JSON; NULL: none */
    size_t facts, rows, note_bytes;
    bool failed; /* memory was refused */
};

/* ---- Building -------------------------------------------------------------------------------- */

/* Room for one element more: capacities are powers of two, so that `count` alone says when to grow. */
static bool room(out *o, void **array, size_t count, size_t size)
{
    if (count & (count - 1) || o->failed) return !o->failed; /* not 0, 1, 2, 4, ... */
    void *p = realloc(*array, (count ? 2 * count : 1) * size);
    if (p)
        *array = p;
    else
        o->failed = true;
    return p != NULL;
}

static out_value copy(out *o, out_value v)
{
    if (v.is != OUT_IS_TEXT) return v;
    v.text = v.text ? strdup(v.text) : NULL;
    if (!v.text) {
        v.is = OUT_IS_NONE;
        o->failed = true;
    }
    return v;
}

out *out_open(tool_form form, const char *schema, const out_column *column, int columns)
{
    out *o = (out *)calloc(1, sizeof *o);
    if (o) *o = (out){ .form = form, .schema = schema, .column = column, .columns = columns };
    return o;
}

void out_fact(out *o, const char *key, const char *label, out_kind kind, out_value v)
{
    if (!o || !room(o, (void **)&o->fact, o->facts, sizeof *o->fact)) return;
    o->fact[o->facts++] = (out_fact_row){ key, label, kind, copy(o, v) };
}

void out_row(out *o, const out_value *cell)
{
    size_t columns = o ? (size_t)o->columns : 0;
    if (!o || !room(o, (void **)&o->cell, o->rows, columns * sizeof *cell)) return;
    for (size_t i = 0; i < columns; i++) o->cell[o->rows * columns + i] = copy(o, cell[i]);
    o->rows++;
}

bool out_drops_facts(const out *o) { return o && o->form == TOOL_CSV && o->columns > 0; }

void out_note(out *o, const char *format, ...)
{
    if (!o || o->form != TOOL_TEXT) return;
    char *line = NULL;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&line, format, ap);
    va_end(ap);
    char *all = n < 0 ? NULL : (char *)realloc(o->note, o->note_bytes + (size_t)n + 1);
    if (all) {
        o->note = all;
        memcpy(all + o->note_bytes, line, (size_t)n + 1);
        o->note_bytes += (size_t)n;
    } else
        o->failed = true;
    if (n >= 0) free(line);
}

void out_member(out *o, const char *key, json_t *value)
{
    if (o && !o->member) o->member = json_object();
    if (!o)
        json_decref(value);
    else if (!value || json_object_set_new(o->member, key, value))
        o->failed = true;
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* Columns on the screen: code points, taken to be one column each. */
static int width_of(const char *s)
{
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* Text cells are printed whole: out_format would cut a long path. */
static const char *cell_text(char text[OUT_CELL], out_kind kind, out_value v)
{
    return v.is == OUT_IS_TEXT ? v.text : out_format(text, kind, v);
}

static void print_padded(FILE *f, const char *s, int width, bool left, bool last)
{
    int pad = width - width_of(s);
    fprintf(f, "%*s", left ? 0 : pad, "");
    tool_put(s, f);
    if (left && !last) fprintf(f, "%*s", pad, "");
}

static void print_facts(const out *o, FILE *f)
{
    char text[OUT_CELL];
    int label = 0;
    for (size_t i = 0; i < o->facts; i++)
        if (o->fact[i].label && width_of(o->fact[i].label) > label) label = width_of(o->fact[i].label);
    for (size_t i = 0; i < o->facts; i++) {
        if (!o->fact[i].label) continue;
        print_padded(f, o->fact[i].label, label, true, false);
        fputs("  ", f);
        tool_put(cell_text(text, o->fact[i].kind, o->fact[i].value), f);
        putc('\n', f);
    }
}

static int column_width(const out *o, size_t c)
{
    char text[OUT_CELL];
    int width = o->column[c].head ? width_of(o->column[c].head) : 0;
    for (size_t r = 0; r < o->rows; r++) {
        int w = width_of(cell_text(text, o->column[c].kind, o->cell[r * (size_t)o->columns + c]));
        if (w > width) width = w;
    }
    return width;
}

/* Row r of the cells; NULL: the heads. */
static void print_row(const out *o, const out_value *cell, const int *width, FILE *f)
{
    char text[OUT_CELL];
    const char *gap = "";
    for (size_t c = 0; c < (size_t)o->columns; c++) {
        const out_column *k = &o->column[c];
        if (!k->head) continue;
        fputs(gap, f);
        print_padded(f, cell ? cell_text(text, k->kind, cell[c]) : k->head, width[c],
                     k->kind == OUT_TEXT || k->kind == OUT_FLAG, c + 1 == (size_t)o->columns);
        gap = "  ";
    }
    putc('\n', f);
}

static bool print_text(const out *o, FILE *f)
{
    size_t columns = (size_t)o->columns;
    print_facts(o, f);
    if (o->facts && o->rows) putc('\n', f);
    int *width = (int *)calloc(columns + 1, sizeof *width);
    if (!width) return false;
    for (size_t c = 0; c < columns; c++) width[c] = column_width(o, c);
    if (o->rows) print_row(o, NULL, width, f);
    for (size_t r = 0; r < o->rows; r++) print_row(o, o->cell + r * columns, width, f);
    free(width);
    if (o->note) fputs(o->note, f);
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* JSON is UTF-8 and a file's name need not be: then every byte beyond ASCII becomes '?'. */
static json_t *json_of_text(const char *s)
{
    json_t *j = json_string(s);
    char *ascii = j ? NULL : strdup(s);
    if (!ascii) return j;
    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c > 126) *c = '?';
    j = json_string(ascii);
    free(ascii);
    return j;
}

static json_t *json_of(out_kind kind, out_value v)
{
    char text[OUT_CELL];
    if (v.is == OUT_IS_NONE || (v.is == OUT_IS_REAL && !isfinite(v.real))) return json_null();
    if (v.is == OUT_IS_TEXT) return json_of_text(v.text);
    if (v.is == OUT_IS_REAL) return json_real(v.real);
    if (kind == OUT_FLAG) return json_boolean(v.count != 0);
    /* jansson's integers are signed: what they cannot hold is a string, as every hash is */
    if (kind == OUT_HEX || v.count > INT64_MAX) return json_string(out_format(text, OUT_HEX, v));
    return json_integer((json_int_t)v.count);
}

/* The schema, the facts, and what JSON has besides; NULL: no memory. */
static json_t *json_of_facts(const out *o)
{
    json_t *all = json_object();
    int bad = !all || json_object_set_new(all, "schema", json_string(o->schema));
    for (size_t i = 0; i < o->facts && !bad; i++)
        bad = json_object_set_new(all, o->fact[i].key, json_of(o->fact[i].kind, o->fact[i].value));
    if (o->member && !bad) bad = json_object_update(all, o->member);
    if (!bad) return all;
    json_decref(all);
    return NULL;
}

/* {"schema": ..., facts..., "rows": [{...}]} */
static bool print_json(const out *o, FILE *f)
{
    json_t *all = json_of_facts(o), *rows = json_array();
    int bad = !all;
    for (size_t r = 0; r < o->rows && !bad; r++) {
        json_t *row = json_object();
        for (int c = 0; c < o->columns && !bad; c++)
            bad = json_object_set_new(row, o->column[c].key,
                                      json_of(o->column[c].kind, o->cell[r * (size_t)o->columns + (size_t)c]));
        bad = json_array_append_new(rows, row) || bad;
    }
    if (o->columns)
        bad = json_object_set_new(all, "rows", rows) || bad;
    else
        json_decref(rows);
    if (!bad) bad = json_dumpf(all, f, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) != 0 && !ferror(f);
    if (!bad) putc('\n', f);
    json_decref(all);
    return !bad;
}

/* ---- CSV (RFC 4180, line ends are \n), and the same with tabs -------------------------------- */

static void print_quoted(FILE *f, const char *s, char by)
{
    const char special[] = { by, '"', '\r', '\n', 0 };
    if (!strpbrk(s, special)) {
        fputs(s, f);
        return;
    }
    putc('"', f);
    for (; *s; s++) {
        if (*s == '"') putc('"', f);
        putc(*s, f);
    }
    putc('"', f);
}

static void print_plain(FILE *f, out_kind kind, out_value v, char by)
{
    char text[OUT_CELL];
    if (v.is == OUT_IS_NONE) return;
    if (v.is == OUT_IS_TEXT)
        print_quoted(f, v.text, by);
    else if (v.is == OUT_IS_REAL)
        fprintf(f, "%.12g", v.real);
    else if (kind == OUT_HEX)
        fputs(out_format(text, OUT_HEX, v), f);
    else if (kind == OUT_FLAG)
        fputs(v.count ? "true" : "false", f);
    else
        fprintf(f, "%" PRIu64, v.count);
}

static void print_separated(const out *o, FILE *f, char by)
{
    if (!o->columns) {
        fprintf(f, "key%cvalue\n", by);
        for (size_t i = 0; i < o->facts; i++) {
            fprintf(f, "%s%c", o->fact[i].key, by);
            print_plain(f, o->fact[i].kind, o->fact[i].value, by);
            putc('\n', f);
        }
    }
    for (int c = 0; c < o->columns; c++) fprintf(f, "%s%c", o->column[c].key, c + 1 < o->columns ? by : '\n');
    for (size_t r = 0; r < o->rows; r++)
        for (int c = 0; c < o->columns; c++) {
            print_plain(f, o->column[c].kind, o->cell[r * (size_t)o->columns + (size_t)c], by);
            putc(c + 1 < o->columns ? by : '\n', f);
        }
}

/* ---- The end --------------------------------------------------------------------------------- */

bool out_print(const out *o, tool_form form, FILE *f)
{
    if (!o || o->failed) return false;
    bool printed = true;
    if (form == TOOL_TEXT) printed = print_text(o, f);
    if (form == TOOL_CSV) print_separated(o, f, ',');
    if (form == TOOL_JSON) printed = print_json(o, f);
    return printed && fflush(f) == 0 && !ferror(f);
}

static bool write_text(const void *o, FILE *f) { return out_print((const out *)o, TOOL_TEXT, f); }
static bool write_json(const void *o, FILE *f) { return out_print((const out *)o, TOOL_JSON, f); }
static bool write_csv(const void *o, FILE *f) { return out_print((const out *)o, TOOL_CSV, f); }
static bool write_tsv(const void *what, FILE *f)
{
    const out *o = (const out *)what;
    if (!o || o->failed) return false;
    return print_separated(o, f, '\t'), !ferror(f);
}

int out_save(const out *o, const char *path)
{
    static const save_forms forms = { write_json, write_csv, write_tsv };
    return save_by_name(path, &forms, o);
}

int out_plot(const out *o, const char *path) { return plot_draw(write_json, o, path); }

int out_save_as(const out *o, tool_form form, const char *path)
{
    return save_file(path, form == TOOL_TEXT ? write_text : form == TOOL_JSON ? write_json : write_csv, o);
}

int out_close(out *o, int code)
{
    bool printed = out_print(o, o ? o->form : TOOL_TEXT, stdout);
    /* what standard output itself refused is said once, at the end of main */
    if (!printed && !ferror(stdout)) code = tool_say(TOOL_SYSTEM, "memory was refused while reporting");
    out_drop(o);
    return code;
}

void out_drop(out *o)
{
    if (!o) return;
    for (size_t i = 0; i < o->facts; i++)
        if (o->fact[i].value.is == OUT_IS_TEXT) free((void *)(uintptr_t)o->fact[i].value.text);
    for (size_t i = 0; i < o->rows * (size_t)o->columns; i++)
        if (o->cell[i].is == OUT_IS_TEXT) free((void *)(uintptr_t)o->cell[i].text);
    free(o->fact);
    free(o->cell);
    free(o->note);
    json_decref(o->member);
    free(o);
}
