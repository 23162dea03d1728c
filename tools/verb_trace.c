/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_trace.c - looks at traces: stat (what kind of traffic is it), convert, print.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/output.h"
#include "tools/request.h"
#include "tools/tally.h"
#include "tools/trace_out.h"
#include "tools/zipf_fit.h"

typedef struct trace_options {
    uint64_t limit, skip; /* limit 0: none given */
    bool lenient;
} trace_options;

static const char doc[] =
    "stat FILE FORMAT reads a trace once and says how many requests and different keys there are, how much the "
    "most popular ones get, how many bytes, over what time, and which Zipf law fits the popular keys.\n"
    "convert FILE FORMAT OUT FORMAT writes it in another format; OUT may end in .zst or .gz, and - is "
    "standard output. oracleGeneral wants every request's next access, which is then computed.\n"
    "print FILE FORMAT shows the first requests.\n\n"
    "FORMAT is oracleGeneral, csv, txt or vscsi, with options after it: csv,key=2,time=1,delim=tab. stat and print "
    "take it from the file's name if it is left out. "
    "The times of a csv are seconds, unless unit=ms, us or ns says another unit; convert converts them. "
    "To write, vscsi is vscsi2, or say vscsi1. `heddle list formats` has them all. FILE may be - for standard "
    "input.\n\n"
    "EXAMPLES\n"
    "  heddle gen zipf:0.9,1000 --requests 20k --seed 3 -o small.oracleGeneral\n"
    "  heddle trace stat small.oracleGeneral oracleGeneral\n"
    "  heddle trace convert small.oracleGeneral oracleGeneral small.csv.zst csv\n"
    "  heddle trace convert small.csv.zst csv - txt --limit 3\n"
    "  heddle trace print small.oracleGeneral oracleGeneral --skip 100 --limit 5";

enum { KEY_LENIENT = 0x100 };
static const tool_option option[] = {
    { "limit", 'n', "N", "at most N requests (all; print: 10)", TOOL_RANGE(trace_options, limit, 1, UINT64_MAX) },
    { "skip", 's', "N", "pass over the first N (print)", TOOL_RANGE(trace_options, skip, 0, UINT64_MAX) },
    { "lenient", KEY_LENIENT, NULL, "count bad records and go on where one can be skipped",
      TOOL_FIELD(trace_options, lenient) },
    { .name = NULL },
};

static const char *const verb_name[] = { "read", "update", "insert", "read_modify_write" };
enum { VERBS = sizeof verb_name / sizeof *verb_name };

/* The words FILE FORMAT, as the source that they name. */
static int source_open(const tool_line *line, const trace_options *o, request_source *from, hd_source **source)
{
    int code = request_words(from, line->word[1], line->word[2]);
    if (code) return code;
    from->args.lenient = o->lenient;
    hd_status e = hd_source_open(&from->args, source);
    return e ? tool_fail(e) : TOOL_OK;
}

/* ---- stat ------------------------------------------------------------------------------------ */

typedef struct trace_stat {
    tally keys;
    uint64_t requests, bytes, footprint; /* footprint: each key's size when it first came */
    uint64_t time_least, time_most;
    uint64_t verb[VERBS];
    hd_request request[TALLY_BATCH];
    uint64_t key[TALLY_BATCH];
    uint8_t outcome[TALLY_BATCH];
} trace_stat;

static hd_status stat_batch(trace_stat *s, size_t n)
{
    for (size_t i = 0; i < n; i++) s->key[i] = s->request[i].key;
    hd_status e = tally_add(&s->keys, s->key, n, s->outcome);
    for (size_t i = 0; i < n && !e; i++) {
        const hd_request *r = &s->request[i];
        if (__builtin_add_overflow(s->bytes, r->size, &s->bytes))
            return hd_fail(HD_EINVAL, "the sizes of all requests are 2^64 bytes or more");
        if (s->outcome[i] == HD_INSERTED) s->footprint += r->size;
        if (r->time < s->time_least) s->time_least = r->time;
        if (r->time > s->time_most) s->time_most = r->time;
        if (r->verb < VERBS) s->verb[r->verb]++;
    }
    s->requests += n;
    return e;
}

