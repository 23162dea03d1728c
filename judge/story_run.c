/* SPDX-License-Identifier: Apache-2.0
 *
 * story_run.c - see story_run.h. First the memory that the run touched becomes panels (story_memory.h). Then the events
 * are replayed on the copy of the memory as it was before the run: a store changes the copy, and the cells that it
 * overlaps are written again.
 */
#include "judge/story_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/design.h"
#include "judge/story_memory.h"

/* ---- What a step changes --------------------------------------------------------------------- */

/* Whether all of the events [i, end) write what is there already. */
static bool writes_the_same(const story_memory *mem, const simt_event *e, size_t i, size_t end)
{
    for (; i < end; i++) {
        const uint64_t word[2] = { e[i].after, e[i].after_high };
        const story_space *x = story_space_of(mem, e[i].p);
        size_t n = x ? story_space_bytes(x, &e[i]) : 0, at = x ? (size_t)((const uint8_t *)e[i].p - x->p) : 0;
        if (!x || n > sizeof word || event_reads(&e[i]) || story_space_unwritten(x, at, n) ||
            memcmp(x->copy + at, word, n) != 0)
            return false;
    }
    return true;
}

/* Whether a text has a name in it that no further digit follows. */
static bool has_name(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        if (at[n] < '0' || at[n] > '9') return true;
    return false;
}

/* Whether what the check said is about this cell. It names the slot, and the cell is the slot's key or is named, too:
 * "another value", "value in bucket 0". */
static bool is_said(const story_memory *mem, const shown_cell *c)
{
    const char *said = mem->r->said, *column = c->name.column;
    if (!said || !story_of_slot(&c->name) || !has_name(said, c->name.table) || !has_name(said, c->name.row))
        return false;
    char other[CELL_NAME + 16], in[2 * CELL_NAME + 8];
    snprintf(other, sizeof other, "another %s", column);
    snprintf(in, sizeof in, "%s in %s", column, c->name.table);
    return strcmp(column, "key") == 0 || strcmp(column, CELL_ENTRY) == 0 || strstr(said, other) || strstr(said, in);
}

/* What an event does to what the finding may speak of. */
typedef enum matter { MATTERS_NOT, CHANGES_SLOT, CHANGES_SAID } matter;

/* What one event reads and changes, in the cells and in the copy. */
static matter move_cells(story_memory *mem, story_space *x, const simt_event *e)
{
    const uint8_t *p = (const uint8_t *)e->p, *end = p + story_space_bytes(x, e);
    bool reads = event_reads(e), same = !reads && writes_the_same(mem, e, 0, 1);
    matter most = MATTERS_NOT;
    if (!reads) story_space_write(x, e);
    for (shown_cell *c = story_cell_from(mem, p); c < mem->shown + mem->cells && c->p < end; c++)
        if (reads)
            story_look(mem->st, c->panel, c->row, c->column);
        else {
            story_cell_show(mem, c, e);
            matter of = same                      ? MATTERS_NOT
                        : is_said(mem, c)         ? CHANGES_SAID
                        : story_of_slot(&c->name) ? CHANGES_SLOT
                                                  : MATTERS_NOT;
            most = of > most ? of : most;
        }
    return most;
}

/* The sectors of a step: each counts once. */
typedef struct sectors {
    uintptr_t sector[2 * 32];
    int n;
} sectors;

enum { SECTOR = 32 };

/* Regions are in the order of the memory, which is that of all runs on the fixture. */
static void make_regions(story_memory *mem)
{
    for (size_t i = 0; i < mem->spaces; i++) {
        story_space *x = &mem->memory[i];
        uintptr_t first = (uintptr_t)x->p / SECTOR, last = ((uintptr_t)x->p + x->bytes - 1) / SECTOR;
        if (x->any) x->region = story_region(mem->st, x->name, last - first + 1);
    }
}

static void move_sectors(story_memory *mem, story_space *x, const simt_event *e, sectors *all)
{
    uintptr_t first = (uintptr_t)x->p / SECTOR, from = (uintptr_t)e->p / SECTOR,
              to = ((uintptr_t)e->p + story_space_bytes(x, e) - 1) / SECTOR;
    for (uintptr_t s = from; s <= to; s++) {
        int i = 0;
        while (i < all->n && all->sector[i] != s) i++;
        if (i < all->n || all->n == sizeof all->sector / sizeof *all->sector) continue;
        all->sector[all->n++] = s;
        story_sector(mem->st, x->region, s - first);
    }
}

/* ---- What a step says ------------------------------------------------------------------------ */

/* "gpu/hkv/hold.h:37" of a site's path in any build folder. */
static const char *site_of(const char *site)
{
    static const char own[] = "judge/story_run.c", copies[] = "judge/museum/altered/";
    size_t before = strlen(__FILE__) - (sizeof own - 1);
    if (strncmp(site, __FILE__, before) == 0) site += before;
    return strncmp(site, copies, sizeof copies - 1) == 0 ? site + sizeof copies - 1 : site;
}

