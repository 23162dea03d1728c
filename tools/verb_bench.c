/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_bench.c - collects the lines that were asked for, times them one by one (bench/bench.h), reports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suites.h"
#include "bench/unpack.h"
#include "base/error.h"
#include "tools/bench_report.h"
#include "tools/cliffs.h"
#include "tools/contention.h"
#include "tools/growths.h"
#include "tools/output.h"
#include "tools/points_report.h"
#include "tools/progress.h"

typedef struct bench_options {
    uint64_t repeat;
    double min_time_s;
    const char *data, *backend, *table; /* backend NULL: cases; table: of points, saved */
    tool_words save;
    bool list;
} bench_options;

enum { KEY_DATA = 0x100, KEY_LIST, KEY_BACKEND, KEY_SHORT };
enum { REPEAT = 7 };

static const char doc[] =
    "NAME is a suite, or one or more of its cases: sim (replays of a real trace), ops (every operation), capacity "
    "(2^16 to "
    "2^26 entries), threads; ops.find is every find of ops. CASE is a case string, with words that say what is "
    "timed (bench/README.md). Without any, ops. A word ending in .txt is a file of such lines.\n\n"
    "Each case is first run at a reduced size before the judge; what it refuses is not timed. Then it warms up, "
    "repeats, and "
    "every outcome is checked. Reported are median, least and most of the repetitions, and the median absolute "
    "deviation; "
    "times are per item. JSON is what Google Benchmark's compare.py reads; -o writes .json, .csv, .svg (a plot) or "
    "else TSV. "
    "Cases whose trace is absent are skipped; if that is all of them, the exit code is 77.\n\n"
    "With --backend, points: operations at shares of hits and load factors, in queues of large batches on a large "
    "table, with goals and "
    "the share of what the memory allows, measured in the same run (bench/README.md). Words are operations, `limits` "
    "(only those), "
    "and lists NAME=VALUE,...: design, dim (floats in a value), load, hits, capacity, batch, bulk (calls of all keys "
    "of a table), keys (uniform, zipf:S), variant (chosen, all, or names), near (share of the values that lie in the "
    "GPU's memory), mode (queue, wall, both; watch: one call alone, for a profiler), calls (in a queue), and every "
    "other parameter of `heddle list parameters`, as slots=64,128 or dual=1 or hash=NAME+NAME. Without words, the "
    "table of goals. The word `locks` instead "
    "times threads that find, assign and insert on one table, "
    "under every batch lock (capacity=, batch=, batches=, dim=, load=). The word `growth` times a table that grows in "
    "place, and shrinks (capacity=, to=, batch=, split=, load=, slots=, layout=). The word `cliffs` times every "
    "operation, or those that are named, under every policy, in both modes, with every pattern of keys, and marks the "
    "cells of that matrix that are slow (policy=, mode=, pattern=, capacity=, dim=, batch=, calls=, limit=, elem=; "
    "from=FILE prints what -o FILE.tsv has recorded). "
    "Without a GPU, --backend cuda ends with the exit code 77.\n\n"
    "EXAMPLES\n"
    "  heddle bench --list\n"
    "  heddle bench 'hkv.find.ref capacity=64Ki batch=4096' --repeat 3 --min-time 0.01\n"
    "  heddle bench 'probe=miss hkv.find.ref capacity=64Ki' --repeat 3 --min-time 0.01 -o bench.json\n"
    "  heddle bench --backend ref find erase capacity=16Ki batch=512 dim=8 load=0.5 --repeat 2\n"
    "  heddle bench --backend ref design=hive mixed insert_or_assign bulk=4Ki load=0.9 --repeat 2\n"
    "  heddle bench --backend ref growth capacity=4Ki to=32Ki batch=1Ki --repeat 1\n"
    "  heddle bench --backend ref limits\n"
    "  heddle bench --backend ref locks capacity=4Ki batch=64 batches=2 --repeat 1\n"
    "  heddle bench cliffs find touch policy=lru pattern=hits,one capacity=4Ki batch=256\n";

