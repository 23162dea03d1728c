/* SPDX-License-Identifier: Apache-2.0
 *
 * csv_columns.c - which column of a csv is what: by number, by its name in the header, or as the form has it; and
 * whether the first row is a header, if no option says so.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "workload/csv.h"

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

/* What the user gave for a role; NULL: nothing. */
static const char *given_of(const hd_csv *c, const hd_source_args *a, unsigned role)
{
    return c->form->name[role] ? hd_source_option(a, c->form->name[role], NULL) : NULL;
}

/* The options' half: columns given by number, and whether there is a header. */
static hd_status options_read(hd_csv *c, const hd_source_args *a)
{
    bool named = false;
    for (unsigned i = 0; i < CSV_ROLES; i++) {
        const char *text = given_of(c, a, i);
        if (text && is_number(text)) {
            uint64_t column;
            hd_status e = hd_parse_u64(c->form->name[i], text, 1, HD_CSV_COLUMNS_MOST, &column);
            if (e) return e;
            c->column[i] = (unsigned)column;
        }
        named |= text && !c->column[i];
    }
    hd_status e = delim_of(a, &c->delim);
    const char *unit = hd_source_option(a, "unit", NULL);
    c->reader.source.tick = c->form->tick;
    if (!e && unit && !hd_unit_of(unit, strlen(unit), &c->reader.source.tick))
        e = hd_fail(HD_EINVAL, "unit: '%.40s' is neither s, ms, us nor ns", unit);
    c->header_said = hd_source_option(a, "header", NULL) != NULL;
    if (!e) e = hd_source_flag(a, "hash", c->form->hash, &c->hash);
    const bool needed = !c->form->column[CSV_KEY] && (named || !c->column[CSV_KEY]);
    if (!e) e = hd_source_flag(a, "header", needed, &c->header);
    if (!e && !c->header && needed)
        e = hd_fail(HD_EINVAL, "%s: without a header, columns are given by number, and key= must be", a->name);
    return e;
}

/* ---- The header ------------------------------------------------------------------------------ */

/* "time_us" names a unit. */
static bool unit_named(hd_text name, uint64_t *tick)
{
    const char *last = (const char *)memrchr(name.p, '_', name.n);
    return last && hd_unit_of(last + 1, name.n - (size_t)(last + 1 - name.p), tick);
}

static bool is_wanted(const hd_csv *c, const hd_source_args *a, unsigned role, hd_text name)
{
    const char *given = given_of(c, a, role), *wanted = given ? given : c->form->name[role];
    const size_t n = wanted ? strlen(wanted) : 0;
    uint64_t tick;
    bool time = role == CSV_TIME && !given && name.n > n && name.p[n] == '_' && unit_named(name, &tick);
    return wanted && name.n >= n && memcmp(name.p, wanted, n) == 0 && (name.n == n || time);
}

/* Appends a column's name, or its number, to a list. */
static void name_add(char list[HD_CSV_TEXT], unsigned column, hd_text name)
{
    char shown[40];
    const size_t used = strlen(list), room = HD_CSV_TEXT - used;
    hd_text_show(name, shown, sizeof shown);
    if (!*shown) snprintf(shown, sizeof shown, "%u", column);
    if (room > sizeof shown + 8)
        snprintf(list + used, room, "%s%s", used ? ", " : "", shown);
    else if (strcmp(list + used - 3, "...") != 0)
        snprintf(list + used, room, ", ...");
}

/* Column `column` of the header has this name: it has the roles that are called so; a role that no option gave only if
 * no given one is there. NULL, or what is wrong. */
static const char *column_named(hd_csv *c, const hd_source_args *a, unsigned column, hd_text name)
{
    bool used = false;
    for (unsigned i = 0; i < CSV_ROLES; i++) used |= c->column[i] == column;
    for (unsigned i = 0; i < 2 * CSV_ROLES; i++) {
        const unsigned role = i % CSV_ROLES;
        const char *given = given_of(c, a, role);
        const bool turn = i < CSV_ROLES ? given && !is_number(given) : !given && !used;
        if (!turn || !is_wanted(c, a, role, name)) continue;
        if (c->named[role]) return "two columns have this name; give the column by number";
        if (column > HD_CSV_COLUMNS_MOST) return "a column behind the 255th";
        c->column[role] = column;
        c->named[role] = used = true;
    }
    if (c->column[CSV_TIME] == column && !c->reader.source.tick) unit_named(name, &c->reader.source.tick);
    if (used) return NULL;
    name_add(c->unread, column, name);
    c->reader.source.unread = c->unread;
    return NULL;
}

