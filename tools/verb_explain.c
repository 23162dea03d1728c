/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_explain.c - one operation, step by step: what the lanes of a kernel read, vote, claim and publish.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/cells.h"
#include "judge/crash.h"
#include "judge/rules.h"
#include "judge/story_run.h"
#include "tools/case_run.h"
#include "tools/explain.h"
#include "tools/page.h"
#include "tools/with.h"

typedef struct explain_options {
    uint64_t threads, blocks;
    const char *beside, *html, *crash;
    bool all;
} explain_options;

static const tool_option option[] = {
    { "threads", 't', "N", "per block, whole warps (32)", TOOL_RANGE(explain_options, threads, 32, 1024) },
    { "blocks", 'B', "N", "at most (1)", TOOL_RANGE(explain_options, blocks, 1, 64) },
    { "beside", 'b', "KERNEL", "--html: the story of another kernel stands beside it",
      TOOL_FIELD(explain_options, beside) },
    { "html", 'H', "FILE", "write the story as a page for a browser", TOOL_FIELD(explain_options, html) },
    { "crash", 'c', "CRASH", "crash as sched --crash names it: 7,0:1 is before event 7, and word 0 loses a store",
      TOOL_FIELD(explain_options, crash) },
    { "lanes", 'l', NULL, "a row for every lane, not for lanes that do the same", TOOL_FIELD(explain_options, all) },
    { .name = NULL },
};

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Where a step is; of an item that takes effect, the outcome. */
static out_value where(const simt_event *e, bool effect, const char *place)
{
    if (!effect) return e->p ? out_text(place) : out_none();
    return e->before == JUDGE_MOVE ? out_none() : out_text(hd_outcome_name((hd_outcome)e->after));
}

/* The lanes' operation; whether a crash loses what one of them stored. */
static void operation_of(const simt_event *e, size_t n, const simt_crash *crash, char *text, size_t bytes)
{
    size_t i = 0;
    while (crash && i < n && !simt_crash_loses(crash, &e[i])) i++;
    snprintf(text, bytes, "%s%s", e->what, crash && i < n ? ", lost" : "");
}

static void tell(out *o, const case_run *x, bool all, const simt_crash *crash)
{
    size_t n;
    const simt_event *e = simt_machine_events(x->m, &n);
    for (size_t i = 0, end; i < n; i = end) {
        char who[128] = "", place[128], how[32];
        end = event_group_end(e, n, i, all);
        const event_common same = event_common_of(e + i, end - i);
        event_lanes(same.lanes, who, sizeof who);
        operation_of(e + i, end - i, crash, how, sizeof how);
        if (e[i].p) {
            case_run_location(x, e[i].p, place, sizeof place);
            if (!same.place) strncat(place, " and on", sizeof place - strlen(place) - 1);
        }
        bool effect = strcmp(e[i].what, "takes effect") == 0, reads = strncmp(e[i].what, "ld", 2) == 0;
        out_row(o, (const out_value[]){
                       out_count(e[i].step), out_count(e[i].block * 1000 + e[i].thread / 32), out_text(who),
                       out_text(event_meaning(&e[i])), where(&e[i], effect, place), out_text(how),
                       effect || !same.before ? out_none() : out_count(case_run_shown(x, e[i].p, e[i].before)),
                       effect || reads || !same.after ? out_none() : out_count(case_run_shown(x, e[i].p, e[i].after)),
                       out_text(simt_site_name(e[i].site)) });
    }
}

/* ---- The story ------------------------------------------------------------------------------- */

enum { TITLE = 160, COMMAND = CASE_RUN_TEXT + 64 };

static simt_config in_turn(void)
{
    simt_config c = simt_config_default();
    c.strategy = SIMT_ROUND_ROBIN;
    c.unit = SIMT_BY_WARP;
    c.trace = c.meter = true;
    c.shared_bytes = 48 << 10;
    return c;
}

