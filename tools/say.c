/* SPDX-License-Identifier: Apache-2.0
 *
 * say.c - messages on standard error, and the nearest name to one that does not exist.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "tools/tool.h"

static const char *said_by = ""; /* the verb; "": none yet */

void tool_say_as(const char *verb) { said_by = verb; }

/* Names of files and words of the command line may hold anything. */
void tool_put(const char *text, FILE *f)
{
    for (; *text; text++) putc(iscntrl((unsigned char)*text) ? '?' : *text, f);
}

int tool_say(int code, const char *format, ...)
{
    char *sentence = NULL;
    va_list ap;
    va_start(ap, format);
    if (vasprintf(&sentence, format, ap) < 0) sentence = NULL;
    va_end(ap);
    fflush(stdout);
    fprintf(stderr, "heddle%s%s: ", *said_by ? " " : "", said_by);
    tool_put(sentence ? sentence : "memory was refused", stderr);
    putc('\n', stderr);
    free(sentence);
    return code;
}

int tool_fail(hd_status s)
{
    if (tool_stopped()) return TOOL_STOPPED;
    static const int code[HD_STATUS_COUNT] = {
        [HD_OK] = TOOL_OK,      [HD_EINVAL] = TOOL_USAGE,  [HD_ENOMEM] = TOOL_SYSTEM,  [HD_ECUDA] = TOOL_SYSTEM,
        [HD_EIO] = TOOL_SYSTEM, [HD_ECORRUPT] = TOOL_DATA, [HD_EKERNEL] = TOOL_SYSTEM,
    };
    return tool_say((unsigned)s < HD_STATUS_COUNT ? code[s] : TOOL_SYSTEM, "%s", hd_why());
}

error_t tool_read(hd_status s)
{
    if (s == HD_OK) return 0;
    tool_say(TOOL_USAGE, "%s", hd_why());
    return EINVAL;
}

const char *tool_nearest_after(const char *before, const char *word, const char *const *names)
{
    static char text[HD_NEAREST_TEXT];
    hd_nearest near = { word, NULL, 0 };
    for (size_t i = 0; names[i]; i++) hd_nearest_try(&near, names[i]);
    return hd_nearest_text(&near, before, text);
}

const char *tool_nearest(const char *word, const char *const *names) { return tool_nearest_after("", word, names); }
