/* SPDX-License-Identifier: Apache-2.0
 *
 * story.c - a story is the JSON object that it becomes, and the places in it where the next parts go.
 */
#include "judge/story.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct story {
    json_t *all, *fact, *panel, *region, *source, *steps;
    json_t *step; /* the last one, in `steps`; NULL: none yet */
    json_t *now;  /* cells by panel and row, as the steps so far have left them */
    bool failed;  /* memory was refused */
};

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Takes `value` into the object. */
static void set(story *s, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value)) s->failed = true;
}

static void append(story *s, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value)) s->failed = true;
}

static json_t *text_of(const char *text) { return text ? json_string(text) : json_null(); }

static json_t *formatted(const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = n < 0 ? NULL : (char *)malloc((size_t)n + 1);
    if (!text) return NULL;
    vsnprintf(text, (size_t)n + 1, format, list);
    json_t *j = json_string(text);
    free(text);
    return j;
}

/* Makes a part of `object` that stays there. */
static json_t *part(story *s, json_t *object, const char *key, json_t *value)
{
    set(s, object, key, value);
    return value;
}

/* ---- The story ------------------------------------------------------------------------------- */

story *story_open(const char *title, const char *command)
{
    story *s = (story *)calloc(1, sizeof *s);
    if (!s) return NULL;
    s->now = json_array();
    s->all = json_object();
    set(s, s->all, "schema", json_string("heddle.story/1"));
    set(s, s->all, "title", text_of(title));
    set(s, s->all, "command", text_of(command));
    set(s, s->all, "about", json_null());
    set(s, s->all, "finding", json_null());
    s->fact = part(s, s->all, "facts", json_array());
    s->panel = part(s, s->all, "panels", json_array());
    s->region = part(s, s->all, "memory", json_array());
    s->source = part(s, s->all, "sources", json_object());
    s->steps = part(s, s->all, "steps", json_array());
    return s;
}

void story_close(story *s)
{
    if (!s) return;
    json_decref(s->all);
    json_decref(s->now);
    free(s);
}

void story_about(story *s, const char *format, ...)
{
    va_list list;
    if (!s) return;
    va_start(list, format);
    set(s, s->all, "about", formatted(format, list));
    va_end(list);
}

void story_fact(story *s, const char *name, const char *format, ...)
{
    va_list list;
    if (!s) return;
    va_start(list, format);
    json_t *fact = json_array();
    append(s, s->fact, fact);
    append(s, fact, json_string(name));
    append(s, fact, formatted(format, list));
    va_end(list);
}

void story_finding(story *s, const char *sentence, const char *by, const char *schedule)
{
    if (!s) return;
    json_t *finding = part(s, s->all, "finding", json_object());
    set(s, finding, "sentence", text_of(sentence));
    set(s, finding, "by", text_of(by));
    set(s, finding, "schedule", text_of(schedule));
    set(s, finding, "concerned", json_array());
    set(s, finding, "steps", json_array());
}

void story_blame(story *s, const char *said, const char *change)
{
    if (!s) return;
    json_t *finding = json_object_get(s->all, "finding");
    set(s, finding, "said", text_of(said));
    set(s, finding, "change", text_of(change));
}

void story_concerned(story *s, const char *told)
{
    json_t *concerned = s ? json_object_get(json_object_get(s->all, "finding"), "concerned") : NULL;
    for (const char *line = strchr(told, '\n'); concerned && line; line = strchr(line, '\n')) {
        line += 1 + strspn(line + 1, " ");
        append(s, concerned, json_stringn(line, strcspn(line, "\n")));
    }
}

void story_matters(story *s, uint64_t step)
{
    json_t *steps = s ? json_object_get(json_object_get(s->all, "finding"), "steps") : NULL;
    if (!steps) return;
    if (json_array_size(steps) == STORY_MATTERS) json_array_remove(steps, 0);
    append(s, steps, json_integer((json_int_t)step));
}

/* ---- Panels ---------------------------------------------------------------------------------- */

int story_panel(story *s, const char *name, const char *const *column, int columns)
{
    if (!s) return 0;
    json_t *panel = json_object();
    append(s, s->panel, panel);
    append(s, s->now, json_array());
    set(s, panel, "name", json_string(name));
    json_t *names = part(s, panel, "columns", json_array());
    for (int i = 0; i < columns; i++) append(s, names, json_string(column[i]));
    set(s, panel, "rows", json_array());
    set(s, panel, "cells", json_array());
    return (int)json_array_size(s->panel) - 1;
}