/* The item's key, if the batch is one of a single item. */
static const hd_batch *one_item(const case_run *x)
{
    const hd_batch *b = &x->s->part[0].batch;
    return judge_keyed_batch(b) && b->n == 1 ? b : NULL;
}

/* "insert_or_assign, 1 item, kernel tlpv1: evicted" */
static void title_of(const case_run *x, char title[TITLE])
{
    const hd_batch *one = one_item(x);
    uint64_t n = x->s->part[0].batch.n;
    snprintf(title, TITLE, "%s, %" PRIu64 " item%s, kernel %s%s%s", x->c[0].op, n, n == 1 ? "" : "s", x->c[0].kernel,
             one ? ": " : "", one ? hd_outcome_name((hd_outcome)one->outcome[0]) : "");
}

/* The story of the last run; NULL: no memory. */
static story *story_of(const case_run *x, const explain_options *o, const char *why, const simt_crash *crash)
{
    char title[TITLE], command[COMMAND], key[32];
    title_of(x, title);
    snprintf(command, sizeof command, "%s explain '%s'%s", with_command(), x->text, o->all ? " --lanes" : "");
    story *st = story_open(title, command);
    const run_told told = { .s = x->s, .m = x->m, .all = true, .apart = o->all, .crash = crash };
    const hd_batch *one = one_item(x);
    story_about(
        st,
        "A simulator ran the kernel, and recorded each access. Lanes of a warp that do the same are one step. Cells "
        "that a step reads have an outline; cells that it changes are filled.");
    story_fact(st, "case", "%s", x->text);
    if (one) {
        story_fact(st, "key", "%s", cell_text("key", (const uint8_t *)one->key, 8, key, sizeof key));
        story_fact(st, "outcome", "%s", hd_outcome_name((hd_outcome)one->outcome[0]));
    }
    if (st && !story_of_run(st, &told)) {
        story_close(st);
        return NULL;
    }
    story_fact(st, "atomic operations", "%" PRIu64, simt_machine_totals(x->m).atomics);
    if (why) story_finding(st, why, "the comparison with the reference", NULL);
    return st;
}

/* The story of another kernel on the same table and batch; NULL: it was said why there is none. */
static story *story_beside(const hd_case *c, const explain_options *o)
{
    case_run x;
    const char *why;
    const simt_config how = in_turn();
    hd_case other = *c;
    snprintf(other.kernel, sizeof other.kernel, "%s", o->beside);
    if (case_run_open(&x, &other, 1, 1, (uint32_t)o->threads, (uint32_t)o->blocks) >= 0) return NULL;
    story *st = NULL;
    if (comparison_run(x.a, x.m, &how, &why))
        tool_say(TOOL_SYSTEM, "--beside: %s", hd_why());
    else if (!(st = story_of(&x, o, why, NULL)))
        tool_say(TOOL_SYSTEM, "no memory for a story");
    case_run_close(&x);
    return st;
}

/* Ends the report with the stories that were asked for. */
static int close_with_stories(out *r, int code, const tool_line *line, const case_run *x, const explain_options *o,
                              const char *why, const simt_crash *crash)
{
    char title[TITLE];
    story *s[2] = { NULL, NULL };
    if (line->form != TOOL_JSON && !o->html) return out_close(r, code);
    s[0] = story_of(x, o, why, crash);
    snprintf(title, sizeof title, "heddle explain %s.%s.%s", x->c[0].design, x->c[0].op, x->c[0].kernel);
    if (!s[0]) {
        out_drop(r);
        return tool_say(TOOL_SYSTEM, "no memory for a story");
    }
    if (!o->beside) return page_close_report(r, code, o->html, title, s, 1);
    s[1] = story_beside(&x->c[0], o);
    if (s[1]) return page_close_report(r, code, o->html, title, s, 2);
    story_close(s[0]);
    out_drop(r);
    return TOOL_USAGE;
}

/* ---- The verb -------------------------------------------------------------------------------- */

