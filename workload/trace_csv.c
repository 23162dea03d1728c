/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_csv.c - requests as rows of text, quoted as RFC 4180 says. Options say where the columns are:
 *
 *     key=C time=C size=C verb=C   a column's number, from 1, or its name in the header
 *     delim=comma|tab|semicolon|space|pipe or any one character (a comma cannot stand in a spec)
 *     header=0|1                   whether the first row names the columns
 *     hash=1                       keys are hashed even when they are numbers
 *
 * With a header (the default, unless every column given is a number) a column that is not given is the one of its
 * own name, if there is one; so what this file's writer writes is read without options. The key has no
 * default without a header: guessing would replay a column of times. Blanks around an unquoted
 * field are not part of it, which RFC 4180 leaves in: files written "1, 2, 3" are common.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "workload/reader.h"
#include "workload/trace.h"

enum {
    ROW_MOST = 64 << 10,      /* as much as a stream shows at once */
    LOOK_MOST = 2 * ROW_MOST, /* of the window per look: a quote is searched in all of it */
    COLUMNS_MOST = 255
};

typedef enum role { KEY, TIME, SIZE, VERB, ROLES, NO_ROLE = ROLES } role;
static const char *const role_name[ROLES] = { "key", "time", "size", "verb" };

typedef struct csv {
    hd_reader reader;
    uint64_t line;                     /* lines read so far                          */
    uint8_t role_of[COLUMNS_MOST + 1]; /* of a column                              */
    unsigned column[ROLES];            /* of a role; 0: the trace has none           */
    unsigned last;                     /* the greatest of them                       */
    char delim;
    bool header, hash;
    char tail[ROW_MOST + 1];  /* the file's last row, when no line end ends it */
    char unquoted[LOOK_MOST]; /* a row's quoted fields, as they mean        */
} csv;

/* What is wrong with a row: a column (0: the row as a whole), why, and the text that is so. */
typedef struct fault {
    unsigned column;
    const char *why;
    hd_text text;
} fault;

/* ---- A row's fields ----------------------------------------------------------------------------------------
 *
 * A row that has no quote ends at the line's end, and the line's end stops every search in it: no bounds. */

static const char *row_plain(const csv *c, const char *p, hd_text *field)
{
    for (unsigned column = 1;; column++) {
        const char *from = p;
        while (*p != c->delim && *p != '\n') p++;
        if (c->role_of[column] != NO_ROLE)
            field[c->role_of[column]] = hd_text_trim((hd_text){ from, (size_t)(p - from) });
        if (*p == '\n') return p + 1;
        if (column == c->last) return (const char *)rawmemchr(p, '\n') + 1;
        p++;
    }
}

static const char never_closed[] = "the quote is never closed";

/* Steps over the field at *p to the delimiter or line end behind it, before `end`. A quoted field's meaning goes to
 * *spare. NULL, or what is wrong. */
static const char *field_take(const csv *c, const char **p, const char *end, char **spare, hd_text *t)
{
    const char *at = *p;
    if (*at != '"') {
        while (*at != c->delim && *at != '\n' && *at != '"') at++;
        *t = hd_text_trim((hd_text){ *p, (size_t)(at - *p) });
        *p = at;
        return *at == '"' ? "a quote inside an unquoted field" : NULL;
    }
    char *to = *spare;
    for (at++; at < end; at++) {
        if (*at == '"' && *++at != '"') break; /* a doubled quote is one */
        *to++ = *at;
    }
    *t = (hd_text){ *spare, (size_t)(to - *spare) };
    *spare = to;
    if (at < end && *at == '\r' && at[1] == '\n') at++;
    *p = at;
    if (at == end) return never_closed;
    return *at == c->delim || *at == '\n' ? NULL : "text behind the closing quote";
}

/* The same for a row that has quotes; NULL when something is wrong with it. The byte before `end` is a line end. */
static const char *row_quoted(csv *c, const char *p, const char *end, hd_text *field, fault *f)
{
    char *spare = c->unquoted;
    for (unsigned column = 1;; column++) {
        hd_text t;
        const char *why = field_take(c, &p, end, &spare, &t);
        if (why) {
            *f = (fault){ column, why, t };
            return NULL;
        }
        if (column <= c->last && c->role_of[column] != NO_ROLE) field[c->role_of[column]] = t;
        if (*p++ == '\n') return p;
    }
}

