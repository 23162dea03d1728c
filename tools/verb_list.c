/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_list.c - what there is: every registry, row by row.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "base/error.h"
#include "base/named.h"
#include "base/op.h"
#include "tools/baseline.h"
#include "tools/output.h"
#include "workload/trace.h"

/* ---- What heddle.h enumerates ---------------------------------------------------------------- */

static bool row_operation(size_t i, hd_row *r)
{
    static const char *const roles[] = { [HD_READER] = "reader", [HD_UPDATER] = "updater", [HD_INSERTER] = "inserter" };
    const hd_op_row *row = hd_op_row_of((hd_op)i);
    if (i >= HD_OP_COUNT_) return false;
    return hd_row_put(r, row->name, row->what, row->needs & HD_ORDERED ? "reader ordered" : roles[row->role]);
}

static bool row_outcome(size_t i, hd_row *r)
{
    static const char *const what[HD_OUTCOME_COUNT] = {
        [HD_MISS] = "the key is absent, and the operation does not insert",
        [HD_HIT] = "the key is present",
        [HD_INSERTED] = "the key was absent and took an empty slot",
        [HD_UPDATED] = "the key was present; its value or score was replaced",
        [HD_EVICTED] = "the key was absent and took the place of a least entry",
        [HD_REFUSED] = "the key was absent, its bucket full, its score too low",
        [HD_RESERVED] = "the key is a reserved one, or more than the design holds",
        [HD_ERASED] = "the key was present and is gone",
        [HD_PINNED] = "the entry is pinned: it was read, not changed",
        [HD_PENDING] = "the key was absent, and there is no place for it until the table grows",
    };
    return i < HD_OUTCOME_COUNT && hd_row_put(r, hd_outcome_name((hd_outcome)i), what[i], "");
}

static bool row_element(size_t i, hd_row *r)
{
    /* clang-format off */
    static const char *const what[HD_ELEM_COUNT] = {
        [HD_F32] = "IEEE single",
        [HD_F16] = "IEEE half; adds in single, rounds to nearest even",
        [HD_BF16] = "bfloat16; adds in single, rounds to nearest even",
        [HD_I32] = "32-bit integer; wraps", [HD_I64] = "64-bit integer; wraps",
        [HD_U64] = "64-bit unsigned integer; wraps", [HD_F64] = "IEEE double",
        [HD_I8] = "8-bit integer; wraps", [HD_U8] = "8-bit unsigned integer; wraps",
        [HD_I16] = "16-bit integer; wraps",
    };
    /* clang-format on */
    return i < HD_ELEM_COUNT && hd_row_put(r, hd_elem_name((hd_elem)i), what[i], "");
}

static bool row_target(size_t i, hd_row *r)
{
    const fuzz_target *t = fuzz_target_at(i);
    return t && hd_row_put(r, t->name, t->what, "");
}

/* ---- Sources of requests and files of them --------------------------------------------------- */

static bool row_workload(size_t i, hd_row *r)
{
    const hd_source_row *s = hd_source_row_at(i);
    return s && hd_row_put(r, s->name, s->what, s->form);
}

static bool is_written(const char *format)
{
    size_t w = 0;
    while (hd_trace_format_at(w) && strcmp(hd_trace_format_at(w), format) != 0) w++;
    return hd_trace_format_at(w) != NULL;
}

/* Readers of files first, then what only a writer knows by its name. */
static bool row_format(size_t i, hd_row *r)
{
    const hd_source_row *s;
    const char *name;
    for (size_t at = 0; (s = hd_source_row_at(at)); at++)
        if (s->file && i-- == 0) return hd_row_put(r, s->name, s->what, is_written(s->name) ? "read, written" : "read");
    for (size_t w = 0; (name = hd_trace_format_at(w)); w++) {
        s = hd_source_row_find(name);
        if (!(s && s->file) && i-- == 0) return hd_row_put(r, name, "one form of its family, for writing", "written");
    }
    return false;
}

static bool row_baseline(size_t i, hd_row *r)
{
    static char more[160];
    const baseline_row *b = baseline_at(i);
    if (!b) return false;
    snprintf(more, sizeof more, "%s%s%s", b->paper ? b->paper : "", b->paper ? "; keeps " : "",
             b->paper ? b->state : "");
    return hd_row_put(r, b->name, b->what, more);
}

static const struct list_kind {
    const char *name;
    bool (*row)(size_t i, hd_row *r); /* NULL: a registry of the library */
    hd_kind kind;
} kinds[] = { { "designs", NULL, HD_DESIGNS },         { "backends", NULL, HD_BACKENDS },
              { "policies", NULL, HD_POLICIES },       { "locks", NULL, HD_LOCKS },
              { "predicates", NULL, HD_PREDICATES },   { "kernels", NULL, HD_KERNELS },
              { .name = "operations", row_operation }, { .name = "outcomes", row_outcome },
              { .name = "elements", row_element },     { .name = "workloads", row_workload },
              { .name = "formats", row_format },       { .name = "baselines", row_baseline },
              { .name = "targets", row_target },       { "hashes", NULL, HD_HASHES },
              { "parameters", NULL, HD_PARAMETERS } };
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- The verb -------------------------------------------------------------------------------- */

static out_column column[] = {
    { "kind", "kind", OUT_TEXT },
    { "name", "name", OUT_TEXT },
    { "what", "what", OUT_TEXT },
    { "more", "more", OUT_TEXT },
};

static void list_kind(out *o, const struct list_kind *k)
{
    hd_row r;
    for (size_t i = 0; k->row ? k->row(i, &r) : hd_list(k->kind, i, &r); i++)
        out_row(o, (const out_value[]){ out_text(k->name), out_text(r.name), out_text(r.what), out_text(r.more) });
}

static int run(tool_line *line, int argc, char **argv)
{
    int code = tool_parse(line, argc, argv, NULL);
    if (code >= 0) return code;

    const char *wanted = line->words ? line->word[0] : NULL;
    const char *name[KINDS + 1] = { NULL };
    const struct list_kind *only = NULL;
    for (int i = 0; i < KINDS; i++) {
        name[i] = kinds[i].name;
        if (wanted && strcmp(wanted, name[i]) == 0) only = &kinds[i];
    }
    if (wanted && !only) return tool_say(TOOL_USAGE, "there is no list '%.60s'%s", wanted, tool_nearest(wanted, name));

    if (only) column[0].head = NULL;
    out *o = out_open(line->form, "heddle.list/1", column, 4);
    for (int i = 0; i < KINDS; i++)
        if (!only || only == &kinds[i]) list_kind(o, &kinds[i]);
    return out_close(o, TOOL_OK);
}

static const char doc[] = "What there is to choose from, one row each: designs, backends, policies, locks, predicates, "
                          "kernels, operations, outcomes, elements (that accum_or_assign adds), workloads, formats (of "
                          "files), targets (of heddle fuzz), hashes and parameters (the fields of a configuration, "
                          "with the design that has them). Without an argument: all of them.\n"
                          "\n"
                          "EXAMPLES\n"
                          "  heddle list\n"
                          "  heddle list policies\n"
                          "  heddle list workloads --json\n";

const tool_verb verb_list = { "list", "[KIND]",  "what there is: policies, workloads, operations, ...", doc, 0,
                              1,      .run = run };
