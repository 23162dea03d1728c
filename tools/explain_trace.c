/* SPDX-License-Identifier: Apache-2.0
 *
 * explain_trace.c - one bucket while a trace goes through its table: the requests that it is a candidate of, what they
 * did, and its miss ratio so far. The requests run one by one through a table, and the bucket is read after each.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "judge/kernels.h"
#include "heddle_view.h"
#include "tools/explain.h"
#include "tools/request.h"
#include "tools/trace_out.h"

enum {
    REQUESTS_USUAL = 60,
    REQUESTS_MOST = 100000,
    ENTRIES_TEXT = 8192,
    BUCKETS_USUAL = 64,
    SLOTS_USUAL = 8,
    COLUMNS = 12
};

typedef struct slot {
    bool present;
    uint64_t key, score;
} slot;

/* Of the requests that the bucket is a candidate of. */
typedef struct bucket_count {
    uint64_t requests, hits, evicted, refused, entries;
} bucket_count;

typedef struct trace_told {
    const char *file, *format;
    uint64_t bucket, requests, skip;
    hd_case c;
    hd_config config;
    request_source from;
    hd_source *source;
    fixture *shape; /* an empty table of the same shape: it says which buckets a key may be in */
    hd_table *table;
    hd_info info;
    bool gives; /* each request gives a score: the sooner its key's next request, the higher */
    uint64_t read, told;
    bucket_count n;
    slot now[HD_SLOTS_MAX];
    explain_told *to;
} trace_told;

/* What one request did. */
typedef struct event {
    uint64_t key, victim;
    hd_outcome outcome;
    uint64_t at; /* the key's slot of the bucket; `slots`: it is not there */
} event;

/* ---- Words ----------------------------------------------------------------------------------- */

static bool is_trace(const char *word) { return explain_value(word, "trace") != NULL; }

/* The reader of files whose name is a part of the file's name. */
static const char *format_of(const char *file)
{
    const hd_source_row *row;
    for (size_t i = 0; (row = hd_source_row_at(i)); i++)
        if (row->file && strstr(file, row->name)) return row->name;
    return "oracleGeneral";
}

static int read_word(trace_told *p, const char *word)
{
    const char *v;
    if ((v = explain_value(word, "format"))) return p->format = v, TOOL_OK;
    if ((v = explain_value(word, "bucket"))) return explain_number("bucket", v, 0, UINT64_MAX, &p->bucket);
    if ((v = explain_value(word, "requests"))) return explain_number("requests", v, 1, REQUESTS_MOST, &p->requests);
    if ((v = explain_value(word, "skip"))) return explain_number("skip", v, 0, UINT64_MAX, &p->skip);
    if (explain_value(word, "keys") || explain_value(word, "batch"))
        return tool_say(TOOL_USAGE, "%s: the trace says it", word);
    return explain_case_word(&p->c, word);
}

static int read_words(trace_told *p, const tool_line *line)
{
    p->c = hd_case_default();
    strcpy(p->c.op, "insert_and_evict");
    strcpy(p->c.kernel, "ref");
    p->c.buckets = BUCKETS_USUAL;
    p->c.slots = SLOTS_USUAL;
    p->c.value_bytes = 0;
    p->requests = REQUESTS_USUAL;
    p->file = explain_value(line->word[0], "trace");
    p->format = format_of(p->file);
    for (int i = 1; i < line->words; i++) {
        int code = read_word(p, line->word[i]);
        if (code) return code;
    }
    return request_words(&p->from, p->file, p->format);
}

/* ---- The table ------------------------------------------------------------------------------- */

