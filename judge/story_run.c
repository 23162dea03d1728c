/* SPDX-License-Identifier: Apache-2.0
 *
 * story_run.c - see story_run.h. First all named memory that the run touched is collected as cells, and the cells
 * become panels. Then the events are replayed on a copy of the memory as it was before the run: a store changes the
 * copy, and the cells that it overlaps are written again.
 */
#include "judge/story_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/cells.h"
#include "judge/design.h"

/* ---- Events ---------------------------------------------------------------------------------- */

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static bool takes_effect(const simt_event *e) { return strcmp(e->what, "takes effect") == 0; }

const char *event_meaning(const simt_event *e)
{
    if (takes_effect(e)) return e->before == JUDGE_MOVE ? "moves an entry" : "takes effect";
    if (!e->p) return starts(e->what, "sync") ? "meets its tile" : starts(e->what, "fence") ? "orders memory" : "votes";
    if (starts(e->what, "ld")) return "reads";
    if (strcmp(e->what, "strel") == 0) return "publishes";
    if (starts(e->what, "st")) return "writes";
    return strcmp(e->what, "cas") == 0 ? (e->after != e->before ? "claims" : "fails to claim") : "counts";
}

/* What it means, in a sentence; NULL: its name says it. */
static const char *note_of(const simt_event *e, const char *place)
{
    static const struct {
        const char *does, *place, *note;
    } notes[] = {
        { "claims", "lock", "The lock was free, and now this lane holds it. Other lanes that need it must wait." },
        { "claims", "", "The compare-and-swap found what it expected, so this lane owns the place from now on." },
        { "fails to claim", "", "The compare-and-swap found another value than it expected, and changes nothing." },
        { "publishes", "",
          "A release store: a lane that reads it with acquire sees everything that was written before." },
        { "takes effect", "", "The item's outcome is decided in this step." },
        { "moves an entry", "", "From this step on the entry is in another slot." },
        { "votes", "", "The lanes exchange values in registers. No memory is read." },
        { "meets its tile", "", "The lanes wait until all of them are here." },
    };
    const char *does = event_meaning(e);
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (strcmp(does, notes[i].does) == 0 && starts(place, notes[i].place)) return notes[i].note;
    return NULL;
}

bool event_matters(const simt_event *e) { return e->p || takes_effect(e); }

size_t event_group_end(const simt_event *e, size_t n, size_t i, bool apart)
{
    size_t end = i + 1;
    while (!apart && end < n && e[end].site == e[i].site && e[end].what == e[i].what && e[end].block == e[i].block &&
           e[end].thread / 32 == e[i].thread / 32 && e[end].thread > e[end - 1].thread)
        end++;
    return end;
}

