/* SPDX-License-Identifier: Apache-2.0
 *
 * plot.c - see plot.h.
 */
#include "tools/plot.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/svg.h"

typedef struct picture {
    const chart *of;
    int width;
} picture;

static bool write_picture(const void *what, FILE *f)
{
    const picture *p = (const picture *)what;
    return svg_write(p->of, p->width, f);
}

bool plot_named(const char *file)
{
    const char *ending = strrchr(file, '.');
    return ending && strcasecmp(ending, ".svg") == 0;
}

int plot_file(const char *what, const char *file)
{
    return plot_named(file) ? TOOL_OK : tool_say(TOOL_USAGE, "%s: '%s' does not end in .svg", what, file);
}

int plot_json(const char *what, json_t *report, int width, const char *file)
{
    chart c;
    int code;
    json_t *json = chart_of_report(what, report, &code);
    if (!json) return code;
    code = chart_read(what, json, &c);
    json_decref(json);
    if (code) return code;
    code = save_file(file, write_picture, &(const picture){ &c, width });
    chart_drop(&c);
    return code;
}

int plot_draw(save_writer *json, const void *report, const char *file)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    bool whole = f && json(report, f);
    if (f && fclose(f) != 0) whole = false;
    json_t *parsed = whole ? json_loadb(text, bytes, JSON_DECODE_ANY, NULL) : NULL;
    free(text);
    if (!parsed) return tool_say(TOOL_SYSTEM, "memory was refused while drawing '%s'", file);
    int code = plot_json(file, parsed, CHART_WIDTH, file);
    json_decref(parsed);
    return code;
}