static hd_status open_all(trace_told *p)
{
    const judge_design *d = judge_design_of(&p->c);
    if (!d || !d->candidates) return hd_fail(HD_EINVAL, "design: which buckets a key may be in is not known of it");
    hd_case shape = p->c;
    shape.batch = shape.batches = 1;
    strcpy(shape.keys, "uniform:1");
    snprintf(shape.kernel, sizeof shape.kernel, "%s", fixture_row_name(d, 0));
    p->config = hd_case_config(&p->c);
    hd_status s = hd_open(&p->config, &p->table);
    if (!s) s = hd_table_info(p->table, &p->info);
    if (!s && p->bucket >= p->info.buckets)
        s = hd_fail(HD_EINVAL, "bucket: there are %" PRIu64 ", counted from 0", p->info.buckets);
    if (!s) s = fixture_open_empty(&shape, &p->shape);
    if (!s) s = hd_source_open(&p->from.args, &p->source);
    p->gives = !s && strstr(p->info.policy_flags, "scores needed");
    return s;
}

static void close_all(trace_told *p)
{
    hd_source_close(p->source);
    fixture_close(p->shape);
    hd_close(p->table);
}

static bool is_candidate(const trace_told *p, uint64_t key)
{
    uint64_t bucket[JUDGE_CANDIDATES_MOST];
    uint32_t n = key < p->info.keys ? p->shape->design->candidates(p->shape->table, key, bucket) : 0;
    for (uint32_t i = 0; i < n; i++)
        if (bucket[i] == p->bucket) return true;
    return false;
}

/* Reads the bucket into p->now; how many entries it has. */
static hd_status read_bucket(trace_told *p)
{
    hd_view v;
    hd_status s = hd_view_open(p->table, NULL, &v);
    if (s) return s;
    p->n.entries = 0;
    for (uint32_t i = 0; i < p->info.slots; i++) {
        hd_view_entry e = { 0, 0, NULL };
        p->now[i].present = hd_view_row(&v, p->bucket * p->info.slots + i, &e);
        p->now[i].key = e.key;
        p->now[i].score = e.score;
        p->n.entries += p->now[i].present;
    }
    return hd_view_close(p->table, NULL);
}

static hd_status run_one(trace_told *p, const hd_request *r, event *e)
{
    uint8_t outcome = HD_MISS;
    uint64_t gone_score, count = 0, given = r->next > 0 ? UINT64_MAX - (uint64_t)r->next : 0;
    hd_batch b = { .op = HD_OP_INSERT_AND_EVICT, .n = 1, .key = &r->key, .outcome = &outcome };
    if (p->gives && r->next == 0)
        return hd_fail(HD_EINVAL, "policy: the trace does not know the next request of a key");
    b.score = p->gives ? &given : NULL;
    b.list_key = &e->victim;
    b.list_score = &gone_score;
    b.count = &count;
    e->key = r->key;
    hd_status s = hd_run(p->table, &b);
    e->outcome = (hd_outcome)outcome;
    return s;
}

/* ---- What is told ---------------------------------------------------------------------------- */

enum { ROW_REQUESTS, ROW_HITS, ROW_MISS_RATIO, ROW_ENTRIES, ROW_EVICTED, ROW_REFUSED, ROWS };

static double miss_ratio(const bucket_count *n) { return n->requests ? 1 - (double)n->hits / (double)n->requests : 0; }

