/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_curve.c - the miss ratios of exact caches of many sizes, out of one pass over the requests.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/curve.h"
#include "tools/input.h"
#include "tools/progress.h"
#include "tools/replay_report.h"
#include "tools/sample.h"

enum {
    SAMPLE_USUAL = 1 << 14, /* keys, for caches that need a sample */
    ENTRIES_LEAST = 100,    /* of the sample, in a cache of a size that it can say */
    POINTS_USUAL = 20,
    POINTS_MOST = 1000
};

typedef struct curve_options {
    replay_plan plan; /* for caches that are replayed as a whole */
    const char *policies, *sizes, *sample;
    uint32_t points;
    bool exact;
} curve_options;

enum { KEY_SIZES = 0x100, KEY_POINTS, KEY_SAMPLE, KEY_EXACT, KEY_REQUESTS, KEY_SEED, KEY_LENIENT };

static const tool_option option[] = {
    { "policies", 'p', "LIST", "exact caches, with commas (full:lru)", TOOL_FIELD(curve_options, policies) },
    { "sizes", KEY_SIZES, "LIST", "sizes: entries, parts of the different keys, or bytes (0.1%,100%, with --points 20)",
      TOOL_FIELD(curve_options, sizes) },
    { "points", KEY_POINTS, "N", "instead of these sizes N from the least to the largest, in equal ratios",
      TOOL_RANGE(curve_options, points, 2, POINTS_MOST) },
    { "sample", KEY_SAMPLE, "RATE|KEYS",
      "of how many keys: a rate (0.01, 1%, 1/64), or the most keys to keep (full:lru: all keys; others: 16Ki)",
      TOOL_FIELD(curve_options, sample) },
    { "exact", KEY_EXACT, NULL, "beside a sample: the exact misses, too, and the errors",
      TOOL_FIELD(curve_options, exact) },
    { "requests", KEY_REQUESTS, "N", "stop after N requests (generators: 1Mi)",
      TOOL_RANGE(curve_options, plan.limit, 1, UINT64_MAX) },
    { "seed", KEY_SEED, "N", "of the hash that samples, and of caches that draw (0)",
      TOOL_RANGE(curve_options, plan.seed, 0, UINT64_MAX) },
    { "lenient", KEY_LENIENT, NULL, "count bad records and go on where one can be skipped",
      TOOL_FIELD(curve_options, plan.lenient) },
    { "threads", 't', "N", "caches at a time, of those that are replayed as a whole (all cores)",
      TOOL_RANGE(curve_options, plan.threads, 1, 1024) },
    { .name = NULL },
};

/* One policy and one size. Misses below 0: none are said. */
typedef struct curve_row {
    const baseline_row *policy;
    size_t size; /* its number */
    bool sampled;
    const char *method;
    double misses, exact;
} curve_row;

/* What a command line gives, and what comes of it. */
typedef struct curve_job {
    curve_options o;
    request_source source;
    replay_list policies;
    curve_config config; /* of the sample */
    uint64_t capacity[POINTS_MOST], distinct;
    source_told told;
    curve *whole, *part; /* of all keys, and of the sample; NULL: not needed */
    curve_row *row;
    size_t rows;
    double seconds;
} curve_job;

/* ---- The command line ------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Ascending, and each once. */
static void sizes_order(curve_job *j)
{
    size_t n = j->config.capacities, different = 0;
    qsort(j->capacity, n, sizeof *j->capacity, compare);
    for (size_t i = 0; i < n; i++)
        if (!different || j->capacity[i] != j->capacity[different - 1]) j->capacity[different++] = j->capacity[i];
    j->config.capacities = different;
}

static void sizes_spread(curve_job *j, uint32_t points)
{
    double least = (double)j->capacity[0], most = (double)j->capacity[j->config.capacities - 1];
    uint64_t last = j->capacity[j->config.capacities - 1];
    for (uint32_t i = 0; i < points; i++)
        j->capacity[i] = (uint64_t)llround(least * pow(most / least, (double)i / (points - 1)));
    j->capacity[points - 1] = last;
    j->config.capacities = points;
    sizes_order(j);
}

