/* SPDX-License-Identifier: Apache-2.0
 *
 * with.c - see with.h.
 */
#include "tools/with.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/annotation.h"
#include "tools/one_file.h"
#include "tools/tool.h"

/* What was done, as a line of its own. */
static void tell(const one_file *f, const char *what)
{
    if (f->hits)
        tool_say(0, "%s: %s%s, from the cache (hit %" PRIu64 ")", f->given, what, f->cuda ? " for CUDA" : "", f->hits);
    else
        tool_say(0, "%s: %s%s, compiled in %.1f s", f->given, what, f->cuda ? " for CUDA" : "", f->seconds);
}

static char command[4096] = "heddle";

const char *with_command(void) { return command; }

static void command_add(const char *given)
{
    size_t n = strlen(command);
    bool plain = strspn(given, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-") == strlen(given);
    const char *quote = plain ? "" : "'";
    snprintf(command + n, sizeof command - n, " --with %s%s%s", quote, given, quote);
}

static struct {
    const char *name;
    char *text;
} loaded[TOOL_WORDS];
static size_t loaded_n;

bool with_file_at(size_t i, const char **name, const char **text)
{
    if (i >= loaded_n) return false;
    *name = loaded[i].name;
    *text = loaded[i].text;
    return true;
}

static void keep(const char *given)
{
    const char *slash = strrchr(given, '/');
    size_t n;
    char *text = loaded_n < TOOL_WORDS ? one_file_text(given, &n) : NULL;
    if (!text) return;
    loaded[loaded_n].name = slash ? slash + 1 : given;
    loaded[loaded_n++].text = text;
    command_add(given);
    annotation_file(given);
}

int with_load(const char *given, bool cuda, one_file *f, char what[HD_LOADED_TEXT])
{
    int code = one_file_compile(given, cuda, f);
    if (code) return code;
    hd_status s = cuda ? hd_load_cuda_object(given, f->object) : hd_load_object(given, f->object, what);
    return s ? tool_fail(s) : TOOL_OK;
}

static int load(const char *given, bool cuda)
{
    char what[HD_LOADED_TEXT];
    one_file f;
    int code = with_load(given, false, &f, what);
    if (code) return code;
    tell(&f, what);
    keep(given);
    if (!cuda) return TOOL_OK;
    code = with_load(given, true, &f, what);
    if (code == TOOL_OK) tell(&f, what);
    return code;
}

/* Whether the command line names the backend: `--backend cuda`, or `backend=cuda` in a case. */
static bool names_cuda(int argc, char *const *argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "cuda") == 0 || strstr(argv[i], "backend=cuda")) return true;
    return false;
}

int with_take(int *argc, char **argv)
{
    static const char option[] = "--with";
    const size_t n = strlen(option);
    bool cuda = names_cuda(*argc, argv);
    int at = 1;
    while (at < *argc && strncmp(argv[at], option, n) == 0 && (argv[at][n] == 0 || argv[at][n] == '=')) {
        const char *file = argv[at][n] ? argv[at] + n + 1 : at + 1 < *argc ? argv[at + 1] : "";
        at += argv[at][n] ? 1 : 2;
        if (!*file) return tool_say(TOOL_USAGE, "--with: it names no file");
        int code = load(file, cuda);
        if (code) return code;
    }
    if (at > *argc) at = *argc;
    memmove(argv + 1, argv + at, (size_t)(*argc - at) * sizeof *argv);
    *argc -= at - 1;
    argv[*argc] = NULL;
    return -1;
}
