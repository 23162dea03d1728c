/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_recover.c - recovers the file of a table that was not closed, and says what it did.
 */
#include "tools/output.h"

static void facts(out *o, const char *path, const hd_info *t, uint64_t size)
{
    const hd_recovery *did = &t->image.recovered;
    out_fact(o, "file", "file", OUT_TEXT, out_text(path));
    out_fact(o, "design", "design", OUT_TEXT, out_text(t->design));
    out_fact(o, "size", "entries", OUT_COUNT, out_count(size));
    out_fact(o, "capacity", "capacity", OUT_COUNT, out_count(t->capacity));
    out_fact(o, "was_clean", "was closed", OUT_FLAG, out_flag(did->was_clean));
    out_fact(o, "durable_batch", "batches", OUT_COUNT, out_count(t->image.durable_batch));
    out_fact(o, "records", "records replayed", OUT_COUNT, out_count(did->records));
    out_fact(o, "record_bytes", "of them, bytes", OUT_BYTES, out_count(did->bytes));
    out_fact(o, "cleared", "entries cleared", OUT_COUNT, out_count(did->cleared));
    out_fact(o, "time_s", "time", OUT_SECONDS, out_real((double)did->ns * 1e-9));
}

/* The file of another kind is not touched: hd_snapshot_inspect refuses it, or hd_open does. */
static int run(tool_line *line, int argc, char **argv)
{
    int code = tool_parse(line, argc, argv, NULL);
    if (code >= 0) return code;
    const char *path = line->word[0];
    code = tool_file("FILE", path);
    if (code) return code;
    hd_table *t = NULL;
    hd_info info;
    uint64_t size = 0;
    hd_snapshot_info file;
    hd_status s = hd_snapshot_inspect(path, &file);
    hd_config c = hd_config_of(s ? NULL : file.design);
    c.file = path;
    if (!s) s = hd_open(&c, &t);
    if (!s) s = hd_check(t);
    if (!s) s = hd_size_sync(t, &size);
    if (!s) s = hd_table_info(t, &info);
    hd_close(t);
    if (s) return tool_fail(s);
    out *o = out_open(line->form, "heddle.recover/1", NULL, 0);
    facts(o, path, &info, size);
    return out_close(o, TOOL_OK);
}

static const char doc[] =
    "Opens the file of a table (hd_config.file) as a program would that continues with it, replays its journal, "
    "verifies "
    "every invariant of the table, and closes it. Exit code 0: it is whole; 2: there is no such file, or a program has "
    "it open; 3: it is damaged, or no such file.\n\n"
    "EXAMPLES\n"
    "  heddle run ovs.insert_or_assign.ref capacity=4Ki batch=1024x4 keys=uniform:4000 file=table.image\n"
    "  heddle recover table.image\n"
    "  heddle check table.image\n";

const tool_verb verb_recover = { "recover", "FILE",    "recovers the file of a table that was not closed", doc, 1,
                                 1,         .run = run };