static int sizes_read(curve_job *j)
{
    replay_list sizes;
    double share[REPLAY_LIST];
    uint64_t requests;
    bool shares = false, bytes;
    int code = replay_list_parse(&sizes, "--sizes", j->o.sizes ? j->o.sizes : "0.1%,100%");
    for (size_t i = 0; !code && i < sizes.items; i++) {
        code = replay_size_parse(sizes.item[i], &j->capacity[i], &share[i], &bytes);
        if (!code && i && bytes != j->config.bytes)
            code = tool_say(TOOL_USAGE, "size: %s and %s are in bytes and in entries; take one unit", sizes.item[0],
                            sizes.item[i]);
        j->config.bytes = bytes;
        shares = shares || share[i] >= 0;
    }
    if (code) return code;
    if (shares || j->o.exact || j->config.bytes) input_spool(); /* it may be read again */
    hd_status s = shares ? request_distinct(j->o.plan.source, j->o.plan.limit, &requests, &j->distinct) : HD_OK;
    if (s) return tool_fail(s);
    for (size_t i = 0; i < sizes.items; i++) {
        if (share[i] >= 0) j->capacity[i] = (uint64_t)llround(share[i] * (double)j->distinct);
        if (!j->capacity[i]) j->capacity[i] = 1;
    }
    j->config.capacities = sizes.items;
    sizes_order(j);
    if (!j->o.sizes && !j->o.points) j->o.points = POINTS_USUAL;
    if (j->o.points) sizes_spread(j, j->o.points);
    return tool_stopped() ? TOOL_STOPPED : TOOL_OK;
}

static int sample_read(curve_job *j)
{
    j->config.rate = 1;
    if (!j->o.sample) j->config.most = SAMPLE_USUAL;
    return j->o.sample ? sample_parse(j->o.sample, &j->config.rate, &j->config.most) : TOOL_OK;
}

static bool is_lru(const baseline_row *b) { return strcmp(b->name, "full:lru") == 0; }

static int policies_read(curve_job *j)
{
    const char *text = j->o.policies ? j->o.policies : "full:lru";
    int code = replay_list_parse(&j->policies, "--policies", text);
    if (!code) code = replay_policies(&j->policies, true);
    for (size_t i = 0; !code && i < j->policies.items; i++) {
        const char *name = j->policies.item[i];
        const baseline_row *b = baseline_named(name);
        if (!b)
            code = tool_say(TOOL_USAGE,
                            "policy: %s has buckets; heddle sweep replays tables, and curves are of "
                            "full: rows",
                            name);
        else if (j->config.bytes && !b->bytes)
            code = tool_say(TOOL_USAGE, "size: %s is defined for entries, not for bytes", name);
    }
    return code;
}

/* ---- Running ----------------------------------------------------------------------------------------- */

static hd_status pass_source(curve_job *j, hd_source *source)
{
    static hd_request request[REPLAY_BATCH];
    const uint64_t limit = j->o.plan.limit;
    uint64_t done = 0;
    hd_status s = HD_OK;
    progress p;
    if (j->config.bytes && !source->sized) return hd_fail(HD_EINVAL, "size: bytes, and the trace has no sizes");
    progress_begin(&p, "curve", "requests");
    for (bool end = false; !s && !end;) {
        size_t want = limit && limit - done < REPLAY_BATCH ? (size_t)(limit - done) : REPLAY_BATCH, got = 0;
        s = hd_source_next(source, request, want, &got);
        if (!s && j->whole) s = curve_run(j->whole, request, got);
        if (!s && j->part) s = curve_run(j->part, request, got);
        done += got;
        end = got < want || done == limit || progress_at(&p, done, limit, request_share(source, done, limit));
    }
    progress_end(&p);
    source_tell(&j->told, source);
    return s;
}

