/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_run.c - one case, run and reported: what was asked of which table, what became of every item, and
 * whether an independent judge agrees; and the same workload through the GPU's kernels on the host machine.
 */
#include <stdio.h>
#include <string.h>

#include "lib/params.h"
#include "judge/design.h"
#include "judge/oracle.h"
#include "judge/run.h"
#include "judge/all_kernels.h"
#include "tools/annotation.h"
#include "tools/input.h"
#include "tools/junit.h"
#include "tools/output.h"
#include "tools/picture.h"
#include "tools/plot.h"
#include "tools/progress.h"
#include "tools/all_kernels_report.h"
#include "tools/with.h"

/* Four Mi requests for four Mi keys, a few of which are wanted far more often than the rest, from a table
 * with room for one key in sixteen: it fills early and evicts from then on. One thread, so that the figure
 * says what a core does and a busy machine does not spoil it. */
static const char first_case[] = "hkv.serve.ref keys=zipf:0.99,4Mi capacity=256Ki batch=4096x1024 threads=1";

/* All operations by all kernels: a smaller table, and batches that are done in the blink of an eye. */
static const char first_all_kernels[] = "hkv.mix.ref keys=zipf:0.99,128Ki capacity=8Ki batch=1024x128";

enum { CASE_BYTES = 1024, BAR = 32, KEY_PLOT = 0x100 };

typedef struct run_options {
    bool judge, kernels;
    const char *plot, *junit;
} run_options;

static const tool_option option[] = {
    { "judge", 'j', NULL, "compare every batch with an independent map that knows no buckets",
      TOOL_FIELD(run_options, judge) },
    { "kernels", 'k', NULL,
      "run the case by the GPU's kernels on the host SIMT machine, each held against the reference",
      TOOL_FIELD(run_options, kernels) },
    { "plot", KEY_PLOT, "FILE", "draw the outcomes and the hit rate over time, or the kernels' sectors, as SVG",
      TOOL_FIELD(run_options, plot) },
    JUNIT_OPTION(run_options),
    { .name = NULL },
};

/* The words with blanks between them: a case need not be quoted. */
static int words_join(const tool_line *line, char text[CASE_BYTES])
{
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < line->words; i++) {
        used += (size_t)snprintf(text + used, CASE_BYTES - used, "%s%s", i ? " " : "", line->word[i]);
        if (used >= CASE_BYTES) return tool_say(TOOL_USAGE, "CASE: longer than %d bytes", CASE_BYTES - 1);
    }
    return TOOL_OK;
}

/* ---- What happened --------------------------------------------------------------------------- */

static const char *outcome_means(hd_outcome o)
{
    switch (o) {
    case HD_MISS: return "not there, and not asked to insert";
    case HD_HIT: return "it was there";
    case HD_INSERTED: return "it was not there and took an empty slot";
    case HD_UPDATED: return "it was there and was changed";
    case HD_EVICTED: return "it was not there and took the place of the least valuable entry";
    case HD_REFUSED: return "it was not there and worth less than all that was";
    case HD_RESERVED: return "one of the three keys that no table holds";
    case HD_ERASED: return "it was there and is gone";
    case HD_PINNED: return "it was pinned: read, not changed";
    case HD_PENDING: return "it was not there, and there is no room until the table grows";
    case HD_OUTCOME_COUNT: break;
    }
    return "";
}

static double hit_rate(const hd_counters *c)
{
    uint64_t hits = c->outcome[HD_HIT] + c->outcome[HD_UPDATED] + c->outcome[HD_PINNED] + c->outcome[HD_ERASED];
    uint64_t asked = c->items - c->outcome[HD_RESERVED];
    return asked ? (double)hits / (double)asked : 0;
}

/* Whether policies can be chosen; else the design keeps no scores. */
static bool has_scores(const char *policy) { return strcmp(policy, "none") != 0; }

/* Around words that a shell would not take as they are: the signs of expressions. */
static const char *quote_of(const char *policy) { return strchr(policy, '=') ? "'" : ""; }