static const tool_option option[] = {
    { "repeat", 'r', "N", "repetitions (7; of points 5)", TOOL_RANGE(bench_options, repeat, 1, 1000) },
    { "min-time", 't', "S", "seconds that each lasts at least (0.1)", TOOL_RANGE(bench_options, min_time_s, 0, 3600) },
    { "output", 'o', "FILE", "also write the results to FILE; more than once: to each",
      TOOL_SEVERAL(bench_options, save, 4, "4 files at most") },
    { "data", KEY_DATA, "DIR", "where the traces are (the environment's HEDDLE_DATA)",
      TOOL_FIELD(bench_options, data) },
    { "backend", KEY_BACKEND, "NAME", "time points on tables of this backend: cuda, ref, host",
      TOOL_FIELD(bench_options, backend) },
    { "short", KEY_SHORT, "FILE",
      "of a table of points that -o wrote (TSV): rows that are short of their goals, what bounds them, what was tried",
      TOOL_FIELD(bench_options, table) },
    { "list", KEY_LIST, NULL, "print the cases, time nothing", TOOL_FIELD(bench_options, list) },
    { .name = NULL },
};

/* ---- Which cases ----------------------------------------------------------------------------- */

typedef struct bench_cases {
    bench_line *line; /* (lines); names are complete: "ops.find.hit" */
    size_t lines;
} bench_cases;

static int case_add(bench_cases *all, const char *text, const char *suite, const char *only)
{
    bench_line l;
    hd_status e = bench_line_parse(text, &l);
    if (e) return tool_fail(e);
    char name[2 * BENCH_NAME];
    snprintf(name, sizeof name, "%s%s%s", suite, *suite ? "." : "", l.name);
    if (strlen(name) >= sizeof l.name) return tool_say(TOOL_USAGE, "name: '%.40s...' is too long", name);
    memcpy(l.name, name, strlen(name) + 1);
    size_t part = strlen(only); /* "ops.find" is a part of "ops.find.hit", not of "ops.find_ptr" */
    if (part && (strncmp(name, only, part) != 0 || (name[part] && name[part] != '.'))) return TOOL_OK;
    bench_line *p = (bench_line *)realloc(all->line, (all->lines + 1) * sizeof l);
    if (!p) return tool_say(TOOL_SYSTEM, "memory was refused");
    all->line = p;
    all->line[all->lines++] = l;
    return TOOL_OK;
}

static int text_add(bench_cases *all, const char *text, const char *suite, const char *only)
{
    char line[BENCH_LINE];
    int code = TOOL_OK;
    while (!code && bench_line_next(&text, line)) code = case_add(all, line, suite, only);
    return code;
}

static int file_add(bench_cases *all, const char *path)
{
    int code = tool_file("CASE", path);
    if (code) return code;
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t bytes = 0, before = all->lines;
    if (!f || getdelim(&text, &bytes, 0, f) < 0)
        code = tool_say(TOOL_SYSTEM, "%s: it cannot be read, or is empty", path);
    if (!code) code = text_add(all, text, "", "");
    if (!code && all->lines == before) code = tool_say(TOOL_DATA, "%s: there is no case in it", path);
    free(text);
    if (f) fclose(f);
    return code;
}

/* A suite, a part of one, a file, or a case. */
static int word_add(bench_cases *all, const char *word)
{
    const char *name[16] = { NULL };
    size_t before = all->lines, n = strlen(word), suites = 0;
    for (const bench_suite *s = bench_suites; s->name; s++) {
        if (suites < 15) name[suites++] = s->name;
        size_t part = strlen(s->name);
        if (strncmp(word, s->name, part) != 0 || (word[part] && word[part] != '.')) continue;
        int code = text_add(all, s->text, s->name, word);
        if (code || all->lines > before) return code;
        return tool_say(TOOL_USAGE, "%s has no case '%s'; heddle bench %s --list prints them", s->name, word, s->name);
    }
    if (n > 4 && strcmp(word + n - 4, ".txt") == 0) return file_add(all, word);
    bool is_case = strpbrk(word, " =.") != NULL;
    if (is_case) return case_add(all, word, "", "");
    return tool_say(TOOL_USAGE, "there is no suite '%.60s'%s; a case is DESIGN.OP.KERNEL and NAME=VALUE words", word,
                    tool_nearest(word, name));
}

