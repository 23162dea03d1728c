/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_csv.c - requests as rows of text: csv.h has the parts. Options say where the columns are:
 *
 *     key=C time=C size=C verb=C   a column's number, from 1, or its name in the header
 *     op_count=C                   how many requests the row is
 *     unit=s|ms|us|ns              of the times (s, or what ends the column's name: time_us)
 *     delim=comma|tab|semicolon|space|pipe or any one character (a comma cannot stand in a spec)
 *     header=0|1                   whether the first row names the columns; else it is found out
 *     hash=1                       keys are hashed even when they are numbers
 *
 * With a header (there must be one unless the key is given by number) a column that is not given is the one of its
 * own name, if there is one; so what this file's writer writes is read without options. Every row then has as many
 * columns as the header: else a name would stand above another column. The key has no default without a header:
 * guessing would replay a column of times.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "workload/csv.h"
#include "workload/trace.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

hd_status hd_csv_fail(const hd_csv *c, const hd_csv_fault *f)
{
    char shown[48], role_shown[16] = "";
    for (unsigned i = 0; i < CSV_ROLES; i++)
        if (f->column && c->column[i] == f->column) snprintf(role_shown, sizeof role_shown, " (%s)", c->form->name[i]);
    bool may_be_header = c->form->header == HD_CSV_ANY_HEADER && c->line == 0 && !c->header && !c->header_said &&
                         *role_shown && f->why != HD_DELETE && f->text.n && !hd_text_begins_as_number(f->text);
    return hd_fail(HD_ECORRUPT, "%s: line %" PRIu64 ", column %u%s: %s: '%s'%s%s%s", hd_stream_path(c->reader.stream),
                   c->line + 1, f->column, role_shown, f->why, hd_text_show(f->text, shown, sizeof shown),
                   f->why == HD_NO_VERB  ? "; in any case: "
                   : f->why == HD_DELETE ? "; --lenient counts deletes and leaves them out"
                                         : "",
                   f->why == HD_NO_VERB ? HD_VERB_NAMES : "",
                   may_be_header ? "; if line 1 names the columns, say header=1" : "");
}

static void quote_look(hd_csv_rows *w)
{
    const char *quote = (const char *)memchr(w->p, '"', (size_t)(w->end - w->p));
    w->quote = quote ? quote : w->end;
}

static hd_status row_too_long(hd_csv *c, hd_text row)
{
    hd_csv_fault f = { 1, "a row above 64 KiB", row };
    if (!c->reader.lenient) return hd_csv_fail(c, &f);
    c->reader.source.skipped++;
    c->line++;
    return hd_reader_skip_line(&c->reader);
}

hd_status hd_csv_look(hd_csv *c, hd_csv_rows *w)
{
    for (;;) {
        const uint8_t *bytes;
        size_t n;
        hd_status e = hd_stream_peek(c->reader.stream, HD_CSV_ROW_MOST, &bytes, &n);
        if (e) return e;
        if (n > HD_CSV_LOOK_MOST) n = HD_CSV_LOOK_MOST;
        const char *p = (const char *)bytes, *stop = n ? (const char *)memrchr(p, '\n', n) : NULL;
        w->last = n && n < HD_CSV_ROW_MOST && p[n - 1] != '\n';
        if (w->last) {
            p = (const char *)memcpy(c->tail, p, n);
            c->tail[n] = '\n';
            stop = c->tail + n;
        }
        if (n && !stop) {
            e = row_too_long(c, (hd_text){ p, n });
            if (e) return e;
            continue;
        }
        w->start = w->p = p;
        w->end = n ? stop + 1 : p;
        quote_look(w);
        return HD_OK;
    }
}

void hd_csv_pass(hd_csv *c, hd_csv_rows *w, const char *to)
{
    hd_stream_skip(c->reader.stream, (size_t)(to - w->p) - (w->last && to == w->end));
    for (const char *p = w->p; p < to; p++) {
        p = (const char *)rawmemchr(p, '\n');
        c->line++;
    }
    w->p = to;
    if (w->quote < to) quote_look(w);
}

/* A bad row is passed over up to its first line end, whatever is quoted. */
static hd_status row_bad(hd_csv *c, hd_csv_rows *w, const hd_csv_fault *f)
{
    if (!c->reader.lenient) return hd_csv_fail(c, f);
    hd_reader_pass(&c->reader, f->why);
    hd_csv_pass(c, w, (const char *)rawmemchr(w->p, '\n') + 1);
    return HD_OK;
}

/* Takes one row; *got grows when it was a request. A quoted row that w does not show whole is left for a new look. */
static hd_status row_take(hd_csv *c, hd_csv_rows *w, hd_request *r, size_t *got)
{
    hd_text field[CSV_ROLES];
    hd_csv_fault f;
    const char *end = hd_csv_split(c, w, w->p, field, &f);
    if (!end && f.why == HD_CSV_OPEN_QUOTE && w->p > w->start) {
        w->end = w->p;
        return HD_OK;
    }
    if (!end) return row_bad(c, w, &f);
    if (end - w->p > HD_CSV_ROW_MOST) {
        f = (hd_csv_fault){ 1, "a row above 64 KiB", { w->p, (size_t)(end - w->p) } };
        return row_bad(c, w, &f);
    }
    bool blank = end - w->p == 1 || (end - w->p == 2 && *w->p == '\r');
    if (!blank && c->columns && c->seen != c->columns) {
        snprintf(c->why, sizeof c->why, "the row has %u column%s, and the %s %u", c->seen, c->seen == 1 ? "" : "s",
                 c->header ? "header" : "format", c->columns);
        f = (hd_csv_fault){ c->seen < c->columns ? c->seen : c->columns, c->why, { w->p, (size_t)(end - w->p) - 1 } };
        return row_bad(c, w, &f);
    }
    if (!blank && !hd_csv_request(c, field, r + *got, &f)) return row_bad(c, w, &f);
    hd_csv_pass(c, w, end);
    *got += !blank;
    return HD_OK;
}

/* What the last row still gives. */
static void more_take(hd_csv *c, hd_request *r)
{
    c->more.key += c->step;
    *r = c->more;
    c->left--;
    c->reader.source.extra++;
    c->reader.source.cut += c->more_cut;
    c->reader.source.hashed += c->more_hashed;
}

static hd_status csv_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    hd_csv *c = (hd_csv *)(void *)s;
    for (*got = 0; *got < max;) {
        while (c->left && *got < max) more_take(c, &r[(*got)++]);
        if (*got == max) break;
        hd_csv_rows w;
        hd_status e = hd_csv_look(c, &w);
        if (e || w.p == w.end) return e;
        while (!e && w.p < w.end && *got < max && !c->left) e = row_take(c, &w, r, got);
        hd_reader_progress(&c->reader);
        if (e) return e;
    }
    return HD_OK;
}

