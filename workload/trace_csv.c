/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_csv.c - requests as rows of text, quoted as RFC 4180 says. Options say where the columns are:
 *
 *     key=C time=C size=C verb=C   a column's number, from 1, or its name in the header
 *     unit=s|ms|us|ns              of the times (s, or what ends the column's name: time_us)
 *     delim=comma|tab|semicolon|space|pipe or any one character (a comma cannot stand in a spec)
 *     header=0|1                   whether the first row names the columns
 *     hash=1                       keys are hashed even when they are numbers
 *
 * With a header (the default, unless every column given is a number) a column that is not given is the one of its
 * own name, if there is one; so what this file's writer writes is read without options. Every row then has as many
 * columns as the header: else a name would stand above another column. The key has no
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
    COLUMNS_MOST = 255,
    UNREAD_MOST = 160
};

typedef enum role { KEY, TIME, SIZE, VERB, ROLES, NO_ROLE = ROLES } role;
static const char *const role_name[ROLES] = { "key", "time", "size", "verb" };

typedef struct csv {
    hd_reader reader;
    uint64_t line;                     /* lines read so far                          */
    uint8_t role_of[COLUMNS_MOST + 1]; /* of a column                              */
    unsigned column[ROLES];            /* of a role; 0: the trace has none           */
    unsigned last;                     /* the greatest of them                       */
    unsigned columns;                  /* of the header, and so of every row; 0: they are not counted */
    unsigned seen;                     /* of the last row, if they are counted       */
    char delim;
    bool header, hash;
    bool header_said;         /* by the option */
    bool named[ROLES];        /* the column was found by its name */
    char unread[UNREAD_MOST]; /* hd_source.unread */
    char why[UNREAD_MOST];    /* of a fault that has numbers */
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

static const char *row_plain(csv *c, const char *p, hd_text *field)
{
    for (c->seen = 1;; c->seen++) {
        const char *from = p;
        while (*p != c->delim && *p != '\n') p++;
        if (c->seen <= c->last && c->role_of[c->seen] != NO_ROLE)
            field[c->role_of[c->seen]] = hd_text_trim((hd_text){ from, (size_t)(p - from) });
        if (*p == '\n') return p + 1;
        if (c->seen == c->last && !c->columns) return (const char *)rawmemchr(p, '\n') + 1;
        p++;
    }
}

static const char never_closed[] = "the quote is never closed";
static const char lone_cr[] = "a CR inside a line; lines end in LF or CR LF";

/* Whether a CR stands before the last byte of t, which may be the CR of a line end. */
static bool has_lone_cr(hd_text t)
{
    const char *cr = (const char *)memchr(t.p, '\r', t.n);
    return cr && cr + 1 != t.p + t.n;
}

/* Steps over the field at *p to the delimiter or line end behind it, before `end`. A quoted field's meaning goes to
 * *spare. NULL, or what is wrong. */
static const char *field_take(const csv *c, const char **p, const char *end, char **spare, hd_text *t)
{
    const char *at = *p;
    if (*at != '"') {
        while (*at != c->delim && *at != '\n' && *at != '"') at++;
        *t = hd_text_trim((hd_text){ *p, (size_t)(at - *p) });
        const bool lone = has_lone_cr((hd_text){ *p, (size_t)(at - *p) });
        *p = at;
        return *at == '"' ? "a quote inside an unquoted field" : lone ? lone_cr : NULL;
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
        c->seen = column;
        if (*p++ == '\n') return p;
    }
}

/* ---- From fields to a request ---------------------------------------------------------------- */

/* The whole part of a number of units of time; that there was more is counted. */
static bool time_of(hd_text t, uint64_t *time, uint64_t *cut)
{
    const char *dot = (const char *)memchr(t.p, '.', t.n);
    if (!dot) return hd_text_number(t, UINT64_MAX, time);
    hd_text whole = { t.p, (size_t)(dot - t.p) }, rest = { dot + 1, t.n - whole.n - 1 };
    bool digits = rest.n > 0, zeros = true;
    for (size_t i = 0; i < rest.n; i++) {
        digits = digits && rest.p[i] >= '0' && rest.p[i] <= '9';
        zeros = zeros && rest.p[i] == '0';
    }
    *cut += digits && !zeros;
    return digits && hd_text_number(whole, UINT64_MAX, time);
}

static const char no_verb[] = "not a verb",
                  is_delete[] = "a delete, which is no request; without verb= it would count as one";
static const char verbs_known[] = "; in any case: read, r, get, gets, get_lease, update, write, w, set, put, replace, "
                                  "insert, add, rmw, cas, incr, decr, append, prepend";

/* NULL, or what is wrong. */
static const char *verb_of(hd_text t, uint32_t *verb)
{
    enum { DELETE = HD_READ_MODIFY_WRITE + 1 };
    static const struct {
        const char *name;
        uint32_t verb;
    } row[] = {
        { "read", HD_READ },
        { "r", HD_READ },
        { "get", HD_READ },
        { "gets", HD_READ },
        { "get_lease", HD_READ },
        { "update", HD_UPDATE },
        { "write", HD_UPDATE },
        { "w", HD_UPDATE },
        { "set", HD_UPDATE },
        { "put", HD_UPDATE },
        { "replace", HD_UPDATE },
        { "insert", HD_INSERT },
        { "add", HD_INSERT },
        { "rmw", HD_READ_MODIFY_WRITE },
        { "cas", HD_READ_MODIFY_WRITE },
        { "incr", HD_READ_MODIFY_WRITE },
        { "decr", HD_READ_MODIFY_WRITE },
        { "append", HD_READ_MODIFY_WRITE },
        { "prepend", HD_READ_MODIFY_WRITE },
        { "delete", DELETE },
        { "del", DELETE },
        { "remove", DELETE },
        { "erase", DELETE },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (t.n != strlen(row[i].name) || strncasecmp(t.p, row[i].name, t.n) != 0) continue;
        *verb = row[i].verb;
        return row[i].verb == DELETE ? is_delete : NULL;
    }
    return no_verb;
}

/* NULL p: the row has no such column. */
static bool request_of(csv *c, hd_text *field, hd_request *r, fault *f)
{
    static const char *const wrong[ROLES] = { "not text", "not a number", "not a whole number below 2^56", NULL };
    uint64_t size = 1, cut = 0;
    bool hashed = false;
    r->time = 0;
    r->next = 0;
    r->verb = HD_READ;
    for (unsigned i = 0; i < ROLES; i++) {
        if (!c->column[i]) continue;
        hd_text t = field[i];
        const char *why = !t.p ? "missing" : t.n == 0 ? "empty" : i == VERB ? verb_of(t, &r->verb) : NULL;
        bool good = !why && (i == KEY    ? hd_text_key(t, c->hash, &r->key, &hashed)
                             : i == TIME ? time_of(t, &r->time, &cut)
                             : i == SIZE ? hd_text_number(t, HD_SIZE_MOST, &size)
                                         : true);
        if (!good) {
            *f = (fault){ c->column[i], why ? why : wrong[i], t };
            return false;
        }
    }
    r->size = size;
    c->reader.source.cut += cut;
    c->reader.source.hashed += hashed;
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool begins_as_number(hd_text t)
{
    while (t.n && (*t.p == '+' || *t.p == '-' || *t.p == '.')) t.p++, t.n--;
    return t.n && *t.p >= '0' && *t.p <= '9';
}

static hd_status fail_row(const csv *c, const fault *f)
{
    char shown[48], role_shown[16] = "";
    for (unsigned i = 0; i < ROLES; i++)
        if (f->column && c->column[i] == f->column) snprintf(role_shown, sizeof role_shown, " (%s)", role_name[i]);
    bool may_be_header = c->line == 0 && !c->header && !c->header_said && role_shown[0] && f->why != is_delete &&
                         f->text.n && !begins_as_number(f->text);
    return hd_fail(HD_ECORRUPT, "%s: line %" PRIu64 ", column %u%s: %s: '%s'%s%s", hd_stream_path(c->reader.stream),
                   c->line + 1, f->column, role_shown, f->why, hd_text_show(f->text, shown, sizeof shown),
                   f->why == no_verb     ? verbs_known
                   : f->why == is_delete ? "; --lenient counts deletes and leaves them out"
                                         : "",
                   may_be_header ? "; if line 1 names the columns, say header=1" : "");
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
    if (end > w->quote) return row_quoted(c, w->p, w->end, field, f);
    hd_text row = { w->p, (size_t)(end - w->p) - 1 };
    if (!has_lone_cr(row)) return end;
    *f = (fault){ 1, lone_cr, row };
    return NULL;
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
    if (!blank && c->columns && c->seen != c->columns) {
        snprintf(c->why, sizeof c->why, "the row has %u column%s, and the header %u", c->seen, c->seen == 1 ? "" : "s",
                 c->columns);
        f = (fault){ c->seen < c->columns ? c->seen : c->columns, c->why, { w->p, (size_t)(end - w->p) - 1 } };
        return row_bad(c, w, &f);
    }
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
    const char *unit = hd_source_option(a, "unit", NULL);
    if (!e && unit && !hd_unit_of(unit, strlen(unit), &c->reader.source.tick))
        e = hd_fail(HD_EINVAL, "unit: '%.40s' is neither s, ms, us nor ns", unit);
    c->header_said = hd_source_option(a, "header", NULL) != NULL;
    if (!e) e = hd_source_flag(a, "hash", false, &c->hash);
    if (!e) e = hd_source_flag(a, "header", named || !c->column[KEY], &c->header);
    if (!e && !c->header && (named || !c->column[KEY]))
        e = hd_fail(HD_EINVAL, "%s: without a header, columns are given by number, and key= must be", a->name);
    return e;
}

/* "time_us" names a unit. */
static bool unit_named(hd_text name, uint64_t *tick)
{
    const char *last = (const char *)memrchr(name.p, '_', name.n);
    return last && hd_unit_of(last + 1, name.n - (size_t)(last + 1 - name.p), tick);
}

static bool is_wanted(const hd_source_args *a, unsigned role, hd_text name)
{
    const char *given = hd_source_option(a, role_name[role], NULL), *wanted = given ? given : role_name[role];
    size_t n = strlen(wanted);
    uint64_t tick;
    bool time = role == TIME && !given && name.n > n && name.p[n] == '_' && unit_named(name, &tick);
    return name.n >= n && memcmp(name.p, wanted, n) == 0 && (name.n == n || time);
}

static void unread_add(csv *c, unsigned column, hd_text name)
{
    char shown[40];
    size_t used = strlen(c->unread), room = sizeof c->unread - used;
    hd_text_show(name, shown, sizeof shown);
    if (!*shown) snprintf(shown, sizeof shown, "%u", column);
    if (room > sizeof shown + 8)
        snprintf(c->unread + used, room, "%s%s", used ? ", " : "", shown);
    else if (strcmp(c->unread + used - 3, "...") != 0)
        snprintf(c->unread + used, room, ", ...");
    c->reader.source.unread = c->unread;
}

/* Column `column` of the header has this name: it has the roles that are called so. NULL, or what is wrong. */
static const char *column_named(csv *c, const hd_source_args *a, unsigned column, hd_text name)
{
    bool used = false;
    for (unsigned i = 0; i < ROLES; i++) {
        const char *given = hd_source_option(a, role_name[i], NULL);
        if (c->column[i] == column) used = true;
        if ((given && is_number(given)) || !is_wanted(a, i, name)) continue;
        if (c->named[i]) return "two columns have this name; give the column by number";
        if (column > COLUMNS_MOST) return "a column behind the 255th";
        c->column[i] = column;
        c->named[i] = used = true;
    }
    if (c->column[TIME] == column && !c->reader.source.tick) unit_named(name, &c->reader.source.tick);
    if (!used) unread_add(c, column, name);
    return NULL;
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
    unsigned columns = 0;
    while (p < w.end) {
        fault f = { ++columns, NULL, { NULL, 0 } };
        f.why = field_take(c, &p, w.end, &spare, &f.text);
        if (!f.why) f.why = column_named(c, a, columns, f.text);
        if (f.why) return fail_row(c, &f);
        if (*p++ == '\n') break;
    }
    if ((e = columns_found(c, a, whole))) return e;
    for (unsigned i = 0; i < ROLES; i++)
        if (c->named[i]) c->columns = columns;
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

/* Whether a field of the row begins as a number does. */
static bool has_number(csv *c, const char *p, const char *end)
{
    char *spare = c->unquoted;
    hd_text t;
    while (p < end && !field_take(c, &p, end, &spare, &t)) {
        if (begins_as_number(t)) return true;
        if (*p++ == '\n') break;
    }
    return false;
}

/* It was not said whether there is a header, and there seems to be one: the key is a text, and a number stands below
 * it, or the whole row has no number. To replay its names as a request would be quietly wrong by one. */
static hd_status header_suspect(csv *c)
{
    rows w;
    hd_text first[ROLES], second[ROLES];
    fault f;
    uint64_t number;
    hd_status e = rows_look(c, &w);
    const char *row = w.p;
    if (e || w.p == w.end || !(w.p = row_split(c, &w, first, &f)) || !first[KEY].p || !first[KEY].n) return e;
    if (w.quote < w.p) quote_look(&w);
    bool below = w.p < w.end && row_split(c, &w, second, &f) && second[KEY].p &&
                 hd_text_number(second[KEY], UINT64_MAX, &number);
    if (hd_text_number(first[KEY], UINT64_MAX, &number) || (!below && has_number(c, row, w.end))) return HD_OK;
    char shown[48];
    return hd_fail(HD_EINVAL,
                   "header: '%s' in line 1 of %s looks like a column's name; say header=1, or header=0 if it is a key",
                   hd_text_show(first[KEY], shown, sizeof shown), hd_stream_path(c->reader.stream));
}

static hd_status csv_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { "key", "time", "size", "verb", "unit", "delim", "header", "hash", NULL };
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
    r->source.tick_assumed = c->column[TIME] && !r->source.tick;
    if (r->source.tick_assumed) hd_unit_of("s", 1, &r->source.tick);
    if (!e && r->source.tick && !c->column[TIME]) e = hd_fail(HD_EINVAL, "unit: there is no column of times");
    if (!e && !c->header_said && !c->header) e = header_suspect(c);
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

const hd_trace_format hd_trace_csv = { .name = "csv", .head = ",key,size,verb\n", .encode = csv_encode };

const hd_source_row hd_workload_csv = {
    "csv", "rows of text, columns by number or name",
    "csv:FILE[,key=C][,time=C][,size=C][,verb=C][,unit=s|ms|us|ns][,delim=comma|tab|semicolon|...][,header=0|1]"
    "[,hash=0|1]",
    true, csv_open
};
