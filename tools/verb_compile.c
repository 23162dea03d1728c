/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_compile.c - compiles files of kernels, policies and predicates, as `--with` does, and says where objects are.
 */
#include <string.h>

#include "tools/output.h"
#include "tools/with.h"

typedef struct compile_options {
    bool cuda;
} compile_options;

static const tool_option option[] = {
    { "cuda", 'c', NULL, "also by nvcc, for tables on a GPU", TOOL_FIELD(compile_options, cuda) },
    { .name = NULL },
};

static const out_column column[] = {
    { "file", "file", OUT_TEXT },        { "adds", "adds", OUT_TEXT },      { "machine", "for", OUT_TEXT },
    { "cache_hits", "hits", OUT_COUNT }, { "time_s", "time", OUT_SECONDS }, { "object", "object", OUT_TEXT },
};

static int compile(out *r, const char *given, bool cuda, char what[HD_LOADED_TEXT])
{
    one_file f;
    int code = with_load(given, cuda, &f, what);
    if (code) return code;
    out_row(r, (const out_value[]){ out_text(given), out_text(what), out_text(cuda ? "cuda" : "host"),
                                    out_count(f.hits), out_real(f.seconds), out_text(f.object) });
    return TOOL_OK;
}

static int run(tool_line *line, int argc, char **argv)
{
    compile_options o = { .cuda = false };
    char what[HD_LOADED_TEXT];
    int code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    out *r = out_open(line->form, "heddle.compile/1", column, sizeof column / sizeof *column);
    code = TOOL_OK;
    for (int i = 0; i < line->words && code == TOOL_OK; i++) {
        code = compile(r, line->word[i], false, what);
        if (code == TOOL_OK && o.cuda) code = compile(r, line->word[i], true, what);
    }
    if (code == TOOL_OK) return out_close(r, TOOL_OK);
    out_drop(r);
    return code;
}

static const char doc[] =
    "Compiles files that `heddle new` began, as `heddle --with FILE` does, and reports what each adds and where its "
    "shared object is. What is in the cache ($XDG_CACHE_HOME/heddle, else ~/.cache/heddle) is not compiled again: the "
    "column hits counts how often that was so. The cache can be removed at any time.\n\n"
    "EXAMPLES\n"
    "  heddle new kernel probe.h\n"
    "  heddle compile probe.h\n";

const tool_verb verb_compile = { "compile", "FILE...", "compile kernels, policies and predicates of files",
                                 doc,       1,         64,
                                 option,    NULL,      run };