static void facts(out *o, const char *text, const hd_run_report *r)
{
    char table[512], entries[OUT_CELL], slots[OUT_CELL], buckets[OUT_CELL], memory[OUT_CELL], more[OUT_CELL + 32] = "";
    const hd_info *t = &r->info;
    if (t->places > t->capacity) {
        out_format(entries, OUT_COUNT, out_count(t->places - t->capacity));
        snprintf(more, sizeof more, " and %s in the stash", entries);
    }
    snprintf(table, sizeof table, "%s entries: %s bucket%s of %s slots%s; %s%s; %u-byte values; %s of memory",
             out_format(entries, OUT_COUNT, out_count(t->capacity)),
             out_format(buckets, OUT_COUNT, out_count(t->buckets)), t->buckets == 1 ? "" : "s",
             out_format(slots, OUT_COUNT, out_count(t->slots)), more, t->policy,
             hd_params_number_of_table(t, "dual") ? ", dual buckets" : "", t->value_bytes,
             out_format(memory, OUT_BYTES, out_count(t->memory_bytes)));
    out_fact(o, "case", "case", OUT_TEXT, out_text(text));
    out_fact(o, "table", "table", OUT_TEXT, out_text(table));
    out_fact(o, "capacity", NULL, OUT_COUNT, out_count(t->capacity));
    out_fact(o, "places", NULL, OUT_COUNT, out_count(t->places));
    out_fact(o, "near_value_bytes", t->values_host_bytes ? "near" : NULL, OUT_BYTES, out_count(t->values_device_bytes));
    out_fact(o, "far_value_bytes", t->values_host_bytes ? "far" : NULL, OUT_BYTES, out_count(t->values_host_bytes));
    out_fact(o, "requests", "requests", OUT_COUNT, out_count(r->requests));
    out_fact(o, "hit_rate", "hit rate", OUT_PERCENT, out_real(hit_rate(&r->counters)));
    out_fact(o, "size", "entries", OUT_COUNT, out_count(r->size));
    out_fact(o, "load_factor", "load factor", OUT_PERCENT, out_real((double)r->size / (double)t->places));
    out_fact(o, "evicted", "evicted", OUT_COUNT, out_count(r->counters.outcome[HD_EVICTED]));
    out_fact(o, "refused", "refused", OUT_COUNT, out_count(r->counters.outcome[HD_REFUSED]));
    out_fact(o, "requests_per_s", "throughput", OUT_RATE,
             r->seconds > 0 ? out_real((double)r->requests / r->seconds) : out_none());
    out_fact(o, "time_s", NULL, OUT_SECONDS, out_real(r->seconds));
    out_fact(o, "policy_flags", *quote_of(t->policy) ? "policy's flags" : NULL, OUT_TEXT, out_text(t->policy_flags));
    out_fact(o, "ran", NULL, OUT_TEXT, r->ran ? out_text(r->ran) : out_none());
    out_fact(o, "contents_hash", "contents", OUT_HEX, out_count(r->contents_hash));
}

static void verdict(out *o, const hd_case *c, const hd_run_report *r)
{
    char judged[OUT_CELL], text[OUT_CELL + 64];
    const char *say = "not asked for: add --judge";
    if (c->judge && *r->wrong)
        say = "WRONG: see the last line";
    else if (c->judge) {
        snprintf(text, sizeof text, "%s items, all truthful%s", out_format(judged, OUT_COUNT, out_count(r->judged)),
                 hd_oracle_restates(c->policy) ? "" : "; the policy's scores were taken at its word");
        say = text;
    }
    out_fact(o, "verdict", "judge", OUT_TEXT, out_text(say));
    out_fact(o, "judged", NULL, OUT_COUNT, out_count(r->judged));
    out_fact(o, "wrong", NULL, OUT_TEXT, *r->wrong ? out_text(r->wrong) : out_none());
}

static void outcomes(out *o, tool_form form, const hd_counters *c)
{
    char bar[PICTURE_BYTES];
    for (int i = 0; i < HD_OUTCOME_COUNT; i++) {
        double share = c->items ? (double)c->outcome[i] / (double)c->items : 0;
        if (!c->outcome[i] && form == TOOL_TEXT) continue;
        out_row(o, (const out_value[]){ out_text(hd_outcome_name((hd_outcome)i)), out_count(c->outcome[i]),
                                        out_real(share), out_text(picture_bar(bar, share, BAR, 1)),
                                        out_text(outcome_means((hd_outcome)i)) });
    }
}

/* The hit rate from the beginning of the run to its end, as one line of small bars. */
static void history(out *o, const hd_case *c, const hd_run_report *r)
{
    double rate[HD_RUN_WINDOWS], top = 0;
    size_t n = 0;
    for (int i = 0; i < HD_RUN_WINDOWS; i++) {
        if (!r->window[i].items) continue;
        rate[n] = (double)r->window[i].hits / (double)r->window[i].items;
        if (rate[n] > top) top = rate[n];
        n++;
    }
    char line[PICTURE_BYTES], first[OUT_CELL], last[OUT_CELL];
    if (n < 8 || c->batches < HD_RUN_WINDOWS) return;
    out_note(o, "\nHit rate over time  %s  %s at first, %s at last\n", picture_spark(line, rate, n, top),
             out_format(first, OUT_PERCENT, out_real(rate[0])), out_format(last, OUT_PERCENT, out_real(rate[n - 1])));
}

