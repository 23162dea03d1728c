/* SPDX-License-Identifier: Apache-2.0
 *
 * table_text.c - see table_text.h. Tables are far below 4 MiB. A file that has more is refused, because a device such
 * as /dev/zero has no end.
 */
#include "tools/table_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

enum { MOST = 4 << 20 };

/* text[MOST + 1] */
static int read_all(char *text, FILE *f, const char *path, const char *what)
{
    size_t n = fread(text, 1, MOST, f);
    if (ferror(f)) return tool_say(TOOL_SYSTEM, "%s: %s", path, strerror(errno));
    if (n == MOST) return tool_say(TOOL_DATA, "%s: this is no %s: it has 4 MiB or more", path, what);
    text[n] = 0;
    if (strlen(text) < n)
        return tool_say(TOOL_DATA, "%s: this is no %s: byte %zu of it is 0", path, what, strlen(text));
    return TOOL_OK;
}

int table_text(char **text, const char *path, const char *what)
{
    *text = NULL;
    int code = tool_file("FILE", path);
    if (code) return code;
    FILE *f = fopen(path, "re");
    if (!f) return tool_say(TOOL_SYSTEM, "%s: %s", path, strerror(errno));
    *text = (char *)malloc(MOST + 1);
    code = *text ? read_all(*text, f, path, what) : tool_say(TOOL_SYSTEM, "memory was refused while reading a table");
    fclose(f);
    return code;
}
