/* SPDX-License-Identifier: Apache-2.0
 *
 * annotation.c - see annotation.h.
 */
#include "tools/annotation.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

static const char *file[TOOL_WORDS];
static int files;

static bool wanted(void)
{
    const char *on = getenv("GITHUB_ACTIONS");
    return on && *on;
}

void annotation_file(const char *given)
{
    if (files < TOOL_WORDS) file[files++] = given;
}

/* Text of a command: its line ends and percents are escaped, and in a property also what ends one. */
static void put(const char *text, const char *special)
{
    for (; *text; text++)
        if (strchr(special, *text))
            fprintf(stderr, "%%%02X", (unsigned char)*text);
        else
            putc(*text, stderr);
}

static void annotate(const char *name, int line, int column, const char *message)
{
    fputs("::error", stderr);
    if (name) {
        fputs(" file=", stderr);
        put(name, "%\r\n:,");
        if (line) fprintf(stderr, ",line=%d", line);
        if (column) fprintf(stderr, ",col=%d", column);
    }
    fputs("::", stderr);
    put(message, "%\r\n");
    putc('\n', stderr);
}

void annotation_of_compiler(const char *line, const char *path, const char *given)
{
    size_t n = strlen(path);
    int at, column;
    const char *error = strstr(line, "error: ");
    if (wanted() && error && strncmp(line, path, n) == 0 && sscanf(line + n, ":%d:%d", &at, &column) == 2)
        annotate(given, at, column, error + strlen("error: "));
}

/* The line that the story names of a file; 0: none. */
static int line_in(const char *story, const char *given)
{
    const char *slash = strrchr(given, '/'), *name = slash ? slash + 1 : given;
    for (const char *at = story; (at = strstr(at, name)) != NULL; at++)
        if (at[strlen(name)] == ':' && isdigit((unsigned char)at[strlen(name) + 1])) return atoi(at + strlen(name) + 1);
    return 0;
}

void annotation_of_check(const char *sentence, const char *story)
{
    if (!wanted()) return;
    for (int i = 0; story && i < files; i++) {
        int line = line_in(story, file[i]);
        if (line) {
            annotate(file[i], line, 0, sentence);
            return;
        }
    }
    annotate(files == 1 ? file[0] : NULL, 0, 0, sentence);
}
