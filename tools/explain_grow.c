/* SPDX-License-Identifier: Apache-2.0
 *
 * explain_grow.c - a table grows by one bucket: which entries move to the new one, and which stay.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "tools/case_run.h"
#include "tools/explain_steps.h"

typedef struct growth_told {
    char text[CASE_RUN_TEXT];
    fixture *s;
    fixture_kernel kernel;
    judge_moment before;
    judge_steps steps;
    explain_steps x;
    char wrong[STEP_NOTE];
} growth_told;

static bool is_growth(const char *word) { return explain_value(word, "grow") != NULL; }

static int read_words(const tool_line *line, hd_case *c, uint64_t *to)
{
    char text[64];
    const char *n;
    snprintf(text, sizeof text, "%.16s.insert_or_assign.ref", explain_value(line->word[0], "grow"));
    hd_status s = hd_case_parse(text, c);
    int code = s ? tool_fail(s) : TOOL_OK;
    for (int i = 1; i < line->words && !code; i++)
        code = (n = explain_value(line->word[i], "to")) ? explain_number("to", n, 1, EXPLAIN_PLACES_MOST, to)
                                                        : explain_case_word(c, line->word[i]);
    return code;
}

static hd_status open_all(growth_told *p, hd_case *c, uint64_t *to)
{
    const judge_design *d = judge_design_of(c);
    if (!d) return HD_EINVAL;
    if (!d->resize) return hd_fail(HD_EINVAL, "grow: a table of design %s does not grow bucket by bucket", d->name);
    case_run_complete(d, false, 1, c);
    hd_case_print(c, p->text, sizeof p->text);
    p->kernel = fixture_kernel_at(d, 0, 32, 1);
    snprintf(c->kernel, sizeof c->kernel, "%s", fixture_row_name(d, 0));
    const fixture_kernel *const kernels[] = { &p->kernel };
    hd_status s = fixture_open(c, kernels, 1, &p->s);
    if (!s) s = judge_moment_open(&p->before, p->s);
    if (s) return s;
    judge_moment_after(&p->before, p->s, 0);
    if (!*to) *to = c->buckets + 1;
    if (*to <= c->buckets) return hd_fail(HD_EINVAL, "to: it is more than the %" PRIu64 " buckets", c->buckets);
    return fixture_resize(p->s, *to);
}

static void tell_all(growth_told *p, const tool_line *line, hd_status *s)
{
    explain_told *to = p->x.to;
    const judge_design *d = p->s->design;
    uint64_t moved = 0, n = 0;
    *s = judge_steps_of_change(&p->steps, d, p->before.table, p->s->table);
    judge_steps_wrong(&p->steps, 0, d, p->before.table, p->s->table, p->wrong);
    p->x.design = d;
    p->x.table = p->s->table;
    explain_steps_open(&p->x, line, "heddle.explain.growth/1");
    for (uint64_t i = 0; i < p->steps.steps; i++) moved += strcmp(p->steps.step[i].does, "moves") == 0;
    for (uint64_t b = 0; b < d->buckets(p->s->table); b++) n += fixture_entries(d, p->s->table, b);
    out_fact(to->report, "case", "case", OUT_TEXT, out_text(p->text));
    out_fact(to->report, "buckets", "buckets, with the stash's", OUT_COUNT, out_count(d->buckets(p->s->table)));
    out_fact(to->report, "entries", "entries", OUT_COUNT, out_count(n));
    out_fact(to->report, "moved", "moved", OUT_COUNT, out_count(moved));
    out_fact(to->report, "wrong", *p->wrong ? "wrong" : NULL, OUT_TEXT, *p->wrong ? out_text(p->wrong) : out_none());
    if (to->wants_story) {
        to->steps = story_open("A table grows", explain_command(line));
        story_fact(to->steps, "case", "%s", p->text);
        story_fact(to->steps, "moved", "%" PRIu64 " of %" PRIu64, moved, n);
        explain_steps_story(&p->x, p->before.table);
    }
    explain_steps_tell(&p->x, &p->steps, 0, UINT64_MAX);
}

static int tell(const tool_line *line, explain_told *told)
{
    static growth_told p;
    hd_case c;
    uint64_t to = 0;
    memset(&p, 0, sizeof p);
    p.x.to = told;
    int code = read_words(line, &c, &to);
    if (code) return code;
    hd_status s = open_all(&p, &c, &to);
    if (!s) code = explain_steps_fit(fixture_places(p.s->design, p.s->table));
    if (!s && !code) tell_all(&p, line, &s);
    if (s) code = tool_fail(s);
    if (!code && *p.wrong) code = TOOL_DIFFERS;
    judge_steps_close(&p.steps);
    judge_moment_close(&p.before);
    fixture_close(p.s);
    return code;
}

const explain_subject explain_grow = { "grow=DESIGN [buckets=N to=N FIELD=VALUE ...]",
                                       "a table that grows bucket by bucket: what a split moves, and what stays",
                                       is_growth, tell };
