/* SPDX-License-Identifier: Apache-2.0
 *
 * heddle.c - the command: finds the verb, reads its command line, and sees to it that what was
 * printed arrived.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/parse.h"
#include "base/whole.h"
#include "tools/beside.h"
#include "tools/input.h"
#include "tools/output.h"
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

/* ---- Saying no ------------------------------------------------------------------------------- */

static const char *said_by = ""; /* " sim": the verb, for messages on standard error */

/* Names of files and words of the command line may hold anything. */
void tool_put(const char *text, FILE *f)
{
    for (; *text; text++) putc(iscntrl((unsigned char)*text) ? '?' : *text, f);
}

int tool_say(int code, const char *format, ...)
{
    char *sentence = NULL;
    va_list ap;
    va_start(ap, format);
    if (vasprintf(&sentence, format, ap) < 0) sentence = NULL;
    va_end(ap);
    fflush(stdout);
    fprintf(stderr, "heddle%s%s: ", *said_by ? " " : "", said_by);
    tool_put(sentence ? sentence : "memory was refused", stderr);
    putc('\n', stderr);
    free(sentence);
    return code;
}

int tool_fail(hd_status s)
{
    if (tool_stopped()) return TOOL_STOPPED;
    static const int code[HD_STATUS_COUNT] = {
        [HD_OK] = TOOL_OK,      [HD_EINVAL] = TOOL_USAGE,  [HD_ENOMEM] = TOOL_SYSTEM,  [HD_ECUDA] = TOOL_SYSTEM,
        [HD_EIO] = TOOL_SYSTEM, [HD_ECORRUPT] = TOOL_DATA, [HD_EKERNEL] = TOOL_SYSTEM,
    };
    return tool_say((unsigned)s < HD_STATUS_COUNT ? code[s] : TOOL_SYSTEM, "%s", hd_why());
}

error_t tool_read(hd_status s)
{
    if (s == HD_OK) return 0;
    tool_say(TOOL_USAGE, "%s", hd_why());
    return EINVAL;
}

error_t tool_admit(const char *arg, hd_admit *admit)
{
    static const char *const name[] = { "score", "always", NULL };
    bool always = strcmp(arg, "always") == 0;
    *admit = always ? HD_ADMIT_ALWAYS : HD_ADMIT_SCORE;
    if (always || strcmp(arg, "score") == 0) return 0;
    tool_say(TOOL_USAGE, "--admit: there is no '%.60s'%s", arg, tool_nearest(arg, name));
    return EINVAL;
}

int tool_file(const char *what, const char *path)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (!there && (errno == ENOENT || errno == ENOTDIR))
        return tool_say(TOOL_USAGE, "%s: there is no file '%s'", what, path);
    if (there && S_ISDIR(st.st_mode)) return tool_say(TOOL_USAGE, "%s: '%s' is a folder", what, path);
    return TOOL_OK; /* whatever else is wrong with it, its reader says better */
}

/* The folder of a path without links, and the name in it, for free(). NULL: there is no such folder. */
static char *place_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("."), *place = NULL;
    char *real = folder ? realpath(folder, NULL) : NULL;
    if (real && asprintf(&place, "%s/%s", real, name) < 0) place = NULL;
    free(folder);
    free(real);
    return place;
}

/* Whether two names are of one regular file, which may not exist yet. */
static bool same_file(const char *x, const char *y)
{
    struct stat a, b;
    bool there = stat(x, &a) == 0, also = stat(y, &b) == 0;
    if (there || also) return there && also && S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    char *first = place_of(x), *second = place_of(y);
    bool same = first && second && strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}

int tool_apart(const char *what, const char *to, const char *from)
{
    if (!to || !from || !same_file(to, from)) return TOOL_OK;
    return tool_say(TOOL_USAGE, "%s: '%s' is what is read; it would be replaced", what, to);
}

int tool_apart_outputs(const char *what, const char *to, const char *also, const char *other)
{
    if (!to || !other || !same_file(to, other)) return TOOL_OK;
    return tool_say(TOOL_USAGE, "%s: '%s' is what %s writes, too", what, to, also);
}

/* A word of a case may be a file's name, or have it behind '=' and ':': keys=csv:FILE,key=1, trace=FILE. */
int tool_apart_words(const char *what, const char *to, const tool_line *line)
{
    for (int i = 0; to && i < line->words; i++) {
        const char *word = line->word[i], *equals = strchr(word, '='), *value = equals ? equals + 1 : word,
                   *colon = strchr(value, ':');
        char *file = colon ? strndup(colon + 1, strcspn(colon + 1, ",")) : NULL;
        int code = tool_apart(what, to, word);
        if (!code) code = tool_apart(what, to, value);
        if (!code) code = tool_apart(what, to, file);
        free(file);
        if (code) return code;
    }
    return TOOL_OK;
}

