/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_list.c - what there is: every registry, row by row.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "base/error.h"
#include "base/op.h"
#include "tools/output.h"
#include "workload/trace.h"

typedef bool list_row(size_t i, hd_row *row);

/* ---- The registries of the library ----------------------------------------------------------- */

static bool row_design(size_t i, hd_row *r) { return hd_list(HD_DESIGNS, i, r); }
static bool row_backend(size_t i, hd_row *r) { return hd_list(HD_BACKENDS, i, r); }
static bool row_policy(size_t i, hd_row *r) { return hd_list(HD_POLICIES, i, r); }
static bool row_lock(size_t i, hd_row *r) { return hd_list(HD_LOCKS, i, r); }
static bool row_predicate(size_t i, hd_row *r) { return hd_list(HD_PREDICATES, i, r); }
static bool row_kernel(size_t i, hd_row *r) { return hd_list(HD_KERNELS, i, r); }
static bool row_hash(size_t i, hd_row *r) { return hd_list(HD_HASHES, i, r); }
static bool row_parameter(size_t i, hd_row *r) { return hd_list(HD_PARAMETERS, i, r); }

/* ---- What heddle.h enumerates ---------------------------------------------------------------- */

static bool row_operation(size_t i, hd_row *r)
{
    static const char *const roles[] = { [HD_READER] = "reader", [HD_UPDATER] = "updater", [HD_INSERTER] = "inserter" };
    const hd_op_row *row = hd_op_row_of((hd_op)i);
    if (i >= HD_OP_COUNT_ || !row) return false;
    r->name = row->name;
    r->what = row->what;
    r->more = roles[row->role];
    return true;
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
    if (i >= HD_OUTCOME_COUNT) return false;
    r->name = hd_outcome_name((hd_outcome)i);
    r->what = what[i];
    r->more = "";
    return true;
}

static bool row_target(size_t i, hd_row *r)
{
    const fuzz_target *t = fuzz_target_at(i);
    if (!t) return false;
    r->name = t->name;
    r->what = t->what;
    r->more = "";
    return true;
}

static bool row_element(size_t i, hd_row *r)
{
    static const char *const what[HD_ELEM_COUNT] = {
        [HD_F32] = "IEEE single",
        [HD_F16] = "IEEE half; adds in single, rounds to nearest even",
        [HD_BF16] = "bfloat16; adds in single, rounds to nearest even",
        [HD_I32] = "32-bit integer; wraps",
        [HD_I64] = "64-bit integer; wraps",
        [HD_U64] = "64-bit unsigned integer; wraps",
    };
    if (i >= HD_ELEM_COUNT) return false;
    r->name = hd_elem_name((hd_elem)i);
    r->what = what[i];
    r->more = "";
    return true;
}

/* ---- Sources of requests and files of them --------------------------------------------------- */

static bool row_workload(size_t i, hd_row *r)
{
    const hd_source_row *s = hd_source_row_at(i);
    if (!s) return false;
    r->name = s->name;
    r->what = s->what;
    r->more = s->form;
    return true;
}

/* Readers of files first, then what only a writer knows by its name. */
static bool row_format(size_t i, hd_row *r)
{
    const hd_source_row *s;
    for (size_t at = 0; (s = hd_source_row_at(at)); at++) {
        if (!s->file || i-- != 0) continue;
        r->name = s->name;
        r->what = s->what;
        r->more = "read";
        for (size_t w = 0; hd_trace_format_at(w); w++)
            if (strcmp(hd_trace_format_at(w), s->name) == 0) r->more = "read, written";
        return true;
    }
    for (size_t w = 0; hd_trace_format_at(w); w++) {
        s = hd_source_row_find(hd_trace_format_at(w));
        if ((s && s->file) || i-- != 0) continue;
        r->name = hd_trace_format_at(w);
        r->what = "one form of its family, for writing";
        r->more = "written";
        return true;
    }
    return false;
}

static const struct list_kind {
    const char *name;
    list_row *row;
} kinds[] = {
    { "designs", row_design },       { "backends", row_backend },     { "policies", row_policy },
    { "locks", row_lock },           { "predicates", row_predicate }, { "kernels", row_kernel },
    { "operations", row_operation }, { "outcomes", row_outcome },     { "elements", row_element },
    { "workloads", row_workload },   { "formats", row_format },       { "targets", row_target },
    { "hashes", row_hash },          { "parameters", row_parameter },
};
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
    for (size_t i = 0; k->row(i, &r); i++)
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

const tool_verb verb_list = { "list", "[KIND]", "what there is: policies, workloads, operations, ...", doc, 0, 1, NULL,
                              NULL,   run };
