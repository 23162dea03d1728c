/* SPDX-License-Identifier: Apache-2.0
 *
 * puzzle_story.c - see puzzle_story.h. Lanes of a warp that make the same step one after the other are one step.
 */
#include "tools/puzzle_story.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/story_run.h"

enum { STEPS_SHOWN = 400, CELL = 32, PLACE = 96 };

typedef struct teller {
    story *s;
    const puzzle_bed *b;
    bool weak; /* memory, in this run */
    int panel[PUZZLE_ARRAYS], column[PUZZLE_ARRAYS], region[PUZZLE_ARRAYS];
    unsigned char now[PUZZLE_MEMORY]; /* memory as the steps so far leave it */
} teller;

/* ---- Panels ---------------------------------------------------------------------------------- */

static size_t offset_of(const puzzle_bed *b, const puzzle_array *a)
{
    return (size_t)((const unsigned char *)a->p - b->memory);
}

static uint64_t element(const unsigned char *memory, size_t at, uint32_t bytes)
{
    uint64_t v = 0;
    memcpy(&v, memory + at, bytes < 8 ? bytes : 8);
    return v;
}

static const char *number(uint64_t v, char text[CELL])
{
    snprintf(text, CELL, v < 10000000 ? "%" PRIu64 : "%#" PRIx64, v);
    return text;
}

/* The arrays of one table are the columns of one panel. */
static void panel_make(teller *t, int first)
{
    const puzzle_bed *b = t->b;
    const char *name[PUZZLE_ARRAYS];
    int columns = 0;
    uint32_t rows = 0;
    for (int i = first; i < b->arrays; i++) {
        if (strcmp(b->array[i].table, b->array[first].table) != 0) continue;
        t->column[i] = columns;
        name[columns++] = b->array[i].name;
        rows = b->array[i].n > rows ? b->array[i].n : rows;
    }
    int panel = story_panel(t->s, b->array[first].table, name, columns);
    for (uint32_t r = 0; r < rows; r++) {
        char row[PLACE];
        snprintf(row, sizeof row, "%s %" PRIu32, b->array[first].row, r);
        story_row(t->s, panel, row);
    }
    for (int i = first; i < b->arrays; i++) {
        const puzzle_array *a = &b->array[i];
        if (strcmp(a->table, b->array[first].table) != 0) continue;
        t->panel[i] = panel;
        for (uint32_t r = 0; r < a->n; r++) {
            char text[CELL];
            uint64_t v = element(b->before, offset_of(b, a) + (size_t)r * a->bytes, a->bytes);
            story_cell(t->s, panel, (int)r, t->column[i], "%s", number(v, text));
        }
    }
}