/* A value that an event read or wrote, as its cell shows it. */
static void event_value(const story_memory *mem, const simt_event *e, uint64_t value, char *text, size_t room)
{
    const story_space *x = story_space_of(mem, e->p);
    const shown_cell *c = x ? story_cell_from(mem, (const uint8_t *)e->p) : NULL;
    bool whole =
        c && c < mem->shown + mem->cells && c->p == (const uint8_t *)e->p && c->bytes == e->bytes && e->bytes <= 8;
    if (whole && strcmp(c->name.column, "ptr") == 0)
        *text = 0;
    else
        cell_text(whole ? c->name.column : "", (const uint8_t *)&value, e->bytes < 8 && e->p ? e->bytes : 8, text,
                  room);
}

/* The value before the step; NULL: it has none, or lanes differ. */
static const char *before_of(const story_memory *mem, const simt_event *e, bool same, char *text, size_t bytes)
{
    const story_space *x = e->p ? story_space_of(mem, e->p) : NULL;
    if (!same || event_takes_effect(e) || !e->p) return NULL;
    if (x && event_is(e, "st") &&
        story_space_unwritten(x, (size_t)((const uint8_t *)e->p - x->p), story_space_bytes(x, e)))
        return STORY_NOT_WRITTEN;
    event_value(mem, e, e->before, text, bytes);
    return text;
}

/* The value after it; of an item that takes effect, its outcome. */
static const char *after_of(const story_memory *mem, const simt_event *e, bool same, char *text, size_t bytes)
{
    bool effect = event_takes_effect(e), reads = e->p && event_is(e, "ld");
    bool none = !effect && !e->p && strcmp(event_meaning(e), "votes") != 0; /* it orders memory, or lanes meet */
    if (!same || reads || none || (effect && e->before == JUDGE_MOVE)) return NULL;
    if (!effect && !e->p) return event_vote(e, text, bytes);
    if (effect)
        snprintf(text, bytes, "%s", hd_outcome_name((hd_outcome)e->after));
    else
        event_value(mem, e, e->after, text, bytes);
    return text;
}

/* Whether a lane reads another value than the last one that was written. */
static bool is_older(const story_memory *mem, const simt_event *e)
{
    const story_space *x = e->p && event_reads(e) ? story_space_of(mem, e->p) : NULL;
    size_t n = x ? story_space_bytes(x, e) : 0;
    return x && !x->output && memcmp(x->copy + ((const uint8_t *)e->p - x->p), &e->before, n < 8 ? n : 8) != 0;
}

