/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.c - the steps of the reference, from two states of a table.
 */
#include "judge/steps.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "judge/design.h"

enum { ALIGNED = 128 };

/* ---- The list -------------------------------------------------------------------------------- */

void judge_steps_close(judge_steps *t)
{
    free(t->step);
    memset(t, 0, sizeof *t);
}

judge_step *judge_steps_add(judge_steps *t, const char *does)
{
    judge_step *step = &t->spare;
    if (t->steps == t->room && !t->failed) {
        uint64_t room = t->room ? 2 * t->room : 16;
        judge_step *all = (judge_step *)realloc(t->step, room * sizeof *all);
        t->failed = !all;
        if (all) t->step = all, t->room = room;
    }
    if (!t->failed) step = &t->step[t->steps++];
    memset(step, 0, sizeof *step);
    step->does = does;
    return step;
}

void judge_step_note(judge_step *step, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(step->note, sizeof step->note, format, list);
    va_end(list);
}

void judge_step_at(judge_step *step, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(step->place, sizeof step->place, format, list);
    va_end(list);
}

/* ---- Moments --------------------------------------------------------------------------------- */

hd_status judge_moment_open(judge_moment *x, const fixture *s)
{
    x->memory = (uint8_t *)aligned_alloc(ALIGNED, (s->bytes + ALIGNED - 1) / ALIGNED * ALIGNED);
    x->table = calloc(1, fixture_table_size(s->design));
    if (x->memory && x->table) return HD_OK;
    judge_moment_close(x);
    return hd_fail(HD_ENOMEM, "case: no memory for a copy of the table");
}

void judge_moment_close(judge_moment *x)
{
    free(x->memory);
    free(x->table);
    x->memory = NULL;
    x->table = NULL;
}

