/* SPDX-License-Identifier: Apache-2.0
 *
 * heddle.c - the command: finds the verb, runs it, and sees to it that what was printed arrived.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judge/design.h"
#include "tools/input.h"
#include "tools/tool.h"
#include "tools/with.h"
#include "workload/workload.h"

/* ---- The verbs ------------------------------------------------------------------------------- */

#define VERB(name) extern const tool_verb verb_##name;
#include "tools/verbs.inc"
#undef VERB

static const tool_verb *const verbs[] = {
#define VERB(name) &verb_##name,
#include "tools/verbs.inc"
#undef VERB
    NULL
};

static const tool_verb *verb_find(const char *name)
{
    for (int i = 0; verbs[i]; i++)
        if (strcmp(verbs[i]->name, name) == 0) return verbs[i];
    return NULL;
}

/* ---- The command itself ---------------------------------------------------------------------- */

static void print_version(FILE *f, struct argp_state *state)
{
    (void)state;
    fprintf(f, "heddle %s\n", hd_version());
    fputs("Apache-2.0; there is no warranty.\n", f);
}
void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

static void print_help(FILE *f)
{
    fputs("Usage: heddle [--with FILE]... VERB [ARGUMENT...]\n"
          "Hash tables with cache semantics: run them, judge them, measure them.\n\n"
          "Verbs:\n",
          f);
    for (int i = 0; verbs[i]; i++) fprintf(f, "  %-9s %s\n", verbs[i]->name, verbs[i]->what);
    fputs("\n  --with     add the kernels or predicates of a file (heddle new makes one)\n"
          "  --help     print this; heddle VERB --help says all about a verb\n"
          "  --version  print the version\n\n"
          "EXAMPLES\n"
          "  heddle run\n"
          "  heddle list policies\n"
          "  heddle doctor\n"
          "\n"
          "Results go to standard output, progress and errors to standard error. Every verb that\n"
          "reports takes --json and --csv. Exit codes: 0 all is well; 1 a check failed or two things\n"
          "differ; 2 the command line; 3 the data; 4 memory, device, input or output; 77 skipped;\n"
          "129, 130, 131, 143 ended by SIGHUP, SIGINT (Ctrl-C), SIGQUIT or SIGTERM.\n",
          f);
}

/* What was printed must have arrived: a full disk or a closed pipe is a failure, not a success. */
static void close_stdout(void)
{
    int before = ferror(stdout);
    if (fclose(stdout) == 0 && !before) return;
    if (tool_stopped()) _exit(tool_stop_code());
    fprintf(stderr, "heddle: standard output: %s\n", errno ? strerror(errno) : "could not be written");
    _exit(TOOL_SYSTEM);
}

/* Whether the verb came back. Else a library ended the process: GNU's OpenMP exits with 1 where a thread is refused. */
static bool returned;

static void on_end(int code, void *context)
{
    (void)context;
    close_stdout();
    if (!returned && code == EXIT_FAILURE) _exit(TOOL_SYSTEM);
}

/* A stream that was closed stays so: what is opened in its place can only be used the other way. Else a file or a pipe
 * of ours would get its number, and what is printed. */
static void keep_streams_apart(void)
{
    static const int flags[3] = { O_WRONLY, O_RDONLY, O_RDONLY };
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
            return; /* GCOVR_EXCL_BR_LINE: the least free number is fd */
}

static int unknown(const char *word)
{
    const char *name[sizeof verbs / sizeof *verbs];
    for (int i = 0; i == 0 || verbs[i - 1]; i++) name[i] = verbs[i] ? verbs[i]->name : NULL;
    return tool_say(TOOL_USAGE, "there is no verb '%.60s'%s; heddle --help lists them", word, tool_nearest(word, name));
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); /* for the width of pictures; numbers stay as C has them */
    keep_streams_apart();
    /* Examples are not broken, and a margin of 0 in the environment does not make argp print without end. */
    setenv("ARGP_HELP_FMT", "rmargin=100,opt-doc-col=30", 1);
    signal(SIGCHLD, SIG_DFL); /* a parent that ignores it would leave no status of the program that draws a plot */
    signal(SIGPIPE, SIG_IGN); /* a write that fails says so, and parts of files are removed */
    signal(SIGXFSZ, SIG_IGN);
    tool_catch_signals();
    hd_source_seams(&input_seams);
    if (add_own_designs()) return tool_fail(HD_EINVAL);
    on_exit(on_end, NULL);

    int loaded = with_take(&argc, argv);
    if (loaded >= 0) return returned = true, tool_stopped() ? tool_stop_code() : loaded;
    const char *word = argc > 1 ? argv[1] : "";
    bool help = strcmp(word, "help") == 0;
    bool of_verb = help && argc > 2 && strcmp(argv[2], "help") != 0 && *argv[2] != '-';
    if (of_verb) { /* heddle help VERB */
        static char asked[] = "--help";
        word = argv[2];
        argv[2] = asked;
    } else if (help || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_help(stdout);
        return TOOL_OK;
    }
    if (strcmp(word, "--version") == 0) {
        print_version(stdout, NULL);
        return TOOL_OK;
    }
    if (argc < 2) {
        print_help(stderr);
        return TOOL_USAGE;
    }

    const tool_verb *v = verb_find(word);
    if (!v) return unknown(word);
    tool_say_as(v->name);
    char **place = (char **)calloc((size_t)argc, sizeof *place);
    if (!place) return tool_say(TOOL_SYSTEM, "memory was refused");
    tool_line line = { .verb = v, .word = place };
    int code = v->run(&line, argc - 1, argv + 1);
    free(place);
    returned = true;
    return tool_stopped() ? tool_stop_code() : code;
}
