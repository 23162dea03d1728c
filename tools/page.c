/* SPDX-License-Identifier: Apache-2.0
 *
 * page.c - see page.h.
 */
#include "tools/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/save.h"
#include "tools/with.h"

/* A file that the command carries. */
typedef struct carried {
    const char *name, *text, *hash;
} carried;

static const carried parts[] = {
#include "tools/page_parts.inc"
};

static const carried sources[] = {
#include "tools/page_sources.inc"
};

static const carried *part(const char *name)
{
    size_t i = 0;
    while (strcmp(parts[i].name, name) != 0) i++;
    return &parts[i];
}

/* ---- Sources --------------------------------------------------------------------------------- */

enum { LINES_AROUND = 12 };

/* The number of lines of a text, and with `kept` the text with the lines that are not kept empty. */
static size_t lines_of(const char *text, const bool *kept, char *copy)
{
    size_t line = 0;
    for (; *text; line++) {
        size_t n = strcspn(text, "\n");
        if (copy && kept[line]) {
            memcpy(copy, text, n);
            copy += n;
        }
        text += n + (text[n] == '\n');
        if (copy) *copy++ = '\n';
    }
    if (copy) *copy = 0;
    return line;
}

static void keep_around(bool *kept, size_t lines, size_t line)
{
    size_t from = line > LINES_AROUND ? line - LINES_AROUND : 1, to = line + LINES_AROUND;
    for (size_t i = from; i <= to && i <= lines; i++) kept[i - 1] = true;
}

/* Adds one source, if a site names it. */
static void add_source(json_t *story, const carried *source)
{
    json_t *steps = json_object_get(story, "steps"), *step;
    size_t n = strlen(source->name), lines = lines_of(source->text, NULL, NULL), i;
    bool *kept = (bool *)calloc(lines, sizeof *kept), named = false;
    char *text = (char *)malloc(strlen(source->text) + 1);
    json_array_foreach(steps, i, step)
    {
        const char *site = json_string_value(json_object_get(step, "site"));
        if (!kept || !site || strncmp(site, source->name, n) != 0 || site[n] != ':') continue;
        keep_around(kept, lines, (size_t)strtoul(site + n + 1, NULL, 10));
        named = true;
    }
    if (named && text) {
        lines_of(source->text, kept, text);
        json_object_set_new(json_object_get(story, "sources"), source->name, json_string(text));
    }
    free(kept);
    free(text);
}

void page_add_sources(json_t *story)
{
    carried own = { NULL, NULL, NULL };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) add_source(story, &sources[i]);
    for (size_t i = 0; with_file_at(i, &own.name, &own.text); i++) add_source(story, &own);
}

/* ---- What is too long ------------------------------------------------------------------------ */

/* The JSON of a story as it stands in HTML: nothing in it ends the script element, and no character ends a line in
 * older JavaScript. NULL: no memory. */
static char *json_for_html(const json_t *story)
{
    char *json = json_dumps(story, JSON_COMPACT);
    char *text = json ? (char *)malloc(6 * strlen(json) + 1) : NULL, *to = text;
    for (const char *c = json; text && *c; c++) {
        bool separator = strncmp(c, "\xe2\x80\xa8", 3) == 0 || strncmp(c, "\xe2\x80\xa9", 3) == 0;
        if (*c == '<' || *c == '>' || *c == '&') {
            to += sprintf(to, "\\u%04x", (unsigned)*c);
        } else if (separator) {
            to += sprintf(to, "\\u%04x", c[2] == '\xa8' ? 0x2028u : 0x2029u);
            c += 2;
        } else
            *to++ = *c;
    }
    if (text) *to = 0;
    free(json);
    return text;
}

/* Writes the changes of a step into the cells that the story begins with. */
static void begin_after(json_t *story, const json_t *step)
{
    json_t *panels = json_object_get(story, "panels"), *set;
    size_t i;
    json_array_foreach(json_object_get(step, "sets"), i, set)
    {
        json_t *panel = json_array_get(panels, (size_t)json_integer_value(json_array_get(set, 0)));
        json_t *row =
            json_array_get(json_object_get(panel, "cells"), (size_t)json_integer_value(json_array_get(set, 1)));
        json_array_set(row, (size_t)json_integer_value(json_array_get(set, 2)), json_array_get(set, 3));
    }
}

static json_int_t skipped(const json_t *story, const char *what)
{
    return json_integer_value(json_object_get(json_object_get(story, "skipped"), what));
}

/* The steps that matter for a finding, when so many before them are dropped. */
static void count_from(json_t *finding, size_t dropped)
{
    json_t *steps = json_object_get(finding, "steps"), *kept = json_array(), *at;
    size_t i;
    json_array_foreach(steps, i, at)
    {
        json_int_t left = json_integer_value(at) - (json_int_t)dropped;
        if (left >= 0) json_array_append_new(kept, json_integer(left));
    }
    json_object_set_new(finding, "steps", kept);
}

/* Drops steps until there are `left`: the last ones, or, of a story with a finding, the first ones. */
static void shorten(json_t *story, size_t left)
{
    json_t *steps = json_object_get(story, "steps");
    bool from_start = json_is_object(json_object_get(story, "finding"));
    size_t all = json_array_size(steps);
    json_int_t sectors = skipped(story, "sectors"), before = skipped(story, "steps"), after = skipped(story, "after");
    json_t *kept = json_array();
    for (size_t i = 0; i < all; i++) {
        json_t *step = json_array_get(steps, i);
        bool keep = from_start ? i >= all - left : i < left;
        if (keep) json_array_append(kept, step);
        if (keep || !from_start) continue;
        begin_after(story, step);
        sectors += (json_int_t)json_array_size(json_object_get(step, "sectors"));
    }
    *(from_start ? &before : &after) += (json_int_t)(all - left);
    json_object_set_new(story, "steps", kept);
    if (from_start) count_from(json_object_get(story, "finding"), all - left);
    json_object_set_new(story, "skipped",
                        json_pack("{s:I,s:I,s:I}", "steps", before, "sectors", sectors, "after", after));
}

