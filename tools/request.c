/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - sources of requests as they are named on a command line.
 */
#include "tools/request.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tools/input.h"
#include "tools/progress.h"
#include "tools/tally.h"

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
    return tool_say(TOOL_USAGE, "FORMAT: there is no '%.60s'%s; heddle list formats has all", name,
                    tool_nearest(name, all));
}

int request_words(request_source *r, const char *trace, const char *format)
{
    memset(r, 0, sizeof *r);
    if (snprintf(r->text, sizeof r->text, "%s", format) >= (int)sizeof r->text)
        return tool_say(TOOL_USAGE, "FORMAT: longer than %zu bytes", sizeof r->text - 1);
    char *rest = r->text;
    r->args.name = strsep(&rest, ",");
    r->args.arg[r->args.args++] = trace = input_path(trace);
    r->title = base_name(trace);

    const hd_source_row *row = hd_source_row_find(r->args.name);
    if (!row || !row->file) return no_format(r->args.name);
    for (char *part; (part = strsep(&rest, ","));) {
        char *value = strchr(part, '=');
        if (value) *value++ = 0;
        if (value && hd_source_option(&r->args, part, NULL))
            return tool_say(TOOL_USAGE, "FORMAT: option '%.60s' is given twice", part);
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

const char *request_format(const char *trace)
{
    static const char *const format[][2] = { { "oracleGeneral", "oracleGeneral" },
                                             { "csv", "csv" },
                                             { "txt", "txt" },
                                             { "vscsi", "vscsi" },
                                             { "vscsitrace", "vscsi" },
                                             { "lcs", "lcs" },
                                             { "twitter", "twitter" },
                                             { "cachelib", "cachelib" },
                                             { "msr", "msr" },
                                             { "mooncake", "mooncake" },
                                             { "jsonl", "mooncake" } };
    const char *name = base_name(trace), *end = name + strlen(name), *found = NULL;
    while (!found && end > name) { /* the last part of the name that is one */
        const char *dot = (const char *)memrchr(name, '.', (size_t)(end - name)), *part = dot ? dot + 1 : name;
        for (size_t i = 0; i < sizeof format / sizeof *format; i++)
            if (strlen(format[i][0]) == (size_t)(end - part) && memcmp(part, format[i][0], (size_t)(end - part)) == 0)
                found = format[i][1];
        end = dot ? dot : name;
    }
    return found;
}

const char *request_format_say(const char *trace)
{
    const char *format = request_format(trace);
    if (!format) tool_say(TOOL_USAGE, "FORMAT: the name '%s' says none; heddle list formats has all", trace);
    return format;
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
    r->args.arg[0] = input_path(r->args.arg[0]);
    r->title = base_name(r->args.arg[0]);
    return tool_file(row->name, r->args.arg[0]);
}

int request_trace_or_spec(request_source *r, char *const *word, int words)
{
    const char *format = words == 2 ? word[1] : NULL;
    if (!format && access(word[0], F_OK) == 0) format = request_format(word[0]);
    return format ? request_words(r, word[0], format) : request_spec(r, word[0]);
}

double request_share(const hd_source *s, uint64_t done, uint64_t limit)
{
    double by_count = limit ? (double)done / (double)limit : -1;
    double by_bytes = hd_source_share(s);
    return by_count > by_bytes ? by_count : by_bytes;
}

/* ---- Counting different keys ----------------------------------------------------------------- */

enum { BATCH = 8192 }; /* short traces are the usual ones: few pages are touched */

static hd_status count_all(tally *t, const hd_source_args *a, uint64_t limit)
{
    static hd_request request[BATCH]; /* 400 KiB in all, which a stack may not have */
    static uint64_t key[BATCH];
    static uint8_t outcome[BATCH];
    hd_source *source = NULL;
    hd_status s = hd_source_open(a, &source);
    progress p;
    progress_begin(&p, "counting different keys", "requests");
    for (bool end = false; !s && !end;) {
        size_t want = limit && limit - t->counted < BATCH ? (size_t)(limit - t->counted) : BATCH, got = 0;
        s = hd_source_next(source, request, want, &got);
        for (size_t i = 0; i < got; i++) key[i] = request[i].key;
        if (!s && got) s = tally_add(t, key, got, outcome);
        end = got < want || t->counted == limit;
        if (!s && progress_at(&p, t->counted, limit, request_share(source, t->counted, limit))) break;
    }
    progress_end(&p);
    hd_source_close(source);
    return s;
}

/* Should a chosen set of keys crowd one bucket, the count starts again with another hash. */
hd_status request_distinct(const hd_source_args *a, uint64_t limit, uint64_t *requests, uint64_t *distinct)
{
    static tally t;
    bool exact = true;
    hd_status s;
    uint64_t seed = 0, lost;
    do {
        s = tally_open(&t, &(const tally_config){ .threads = 1, .seed = seed, .most = BATCH });
        if (!s) s = count_all(&t, a, limit);
        if (!s) s = tally_exact(&t, &exact, &lost);
        *requests = t.counted;
        *distinct = t.entries;
        tally_close(&t);
        seed = seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
    } while (!s && !exact);
    return s;
}