static int list_print(const bench_cases *all, tool_form form)
{
    static const out_column column[] = { { "name", "case", OUT_TEXT },
                                         { "fill", "fill", OUT_REAL },
                                         { "case", "case string", OUT_TEXT } };
    out *o = out_open(form, "heddle.bench.list/1", column, 3);
    for (size_t i = 0; i < all->lines; i++) {
        char text[BENCH_LINE];
        hd_case_print(&all->line[i].c, text, sizeof text);
        out_row(o, (const out_value[]){ out_text(all->line[i].name), out_real(all->line[i].fill), out_text(text) });
    }
    return out_close(o, TOOL_OK);
}

/* ---- Running them ---------------------------------------------------------------------------- */

typedef struct bench_run {
    progress line;
    uint64_t done, total; /* cases */
} bench_run;

static bool stop_asked(void *context)
{
    bench_run *b = (bench_run *)context;
    return progress_at(&b->line, b->done, b->total, -1);
}

/* Times every case; what is wrong or skipped is said at once. The worst that happened is the exit code. */
static int cases_run(const bench_cases *all, bench_report *report)
{
    bench_stage stage;
    memset(&stage, 0, sizeof stage);
    bench_run b = { .total = all->lines };
    int code = TOOL_OK;
    size_t skipped = 0;
    progress_begin(&b.line, "bench", "cases");
    for (; b.done < b.total && !tool_stopped() && code != TOOL_SYSTEM; b.done++) {
        const bench_line *l = &all->line[b.done];
        bench_row *row = &report->row[report->rows];
        snprintf(row->name, sizeof row->name, "%s", l->name);
        row->threads = l->c.threads;
        hd_status e = bench_line_run(l, &report->plan, &stage, stop_asked, &b, &row->result);
        bool timed = !e && !*row->result.wrong && row->result.times > 0;
        if (!timed) progress_end(&b.line);
        if (e)
            code = tool_say(tool_fail(e), "in %s", l->name);
        else if (*row->result.wrong)
            code = tool_say(TOOL_DIFFERS, "%s is wrong, and was not timed: %s", l->name, row->result.wrong);
        else if (*row->result.skipped)
            tool_say(TOOL_OK, "%s skipped: %s", l->name, row->result.skipped);
        skipped += *row->result.skipped != 0;
        if (timed) {
            bench_row_summarise(row);
            report->rows++;
        } else
            free(row->result.time);
    }
    progress_end(&b.line);
    stage_strike(&stage);
    trace_forget();
    if (tool_stopped()) return TOOL_STOPPED;
    return code ? code : skipped == all->lines ? TOOL_SKIPPED : TOOL_OK;
}

/* The command line as it can be typed again. */
static char *command_of(const tool_line *line, const bench_options *o)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    if (!f) return NULL;
    fputs("heddle bench", f);
    for (int i = 0; i < line->words; i++) {
        const char *quote = strpbrk(line->word[i], " *?$") ? "'" : "";
        fprintf(f, " %s%s%s", quote, line->word[i], quote);
    }
    if (o->backend) fprintf(f, " --backend %s", o->backend);
    if (o->repeat) fprintf(f, " --repeat %llu", (unsigned long long)o->repeat);
    if (!o->backend) fprintf(f, " --min-time %g", o->min_time_s);
    return fclose(f) == 0 ? text : NULL;
}