/* Where an event is: "digest in bucket 0, slots 0-3" of several slots. */
static void place_of_event(const story_memory *mem, const simt_event *e, char place[3 * CELL_NAME])
{
    const story_space *x = story_space_of(mem, e->p);
    const shown_cell *first = x ? story_cell_from(mem, (const uint8_t *)e->p) : NULL, *last = first;
    const uint8_t *end = x ? (const uint8_t *)e->p + story_space_bytes(x, e) : NULL;
    fixture_location(mem->r->s, mem->r->m, e->p, place, 2 * CELL_NAME);
    while (first && last + 1 < mem->shown + mem->cells && last[1].p < end) last++;
    if (first == last || !story_of_slot(&first->name) || strcmp(first->name.table, last->name.table) != 0 ||
        strcmp(first->name.column, last->name.column) != 0 || strcmp(first->name.row, last->name.row) == 0)
        return;
    bool entry = strcmp(first->name.column, CELL_ENTRY) == 0;
    snprintf(place, 3 * CELL_NAME, "%s%s%s, slots %.16s-%.16s", entry ? "" : first->name.column, entry ? "" : " in ",
             first->name.table, first->name.row + strlen("slot "), last->name.row + strlen("slot "));
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Events [i, end) that are the same failed claim again and again: how often; else 0. */
static uint32_t claims_in_vain(const story_memory *mem, const simt_event *e, size_t i, size_t end)
{
    uint32_t times = 0;
    for (size_t k = i; k < end; k++) {
        if (!mem->r->all && !event_matters(&e[k])) continue;
        if (e[k].p != e[i].p || e[k].site != e[i].site || e[k].thread != e[i].thread || e[k].block != e[i].block)
            return 0;
        times++;
    }
    return times > 1 ? times : 0;
}

/* Whether the event claims in vain what event `as` claims in vain, and finds the same there. */
static bool fails_as(const simt_event *e, const simt_event *as)
{
    return e->p == as->p && e->site == as->site && e->before == as->before &&
           strcmp(event_meaning(e), "fails to claim") == 0;
}

/* Events [i, end) are one step: those of event_group_end, and more failed claims of the same lane. */
static size_t step_end(const story_memory *mem, const simt_event *e, size_t n, size_t i)
{
    size_t end = event_group_end(e, n, i, mem->r->apart), more = end;
    if (mem->r->apart || end > i + 1 || !fails_as(&e[i], &e[i])) return end;
    while (more < n && e[more].thread == e[i].thread && e[more].block == e[i].block) {
        bool told = mem->r->all || event_matters(&e[more]);
        if (told && !fails_as(&e[more], &e[i])) break;
        more++;
        if (told) end = more;
    }
    return end;
}

static bool crash_loses(const story_memory *mem, const simt_event *e, size_t i, size_t end)
{
    while (mem->r->crash && i < end && !simt_crash_loses(mem->r->crash, &e[i])) i++;
    return mem->r->crash && i < end;
}

static void tell_step(story_memory *mem, const simt_event *e, size_t i, size_t end)
{
    char who[64], place[3 * CELL_NAME] = "", before[2 * CELL_NAME], after[2 * CELL_NAME];
    bool effect = event_takes_effect(&e[i]);
    const event_common same = event_common_of(e + i, end - i);
    story_act act = { .step = e[i].step, .who = who, .lanes = same.lanes, .does = event_meaning(&e[i]) };
    snprintf(who, sizeof who, "block %u, warp %u", e[i].block, e[i].thread / 32);
    if (e[i].p) place_of_event(mem, &e[i], place);
    if (!same.place) strncat(place, " and on", sizeof place - strlen(place) - 1);
    if (effect && e[i].before != JUDGE_MOVE) snprintf(place, sizeof place, "item %" PRIu64, e[i].before);
    if (*place) act.place = place;
    if (!effect) act.operation = e[i].what;
    act.before = before_of(mem, &e[i], same.before, before, sizeof before);
    act.after = after_of(mem, &e[i], same.after, after, sizeof after);
    act.note = crash_loses(mem, e, i, end) ? "The crash loses this store: it had not become durable."
               : is_older(mem, &e[i])      ? "An older value than the last one that was written: weak memory allows it."
                                           : event_note(&e[i], place);
    act.site = site_of(e[i].site);
    act.unchanged = !effect && writes_the_same(mem, e, i, end);
    act.times = claims_in_vain(mem, e, i, end);
    story_step(mem->st, &act);
}

typedef struct teller {
    story_memory mem;
    uint64_t steps, written[STORY_MATTERS], writes; /* told so far; the last ones that change a slot */
    bool said;                                      /* a step changed what the check spoke of */
} teller;

/* What the events [i, end) change and move, as part of the last step; before the first step: what the story begins
 * with. How many sectors. */
static uint64_t move_all(teller *t, const simt_event *e, size_t i, size_t end)
{
    sectors all = { { 0 }, 0 };
    matter most = MATTERS_NOT;
    for (size_t k = i; k < end; k++) {
        story_space *x = story_space_of(&t->mem, e[k].p);
        if (!x) continue;
        matter of = move_cells(&t->mem, x, &e[k]);
        most = of > most ? of : most;
        move_sectors(&t->mem, x, &e[k], &all);
    }
    if (!t->steps) return (uint64_t)all.n;
    if (most == CHANGES_SAID) story_matters(t->mem.st, t->steps - 1);
    if (most == CHANGES_SLOT) t->written[t->writes++ % STORY_MATTERS] = t->steps - 1;
    t->said |= most == CHANGES_SAID;
    return (uint64_t)all.n;
}

static void tell_steps(teller *t)
{
    const run_told *r = t->mem.r;
    size_t n;
    const simt_event *e = simt_machine_events(r->m, &n);
    uint64_t steps = 0, skipped = 0, sectors_skipped = 0, most = r->most ? r->most : UINT64_MAX;
    for (size_t i = 0; i < n; i = step_end(&t->mem, e, n, i)) steps += r->all || event_matters(&e[i]);
    for (size_t i = 0, end; i < n; i = end) {
        end = step_end(&t->mem, e, n, i);
        if (!r->all && !event_matters(&e[i])) continue;
        if (steps > most) {
            sectors_skipped += move_all(t, e, i, end);
            skipped++;
            steps--;
            continue;
        }
        if (skipped) story_skipped(t->mem.st, skipped, sectors_skipped);
        skipped = 0;
        tell_step(&t->mem, e, i, end);
        t->steps++;
        move_all(t, e, i, end);
    }
    for (uint64_t k = t->writes > STORY_MATTERS ? t->writes - STORY_MATTERS : 0; !t->said && k < t->writes; k++)
        story_matters(t->mem.st, t->written[k % STORY_MATTERS]);
}

bool story_of_run(story *st, const run_told *r)
{
    teller t = { .mem = { .st = st, .r = r } };
    bool made = story_memory_open(&t.mem);
    if (made) make_regions(&t.mem);
    if (made) tell_steps(&t);
    story_memory_close(&t.mem);
    return made;
}