/* Runs the case, with the crash that is asked for. */
static hd_status run_case(const case_run *x, const explain_options *o, simt_exploration *e)
{
    simt_decision lost[64];
    simt_recovery how;
    simt_config c = in_turn();
    const simt_trial trial = comparison_trial(x->a);
    c.lost_n = sizeof lost / sizeof *lost;
    hd_status status = o->crash ? crash_recovery(x->a, &how) : HD_OK;
    if (!status && o->crash) status = simt_crash_parse(o->crash, &c.crash_at, lost, &c.lost_n);
    c.lost = lost;
    c.replayed = c.strategy;
    c.strategy = SIMT_REPLAY;
    return status ? status : simt_explore_crashes(x->m, &trial, o->crash ? &how : NULL, &c, 1, 0, 0, e);
}

/* A subject that is no kernel. */
static int run_subject(const explain_subject *of, const tool_line *line, const explain_options *o)
{
    explain_told told = { line->form == TOOL_JSON || o->html, NULL, NULL };
    int code = tool_apart_words("--html", o->html, line);
    if (!code && o->html) code = tool_writable("--html", o->html);
    if (o->beside) code = tool_say(TOOL_USAGE, "--beside: it is another kernel, beside that of a case");
    if (!code) code = of->tell(line, &told);
    bool good = code == TOOL_OK || code == TOOL_DIFFERS;
    if (good && told.wants_story)
        return page_close_report(told.report, code, o->html, explain_command(line), &told.steps, 1);
    story_close(told.steps);
    if (good) return out_close(told.report, code);
    out_drop(told.report);
    return code;
}

/* A kernel beside another has the same table: one that both can run. */
static int take(case_run *x, const tool_line *line, const explain_options *o)
{
    case_run wider;
    int code = tool_apart_words("--html", o->html, line);
    if (code) return code;
    code = o->html ? tool_writable("--html", o->html) : -1;
    if (o->beside && !o->html) return tool_say(TOOL_USAGE, "--beside: it needs --html");
    if (code <= 0) code = case_run_take(x, line, 1, o->threads, o->blocks);
    const judge_design *d = code < 0 ? judge_design_of(&x->c[0]) : NULL;
    if (!d || !o->beside || case_run_wide(d, x->c[0].kernel) || !case_run_wide(d, o->beside)) return code;
    char text[CASE_RUN_TEXT];
    hd_case c[FIXTURE_PARTS];
    uint32_t parts;
    code = case_run_words(line->word, line->words, text);
    if (code < 0) code = case_run_parse(text, c, &parts);
    if (code < 0) {
        snprintf(c[0].kernel, sizeof c[0].kernel, "%s", o->beside);
        code = case_run_open(&wider, c, 1, 1, (uint32_t)o->threads, (uint32_t)o->blocks);
    }
    if (code >= 0) {
        case_run_close(x);
        return code;
    }
    code = case_run_parse(wider.text, c, &parts); /* complete, so that it stays wide */
    memcpy(c[0].kernel, x->c[0].kernel, sizeof c[0].kernel);
    case_run_close(&wider);
    case_run_close(x);
    if (code >= 0) return code;
    return case_run_open(x, c, 1, 1, (uint32_t)o->threads, (uint32_t)o->blocks);
}

static const char doc[] =
    "Runs a batch, of one item unless the case says otherwise, on the host machine, warps in turn and their lanes "
    "together, and shows every "
    "step: which lanes, what they read, how they vote, who claims and publishes what, and where in the kernel's text.\n"
    "\n"
    "Or explains another subject. SUBJECT is one of these; the words in brackets may be left out:\n";
