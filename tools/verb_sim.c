/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_sim.c - a trace replayed through tables: one row per policy and size.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/replay_report.h"

enum { KEY_LIMIT = 0x100, KEY_SAVE };

static const tool_option option[] = {
    REPLAY_OPTIONS,
    { "limit", KEY_LIMIT, "N", "stop after N requests", TOOL_RANGE(replay_plan, limit, 1, UINT64_MAX) },
    { "save", KEY_SAVE, "FILE", "save the table at the end (one policy, one size)", TOOL_FIELD(replay_plan, save) },
    { .name = NULL },
};

static out *report(const tool_line *line, const request_source *source, const replay_plan *p, const replay_row *row,
                   size_t rows, uint64_t distinct)
{
    static out_column column[REPLAY_COLUMNS + 3];
    out_value cell[REPLAY_COLUMNS + 3];
    uint64_t reserved = rows ? row[0].reserved : 0, hashed = rows ? row[0].hashed : 0;
    replay_columns(column);
    column[REPLAY_COLUMNS] = (out_column){ "reserved", reserved ? "reserved" : NULL, OUT_COUNT };
    column[REPLAY_COLUMNS + 1] = (out_column){ "time_s", NULL, OUT_SECONDS };
    column[REPLAY_COLUMNS + 2] = (out_column){ "requests_per_s", "requests/s", OUT_RATE };
    if (!distinct) column[REPLAY_ASKED].head = NULL;
    out *o = out_open(line->form, "heddle.sim/1", column, sizeof column / sizeof *column);
    out_fact(o, "trace", "trace", OUT_TEXT, out_text(source->title));
    out_fact(o, "format", "format", OUT_TEXT, out_text(source->args.name));
    if (distinct) out_fact(o, "distinct", "different keys", OUT_COUNT, out_count(distinct));
    if (source->args.lenient) out_fact(o, "skipped", "bad records", OUT_COUNT, out_count(rows ? row[0].skipped : 0));
    if (hashed) out_fact(o, "hashed", "keys that are text, hashed", OUT_COUNT, out_count(hashed));
    if (p->dual) out_fact(o, "dual", "dual buckets", OUT_FLAG, out_flag(true));
    if (p->admit != HD_ADMIT_SCORE) out_fact(o, "admit", "admission", OUT_TEXT, out_text("always"));
    if (p->seed) out_fact(o, "seed", "seed", OUT_PLAIN, out_count(p->seed));
    replay_facts(o, p);
    for (size_t i = 0; i < rows; i++) {
        replay_cells(&row[i], cell);
        cell[REPLAY_COLUMNS] = out_count(row[i].reserved);
        cell[REPLAY_COLUMNS + 1] = out_real(row[i].seconds);
        cell[REPLAY_COLUMNS + 2] = replay_rate(&row[i]);
        out_row(o, cell);
    }
    if (reserved)
        out_note(o, "\nreserved: requests for the three keys that no table holds; the miss ratio leaves them out.\n");
    return o;
}

static int run(tool_line *line, int argc, char **argv)
{
    replay_plan p = { .threads = 1 };
    int code = tool_parse(line, argc, argv, &p);
    if (code >= 0) return code;

    request_source source;
    replay_list policies, sizes;
    replay_row *row = NULL;
    size_t rows = 0;
    uint64_t distinct = 0;
    code = request_words(&source, line->word[0], line->word[1]);
    if (!code) code = tool_apart("--save", p.save, line->word[0]);
    source.args.lenient = p.lenient;
    p.source = &source.args;
    if (!code) code = replay_list_parse(&policies, "POLICIES", line->word[2]);
    if (!code) code = replay_list_parse(&sizes, "SIZES", line->word[3]);
    if (!code && p.save && policies.items * sizes.items != 1)
        code = tool_say(TOOL_USAGE, "--save takes one policy and one size");
    if (!code) code = replay_rows_take(&p, &policies, &sizes, &row, &rows, &distinct);
    if (code) return code;

    if (p.save) code = tool_writable("--save", p.save);
    if (!code) code = replay_run(&p, row, rows);
    if (!code) code = out_close(report(line, &source, &p, row, rows, distinct), TOOL_OK);
    if (!code && row->saved) code = tool_fail(hd_fail(row->saved, "--save: %s", row->why));
    free(row);
    return code;
}

static const char doc[] =
    "Every request is one insert_or_assign with one tick of the table's clock, in trace order; "
    "it is a miss when its key was not "
    "there. The miss ratio is misses per request, those for the three reserved keys "
    "(doc/contract.md) left out; they are counted in the "
    "column reserved. POLICIES and SIZES are lists with commas; there is a row for each pair. A "
    "size is a number of entries (10240, 10Ki) or a "
    "part of the trace's different keys (0.01, 1%), which are counted first. The table nearest "
    "to that size is built; its capacity "
    "is in the row. requests/s includes reading.\n"
    "\n"
    "FORMAT is a row of `heddle list formats`, options appended: csv,key=2,time=1. Files may be "
    "compressed with zstd or gzip. TRACE may be - "
    "for standard input, or a pipe: what several rows read is kept in an unlinked file in "
    "$TMPDIR (else /tmp), as many bytes as are read.\n"
    "\n"
    "--backend cuda runs the GPU's kernels, --backend host the same kernels on this machine. They "
    "run the items of a batch side by side, in any "
    "order, so that a request can miss whose key an earlier one of its batch inserts, or be "
    "admitted before one that came first; "
    "the time of each request stays that of the trace. In batches of one (--batch 1) their figures "
    "are those of the reference.\n"
    "\n"
    "The policy custom keeps what it is told to keep: it is given the next access of each key, "
    "which makes it Belady's optimum "
    "within a bucket, when the trace knows it (oracleGeneral does).\n"
    "\n"
    "EXAMPLES\n"
    "  heddle gen zipf:0.99,10000 --requests 100000 -o zipf.oracleGeneral.zst\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lru 128\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lru,lfu,custom 1%,10%\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lfu 1Ki --dual --admit always --json\n";

const tool_verb verb_sim = {
    "sim", "TRACE FORMAT POLICIES SIZES", "replay a trace: misses by policy and size", doc, 4, 4, option, replay_option,
    run
};
