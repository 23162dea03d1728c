/* SPDX-License-Identifier: Apache-2.0
 *
 * all_kernels_report.c - kernels side by side: what each asks of memory for a key, and whether it agrees.
 */
#include "tools/all_kernels_report.h"

#include <string.h>

#include "judge/rules.h"
#include "tools/picture.h"
#include "tools/with.h"

enum { BAR = 16, SECTOR = 32 };

static double per_item(uint64_t n, const all_kernels_row *r)
{
    return (double)n / (double)(r->metered ? r->metered : 1);
}

/* The most sectors per key of one operation's rows: what its bars are drawn to. */
static double most_sectors(const all_kernels *t, hd_op op)
{
    double most = 0;
    for (size_t i = 0; i < t->rows; i++) {
        const all_kernels_row *r = &t->row[i];
        if (r->op == op && r->metered && per_item(r->sectors, r) > most) most = per_item(r->sectors, r);
    }
    return most;
}

static void facts(out *o, const char *text, const all_kernels *t)
{
    if (text) out_fact(o, "case", "case", OUT_TEXT, out_text(text));
    out_fact(o, "filled", text ? "requests before" : NULL, OUT_COUNT, out_count(t->filled));
    out_fact(o, "asked", text ? "per kernel" : NULL, OUT_COUNT, out_count(t->asked));
    out_fact(o, "kernels", NULL, OUT_COUNT, out_count(t->ran));
    out_fact(o, "items", NULL, OUT_COUNT, out_count(t->items));
    out_fact(o, "wrong", NULL, OUT_COUNT, out_count(t->wrong));
    out_fact(o, "time_s", NULL, OUT_SECONDS, out_real(t->seconds));
}

/* None where the kernel did not run. */
static out_value figure(const all_kernels_row *r, uint64_t n)
{
    return r->metered ? out_real(per_item(n, r)) : out_none();
}

/* The same, of operations whose items have keys. */
static out_value keyed_figure(const all_kernels_row *r, uint64_t n)
{
    bool keyed = r->op == JUDGE_MIXED || judge_ops[r->op].keyed;
    return keyed ? figure(r, n) : out_none();
}

static void row(out *o, const all_kernels *t, const all_kernels_row *r)
{
    char bar[PICTURE_BYTES];
    double most = most_sectors(t, r->op);
    bool ran = r->metered != 0;
    const char *why = r->wrong[0] ? r->wrong : r->unsupported, *drawn = "";
    if (ran) drawn = picture_bar(bar, most > 0 ? per_item(r->sectors, r) / most : 0, BAR, 1);
    out_row(o, (const out_value[]){
                   out_text(fixture_op_name(r->op)), out_text(r->kernel.variant), out_count(r->buckets),
                   out_count(r->kernel.lanes), ran ? out_count(r->items) : out_none(), keyed_figure(r, r->hits),
                   keyed_figure(r, r->ref_hits), figure(r, r->sectors), out_text(drawn), figure(r, r->lines),
                   figure(r, r->far_sectors * SECTOR), figure(r, r->atomics), figure(r, r->steps),
                   ran ? out_flag(!r->wrong[0]) : out_none(), ran ? out_text(all_kernels_agrees(r)) : out_none(),
                   why[0] ? out_text(why) : out_none() });
}

/* Why some have no figures: once for each variant and reason. */
static void note_unsupported(out *o, const all_kernels *t)
{
    for (size_t i = 0; i < t->rows; i++) {
        const all_kernels_row *r = &t->row[i];
        bool told = !r->unsupported[0];
        for (size_t k = 0; k < i && !told; k++)
            told = strcmp(t->row[k].kernel.variant, r->kernel.variant) == 0 &&
                   strcmp(t->row[k].unsupported, r->unsupported) == 0;
        if (!told) out_note(o, "%s cannot run all of this: %s.\n", r->kernel.variant, r->unsupported);
    }
}