void judge_moment_after(judge_moment *x, fixture *s, uint64_t n)
{
    memcpy(x->memory, s->initial, s->bytes);
    fixture_view(s, x->memory, x->table);
    hd_batch b = s->part[0].batch;
    b.n = n;
    if (n) fixture_apply(s, x->table, 0, &b);
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Two states of a table, and one between them. Places are those of `after`, which may have more buckets. */
typedef struct change {
    judge_steps *to;
    const judge_design *d;
    const void *before, *after;
    uint64_t places;
    uint64_t *key; /* (places) of the state between */
    uint64_t *old; /* (places) the place's number before; NOWHERE: it was none */
} change;

enum { NAME = 48 };
static const uint64_t nowhere = UINT64_MAX;

/* The number that bucket b of `after` had before: buckets behind those that grow have other numbers then. */
static uint64_t old_bucket(const judge_design *d, const void *before, const void *after, uint64_t b)
{
    char name[NAME], other[NAME];
    uint64_t n = d->buckets(before);
    if (d->buckets(after) == n) return b;
    fixture_bucket(d, after, b, name, sizeof name);
    for (uint64_t i = 0; i < n; i++)
        if (strcmp(fixture_bucket(d, before, i, other, sizeof other), name) == 0) return i;
    return nowhere;
}

static uint64_t old_place(const judge_design *d, const void *before, const void *after, uint64_t e)
{
    uint64_t b = 0;
    while (d->first(after, b + 1) <= e) b++;
    uint64_t old = old_bucket(d, before, after, b);
    return old == nowhere ? nowhere : d->first(before, old) + (e - d->first(after, b));
}

/* The entry of an old place, as text; "" where there was no such place. */
static void describe_old(const judge_design *d, const void *before, uint64_t old, char *text, size_t bytes)
{
    *text = 0;
    if (old != nowhere) fixture_describe(d, before, old, text, bytes);
}

void judge_steps_entry_before(const judge_design *d, const void *before, const void *after, uint64_t e,
                              char text[STEP_ENTRY])
{
    describe_old(d, before, old_place(d, before, after, e), text, STEP_ENTRY);
}

static bool change_open(change *c)
{
    c->places = fixture_places(c->d, c->after);
    c->key = (uint64_t *)malloc(c->places * sizeof *c->key);
    c->old = (uint64_t *)malloc(c->places * sizeof *c->old);
    if (!c->key || !c->old) return false;
    for (uint64_t e = 0; e < c->places; e++) {
        c->old[e] = old_place(c->d, c->before, c->after, e);
        c->key[e] = c->old[e] == nowhere ? HD_KEY_EMPTY : c->d->key_at(c->before, c->old[e]);
    }
    return true;
}

static void change_close(change *c)
{
    free(c->key);
    free(c->old);
}

static void set_place(judge_step *step, const judge_design *d, const void *table, uint64_t e, uint64_t key)
{
    judge_step_set *set = &step->set[step->sets++];
    set->place = e;
    if (d->key_at(table, e) == key)
        fixture_describe(d, table, e, set->entry, sizeof set->entry);
    else
        snprintf(set->entry, sizeof set->entry, "-"); /* free for a moment: another entry comes */
}

static void tell_move(change *c, uint64_t from, uint64_t to)
{
    char a[STEP_PLACE], b[STEP_PLACE];
    judge_step *step = judge_steps_add(c->to, "moves");
    fixture_place(c->d, c->after, to, b, sizeof b);
    fixture_place(c->d, c->after, from, a, sizeof a);
    judge_step_at(step, "%s", b);
    fixture_describe(c->d, c->after, to, step->after, sizeof step->after);
    judge_step_note(step, "Key %" PRIx64 " moves from %s to %s.", c->key[from], a, b);
    c->key[to] = c->key[from];
    c->key[from] = HD_KEY_EMPTY;
    set_place(step, c->d, c->after, to, c->key[to]);
    set_place(step, c->d, c->after, from, HD_KEY_EMPTY);
}

/* Where the key that is now at place `from` is afterwards; nowhere: it is not in the table. */
static uint64_t destination(const change *c, uint64_t from)
{
    for (uint64_t e = 0; c->key[from] < HD_KEY_RESERVED && e < c->places; e++)
        if (c->d->key_at(c->after, e) == c->key[from]) return e;
    return nowhere;
}

/* The first entry that is elsewhere afterwards, in a place that is free now. False: there is none. */
static bool move_one(change *c)
{
    for (uint64_t from = 0; from < c->places; from++) {
        uint64_t to = destination(c, from);
        if (to == nowhere || to == from || c->key[to] != HD_KEY_EMPTY) continue;
        tell_move(c, from, to);
        return true;
    }
    return false;
}

/* Whether a place has another entry, or the same key with another value or score. */
static bool place_changed(const change *c, uint64_t e)
{
    char was[STEP_ENTRY], is[STEP_ENTRY];
    uint64_t key = c->d->key_at(c->after, e);
    if (c->key[e] != key) return true;
    bool stays = key != HD_KEY_EMPTY && c->old[e] != nowhere && c->d->key_at(c->before, c->old[e]) == key;
    if (!stays) return false;
    fixture_describe(c->d, c->before, c->old[e], was, sizeof was);
    fixture_describe(c->d, c->after, e, is, sizeof is);
    return strcmp(was, is) != 0;
}

static void tell_place(change *c, uint64_t e)
{
    uint64_t was = c->key[e], is = c->d->key_at(c->after, e);
    const char *does = was == is             ? "updates"
                       : is == HD_KEY_EMPTY  ? "removes"
                       : was == HD_KEY_EMPTY ? "inserts"
                                             : "evicts";
    char place[STEP_PLACE];
    judge_step *step = judge_steps_add(c->to, does);
    judge_step_at(step, "%s", fixture_place(c->d, c->after, e, place, sizeof place));
    describe_old(c->d, c->before, c->old[e], step->before, sizeof step->before);
    fixture_describe(c->d, c->after, e, step->after, sizeof step->after);
    if (was == is)
        judge_step_note(step, "The entry of key %" PRIx64 " changes.", is);
    else if (is == HD_KEY_EMPTY)
        judge_step_note(step, "Key %" PRIx64 " leaves, and its slot is free.", was);
    else if (was == HD_KEY_EMPTY)
        judge_step_note(step, "Key %" PRIx64 " takes a free slot.", is);
    else
        judge_step_note(step, "Key %" PRIx64 " leaves, and key %" PRIx64 " takes its slot.", was, is);
    c->key[e] = is;
    set_place(step, c->d, c->after, e, is);
}

hd_status judge_steps_of_change(judge_steps *t, const judge_design *d, const void *before, const void *after)
{
    change c = { t, d, before, after, 0, NULL, NULL };
    bool good = change_open(&c);
    while (good && move_one(&c)) {
    }
    for (uint64_t e = 0; good && e < c.places; e++)
        if (place_changed(&c, e)) tell_place(&c, e);
    change_close(&c);
    return good && !t->failed ? HD_OK : hd_fail(HD_ENOMEM, "case: no memory for the steps");
}

hd_status judge_steps_of_item(judge_steps *t, const fixture *s, uint64_t i, const void *before, const void *after)
{
    if (s->design->tell) s->design->tell(s, i, before, t);
    return judge_steps_of_change(t, s->design, before, after);
}

/* ---- The check ------------------------------------------------------------------------------- */

/* The entry that the steps leave at place e. */
static void told_entry(const judge_steps *t, uint64_t first, uint64_t e, char text[STEP_ENTRY])
{
    for (uint64_t i = first; i < t->steps; i++)
        for (uint32_t k = 0; k < t->step[i].sets; k++)
            if (t->step[i].set[k].place == e) snprintf(text, STEP_ENTRY, "%s", t->step[i].set[k].entry);
}

const char *judge_steps_wrong(const judge_steps *t, uint64_t first, const judge_design *d, const void *before,
                              const void *after, char why[STEP_NOTE])
{
    char told[STEP_ENTRY], is[STEP_ENTRY];
    for (uint64_t e = 0; e < fixture_places(d, after); e++) {
        uint64_t old = old_place(d, before, after, e);
        bool had = old != nowhere && d->key_at(before, old) != HD_KEY_EMPTY, has = d->key_at(after, e) != HD_KEY_EMPTY;
        describe_old(d, before, old, told, sizeof told);
        told_entry(t, first, e, told);
        fixture_describe(d, after, e, is, sizeof is);
        if ((!had && !has) || strcmp(told, is) == 0) continue;
        snprintf(why, STEP_NOTE, "place %" PRIu64 " has %.90s, and the steps say %.90s", e, is, told);
        return why;
    }
    return NULL;
}
