/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_sim.c - a trace replayed through tables: one row per policy and size.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/input.h"
#include "tools/replay_report.h"

enum { KEY_LIMIT = 0x100, KEY_SAVE, KEY_OUTCOMES };

static const tool_option option[] = {
    REPLAY_OPTIONS,
    { "limit", KEY_LIMIT, "N", "stop after N requests", TOOL_RANGE(replay_plan, limit, 1, UINT64_MAX) },
    { "save", KEY_SAVE, "FILE", "save the table at the end (one policy, one size)", TOOL_FIELD(replay_plan, save) },
    { "outcomes", KEY_OUTCOMES, "FILE", "write what became of each request, one byte each (one policy, one size)",
      TOOL_FIELD(replay_plan, outcomes) },
    { .name = NULL },
};

/* What a command line gives, and what comes of it. */
typedef struct sim {
    replay_plan plan;
    request_source source;
    replay_list policies, sizes;
    replay_row *row;
    size_t rows;
    uint64_t distinct;
} sim;

static void report_facts(out *o, const sim *m)
{
    const replay_plan *p = &m->plan;
    out_fact(o, "trace", "trace", OUT_TEXT, out_text(m->source.title));
    out_fact(o, "format", "format", OUT_TEXT, out_text(m->source.args.name));
    if (m->distinct) out_fact(o, "distinct", "different keys", OUT_COUNT, out_count(m->distinct));
    source_told_facts(o, &m->row->told, p->lenient);
    if (p->dual) out_fact(o, "dual", "dual buckets", OUT_FLAG, out_flag(true));
    if (p->admit != HD_ADMIT_SCORE) out_fact(o, "admit", "admission", OUT_TEXT, out_text("always"));
    if (p->seed) out_fact(o, "seed", "seed", OUT_PLAIN, out_count(p->seed));
    replay_facts(o, p, m->row);
}

/* Whether more than a fiftieth of the slots were free at the end of a row that evicted or refused. */
static bool evicts_with_room(const replay_row *r)
{
    return !r->full && r->all.evicted + r->all.refused > 0 && r->entries < r->capacity - r->capacity / 50;
}

static out *report_rows(const sim *m, tool_form form)
{
    enum { MOST = REPLAY_COLUMNS + REPLAY_SPREAD + 3 };
    static out_column column[MOST];
    out_value cell[MOST];
    uint64_t reserved = m->row->all.reserved;
    int n = replay_columns(column, &m->plan, m->row);
    column[n] = (out_column){ "reserved", reserved ? "reserved" : NULL, OUT_COUNT };
    column[n + 1] = (out_column){ "time_s", NULL, OUT_SECONDS };
    column[n + 2] = (out_column){ "requests_per_s", "requests/s", OUT_RATE };
    if (!m->distinct) column[REPLAY_ASKED].head = NULL;
    out *o = out_open(form, "heddle.sim/1", column, n + 3);
    report_facts(o, m);
    for (size_t i = 0; i < m->rows; i += replay_seeds(&m->plan)) {
        const replay_row *r = &m->row[i];
        replay_cells(r, &m->plan, cell);
        cell[n] = out_count(r->all.reserved);
        cell[n + 1] = out_real(r->seconds);
        cell[n + 2] = replay_rate(r);
        out_row(o, cell);
    }
    for (size_t i = 0; i < m->rows && !m->plan.dual; i += replay_seeds(&m->plan))
        if (evicts_with_room(&m->row[i])) {
            out_note(o, "\nFull buckets evicted while others had room: %s, %s. With --dual each key has two buckets.\n",
                     m->row[i].policy, m->row[i].asked);
            break;
        }
    if (reserved)
        out_note(o, "\nreserved: requests for the three keys that no table holds; the miss ratio leaves them out.\n");
    return o;
}

static out *report_windows(const sim *m, tool_form form)
{
    out *o = replay_windows_open(form, m->row);
    report_facts(o, m);
    replay_windows(o, &m->plan, m->row, m->rows);
    return o;
}

/* What is written of one run cannot be of several. */
static int one_run_check(const sim *m, const char *what, const char *path)
{
    if (!path) return TOOL_OK;
    if (m->policies.items != 1 || !replay_list_is_one(&m->sizes) || m->plan.seeds > 1)
        return tool_say(TOOL_USAGE, "%s takes one policy, one size and one seed", what);
    return TOOL_OK;
}

static int files_check(const sim *m, const char *trace)
{
    const replay_plan *p = &m->plan;
    trace = input_path(trace);
    int code = tool_apart("--save", p->save, trace);
    if (!code) code = tool_apart("--outcomes", p->outcomes, trace);
    if (!code) code = tool_apart_outputs("--outcomes", p->outcomes, "--save", p->save);
    if (!code) code = one_run_check(m, "--save", p->save);
    if (!code) code = one_run_check(m, "--outcomes", p->outcomes);
    if (!code && p->save && baseline_named(m->policies.item[0]))
        code = tool_say(TOOL_USAGE, "--save: %s is no table", m->policies.item[0]);
    if (!code && p->outcomes && strcmp(p->outcomes, "-") == 0)
        code = tool_say(TOOL_USAGE, "--outcomes: the report goes to standard output; name a file or a pipe");
    return code;
}

