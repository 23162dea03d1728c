/* SPDX-License-Identifier: Apache-2.0
 *
 * guide.c - heddle-museum, the program behind `heddle museum`: it has the altered library in it, shows one bug after
 * another to the looks that are to find it, each in a process of its own, and says what came of it, a line each, fields
 * with tabs between:
 *
 *     name  bug  from  look  found  judge  by  needs  seed  tries  decisions  decisions_before  hash  seconds  case
 *           sentence
 *
 *     heddle-museum [list | judges] [sound] [without=JUDGE]... [fixtures=N] [schedules=N] [story=FILE] [NAME]...
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/seam.h"
#include "judge/design.h"
#include "judge/museum/museum.h"
#include "simt/sanitizer.h"

enum { HANG_SECONDS = 600, NAMES = 256 };

typedef struct plan {
    bool list, judges, sound;
    uint32_t muted_checks;
    uint64_t fixtures, schedules;
    const char *story;
    const char *name[NAMES];
    int names;
} plan;

/* What a process of its own says of a look. */
typedef struct verdict {
    museum_sight sight;
    char failed[512]; /* "", or why it could not be tried */
} verdict;

/* ---- One look -------------------------------------------------------------------------------- */

static const struct {
    const char *kind;
    const char *(*look)(const museum_search *, museum_sight *);
} looks[] = { { "sched ", museum_look_sched }, { "crash ", museum_look_crash }, { "run ", museum_look_run },
              { "grow ", museum_look_grow },   { "chase ", museum_look_chase }, { "call ", museum_look_call },
              { "file ", museum_look_file } };

static void look(const plan *p, const museum_row *row, verdict *v)
{
    museum_search s = { row->look, p->muted_checks, p->fixtures, p->schedules, p->story, row };
    const char *why = "it is of no kind that there is";
    museum_now = p->sound ? 0 : row->number;
    if (row->lost[0]) {
        snprintf(v->failed, sizeof v->failed, "its text is no longer once in %s", row->lost);
        return;
    }
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        size_t n = strlen(looks[i].kind);
        if (strncmp(row->look, looks[i].kind, n) != 0) continue;
        s.what = row->look + n;
        why = looks[i].look(&s, &v->sight);
    }
    if (why) snprintf(v->failed, sizeof v->failed, "%s", why);
}

static bool read_all(int fd, void *to, size_t bytes)
{
    size_t got = 0;
    while (got < bytes) {
        ssize_t n = read(fd, (char *)to + got, bytes - got);
        if (n <= 0 && !(n < 0 && errno == EINTR)) return false;
        if (n > 0) got += (size_t)n;
    }
    return true;
}

/* A process that ends without a word was found by that: it went on for ever, or it crashed. */
static void explain_silence(const plan *p, int status, verdict *v)
{
    const museum_search s = { .what = "", .muted_checks = p->muted_checks };
    char sentence[64] = "it was not done when its time was over";
    bool endless = WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF);
    memset(v, 0, sizeof *v);
    v->sight.tries = 1;
    if (!endless)
        snprintf(sentence, sizeof sentence, "the process ended with %s %d",
                 WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    museum_heard(&s, &v->sight, endless ? MUSEUM_PATIENCE : MUSEUM_BOUNDS, sentence);
}

static double seconds(void) { return (double)hd_seams_os.time.now_ns(hd_seams_os.time.self) * 1e-9; }

/* False: no process. */
static bool look_apart(const plan *p, const museum_row *row, verdict *v)
{
    int ends[2], status = 0;
    double start = seconds();
    memset(v, 0, sizeof *v);
    fflush(stdout);
    if (pipe(ends)) return false;
    pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing else would end it, and it has our standard output */
        alarm(HANG_SECONDS);
        look(p, row, v);
        ssize_t n = write(ends[1], v, sizeof *v); /* in one piece, or the parent hears nothing */
        HD_COUNTED();
        _exit(n != (ssize_t)sizeof *v);
    }
    close(ends[1]);
    bool told = read_all(ends[0], v, sizeof *v);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (!told) explain_silence(p, status, v);
    if (v->sight.seconds == 0) v->sight.seconds = seconds() - start;
    return true;
}

/* ---- What is said ---------------------------------------------------------------------------- */

static void say(const museum_row *row, const verdict *v)
{
    const museum_sight *s = &v->sight;
    const char *found = v->failed[0] ? "failed"
                        : s->found   ? "yes"
                                     : "no",
               *sentence = v->failed[0] ? v->failed : s->sentence;
    printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%016" PRIx64
           "\t%.6f\t%s\t",
           row->name, row->bug, row->from, row->look, found, s->found ? museum_judge_name[s->by] : "", row->by,
           row->needs, s->seed, s->tries, s->decisions, s->decisions_before, s->hash, s->seconds, s->at);
    for (const char *c = sentence; *c; c++) putchar(*c == '\t' || *c == '\n' ? ' ' : *c);
    putchar('\n');
}

static bool wanted(const plan *p, const museum_row *row)
{
    for (int i = 0; i < p->names; i++)
        if (strcmp(p->name[i], row->name) == 0) return true;
    return p->names == 0;
}

static int no(const char *what, const char *word)
{
    fprintf(stderr, "heddle-museum: %s '%s'\n", what, word);
    return 2;
}

static int read_words(plan *p, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        if (strcmp(w, "list") == 0)
            p->list = true;
        else if (strcmp(w, "judges") == 0)
            p->judges = true;
        else if (strcmp(w, "sound") == 0)
            p->sound = true;
        else if (strncmp(w, "story=", 6) == 0)
            p->story = w + 6;
        else if (strncmp(w, "without=", 8) == 0) {
            museum_judge j = museum_judge_named(w + 8, strlen(w + 8));
            if (j == MUSEUM_JUDGES) return no("there is no judge", w + 8);
            p->muted_checks |= 1u << j;
        } else if (sscanf(w, "fixtures=%" SCNu64, &p->fixtures) == 1 ||
                   sscanf(w, "schedules=%" SCNu64, &p->schedules) == 1)
            continue;
        else if (p->names < NAMES)
            p->name[p->names++] = w;
    }
    return 0;
}

int main(int argc, char **argv)
{
    plan p = { .fixtures = 100, .schedules = 60 };
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* the command that asks is gone: nothing reads the lines */
    int code = add_own_designs() ? no("no designs", hd_why()) : read_words(&p, argc, argv);
    if (code) return code;
    for (int j = 0; p.judges && j < MUSEUM_JUDGES; j++) printf("%s\t%s\n", museum_judge_name[j], museum_judge_what[j]);
    for (size_t i = 0; i < museum_row_count && !p.judges; i++) {
        const museum_row *row = &museum_rows[i];
        verdict v;
        memset(&v, 0, sizeof v);
        if (!wanted(&p, row)) continue;
        if (!p.list && !look_apart(&p, row, &v)) return no("no process for", row->name);
        say(row, &v);
    }
    return fflush(stdout) || ferror(stdout) ? 4 : 0;
}
