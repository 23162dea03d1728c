/* SPDX-License-Identifier: Apache-2.0
 *
 * puzzle_progress.c - see puzzle_progress.h.
 */
#include "tools/puzzle_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "tools/save.h"
#include "tools/tool.h"

enum { VERSION = 1 };

/* The file's path, and its folders made. False: nowhere to keep it. */
static bool path_of(char path[HD_PATH_BYTES], bool make)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    bool own = state && *state == '/'; /* a relative one is to be ignored, says its specification */
    if (!own && !(home && *home)) return false;
    int n = snprintf(path, HD_PATH_BYTES, "%s%s/heddle/puzzles.json", own ? state : home, own ? "" : "/.local/state");
    if (n >= HD_PATH_BYTES) return false;
    /* the folder of a user is not made */
    return !make || save_folders(path, own || home[1] == 0 ? 1 : strlen(home) + 1);
}

/* All that is known, as an object: the caller's. It is of this version, or new. */
static json_t *all_read(const char *path)
{
    char damaged[HD_PATH_BYTES + 16];
    json_t *all = json_load_file(path, 0, NULL);
    if (all && json_is_object(json_object_get(all, "puzzles"))) return all;
    json_decref(all);
    snprintf(damaged, sizeof damaged, "%s.damaged", path);
    if (access(path, F_OK) == 0 && rename(path, damaged) == 0)
        tool_say(0, "'%s' cannot be read; it is kept as '%s', and progress begins again", path, damaged);
    return json_pack("{s:i, s:{}}", "version", VERSION, "puzzles");
}

puzzle_progress puzzle_progress_in(const json_t *all, const char *name)
{
    puzzle_progress p = { 0, 0, false, 0 };
    const json_t *of = json_object_get(json_object_get(all, "puzzles"), name);
    json_int_t tries = json_integer_value(json_object_get(of, "tries"));
    json_int_t hints = json_integer_value(json_object_get(of, "hints"));
    p.tries = tries > 0 ? (uint64_t)tries : 0;
    p.hints = hints > 0 ? (uint64_t)hints : 0;
    p.solved = json_is_true(json_object_get(of, "solved"));
    p.best = json_number_value(json_object_get(of, "best"));
    return p;
}

json_t *puzzle_progress_read(void)
{
    char path[HD_PATH_BYTES];
    return path_of(path, false) ? all_read(path) : NULL;
}

puzzle_progress puzzle_progress_of(const char *name)
{
    json_t *all = puzzle_progress_read();
    puzzle_progress p = puzzle_progress_in(all, name);
    json_decref(all);
    return p;
}

static bool all_write(const char *path, const json_t *all)
{
    hd_whole *w = (hd_whole *)malloc(sizeof *w);
    bool well = w && !hd_whole_open(w, &hd_seams_os, path);
    if (well && json_dumpfd(all, w->fd, JSON_INDENT(1) | JSON_SORT_KEYS)) {
        hd_whole_drop(w);
        well = false;
    } else if (well) {
        well = !hd_whole_keep(w);
    }
    free(w);
    return well;
}

bool puzzle_progress_keep(const char *name, const puzzle_progress *p)
{
    char path[HD_PATH_BYTES];
    if (!path_of(path, true)) return tool_say(0, "progress is not kept: XDG_STATE_HOME or HOME is no folder"), false;
    json_t *all = all_read(path);
    json_t *of = json_pack("{s:I, s:I, s:b, s:f}", "tries", (json_int_t)p->tries, "hints", (json_int_t)p->hints,
                           "solved", p->solved, "best", p->best);
    bool well = json_object_set_new(json_object_get(all, "puzzles"), name, of) == 0 && all_write(path, all);
    json_decref(all);
    if (!well) tool_say(0, "progress is not kept: '%s' cannot be written", path);
    return well;
}