/* The words with those that may be left out: FORMAT, or POLICIES and SIZES, or all three. */
static int words_complete(tool_line *line)
{
    static char lru[] = "lru", tenth[] = "10%", *complete[4];
    bool formatted = line->words == 2 || line->words == 4;
    char *const trace = line->word[0], **rest = line->word + (formatted ? 2 : 1);
    const char *format = formatted ? line->word[1] : request_format_say(trace);
    if (!format) return TOOL_USAGE;
    complete[0] = trace;
    complete[1] = (char *)(uintptr_t)format;
    complete[2] = line->words > 2 ? rest[0] : lru;
    complete[3] = line->words > 2 ? rest[1] : tenth;
    line->word = complete;
    line->words = 4;
    return TOOL_OK;
}

/* Everything up to the rows. */
static int sim_prepare(sim *m, tool_line *line)
{
    replay_plan *p = &m->plan;
    int code = words_complete(line);
    if (code) return code;
    code = request_words(&m->source, line->word[0], line->word[1]);
    m->source.args.lenient = p->lenient;
    p->source = &m->source.args;
    if (!code) code = replay_options_check(p);
    if (!code) code = replay_list_parse(&m->policies, "POLICIES", line->word[2]);
    if (!code) code = replay_list_parse(&m->sizes, "SIZES", line->word[3]);
    if (!code) code = files_check(m, line->word[0]);
    if (!code) code = replay_rows_take(p, &m->policies, &m->sizes, &m->row, &m->rows, &m->distinct);
    return code;
}

static int sim_run(sim *m, const tool_line *line)
{
    const replay_plan *p = &m->plan;
    int code = p->save ? tool_writable("--save", p->save) : TOOL_OK;
    if (!code && p->outcomes) code = tool_writable("--outcomes", p->outcomes);
    if (!code) code = replay_run(p, m->row, m->rows);
    if (!code) code = out_close(p->every ? report_windows(m, line->form) : report_rows(m, line->form), TOOL_OK);
    if (code) return code;
    code = replay_fails(p, m->row, m->rows);
    return m->row->saved ? tool_fail(hd_fail(m->row->saved, "%s", m->row->why)) : code;
}

static int run(tool_line *line, int argc, char **argv)
{
    static sim m;
    m.plan.threads = 1;
    int code = tool_parse(line, argc, argv, &m);
    if (code >= 0) return code;
    code = sim_prepare(&m, line);
    if (code) return code;
    code = sim_run(&m, line);
    replay_rows_give(m.row, m.rows);
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
    "FORMAT is a row of `heddle list formats`, options appended: csv,key=2,time=1. Without it the file's name says it "
    "(requests.csv.gz); without POLICIES and SIZES there is lru with 10% of the keys. Files may be "
    "compressed with zstd or gzip. TRACE may be - "
    "for standard input, or a pipe: what several rows read is kept in an unlinked file in "
    "$TMPDIR (else /tmp), as many bytes as are read.\n"
    "\n"
    "POLICIES are policies of tables (`heddle list policies`) and exact caches to compare them with "
    "(`heddle list baselines`): full:lru, full:sieve, full:belady and others have all entries in one set, as many as "
    "the "
    "table of that size. Their sizes may be in bytes, if the trace has sizes: 10MiB. No row of the "
    "same capacity has fewer misses than full:belady. The next accesses that it "
    "needs come from the trace, or else from reading it once more. doc/output.md has the rules.\n"
    "\n"
    "The byte miss ratio is missed bytes per requested byte, where the trace has sizes "
    "(oracleGeneral, vscsi, csv with a column of sizes). Tables hold entries, not bytes: there a size counts in this "
    "ratio, and nowhere else.\n"
    "\n"
    "--every N prints a row per window of N requests instead, the windows of each policy and size "
    "in order. --seeds N adds the spread of the miss ratio over N hash seeds; the other columns are "
    "those of the first. --outcomes FILE writes one byte per request, the warm-up included, with "
    "the number of its outcome (doc/output.md); FILE may be a pipe.\n"
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
    "  heddle sim zipf.oracleGeneral.zst\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lru,lfu,custom 1%,10%\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lru,full:lru,full:belady 1%,10%\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral full:sieve,full:s3fifo,full:gdsf 1KiB,10KiB\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lfu 1Ki --dual --admit always --json\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lru 1Ki --every 10k --csv\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lru,lfu 1Ki --seeds 5 --fail-above 0.5\n"
    "  heddle sim zipf.oracleGeneral.zst oracleGeneral lru 1Ki --outcomes outcomes.u8\n";

const tool_verb verb_sim = { "sim",
                             "TRACE [FORMAT] [POLICIES SIZES]",
                             "replay a trace: misses by policy and size",
                             doc,
                             1,
                             4,
                             option,
                             replay_option,
                             run };
