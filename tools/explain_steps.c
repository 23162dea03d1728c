/* SPDX-License-Identifier: Apache-2.0
 *
 * explain_steps.c - steps of the reference as a report and as a story.
 */
#include "tools/explain_steps.h"

#include <inttypes.h>
#include <string.h>

int explain_steps_fit(uint64_t places)
{
    if (places <= EXPLAIN_PLACES_MOST) return TOOL_OK;
    return tool_say(TOOL_USAGE, "buckets, slots: a table of more than %d slots is not drawn", EXPLAIN_PLACES_MOST);
}

void explain_steps_open(explain_steps *x, const tool_line *line, const char *schema)
{
    static out_column column[7];
    const out_column all[7] = {
        { "item", x->items ? "item" : NULL, OUT_PLAIN },
        { "step", "step", OUT_PLAIN },
        { "does", "what it does", OUT_TEXT },
        { "place", "where", OUT_TEXT },
        { "before", NULL, OUT_TEXT },
        { "after", NULL, OUT_TEXT },
        { "note", "why", OUT_TEXT },
    };
    for (int i = 0; i < 7; i++) column[i] = all[i];
    x->to->report = out_open(line->form, schema, column, 7);
}

/* An entry in columns, of which a design may have fewer: "KEY score SCORE value VALUE", as the judge describes it. */
enum { OF_KEY, OF_SCORE, OF_VALUE, OF_ENTRY };
static const char *const entry_column[OF_ENTRY] = { "key", "score", "value" };

static void write_entry(const explain_steps *x, int panel, int row, const char *entry)
{
    char text[STEP_ENTRY], *cell[OF_ENTRY] = { text, NULL, NULL };
    snprintf(text, sizeof text, "%s", entry);
    for (int i = OF_SCORE; i < OF_ENTRY; i++) {
        char name[16];
        snprintf(name, sizeof name, " %s ", entry_column[i]);
        char *at = strstr(text, name);
        if (at) cell[i] = at + strlen(name);
    }
    for (int i = OF_SCORE; i < OF_ENTRY; i++)
        if (cell[i]) cell[i][-(ptrdiff_t)strlen(entry_column[i]) - 2] = 0;
    for (int i = 0; i < OF_ENTRY; i++)
        if (x->column[i] >= 0) story_change(x->to->steps, panel, row, x->column[i], "%s", cell[i] ? cell[i] : "");
}

/* Which columns the entries of the design have. */
static int choose_columns(explain_steps *x, const char *column[OF_ENTRY])
{
    const bool has[OF_ENTRY] = { true, !x->design->dictionary, true };
    int n = 0;
    for (int i = 0; i < OF_ENTRY; i++) {
        x->column[i] = has[i] ? n : -1;
        if (has[i]) column[n++] = entry_column[i];
    }
    return n;
}

void explain_steps_story(explain_steps *x, const void *before)
{
    const judge_design *d = x->design;
    const char *column[OF_ENTRY];
    int columns = choose_columns(x, column);
    char text[STEP_ENTRY];
    for (uint64_t b = 0; b < d->buckets(x->table); b++) {
        int panel = story_panel(x->to->steps, fixture_bucket(d, x->table, b, text, sizeof text), column, columns);
        for (uint64_t e = d->first(x->table, b); e < d->first(x->table, b + 1); e++) {
            snprintf(text, sizeof text, "slot %" PRIu64, e - d->first(x->table, b));
            int row = story_row(x->to->steps, panel, text);
            judge_steps_entry_before(d, before, x->table, e, text);
            write_entry(x, panel, row, text);
        }
    }
}

/* The panel and the row of a place. */
static int panel_of(const explain_steps *x, uint64_t place, int *row)
{
    uint64_t b = 0;
    while (x->design->first(x->table, b + 1) <= place) b++;
    *row = (int)(place - x->design->first(x->table, b));
    return (int)b;
}

static const char *or_none(const char *text) { return *text ? text : NULL; }

static void tell_one(explain_steps *x, const judge_step *step, const char *who)
{
    int row, panel;
    story *s = x->to->steps;
    story_step(s, &(story_act){ .step = x->told,
                                .who = who,
                                .does = step->does,
                                .place = or_none(step->place),
                                .before = or_none(step->before),
                                .after = or_none(step->after),
                                .note = or_none(step->note) });
    for (uint64_t e = step->look; e < step->look + step->looks; e++) {
        panel = panel_of(x, e, &row);
        story_look(s, panel, row, x->column[step->scores ? OF_SCORE : OF_KEY]);
    }
    for (uint32_t i = 0; i < step->sets; i++) {
        panel = panel_of(x, step->set[i].place, &row);
        write_entry(x, panel, row, step->set[i].entry);
    }
}

static out_value shown(const char *text) { return *text ? out_text(text) : out_none(); }

void explain_steps_tell(explain_steps *x, const judge_steps *t, uint64_t first, uint64_t item)
{
    char who[48] = "the reference";
    if (item != UINT64_MAX) snprintf(who, sizeof who, "item %" PRIu64, item);
    for (uint64_t i = first; i < t->steps; i++, x->told++) {
        const judge_step *step = &t->step[i];
        out_row(x->to->report, (const out_value[]){ item == UINT64_MAX ? out_none() : out_count(item),
                                                    out_count(x->told), out_text(step->does), shown(step->place),
                                                    shown(step->before), shown(step->after), shown(step->note) });
        tell_one(x, step, who);
    }
}