const char *story_site(const char *site)
{
    static const char own[] = "judge/story_run.c", copies[] = "museum/altered/";
    size_t before = strlen(__FILE__) - (sizeof own - 1);
    if (strncmp(site, __FILE__, before) == 0) site += before;
    return starts(site, copies) ? site + sizeof copies - 1 : site;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A piece of device memory. */
typedef struct space {
    const uint8_t *p;
    size_t bytes;
    uint8_t *copy; /* (bytes) what the story's steps have written so far: of the fixture's memory a part of `image` */
    bool own;      /* the copy is this space's */
    bool *touched; /* (bytes) by the run ... */
    bool any;      /* ... and whether any of them is */
    bool output;   /* it begins as poison, which the story does not show ... */
    bool *written; /* (bytes) ... where the steps have not written it; NULL: it is no output */
    int region;    /* the story's number of it; -1: none */
    char name[CELL_NAME];
} space;

/* A named piece of it that a panel shows. */
typedef struct cell {
    const uint8_t *p;
    space *in;
    size_t bytes;
    int panel, row, column;
    cell_name name;
    uint64_t place;           /* of an entry: its number in the table */
    const simt_event *holder; /* who wrote "locked" or "held" into it; NULL: it has another text */
} cell;

typedef struct teller {
    story *st;
    const run_told *r;
    uint8_t *image; /* (bytes of the fixture) its memory as the story's steps have written it so far ... */
    void *view;     /* ... and the table over it */
    space *memory;
    size_t spaces;
    char (*table)[CELL_NAME]; /* (tables) buckets that the run touched */
    size_t tables;
    cell *shown; /* by address, when the panels are made */
    size_t cells, room;
    int panels;
    uint64_t steps, written[STORY_MATTERS], writes; /* told so far; the last ones that change a slot */
    bool said;                                      /* a step changed what the check spoke of */
    bool several;                                   /* warps act */
    bool failed;
} teller;

/* Whose array a region is: *part and *output; false: it is none of a batch. */
static bool of_batch(const fixture *s, const void *p, uint32_t *part, bool *output)
{
    for (*part = 0; *part < s->parts; ++*part)
        for (int a = 0; a < JUDGE_ARRAYS; a++) {
            *output = a >= JUDGE_OUTCOME && a <= JUDGE_COUNT;
            if (judge_arrays_at(&s->part[*part].arrays, (judge_array)a) == p) return true;
        }
    *part = 0;
    return *output = false;
}

static void add_space(teller *t, const void *p, size_t bytes, const char *name)
{
    const fixture *s = t->r->s;
    space *x = &t->memory[t->spaces];
    const uint8_t *at = (const uint8_t *)p;
    uint32_t part;
    bool batch = of_batch(s, p, &part, &x->output);
    x->p = at;
    x->bytes = bytes;
    x->region = -1;
    x->own = at < s->memory || at >= s->memory + s->bytes;
    x->copy = x->own ? (uint8_t *)malloc(bytes) : t->image + (at - s->memory);
    x->touched = (bool *)calloc(bytes, sizeof(bool));
    x->written = x->output ? (bool *)calloc(bytes, sizeof(bool)) : NULL;
    snprintf(x->name, sizeof x->name, batch && part ? "%.40s, second batch" : "%.40s", name);
    t->spaces++;
    t->failed = !x->copy || !x->touched || (x->output && !x->written);
    if (!t->failed && x->own) memcpy(x->copy, p, bytes);
}

/* The fixture's memory and table as they were before the run. */
static void copy_table(teller *t)
{
    const fixture *s = t->r->s;
    t->image = (uint8_t *)malloc(s->bytes);
    t->view = malloc(fixture_table_size(s->design));
    t->failed = !t->image || !t->view;
    if (t->failed) return;
    memcpy(t->image, s->initial, s->bytes);
    fixture_view(s, t->image, t->view);
}

static void collect_spaces(teller *t)
{
    const void *p;
    size_t bytes;
    const char *name;
    uint32_t n = 0;
    while (simt_machine_region_at(t->r->m, n, &p, &bytes, &name)) n++;
    t->memory = (space *)calloc(n + 1, sizeof *t->memory);
    t->failed = !t->memory;
    for (uint32_t i = 0; i < n && !t->failed; i++)
        if (simt_machine_region_at(t->r->m, i, &p, &bytes, &name) && bytes) add_space(t, p, bytes, name);
}

static space *space_of(const teller *t, const void *address)
{
    const uint8_t *p = (const uint8_t *)address;
    for (size_t i = 0; p && i < t->spaces; i++)
        if (p >= t->memory[i].p && p < t->memory[i].p + t->memory[i].bytes) return &t->memory[i];
    return NULL;
}

/* The bytes of an event that lie in x. */
static size_t bytes_in(const space *x, const simt_event *e)
{
    size_t left = (size_t)(x->p + x->bytes - (const uint8_t *)e->p);
    return e->bytes < left ? e->bytes : left;
}

static void mark_touched(teller *t)
{
    size_t n;
    const simt_event *e = simt_machine_events(t->r->m, &n);
    for (size_t i = 0; i < n; i++) {
        space *x = space_of(t, e[i].p);
        t->several = t->several || e[i].block != e[0].block || e[i].thread / 32 != e[0].thread / 32;
        if (!x) continue;
        memset(x->touched + ((const uint8_t *)e[i].p - x->p), true, bytes_in(x, &e[i]));
        x->any = true;
    }
}

static bool touched(const space *x, size_t at, size_t bytes)
{
    return memchr(x->touched + at, true, bytes * sizeof(bool)) != NULL;
}

static bool unwritten(const space *x, size_t at, size_t bytes)
{
    return x->output && !memchr(x->written + at, true, bytes * sizeof(bool));
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static const char *location(const teller *t, const uint8_t *p, char text[2 * CELL_NAME])
{
    return fixture_location(t->r->s, t->r->m, p, text, 2 * CELL_NAME);
}

/* How many bytes from `at` on have the same name: most often as many as the piece before them. */
static size_t named_alike(const teller *t, const space *x, size_t at, size_t guess)
{
    char name[2 * CELL_NAME], other[2 * CELL_NAME];
    location(t, x->p + at, name);
    if (guess && at + guess <= x->bytes && strcmp(location(t, x->p + at + guess - 1, other), name) == 0 &&
        (at + guess == x->bytes || strcmp(location(t, x->p + at + guess, other), name) != 0))
        return guess;
    size_t n = 1;
    while (at + n < x->bytes && strcmp(location(t, x->p + at + n, other), name) == 0) n++;
    return n;
}

/* A word without a named place, such as a counter of the table. */
static bool name_counter(const space *x, const char *name, cell_name *c)
{
    if (x->bytes > 8) return false;
    snprintf(c->table, CELL_NAME, "counters");
    snprintf(c->row, CELL_NAME, "%.*s", CELL_NAME - 1, name);
    snprintf(c->column, CELL_NAME, "value");
    return true;
}

/* The number of the entry that a cell is. */
static uint64_t place_of(const teller *t, const cell_name *name)
{
    const fixture *s = t->r->s;
    char want[2 * CELL_NAME + 2], place[2 * CELL_NAME];
    uint64_t e = 0, places = fixture_places(s->design, s->table);
    snprintf(want, sizeof want, "%s, %s", name->table, name->row);
    while (e < places && strcmp(fixture_place(s->design, s->table, e, place, sizeof place), want) != 0) e++;
    return e;
}

static void add_cell(teller *t, space *x, size_t at, size_t bytes, const cell_name *name)
{
    if (t->cells == t->room) {
        size_t room = t->room ? 2 * t->room : 256;
        cell *more = (cell *)realloc(t->shown, room * sizeof *more);
        if (!more) {
            t->failed = true;
            return;
        }
        t->shown = more;
        t->room = room;
    }
    cell c = { x->p + at, x, bytes, -1, 0, 0, *name, 0, NULL };
    if (strcmp(name->column, CELL_ENTRY) == 0) c.place = place_of(t, name);
    t->shown[t->cells++] = c;
}

/* Calls `each` for the named pieces of all spaces. */
static void walk(teller *t, void (*each)(teller *, space *, size_t at, size_t bytes, const cell_name *))
{
    for (size_t i = 0; i < t->spaces && !t->failed; i++) {
        space *x = &t->memory[i];
        char name[2 * CELL_NAME];
        cell_name c;
        if (!cell_name_of(location(t, x->p, name), &c)) {
            if (name_counter(x, name, &c)) each(t, x, 0, x->bytes, &c);
            continue;
        }
        for (size_t at = 0, n = 0; at < x->bytes && !t->failed; at += n) {
            n = named_alike(t, x, at, n);
            if (cell_name_of(location(t, x->p + at, name), &c)) each(t, x, at, n, &c);
        }
    }
}

/* Rows of a bucket are slots. All slots of a bucket are shown when the run touched one. */
static bool of_slot(const cell_name *c) { return starts(c->row, "slot "); }

static bool has_table(const teller *t, const char *table)
{
    for (size_t i = 0; i < t->tables; i++)
        if (strcmp(t->table[i], table) == 0) return true;
    return false;
}

static void take_table(teller *t, space *x, size_t at, size_t bytes, const cell_name *c)
{
    if (!of_slot(c) || !touched(x, at, bytes) || has_table(t, c->table)) return;
    char(*more)[CELL_NAME] = (char(*)[CELL_NAME])realloc(t->table, (t->tables + 1) * CELL_NAME);
    if (!more) {
        t->failed = true;
        return;
    }
    t->table = more;
    memcpy(t->table[t->tables++], c->table, CELL_NAME);
}

/* What belongs to several slots, or to no slot, is shown only where it was touched; an output of any item for all. */
static void take_cell(teller *t, space *x, size_t at, size_t bytes, const cell_name *c)
{
    char name[2 * CELL_NAME];
    if (!t->r->s->value_bytes && strcmp(c->column, "value") == 0) return;
    bool spans = strstr(location(t, x->p + at, name), ", from slot ") != NULL;
    bool output = x->output && x->any && starts(c->row, "item ");
    if (of_slot(c) && !spans ? has_table(t, c->table) : output || touched(x, at, bytes)) add_cell(t, x, at, bytes, c);
}

/* ---- Panels ---------------------------------------------------------------------------------- */

/* The texts of one table's rows or columns, in the order in which they occur. */
typedef struct texts {
    const char **text;
    int n;
} texts;

static int text_at(texts *all, const char *text)
{
    int i = 0;
    while (i < all->n && strcmp(all->text[i], text) != 0) i++;
    if (i == all->n) all->text[all->n++] = text;
    return i;
}

/* Numbers the cells of the table that cell `first` begins, and makes its panel. */
static void make_panel(teller *t, size_t first)
{
    const char *table = t->shown[first].name.table;
    texts rows = { (const char **)calloc(t->cells, sizeof(char *)), 0 },
          columns = { (const char **)calloc(t->cells, sizeof(char *)), 0 };
    t->failed = t->failed || !rows.text || !columns.text;
    for (size_t i = first; i < t->cells && !t->failed; i++) {
        cell *c = &t->shown[i];
        if (strcmp(c->name.table, table) != 0) continue;
        c->row = text_at(&rows, c->name.row);
        c->column = text_at(&columns, c->name.column);
        c->panel = t->panels;
    }
    if (!t->failed) {
        story_panel(t->st, table, columns.text, columns.n);
        for (int i = 0; i < rows.n; i++) story_row(t->st, t->panels, rows.text[i]);
        t->panels++;
    }
    free(rows.text);
    free(columns.text);
}

/* The cell's text: of an address in an array of pointers, the array and the byte it points to. */
static const char *text_of_cell(const teller *t, const cell *c, char text[2 * CELL_NAME])
{
    const uint8_t *p = c->in->copy + (c->p - c->in->p);
    uint64_t word = 0, at;
    if (strcmp(c->name.column, CELL_ENTRY) == 0 && c->place < fixture_places(t->r->s->design, t->view)) {
        fixture_describe(t->r->s->design, t->view, c->place, text, 2 * CELL_NAME);
        return text;
    }
    if (strcmp(c->name.column, "ptr") != 0) return cell_text(c->name.column, p, c->bytes, text, 2 * CELL_NAME);
    memcpy(&word, p, 8);
    const char *region = simt_machine_name(t->r->m, (const void *)(uintptr_t)word, &at);
    if (*region)
        snprintf(text, 2 * CELL_NAME, "%s, byte %" PRIu64, region, at);
    else
        snprintf(text, 2 * CELL_NAME, "%s", word ? "elsewhere" : "none");
    return text;
}

/* What outputs show until the run writes them. */
static const char not_written[] = "not written";

/* by: the event that has just written the cell; NULL: none has. */
static void show(const teller *t, cell *c, const simt_event *by)
{
    char text[2 * CELL_NAME], who[64] = "";
    const char *shown = unwritten(c->in, (size_t)(c->p - c->in->p), c->bytes) ? not_written : text_of_cell(t, c, text);
    bool taken = strcmp(shown, "locked") == 0 || strcmp(shown, "held") == 0;
    if (!taken || !c->holder) c->holder = taken ? by : NULL;
    const simt_event *e = c->holder;
    if (e && t->several)
        snprintf(who, sizeof who, " by block %u, warp %u, lane %u", e->block, e->thread / 32, e->thread % 32);
    else if (e)
        snprintf(who, sizeof who, " by lane %u", e->thread % 32);
    story_cell(t->st, c->panel, c->row, c->column, "%s%s", shown, who);
}

static int by_address(const void *a, const void *b)
{
    const cell *x = (const cell *)a, *y = (const cell *)b;
    return x->p < y->p ? -1 : x->p > y->p;
}

/* Buckets come first, then the batch, then what is left. */
enum { OF_SLOTS, OF_ITEMS, OF_OTHERS, PANEL_KINDS };

static int kind_of(const cell_name *c)
{
    return of_slot(c) ? OF_SLOTS : starts(c->row, "item ") ? OF_ITEMS : OF_OTHERS;
}

static void make_panels(teller *t)
{
    walk(t, take_table);
    walk(t, take_cell);
    for (int kind = 0; kind < PANEL_KINDS; kind++)
        for (size_t i = 0; i < t->cells && !t->failed; i++)
            if (t->shown[i].panel < 0 && kind_of(&t->shown[i].name) == kind) make_panel(t, i);
    for (size_t i = 0; i < t->cells && !t->failed; i++) show(t, &t->shown[i], NULL);
    if (t->cells) qsort(t->shown, t->cells, sizeof *t->shown, by_address);
}

/* The first cell that ends behind p. */
static cell *cell_from(const teller *t, const uint8_t *p)
{
    size_t low = 0, high = t->cells;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (t->shown[mid].p + t->shown[mid].bytes <= p)
            low = mid + 1;
        else
            high = mid;
    }
    return t->shown + low;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool reads_only(const simt_event *e)
{
    return starts(e->what, "ld") || (strcmp(e->what, "cas") == 0 && e->after == e->before);
}

/* The bytes that a store writes. */
static void write_copy(space *x, const simt_event *e)
{
    const uint64_t word[2] = { e->after, e->after_high };
    size_t n = bytes_in(x, e), at = (size_t)((const uint8_t *)e->p - x->p);
    memcpy(x->copy + at, word, n < sizeof word ? n : sizeof word);
    if (x->written) memset(x->written + at, true, n * sizeof(bool));
}

/* Whether all of the events [i, end) write what is there already. */
static bool writes_the_same(const teller *t, const simt_event *e, size_t i, size_t end)
{
    for (; i < end; i++) {
        const uint64_t word[2] = { e[i].after, e[i].after_high };
        const space *x = space_of(t, e[i].p);
        size_t n = x ? bytes_in(x, &e[i]) : 0, at = x ? (size_t)((const uint8_t *)e[i].p - x->p) : 0;
        if (!x || n > sizeof word || reads_only(&e[i]) || unwritten(x, at, n) || memcmp(x->copy + at, word, n) != 0)
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
static bool is_said(const teller *t, const cell *c)
{
    const char *said = t->r->said, *column = c->name.column;
    if (!said || !of_slot(&c->name) || !has_name(said, c->name.table) || !has_name(said, c->name.row)) return false;
    char other[CELL_NAME + 16], in[2 * CELL_NAME + 8];
    snprintf(other, sizeof other, "another %s", column);
    snprintf(in, sizeof in, "%s in %s", column, c->name.table);
    return strcmp(column, "key") == 0 || strcmp(column, CELL_ENTRY) == 0 || strstr(said, other) || strstr(said, in);
}

/* What an event does to what the finding may speak of. */
typedef enum matter { MATTERS_NOT, CHANGES_SLOT, CHANGES_SAID } matter;

/* What one event reads and changes, in the cells and in the copy. */
static matter move_cells(teller *t, space *x, const simt_event *e)
{
    const uint8_t *p = (const uint8_t *)e->p, *end = p + bytes_in(x, e);
    bool reads = reads_only(e), same = !reads && writes_the_same(t, e, 0, 1);
    matter most = MATTERS_NOT;
    if (!reads) write_copy(x, e);
    for (cell *c = cell_from(t, p); c < t->shown + t->cells && c->p < end; c++)
        if (reads)
            story_look(t->st, c->panel, c->row, c->column);
        else {
            show(t, c, e);
            matter of = same                ? MATTERS_NOT
                        : is_said(t, c)     ? CHANGES_SAID
                        : of_slot(&c->name) ? CHANGES_SLOT
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
static void make_regions(teller *t)
{
    for (size_t i = 0; i < t->spaces; i++) {
        space *x = &t->memory[i];
        uintptr_t first = (uintptr_t)x->p / SECTOR, last = ((uintptr_t)x->p + x->bytes - 1) / SECTOR;
        if (x->any) x->region = story_region(t->st, x->name, last - first + 1);
    }
}

static void move_sectors(teller *t, space *x, const simt_event *e, sectors *all)
{
    uintptr_t first = (uintptr_t)x->p / SECTOR, from = (uintptr_t)e->p / SECTOR,
              to = ((uintptr_t)e->p + bytes_in(x, e) - 1) / SECTOR;
    for (uintptr_t s = from; s <= to; s++) {
        int i = 0;
        while (i < all->n && all->sector[i] != s) i++;
        if (i < all->n || all->n == sizeof all->sector / sizeof *all->sector) continue;
        all->sector[all->n++] = s;
        story_sector(t->st, x->region, s - first);
    }
}

/* A value that an event read or wrote, as its cell shows it. */
static void event_value(const teller *t, const simt_event *e, uint64_t value, char *text, size_t room)
{
    const space *x = space_of(t, e->p);
    const cell *c = x ? cell_from(t, (const uint8_t *)e->p) : NULL;
    bool whole = c && c < t->shown + t->cells && c->p == (const uint8_t *)e->p && c->bytes == e->bytes && e->bytes <= 8;
    if (whole && strcmp(c->name.column, "ptr") == 0)
        *text = 0;
    else
        cell_text(whole ? c->name.column : "", (const uint8_t *)&value, e->bytes < 8 && e->p ? e->bytes : 8, text,
                  room);
}

void event_lanes(uint32_t lanes, char *text, size_t bytes)
{
    size_t used = 0;
    for (uint32_t i = 0; i < 32 && used < bytes; i++) {
        if (!(lanes >> i & 1)) continue;
        uint32_t last = i;
        while (last < 31 && lanes >> (last + 1) & 1) last++;
        used += (size_t)(last > i ? snprintf(text + used, bytes - used, "%s%u-%u", used ? " " : "", i, last)
                                  : snprintf(text + used, bytes - used, "%s%u", used ? " " : "", i));
        i = last;
    }
}

event_common event_common_of(const simt_event *e, size_t n)
{
    event_common c = { 0, true, true, true };
    for (size_t k = 0; k < n; k++) {
        c.lanes |= 1u << e[k].thread % 32;
        c.place = c.place && e[k].p == e->p;
        c.before = c.before && e[k].before == e->before;
        c.after = c.after && e[k].after == e->after;
    }
    return c;
}

/* The value before the step; NULL: it has none, or lanes differ. */
static const char *before_of(const teller *t, const simt_event *e, bool same, char *text, size_t bytes)
{
    const space *x = e->p ? space_of(t, e->p) : NULL;
    if (!same || takes_effect(e) || !e->p) return NULL;
    if (x && starts(e->what, "st") && unwritten(x, (size_t)((const uint8_t *)e->p - x->p), bytes_in(x, e)))
        return not_written;
    event_value(t, e, e->before, text, bytes);
    return text;
}

/* The result of a vote: lanes, or a number; NULL: a number of several packed ones, which says nothing. */
static const char *vote_of(const simt_event *e, char *text, size_t bytes)
{
    enum { PACKED = 1 << 16 };
    bool lanes = strcmp(e->what, "ballot") == 0 || strcmp(e->what, "match") == 0;
    if (!lanes && e->after >= PACKED) return NULL;
    if (!lanes)
        snprintf(text, bytes, "%" PRIu64, e->after);
    else {
        snprintf(text, bytes, "%s", e->after ? "lanes " : "no lane");
        event_lanes((uint32_t)e->after, text + strlen(text), bytes - strlen(text));
    }
    return text;
}

/* The value after it; of an item that takes effect, its outcome. */
static const char *after_of(const teller *t, const simt_event *e, bool same, char *text, size_t bytes)
{
    bool effect = takes_effect(e), reads = e->p && starts(e->what, "ld");
    bool none = !effect && !e->p && strcmp(event_meaning(e), "votes") != 0; /* it orders memory, or lanes meet */
    if (!same || reads || none || (effect && e->before == JUDGE_MOVE)) return NULL;
    if (!effect && !e->p) return vote_of(e, text, bytes);
    if (effect)
        snprintf(text, bytes, "%s", hd_outcome_name((hd_outcome)e->after));
    else
        event_value(t, e, e->after, text, bytes);
    return text;
}

/* Whether a lane reads another value than the last one that was written. */
static bool is_older(const teller *t, const simt_event *e)
{
    const space *x = e->p && reads_only(e) ? space_of(t, e->p) : NULL;
    size_t n = x ? bytes_in(x, e) : 0;
    return x && !x->output && memcmp(x->copy + ((const uint8_t *)e->p - x->p), &e->before, n < 8 ? n : 8) != 0;
}

/* Where an event is: "digest in bucket 0, slots 0-3" of several slots. */
static void place_of_event(const teller *t, const simt_event *e, char place[3 * CELL_NAME])
{
    const space *x = space_of(t, e->p);
    const cell *first = x ? cell_from(t, (const uint8_t *)e->p) : NULL, *last = first;
    const uint8_t *end = x ? (const uint8_t *)e->p + bytes_in(x, e) : NULL;
    location(t, (const uint8_t *)e->p, place);
    while (first && last + 1 < t->shown + t->cells && last[1].p < end) last++;
    if (first == last || !of_slot(&first->name) || strcmp(first->name.table, last->name.table) != 0 ||
        strcmp(first->name.column, last->name.column) != 0 || strcmp(first->name.row, last->name.row) == 0)
        return;
    bool entry = strcmp(first->name.column, CELL_ENTRY) == 0;
    snprintf(place, 3 * CELL_NAME, "%s%s%s, slots %.16s-%.16s", entry ? "" : first->name.column, entry ? "" : " in ",
             first->name.table, first->name.row + strlen("slot "), last->name.row + strlen("slot "));
}

/* Events [i, end) that are the same failed claim again and again: how often; else 0. */
static uint32_t claims_in_vain(const teller *t, const simt_event *e, size_t i, size_t end)
{
    uint32_t times = 0;
    for (size_t k = i; k < end; k++) {
        if (!t->r->all && !event_matters(&e[k])) continue;
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
static size_t step_end(const teller *t, const simt_event *e, size_t n, size_t i)
{
    size_t end = event_group_end(e, n, i, t->r->apart), more = end;
    if (t->r->apart || end > i + 1 || !fails_as(&e[i], &e[i])) return end;
    while (more < n && e[more].thread == e[i].thread && e[more].block == e[i].block) {
        bool told = t->r->all || event_matters(&e[more]);
        if (told && !fails_as(&e[more], &e[i])) break;
        more++;
        if (told) end = more;
    }
    return end;
}

static void tell_step(teller *t, const simt_event *e, size_t i, size_t end)
{
    char who[64], place[3 * CELL_NAME] = "", before[2 * CELL_NAME], after[2 * CELL_NAME];
    bool effect = takes_effect(&e[i]);
    const event_common same = event_common_of(e + i, end - i);
    story_act act = { .step = e[i].step, .who = who, .lanes = same.lanes, .does = event_meaning(&e[i]) };
    snprintf(who, sizeof who, "block %u, warp %u", e[i].block, e[i].thread / 32);
    if (e[i].p) place_of_event(t, &e[i], place);
    if (!same.place) strncat(place, " and on", sizeof place - strlen(place) - 1);
    if (effect && e[i].before != JUDGE_MOVE) snprintf(place, sizeof place, "item %" PRIu64, e[i].before);
    if (*place) act.place = place;
    if (!effect) act.operation = e[i].what;
    act.before = before_of(t, &e[i], same.before, before, sizeof before);
    act.after = after_of(t, &e[i], same.after, after, sizeof after);
    act.note = is_older(t, &e[i]) ? "An older value than the last one that was written: weak memory allows it."
                                  : note_of(&e[i], place);
    act.site = story_site(e[i].site);
    act.unchanged = !effect && writes_the_same(t, e, i, end);
    act.times = claims_in_vain(t, e, i, end);
    story_step(t->st, &act);
}

/* What the events [i, end) change and move, as part of the last step; before the first step: what the story begins
 * with. How many sectors. */
static uint64_t move_all(teller *t, const simt_event *e, size_t i, size_t end)
{
    sectors all = { { 0 }, 0 };
    matter most = MATTERS_NOT;
    for (size_t k = i; k < end; k++) {
        space *x = space_of(t, e[k].p);
        if (!x) continue;
        matter of = move_cells(t, x, &e[k]);
        most = of > most ? of : most;
        move_sectors(t, x, &e[k], &all);
    }
    if (!t->steps) return (uint64_t)all.n;
    if (most == CHANGES_SAID) story_matters(t->st, t->steps - 1);
    if (most == CHANGES_SLOT) t->written[t->writes++ % STORY_MATTERS] = t->steps - 1;
    t->said |= most == CHANGES_SAID;
    return (uint64_t)all.n;
}

static void tell_steps(teller *t)
{
    size_t n;
    const simt_event *e = simt_machine_events(t->r->m, &n);
    uint64_t steps = 0, skipped = 0, sectors_skipped = 0, most = t->r->most ? t->r->most : UINT64_MAX;
    for (size_t i = 0; i < n; i = step_end(t, e, n, i)) steps += t->r->all || event_matters(&e[i]);
    for (size_t i = 0, end; i < n; i = end) {
        end = step_end(t, e, n, i);
        if (!t->r->all && !event_matters(&e[i])) continue;
        if (steps > most) {
            sectors_skipped += move_all(t, e, i, end);
            skipped++;
            steps--;
            continue;
        }
        if (skipped) story_skipped(t->st, skipped, sectors_skipped);
        skipped = 0;
        tell_step(t, e, i, end);
        t->steps++;
        move_all(t, e, i, end);
    }
    for (uint64_t k = t->writes > STORY_MATTERS ? t->writes - STORY_MATTERS : 0; !t->said && k < t->writes; k++)
        story_matters(t->st, t->written[k % STORY_MATTERS]);
}

bool story_of_run(story *st, const run_told *r)
{
    teller t = { .st = st, .r = r };
    copy_table(&t);
    if (!t.failed) collect_spaces(&t);
    if (!t.failed) mark_touched(&t);
    if (!t.failed) make_panels(&t);
    if (!t.failed) make_regions(&t);
    if (!t.failed) tell_steps(&t);
    for (size_t i = 0; i < t.spaces; i++) {
        if (t.memory[i].own) free(t.memory[i].copy);
        free(t.memory[i].touched);
        free(t.memory[i].written);
    }
    free(t.memory);
    free(t.image);
    free(t.view);
    free(t.shown);
    free(t.table);
    return !t.failed;
}
