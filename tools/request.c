/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - sources of requests as they are named on a command line.
 */
#include "tools/request.h"

#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "tools/progress.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Says which reader of files is nearest to a name that is none. */
static int no_format(const char *name)
{
    const char *all[64] = { NULL };
    size_t n = 0;
    const hd_source_row *row;
    for (size_t i = 0; (row = hd_source_row_at(i)) && n < 63; i++)
        if (row->file) all[n++] = row->name;
    return tool_say(TOOL_USAGE, "FORMAT: there is no '%.60s'; nearest: %s; heddle list formats has all", name,
                    tool_nearest(name, all));
}

int request_words(request_source *r, const char *trace, const char *format)
{
    memset(r, 0, sizeof *r);
    if (snprintf(r->text, sizeof r->text, "%s", format) >= (int)sizeof r->text)
        return tool_say(TOOL_USAGE, "FORMAT: longer than %zu bytes", sizeof r->text - 1);
    char *rest = r->text;
    r->args.name = strsep(&rest, ",");
    r->args.arg[r->args.args++] = trace;
    r->title = base_name(trace);

    const hd_source_row *row = hd_source_row_find(r->args.name);
    if (!row || !row->file) return no_format(r->args.name);
    for (char *part; (part = strsep(&rest, ","));) {
        char *value = strchr(part, '=');
        if (value) *value++ = 0;
        if (value && r->args.options < HD_SOURCE_ARGS) {
            r->args.option[r->args.options][0] = part;
            r->args.option[r->args.options++][1] = value;
        } else if (!value && r->args.args < HD_SOURCE_ARGS)
            r->args.arg[r->args.args++] = part;
        else
            return tool_say(TOOL_USAGE, "FORMAT: more than %d options", HD_SOURCE_ARGS);
    }
    return tool_file("TRACE", trace);
}

int request_spec(request_source *r, const char *spec)
{
    memset(r, 0, sizeof *r);
    hd_status s = hd_source_parse(spec, r->text, sizeof r->text, &r->args);
    if (s) return tool_fail(s);
    const hd_source_row *row = hd_source_row_find(r->args.name);
    r->endless = !row->file;
    r->title = spec;
    if (!row->file) return TOOL_OK;
    if (!r->args.args) return tool_say(TOOL_USAGE, "%s needs a file: %s", row->name, row->form);
    r->title = base_name(r->args.arg[0]);
    return tool_file(row->name, r->args.arg[0]);
}

double request_share(const hd_source *s, uint64_t done, uint64_t limit)
{
    double by_count = limit ? (double)done / (double)limit : -1;
    double by_bytes = s->bytes_total ? (double)s->bytes_read / (double)s->bytes_total : -1;
    return by_count > by_bytes ? by_count : by_bytes;
}

/* ---- Counting different keys ---------------------------------------------------------------------
 *
 * A set (value_bytes 0) with two candidate buckets per key and never more than half full: then nothing
 * is ever evicted or refused in practice, and the counters prove it. If a chosen set of keys broke it, the
 * count starts again with another hash. */

enum { BATCH = 4096 };

typedef struct distinct_count {
    hd_table *table;
    uint64_t capacity, requests, distinct, lost;
} distinct_count;

static hd_status distinct_batch(distinct_count *d, const hd_request *request, size_t n)
{
    uint64_t key[BATCH];
    if (d->capacity < 2 * (d->distinct + n)) {
        d->capacity *= 2;
        hd_status s = hd_reserve(d->table, d->capacity);
        if (s) return s;
    }
    for (size_t i = 0; i < n; i++) key[i] = request[i].key;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = n, .key = key };
    hd_status s = hd_run(d->table, &b);
    hd_counters c;
    if (!s) s = hd_counters_sync(d->table, &c);
    if (s) return s;
    d->requests += n;
    d->distinct = c.outcome[HD_INSERTED];
    d->lost = c.outcome[HD_EVICTED] + c.outcome[HD_REFUSED];
    return HD_OK;
}

static hd_status distinct_all(distinct_count *d, const hd_source_args *a, uint64_t limit)
{
    hd_request request[BATCH];
    hd_source *source = NULL;
    hd_status s = hd_source_open(a, &source);
    progress p;
    progress_begin(&p, "counting different keys", "requests");
    for (bool end = false; !s && !end && !d->lost;) {
        size_t want = limit && limit - d->requests < BATCH ? (size_t)(limit - d->requests) : BATCH, got = 0;
        s = hd_source_next(source, request, want, &got);
        if (!s && got) s = distinct_batch(d, request, got);
        end = got < want || d->requests == limit;
        if (!s && progress_at(&p, d->requests, limit, request_share(source, d->requests, limit))) break;
    }
    progress_end(&p);
    hd_source_close(source);
    return s;
}

hd_status request_distinct(const hd_source_args *a, uint64_t limit, uint64_t *requests, uint64_t *distinct)
{
    distinct_count d;
    hd_status s = HD_OK;
    hd_config c = hd_config_default();
    c.pins = 0;
    c.capacity = 1 << 16;
    c.value_bytes = 0;
    c.dual = true;
    c.threads = 1;
    do {
        d = (distinct_count){ .capacity = c.capacity };
        s = hd_open(&c, &d.table);
        if (!s) s = distinct_all(&d, a, limit);
        hd_close(d.table);
        c.capacity *= 2;
        c.seed = c.seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
    } while (!s && d.lost);
    *requests = d.requests;
    *distinct = d.distinct;
    return s;
}
