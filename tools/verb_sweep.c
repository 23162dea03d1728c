/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_sweep.c - curves: the miss ratio of each policy over table sizes, or what each load factor costs
 * and keeps. CSV on standard output, and a picture of it.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/fill.h"
#include "tools/plot.h"
#include "tools/replay_lanes.h"
#include "tools/replay_report.h"
#include "tools/sample.h"

typedef struct sweep_options {
    replay_plan plan; /* the first: REPLAY_OPTIONS fill it */
    const char *policies, *sizes, *parts, *capacity, *plot, *output, *sample;
    replay_lanes lanes;
    bool table;
    int failed; /* replay_fails */
} sweep_options;
_Static_assert(offsetof(sweep_options, plan) == 0, "REPLAY_OPTIONS are fields of a replay_plan");

enum { KEY_SIZES = 0x100, KEY_PARTS, KEY_CAPACITY, KEY_PLOT, KEY_REQUESTS, KEY_TABLE, KEY_SAMPLE, KEY_WIDTH };
enum { WIDTH_MOST = 32 };

static const tool_option option[] = {
    { "policies", 'p', "LIST", "policies and exact caches, with commas (lru,lfu)", TOOL_FIELD(sweep_options, policies),
      .group = "Curves:" },
    { "sizes", KEY_SIZES, "LIST",
      "sizes: entries, parts of the different keys, or bytes; 1Ki..1Mi:50 is 50 of them in equal ratios (0.1% to 100% "
      "in ten steps)",
      TOOL_FIELD(sweep_options, sizes) },
    { "sample", KEY_SAMPLE, "RATE", "exact caches: the requests of so many keys (0.01, 1%, 1/64), as heddle curve",
      TOOL_FIELD(sweep_options, sample) },
    { "load-factors", KEY_PARTS, "LIST", "instead of requests: fill a table to these load factors, ascending",
      TOOL_FIELD(sweep_options, parts) },
    { "capacity", KEY_CAPACITY, "N", "of the table that is filled (1Mi)", TOOL_FIELD(sweep_options, capacity) },
    { "requests", KEY_REQUESTS, "N", "stop after N requests (generators: 1Mi)",
      TOOL_RANGE(sweep_options, plan.limit, 1, UINT64_MAX) },
    { "plot", KEY_PLOT, "FILE", "draw the curves as SVG", .kind = TOOL_BY_PARSER },
    { "output", 'o', "FILE", "write the CSV there instead of to standard output", TOOL_FIELD(sweep_options, output) },
    { "lane-width", KEY_WIDTH, "N", "exact caches with --backend cuda: of a warp, 1, 2, 4 ... 32 (by their number)",
      TOOL_RANGE(sweep_options, lanes.width, 1, WIDTH_MOST) },
    { "table", KEY_TABLE, NULL, "an aligned table for people instead of CSV", TOOL_FIELD(sweep_options, table) },
    REPLAY_OPTIONS,
    { .name = NULL },
};

static error_t parse(int key, const char *arg, void *options)
{
    sweep_options *o = (sweep_options *)options;
    if (key != KEY_PLOT) return replay_option(key, arg, &o->plan);
    o->plot = arg;
    return plot_file("--plot", arg) ? EINVAL : 0;
}