/* Every role that was given, and the key, has its column. */
static hd_status columns_found(const hd_csv *c, const hd_source_args *a, hd_text header)
{
    for (unsigned i = 0; i < CSV_ROLES; i++) {
        const char *given = given_of(c, a, i), *name = c->form->name[i];
        char shown[80];
        if (c->column[i] || (!given && i != CSV_KEY)) continue;
        return hd_fail(given ? HD_EINVAL : HD_ECORRUPT,
                       "%s: line 1, column 1: no column is called '%.40s' in the header '%s'; %s=NUMBER says which",
                       hd_stream_path(c->reader.stream), given ? given : name,
                       hd_text_show(header, shown, sizeof shown), name);
    }
    return HD_OK;
}

/* The header's half: columns given by name, or not given and called as we call them. */
static hd_status header_read(hd_csv *c, const hd_source_args *a)
{
    hd_csv_rows w;
    hd_status e = hd_csv_look(c, &w);
    if (e) return e;
    const char *p = w.p, *first_end = w.p < w.end ? (const char *)rawmemchr(p, '\n') : p;
    hd_text whole = { p, (size_t)(first_end - p) };
    char *spare = c->unquoted;
    unsigned columns = 0;
    while (p < w.end) {
        hd_csv_fault f = { ++columns, NULL, { NULL, 0 } };
        f.why = hd_csv_field(c, &p, w.end, &spare, &f.text);
        if (!f.why) f.why = column_named(c, a, columns, f.text);
        if (f.why) return hd_csv_fail(c, &f);
        if (*p++ == '\n') break;
    }
    if ((e = columns_found(c, a, whole))) return e;
    for (unsigned i = 0; i < CSV_ROLES; i++)
        if (c->named[i]) c->columns = columns;
    hd_csv_pass(c, &w, p);
    return HD_OK;
}

/* ---- Whether there is one, if no option says it ------------------------------------------------ */

/* The first row, and what stands below it in so many rows. */
enum { BELOW = 64 };
typedef struct first_row {
    hd_text key, text; /* its key, and all of it                                */
    bool control, numbers, names,
        is_key; /* a field begins as a number, is a usual name of a column, is the key's name */
    unsigned columns, rows;
    bool text_here[HD_CSV_COLUMNS_MOST + 1], numbers_below[HD_CSV_COLUMNS_MOST + 1];
    bool number_below_key; /* in the second row                                     */
} first_row;

/* A line of comment is a header, too: "# time, key". */
static hd_text name_of(hd_text t)
{
    while (t.n && *t.p == '#') t.p++, t.n--;
    return hd_text_trim(t);
}

static void first_take(first_row *f, const hd_csv *c, unsigned column, hd_text t)
{
    const char *key = c->form->name[CSV_KEY];
    const hd_text name = name_of(t);
    const bool number = hd_text_begins_as_number(t);
    for (size_t i = 0; i < t.n; i++) f->control |= (unsigned char)t.p[i] < ' ' && t.p[i] != '\t';
    f->columns = column;
    f->numbers |= number;
    f->names |= hd_text_is_name(name);
    f->is_key |= key && name.n == strlen(key) && memcmp(name.p, key, name.n) == 0;
    f->text_here[column] = f->numbers_below[column] = t.n && !number;
    if (column == c->column[CSV_KEY]) f->key = t;
}

static void below_take(first_row *f, const hd_csv *c, unsigned column, hd_text t)
{
    uint64_t number;
    if (column == c->column[CSV_KEY] && f->rows == 1) f->number_below_key = hd_text_number(t, UINT64_MAX, &number);
    f->numbers_below[column] &= hd_text_begins_as_number(t);
}

/* Reads the first rows, without taking them. False: the first one has a fault, which reading will name. */
static bool first_look(hd_csv *c, const hd_csv_rows *w, first_row *f)
{
    const char *p = w->p, *stop = w->end - w->p > HD_CSV_ROW_MOST ? w->p + HD_CSV_ROW_MOST : w->end;
    for (f->rows = 0; f->rows <= BELOW && p < stop; f->rows++) {
        char *spare = c->unquoted;
        if (f->rows && (*p == '\n' || *p == '\r')) break;
        for (unsigned column = 1;; column++) {
            hd_text t;
            if (hd_csv_field(c, &p, stop, &spare, &t)) return f->rows > 0;
            if (column <= HD_CSV_COLUMNS_MOST) (f->rows ? below_take : first_take)(f, c, column, t);
            if (*p++ == '\n') break;
        }
    }
    return f->rows > 0;
}