/* The same, as numbers, for plots. */
static json_t *windows_json(const hd_run_report *r)
{
    json_t *list = json_array();
    for (int i = 0; i < HD_RUN_WINDOWS; i++)
        json_array_append_new(list, json_pack("{s:I, s:I}", "items", (json_int_t)r->window[i].items, "hits",
                                              (json_int_t)r->window[i].hits));
    return list;
}

/* ---- What to try next ------------------------------------------------------------------------ */

static void hints(out *o, const hd_case *c)
{
    enum { JUDGED = 64 }; /* batches: the judge looks at everything, and takes its time */
    char other[CASE_BYTES], fewer[CASE_BYTES];
    const char *quote = quote_of(c->policy);
    hd_case next = *c;
    strcpy(next.policy, strcmp(c->policy, "lfu") == 0 ? "lru" : "lfu");
    hd_case_print(&next, other, sizeof other);
    next = *c;
    if (next.batches > JUDGED) next.batches = JUDGED;
    hd_case_print(&next, fewer, sizeof fewer);
    if (c->judge && !has_scores(c->policy) && !judge_design_named(c->design)) return;
    out_note(o, "\nTry next\n");
    if (has_scores(c->policy))
        out_note(o, "  the same requests, another policy:\n    %s run %s\n", with_command(), other);
    if (!c->judge)
        out_note(o, "  does an independent map agree with every answer?\n    %s run --judge %s%s%s\n", with_command(),
                 quote, fewer, quote);
    if (has_scores(c->policy))
        out_note(o, "  how much would a larger table help?\n    %s sweep %s --table\n", with_command(), c->keys);
    else if (judge_design_named(c->design))
        out_note(o, "  what do the GPU's kernels make of these requests?\n    %s run --kernels %s%s%s\n",
                 with_command(), quote, fewer, quote);
}

static out *report(const tool_line *line, const hd_case *c, const char *text, const hd_run_report *r)
{
    static out_column column[] = {
        { "outcome", "outcome", OUT_TEXT },
        { "items", "items", OUT_COUNT },
        { "share", "share", OUT_PERCENT },
        { "bar", "", OUT_TEXT },
        { "means", "what it means for a key", OUT_TEXT },
    };
    out *o = out_open(line->form, "heddle.run/1", column, sizeof column / sizeof *column);
    facts(o, text, r);
    verdict(o, c, r);
    outcomes(o, line->form, &r->counters);
    history(o, c, r);
    out_member(o, "windows", windows_json(r));
    return o;
}

/* ---- The kernels ----------------------------------------------------------------------------- */

static hd_status run_kernels(const hd_case *c, all_kernels *t)
{
    progress p;
    progress_begin(&p, "kernels", "done");
    input_spool(); /* the reference and each kernel read the keys */
    hd_status s = all_kernels_run(c, progress_call, &p, t);
    progress_end(&p);
    return s;
}

/* Ends a report, and draws it where that is asked for. */
static int plot_close(out *o, const char *plot) { return out_close(o, plot ? out_plot(o, plot) : TOOL_OK); }

/* Only the kernels: --kernels. */
static int kernels_alone(const tool_line *line, const hd_case *c, const char *text, const char *plot)
{
    all_kernels t;
    hd_status s = run_kernels(c, &t);
    int code = s ? tool_fail(s) : tool_stopped() ? TOOL_STOPPED : TOOL_OK;
    if (code == TOOL_OK && t.ran) code = plot_close(all_kernels_report(line->form, text, &t), plot);
    if (code == TOOL_OK) code = all_kernels_verdict(&t);
    all_kernels_close(&t);
    return code;
}

/* After the report, for people: the kernels that this workload takes, and what to try next. */
static int kernels_too(const hd_case *c)
{
    all_kernels t;
    fflush(stdout);
    hd_status s = run_kernels(c, &t);
    int code = s ? tool_fail(s) : tool_stopped() ? TOOL_STOPPED : TOOL_OK;
    if (code == TOOL_OK) {
        char asked[OUT_CELL];
        printf("\nThe last %s of them again, by the GPU's kernels on the host SIMT machine\n",
               out_format(asked, OUT_COUNT, out_count(t.asked)));
        out *o = all_kernels_report(TOOL_TEXT, NULL, &t);
        if (!t.wrong) hints(o, c);
        code = out_close(o, TOOL_OK);
        if (code == TOOL_OK) code = all_kernels_verdict(&t);
    }
    all_kernels_close(&t);
    return code;
}