/* ---- The page -------------------------------------------------------------------------------- */

typedef struct page {
    const char *title;
    char **json; /* (stories) as they stand in it */
    size_t stories;
    bool failed;
} page;

static void put_text(FILE *f, const char *text)
{
    for (; *text; text++) {
        const char *as = *text == '<'   ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '&' ? "&amp;"
                         : *text == '"' ? "&quot;"
                                        : NULL;
        if (as)
            fputs(as, f);
        else
            putc(*text, f);
    }
}

static void put_stories(FILE *f, const page *p)
{
    for (size_t i = 0; i < p->stories; i++)
        fprintf(f,
                "<figure class=\"story\" data-story=\"story-%zu\" data-autoplay></figure>\n"
                "<script type=\"application/json\" id=\"story-%zu\">%s</script>\n",
                i + 1, i + 1, p->json[i]);
}

/* What stands in the template between two @. */
static void put_named(FILE *f, const page *p, const char *name, size_t letters)
{
    const struct {
        const char *name, *text;
    } texts[] = { { "SCRIPT", part("tools/pages/story.js")->text },
                  { "STYLE", part("tools/pages/story.css")->text },
                  { "SCRIPT_HASH", part("tools/pages/story.js")->hash },
                  { "STYLE_HASH", part("tools/pages/story.css")->hash },
                  { "VERSION", hd_version() } };
    if (letters == 5 && memcmp(name, "TITLE", 5) == 0) put_text(f, p->title);
    if (letters == 7 && memcmp(name, "STORIES", 7) == 0) put_stories(f, p);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strlen(texts[i].name) == letters && memcmp(name, texts[i].name, letters) == 0) fputs(texts[i].text, f);
}

static bool put_page(const void *what, FILE *f)
{
    const page *p = (const page *)what;
    for (const char *c = part("tools/pages/page.html")->text; *c;) {
        const char *end = *c == '@' ? strchr(c + 1, '@') : NULL;
        if (!end) {
            putc(*c++, f);
            continue;
        }
        put_named(f, p, c + 1, (size_t)(end - c - 1));
        c = end + 1;
    }
    return !p->failed;
}

/* The story with the longest JSON. */
static size_t longest(const page *p)
{
    size_t at = 0;
    for (size_t i = 1; i < p->stories; i++)
        if (strlen(p->json[i]) > strlen(p->json[at])) at = i;
    return at;
}

static size_t bytes_of(const page *p)
{
    size_t bytes = strlen(part("tools/pages/page.html")->text) + strlen(part("tools/pages/story.js")->text) +
                   strlen(part("tools/pages/story.css")->text) + 2 * strlen(p->title) + 1000;
    for (size_t i = 0; i < p->stories; i++) bytes += strlen(p->json[i]) + 200;
    return bytes;
}

/* Shortens stories, on copies, until the page is not too long. */
static void fit(page *p, json_t *const *story)
{
    json_t **copy = (json_t **)calloc(p->stories, sizeof *copy);
    p->failed = p->failed || !copy;
    while (!p->failed && bytes_of(p) > PAGE_BYTES) {
        size_t i = longest(p), steps;
        if (!copy[i]) copy[i] = json_deep_copy(story[i]);
        steps = json_array_size(json_object_get(copy[i], "steps"));
        if (!copy[i] || steps < 2) break; /* panels alone are too long */
        shorten(copy[i], steps - steps / 4 - 1);
        free(p->json[i]);
        p->json[i] = json_for_html(copy[i]);
        p->failed = !p->json[i];
    }
    for (size_t i = 0; copy && i < p->stories; i++) json_decref(copy[i]);
    free(copy);
}

int page_write(const char *path, const char *title, json_t *const *story, size_t stories)
{
    page p = { title, (char **)calloc(stories ? stories : 1, sizeof(char *)), stories, false };
    for (size_t i = 0; p.json && i < stories && !p.failed; i++) {
        p.json[i] = story[i] ? json_for_html(story[i]) : NULL;
        p.failed = !p.json[i];
    }
    p.failed = p.failed || !p.json;
    if (!p.failed) fit(&p, story);
    int code = save_file(path, put_page, &p);
    for (size_t i = 0; p.json && i < stories; i++) free(p.json[i]);
    free(p.json);
    return code;
}

/* ---- Reports --------------------------------------------------------------------------------- */

int page_close_report(out *o, int code, const char *html, const char *title, story **s, size_t stories)
{
    json_t **json = (json_t **)calloc(stories ? stories : 1, sizeof *json);
    int page = json ? TOOL_OK : tool_say(TOOL_SYSTEM, "no memory for a story");
    for (size_t i = 0; i < stories && !page; i++) {
        json[i] = story_json(s[i]);
        if (json[i])
            page_add_sources(json[i]);
        else
            page = tool_say(TOOL_SYSTEM, "no memory for a story");
    }
    if (!page && stories) out_member(o, "story", json_incref(json[0]));
    if (!page && html) page = page_write(html, title, json, stories);
    if (!page && html) out_note(o, "\nThe page is in %s.\n", html);
    for (size_t i = 0; i < stories; i++) {
        if (json) json_decref(json[i]);
        story_close(s[i]);
    }
    free(json);
    int printed = out_close(o, code);
    return page ? page : printed;
}
