/* SPDX-License-Identifier: Apache-2.0
 *
 * story_memory.c - see story_memory.h.
 */
#include "judge/story_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/design.h"

/* ---- Spaces ---------------------------------------------------------------------------------- */

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

static void add_space(story_memory *mem, const void *p, size_t bytes, const char *name)
{
    const fixture *s = mem->r->s;
    story_space *x = &mem->memory[mem->spaces];
    const uint8_t *at = (const uint8_t *)p;
    uint32_t part;
    bool batch = of_batch(s, p, &part, &x->output);
    x->p = at;
    x->bytes = bytes;
    x->region = -1;
    x->own = at < s->memory || at >= s->memory + s->bytes;
    x->copy = x->own ? (uint8_t *)malloc(bytes) : mem->image + (at - s->memory);
    x->touched = (bool *)calloc(bytes, sizeof(bool));
    x->written = x->output ? (bool *)calloc(bytes, sizeof(bool)) : NULL;
    snprintf(x->name, sizeof x->name, batch && part ? "%.40s, second batch" : "%.40s", name);
    mem->spaces++;
    mem->failed = !x->copy || !x->touched || (x->output && !x->written);
    if (!mem->failed && x->own) memcpy(x->copy, p, bytes);
}

/* The fixture's memory and table as they were before the run. */
static void copy_table(story_memory *mem)
{
    const fixture *s = mem->r->s;
    mem->image = (uint8_t *)malloc(s->bytes);
    mem->view = malloc(fixture_table_size(s->design));
    mem->failed = !mem->image || !mem->view;
    if (mem->failed) return;
    memcpy(mem->image, s->initial, s->bytes);
    fixture_view(s, mem->image, mem->view);
}

static void collect_spaces(story_memory *mem)
{
    const void *p;
    size_t bytes;
    const char *name;
    uint32_t n = 0;
    while (simt_machine_region_at(mem->r->m, n, &p, &bytes, &name)) n++;
    mem->memory = (story_space *)calloc(n + 1, sizeof *mem->memory);
    mem->failed = !mem->memory;
    for (uint32_t i = 0; i < n && !mem->failed; i++)
        if (simt_machine_region_at(mem->r->m, i, &p, &bytes, &name) && bytes) add_space(mem, p, bytes, name);
}

story_space *story_space_of(const story_memory *mem, const void *address)
{
    const uint8_t *p = (const uint8_t *)address;
    for (size_t i = 0; p && i < mem->spaces; i++)
        if (p >= mem->memory[i].p && p < mem->memory[i].p + mem->memory[i].bytes) return &mem->memory[i];
    return NULL;
}

size_t story_space_bytes(const story_space *x, const simt_event *e)
{
    size_t left = (size_t)(x->p + x->bytes - (const uint8_t *)e->p);
    return e->bytes < left ? e->bytes : left;
}

static void mark_touched(story_memory *mem)
{
    size_t n;
    const simt_event *e = simt_machine_events(mem->r->m, &n);
    for (size_t i = 0; i < n; i++) {
        story_space *x = story_space_of(mem, e[i].p);
        mem->several = mem->several || e[i].block != e[0].block || e[i].thread / 32 != e[0].thread / 32;
        if (!x) continue;
        memset(x->touched + ((const uint8_t *)e[i].p - x->p), true, story_space_bytes(x, &e[i]));
        x->any = true;
    }
}

static bool touched(const story_space *x, size_t at, size_t bytes)
{
    return memchr(x->touched + at, true, bytes * sizeof(bool)) != NULL;
}

bool story_space_unwritten(const story_space *x, size_t at, size_t bytes)
{
    return x->output && !memchr(x->written + at, true, bytes * sizeof(bool));
}