static const char examples[] =
    "\n"
    "EXAMPLES\n"
    "  heddle explain hkv.insert_or_assign.tlpv1 seed=3\n"
    "  heddle explain hkv.find.warp slots=16 seed=5\n"
    "  heddle explain hkv.insert_or_assign.tlpv1 --html evict.html\n"
    "  heddle explain hkv.insert_or_assign.tlpv1 slots=128 --beside coalesced --html evict.html\n"
    "  heddle explain hkv.insert_or_assign.ref dual=1 seed=7\n"
    "  heddle explain policy=epoch_lfu epoch_every=8\n"
    "  heddle explain 'policy=expr:on_insert=now;on_hit=now+9' --html policy.html\n"
    "  heddle gen zipf:0.9,200 --requests 5000 -o explain.oracleGeneral\n"
    "  heddle explain trace=explain.oracleGeneral bucket=2 buckets=4\n"
    "  heddle explain hive.insert_or_assign.ref buckets=4 keys=uniform:1000 seed=123\n"
    "  heddle explain grow=hive seed=2\n"
    "  heddle explain lock=group3 batches=RRUUIR\n";

static const explain_subject *const subjects[] = { &explain_ref,  &explain_policy, &explain_trace,
                                                   &explain_grow, &explain_lock,   NULL };

/* The subject that the first word of the command line begins; NULL: the words are a case of a kernel. */
static const explain_subject *subject_of(const char *word)
{
    for (size_t i = 0; subjects[i]; i++)
        if (subjects[i]->is(word)) return subjects[i];
    return NULL;
}

/* The verb with the whole of its --help, to which each subject adds its lines. */
static const tool_verb *verb_with_subjects(const tool_verb *v)
{
    static char text[8192];
    static tool_verb whole;
    size_t used = (size_t)snprintf(text, sizeof text, "%s", doc);
    for (size_t i = 0; subjects[i] && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\n  %s\n      %s\n", subjects[i]->words,
                                 subjects[i]->what);
    if (used < sizeof text) snprintf(text + used, sizeof text - used, "%s", examples);
    whole = *v;
    whole.doc = text;
    return &whole;
}

static int run(tool_line *line, int argc, char **argv)
{
    static const out_column column[] = {
        { "step", "step", OUT_PLAIN },        { "warp", NULL, OUT_PLAIN },    { "lanes", "lanes", OUT_TEXT },
        { "does", "what they do", OUT_TEXT }, { "place", "where", OUT_TEXT }, { "operation", "how", OUT_TEXT },
        { "before", "was", OUT_HEX },         { "after", "is", OUT_HEX },     { "site", "in the text", OUT_TEXT },
    };
    explain_options o = { .threads = 32, .blocks = 1 };
    case_run x;
    line->verb = verb_with_subjects(line->verb);
    int code = tool_parse(line, argc, argv, &o);
    const explain_subject *of = code < 0 ? subject_of(line->word[0]) : NULL;
    if (of) return run_subject(of, line, &o);
    if (code < 0) code = take(&x, line, &o);
    if (code >= 0) return code;
    simt_exploration e;
    hd_status s = run_case(&x, &o, &e);
    const char *why = !s && e.wrong ? e.finding.story : NULL;
    out *r = out_open(line->form, "heddle.explain/1", column, 9);
    const hd_batch *b = &x.s->part[0].batch;
    out_fact(r, "case", "case", OUT_TEXT, out_text(x.text));
    if (judge_ops[b->op].keyed && b->n) {
        out_fact(r, "key", "key", OUT_HEX, out_count(b->key[0]));
        out_fact(r, "outcome", "outcome", OUT_TEXT, out_text(hd_outcome_name((hd_outcome)b->outcome[0])));
    }
    out_fact(r, "wrong", why ? "wrong" : NULL, OUT_TEXT, why ? out_text(why) : out_none());
    tell(r, &x, o.all, s ? NULL : e.crash);
    code = s ? tool_fail(s) : close_with_stories(r, why ? TOOL_DIFFERS : TOOL_OK, line, &x, &o, why, e.crash);
    if (s)
        out_drop(r);
    else
        simt_exploration_free(x.m, &e);
    case_run_close(&x);
    return code;
}

const tool_verb verb_explain = {
    "explain", "CASE|SUBJECT", "one operation, a policy, a bucket or a lock, step by step", doc, 1, 64, option, NULL,
    run
};
