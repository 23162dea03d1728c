/* SPDX-License-Identifier: Apache-2.0
 *
 * plot.c - finds heddle-plot and a Python, and pipes a report through them.
 */
#include "tools/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tools/beside.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef HD_PLOT_PYTHON
#define HD_PLOT_PYTHON ""
#endif

enum { NO_MATPLOTLIB = 3, TOLD = 4 /* heddle-plot's own exit codes */ };

/* What configure found; else whatever Python is in PATH now, which may have got matplotlib since. */
static const char *python(void) { return *HD_PLOT_PYTHON ? HD_PLOT_PYTHON : "python3"; }

/* The exit code of `python heddle-plot ARGUMENT`, with the report (or nothing) on its input; -1 and
 * errno when it could not be started. */
static int plot_call(const out *o, const char *script, const char *argument)
{
    char *argv[] = { strdup(python()), strdup(script), strdup(argument), NULL };
    int ends[2], e = argv[0] && argv[1] && argv[2] ? 0 : ENOMEM, code = -1;
    pid_t pid = 0;
    if (!e && pipe(ends))
        e = errno;
    else if (!e) {
        e = beside_start(argv, ends[0], STDIN_FILENO, ends[1], &pid);
        close(ends[0]);
        FILE *f = e ? NULL : fdopen(ends[1], "w");
        if (f && o) out_print(o, TOOL_JSON, f); /* a reader that died says so in its exit code */
        if (f)
            fclose(f);
        else
            close(ends[1]);
        if (!e) e = beside_wait(pid, &code);
    }
    for (int i = 0; i < 3; i++) free(argv[i]);
    errno = e;
    return e ? -1 : code;
}

const char *plot_missing(const char **with)
{
    char script[BESIDE_BYTES];
    *with = python();
    if (!beside_find("heddle-plot", script)) return "heddle-plot is not installed beside heddle";
    switch (plot_call(NULL, script, "--try")) {
    case 0: return "";
    case NO_MATPLOTLIB: return "matplotlib is missing (Debian: apt install python3-matplotlib)";
    default: return "Python is missing (Debian: apt install python3-matplotlib)";
    }
}

int plot_file(const char *what, const char *file)
{
    const char *ending = strrchr(file, '.');
    if (ending && (strcasecmp(ending, ".svg") == 0 || strcasecmp(ending, ".png") == 0)) return TOOL_OK;
    return tool_say(TOOL_USAGE, "%s: '%s' ends in neither .svg nor .png", what, file);
}

int plot_draw(const out *o, const char *file)
{
    char script[BESIDE_BYTES];
    if (!beside_find("heddle-plot", script)) return tool_say(TOOL_SYSTEM, "heddle-plot is not at %s", script);
    int code = plot_call(o, script, file);
    if (code == 0) return TOOL_OK;
    if (code == TOLD) return TOOL_SYSTEM;
    if (code == NO_MATPLOTLIB)
        return tool_say(TOOL_SYSTEM, "plots need matplotlib; Debian: apt install python3-matplotlib");
    if (code == 127 || (code < 0 && errno == ENOENT))
        return tool_say(TOOL_SYSTEM, "%s: not found; Debian: apt install python3-matplotlib", python());
    if (code < 0) return tool_say(TOOL_SYSTEM, "%s: %s", python(), strerror(errno));
    return tool_say(TOOL_SYSTEM, "%s could not draw '%s'", script, file);
}