static void panels_make(teller *t)
{
    for (int i = 0; i < t->b->arrays; i++) {
        const puzzle_array *a = &t->b->array[i];
        int k = 0;
        while (strcmp(t->b->array[k].table, a->table) != 0) k++;
        if (k == i) panel_make(t, i);
        t->region[i] = story_region(t->s, a->name, ((uint64_t)a->bytes * a->n + 31) / 32);
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool reads_only(const simt_event *e) { return strncmp(e->what, "ld", 2) == 0; }

/* The array that holds p; -1: none. *index: of the element. */
static int array_at(const puzzle_bed *b, const void *p, uint32_t *index)
{
    for (int i = 0; i < b->arrays; i++) {
        const puzzle_array *a = &b->array[i];
        const unsigned char *first = (const unsigned char *)a->p, *at = (const unsigned char *)p;
        if (at < first || at >= first + (size_t)a->bytes * a->n) continue;
        *index = (uint32_t)((size_t)(at - first) / a->bytes);
        return i;
    }
    return -1;
}

/* What the event does to the panels, and to memory as it is now. */
static void effect(teller *t, const simt_event *e)
{
    uint32_t first;
    int i = e->p ? array_at(t->b, e->p, &first) : -1;
    if (i < 0) return;
    const puzzle_array *a = &t->b->array[i];
    size_t at = offset_of(t->b, a);
    bool writes = !reads_only(e) && (strcmp(e->what, "cas") != 0 || e->before != e->after);
    for (uint32_t k = first; k < a->n && (k - first) * a->bytes < e->bytes; k++) {
        char text[CELL];
        size_t place = at + (size_t)k * a->bytes;
        if (!writes || (k - first) * a->bytes >= 8) { /* of a wider access the event has the first eight bytes */
            story_look(t->s, t->panel[i], (int)k, t->column[i]);
            continue;
        }
        uint64_t v = e->after >> (k - first) * a->bytes * 8;
        memcpy(t->now + place, &v, a->bytes);
        story_cell(t->s, t->panel[i], (int)k, t->column[i], "%s", number(element(t->now, place, a->bytes), text));
    }
    story_sector(t->s, t->region[i], (uint64_t)first * a->bytes / 32);
}

/* Whether a load got another value than memory holds: one that was overwritten, or its store is not visible yet. */
static bool older(const teller *t, const simt_event *e)
{
    uint32_t first;
    int i = e->p && reads_only(e) ? array_at(t->b, e->p, &first) : -1;
    if (i < 0 || e->bytes > 8) return false;
    size_t at = (size_t)((const unsigned char *)e->p - t->b->memory);
    return element(t->now, at, e->bytes) != e->before;
}

/* "keys[3]"; "keys[3] and on" for several. */
static void name_place(const teller *t, const simt_machine *m, const simt_event *e, bool several, char text[PLACE])
{
    uint32_t index;
    int i = array_at(t->b, e->p, &index);
    uint64_t offset;
    const char *name = i < 0 ? simt_machine_name(m, e->p, &offset) : t->b->array[i].name;
    if (i < 0)
        snprintf(text, PLACE, "shared %.40s, byte %" PRIu64, name, offset);
    else
        snprintf(text, PLACE, "%.40s[%" PRIu32 "]%s", name, index, several ? " and on" : "");
}

static const char *note_of(const teller *t, const simt_event *e, bool old)
{
    bool held = t->weak && strncmp(e->what, "st", 2) == 0 && strcmp(e->what, "strel") != 0;
    return old    ? "An older value: nothing orders this load after the store of the newer one."
           : held ? "Others may see this store later, and stores to other places before it."
                  : NULL;
}

/* Whether it exchanges values in registers. */
static bool exchanges(const simt_event *e)
{
    return !e->p && strcmp(e->what, "fence") != 0 && strcmp(e->what, "sync_tile") != 0;
}

static void tell_group(teller *t, const simt_machine *m, const simt_event *e, size_t n, uint64_t step)
{
    const event_common all = event_common_of(e, n);
    bool values = e->p || exchanges(e), old = false; /* a lane got an older value */
    for (size_t k = 0; k < n; k++) old = old || older(t, &e[k]);
    char who[PLACE], place[PLACE], before[CELL], after[CELL];
    snprintf(who, sizeof who, "block %" PRIu32 ", warp %" PRIu32, e->block, e->thread / 32);
    if (e->p) name_place(t, m, e, !all.place, place);
    story_act act = { .step = step, .who = who, .lanes = all.lanes, .does = event_meaning(e), .operation = e->what };
    act.place = e->p ? place : NULL;
    act.before = values && all.before ? number(e->before, before) : NULL;
    act.after = values && !reads_only(e) && all.after ? number(e->after, after) : NULL;
    act.site = simt_site_name(e->site);
    act.note = note_of(t, e, old);
    story_step(t->s, &act);
    for (size_t k = 0; k < n; k++) effect(t, &e[k]);
}

/* ---- The story ------------------------------------------------------------------------------- */

story *puzzle_story(const puzzle *p, const puzzle_bed *b, const simt_machine *m, const puzzle_verdict *v,
                    const char *path, const char *text)
{
    teller *t = (teller *)calloc(1, sizeof *t);
    char title[160], command[PLACE + 4096], sentence[512];
    if (!t) return NULL;
    snprintf(title, sizeof title, "%s: rejected by \"%s\"", p->title, v->by);
    snprintf(command, sizeof command, "heddle puzzle %s %.4000s", p->name, path);
    t->s = story_open(title, command);
    t->b = b;
    t->weak = v->weak;
    memcpy(t->now, b->before, sizeof t->now);
    snprintf(sentence, sizeof sentence, "%.*s", (int)strcspn(v->detail, "\n"), v->detail);
    story_about(t->s, "%s", v->idea);
    story_fact(t->s, "puzzle", "%s", p->name);
    story_fact(t->s, "weak memory", "%s", v->weak ? "yes" : "no");
    story_finding(t->s, sentence, v->by, v->schedule);
    story_concerned(t->s, v->detail);
    panels_make(t);
    size_t n, end;
    uint64_t step = 0;
    const simt_event *e = simt_machine_events(m, &n);
    for (size_t i = 0; i < n && step < STEPS_SHOWN; i = end) {
        end = event_group_end(e, n, i, false);
        tell_group(t, m, e + i, end - i, ++step);
    }
    story_source(t->s, simt_site_name(path), text);
    story *s = t->s;
    free(t);
    return s;
}
