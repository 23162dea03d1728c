/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_fuzz.c - inputs made by chance, run through the targets of fuzz/; what goes wrong is made small, told, and kept
 * in a file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "fuzz/driver.h"
#include "fuzz/fixture.h"
#include "tools/annotation.h"
#include "tools/junit.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/with.h"

#define HEX "hex:" /* of a word that is an input */

enum { TARGETS_MOST = 32, USUAL_SECONDS = 5, SHOWN = 4096, PATH = 4096 };

typedef struct fuzz_options {
    uint64_t seconds; /* 0: not given          */
    uint64_t runs;    /* UINT64_MAX: not given */
    uint64_t seed;
    const char *corpus, *output, *kernel, *junit;
} fuzz_options;

static const tool_option option[] = {
    { "time", 't', "S", "seconds for each target (5, unless --runs says how many)",
      TOOL_RANGE(fuzz_options, seconds, 1, 1u << 30) },
    { "runs", 'n', "N", "inputs for each target: the same N, seed and corpus run the same",
      TOOL_RANGE(fuzz_options, runs, 0, 1ull << 60) },
    { "seed", 's', "N", "of the inputs (1)", TOOL_RANGE(fuzz_options, seed, 0, UINT64_MAX) },
    { "corpus", 'c', "DIR", "inputs to begin with: its files, or, without TARGET, those of DIR/TARGET",
      TOOL_FIELD(fuzz_options, corpus) },
    { "kernel", 'k', "NAME", "a variant, which then runs what it can, in the targets kernels and schedule",
      TOOL_FIELD(fuzz_options, kernel) },
    JUNIT_OPTION(fuzz_options),
    { "output", 'o', "FILE", "where to keep what is found (fuzz-TARGET-HASH)", TOOL_FIELD(fuzz_options, output) },
    { .name = NULL },
};

/* What is left of a turn: by its inputs or by its time, whatever ends first. */
typedef struct fuzz_progress {
    progress line;
    uint64_t runs, time_ns; /* UINT64_MAX and 0: not limited */
} fuzz_progress;

static int turn_progress(void *context, uint64_t done, uint64_t total)
{
    fuzz_progress *p = (fuzz_progress *)context;
    double by_time = p->time_ns ? (double)(progress_now_ns() - p->line.begin_ns) / (double)p->time_ns : -1;
    double by_count = p->runs != UINT64_MAX && total ? (double)done / (double)total : -1;
    double share = by_time > by_count ? by_time : by_count;
    return progress_at(&p->line, done, 0, share < 1 ? share : 1);
}

/* One target's turn, and what is to be said of it. */
typedef struct turn {
    fuzz_hunt h;
    fuzz_corpus corpus;
    char path[PATH]; /* of what was found; "" when nothing was */
    char means[SHOWN];
} turn;

/* ---- What to run ----------------------------------------------------------------------------- */

static int unknown_target(const char *name)
{
    const char *names[TARGETS_MOST + 1] = { NULL };
    for (size_t i = 0; i < TARGETS_MOST && fuzz_target_at(i); i++) names[i] = fuzz_target_at(i)->name;
    return tool_say(TOOL_USAGE, "TARGET: there is no '%.60s'%s; heddle list targets has all", name,
                    tool_nearest(name, names));
}

static bool runs_kernels(const fuzz_target *t)
{
    return strcmp(t->name, "kernels") == 0 || strcmp(t->name, "schedule") == 0;
}

static int take_kernel(const fuzz_options *o, const fuzz_target *only)
{
    if (only && !runs_kernels(only))
        return tool_say(TOOL_USAGE, "--kernel: target %s runs no kernels; kernels and schedule do", only->name);
    if (fuzz_kernel_only(o->kernel)) return TOOL_OK;
    return tool_say(TOOL_USAGE, "--kernel: there is no '%.60s' on the host machine; heddle list kernels has all",
                    o->kernel);
}

/* An error to tell, or -1: go on. */
static int go_on(hd_status s) { return s ? tool_fail(s) : -1; }

/* The files of the command line. */
static int take_files(turn *x, const tool_line *line, const fuzz_options *o)
{
    hd_status s = HD_OK;
    for (int i = 1; i < line->words && !s; i++) {
        const char *word = line->word[i];
        bool hex = strncmp(word, HEX, strlen(HEX)) == 0;
        if (!hex && (tool_file("FILE", word) || tool_apart("--output", o->output, word) ||
                     tool_apart("--junit", o->junit, word)))
            return TOOL_USAGE;
        s = hex ? fuzz_corpus_add_hex(&x->corpus, word + strlen(HEX)) : fuzz_corpus_add(&x->corpus, word);
    }
    return go_on(s);
}

