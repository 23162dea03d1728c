/* SPDX-License-Identifier: Apache-2.0
 *
 * case_run.c - from the words of a command line to a fixture.
 */
#include "tools/case_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "judge/cells.h"
#include "tools/input.h"

int case_run_words(char *const *word, int words, char text[CASE_RUN_TEXT])
{
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < words; i++) {
        used += (size_t)snprintf(text + used, CASE_RUN_TEXT - used, "%s%s", i ? " " : "", word[i]);
        if (used >= CASE_RUN_TEXT) return tool_say(TOOL_USAGE, "CASE: longer than %d bytes", CASE_RUN_TEXT - 1);
    }
    return -1;
}

bool case_run_wide(const judge_design *d, const char *kernel)
{
    hd_case small = hd_case_of(d->name);
    bool wide = false;
    small.slots = d->small.slots;
    const char *name;
    for (uint32_t row = 0; (name = fixture_row_name(d, row)); row++)
        wide = wide || (strcmp(name, kernel) == 0 && fixture_unsupported(d, row, &small));
    return wide;
}

/* Whether one of the kernels wants a wide table: then it is wide for all. */
static bool any_wide(const hd_case *c, uint32_t parts)
{
    bool wide = false;
    for (uint32_t k = 0; k < parts; k++) {
        const judge_design *d = judge_design_named(c[k].design);
        wide = wide || (d && case_run_wide(d, c[k].kernel));
    }
    return wide;
}

int case_run_parse(const char *text, hd_case c[FIXTURE_PARTS], uint32_t *parts)
{
    char one[CASE_RUN_TEXT];
    for (*parts = 0; text; ++*parts) {
        const char *plus = strstr(text, " + ");
        if (*parts == FIXTURE_PARTS)
            return tool_say(TOOL_USAGE, "CASE: more than %d operations at once", FIXTURE_PARTS);
        snprintf(one, sizeof one, "%.*s", plus ? (int)(plus - text) : (int)strlen(text), text);
        hd_status s = hd_case_parse(one, &c[*parts]);
        if (s) return tool_fail(s);
        text = plus ? plus + 3 : NULL;
    }
    return -1;
}

void case_run_complete(const judge_design *d, bool wide, unsigned batch, hd_case *c)
{
    if (hd_case_has(c, "slots")) wide = c->slots >= fixture_wide(d).slots;
    const judge_small is = fixture_wide(d), *small = wide ? &is : &d->small;
    if (!hd_case_has(c, "buckets") && !hd_case_has(c, "capacity")) c->buckets = 2;
    if (!hd_case_has(c, "slots")) c->slots = small->slots;
    if (small->field && !hd_case_has(c, small->field)) hd_case_set(c, small->field, small->value);
    if (!hd_case_has(c, "keys")) snprintf(c->keys, sizeof c->keys, "%s", small->keys);
    if (hd_case_has(c, "batch")) return;
    c->batch = batch;
    c->batches = 1;
}

/* Part k's kernel, for the table that the first part has. */
static hd_status choose_kernel(case_run *x, uint32_t k, bool wide, unsigned batch, uint32_t threads, uint32_t blocks)
{
    uint32_t row = 0;
    hd_case *c = &x->c[k];
    const judge_design *d = judge_design_of(c);
    if (!d) return HD_EINVAL;
    case_run_complete(d, wide, batch, c);
    hd_status s = fixture_kernel_row(c, &row);
    if (s) return s;
    const char *why = fixture_unsupported(d, row, &x->c[0]);
    if (why) return hd_fail(HD_EINVAL, "kernel: %s cannot run this table: %s", c->kernel, why);
    x->kernel[k] = fixture_kernel_at(d, row, threads, blocks);
    size_t used = strlen(x->text);
    used += (size_t)snprintf(x->text + used, sizeof x->text - used, "%s", k ? " + " : "");
    hd_case_print(c, x->text + used, sizeof x->text - used);
    return HD_OK;
}

int case_run_open(case_run *x, const hd_case *c, uint32_t parts, unsigned batch, uint32_t threads, uint32_t blocks)
{
    bool wide = any_wide(c, parts);
    hd_status s = HD_OK;
    memset(x, 0, sizeof *x);
    memcpy(x->c, c, parts * sizeof *c);
    for (x->parts = 0; x->parts < parts && !s; x->parts++) s = choose_kernel(x, x->parts, wide, batch, threads, blocks);
    const fixture_kernel *const kernels[] = { &x->kernel[0], &x->kernel[1] };
    if (!s) s = fixture_open(x->c, kernels, x->parts, &x->s);
    if (!s) s = comparison_open(x->s, &x->a);
    if (!s) s = simt_machine_open(NULL, &x->m);
    if (!s) return -1;
    case_run_close(x);
    return tool_fail(s);
}

int case_run_take(case_run *x, const tool_line *line, unsigned batch, uint64_t threads, uint64_t blocks)
{
    hd_case c[FIXTURE_PARTS];
    uint32_t parts;
    char text[CASE_RUN_TEXT];
    int code = case_run_words(line->word, line->words, text);
    if (code < 0 && threads % 32) code = tool_say(TOOL_USAGE, "--threads: %" PRIu64 " are no whole warps", threads);
    if (code < 0) code = case_run_parse(text, c, &parts);
    if (code < 0) code = case_run_open(x, c, parts, batch, (uint32_t)threads, (uint32_t)blocks);
    return code;
}

void case_run_close(case_run *x)
{
    comparison_close(x->a);
    simt_machine_close(x->m);
    memset(x, 0, sizeof *x);
}

const char *case_run_location(const case_run *x, const void *p, char *text, size_t bytes)
{
    return fixture_location(x->s, x->m, p, text, bytes);
}

uint64_t case_run_shown(const case_run *x, const void *p, uint64_t value)
{
    uint64_t at;
    if (!p || strcmp(simt_machine_name(x->m, p, &at), "ptr") != 0) return value;
    const char *name = simt_machine_name(x->m, (const void *)(uintptr_t)value, &at);
    return *name ? at : value;
}
