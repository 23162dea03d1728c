/* SPDX-License-Identifier: Apache-2.0
 *
 * draw.c - the differences between two tables of one shape, and a drawing of them.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "judge/design.h"

uint64_t fixture_entries(const judge_design *d, const void *v, uint64_t b)
{
    uint64_t n = 0;
    for (uint64_t e = d->first(v, b); e < d->first(v, b + 1); e++) n += d->key_at(v, e) < HD_KEY_RESERVED;
    return n;
}

/* Whether place e of v is shown: w has the entry otherwise, or an item is changing it. */
static bool place_differs(const judge_design *d, const void *v, const void *w, uint64_t e)
{
    uint64_t key = d->key_at(v, e);
    return key != HD_KEY_EMPTY && (key >= HD_KEY_RESERVED || fixture_differs(d, v, w, e));
}

static bool any_differs(const judge_design *d, const void *v, const void *w, uint64_t b)
{
    bool differs = false;
    for (uint64_t e = d->first(v, b); e < d->first(v, b + 1) && !differs; e++) differs = place_differs(d, v, w, e);
    return differs;
}

bool fixture_bucket_differs(const judge_design *d, const void *v, const void *w, uint64_t b)
{
    if (any_differs(d, v, w, b)) return true;
    return d->roams ? any_differs(d, w, v, b) : fixture_entries(d, v, b) != fixture_entries(d, w, b);
}

uint64_t fixture_buckets_differ(const fixture *s, const fixture *t)
{
    uint64_t n = 0;
    for (uint64_t b = 0; b < s->design->buckets(s->table); b++)
        n += fixture_bucket_differs(s->design, s->table, t->table, b);
    return n;
}

/* ---- In words -------------------------------------------------------------------------------- */

const char *fixture_bucket(const judge_design *d, const void *v, uint64_t b, char *text, size_t bytes)
{
    if (d->bucket_name) return d->bucket_name(v, b, text, bytes);
    snprintf(text, bytes, "bucket %" PRIu64, b);
    return text;
}

const char *fixture_place(const judge_design *d, const void *v, uint64_t e, char *text, size_t bytes)
{
    char name[48];
    uint64_t b = 0;
    while (d->first(v, b + 1) <= e) b++;
    snprintf(text, bytes, "%s, slot %" PRIu64, fixture_bucket(d, v, b, name, sizeof name), e - d->first(v, b));
    return text;
}

/* ---- Side by side ---------------------------------------------------------------------------- */

typedef struct page {
    char *text;
    size_t used, bytes;
} page;

static void put(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(page *p, const char *format, ...)
{
    va_list ap;
    size_t at = p->used < p->bytes ? p->used : p->bytes;
    va_start(ap, format);
    int n = vsnprintf(at < p->bytes ? p->text + at : NULL, p->bytes - at, format, ap);
    if (n > 0) p->used += (size_t)n;
    va_end(ap);
}

static const char *describe(const judge_design *d, const void *v, uint64_t e, char *line, size_t bytes)
{
    fixture_describe(d, v, e, line, bytes);
    return line;
}

size_t fixture_draw(const judge_design *d, const void *v, const char *v_name, const void *w, const char *w_name,
                    char *text, size_t bytes)
{
    page p = { text, 0, bytes };
    char left[96], right[96], name[48];
    if (bytes) text[0] = 0;
    for (uint64_t b = 0; b < d->buckets(v); b++) {
        if (!fixture_bucket_differs(d, v, w, b)) continue;
        put(&p, "%s\n  %4s  %-60s %s\n", fixture_bucket(d, v, b, name, sizeof name), "slot", v_name, w_name);
        for (uint64_t e = d->first(v, b); e < d->first(v, b + 1); e++)
            put(&p, "%c %4" PRIu64 "  %-60s %s\n", place_differs(d, v, w, e) ? '>' : ' ', e - d->first(v, b),
                describe(d, v, e, left, sizeof left), describe(d, w, e, right, sizeof right));
    }
    return p.used;
}
