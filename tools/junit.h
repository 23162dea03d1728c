/* SPDX-License-Identifier: Apache-2.0
 *
 * junit.h - what a verb checked, as a JUnit XML file, which CI services show.
 */
#ifndef HD_TOOLS_JUNIT_H
#define HD_TOOLS_JUNIT_H

#include "tools/tool.h"

#define JUNIT_OPTION(T)                                                                           \
    {                                                                                             \
        "junit", 0x4a55, "FILE", "also write what was checked as JUnit XML", TOOL_FIELD(T, junit) \
    }

typedef struct junit junit;

/* TOOL_OK, or it was said why the file cannot be made. path NULL: *j is NULL, and the others do nothing. */
int junit_open(const char *path, junit **j);

/* One check. wrong: what was found, NULL: nothing; more: the whole of it, or NULL. */
void junit_check(junit *j, const char *verb, const char *name, double seconds, const char *wrong, const char *more);

/* Writes the file. Returns `code`, or TOOL_SYSTEM. A code above TOOL_DIFFERS: the verb came to no end, and there is no
 * file. */
int junit_close(junit *j, int code);

#endif