static hd_status stat_read(trace_stat *s, hd_source *source, const char *title, uint64_t limit)
{
    watched w;
    watched_begin(&w, source, title, limit);
    hd_status e = HD_OK;
    s->time_least = UINT64_MAX;
    for (size_t got = 1; got && !e;) {
        size_t want = limit && limit - s->requests < TALLY_BATCH ? (size_t)(limit - s->requests) : TALLY_BATCH;
        got = 0;
        if (want) e = hd_source_next(&w.source, s->request, want, &got);
        if (!e && got) e = stat_batch(s, got);
    }
    watched_end(&w);
    return e;
}

/* The share of all requests that the `share` most popular of the keys get; at least one key. */
static double top_share(const tally_step *step, size_t steps, double share, uint64_t distinct, uint64_t requests)
{
    uint64_t left = (uint64_t)(share * (double)distinct), got = 0;
    left += left == 0;
    for (size_t i = steps; i-- && left;) {
        uint64_t keys = step[i].keys < left ? step[i].keys : left;
        got += keys * step[i].times;
        left -= keys;
    }
    return (double)got / (double)requests;
}

static void stat_popularity(out *r, const trace_stat *s, const tally_step *step, size_t steps)
{
    uint64_t distinct = 0, once = steps && step[0].times == 1 ? step[0].keys : 0;
    for (size_t i = 0; i < steps; i++) distinct += step[i].keys;
    out_fact(r, "distinct", "different keys", OUT_COUNT, out_count(distinct));
    bool any = distinct > 0;
    double d = (double)distinct, n = (double)s->requests;
    out_fact(r, "reuse_share", "requests of a key seen before", OUT_PERCENT, any ? out_real(1 - d / n) : out_none());
    out_fact(r, "once", "keys requested once", OUT_COUNT, out_count(once));
    out_fact(r, "once_share", "share of the keys", OUT_PERCENT, any ? out_real((double)once / d) : out_none());
    out_fact(r, "most", "requests of the top key", OUT_COUNT, out_count(any ? step[steps - 1].times : 0));
    static const struct {
        double share;
        const char *key, *label;
    } top[] = {
        { 0, "top_share", "share of the requests" },
        { 0.01, "top_1_percent_share", "top 1% of keys get" },
        { 0.1, "top_10_percent_share", "top 10% of keys get" },
    };
    for (size_t i = 0; i < sizeof top / sizeof *top; i++)
        out_fact(r, top[i].key, top[i].label, OUT_PERCENT,
                 any ? out_real(top_share(step, steps, top[i].share, distinct, s->requests)) : out_none());

    zipf_fit fit = zipf_fit_steps(step, steps);
    out_fact(r, "zipf_exponent", "Zipf exponent", OUT_REAL, fit.keys ? out_real(fit.exponent) : out_none());
    out_fact(r, "zipf_keys", "fitted to the top keys", OUT_COUNT, fit.keys ? out_count(fit.keys) : out_none());
    out_fact(r, "zipf_gap", "greatest gap to the fit", OUT_PERCENT, fit.keys ? out_real(fit.gap) : out_none());
    if (fit.keys && fit.gap > 0.1) out_note(r, "the gap is wide: this trace follows no Zipf law\n");
    if (!fit.keys)
        out_note(r, "no Zipf exponent: fewer than %d keys come %d times or more\n", ZIPF_FIT_KEYS, ZIPF_FIT_TIMES);
}

