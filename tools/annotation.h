/* SPDX-License-Identifier: Apache-2.0
 *
 * annotation.h - what GitHub shows beside a line of a file: lines `::error file=...` on standard error, where the
 * environment has GITHUB_ACTIONS. Elsewhere these functions do nothing.
 */
#ifndef HD_TOOLS_ANNOTATION_H
#define HD_TOOLS_ANNOTATION_H

/* The files that `--with` loaded, whose lines findings may name. */
void annotation_file(const char *given);

/* A line of a compiler: "PATH:LINE:COLUMN: error: ...". given: the name to show for `path`. */
void annotation_of_compiler(const char *line, const char *path, const char *given);

/* A check that failed: at the line of such a file that `story` names, as in "at mine.h:12". NULL: it names none. */
void annotation_of_check(const char *sentence, const char *story);

#endif