/* ---- From fields to a request ---------------------------------------------------------------- */

/* The whole part of a number of seconds. */
static bool time_of(hd_text t, uint64_t *time)
{
    const char *dot = (const char *)memchr(t.p, '.', t.n);
    uint64_t fraction;
    if (!dot) return hd_text_number(t, UINT64_MAX, time);
    hd_text whole = { t.p, (size_t)(dot - t.p) }, rest = { dot + 1, t.n - whole.n - 1 };
    if (rest.n > 18) rest.n = 18;
    return hd_text_number(whole, UINT64_MAX, time) && hd_text_number(rest, UINT64_MAX, &fraction);
}

static bool verb_of(hd_text t, uint32_t *verb)
{
    static const struct {
        const char *name;
        hd_verb verb;
    } row[] = {
        { "read", HD_READ },  { "update", HD_UPDATE }, { "insert", HD_INSERT }, { "rmw", HD_READ_MODIFY_WRITE },
        { "get", HD_READ },   { "set", HD_UPDATE },    { "put", HD_UPDATE },    { "write", HD_UPDATE },
        { "add", HD_INSERT }, { "R", HD_READ },        { "W", HD_UPDATE },      { "r", HD_READ },
        { "w", HD_UPDATE },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (t.n == strlen(row[i].name) && memcmp(t.p, row[i].name, t.n) == 0) {
            *verb = row[i].verb;
            return true;
        }
    return false;
}

/* NULL p: the row has no such column. */
static bool request_of(csv *c, hd_text *field, hd_request *r, fault *f)
{
    static const char *const wrong[ROLES] = { "not text", "not a number", "not a whole number below 2^32",
                                              "not a verb" };
    uint64_t size = 1;
    bool hashed = false;
    r->time = 0;
    r->next = 0;
    r->verb = HD_READ;
    for (unsigned i = 0; i < ROLES; i++) {
        if (!c->column[i]) continue;
        hd_text t = field[i];
        bool good = t.p && (i == KEY    ? hd_text_key(t, c->hash, &r->key, &hashed)
                            : i == TIME ? time_of(t, &r->time)
                            : i == SIZE ? hd_text_number(t, UINT32_MAX, &size)
                                        : verb_of(t, &r->verb));
        if (!good) {
            *f = (fault){ c->column[i], !t.p ? "missing" : t.n == 0 ? "empty" : wrong[i], t };
            return false;
        }
    }
    r->size = (uint32_t)size;
    c->reader.source.hashed += hashed;
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static hd_status fail_row(const csv *c, const fault *f)
{
    char shown[48], role_shown[16] = "";
    for (unsigned i = 0; i < ROLES; i++)
        if (f->column && c->column[i] == f->column) snprintf(role_shown, sizeof role_shown, " (%s)", role_name[i]);
    return hd_fail(HD_ECORRUPT, "%s: line %" PRIu64 ", column %u%s: %s: '%s'", hd_stream_path(c->reader.stream),
                   c->line + 1, f->column, role_shown, f->why, hd_text_show(f->text, shown, sizeof shown));
}

/* Rows to be taken now: whole lines. */
typedef struct rows {
    const char *start, *p, *end; /* the byte before end is a line end         */
    const char *quote;           /* the next one, or end                      */
    bool last;                   /* the file's last rows, in c->tail: the line end is ours */
} rows;

static void quote_look(rows *w)
{
    const char *quote = (const char *)memchr(w->p, '"', (size_t)(w->end - w->p));
    w->quote = quote ? quote : w->end;
}

static hd_status row_too_long(csv *c, hd_text row)
{
    fault f = { 1, "a row above 64 KiB", row };
    if (!c->reader.lenient) return fail_row(c, &f);
    c->reader.source.skipped++;
    c->line++;
    return hd_reader_skip_line(&c->reader);
}

/* Looks at what comes next. p == end: the file ends here. */
static hd_status rows_look(csv *c, rows *w)
{
    for (;;) {
        const uint8_t *bytes;
        size_t n;
        hd_status e = hd_stream_peek(c->reader.stream, ROW_MOST, &bytes, &n);
        if (e) return e;
        if (n > LOOK_MOST) n = LOOK_MOST;
        const char *p = (const char *)bytes, *stop = n ? (const char *)memrchr(p, '\n', n) : NULL;
        w->last = n && n < ROW_MOST && p[n - 1] != '\n';
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

/* Takes what is in front of `to` from the stream. */
static void rows_pass(csv *c, rows *w, const char *to)
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
static hd_status row_bad(csv *c, rows *w, const fault *f)
{
    if (!c->reader.lenient) return fail_row(c, f);
    c->reader.source.skipped++;
    rows_pass(c, w, (const char *)rawmemchr(w->p, '\n') + 1);
    return HD_OK;
}

/* The fields of the row at w->p, by role, and where it ends; NULL when something is wrong with it. */
static const char *row_split(csv *c, const rows *w, hd_text *field, fault *f)
{
    for (unsigned i = 0; i < ROLES; i++) field[i] = (hd_text){ NULL, 0 };
    const char *end = row_plain(c, w->p, field);
    return end <= w->quote ? end : row_quoted(c, w->p, w->end, field, f);
}

/* Takes one row; *got grows when it was a request. A quoted row that w does not show whole is left for a new look. */
static hd_status row_take(csv *c, rows *w, hd_request *r, size_t *got)
{
    hd_text field[ROLES];
    fault f;
    const char *end = row_split(c, w, field, &f);
    if (!end && f.why == never_closed && w->p > w->start) {
        w->end = w->p;
        return HD_OK;
    }
    if (!end) return row_bad(c, w, &f);
    if (end - w->p > ROW_MOST) {
        f = (fault){ 1, "a row above 64 KiB", { w->p, (size_t)(end - w->p) } };
        return row_bad(c, w, &f);
    }
    bool blank = end - w->p == 1 || (end - w->p == 2 && *w->p == '\r');
    if (!blank && !request_of(c, field, r + *got, &f)) return row_bad(c, w, &f);
    rows_pass(c, w, end);
    *got += !blank;
    return HD_OK;
}

static hd_status csv_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    csv *c = (csv *)s;
    for (*got = 0; *got < max;) {
        rows w;
        hd_status e = rows_look(c, &w);
        if (e || w.p == w.end) return e;
        while (!e && w.p < w.end && *got < max) e = row_take(c, &w, r, got);
        hd_reader_progress(&c->reader);
        if (e) return e;
    }
    return HD_OK;
}

/* ---- Opening: which column is what ----------------------------------------------------------- */

static hd_status delim_of(const hd_source_args *a, char *delim)
{
    static const struct {
        const char *name;
        char delim;
    } row[] = {
        { "comma", ',' }, { "tab", '\t' }, { "semicolon", ';' }, { "space", ' ' }, { "pipe", '|' },
    };
    const char *text = hd_source_option(a, "delim", "comma");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (strcmp(text, row[i].name) == 0) {
            *delim = row[i].delim;
            return HD_OK;
        }
    if (strlen(text) != 1 || strchr("\"\r\n", *text))
        return hd_fail(HD_EINVAL, "delim: '%.20s' is neither comma, tab, semicolon, space, pipe nor one character",
                       text);
    *delim = *text;
    return HD_OK;
}

static bool is_number(const char *text) { return *text && strspn(text, "0123456789") == strlen(text); }

/* The options' half: columns given by number, and whether there is a header. */
static hd_status options_read(csv *c, const hd_source_args *a)
{
    bool named = false;
    for (unsigned i = 0; i < ROLES; i++) {
        const char *text = hd_source_option(a, role_name[i], NULL);
        if (text && is_number(text)) {
            uint64_t column;
            hd_status e = hd_parse_u64(role_name[i], text, 1, COLUMNS_MOST, &column);
            if (e) return e;
            c->column[i] = (unsigned)column;
        }
        named |= text && !c->column[i];
    }
    hd_status e = delim_of(a, &c->delim);
    if (!e) e = hd_source_flag(a, "hash", false, &c->hash);
    if (!e) e = hd_source_flag(a, "header", named || !c->column[KEY], &c->header);
    if (!e && !c->header && (named || !c->column[KEY]))
        e = hd_fail(HD_EINVAL, "%s: without a header, columns are given by number, and key= must be", a->name);
    return e;
}

/* Column `column` of the header has this name: it has the roles that are called so. */
static void column_named(csv *c, const hd_source_args *a, unsigned column, hd_text name)
{
    for (unsigned i = 0; i < ROLES && column <= COLUMNS_MOST; i++) {
        const char *wanted = hd_source_option(a, role_name[i], role_name[i]);
        if (!c->column[i] && name.n == strlen(wanted) && memcmp(name.p, wanted, name.n) == 0) c->column[i] = column;
    }
}

/* Every role that was given, and the key, has its column. */
static hd_status columns_found(const csv *c, const hd_source_args *a, hd_text header)
{
    for (unsigned i = 0; i < ROLES; i++) {
        const char *given = hd_source_option(a, role_name[i], NULL);
        char shown[80];
        if (c->column[i] || (!given && i != KEY)) continue;
        return hd_fail(given ? HD_EINVAL : HD_ECORRUPT,
                       "%s: line 1, column 1: no column is called '%.40s' in the header '%s'; %s=NUMBER says which",
                       hd_stream_path(c->reader.stream), given ? given : role_name[i],
                       hd_text_show(header, shown, sizeof shown), role_name[i]);
    }
    return HD_OK;
}

/* The header's half: columns given by name, or not given and called as we call them. */
static hd_status header_read(csv *c, const hd_source_args *a)
{
    rows w;
    hd_status e = rows_look(c, &w);
    if (e) return e;
    const char *p = w.p, *first_end = w.p < w.end ? (const char *)rawmemchr(p, '\n') : p;
    hd_text whole = { p, (size_t)(first_end - p) };
    char *spare = c->unquoted;
    for (unsigned column = 1; p < w.end; column++) {
        fault f = { column, NULL, { NULL, 0 } };
        f.why = field_take(c, &p, w.end, &spare, &f.text);
        if (f.why) return fail_row(c, &f);
        column_named(c, a, column, f.text);
        if (*p++ == '\n') break;
    }
    if ((e = columns_found(c, a, whole))) return e;
    rows_pass(c, &w, p);
    return HD_OK;
}

static hd_status roles_set(csv *c)
{
    memset(c->role_of, NO_ROLE, sizeof c->role_of);
    for (unsigned i = 0; i < ROLES; i++) {
        if (!c->column[i]) continue;
        uint8_t *role = &c->role_of[c->column[i]];
        if (*role != NO_ROLE)
            return hd_fail(HD_EINVAL, "%s and %s: both are column %u", role_name[*role], role_name[i], c->column[i]);
        *role = (uint8_t)i;
        if (c->column[i] > c->last) c->last = c->column[i];
    }
    return HD_OK;
}

/* It was not said whether there is a header, and there seems to be one: a number stands below a text. To replay
 * its names as a request would be quietly wrong by one. */
static hd_status header_suspect(csv *c)
{
    rows w;
    hd_text first[ROLES], second[ROLES];
    fault f;
    uint64_t number;
    hd_status e = rows_look(c, &w);
    if (e || w.p == w.end || !(w.p = row_split(c, &w, first, &f)) || w.p == w.end) return e;
    if (w.quote < w.p) quote_look(&w);
    if (!row_split(c, &w, second, &f) || !first[KEY].p || !second[KEY].p) return HD_OK;
    if (hd_text_number(first[KEY], UINT64_MAX, &number) || !hd_text_number(second[KEY], UINT64_MAX, &number))
        return HD_OK;
    char shown[48];
    return hd_fail(HD_EINVAL,
                   "header: '%s' in line 1 of %s looks like a column's name; say header=1, or header=0 if it is a key",
                   hd_text_show(first[KEY], shown, sizeof shown), hd_stream_path(c->reader.stream));
}

static hd_status csv_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { "key", "time", "size", "verb", "delim", "header", "hash", NULL };
    hd_reader *r;
    hd_status e = hd_reader_open(a, known, sizeof(csv), &r);
    if (e) return e;
    csv *c = (csv *)(void *)r;
    r->source.next = csv_next;
    e = options_read(c, a);
    if (!e) e = hd_reader_mark(r);
    if (!e && c->header) e = header_read(c, a);
    if (!e) e = roles_set(c);
    r->source.sized = c->column[SIZE] != 0;
    if (!e && !hd_source_option(a, "header", NULL) && !c->header) e = header_suspect(c);
    return hd_reader_opened(r, e, s);
}

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

const hd_trace_format hd_trace_csv = { .name = "csv", .head = "time,key,size,verb\n", .encode = csv_encode };

const hd_source_row hd_workload_csv = {
    "csv", "rows of text, columns by number or name",
    "csv:FILE[,key=C][,time=C][,size=C][,verb=C][,delim=comma|tab|semicolon|...][,header=0|1][,hash=0|1]", true,
    csv_open
};