static int stat_report(const tool_line *line, const trace_stat *s, const hd_source *source, bool lenient)
{
    bool exact;
    uint64_t lost;
    tally_step *step = NULL;
    size_t steps = 0;
    hd_status e = tally_exact(&s->keys, &exact, &lost);
    if (!e) e = tally_spectrum(&s->keys, &step, &steps);
    if (e) return tool_fail(e);

    out *r = out_open(line->form, "heddle.trace.stat/1", NULL, 0);
    out_fact(r, "file", "file", OUT_TEXT, out_text(line->word[1]));
    out_fact(r, "format", "format", OUT_TEXT, out_text(line->word[2]));
    out_fact(r, "requests", "requests", OUT_COUNT, out_count(s->requests));
    trace_source_facts(r, source, lenient, NULL);
    for (int i = 0; i < VERBS; i++)
        if (s->verb[i] != s->requests && s->verb[i])
            out_fact(r, verb_name[i], i == HD_READ_MODIFY_WRITE ? "read-modify-writes" : verb_name[i], OUT_COUNT,
                     out_count(s->verb[i]));
    stat_popularity(r, s, step, steps);
    bool any = s->requests > 0;
    out_fact(r, "requested_bytes", "requested", OUT_BYTES, out_count(s->bytes));
    out_fact(r, "footprint_bytes", "footprint", OUT_BYTES, out_count(s->footprint));
    out_fact(r, "time_first", "least time", OUT_PLAIN, any ? out_count(s->time_least) : out_none());
    out_fact(r, "time_last", "greatest time", OUT_PLAIN, any ? out_count(s->time_most) : out_none());
    out_fact(r, "time_span", "time span, trace's unit", OUT_COUNT,
             any ? out_count(s->time_most - s->time_least) : out_none());
    out_fact(r, "exact", "exact", OUT_FLAG, out_flag(exact));
    free(step);
    int code = out_close(r, TOOL_OK);
    return code || exact ? code : tool_say(TOOL_DIFFERS, "the table lost keys as it grew: these counts are too small");
}

static int verb_stat(const tool_line *line, const trace_options *o)
{
    request_source from;
    hd_source *source;
    int code = source_open(line, o, &from, &source);
    if (code) return code;
    trace_stat *s = (trace_stat *)calloc(1, sizeof *s);
    if (!s) {
        hd_source_close(source);
        return tool_say(TOOL_SYSTEM, "memory was refused");
    }
    hd_status e = tally_open(&s->keys, &(const tally_config){ .most = TALLY_BATCH });
    if (!e) e = stat_read(s, source, from.title, o->limit);
    code = e ? tool_fail(e) : stat_report(line, s, source, o->lenient);
    hd_source_close(source);
    tally_close(&s->keys);
    free(s);
    return code;
}

/* ---- convert --------------------------------------------------------------------------------- */

static int verb_convert(const tool_line *line, const trace_options *o)
{
    const char *to = line->word[3], *format = trace_writer_pick(to, line->word[4]);
    if (!format) return TOOL_USAGE;
    request_source from;
    hd_source *source;
    /* all of a trace may take its own place, a part may not */
    int code = o->limit ? tool_apart("--limit", to, line->word[1]) : TOOL_OK;
    if (!code && o->lenient) code = tool_apart("--lenient", to, line->word[1]);
    if (!code) code = source_open(line, o, &from, &source);
    if (code) return code;
    watched w;
    uint64_t begin = progress_now_ns();
    hd_trace_written written = { 0 };
    hd_status e = hd_trace_convert(watched_begin(&w, source, from.title, o->limit), o->limit, to, format, &written);
    watched_end(&w);
    if (e || strcmp(to, "-") == 0) { /* standard output is the trace */
        if (!e) trace_source_says(source, &written);
        hd_source_close(source);
        return e ? tool_fail(e) : TOOL_OK;
    }
    out *r = out_open(line->form, "heddle.trace.convert/1", NULL, 0);
    out_fact(r, "from", "from", OUT_TEXT, out_text(line->word[1]));
    out_fact(r, "to", "to", OUT_TEXT, out_text(to));
    out_fact(r, "format", "format", OUT_TEXT, out_text(format));
    out_fact(r, "requests", "requests", OUT_COUNT, out_count(written.requests));
    trace_source_facts(r, source, o->lenient, &written);
    hd_source_close(source);
    out_fact(r, "time_s", "time", OUT_SECONDS, out_real((double)(progress_now_ns() - begin) * 1e-9));
    return out_close(r, TOOL_OK);
}

/* ---- print ----------------------------------------------------------------------------------- */