static void begin(trace_told *p, const tool_line *line)
{
    static out_column column[COLUMNS];
    const out_column all[COLUMNS] = {
        { "request", "request", OUT_PLAIN },
        { "key", "key", OUT_PLAIN },
        { "outcome", "outcome", OUT_TEXT },
        { "victim", "victim", OUT_PLAIN },
        { "slot", "slot", OUT_PLAIN },
        { "filled", "entries", OUT_COUNT },
        { "requests_so_far", NULL, OUT_COUNT },
        { "hits", "hits", OUT_COUNT },
        { "evicted", "evicted", OUT_COUNT },
        { "refused", "refused", OUT_COUNT },
        { "miss_ratio", "miss ratio", OUT_RATIO },
        { "entries", p->info.slots <= 8 ? "keys" : NULL, OUT_TEXT },
    };
    static const char *const slots[] = { "key", "score" }, *const one[] = { "value" },
                             *const row[ROWS] = { "requests", "hits", "miss ratio", "entries", "evicted", "refused" };
    char name[64];
    memcpy(column, all, sizeof all);
    out *o = p->to->report = out_open(line->form, "heddle.explain.trace/1", column, COLUMNS);
    out_fact(o, "trace", "trace", OUT_TEXT, out_text(p->from.title));
    out_fact(o, "policy", "policy", OUT_TEXT, out_text(p->info.policy));
    out_fact(o, "bucket", "bucket", OUT_PLAIN, out_count(p->bucket));
    out_fact(o, "buckets", "of buckets", OUT_COUNT, out_count(p->info.buckets));
    out_fact(o, "slots", "slots", OUT_COUNT, out_count(p->info.slots));
    if (!p->to->wants_story) return;
    snprintf(name, sizeof name, "Bucket %" PRIu64 " over time", p->bucket);
    story *s = p->to->steps = story_open(name, explain_command(line));
    story_fact(s, "trace", "%s", p->from.title);
    story_fact(s, "policy", "%s", p->info.policy);
    snprintf(name, sizeof name, "bucket %" PRIu64, p->bucket);
    story_panel(s, name, slots, 2);
    for (uint32_t i = 0; i < p->info.slots; i++) {
        snprintf(name, sizeof name, "slot %" PRIu32, i);
        story_row(s, 0, name);
        if (!p->now[i].present) continue;
        story_change(s, 0, (int)i, 0, "%" PRIu64, p->now[i].key);
        story_change(s, 0, (int)i, 1, "%" PRIu64, p->now[i].score);
    }
    story_panel(s, "so far", one, 1);
    for (int i = 0; i < ROWS; i++) story_row(s, 1, row[i]);
}

static void tell_step(const trace_told *p, const event *e)
{
    static const char *const does[HD_OUTCOME_COUNT] = {
        [HD_INSERTED] = "inserts", [HD_UPDATED] = "hits", [HD_EVICTED] = "evicts", [HD_REFUSED] = "refuses"
    };
    story *s = p->to->steps;
    char who[48], note[160];
    bool here = e->at < p->info.slots;
    snprintf(who, sizeof who, "request %" PRIu64, p->read - 1);
    if (e->outcome == HD_EVICTED)
        snprintf(note, sizeof note, "Key %" PRIu64 " takes the place of key %" PRIu64 "%s.", e->key, e->victim,
                 here ? "" : ", in its other bucket");
    else
        snprintf(note, sizeof note, "Key %" PRIu64 " is %s%s.", e->key,
                 e->outcome == HD_UPDATED ? "present" : hd_outcome_name(e->outcome),
                 here || e->outcome == HD_REFUSED ? "" : ", in its other bucket");
    story_step(s, &(story_act){ .step = p->read - 1, .who = who, .does = does[e->outcome], .note = note });
    if (here) {
        story_change(s, 0, (int)e->at, 0, "%" PRIu64, p->now[e->at].key);
        story_change(s, 0, (int)e->at, 1, "%" PRIu64, p->now[e->at].score);
    }
    story_change(s, 1, ROW_REQUESTS, 0, "%" PRIu64, p->n.requests);
    story_change(s, 1, ROW_HITS, 0, "%" PRIu64, p->n.hits);
    story_change(s, 1, ROW_MISS_RATIO, 0, "%.3f", miss_ratio(&p->n));
    story_change(s, 1, ROW_ENTRIES, 0, "%" PRIu64, p->n.entries);
    story_change(s, 1, ROW_EVICTED, 0, "%" PRIu64, p->n.evicted);
    story_change(s, 1, ROW_REFUSED, 0, "%" PRIu64, p->n.refused);
}

