/* SPDX-License-Identifier: Apache-2.0
 *
 * csv_row.c - from a row to its fields, quoted as RFC 4180 says. Blanks around an unquoted field are not part of it,
 * which RFC 4180 leaves in: files written "1, 2, 3" are common.
 */
#include <string.h>

#include "workload/csv.h"

const char HD_CSV_OPEN_QUOTE[] = "the quote is never closed";
static const char lone_cr[] = "a CR inside a line; lines end in LF or CR LF";

/* A row that has no quote ends at the line's end, and the line's end stops every search in it: no bounds. */
static const char *row_plain(hd_csv *c, const char *p, hd_text *field)
{
    for (c->seen = 1;; c->seen++) {
        const char *from = p;
        while (*p != c->delim && *p != '\n') p++;
        if (c->seen <= c->last && c->role_of[c->seen] != CSV_NO_ROLE)
            field[c->role_of[c->seen]] = hd_text_trim((hd_text){ from, (size_t)(p - from) });
        if (*p == '\n') return p + 1;
        if (c->seen == c->last && !c->columns) return (const char *)rawmemchr(p, '\n') + 1;
        p++;
    }
}

/* Whether a CR stands before the last byte of t, which may be the CR of a line end. */
static bool has_lone_cr(hd_text t)
{
    const char *cr = (const char *)memchr(t.p, '\r', t.n);
    return cr && cr + 1 != t.p + t.n;
}

static const char *field_plain(const hd_csv *c, const char **p, hd_text *t)
{
    const char *at = *p;
    const bool plain = c->form->plain;
    while (*at != c->delim && *at != '\n' && (plain || *at != '"')) at++;
    *t = hd_text_trim((hd_text){ *p, (size_t)(at - *p) });
    const bool lone = has_lone_cr((hd_text){ *p, (size_t)(at - *p) });
    *p = at;
    return *at == '"' && !plain ? "a quote inside an unquoted field" : lone ? lone_cr : NULL;
}

const char *hd_csv_field(const hd_csv *c, const char **p, const char *end, char **spare, hd_text *t)
{
    const char *at = *p;
    if (*at != '"' || c->form->plain) return field_plain(c, p, t);
    char *to = *spare;
    for (at++; at < end; at++) {
        if (*at == '"' && *++at != '"') break; /* a doubled quote is one */
        *to++ = *at;
    }
    *t = (hd_text){ *spare, (size_t)(to - *spare) };
    *spare = to;
    if (at < end && *at == '\r' && at[1] == '\n') at++;
    *p = at;
    if (at == end) return HD_CSV_OPEN_QUOTE;
    return *at == c->delim || *at == '\n' ? NULL : "text behind the closing quote";
}

/* The same for a row that has quotes; NULL when something is wrong with it. The byte before `end` is a line end. */
static const char *row_quoted(hd_csv *c, const char *p, const char *end, hd_text *field, hd_csv_fault *f)
{
    char *spare = c->unquoted;
    for (unsigned column = 1;; column++) {
        hd_text t;
        const char *why = hd_csv_field(c, &p, end, &spare, &t);
        if (why) {
            *f = (hd_csv_fault){ column, why, t };
            return NULL;
        }
        if (column <= c->last && c->role_of[column] != CSV_NO_ROLE) field[c->role_of[column]] = t;
        c->seen = column;
        if (*p++ == '\n') return p;
    }
}

const char *hd_csv_split(hd_csv *c, const hd_csv_rows *w, const char *p, hd_text *field, hd_csv_fault *f)
{
    for (unsigned i = 0; i < c->roles; i++) field[c->role[i]] = (hd_text){ NULL, 0 };
    const char *end = row_plain(c, p, field);
    if (end > w->quote) return row_quoted(c, p, w->end, field, f);
    hd_text row = { p, (size_t)(end - p) - 1 };
    if (!has_lone_cr(row)) return end;
    *f = (hd_csv_fault){ 1, lone_cr, row };
    return NULL;
}