static int report_all(const tool_line *line, const bench_options *o, const bench_cases *all)
{
    bench_report report = { .plan = { o->repeat, o->min_time_s, o->data } };
    char *command = command_of(line, o);
    report.command = command;
    report.row = (bench_row *)calloc(all->lines, sizeof *report.row);
    machine_look(&report.on);
    machine_return_memory();
    int code = report.row && command ? cases_run(all, &report) : tool_say(TOOL_SYSTEM, "memory was refused");
    int printed = report.rows ? bench_report_print(&report, line->form) : TOOL_OK;
    for (int i = 0; i < o->save.n && report.rows && !printed; i++)
        printed = bench_report_save(&report, o->save.word[i]);
    for (size_t i = 0; i < report.rows; i++) free(report.row[i].result.time);
    free(report.row);
    free(command);
    return printed ? printed : code;
}

/* What stands instead of points, and runs with the words that follow. */
static const struct {
    const char *word;
    int (*run)(tool_line *line, const points_options *o);
} others[] = { { CROWDS_WORD, contention_run }, { GROWTHS_WORD, growths_run }, { CLIFFS_WORD, cliffs_run } };

enum { OTHERS = sizeof others / sizeof *others };

/* Which of them a word asks for; OTHERS: none. */
static size_t other_of(const tool_line *line)
{
    for (size_t k = 0; k < OTHERS; k++)
        for (int i = 0; i < line->words; i++)
            if (strcmp(line->word[i], others[k].word) == 0) return k;
    return OTHERS;
}

static int points_or_others(tool_line *line, const points_options *p)
{
    size_t k = other_of(line);
    return k < OTHERS ? others[k].run(line, p) : points_run(line, p);
}

static int points(tool_line *line, const bench_options *o)
{
    static const char *const backends[] = { "cuda", "ref", "host", NULL };
    int known = 0;
    while (backends[known] && strcmp(backends[known], o->backend) != 0) known++;
    if (!backends[known])
        return tool_say(TOOL_USAGE, "--backend: there is no '%.40s'%s", o->backend, tool_nearest(o->backend, backends));
    if (o->list) return tool_say(TOOL_USAGE, "--list has the cases, which --backend does not time");
    if (o->repeat > POINT_REPEAT_MOST)
        return tool_say(TOOL_USAGE, "--repeat: points are repeated %d times at most", POINT_REPEAT_MOST);
    char *command = command_of(line, o);
    points_options p = { o->backend, o->save.word, o->save.n, o->repeat, command };
    int code = !command ? tool_say(TOOL_SYSTEM, "memory was refused") : points_or_others(line, &p);
    free(command);
    return code;
}

static int run(tool_line *line, int argc, char **argv)
{
    bench_options o = { .min_time_s = 0.1, .data = getenv("HEDDLE_DATA") };
    int code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    for (int i = 0; i < o.save.n; i++) {
        if (tool_apart_words("--output", o.save.word[i], line)) return TOOL_USAGE;
        for (int k = 0; k < i; k++)
            if (tool_apart_outputs("--output", o.save.word[i], "another --output", o.save.word[k])) return TOOL_USAGE;
    }
    if (o.table) return points_short_of(o.table);
    if (!o.backend && other_of(line) < OTHERS) o.backend = hd_config_default().backend;
    if (o.backend) return points(line, &o);
    if (o.repeat == 0) o.repeat = REPEAT;
    bench_cases all = { NULL, 0 };
    code = TOOL_OK;
    for (int i = 0; i < line->words && !code; i++) code = word_add(&all, line->word[i]);
    for (const bench_suite *s = bench_suites; !line->words && s->name && !code; s++)
        if (o.list || strcmp(s->name, "ops") == 0) code = word_add(&all, s->name);
    if (!code) code = o.list ? list_print(&all, line->form) : report_all(line, &o, &all);
    free(all.line);
    return code;
}

const tool_verb verb_bench = {
    "bench", "[CASE|NAME ...]", "time operations, after judging them", doc, 0, 4096, option, NULL, run
};