static void notes(out *o, const all_kernels *t)
{
    char kernels[OUT_CELL], items[OUT_CELL], wrong[OUT_CELL], shaped[OUT_CELL];
    uint64_t shapes = 0;
    for (size_t i = 0; i < t->rows; i++)
        shapes += t->row[i].metered && strcmp(all_kernels_agrees(&t->row[i]), "shape") == 0;
    out_format(shaped, OUT_COUNT, out_count(shapes));
    out_format(kernels, OUT_COUNT, out_count(t->ran));
    out_format(items, OUT_COUNT, out_count(t->items));
    out_format(wrong, OUT_COUNT, out_count(t->wrong));
    out_note(o, "\nbuckets: in which a key may be. lanes, sectors (32 bytes), lines (128), bus bytes, atomics, steps: "
                "per key, or per slot of a whole table.\n");
    note_unsupported(o, t);
    if (t->wrong)
        out_note(o, "%s kernels, %s items: %s DISAGREE with the reference.\n", kernels, items, wrong);
    else if (shapes)
        out_note(o,
                 "%s kernels, %s items, in turn and in random order: of %s only the shape was judged (invariants, and "
                 "that nothing is lost), the others agree with the reference.\n",
                 kernels, items, shaped);
    else if (t->ran)
        out_note(o, "%s kernels, %s items: every one agrees with the reference, in turn and in random order.\n",
                 kernels, items);
}

/* Whether kernels reached memory behind the bus. */
static bool has_far(const all_kernels *t)
{
    bool has = false;
    for (size_t i = 0; i < t->rows; i++) has = has || t->row[i].far_sectors;
    return has;
}

out *all_kernels_report(tool_form form, const char *text, const all_kernels *t)
{
    /* clang-format off */
    enum { BUS = 10 };
    static out_column column[] = {
        { "operation", "operation", OUT_TEXT }, { "kernel", "kernel", OUT_TEXT }, { "buckets", "buckets", OUT_COUNT },
        { "lanes", "lanes", OUT_COUNT }, { "items", "judged", OUT_COUNT }, { "hit_rate", "hit rate", OUT_PERCENT },
        { "ref_hit_rate", "ref's", OUT_PERCENT }, { "sectors", "sectors", OUT_FIXED }, { "bar", "", OUT_TEXT },
        { "lines", "lines", OUT_FIXED }, { "bus_bytes", NULL, OUT_FIXED },
        { "atomics", "atomics", OUT_FIXED }, { "steps", "steps", OUT_FIXED },
        { "agrees", NULL, OUT_FLAG }, { "verdict", "agrees", OUT_TEXT }, { "why", NULL, OUT_TEXT },
    };
    /* clang-format on */
    column[BUS].head = has_far(t) ? "bus bytes" : NULL;
    out *o = out_open(form, "heddle.kernels/1", column, sizeof column / sizeof *column);
    facts(o, text, t);
    for (size_t i = 0; i < t->rows; i++) row(o, t, &t->row[i]);
    notes(o, t);
    return o;
}

int all_kernels_verdict(const all_kernels *t)
{
    for (size_t i = 0; i < t->rows; i++) {
        const all_kernels_row *r = &t->row[i];
        hd_case c;
        if (!t->ran) return tool_say(TOOL_USAGE, "%s cannot run this: %s", r->kernel.variant, r->unsupported);
        if (!r->wrong[0]) continue;
        if (hd_case_parse(r->again, &c)) c = hd_case_default();
        /* on a small table: schedules, or what each of the two makes of it */
        char look[sizeof c.policy + 272];
        if (r->at_random)
            snprintf(look, sizeof look, "%s sched %s.%s.%s policy=%s dual=%d", with_command(), t->design->name,
                     fixture_op_name(r->op), r->kernel.variant, c.policy, r->dual);
        else
            snprintf(look, sizeof look, "%s diff %s ref --case '%s.%s policy=%s dual=%d'", with_command(),
                     r->kernel.variant, t->design->name, fixture_op_name(r->op), c.policy, r->dual);
        return tool_say(TOOL_DIFFERS, "%s; again: %s run --kernels %s; in small: %s", r->wrong, with_command(),
                        r->again, look);
    }
    return TOOL_OK;
}