int story_row(story *s, int panel, const char *name)
{
    if (!s) return 0;
    json_t *p = json_array_get(s->panel, (size_t)panel), *rows = json_object_get(p, "rows"), *cells = json_array(),
           *now = json_array();
    append(s, rows, json_string(name));
    append(s, json_array_get(s->now, (size_t)panel), now);
    append(s, json_object_get(p, "cells"), cells);
    for (size_t i = 0; i < json_array_size(json_object_get(p, "columns")); i++) {
        append(s, cells, json_string(""));
        append(s, now, json_string(""));
    }
    return (int)json_array_size(rows) - 1;
}

/* [panel, row, column] */
static json_t *place_of(story *s, int panel, int row, int column)
{
    json_t *place = json_array();
    append(s, place, json_integer(panel));
    append(s, place, json_integer(row));
    append(s, place, json_integer(column));
    return place;
}

/* The row as it is now. */
static json_t *row_now(const story *s, int panel, int row)
{
    return json_array_get(json_array_get(s->now, (size_t)panel), (size_t)row);
}

/* Takes the text. */
static void write_cell(story *s, int panel, int row, int column, json_t *text)
{
    if (json_array_set(row_now(s, panel, row), (size_t)column, text)) s->failed = true;
    if (s->step) {
        json_t *place = place_of(s, panel, row, column);
        append(s, json_object_get(s->step, "sets"), place);
        append(s, place, text);
        return;
    }
    json_t *cells = json_object_get(json_array_get(s->panel, (size_t)panel), "cells");
    if (json_array_set_new(json_array_get(cells, (size_t)row), (size_t)column, text)) s->failed = true;
}

void story_cell(story *s, int panel, int row, int column, const char *format, ...)
{
    va_list list;
    if (!s) return;
    va_start(list, format);
    write_cell(s, panel, row, column, formatted(format, list));
    va_end(list);
}

void story_change(story *s, int panel, int row, int column, const char *format, ...)
{
    va_list list;
    if (!s) return;
    va_start(list, format);
    json_t *text = formatted(format, list);
    va_end(list);
    if (text && json_equal(text, json_array_get(row_now(s, panel, row), (size_t)column)))
        json_decref(text);
    else
        write_cell(s, panel, row, column, text);
}

void story_look(story *s, int panel, int row, int column)
{
    if (s && s->step) append(s, json_object_get(s->step, "looks"), place_of(s, panel, row, column));
}

/* ---- Steps ----------------------------------------------------------------------------------- */

void story_step(story *s, const story_act *act)
{
    if (!s) return;
    s->step = json_object();
    append(s, s->steps, s->step);
    set(s, s->step, "step", json_integer((json_int_t)act->step));
    set(s, s->step, "who", text_of(act->who));
    json_t *lanes = part(s, s->step, "lanes", json_array());
    for (uint32_t i = 0; i < 32; i++)
        if (act->lanes >> i & 1) append(s, lanes, json_integer(i));
    set(s, s->step, "does", text_of(act->does));
    set(s, s->step, "place", text_of(act->place));
    set(s, s->step, "operation", text_of(act->operation));
    set(s, s->step, "before", text_of(act->before));
    set(s, s->step, "after", text_of(act->after));
    set(s, s->step, "site", text_of(act->site));
    set(s, s->step, "note", text_of(act->note));
    if (act->unchanged) set(s, s->step, "unchanged", json_true());
    if (act->times > 1) set(s, s->step, "times", json_integer(act->times));
    set(s, s->step, "sets", json_array());
    set(s, s->step, "looks", json_array());
    set(s, s->step, "sectors", json_array());
}

void story_skipped(story *s, uint64_t steps, uint64_t sectors)
{
    if (!s) return;
    json_t *skipped = part(s, s->all, "skipped", json_object());
    set(s, skipped, "steps", json_integer((json_int_t)steps));
    set(s, skipped, "sectors", json_integer((json_int_t)sectors));
}

/* ---- Memory and sources ---------------------------------------------------------------------- */

int story_region(story *s, const char *name, uint64_t sectors)
{
    if (!s) return 0;
    json_t *region = json_object();
    append(s, s->region, region);
    set(s, region, "name", json_string(name));
    set(s, region, "sectors", json_integer((json_int_t)sectors));
    return (int)json_array_size(s->region) - 1;
}

void story_sector(story *s, int region, uint64_t sector)
{
    if (!s || !s->step) return;
    json_t *place = json_array();
    append(s, json_object_get(s->step, "sectors"), place);
    append(s, place, json_integer(region));
    append(s, place, json_integer((json_int_t)sector));
}

void story_source(story *s, const char *name, const char *text)
{
    if (s && !json_object_get(s->source, name)) set(s, s->source, name, json_string(text));
}

json_t *story_json(const story *s) { return s && !s->failed ? json_incref(s->all) : NULL; }