static const out_column print_column[] = {
    { "request", "request", OUT_COUNT }, { "time", "time", OUT_PLAIN }, { "key", "key", OUT_PLAIN },
    { "size", "size", OUT_COUNT },       { "next", "next", OUT_PLAIN }, { "verb", "verb", OUT_TEXT },
};

static void print_request(out *r, uint64_t number, const hd_request *q)
{
    out_value next = q->next > 0 ? out_count((uint64_t)q->next) : q->next < 0 ? out_text("none") : out_none();
    out_row(r, (const out_value[]){ out_count(number), out_count(q->time), out_count(q->key), out_count(q->size), next,
                                    out_text(q->verb < VERBS ? verb_name[q->verb] : "?") });
}

static int verb_print(const tool_line *line, const trace_options *o)
{
    enum { AT_ONCE = 1024, USUAL = 10, MOST = 1000000 };
    static hd_request request[AT_ONCE];
    uint64_t limit = o->limit ? o->limit : USUAL;
    if (limit > MOST)
        return tool_say(TOOL_USAGE,
                        "--limit: more than %d are not for reading; heddle trace convert FILE FORMAT - csv prints all",
                        MOST);
    request_source from;
    hd_source *source;
    int code = source_open(line, o, &from, &source);
    if (code) return code;
    hd_status e = HD_OK;
    out *r = out_open(line->form, "heddle.trace.print/1", print_column, 6);
    uint64_t number = 0, end = o->skip > UINT64_MAX - limit ? UINT64_MAX : o->skip + limit;
    for (size_t got = 1; got && !e && number < end && !tool_stopped();) {
        e = hd_source_next(source, request, end - number < AT_ONCE ? (size_t)(end - number) : AT_ONCE, &got);
        for (size_t i = 0; i < got && !e; i++)
            if (++number > o->skip) print_request(r, number, &request[i]);
    }
    trace_source_facts(r, source, o->lenient, NULL);
    hd_source_close(source);
    if (!e && number > o->skip) return out_close(r, TOOL_OK);
    out_drop(r);
    return e ? tool_fail(e) : tool_say(TOOL_DATA, "--skip: the trace has only %" PRIu64 " requests", number);
}

/* ---- Which of the three ---------------------------------------------------------------------- */

/* clang-format off */
static const struct { const char *name; int words; int (*run)(const tool_line *,
  const trace_options *); const char *args; } part[] = {
    { "stat", 3, verb_stat, "FILE [FORMAT]" },
    { "convert", 5, verb_convert, "FILE FORMAT OUT FORMAT" },
    { "print", 3, verb_print, "FILE [FORMAT]" },
};
/* clang-format on */
enum { PARTS = sizeof part / sizeof *part };

static int run(tool_line *line, int argc, char **argv)
{
    trace_options o = { 0 };
    int code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    const char *name[PARTS + 1] = { NULL };
    for (int i = 0; i < PARTS; i++) {
        name[i] = part[i].name;
        if (strcmp(name[i], line->word[0]) != 0) continue;
        if (line->words == 2 && part[i].words == 3) { /* the file's name says the format */
            static char *words[3];
            const char *format = request_format_say(line->word[1]);
            if (!format) return TOOL_USAGE;
            memcpy(words, line->word, 2 * sizeof *words);
            words[2] = (char *)(uintptr_t)format;
            line->word = words;
            line->words = 3;
        }
        if (line->words != part[i].words) return tool_say(TOOL_USAGE, "%s takes %s", name[i], part[i].args);
        if (o.skip && part[i].run != verb_print) return tool_say(TOOL_USAGE, "--skip: only print passes over requests");
        return part[i].run(line, &o);
    }
    return tool_say(TOOL_USAGE, "there is no '%.60s'%s; it takes stat, convert or print", line->word[0],
                    tool_nearest(line->word[0], name));
}

const tool_verb verb_trace = {
    "trace", "stat|convert|print FILE FORMAT [OUT FORMAT]", "look at a trace, or convert it", doc, 1, 5, option, NULL,
    run
};
