/* SPDX-License-Identifier: Apache-2.0
 *
 * save.h - results in a file, which appears when it is complete, in the form that its name stands for:
 * .json, .csv, .svg (a plot, of what has one: chart.h), and TSV for everything else.
 */
#ifndef HD_SAVE_H
#define HD_SAVE_H

#include <stdbool.h>
#include <stdio.h>

#include "heddle.h"

typedef bool save_writer(const void *what, FILE *f); /* false: memory was refused */

typedef struct save_forms {
    save_writer *json, *csv, *tsv; /* for .json, for .csv, and for everything else */
} save_forms;

hd_status save_whole(const char *path, save_writer *write, const void *what);
/* The same; TOOL_OK, or it was said what is wrong. */
int save_file(const char *path, save_writer *write, const void *what);
/* Makes the folders of a path, up to its last slash. Those in its first `from` bytes exist. False: errno says why. */
bool save_folders(char *path, size_t from);
int save_by_name(const char *path, const save_forms *forms, const void *what);

#endif