void story_space_write(story_space *x, const simt_event *e)
{
    const uint64_t word[2] = { e->after, e->after_high };
    size_t n = story_space_bytes(x, e), at = (size_t)((const uint8_t *)e->p - x->p);
    memcpy(x->copy + at, word, n < sizeof word ? n : sizeof word);
    if (x->written) memset(x->written + at, true, n * sizeof(bool));
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static bool row_begins(const cell_name *c, const char *with) { return strncmp(c->row, with, strlen(with)) == 0; }

static const char *location(const story_memory *mem, const uint8_t *p, char text[2 * CELL_NAME])
{
    return fixture_location(mem->r->s, mem->r->m, p, text, 2 * CELL_NAME);
}

/* How many bytes from `at` on have the same name: most often as many as the piece before them. */
static size_t named_alike(const story_memory *mem, const story_space *x, size_t at, size_t guess)
{
    char name[2 * CELL_NAME], other[2 * CELL_NAME];
    location(mem, x->p + at, name);
    if (guess && at + guess <= x->bytes && strcmp(location(mem, x->p + at + guess - 1, other), name) == 0 &&
        (at + guess == x->bytes || strcmp(location(mem, x->p + at + guess, other), name) != 0))
        return guess;
    size_t n = 1;
    while (at + n < x->bytes && strcmp(location(mem, x->p + at + n, other), name) == 0) n++;
    return n;
}

/* A word without a named place, such as a counter of the table. */
static bool name_counter(const story_space *x, const char *name, cell_name *c)
{
    if (x->bytes > 8) return false;
    snprintf(c->table, CELL_NAME, "counters");
    snprintf(c->row, CELL_NAME, "%.*s", CELL_NAME - 1, name);
    snprintf(c->column, CELL_NAME, "value");
    return true;
}

/* The number of the entry that a cell is. */
static uint64_t place_of(const story_memory *mem, const cell_name *name)
{
    const fixture *s = mem->r->s;
    char want[2 * CELL_NAME + 2], place[2 * CELL_NAME];
    uint64_t e = 0, places = fixture_places(s->design, s->table);
    snprintf(want, sizeof want, "%s, %s", name->table, name->row);
    while (e < places && strcmp(fixture_place(s->design, s->table, e, place, sizeof place), want) != 0) e++;
    return e;
}

static void add_cell(story_memory *mem, story_space *x, size_t at, size_t bytes, const cell_name *name)
{
    if (mem->cells == mem->room) {
        size_t room = mem->room ? 2 * mem->room : 256;
        shown_cell *more = (shown_cell *)realloc(mem->shown, room * sizeof *more);
        if (!more) {
            mem->failed = true;
            return;
        }
        mem->shown = more;
        mem->room = room;
    }
    shown_cell c = { x->p + at, x, bytes, -1, 0, 0, *name, 0, NULL };
    if (strcmp(name->column, CELL_ENTRY) == 0) c.place = place_of(mem, name);
    mem->shown[mem->cells++] = c;
}

/* Calls `each` for the named pieces of all spaces. */
static void walk(story_memory *mem,
                 void (*each)(story_memory *, story_space *, size_t at, size_t bytes, const cell_name *))
{
    for (size_t i = 0; i < mem->spaces && !mem->failed; i++) {
        story_space *x = &mem->memory[i];
        char name[2 * CELL_NAME];
        cell_name c;
        if (!cell_name_of(location(mem, x->p, name), &c)) {
            if (name_counter(x, name, &c)) each(mem, x, 0, x->bytes, &c);
            continue;
        }
        for (size_t at = 0, n = 0; at < x->bytes && !mem->failed; at += n) {
            n = named_alike(mem, x, at, n);
            if (cell_name_of(location(mem, x->p + at, name), &c)) each(mem, x, at, n, &c);
        }
    }
}

bool story_of_slot(const cell_name *c) { return row_begins(c, "slot "); }

static bool has_table(const story_memory *mem, const char *table)
{
    for (size_t i = 0; i < mem->tables; i++)
        if (strcmp(mem->table[i], table) == 0) return true;
    return false;
}

static void take_table(story_memory *mem, story_space *x, size_t at, size_t bytes, const cell_name *c)
{
    if (!story_of_slot(c) || !touched(x, at, bytes) || has_table(mem, c->table)) return;
    char(*more)[CELL_NAME] = (char(*)[CELL_NAME])realloc(mem->table, (mem->tables + 1) * CELL_NAME);
    if (!more) {
        mem->failed = true;
        return;
    }
    mem->table = more;
    memcpy(mem->table[mem->tables++], c->table, CELL_NAME);
}

/* What belongs to several slots, or to no slot, is shown only where it was touched; an output of any item for all. */
static void take_cell(story_memory *mem, story_space *x, size_t at, size_t bytes, const cell_name *c)
{
    char name[2 * CELL_NAME];
    if (!mem->r->s->value_bytes && strcmp(c->column, "value") == 0) return;
    bool spans = strstr(location(mem, x->p + at, name), ", from slot ") != NULL;
    bool output = x->output && x->any && row_begins(c, "item ");
    if (story_of_slot(c) && !spans ? has_table(mem, c->table) : output || touched(x, at, bytes))
        add_cell(mem, x, at, bytes, c);
}

shown_cell *story_cell_from(const story_memory *mem, const uint8_t *p)
{
    size_t low = 0, high = mem->cells;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (mem->shown[mid].p + mem->shown[mid].bytes <= p)
            low = mid + 1;
        else
            high = mid;
    }
    return mem->shown + low;
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
static void make_panel(story_memory *mem, size_t first)
{
    const char *table = mem->shown[first].name.table;
    texts rows = { (const char **)calloc(mem->cells, sizeof(char *)), 0 },
          columns = { (const char **)calloc(mem->cells, sizeof(char *)), 0 };
    mem->failed = mem->failed || !rows.text || !columns.text;
    for (size_t i = first; i < mem->cells && !mem->failed; i++) {
        shown_cell *c = &mem->shown[i];
        if (strcmp(c->name.table, table) != 0) continue;
        c->row = text_at(&rows, c->name.row);
        c->column = text_at(&columns, c->name.column);
        c->panel = mem->panels;
    }
    if (!mem->failed) {
        story_panel(mem->st, table, columns.text, columns.n);
        for (int i = 0; i < rows.n; i++) story_row(mem->st, mem->panels, rows.text[i]);
        mem->panels++;
    }
    free(rows.text);
    free(columns.text);
}

/* The cell's text: of an address in an array of pointers, the array and the byte it points to. */
static const char *text_of_cell(const story_memory *mem, const shown_cell *c, char text[2 * CELL_NAME])
{
    const uint8_t *p = c->in->copy + (c->p - c->in->p);
    uint64_t word = 0, at;
    if (strcmp(c->name.column, CELL_ENTRY) == 0 && c->place < fixture_places(mem->r->s->design, mem->view)) {
        fixture_describe(mem->r->s->design, mem->view, c->place, text, 2 * CELL_NAME);
        return text;
    }
    if (strcmp(c->name.column, "ptr") != 0) return cell_text(c->name.column, p, c->bytes, text, 2 * CELL_NAME);
    memcpy(&word, p, 8);
    const char *region = simt_machine_name(mem->r->m, (const void *)(uintptr_t)word, &at);
    if (*region)
        snprintf(text, 2 * CELL_NAME, "%s, byte %" PRIu64, region, at);
    else
        snprintf(text, 2 * CELL_NAME, "%s", word ? "elsewhere" : "none");
    return text;
}

void story_cell_show(const story_memory *mem, shown_cell *c, const simt_event *by)
{
    char text[2 * CELL_NAME], who[64] = "";
    const char *shown = story_space_unwritten(c->in, (size_t)(c->p - c->in->p), c->bytes) ? STORY_NOT_WRITTEN
                                                                                          : text_of_cell(mem, c, text);
    bool taken = strcmp(shown, "locked") == 0 || strcmp(shown, "held") == 0;
    if (!taken || !c->holder) c->holder = taken ? by : NULL;
    const simt_event *e = c->holder;
    if (e && mem->several)
        snprintf(who, sizeof who, " by block %u, warp %u, lane %u", e->block, e->thread / 32, e->thread % 32);
    else if (e)
        snprintf(who, sizeof who, " by lane %u", e->thread % 32);
    story_cell(mem->st, c->panel, c->row, c->column, "%s%s", shown, who);
}

static int by_address(const void *a, const void *b)
{
    const shown_cell *x = (const shown_cell *)a, *y = (const shown_cell *)b;
    return x->p < y->p ? -1 : x->p > y->p;
}

/* Buckets come first, then the batch, then what is left. */
enum { OF_SLOTS, OF_ITEMS, OF_OTHERS, PANEL_KINDS };

static int kind_of(const cell_name *c)
{
    return story_of_slot(c) ? OF_SLOTS : row_begins(c, "item ") ? OF_ITEMS : OF_OTHERS;
}

static void make_panels(story_memory *mem)
{
    walk(mem, take_table);
    walk(mem, take_cell);
    for (int kind = 0; kind < PANEL_KINDS; kind++)
        for (size_t i = 0; i < mem->cells && !mem->failed; i++)
            if (mem->shown[i].panel < 0 && kind_of(&mem->shown[i].name) == kind) make_panel(mem, i);
    for (size_t i = 0; i < mem->cells && !mem->failed; i++) story_cell_show(mem, &mem->shown[i], NULL);
    if (mem->cells) qsort(mem->shown, mem->cells, sizeof *mem->shown, by_address);
}

bool story_memory_open(story_memory *mem)
{
    copy_table(mem);
    if (!mem->failed) collect_spaces(mem);
    if (!mem->failed) mark_touched(mem);
    if (!mem->failed) make_panels(mem);
    return !mem->failed;
}

void story_memory_close(story_memory *mem)
{
    for (size_t i = 0; i < mem->spaces; i++) {
        if (mem->memory[i].own) free(mem->memory[i].copy);
        free(mem->memory[i].touched);
        free(mem->memory[i].written);
    }
    free(mem->memory);
    free(mem->image);
    free(mem->view);
    free(mem->shown);
    free(mem->table);
}
