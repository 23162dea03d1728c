/* SPDX-License-Identifier: Apache-2.0
 *
 * with.h - the words `--with FILE` in front of a verb: each file is compiled, and its rows are added to the registries.
 */
#ifndef HD_TOOLS_WITH_H
#define HD_TOOLS_WITH_H

#include "lib/loaded.h"
#include "tools/one_file.h"

/* Takes them from the command line, and leaves the rest. -1: go on; else the exit code. */
int with_take(int *argc, char **argv);

/* One file: TOOL_OK, or it was said what is wrong. cuda: by nvcc, after it was loaded without. what: its rows. */
int with_load(const char *given, bool cuda, one_file *f, char what[HD_LOADED_TEXT]);

/* How a command line that repeats this one begins: "heddle", or "heddle --with mine.h". */
const char *with_command(void);

/* File i: its name without folders, as sites have it, and its text; false past the last. */
bool with_file_at(size_t i, const char **name, const char **text);

#endif
