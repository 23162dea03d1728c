/* SPDX-License-Identifier: Apache-2.0
 *
 * say.c - what targets say and tell.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"

const char *fuzz_say(const char *format, ...)
{
    static _Thread_local char sentence[1024];
    char made[sizeof sentence]; /* an argument may be the sentence itself */
    va_list ap;
    va_start(ap, format);
    vsnprintf(made, sizeof made, format, ap);
    va_end(ap);
    memcpy(sentence, made, sizeof made);
    return sentence;
}

static const char *command = "heddle";

const char *fuzz_command(void) { return command; }
void fuzz_command_is(const char *begin) { command = begin; }

fuzz_text fuzz_text_in(char *p, size_t room)
{
    fuzz_text t = { p, room, 0 };
    if (room) p[0] = 0;
    return t;
}

size_t fuzz_tell_run(const char *(*run)(const uint8_t *, size_t, uint64_t *, fuzz_text *), const uint8_t *bytes,
                     size_t n, char *text, size_t room)
{
    fuzz_text t = fuzz_text_in(text, room);
    uint64_t steps = 0;
    run(bytes, n, &steps, &t);
    return t.used;
}

void fuzz_put(fuzz_text *t, const char *format, ...)
{
    va_list ap;
    bool room = t->used < t->room;
    va_start(ap, format);
    int n = vsnprintf(room ? t->p + t->used : NULL, room ? t->room - t->used : 0, format, ap);
    va_end(ap);
    t->used += n > 0 ? (size_t)n : 0;
}

void fuzz_put_quoted(fuzz_text *t, const uint8_t *bytes, size_t n)
{
    enum { SHOWN = 400 };
    fuzz_put(t, "\"");
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        if (bytes[i] == '\n')
            fuzz_put(t, "\\n");
        else if (bytes[i] == '\\' || bytes[i] == '"')
            fuzz_put(t, "\\%c", bytes[i]);
        else if (bytes[i] >= ' ' && bytes[i] < 127)
            fuzz_put(t, "%c", bytes[i]);
        else
            fuzz_put(t, "\\%03o", bytes[i]);
    }
    if (n > SHOWN) fuzz_put(t, "... (%zu bytes)", n);
    fuzz_put(t, "\"");
}