/* Whether some column has text above numbers only. */
static bool text_above(const first_row *f)
{
    for (unsigned i = 1; f->rows > 1 && i <= f->columns && i <= HD_CSV_COLUMNS_MOST; i++)
        if (f->text_here[i] && f->numbers_below[i]) return true;
    return false;
}

/* A first row of no number is a header if it has a usual name, or text above numbers. If it may be one, but need not,
 * the user has to say it: to replay names as a request would be quietly wrong by one. */
static hd_status header_find(hd_csv *c)
{
    hd_csv_rows w;
    first_row f = { .columns = 0 };
    uint64_t number;
    hd_status e = hd_csv_look(c, &w);
    if (e || w.p == w.end || !first_look(c, &w, &f) || f.control) return e;
    const bool own = c->form->header == HD_CSV_OWN_HEADER;
    if (own)
        c->header = f.is_key;
    else
        c->header = !f.numbers && (f.names || text_above(&f));
    if (c->header) {
        const char *end = (const char *)rawmemchr(w.p, '\n');
        hd_text_show(hd_text_trim((hd_text){ w.p, (size_t)(end - w.p) }), c->header_text, sizeof c->header_text);
        c->reader.source.header = c->header_text;
    }
    const bool text = f.key.n && !hd_text_number(f.key, UINT64_MAX, &number);
    if (c->header || own || !text || (f.numbers && !f.number_below_key)) return HD_OK;
    char shown[48];
    return hd_fail(HD_EINVAL,
                   "header: '%s' in line 1 of %s may be a column's name; say header=1, or header=0 if it is a key",
                   hd_text_show(f.key, shown, sizeof shown), hd_stream_path(c->reader.stream));
}

/* ---- Both ------------------------------------------------------------------------------------ */

static hd_status roles_set(hd_csv *c)
{
    memset(c->role_of, CSV_NO_ROLE, sizeof c->role_of);
    for (unsigned i = 0; i < CSV_ROLES; i++) {
        if (!c->column[i]) continue;
        uint8_t *role = &c->role_of[c->column[i]];
        if (*role != CSV_NO_ROLE)
            return hd_fail(HD_EINVAL, "%s and %s: both are column %u", c->form->name[*role], c->form->name[i],
                           c->column[i]);
        *role = c->role[c->roles++] = (uint8_t)i;
        if (c->column[i] > c->last) c->last = c->column[i];
    }
    return HD_OK;
}

/* Passes over empty lines at the beginning: the first row is behind them. */
static hd_status blank_pass(hd_csv *c)
{
    for (;;) {
        hd_csv_rows w;
        hd_status e = hd_csv_look(c, &w);
        if (e) return e;
        const char *p = w.p;
        while (p < w.end && (*p == '\n' || (*p == '\r' && p[1] == '\n'))) p += 1 + (*p == '\r');
        const bool more = p > w.p && p == w.end;
        hd_csv_pass(c, &w, p);
        if (!more) return HD_OK;
    }
}

/* Without a header a form has its columns, as far as the options give none. */
static void columns_usual(hd_csv *c)
{
    for (unsigned i = 0; i < CSV_ROLES; i++)
        if (!c->column[i]) c->column[i] = c->form->column[i];
    c->columns = c->form->columns;
}

hd_status hd_csv_columns(hd_csv *c, const hd_source_args *a)
{
    hd_source *s = &c->reader.source;
    const bool may = c->form->header != HD_CSV_NO_HEADER;
    hd_status e = options_read(c, a);
    if (!e) e = hd_reader_mark(&c->reader);
    if (!e) e = blank_pass(c);
    if (!e && may && !c->header_said && !c->header) e = header_find(c);
    if (!e && c->header) e = header_read(c, a);
    if (!e && !c->header) columns_usual(c);
    if (!c->column[CSV_SIZE]) c->column[CSV_KEY_SIZE] = 0;
    if (!e) e = roles_set(c);
    s->sized = c->column[CSV_SIZE] != 0;
    s->tick_assumed = c->column[CSV_TIME] && !s->tick;
    if (s->tick_assumed) hd_unit_of("s", 1, &s->tick);
    if (!e && s->tick && !c->column[CSV_TIME] && !c->form->tick)
        e = hd_fail(HD_EINVAL, "unit: there is no column of times");
    if (s->tick && !c->column[CSV_TIME]) s->tick = 0;
    return e;
}
