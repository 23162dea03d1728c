/* SPDX-License-Identifier: Apache-2.0
 *
 * explain_ref.c - a case of the reference, DESIGN.OP.ref: how it decides about each item of the batch, and what it
 * changes.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "judge/rules.h"
#include "tools/case_run.h"
#include "tools/explain_steps.h"

typedef struct reference_told {
    char text[CASE_RUN_TEXT]; /* the case, complete */
    fixture *s;
    fixture_kernel kernel; /* of the fixture; it does not run */
    judge_moment before, after;
    judge_steps steps;
    explain_steps x;
    char wrong[STEP_NOTE]; /* "": the steps are what happened */
} reference_told;

static bool is_reference(const char *word)
{
    size_t n = strlen(word);
    return n > 4 && strcmp(word + n - 4, ".ref") == 0 && !strchr(word, '=');
}

/* A fixture of the case. A kernel of its design stands in for the reference, which fixtures do not run. */
static hd_status open_fixture(reference_told *p, hd_case *c)
{
    hd_op op;
    const judge_design *d = judge_design_of(c);
    if (!d) return HD_EINVAL;
    if (!fixture_op_named(c->op, &op)) return hd_fail(HD_EINVAL, "case: it is one operation, not '%s'", c->op);
    if (op != JUDGE_MIXED && !judge_ops[op].keyed) return hd_fail(HD_EINVAL, "case: operation %s has no items", c->op);
    case_run_complete(d, false, 1, c);
    hd_case_print(c, p->text, sizeof p->text);
    for (uint32_t row = 0; fixture_row_name(d, row); row++) {
        if (!fixture_runs(d, row, op) || fixture_unsupported(d, row, c)) continue;
        p->kernel = fixture_kernel_at(d, row, 32, 1);
        snprintf(c->kernel, sizeof c->kernel, "%s", fixture_row_name(d, row));
        const fixture_kernel *const kernels[] = { &p->kernel };
        return fixture_open(c, kernels, 1, &p->s);
    }
    return hd_fail(HD_EINVAL, "case: no table of this shape runs %s", c->op);
}

static int open_all(reference_told *p, const tool_line *line)
{
    hd_case c[FIXTURE_PARTS];
    uint32_t parts;
    char text[CASE_RUN_TEXT];
    int code = case_run_words(line->word, line->words, text);
    if (code < 0) code = case_run_parse(text, c, &parts);
    if (code < 0 && parts > 1) code = tool_say(TOOL_USAGE, "CASE: the reference runs one batch at a time");
    if (code >= 0) return code;
    hd_status s = open_fixture(p, &c[0]);
    if (s) return tool_fail(s);
    code = explain_steps_fit(fixture_places(p->s->design, p->s->table));
    if (code) return code;
    s = judge_moment_open(&p->before, p->s);
    if (!s) s = judge_moment_open(&p->after, p->s);
    return s ? tool_fail(s) : TOOL_OK;
}

static void close_all(reference_told *p)
{
    judge_steps_close(&p->steps);
    judge_moment_close(&p->before);
    judge_moment_close(&p->after);
    fixture_close(p->s);
}

static void begin(reference_told *p, const tool_line *line)
{
    explain_told *to = p->x.to;
    char title[64];
    judge_moment_after(&p->before, p->s, 0);
    p->x.design = p->s->design;
    p->x.table = p->before.table;
    p->x.items = true;
    snprintf(title, sizeof title, "The reference: %s", fixture_op_name(p->s->part[0].batch.op));
    explain_steps_open(&p->x, line, "heddle.explain.reference/1");
    out_fact(to->report, "case", "case", OUT_TEXT, out_text(p->text));
    if (!to->wants_story) return;
    to->steps = story_open(title, explain_command(line));
    story_fact(to->steps, "case", "%s", p->text);
    explain_steps_story(&p->x, p->before.table);
}

static void tell_outcome(reference_told *p, uint64_t i)
{
    const hd_batch *b = &p->s->part[0].batch;
    hd_outcome o = (hd_outcome)b->outcome[i];
    judge_step *step = judge_steps_add(&p->steps, "ends");
    snprintf(step->after, sizeof step->after, "%s", hd_outcome_name(o));
    judge_step_note(step, "The outcome of key %" PRIx64 " is %s.", b->key[i], hd_outcome_name(o));
    if (i) return;
    out_fact(p->x.to->report, "key", "key", OUT_HEX, out_count(b->key[0]));
    out_fact(p->x.to->report, "outcome", "outcome", OUT_TEXT, out_text(hd_outcome_name(o)));
}

static hd_status tell_items(reference_told *p)
{
    const judge_design *d = p->s->design;
    for (uint64_t i = 0; i < p->s->part[0].batch.n && !tool_stopped(); i++) {
        uint64_t first = p->steps.steps;
        judge_moment_after(&p->before, p->s, i);
        judge_moment_after(&p->after, p->s, i + 1);
        hd_status s = judge_steps_of_item(&p->steps, p->s, i, p->before.table, p->after.table);
        if (s) return s;
        if (!*p->wrong) judge_steps_wrong(&p->steps, first, d, p->before.table, p->after.table, p->wrong);
        tell_outcome(p, i);
        explain_steps_tell(&p->x, &p->steps, first, i);
    }
    return HD_OK;
}

/* The buckets that differ, side by side. */
static void draw(const reference_told *p)
{
    static char text[1 << 16];
    fixture_draw(p->s->design, p->before.table, "before", p->after.table, "after", text, sizeof text);
    out_note(p->x.to->report, "\n%s", text);
}

static int tell(const tool_line *line, explain_told *told)
{
    static reference_told p;
    memset(&p, 0, sizeof p);
    p.x.to = told;
    int code = open_all(&p, line);
    if (code) return close_all(&p), code;
    begin(&p, line);
    hd_status s = tell_items(&p);
    judge_moment_after(&p.before, p.s, 0);
    if (!s) draw(&p);
    out_fact(told->report, "wrong", *p.wrong ? "wrong" : NULL, OUT_TEXT, *p.wrong ? out_text(p.wrong) : out_none());
    code = s ? tool_fail(s) : tool_stopped() ? TOOL_STOPPED : *p.wrong ? TOOL_DIFFERS : TOOL_OK;
    close_all(&p);
    return code;
}

const explain_subject explain_ref = { "DESIGN.OP.ref [FIELD=VALUE ...]",
                                      "the reference: how it searches, chooses, admits and writes, item by item",
                                      is_reference, tell };
