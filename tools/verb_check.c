/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_check.c - whether saved tables are whole: every byte of the file against its checksums, every invariant
 * of the table that it makes.
 */
#include "base/error.h"
#include "tools/output.h"

/* HD_OK; or *code and hd_why() say what is wrong, and so does standard error. */
static hd_status check(const char *path, hd_snapshot_info *info, int *code)
{
    hd_table *t = NULL;
    hd_status s = hd_snapshot_inspect(path, info);
    if (!s) s = hd_open_snapshot(path, NULL, &t);
    *code = s ? tool_fail(s) : TOOL_OK;
    if (!s && (s = hd_size_sync(t, &info->size))) *code = tool_fail(s);
    if (!s && (s = hd_check(t))) *code = tool_say(TOOL_DIFFERS, "%s: %s", path, hd_why());
    hd_close(t);
    return s;
}

static int run(tool_line *line, int argc, char **argv)
{
    static const out_column column[] = {
        { "file", "file", OUT_TEXT },         { "ok", "whole", OUT_FLAG }, { "entries", "entries", OUT_COUNT },
        { "file_bytes", "bytes", OUT_COUNT }, { "wrong", NULL, OUT_TEXT },
    };
    int code = tool_parse(line, argc, argv, NULL);
    if (code >= 0) return code;

    int worst = TOOL_OK;
    out *o = out_open(line->form, "heddle.check/1", column, 5);
    for (int i = 0; i < line->words && !tool_stopped(); i++) {
        hd_snapshot_info info;
        code = tool_file("SNAPSHOT", line->word[i]);
        hd_status s = code ? hd_fail(HD_EIO, "there is no such file") : check(line->word[i], &info, &code);
        if (code > worst) worst = code;
        out_row(o, (const out_value[]){ out_text(line->word[i]), out_flag(!s), s ? out_none() : out_count(info.size),
                                        s ? out_none() : out_count(info.file_bytes),
                                        s ? out_text(hd_why()) : out_none() });
    }
    return out_close(o, worst);
}

static const char doc[] =
    "Verifies the checksums of each file, a snapshot or the file of a table (hd_config.file), and every invariant of "
    "the table in it. Exit code 0: all are whole; 1: a "
    "table breaks an invariant; 2: there is no such file; 3: a file is damaged, or of a design or policy that is "
    "unknown. Each file has its row, and a line on standard error where it is not whole; the exit code is the "
    "greatest.\n\n"
    "EXAMPLES\n"
    "  heddle gen zipf:0.99,10000 --requests 100000 -o zipf.oracleGeneral.zst\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lru 4Ki --save table.heddle\n"
    "  heddle check table.heddle\n";

const tool_verb verb_check = { "check", "SNAPSHOT...", "whether saved tables are whole", doc, 1, 1024, .run = run };