static int pass(curve_job *j)
{
    const curve_config whole = {
        .capacity = j->capacity, .capacities = j->config.capacities, .bytes = j->config.bytes, .rate = 1
    };
    bool lru = false, others = false;
    for (size_t i = 0; i < j->rows; i++) *(is_lru(j->row[i].policy) ? &lru : &others) = true;
    uint64_t begin = progress_now_ns();
    hd_source *source = NULL;
    j->config.capacity = j->capacity;
    j->config.seed = j->o.plan.seed;
    j->config.keeps = others;
    hd_status s = hd_source_open(&j->source.args, &source);
    if (!s && lru && (!j->o.sample || j->o.exact)) s = curve_open(&whole, &j->whole);
    if (!s && (others || j->o.sample)) s = curve_open(&j->config, &j->part);
    if (!s) s = pass_source(j, source);
    hd_source_close(source);
    j->seconds = (double)(progress_now_ns() - begin) * 1e-9;
    if (s) return tool_fail(s);
    if (tool_stopped()) return TOOL_STOPPED;
    const curve_facts f = curve_about(j->part ? j->part : j->whole);
    if (!f.requests) return tool_say(TOOL_DATA, "no request is counted: there are none but for reserved keys");
    return f.sampled ? TOOL_OK : tool_say(TOOL_DATA, "--sample: the rate keeps no key; take a higher one");
}

/* Whether caches of the sample have so few entries that it says nothing of the size. */
static bool is_thin(const curve_job *j, size_t k)
{
    const curve_facts f = curve_about(j->part);
    double units = (double)f.units > 0 ? (double)f.units : 1;
    double entries = (double)j->capacity[k] * f.rate * (double)f.keys / units;
    return f.rate < 1 && (entries < ENTRIES_LEAST || f.keys < ENTRIES_LEAST);
}

static hd_status row_fill(curve_job *j, curve_row *r)
{
    r->misses = r->exact = -1;
    bool lru = is_lru(r->policy), stacked = lru && j->whole && (!j->config.bytes || !curve_about(j->whole).resized);
    r->sampled = !lru || j->o.sample;
    r->method = !r->sampled ? stacked ? "stack" : "replay" : lru ? "shards" : "mini";
    if (stacked) r->exact = curve_misses(j->whole, r->size);
    if (!r->sampled) r->misses = r->exact;
    if (!r->sampled || is_thin(j, r->size)) return HD_OK;
    if (!lru) return curve_mini(j->part, r->policy, r->size, &r->misses);
    r->misses = curve_misses(j->part, r->size);
    return HD_OK;
}

static bool lacks_exact(const curve_job *j, const curve_row *r) { return r->exact < 0 && (j->o.exact || !r->sampled); }

/* The exact misses that the pass does not have, by a replay of each. */
static int rows_replay(curve_job *j)
{
    replay_row *replayed = (replay_row *)calloc(j->rows + 1, sizeof *replayed);
    size_t n = 0;
    if (!replayed) return tool_say(TOOL_SYSTEM, "memory was refused");
    for (size_t i = 0; i < j->rows; i++) {
        const curve_row *r = &j->row[i];
        if (!lacks_exact(j, r)) continue;
        replayed[n++] = (replay_row){ .policy = r->policy->name,
                                      .asked = "",
                                      .full = r->policy,
                                      .size = j->capacity[r->size],
                                      .capacity = j->capacity[r->size],
                                      .seed = j->o.plan.seed,
                                      .bytes = j->config.bytes };
    }
    int code = n ? replay_run(&j->o.plan, replayed, n) : TOOL_OK;
    n = 0;
    for (size_t i = 0; !code && i < j->rows; i++) {
        curve_row *r = &j->row[i];
        if (!lacks_exact(j, r)) continue;
        r->exact = (double)replayed[n++].all.misses;
        if (!r->sampled) r->misses = r->exact;
    }
    replay_rows_give(replayed, n);
    return code;
}

