/* SPDX-License-Identifier: Apache-2.0
 *
 * situation.c - from the words of a command line to a fixture.
 */
#include "tools/situation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "tools/input.h"

int situation_words(char *const *word, int words, char text[SITUATION_TEXT])
{
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < words; i++) {
        used += (size_t)snprintf(text + used, SITUATION_TEXT - used, "%s%s", i ? " " : "", word[i]);
        if (used >= SITUATION_TEXT) return tool_say(TOOL_USAGE, "CASE: longer than %d bytes", SITUATION_TEXT - 1);
    }
    return -1;
}

bool situation_wide(const judge_design *d, const char *kernel)
{
    hd_case small = hd_case_default();
    bool wide = false;
    small.slots = d->small.slots;
    small.layout = HD_LAYOUT_PAIRS;
    if (d->bend) d->bend(&small);
    for (uint32_t row = 0; row < d->rows; row++)
        wide = wide || (strcmp(d->row[row].variant, kernel) == 0 && d->unfit(row, &small));
    return wide;
}

const judge_design *situation_design(const char *text)
{
    char name[sizeof((hd_case *)0)->design];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ". "), text);
    return judge_design_named(name);
}

/* Fills in what a case of kernels leaves open: a full case would be a table of thousands. */
static hd_status complete(const char *text, bool want_wide, unsigned batch, hd_case *c)
{
    static const char *const names[] = { " buckets=", " slots=", " keys=", " pins=", " batch=" };
    char whole[SITUATION_TEXT + 128], field[64], slots[16];
    hd_status s = hd_case_parse(text, c);
    const judge_design *d = s ? NULL : judge_design_of(c);
    if (!d) return HD_EINVAL;
    bool wide = strstr(text, " slots=") ? c->slots >= d->wide.slots : want_wide;
    const judge_small *small = wide ? &d->wide : &d->small;
    snprintf(slots, sizeof slots, "%" PRIu32, small->slots);
    snprintf(whole, sizeof whole, "%s", text);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strstr(text, names[i]) || (i == 0 && strstr(text, " capacity="))) continue;
        const char *const usual[] = { "2", slots, small->keys, "0", NULL };
        if (usual[i])
            snprintf(field, sizeof field, "%s%s", names[i], usual[i]);
        else
            snprintf(field, sizeof field, "%s%ux1", names[i], batch);
        strncat(whole, field, sizeof whole - strlen(whole) - 1);
    }
    return hd_case_parse(whole, c);
}

/* One case of the text, and its kernel, for the table that the first has. */
static hd_status enter(situation *x, const char *text, bool wide, unsigned batch, uint32_t threads, uint32_t blocks)
{
    uint32_t row = 0, k = x->parts++;
    hd_case *c = &x->c[k];
    hd_status s = complete(text, wide, batch, c);
    if (!s) s = fixture_kernel_row(c, &row);
    if (s) return s;
    const judge_design *d = judge_design_of(c);
    const char *why = d->unfit(row, &x->c[0]);
    if (why) return hd_fail(HD_EINVAL, "kernel: %s cannot run this table: %s", c->kernel, why);
    x->kernel[k] = fixture_kernel_at(d, row, threads, blocks);
    size_t used = strlen(x->text);
    used += (size_t)snprintf(x->text + used, sizeof x->text - used, "%s", k ? " + " : "");
    hd_case_print(c, x->text + used, sizeof x->text - used);
    return HD_OK;
}

/* The next case of the text, up to its plus; NULL: that was the last. */
static const char *split(const char *from, char one[SITUATION_TEXT])
{
    const char *plus = strstr(from, " + ");
    snprintf(one, SITUATION_TEXT, "%.*s", plus ? (int)(plus - from) : (int)strlen(from), from);
    return plus ? plus + 3 : NULL;
}

/* Whether one of its kernels wants a wide table: then it is everybody's. */
static bool any_wide(const char *text)
{
    char one[SITUATION_TEXT];
    bool wide = false;
    while (text && !wide) {
        hd_case c;
        text = split(text, one);
        if (hd_case_parse(one, &c)) break; /* which is told when it is opened */
        const judge_design *d = judge_design_named(c.design);
        wide = d && situation_wide(d, c.kernel);
    }
    return wide;
}

int situation_open(situation *x, const char *text, unsigned batch, uint32_t threads, uint32_t blocks)
{
    char one[SITUATION_TEXT];
    memset(x, 0, sizeof *x);
    input_spool(); /* each scene reads its keys from their beginning */
    const char *from = text;
    bool wide = any_wide(text);
    while (from && x->parts < FIXTURE_PARTS) {
        from = split(from, one);
        hd_status s = enter(x, one, wide, batch, threads, blocks);
        if (s) return tool_fail(s);
    }
    if (from) return tool_say(TOOL_USAGE, "CASE: more than %d operations at once", FIXTURE_PARTS);
    const fixture_kernel *const kernels[] = { &x->kernel[0], &x->kernel[1] };
    hd_status s = fixture_open(x->c, kernels, x->parts, &x->s);
    if (!s) s = agree_open(x->s, &x->a);
    if (!s) s = simt_machine_open(NULL, &x->m);
    if (!s) return -1;
    situation_close(x);
    return tool_fail(s);
}

void situation_close(situation *x)
{
    agree_close(x->a);
    simt_machine_close(x->m);
    memset(x, 0, sizeof *x);
}

/* The arrays of a batch, as device memory: how many bytes are one, and of what. */
typedef struct known {
    const char *region, *name;
    uint32_t bytes;  /* 0: a value's */
    bool of_outcome; /* else of an item */
} known;

static const known regions[] = {
    { "keys", "key", 8, false },
    { "values", "value", 0, false },
    { "scores", "score", 8, false },
    { "flags", "flag", 1, false },
    { "each", "operation", 1, false },
    { "outcome", "outcome", 1, false },
    { "value_out", "value_out", 0, false },
    { "score_out", "score_out", 8, false },
    { "ptr", "ptr", 8, false },
    { "tally", "count", 8, true },
};

const char *situation_place(const situation *x, const void *p, char *text, size_t bytes)
{
    uint64_t at;
    const char *name = simt_machine_name(x->m, p, &at);
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        const known *r = &regions[i];
        if (strcmp(r->region, name) != 0) continue;
        uint64_t k = at / (r->bytes ? r->bytes : x->s->value_bytes ? x->s->value_bytes : 1);
        if (r->of_outcome)
            snprintf(text, bytes, "%s of %s", r->name, hd_outcome_name((hd_outcome)k));
        else
            snprintf(text, bytes, "%s of item %" PRIu64, r->name, k);
        return text;
    }
    if (x->s->design->names(x->s, name, at, text, bytes)) return text;
    if (at)
        snprintf(text, bytes, "%s, byte %" PRIu64, name, at);
    else
        snprintf(text, bytes, "%s", name);
    return text;
}