/* Runs the case; TOOL_OK, or it was said what is wrong. */
static int run_case(const hd_case *c, hd_run_report *r)
{
    progress p;
    memset(r, 0, sizeof *r);
    progress_begin(&p, "running", "requests");
    hd_status s = hd_case_run(c, progress_call, &p, r);
    progress_end(&p);
    if (tool_stopped()) return TOOL_STOPPED;
    return s ? tool_fail(s) : TOOL_OK;
}

/* The case of the command line, of `text`; without one, that of the first tour. */
static int read_case(const tool_line *line, const run_options *opt, hd_case *c, char *text)
{
    const char *first = opt->kernels ? first_all_kernels : first_case;
    hd_status s = hd_case_parse(line->words ? text : first, c);
    if (s) return tool_fail(s);
    if (opt->plot && (plot_file("--plot", opt->plot) || tool_apart_words("--plot", opt->plot, line))) return TOOL_USAGE;
    if (c->batches == 0) return tool_say(TOOL_USAGE, "batch: 0 batches run nothing");
    if (opt->junit && (tool_apart_words("--junit", opt->junit, line) ||
                       tool_apart_outputs("--junit", opt->junit, "--plot", opt->plot)))
        return TOOL_USAGE;
    if (opt->judge) c->judge = true;
    if (opt->junit && (!c->judge || opt->kernels))
        return tool_say(TOOL_USAGE, "--junit: it tells what --judge checked, and --judge is not there");
    hd_case_print(c, text, CASE_BYTES);
    hd_config config = hd_case_config(c);
    return tool_fits("capacity", config.capacity, config.value_bytes);
}

static int run(tool_line *line, int argc, char **argv)
{
    run_options opt = { .judge = false };
    char text[CASE_BYTES];
    int code = tool_parse(line, argc, argv, &opt);
    if (code < 0 && words_join(line, text)) code = TOOL_USAGE;
    if (code >= 0) return code;

    hd_case c;
    code = read_case(line, &opt, &c, text);
    if (code) return code;
    if (opt.kernels) return kernels_alone(line, &c, text, opt.plot);

    hd_run_report r;
    junit *checks;
    code = junit_open(opt.junit, &checks);
    if (code) return code;
    code = run_case(&c, &r);
    if (code) return junit_close(checks, code);
    junit_check(checks, "heddle run", text, r.seconds, *r.wrong ? r.wrong : NULL, NULL);
    out *o = report(line, &c, text, &r);
    bool tour = line->words == 0 && line->form == TOOL_TEXT && !*r.wrong;
    if (!tour && !*r.wrong) hints(o, &c);
    code = plot_close(o, opt.plot);
    if (*r.wrong) code = tool_say(TOOL_DIFFERS, "%s; again: %s run %s", r.wrong, with_command(), text);
    if (*r.wrong) annotation_of_check(r.wrong, NULL);
    code = junit_close(checks, code);
    return tour && code == TOOL_OK ? kernels_too(&c) : code;
}

static const char doc[] =
    "CASE is a line that names everything a run depends on: DESIGN.OPERATION.KERNEL, then name=value in any order; "
    "what is left out "
    "has its default. Tests print such lines when they fail. The operation may be one of heddle list operations, serve "
    "(reads are "
    "find_or_insert, writes insert_or_assign) or mix (all operations). Without a CASE a cache serves keys that follow "
    "Zipf's law.\n"
    "\n"
    "With --kernels the reference fills the table with the case's requests, and each of the GPU's kernels then runs "
    "the last batch of them (at "
    "most 4,096) from that same table: on the host SIMT machine, which counts what a GPU's memory would be asked for, "
    "warps in turn; then a quarter of it "
    "again, lanes in random order under the race detector. Both are held against the reference item by item. mix "
    "stands for every "
    "operation, and so does no CASE at all.\n"
    "\n"
    "Exit code 1: the judge found an untruthful answer, or a kernel disagrees; the last line shows it again.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle run\n"
    "  heddle run hkv.serve.ref policy=lfu capacity=64Ki keys=zipf:0.99,1Mi batch=4096x64 --plot run.svg\n"
    "  heddle run hkv.mix.ref buckets=4 slots=8 batch=64x50 keys=uniform:100 seed=2 --judge\n"
    "  heddle run hkv.insert_or_assign.ref keys=uniform:100000 --json\n"
    "  heddle run --kernels hkv.find.ref capacity=8Ki keys=zipf:0.99,64Ki batch=512x64\n"
    "  heddle run --kernels\n";

const tool_verb verb_run = { "run",  "[CASE]", "run a case and say what happened; without one, a first tour",
                             doc,    0,        64,
                             option, NULL,     run };