static int rows_run(curve_job *j)
{
    size_t n = j->config.capacities;
    bool said = false;
    j->rows = j->policies.items * n;
    j->row = (curve_row *)calloc(j->rows, sizeof *j->row);
    if (!j->row) return tool_say(TOOL_SYSTEM, "memory was refused");
    for (size_t i = 0; i < j->rows; i++)
        j->row[i] = (curve_row){ .policy = baseline_named(j->policies.item[i / n]), .size = i % n };
    int code = pass(j);
    for (size_t i = 0; !code && i < j->rows; i++) {
        hd_status s = tool_stopped() ? hd_fail(HD_EIO, "stopped") : row_fill(j, &j->row[i]);
        if (s) code = tool_stopped() ? TOOL_STOPPED : tool_fail(s);
    }
    if (!code) code = rows_replay(j);
    for (size_t i = 0; i < j->rows; i++) said = said || j->row[i].misses >= 0;
    if (!code && !said)
        code = tool_say(TOOL_DATA, "--sample: %" PRIu64 " keys say no size: each would have fewer than %d of them",
                        curve_about(j->part).keys, ENTRIES_LEAST);
    return code;
}

/* ---- The report -------------------------------------------------------------------------------------- */

static void sample_facts(out *o, const curve_job *j, uint64_t thin)
{
    const curve_facts f = curve_about(j->part);
    out_fact(o, "rate", "share of keys", OUT_REAL, out_real(f.rate));
    out_fact(o, "sampled_keys", "keys of the sample", OUT_COUNT, out_count(f.keys));
    out_fact(o, "sampled_requests", "their requests", OUT_COUNT, out_count(f.sampled));
    out_fact(o, "thin", NULL, OUT_COUNT, out_count(thin));
    if (thin)
        out_note(o,
                 "\nRows without a miss ratio: %" PRIu64
                 "; their caches would have fewer than %d entries of the sample.\n",
                 thin, ENTRIES_LEAST);
}

static void error_facts(out *o, const curve_job *j, double requests)
{
    double sum = 0, most = 0;
    size_t n = 0;
    for (size_t i = 0; i < j->rows; i++) {
        const curve_row *r = &j->row[i];
        if (!r->sampled || r->misses < 0) continue;
        double error = fabs(r->misses - r->exact) / requests;
        if (error > most) most = error;
        sum += error;
        n++;
    }
    out_fact(o, "error_mean", "mean error", OUT_REAL, n ? out_real(sum / (double)n) : out_none());
    out_fact(o, "error_most", "largest error", OUT_REAL, n ? out_real(most) : out_none());
}

static out_value ratio_of(double misses, double requests)
{
    return misses < 0 ? out_none() : out_real(misses / requests);
}

static void row_print(out *o, const curve_job *j, const curve_row *r, const curve_facts *f)
{
    double n = (double)f->requests, rate = r->sampled ? curve_about(j->part).rate : 1;
    bool both = r->misses >= 0 && r->exact >= 0 && r->sampled;
    const out_value cells[] = {
        out_text(r->policy->name),
        out_count(j->capacity[r->size]),
        out_text(r->method),
        out_real(rate),
        out_count(f->requests),
        r->misses < 0 ? out_none() : out_count((uint64_t)llround(r->misses)),
        ratio_of(r->misses, n),
        ratio_of(r->exact, n),
        both ? out_real((r->misses - r->exact) / n) : out_none(),
    };
    out_row(o, cells);
}