static void table_facts(out *o, const replay_plan *p)
{
    out_fact(o, "dual", "dual buckets", OUT_FLAG, out_flag(p->dual));
    out_fact(o, "admit", "admission", OUT_TEXT, out_text(p->admit == HD_ADMIT_ALWAYS ? "always" : "score"));
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* The rows of a sweep over sizes, and what they read. */
typedef struct size_rows {
    request_source source;
    replay_list sizes;
    replay_row *row;
    size_t rows;
    uint64_t distinct;
} size_rows;

/* TRACE FORMAT or SPEC, which the plan then reads. */
static int take_source(size_rows *z, sweep_options *o, const tool_line *line)
{
    request_source *source = &z->source;
    int code = request_trace_or_spec(source, line->word, line->words);
    if (code) return code;
    if (!source->endless) code = tool_apart("--output", o->output, source->args.arg[0]);
    if (!code && !source->endless) code = tool_apart("--plot", o->plot, source->args.arg[0]);
    source->args.lenient = o->plan.lenient;
    source->args.seed = o->plan.seed;
    o->plan.source = &source->args;
    if (source->endless && !o->plan.limit) o->plan.limit = 1 << 20;
    return code;
}

static void size_facts(out *o, const size_rows *z, const replay_plan *p, const replay_lanes *l)
{
    out_fact(o, "trace", "trace", OUT_TEXT, out_text(z->source.title));
    if (z->distinct) out_fact(o, "distinct", "different keys", OUT_COUNT, out_count(z->distinct));
    source_told_facts(o, &z->row->told, p->lenient);
    table_facts(o, p);
    replay_facts(o, p, z->row);
    if (p->rate > 0) {
        const replay_count *c = &z->row->all;
        out_fact(o, "rate", "share of keys", OUT_REAL, out_real(c->rate));
        out_fact(o, "unsampled", "requests that the sample lacks", OUT_COUNT, out_count(c->unsampled));
    }
    replay_lanes_facts(o, l);
}

static out *report_sizes(const size_rows *z, const replay_plan *p, const replay_lanes *l, tool_form form)
{
    enum { MOST = REPLAY_COLUMNS + REPLAY_SPREAD + 2 };
    static out_column column[MOST];
    out_value cell[MOST];
    int n = replay_columns(column, p, z->row);
    column[REPLAY_SIZE_ENTRIES].head = NULL;
    column[n] = (out_column){ "requests_per_s", "requests/s", OUT_RATE };
    column[n + 1] = (out_column){ "reserved", NULL, OUT_COUNT };
    out *o = out_open(form, "heddle.sweep/1", column, n + 2);
    size_facts(o, z, p, l);
    for (size_t i = 0; i < z->rows; i += replay_seeds(p)) {
        const replay_row *r = &z->row[i];
        replay_cells(r, p, cell);
        cell[n] = replay_rate(r);
        cell[n + 1] = out_count(r->all.reserved);
        out_row(o, cell);
    }
    return o;
}

static out *report_windows(const size_rows *z, const replay_plan *p, const replay_lanes *l, tool_form form)
{
    out *o = replay_windows_open(form, z->row);
    size_facts(o, z, p, l);
    replay_windows(o, p, z->row, z->rows);
    return o;
}

static int sweep_sizes(sweep_options *o, const tool_line *line, tool_form form, const replay_list *policies,
                       out **report)
{
    const char *usual = "0.1%,0.2%,0.5%,1%,2%,5%,10%,20%,50%,100%";
    size_rows z = { .rows = 0 };
    int code = take_source(&z, o, line);
    if (!code) code = replay_list_parse(&z.sizes, "--sizes", o->sizes ? o->sizes : usual);
    if (!code) code = replay_rows_take(&o->plan, policies, &z.sizes, &z.row, &z.rows, &z.distinct);
    if (code) return code;
    code = replay_lanes_run(&o->lanes, &o->plan, z.row, z.rows);
    if (!code) code = replay_run(&o->plan, z.row, z.rows);
    if (!code) {
        *report = (o->plan.every ? report_windows : report_sizes)(&z, &o->plan, &o->lanes, form);
        o->failed = replay_fails(&o->plan, z.row, z.rows);
    }
    replay_rows_give(z.row, z.rows);
    return code;
}

/* ---- Load factors ---------------------------------------------------------------------------- */

static int sweep_parts(sweep_options *o, tool_form form, const replay_list *policies, out **report)
{
    static const out_column column[] = {
        { "policy", "policy", OUT_TEXT },           { "load_factor", "offered/capacity", OUT_REAL },
        { "offered", "offered", OUT_COUNT },        { "size", "size", OUT_COUNT },
        { "filled", "load factor", OUT_RATIO },     { "evicted", "evicted", OUT_COUNT },
        { "refused", "refused", OUT_COUNT },        { "kept", "kept", OUT_PERCENT },
        { "inserts_per_s", "inserts/s", OUT_RATE }, { "finds_per_s", "finds/s", OUT_RATE },
    };
    enum { LARGEST = 1000 };
    replay_list parts;
    double part[REPLAY_LIST];
    uint64_t capacity = 1 << 20;
    uint32_t slots;
    hd_status s = o->capacity ? hd_parse_u64("--capacity", o->capacity, HD_SLOTS_MIN, 1ull << 48, &capacity) : HD_OK;
    int code = s ? tool_fail(s) : replay_list_parse(&parts, "--load-factors", o->parts);
    for (size_t i = 0; !code && i < parts.items; i++) {
        s = hd_parse_double("--load-factors", parts.item[i], 0, LARGEST, &part[i]);
        if (s)
            code = tool_fail(s);
        else if (part[i] <= (i ? part[i - 1] : 0))
            code = tool_say(TOOL_USAGE, "--load-factors: %s does not ascend", parts.item[i]);
    }
    if (code) return code;
    replay_shape(&o->plan, capacity, &slots, &capacity);
    code = tool_fits("--capacity", capacity, o->plan.value_bytes);
    if (code) return code;

    size_t rows = policies->items * parts.items;
    fill_row *row = (fill_row *)calloc(rows, sizeof *row);
    code = row ? fill_run(&o->plan, policies, part, parts.items, capacity, row)
               : tool_say(TOOL_SYSTEM, "memory was refused");
    *report = code ? NULL : out_open(form, "heddle.fill/1", column, sizeof column / sizeof *column);
    if (!code) {
        out_fact(*report, "capacity", "capacity", OUT_COUNT, out_count(capacity));
        out_fact(*report, "slots", "slots per bucket", OUT_COUNT, out_count(slots));
        table_facts(*report, &o->plan);
        replay_facts(*report, &o->plan, NULL);
    }
    for (size_t i = 0; !code && i < rows; i++) {
        const fill_row *r = &row[i];
        out_row(*report, (const out_value[]){ out_text(r->policy), out_real(r->asked), out_count(r->offered),
                                              out_count(r->size), out_real((double)r->size / (double)capacity),
                                              out_count(r->evicted), out_count(r->refused), out_real(r->kept),
                                              out_real(r->inserts_per_s), out_real(r->finds_per_s) });
    }
    free(row);
    return code;
}

/* ---- The verb -------------------------------------------------------------------------------- */

static int check_words(const sweep_options *o, const tool_line *line)
{
    if (o->parts && line->words)
        return tool_say(TOOL_USAGE, "--load-factors makes its own keys: leave out '%s'", line->word[0]);
    if (o->parts && o->sizes) return tool_say(TOOL_USAGE, "--load-factors or --sizes, not both");
    if (o->parts && o->plan.batch)
        return tool_say(TOOL_USAGE, "--load-factors has batches of its own: leave out --batch");
    if (o->parts && (o->plan.seeds || o->plan.every || o->plan.fails))
        return tool_say(TOOL_USAGE, "--load-factors has no miss ratio: leave out --seeds, --every and --fail-above");
    if (o->parts && o->sample) return tool_say(TOOL_USAGE, "--load-factors makes its own keys: leave out --sample");
    if (!o->parts && !line->words) return tool_say(TOOL_USAGE, "it takes %s, or --load-factors", line->verb->args);
    return TOOL_OK;
}

/* What a sample cannot be of. */
static int check_sample(sweep_options *o, const replay_list *policies)
{
    if (!o->sample) return TOOL_OK;
    if (o->plan.every) return tool_say(TOOL_USAGE, "--sample or --every, not both");
    for (size_t i = 0; i < policies->items; i++) {
        const baseline_row *b = baseline_named(policies->item[i]);
        if (!b) return tool_say(TOOL_USAGE, "--sample: %s is a table; samples are for full: rows", policies->item[i]);
        if (b->next) return tool_say(TOOL_USAGE, "--sample: %s reads the whole trace; heddle curve has it", b->name);
    }
    return sample_parse(o->sample, &o->plan.rate, NULL);
}

static int check_lanes(sweep_options *o, const replay_list *policies)
{
    uint32_t width = o->lanes.width;
    if (width & (width - 1)) return tool_say(TOOL_USAGE, "--lane-width: %u is no power of two", width);
    return o->parts ? TOOL_OK : replay_lanes_open(&o->lanes, &o->plan, policies);
}

static int check_options(sweep_options *o, const tool_line *line, replay_list *policies)
{
    int code = check_words(o, line);
    if (!code) code = tool_apart_outputs("--plot", o->plot, "--output", o->output);
    if (!code) code = replay_list_parse(policies, "--policies", o->policies ? o->policies : "lru,lfu");
    if (!code) code = replay_policies(policies, !o->parts);
    if (!code) code = replay_options_check(&o->plan);
    if (!code) code = check_sample(o, policies);
    if (!code) code = check_lanes(o, policies);
    return !code && o->output ? tool_writable("--output", o->output) : code;
}

/* Draws the report, and writes it to its file, or to standard output where there is none or it cannot be written. */
static int finish(const sweep_options *o, out *report, tool_form form)
{
    int code = o->plot && o->failed != TOOL_DATA ? out_plot(report, o->plot) : TOOL_OK;
    int saved = o->output ? out_save_as(report, form, o->output) : TOOL_OK;
    if (!code) code = o->failed;
    if (saved) code = saved;
    if (!o->output || saved) return out_close(report, code);
    out_drop(report);
    return code;
}

static int run(tool_line *line, int argc, char **argv)
{
    sweep_options o;
    memset(&o, 0, sizeof o);
    int code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    /* rows do not disturb each other, so every core takes some; one table's speed is measured on one core */
    if (!o.plan.threads) o.plan.threads = o.parts ? 1 : replay_cores();

    tool_form form = line->form == TOOL_TEXT && !o.table ? TOOL_CSV : line->form;
    replay_list policies;
    out *report = NULL;
    code = check_options(&o, line, &policies);
    if (code) return code;
    code = o.parts ? sweep_parts(&o, form, &policies, &report) : sweep_sizes(&o, line, form, &policies, &report);
    return code ? code : finish(&o, report, form);
}

static const char doc[] =
    "Replays the requests through a table of each size with each policy, as heddle sim does, and prints CSV: one row "
    "per pair. "
    "Requests come from a trace (TRACE FORMAT) or from a source as heddle list workloads has them (SPEC). TRACE may be "
    "- or a pipe, as for heddle sim. --policies takes exact caches (full:lru, full:belady ...), and --every, --seeds "
    "and "
    "--fail-above are as there; --every N plots the miss ratio over time.\n"
    "\n"
    "With --backend cuda or host exact caches run in lanes, thousands at once, over requests that are read once: "
    "full:lru, full:fifo, full:clock, full:sieve, full:s3fifo, full:slru, full:2q and full:arc.\n"
    "\n"
    "With --load-factors a table is filled with different keys instead, and each row says what inserting and finding "
    "cost at that "
    "point, and how many of the keys offered so far are kept.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle sweep zipf:0.99,10000 --requests 100000 --policies lru,lfu --sizes 1%,10%,50%\n"
    "  heddle gen zipf:0.99,10000 --requests 100000 -o zipf.oracleGeneral.zst\n"
    "  heddle sweep zipf.oracleGeneral.zst oracleGeneral --policies lru,custom --output curves.csv\n"
    "  heddle sweep zipf:0.99,10000 --requests 100000 -p lru,full:lru --sizes 1%,10% --seeds 3 --table\n"
    "  heddle sweep --load-factors 0.5,0.75,1,2 --capacity 64Ki --dual --table\n"
    "  heddle sweep zipf:0.99,10000 --requests 100000 -p lru,lfu --sizes 1%,10% --plot curves.svg\n"
    "  heddle sweep zipf:0.9,1Mi -p full:lru,full:sieve --sizes 1Ki..1Mi:9 --sample 1/64 --backend host\n";

const tool_verb verb_sweep = { "sweep",
                               "TRACE [FORMAT] | SPEC",
                               "miss ratio over sizes, or cost over load factors, with a plot",
                               doc,
                               0,
                               2,
                               option,
                               parse,
                               run };
