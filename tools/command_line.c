/* SPDX-License-Identifier: Apache-2.0
 *
 * command_line.c - reads the command line of a verb, and checks what it names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/parse.h"
#include "base/atomic_file.h"
#include "tools/output.h"

/* ---- What it names --------------------------------------------------------------------------- */

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