static out *report(const curve_job *j, tool_form form)
{
    static out_column column[] = {
        { "policy", "policy", OUT_TEXT },          { "capacity", "capacity", OUT_COUNT },
        { "method", "method", OUT_TEXT },          { "rate", NULL, OUT_REAL },
        { "requests", "requests", OUT_COUNT },     { "misses", "misses", OUT_COUNT },
        { "miss_ratio", "miss ratio", OUT_RATIO }, { "exact_miss_ratio", "exact", OUT_RATIO },
        { "error", "error", OUT_RATIO },
    };
    enum { COLUMNS = sizeof column / sizeof *column };
    const curve_facts f = curve_about(j->part ? j->part : j->whole);
    uint64_t thin = 0;
    if (!j->o.exact) column[COLUMNS - 1].head = column[COLUMNS - 2].head = NULL;
    out *o = out_open(form, "heddle.curve/1", column, COLUMNS);
    out_fact(o, "trace", "trace", OUT_TEXT, out_text(j->source.title));
    if (j->distinct) out_fact(o, "distinct", "different keys", OUT_COUNT, out_count(j->distinct));
    if (f.reserved) out_fact(o, "reserved", "requests for reserved keys", OUT_COUNT, out_count(f.reserved));
    source_told_facts(o, &j->told, j->o.plan.lenient);
    out_fact(o, "unit", "unit of sizes", OUT_TEXT, out_text(j->config.bytes ? "bytes" : "entries"));
    if (f.resized) out_fact(o, "resized", "requests that change a size", OUT_COUNT, out_count(f.resized));
    for (size_t i = 0; i < j->rows; i++) {
        row_print(o, j, &j->row[i], &f);
        thin += j->row[i].misses < 0;
    }
    if (j->part) sample_facts(o, j, thin);
    if (j->part && j->o.exact) error_facts(o, j, (double)f.requests);
    out_fact(o, "pass_s", "time of the pass", OUT_SECONDS, out_real(j->seconds));
    return o;
}

static int job_run(curve_job *j, const tool_line *line)
{
    replay_plan *p = &j->o.plan;
    int code = request_trace_or_spec(&j->source, line->word, line->words);
    if (!p->threads) p->threads = replay_cores();
    j->source.args.lenient = p->lenient;
    j->source.args.seed = p->seed;
    p->source = &j->source.args;
    if (j->source.endless && !p->limit) p->limit = 1 << 20;
    if (!code) code = sample_read(j);
    if (!code) code = sizes_read(j);
    if (!code) code = policies_read(j);
    if (!code) code = rows_run(j);
    return code ? code : out_close(report(j, line->form), TOOL_OK);
}

static int run(tool_line *line, int argc, char **argv)
{
    static curve_job j;
    int code = tool_parse(line, argc, argv, &j);
    if (code >= 0) return code;
    code = job_run(&j, line);
    curve_close(j.whole);
    curve_close(j.part);
    free(j.row);
    return code;
}

static const char doc[] =
    "The miss ratio of exact caches (heddle list baselines) over their size, for many sizes at once. full:lru is "
    "exact, "
    "from one pass over the requests. With --sample it is estimated from a part of the keys, as SHARDS does; the other "
    "caches always are, by small caches over the sampled requests. A rate keeps that share of the keys; a number of "
    "keys lowers the rate until no more are kept. --exact adds the exact miss ratios, which take a replay of the "
    "requests for each size of the other caches.\n"
    "\n"
    "Requests come from a trace (TRACE FORMAT) or from a source as heddle list workloads has them (SPEC). A size is a "
    "number of entries, a part of the different keys, which are counted first, or a number of bytes, if the trace has "
    "sizes. doc/output.md has the rules, and how large errors are.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle curve zipf:0.99,10000 --requests 100000\n"
    "  heddle gen zipf:0.99,10000 --requests 100000 -o zipf.oracleGeneral.zst\n"
    "  heddle curve zipf.oracleGeneral.zst --sizes 10,10k --points 30 --csv\n"
    "  heddle curve zipf.oracleGeneral.zst --sizes 1KiB,1MiB --points 10\n"
    "  heddle curve zipf.oracleGeneral.zst -p full:lru,full:sieve,full:s3fifo --sample 20% --exact\n"
    "  heddle curve zipf:0.99,1Mi --sample 8Ki --json\n";

const tool_verb verb_curve = {
    "curve", "TRACE [FORMAT] | SPEC", "miss-ratio curves of exact caches, in one pass", doc, 1, 2, option, NULL, run
};
