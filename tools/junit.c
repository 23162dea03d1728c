/* SPDX-License-Identifier: Apache-2.0
 *
 * junit.c - see junit.h.
 */
#include "tools/junit.h"

#include <stdlib.h>
#include <string.h>

#include "tools/save.h"

struct junit {
    const char *path;
    FILE *to; /* text */
    char *text;
    size_t bytes;
    int checks, failures;
    double seconds;
};

int junit_open(const char *path, junit **j)
{
    *j = NULL;
    if (!path) return TOOL_OK;
    int code = tool_writable("--junit", path);
    if (code) return code;
    junit *x = (junit *)calloc(1, sizeof *x);
    if (x) x->to = open_memstream(&x->text, &x->bytes);
    if (!x || !x->to) return free(x), tool_say(TOOL_SYSTEM, "--junit: memory was refused");
    x->path = path;
    *j = x;
    return TOOL_OK;
}

/* XML has no form for most control characters. */
static void put(FILE *f, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (strchr("<>&\"", c))
            fprintf(f, "&#%d;", c);
        else
            putc(c >= ' ' || c == '\n' || c == '\t' ? c : '?', f);
    }
}

static void put_attribute(FILE *f, const char *name, const char *text)
{
    fprintf(f, " %s=\"", name);
    put(f, text);
    putc('"', f);
}

void junit_check(junit *j, const char *verb, const char *name, double seconds, const char *wrong, const char *more)
{
    if (!j) return;
    fputs("  <testcase", j->to);
    put_attribute(j->to, "classname", verb);
    put_attribute(j->to, "name", name);
    fprintf(j->to, " time=\"%.3f\"", seconds);
    j->checks++;
    j->failures += wrong != NULL;
    j->seconds += seconds;
    if (!wrong) {
        fputs("/>\n", j->to);
        return;
    }
    fputs(">\n    <failure", j->to);
    put_attribute(j->to, "message", wrong);
    putc('>', j->to);
    put(j->to, more ? more : wrong);
    fputs("</failure>\n  </testcase>\n", j->to);
}

static bool write_all(const void *what, FILE *f)
{
    const junit *j = (const junit *)what;
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"heddle\" tests=\"%d\" failures=\"%d\" "
            "errors=\"0\" skipped=\"0\" time=\"%.3f\">\n",
            j->checks, j->failures, j->seconds);
    fputs(j->text, f);
    fputs("</testsuite>\n", f);
    return true;
}

int junit_close(junit *j, int code)
{
    if (!j) return code;
    bool well = fclose(j->to) == 0;
    if (!well) code = tool_say(TOOL_SYSTEM, "--junit: memory was refused");
    if (well && code <= TOOL_DIFFERS) {
        int said = save_file(j->path, write_all, j);
        if (said) code = said;
    }
    free(j->text);
    free(j);
    return code;
}