int tool_writable(const char *what, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return tool_say(TOOL_USAGE, "%s: '%s' is a folder", what, path);
    hd_whole *w = (hd_whole *)malloc(sizeof *w);
    if (!w) return tool_say(TOOL_SYSTEM, "memory was refused");
    hd_status s = HD_OK;
    /* a pipe or a device would be opened: its reader would see it end */
    if (!hd_seams_os.file.special(hd_seams_os.file.self, path)) {
        s = hd_whole_open(w, &hd_seams_os, path);
        if (!s) hd_whole_drop(w);
    }
    free(w);
    return s ? tool_fail(hd_fail(s, "%s: %s", what, hd_why())) : TOOL_OK;
}

int tool_fits(const char *what, uint64_t capacity, uint32_t value_bytes)
{
    enum { METADATA = 17 }; /* digest, key, score: heddle.h, hd_open */
    char all[OUT_CELL], most[OUT_CELL];
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double needed = (double)capacity * (double)(METADATA + value_bytes);
    if (needed <= memory) return TOOL_OK;
    return tool_say(TOOL_USAGE, "%s: %" PRIu64 " entries need %s; this machine has %s", what, capacity,
                    out_format(all, OUT_BYTES, out_real(needed)), out_format(most, OUT_BYTES, out_real(memory)));
}

const char *tool_nearest_after(const char *before, const char *word, const char *const *names)
{
    static char text[HD_NEAREST_TEXT];
    hd_nearest near = { word, NULL, 0 };
    for (size_t i = 0; names[i]; i++) hd_nearest_try(&near, names[i]);
    return hd_nearest_text(&near, before, text);
}

const char *tool_nearest(const char *word, const char *const *names) { return tool_nearest_after("", word, names); }

/* ---- Signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped; /* the signal's number; 0: none came */

bool tool_stopped(void) { return stopped != 0; }

static void on_stop(int sig)
{
    if (!stopped) stopped = sig;
    beside_stop();                           /* the signal may have come to this process alone */
    if (sig != SIGHUP) signal(sig, SIG_DFL); /* the second one does not ask; a terminal that closes sends two */
}

/* Calls that wait are not started again: they end with EINTR. A process that ignores SIGHUP (nohup) goes
 * on ignoring it. */
static void catch_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    struct sigaction ours = { .sa_handler = on_stop }, before;
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        bool ignored = signals[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
        if (!ignored) sigaction(signals[i], &ours, NULL);
    }
}

/* ---- Reading a command line ------------------------------------------------------------------ */

enum { KEY_JSON = 0x1000, KEY_CSV };
enum { OPTIONS_MOST = 63 }; /* of a verb */

static const struct argp_option shared_option[] = {
    { "json", KEY_JSON, NULL, 0, "print results as JSON (doc/output.md)", -2 },
    { "csv", KEY_CSV, NULL, 0, "print results as CSV", -2 },
    { NULL, 0, NULL, 0, NULL, 0 },
};

static error_t form_set(tool_line *line, tool_form form)
{
    bool other = line->form != TOOL_TEXT && line->form != form;
    line->form = form;
    return other ? tool_read(hd_fail(HD_EINVAL, "--json and --csv: one of them")) : 0;
}

