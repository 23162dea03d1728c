/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_explain.c - one operation, step by step: what the lanes of a kernel read, vote, claim and publish.
 */
#include <stdio.h>
#include <string.h>

#include "judge/rules.h"
#include "tools/output.h"
#include "tools/case_run.h"
#include "tools/explain.h"

typedef struct explain_options {
    uint64_t threads, blocks;
    bool all;
} explain_options;

static const tool_option option[] = {
    { "threads", 't', "N", "per block, whole warps (32)", TOOL_RANGE(explain_options, threads, 32, 1024) },
    { "blocks", 'B', "N", "at most (1)", TOOL_RANGE(explain_options, blocks, 1, 64) },
    { "lanes", 'l', NULL, "a row for every lane, not for lanes that do the same", TOOL_FIELD(explain_options, all) },
    { .name = NULL },
};

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* What a step is, in a word for people. */
static const char *meaning(const simt_event *e)
{
    if (strcmp(e->what, "takes effect") == 0) return e->before == JUDGE_MOVE ? "moves an entry" : "takes effect";
    if (!e->p)
        return strcmp(e->what, "sync") == 0 || starts(e->what, "sync") ? "meets its tile"
               : starts(e->what, "fence")                              ? "orders memory"
                                                                       : "votes";
    if (starts(e->what, "ld")) return "reads";
    if (strcmp(e->what, "strel") == 0) return "publishes";
    if (starts(e->what, "st")) return "writes";
    return strcmp(e->what, "cas") == 0 ? (e->after != e->before ? "claims" : "fails to claim") : "counts";
}

/* "0", "0-31" or "0 3 7": lanes as bits. */
static void name_lanes(uint32_t lanes, char *text, size_t bytes)
{
    size_t used = 0;
    for (uint32_t i = 0; i < 32 && used < bytes; i++) {
        if (!(lanes >> i & 1)) continue;
        uint32_t last = i;
        while (last < 31 && lanes >> (last + 1) & 1) last++;
        used += (size_t)(last > i ? snprintf(text + used, bytes - used, "%s%u-%u", used ? " " : "", i, last)
                                  : snprintf(text + used, bytes - used, "%s%u", used ? " " : "", i));
        i = last;
    }
}

/* Consecutive steps of one site are one row: the lanes of a warp go together. */
static size_t group_end(const simt_event *e, size_t n, size_t i, bool all)
{
    size_t end = i + 1;
    while (!all && end < n && e[end].site == e[i].site && e[end].what == e[i].what && e[end].block == e[i].block &&
           e[end].thread / 32 == e[i].thread / 32 && e[end].thread > e[end - 1].thread)
        end++;
    return end;
}

/* Where a step is; of an item that takes effect, the outcome. */
static out_value where(const simt_event *e, bool effect, const char *place)
{
    if (!effect) return e->p ? out_text(place) : out_none();
    return e->before == JUDGE_MOVE ? out_none() : out_text(hd_outcome_name((hd_outcome)e->after));
}

static void tell(out *o, const case_run *x, bool all)
{
    size_t n;
    const simt_event *e = simt_machine_events(x->m, &n);
    for (size_t i = 0, end; i < n; i = end) {
        uint32_t lanes = 0;
        bool same_place = true, same_before = true, same_after = true;
        char who[128] = "", place[128];
        end = group_end(e, n, i, all);
        for (size_t k = i; k < end; k++) {
            lanes |= 1u << e[k].thread % 32;
            same_place = same_place && e[k].p == e[i].p;
            same_before = same_before && e[k].before == e[i].before;
            same_after = same_after && e[k].after == e[i].after;
        }
        name_lanes(lanes, who, sizeof who);
        if (e[i].p) {
            case_run_location(x, e[i].p, place, sizeof place);
            if (!same_place) strncat(place, " and on", sizeof place - strlen(place) - 1);
        }
        bool effect = strcmp(e[i].what, "takes effect") == 0, reads = starts(e[i].what, "ld");
        out_row(o, (const out_value[]){
                       out_count(e[i].step), out_count(e[i].block * 1000 + e[i].thread / 32), out_text(who),
                       out_text(meaning(&e[i])), where(&e[i], effect, place), out_text(e[i].what),
                       effect || !same_before ? out_none() : out_count(case_run_shown(x, e[i].p, e[i].before)),
                       effect || reads || !same_after ? out_none() : out_count(case_run_shown(x, e[i].p, e[i].after)),
                       out_text(simt_site_name(e[i].site)) });
    }
}

/* ---- The verb -------------------------------------------------------------------------------- */

/* A subject that is no kernel. */
static int run_subject(const explain_subject *of, const tool_line *line)
{
    explain_told told = { line->form == TOOL_JSON, NULL, NULL };
    int code = of->tell(line, &told);
    bool good = code == TOOL_OK || code == TOOL_DIFFERS;
    if (good && told.wants_story) out_member(told.report, "story", story_json(told.steps));
    story_close(told.steps);
    if (good) return out_close(told.report, code);
    out_drop(told.report);
    return code;
}

static int run(tool_line *line, int argc, char **argv)
{
    static const out_column column[] = {
        { "step", "step", OUT_PLAIN },        { "warp", NULL, OUT_PLAIN },    { "lanes", "lanes", OUT_TEXT },
        { "does", "what they do", OUT_TEXT }, { "place", "where", OUT_TEXT }, { "operation", "how", OUT_TEXT },
        { "before", "was", OUT_HEX },         { "after", "is", OUT_HEX },     { "site", "in the text", OUT_TEXT },
    };
    explain_options o = { 32, 1, false };
    case_run x;
    int code = tool_parse(line, argc, argv, &o);
    const explain_subject *of = code < 0 ? explain_subject_of(line->word[0]) : NULL;
    if (of) return run_subject(of, line);
    if (code < 0) code = case_run_take(&x, line, 1, o.threads, o.blocks);
    if (code >= 0) return code;
    simt_config c = simt_config_default();
    c.strategy = SIMT_ROUND_ROBIN;
    c.unit = SIMT_BY_WARP;
    c.trace = true;
    c.shared_bytes = 48 << 10;
    const char *why;
    hd_status s = comparison_run(x.a, x.m, &c, &why);
    out *r = out_open(line->form, "heddle.explain/1", column, 9);
    const hd_batch *b = &x.s->part[0].batch;
    out_fact(r, "case", "case", OUT_TEXT, out_text(x.text));
    if (judge_ops[b->op].keyed && b->n) {
        out_fact(r, "key", "key", OUT_HEX, out_count(b->key[0]));
        out_fact(r, "outcome", "outcome", OUT_TEXT, out_text(hd_outcome_name((hd_outcome)b->outcome[0])));
    }
    out_fact(r, "wrong", why ? "wrong" : NULL, OUT_TEXT, why ? out_text(why) : out_none());
    tell(r, &x, o.all);
    code = s ? tool_fail(s) : why ? TOOL_DIFFERS : TOOL_OK;
    case_run_close(&x);
    return out_close(r, code);
}

static const char doc[] =
    "Runs a batch, of one item unless the case says otherwise, on the host machine, warps in turn and their lanes "
    "together, and shows every "
    "step: which lanes, what they read, how they vote, who claims and publishes what, and where in the kernel's text.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle explain hkv.insert_or_assign.tlpv1 seed=3\n"
    "  heddle explain hkv.find.warp slots=16 seed=5\n";

const tool_verb verb_explain = { "explain", "CASE", "one operation step by step, lane by lane", doc, 1, 64, option,
                                 NULL,      run };
