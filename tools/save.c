/* SPDX-License-Identifier: Apache-2.0
 *
 * save.c - see save.h. What is written is put together in memory first, so that a file is never half of it.
 */
#include "tools/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "tools/plot.h"
#include "tools/tool.h"
#include "workload/stream.h"

hd_status save_whole(const char *path, save_writer *write, const void *what)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    bool whole = f && write(what, f) && !ferror(f);
    if (f && fclose(f) != 0) whole = false;
    hd_sink *s = NULL;
    hd_status e =
        whole ? hd_sink_open(&hd_seams_os, path, &s) : hd_fail(HD_ENOMEM, "memory was refused while reporting");
    if (!e) e = hd_sink_write(s, text, bytes);
    if (s) {
        hd_status closed = hd_sink_close(s, e == HD_OK);
        if (!e) e = closed;
    }
    free(text);
    return e;
}

int save_file(const char *path, save_writer *write, const void *what)
{
    hd_status e = save_whole(path, write, what);
    return e ? tool_fail(e) : TOOL_OK;
}

bool save_folders(char *path, size_t from)
{
    for (char *slash = path + from; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

int save_by_name(const char *path, const save_forms *forms, const void *what)
{
    if (plot_named(path)) return plot_draw(forms->json, what, path);
    const char *dot = strrchr(path, '.'), *ending = dot ? dot : "";
    return save_file(path,
                     strcmp(ending, ".json") == 0  ? forms->json
                     : strcmp(ending, ".csv") == 0 ? forms->csv
                                                   : forms->tsv,
                     what);
}