static bool is_folder(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

/* The files of the corpus's folder; a target without a folder of its own has none. */
static int take_corpus(turn *x, const fuzz_options *o, bool all)
{
    char folder[PATH];
    if (!o->corpus) return -1;
    snprintf(folder, sizeof folder, "%s%s%s", o->corpus, all ? "/" : "", all ? x->h.target->name : "");
    if (!is_folder(folder))
        return all && is_folder(o->corpus) ? -1 : tool_say(TOOL_USAGE, "--corpus: there is no folder '%s'", folder);
    size_t i = x->corpus.n;
    hd_status s = fuzz_corpus_add_folder(&x->corpus, folder);
    for (char path[PATH]; i < x->corpus.n && !s; i++) {
        snprintf(path, sizeof path, "%.2000s/%.2000s", folder, x->corpus.input[i].name);
        if (tool_apart("--output", o->output, path)) return TOOL_USAGE;
    }
    return go_on(s);
}

/* Files of the command line are run once, unless there is more to do. */
static void plan(turn *x, const tool_line *line, const fuzz_options *o)
{
    bool counted = o->runs != UINT64_MAX, replay = line->words > 1 && !o->seconds && !counted;
    x->h.corpus = &x->corpus;
    x->h.seed = o->seed;
    x->h.runs = replay ? 0 : o->runs;
    if (o->seconds || (!counted && !replay)) x->h.time_ns = (o->seconds ? o->seconds : USUAL_SECONDS) * 1000000000u;
}

/* ---- What was found -------------------------------------------------------------------------- */

static int keep(turn *x, const fuzz_options *o)
{
    fuzz_find *f = &x->h.found;
    if (!f->wrong) return TOOL_OK;
    fuzz_tell(x->h.target, f->bytes, f->n, x->means, sizeof x->means);
    if (o->output)
        snprintf(x->path, sizeof x->path, "%s", o->output);
    else
        snprintf(x->path, sizeof x->path, "fuzz-%s-%08" PRIx32, x->h.target->name, XXH32(f->bytes, f->n, 0));
    hd_status s = fuzz_file_write(x->path, f->bytes, f->n);
    return s ? tool_fail(s) : TOOL_DIFFERS;
}

static int run_turn(turn *x, const tool_line *line, const fuzz_options *o, bool all)
{
    char what[64];
    fuzz_progress p;
    int code = take_files(x, line, o);
    if (code < 0) code = take_corpus(x, o, all);
    if (code >= 0) return code;
    plan(x, line, o);
    if (!all && x->h.runs == 0 && x->corpus.n == 0)
        return tool_say(TOOL_USAGE, "--runs 0: there is neither a FILE nor a corpus to run");
    snprintf(what, sizeof what, "fuzz %s", x->h.target->name);
    p.runs = x->h.runs;
    p.time_ns = x->h.time_ns;
    progress_begin(&p.line, what, "inputs");
    x->h.progress = turn_progress;
    x->h.context = &p;
    hd_status s = fuzz_hunt_run(&x->h);
    progress_end(&p.line);
    return s ? tool_fail(s) : keep(x, o);
}

/* ---- The verb -------------------------------------------------------------------------------- */

static const out_column column[] = {
    { "target", "target", OUT_TEXT },  { "corpus", "corpus", OUT_COUNT },
    { "inputs", "inputs", OUT_COUNT }, { "judged", "steps judged", OUT_COUNT },
    { "time_s", "time", OUT_SECONDS }, { "inputs_per_s", "inputs/s", OUT_RATE },
    { "found", "found", OUT_FLAG },    { "wrong", NULL, OUT_TEXT },
    { "crashed", NULL, OUT_FLAG },     { "means", NULL, OUT_TEXT },
    { "bytes", NULL, OUT_COUNT },      { "bytes_before", NULL, OUT_COUNT },
    { "tries", NULL, OUT_COUNT },      { "file", NULL, OUT_TEXT },
};

/* The command that runs the input again: without its file, where it is short. */
static void command_of(const turn *x, const fuzz_options *o, char command[SHOWN])
{
    enum { SHORT = 512 };
    const fuzz_find *f = &x->h.found;
    int n = snprintf(command, SHOWN, "%s fuzz %s%s%s ", with_command(), x->h.target->name,
                     o->kernel ? " --kernel " : "", o->kernel ? o->kernel : "");
    if (f->n <= SHORT) n += snprintf(command + n, SHOWN - (size_t)n, HEX);
    for (size_t i = 0; f->n <= SHORT && i < f->n; i++)
        n += snprintf(command + n, SHOWN - (size_t)n, "%02x", f->bytes[i]);
    if (f->n > SHORT) snprintf(command + n, SHOWN - (size_t)n, "%s", x->path);
}

/* What was checked, for machines. */
static void checked(junit *j, const turn *x, const char *command)
{
    char more[2 * SHOWN + 2 * FUZZ_WHY], name[128];
    const fuzz_find *f = &x->h.found;
    snprintf(name, sizeof name, "%.60s: %" PRIu64 " inputs", x->h.target->name, x->h.executions);
    snprintf(more, sizeof more, "%s\n%s\nagain: %s", f->wrong ? f->why : "", x->means, command);
    junit_check(j, "heddle fuzz", name, x->h.seconds, f->wrong ? f->why : NULL, more);
    if (f->wrong) annotation_of_check(f->why, f->why);
}

static void report(out *r, const turn *x, const char *command)
{
    const fuzz_find *f = &x->h.found;
    bool w = f->wrong;
    out_row(r, (const out_value[]){ out_text(x->h.target->name), out_count(x->corpus.n), out_count(x->h.executions),
                                    out_count(x->h.steps), out_real(x->h.seconds),
                                    x->h.seconds > 0 ? out_real((double)x->h.executions / x->h.seconds) : out_none(),
                                    out_flag(w), w ? out_text(f->why) : out_none(),
                                    w ? out_flag(f->crashed) : out_none(), w ? out_text(x->means) : out_none(),
                                    w ? out_count(f->n) : out_none(), w ? out_count(f->n_before) : out_none(),
                                    w ? out_count(f->tries) : out_none(), w ? out_text(x->path) : out_none() });
    if (w)
        out_note(r, "\n%s: %s\n%s\n%zu bytes of %zu are left after %" PRIu64 " tries, in %s; again: %s\n",
                 x->h.target->name, f->why, x->means, f->n, f->n_before, f->tries, x->path, command);
}

/* The targets one after the other, or `only` one; the worst code. */
static int run_turns(out *r, junit *j, turn *x, const tool_line *line, const fuzz_options *o, const fuzz_target *only)
{
    char command[SHOWN];
    int worst = TOOL_OK;
    for (size_t i = 0; !tool_stopped() && worst <= TOOL_DIFFERS; i++) {
        const fuzz_target *t = only ? only : fuzz_target_at(i);
        if (!t || (only && i > 0)) break;
        if (o->kernel && !runs_kernels(t)) continue;
        memset(x, 0, sizeof *x);
        x->h.target = t;
        int code = run_turn(x, line, o, !only);
        if (code <= TOOL_DIFFERS) {
            command_of(x, o, command);
            report(r, x, command);
            checked(j, x, command);
        }
        if (code > worst) worst = code;
        fuzz_hunt_close(&x->h);
        fuzz_corpus_close(&x->corpus);
    }
    return worst;
}

static int run(tool_line *line, int argc, char **argv)
{
    fuzz_options o = { .runs = UINT64_MAX, .seed = 1 };
    int code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    const fuzz_target *only = line->words ? fuzz_target_find(line->word[0]) : NULL;
    if (line->words && !only) return unknown_target(line->word[0]);
    if (o.output && !only) return tool_say(TOOL_USAGE, "--output takes one TARGET");
    if (o.kernel && (code = take_kernel(&o, only)) != TOOL_OK) return code;
    fuzz_command_is(with_command());
    junit *checks;
    code = junit_open(o.junit, &checks);
    if (code) return code;
    turn *x = (turn *)malloc(sizeof *x);
    if (!x) return tool_say(TOOL_SYSTEM, "memory was refused");

    out *r = out_open(line->form, "heddle.fuzz/1", column, sizeof column / sizeof *column);
    out_fact(r, "seed", "seed", OUT_PLAIN, out_count(o.seed));
    int worst = junit_close(checks, run_turns(r, checks, x, line, &o, only));
    free(x);
    if (worst <= TOOL_DIFFERS) return out_close(r, worst);
    out_drop(r);
    return worst;
}

static const char doc[] =
    "Makes inputs by chance, runs each, and judges what comes of it: what happens to a table against a judge that "
    "knows no buckets, GPU kernels on the host machine and their schedules against the reference, calls of the "
    "library against its header, parsers and readers against themselves. TARGET is a row of `heddle list "
    "targets`; without it all take their turn. A FILE is an input: it is run first, and alone unless --time or "
    "--runs asks for more; a word hex:0a1b... is one, too.\n\n"
    "Each input is run in a process that may crash or hang. The first that goes wrong ends its target's turn: it "
    "is made as small as it goes, told in words, and kept in a file that TARGET FILE runs again. Exit code 1: "
    "something was found.\n\n"
    "Coverage guides libFuzzer and AFL++, which run the same targets: fuzz/README.md.\n\n"
    "EXAMPLES\n"
    "  heddle fuzz table --time 1\n"
    "  heddle fuzz --runs 50 --seed 7\n"
    "  printf 'policy=lruu' > text\n"
    "  heddle fuzz case text\n"
    "  heddle fuzz --kernel warp --runs 200 --junit fuzz.xml\n"
    "  heddle fuzz kernels hex:00010203 --kernel warp\n";

const tool_verb verb_fuzz = {
    "fuzz", "[TARGET [FILE...]]", "look for inputs that go wrong, and make them small", doc, 0, 1024, option, NULL, run
};