static void tell_row(const trace_told *p, const event *e)
{
    char keys[ENTRIES_TEXT] = "";
    size_t used = 0;
    bool here = e->at < p->info.slots;
    for (uint32_t i = 0; i < p->info.slots && used < sizeof keys; i++)
        used += (size_t)(p->now[i].present ? snprintf(keys + used, sizeof keys - used, "%s%" PRIu64 "%s", i ? " " : "",
                                                      p->now[i].key, i == e->at ? "*" : "")
                                           : snprintf(keys + used, sizeof keys - used, "%s-", i ? " " : ""));
    out_row(p->to->report,
            (const out_value[COLUMNS]){
                out_count(p->read - 1), out_count(e->key), out_text(hd_outcome_name(e->outcome)),
                e->outcome == HD_EVICTED ? out_count(e->victim) : out_none(), here ? out_count(e->at) : out_none(),
                out_count(p->n.entries), out_count(p->n.requests), out_count(p->n.hits), out_count(p->n.evicted),
                out_count(p->n.refused), out_real(miss_ratio(&p->n)), out_text(keys) });
}

/* ---- The trace ------------------------------------------------------------------------------- */

static hd_status take(trace_told *p, const hd_request *r, const tool_line *line)
{
    event e;
    memset(&e, 0, sizeof e);
    bool candidate = is_candidate(p, r->key);
    if (candidate && p->n.requests == p->skip) begin(p, line);
    hd_status s = run_one(p, r, &e);
    p->read++;
    if (s || !candidate) return s;
    s = read_bucket(p);
    for (e.at = 0; e.at < p->info.slots && !(p->now[e.at].present && p->now[e.at].key == e.key); e.at++) continue;
    p->n.requests++;
    p->n.hits += e.outcome == HD_UPDATED;
    p->n.evicted += e.outcome == HD_EVICTED && e.at < p->info.slots; /* else in the key's other bucket */
    p->n.refused += e.outcome == HD_REFUSED;
    if (s || p->n.requests <= p->skip) return s;
    tell_row(p, &e);
    tell_step(p, &e);
    p->told++;
    return HD_OK;
}

static hd_status take_all(trace_told *p, const tool_line *line)
{
    enum { BATCH = 4096 };
    static hd_request r[BATCH];
    for (bool end = false; !end && p->told < p->requests && !tool_stopped();) {
        size_t got = 0;
        hd_status s = hd_source_next(p->source, r, BATCH, &got);
        for (size_t i = 0; !s && i < got && p->told < p->requests; i++) s = take(p, &r[i], line);
        if (s) return s;
        end = got < BATCH;
    }
    return HD_OK;
}

static int tell(const tool_line *line, explain_told *told)
{
    static trace_told p;
    memset(&p, 0, sizeof p);
    p.to = told;
    int code = read_words(&p, line);
    if (code) return code;
    hd_status s = open_all(&p);
    if (!s) s = take_all(&p, line);
    if (!s && !told->report) s = hd_fail(HD_EINVAL, "bucket, skip: the bucket has %" PRIu64 " requests", p.n.requests);
    if (s) code = tool_fail(s);
    if (!code) {
        out_fact(told->report, "read", "requests read", OUT_COUNT, out_count(p.read));
        out_fact(told->report, "skipped", p.skip ? "not shown" : NULL, OUT_COUNT, out_count(p.skip));
        out_fact(told->report, "requests", "requests of the bucket", OUT_COUNT, out_count(p.n.requests));
        source_told read;
        source_tell(&read, p.source);
        source_told_facts(told->report, &read, false);
    }
    close_all(&p);
    return code ? code : tool_stopped() ? TOOL_STOPPED : TOOL_OK;
}

const explain_subject explain_trace = {
    "trace=FILE bucket=N [format=FORMAT policy=NAME buckets=N slots=N dual=1 requests=N skip=N]",
    "one bucket while a trace goes through its table: hits, evictions, the miss ratio so far", is_trace, tell
};