hd_status hd_csv_open(const hd_source_args *a, const hd_csv_form *form, hd_source **s)
{
    hd_reader *r;
    hd_status e = hd_reader_open(a, form->options, sizeof(hd_csv), &r);
    if (e) return e;
    hd_csv *c = (hd_csv *)(void *)r;
    c->form = form;
    r->source.next = csv_next;
    return hd_reader_opened(r, hd_csv_columns(c, a), s);
}

static const char *const csv_options[] = { "key",  "time",  "size",   "verb", "op_count",
                                           "unit", "delim", "header", "hash", NULL };
static const hd_csv_form form_csv = {
    .name = { [CSV_KEY] = "key",
              [CSV_TIME] = "time",
              [CSV_SIZE] = "size",
              [CSV_VERB] = "verb",
              [CSV_OP_COUNT] = "op_count" },
    .options = csv_options,
    .header = HD_CSV_ANY_HEADER,
};

static hd_status csv_open(const hd_source_args *a, hd_source **s) { return hd_csv_open(a, &form_csv, s); }

/* ---- Writing --------------------------------------------------------------------------------- */

static hd_status csv_encode(const hd_request *r, uint64_t number, uint8_t *to, size_t *bytes)
{
    static const char *const verb[] = { ",read\n", ",update\n", ",insert\n", ",rmw\n" };
    char *at = (char *)to;
    if (r->verb > HD_READ_MODIFY_WRITE)
        return hd_fail(HD_EINVAL, "request %" PRIu64 ": verb %u is none", number, r->verb);
    at += hd_print_u64(at, r->time);
    *at++ = ',';
    at += hd_print_u64(at, r->key);
    *at++ = ',';
    at += hd_print_u64(at, r->size);
    size_t n = strlen(verb[r->verb]);
    memcpy(at, verb[r->verb], n);
    *bytes = (size_t)(at - (char *)to) + n;
    return HD_OK;
}

const hd_trace_format hd_trace_csv = { .name = "csv", .head = ",key,size,verb\n", .encode = csv_encode };

const hd_source_row hd_workload_csv = {
    "csv", "rows of text, columns by number or name",
    "csv:FILE[,key=C][,time=C][,size=C][,verb=C][,op_count=C][,unit=s|ms|us|ns][,delim=comma|tab|semicolon|...]"
    "[,header=0|1][,hash=0|1]",
    true, csv_open
};