static error_t shared_parse(int key, char *arg, struct argp_state *state)
{
    tool_line *line = (tool_line *)state->input;
    switch (key) {
    case KEY_JSON:
    case KEY_CSV: return form_set(line, key == KEY_JSON ? TOOL_JSON : TOOL_CSV);
    case ARGP_KEY_ARG:
        if (line->words >= line->verb->words_max) {
            tool_say(TOOL_USAGE, "'%s' is one argument too many; it takes %s", arg,
                     *line->verb->args ? line->verb->args : "none");
            return EINVAL;
        }
        line->word[line->words++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (line->words >= line->verb->words_min) return 0;
        tool_say(TOOL_USAGE, "it takes %s; see heddle %s --help", line->verb->args, line->verb->name);
        return EINVAL;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t list_add(const tool_option *o, const char *arg, tool_words *list)
{
    if ((uint64_t)list->n >= o->most) return tool_read(hd_fail(HD_EINVAL, "--%s: %s", o->name, o->too_many));
    list->word[list->n++] = arg;
    return 0;
}

/* Reads the argument of an option that has a field into it. */
static error_t field_parse(const tool_option *o, const char *arg, void *options)
{
    void *field = (char *)options + o->offset;
    char what[64];
    uint64_t n = 0;
    error_t e = 0;
    snprintf(what, sizeof what, "--%s", o->name);
    switch (o->kind) {
    case TOOL_FLAG: *(bool *)field = true; break;
    case TOOL_U64: e = tool_read(hd_parse_u64(what, arg, o->least, o->most, (uint64_t *)field)); break;
    case TOOL_U32:
        e = tool_read(hd_parse_u64(what, arg, o->least, o->most, &n));
        if (!e) *(uint32_t *)field = (uint32_t)n;
        break;
    case TOOL_REAL:
        e = tool_read(hd_parse_double(what, arg, (double)o->least, (double)o->most, (double *)field));
        break;
    case TOOL_LIST: e = list_add(o, arg, (tool_words *)field); break;
    default:
        *(const char **)field = arg;
        for (int i = 0; o->words && strcmp(o->words[i], arg) != 0; i++)
            if (!o->words[i + 1])
                return tool_read(hd_fail(HD_EINVAL, "%s: there is no '%s'%s", what, arg, tool_nearest(arg, o->words)));
    }
    return e;
}

/* The options of the verb itself; shared_parse has the others. */
static error_t own_parse(int key, char *arg, struct argp_state *state)
{
    void **input = (void **)state->input;
    const tool_verb *v = ((const tool_line *)input[1])->verb;
    for (const tool_option *o = v->option; o && o->name; o++)
        if (o->key == key)
            return o->kind == TOOL_BY_PARSER ? v->parse(key, arg, input[0]) : field_parse(o, arg, input[0]);
    return ARGP_ERR_UNKNOWN;
}

/* Hands each parser its own input, and takes from argp the second line that it adds to errors. */
static error_t root_parse(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != ARGP_KEY_INIT) return ARGP_ERR_UNKNOWN;
    void **input = (void **)state->input;
    state->child_inputs[0] = input;
    state->child_inputs[1] = input[1];
    state->err_stream = NULL;
    return 0;
}

/* Whether --name is an option: argp would say no as well, but without the nearest name. */
static bool option_known(const tool_verb *v, const char *name, size_t length)
{
    static const char *const always[] = { "help", "usage", "version", NULL };
    for (const struct argp_option *o = shared_option; o->name; o++)
        if (strncmp(o->name, name, length) == 0) return true;
    for (const tool_option *o = v->option; o && o->name; o++)
        if (strncmp(o->name, name, length) == 0) return true;
    for (int i = 0; always[i]; i++)
        if (strncmp(always[i], name, length) == 0) return true;
    return false;
}

static int options_known(const tool_verb *v, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0) continue;
        const char *name = argv[i] + 2;
        size_t length = strcspn(name, "=");
        if (option_known(v, name, length)) continue;

        const char *all[OPTIONS_MOST + 4] = { "json", "csv", "help" };
        int n = 3;
        for (const tool_option *o = v->option; o && o->name && n < OPTIONS_MOST + 3; o++) all[n++] = o->name;
        char given[64];
        snprintf(given, sizeof given, "%.*s", (int)(length < 60 ? length : 60), name);
        return tool_say(TOOL_USAGE, "there is no option --%s%s", given, tool_nearest_after("--", given, all));
    }
    return -1;
}

/* The verb's options as argp takes them, headings before their groups: (OPTIONS_MOST + 1), the rest of it cleared. */
static void options_list(const tool_verb *v, struct argp_option *option)
{
    int n = 0, group = 0;
    memset(option, 0, (OPTIONS_MOST + 1) * sizeof *option);
    for (const tool_option *o = v->option; o && o->name && n + 2 < OPTIONS_MOST; o++) {
        if (o->group) option[n++] = (struct argp_option){ NULL, 0, NULL, 0, o->group, ++group };
        option[n++] = (struct argp_option){ o->name, o->key, o->arg, 0, o->what, group };
    }
}

int tool_parse(tool_line *line, int argc, char **argv, void *options)
{
    const tool_verb *v = line->verb;
    int code = options_known(v, argc, argv);
    if (code >= 0) return code;

    static char title[64];
    char *doc = NULL;
    if (asprintf(&doc, "heddle %s - %s\v%s", v->name, v->what, v->doc) < 0)
        return tool_say(TOOL_SYSTEM, "memory was refused");
    snprintf(title, sizeof title, "heddle %s", v->name);
    argv[0] = title;

    struct argp_option option[OPTIONS_MOST + 1];
    options_list(v, option);
    const struct argp own = { .options = option, .parser = own_parse };
    const struct argp shared = { .options = shared_option, .parser = shared_parse };
    const struct argp_child child[] = { { &own, 0, NULL, 0 }, { &shared, 0, NULL, 0 }, { NULL, 0, NULL, 0 } };
    const struct argp root = { .parser = root_parse, .args_doc = v->args, .doc = doc, .children = child };
    void *input[2] = { options, line };
    error_t e = argp_parse(&root, argc, argv, 0, NULL, input);
    free(doc);
    if (e == ENOMEM) return tool_say(TOOL_SYSTEM, "memory was refused");
    return e ? TOOL_USAGE : -1;
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
    fputs("Usage: heddle VERB [ARGUMENT...]\n"
          "Hash tables with cache semantics: run them, judge them, measure them.\n\n"
          "Verbs:\n",
          f);
    for (int i = 0; verbs[i]; i++) fprintf(f, "  %-9s %s\n", verbs[i]->name, verbs[i]->what);
    fputs("\n  --help     print this; heddle VERB --help says all about a verb\n"
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
    if (tool_stopped()) _exit(128 + stopped);
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
    catch_signals();
    hd_source_seams(&input_seams);
    on_exit(on_end, NULL);

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
    said_by = v->name;
    char **place = (char **)calloc((size_t)argc, sizeof *place);
    if (!place) return tool_say(TOOL_SYSTEM, "memory was refused");
    tool_line line = { .verb = v, .word = place };
    int code = v->run(&line, argc - 1, argv + 1);
    free(place);
    returned = true;
    return tool_stopped() ? 128 + stopped : code;
}
