/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - the memory of a GPHash table on a device, and beside the reference's: a row for each array.
 */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "gpu/gphash/launch.h"
#include "gpu/gphash/state.h"
#include "ref/gphash/gphash.h"

#define WORDS(member) offsetof(gphash_words, member)
enum { VIEW = offsetof(gphash_state, v) };

enum { FAR = offsetof(gphash_state, far) };

#define CACHE(member) offsetof(gphash_state, cache) + offsetof(gphash_cache, member)

/* Where what lasts is on a device. */
static hd_put lasting_put(const gphash_state *o)
{
    return o->gpu.info.gphash.index == HD_INDEX_DEVICE ? HD_APART : HD_HOST_MEMORY;
}

int gphash_level_memory(const gphash_state *o, uint32_t level, hd_memory *all)
{
    const bool near = gphash_is_near(o);
    const size_t at = level * sizeof(gphash_level), to = (near ? FAR : VIEW + offsetof(gphash_view, level)) + at;
    const size_t key = offsetof(gphash_level, key), number = offsetof(gphash_level, number);
    const size_t twin = offsetof(gphash_view, level) + at, index = VIEW + twin;
    const uint64_t slots = gphash_level_buckets(&o->v, level) * o->v.slots;
    const hd_put put = lasting_put(o);
    const hd_memory rows[] = {
        { "capacity: keys", "keys", to + key, slots, sizeof(uint64_t), 0xff, .put = put, HD_HOLDS_ENTRIES, twin + key },
        { "capacity: numbers", "numbers", to + number, slots, sizeof(uint64_t), 0xff, .put = put, HD_HOLDS_ENTRIES,
          twin + number },
        { "index: keys", "near keys", index + key, slots, sizeof(uint64_t), 0xff, .put = HD_APART },
        { "index: numbers", "near numbers", index + number, slots, sizeof(uint64_t), 0xff, .put = HD_APART },
    };
    return hd_memory_add(all, rows, near ? sizeof rows : sizeof rows / 2);
}

static int chunk_memory(const gphash_state *o, uint32_t chunk, hd_memory *all)
{
    const gphash_view *v = &o->v;
    const size_t at = offsetof(gphash_view, cell) + chunk * sizeof v->cell[0];
    const hd_memory rows[] = {
        { "capacity: values", "cells", VIEW + at, gphash_chunk_cells(v, chunk), v->cell_bytes, 0, .put = lasting_put(o),
          HD_HOLDS_VALUES, at },
    };
    return v->cell_bytes ? hd_memory_add(all, rows, sizeof rows) : 0;
}

/* Bits for the cells in use: on the host machine those of the reference are there. */
int gphash_marks_memory(const gphash_state *o, hd_memory *all)
{
    const hd_memory rows[] = {
        { "recovery: marks of cells", "marks", offsetof(gphash_state, next_mark), (gphash_cells(&o->v) + 63) / 64,
          sizeof(uint64_t), 0, .put = HD_APART },
    };
    return o->v.cell_bytes ? hd_memory_add(all, rows, sizeof rows) : 0;
}

/* The ring that is; on the host machine the marks, which are the reference's alone; and the map of pages. */
int gphash_ring_memory(const gphash_state *o, hd_memory *all)
{
    uint64_t cells = gphash_cells(&o->v);
    const hd_memory rows[] = {
        { "capacity: free cells", "free cells", VIEW + offsetof(gphash_view, free), gphash_ring(&o->v),
          sizeof(uint32_t), HD_AS_IT_COMES, .put = HD_APART, HD_HOLDS_ENTRIES, offsetof(gphash_view, free) },
        { "capacity: marks of cells", NULL, VIEW + offsetof(gphash_view, mark), o->gpu.device ? 0 : (cells + 63) / 64,
          sizeof(uint64_t), HD_AS_IT_COMES, .put = HD_APART, HD_HOLDS_SHARED },
        { "index: changed pages", "changed pages", offsetof(gphash_state, page),
          gphash_is_near(o) ? gphash_pages(&o->v) : 0, 1, 0, .put = HD_APART },
        { "cache: copies of units", "copy_of", CACHE(copy_of), gphash_units(&o->v, o->cache.of), sizeof(uint32_t), 0,
          .put = HD_APART },
        { "cache: heat of units", "heat", CACHE(heat), gphash_units(&o->v, o->cache.of), sizeof(uint32_t), 0,
          .put = HD_APART },
    };
    return hd_memory_add(all, rows, sizeof rows);
}

/* Of a table that has grown once more. */
static int next_ring_memory(const gphash_state *o, hd_memory *all)
{
    const uint32_t grown = o->v.grown + 1;
    gphash_view then = o->v;
    then.grown++;
    then.bottom++;
    uint64_t cells = gphash_cells_then(&o->v, grown);
    const hd_memory rows[] = {
        { "capacity: free cells", "free cells", offsetof(gphash_state, next_free), gphash_ring_then(&o->v, grown),
          sizeof(uint32_t), HD_AS_IT_COMES, .put = HD_APART },
        { "capacity: marks of cells", NULL, offsetof(gphash_state, next_mark), o->gpu.device ? 0 : (cells + 63) / 64,
          sizeof(uint64_t), HD_AS_IT_COMES, .put = HD_APART },
        { "index: changed pages", "changed pages", offsetof(gphash_state, next_page),
          gphash_is_near(o) ? gphash_pages(&then) : 0, 1, 0, .put = HD_APART },
        { "cache: copies of units", "copy_of", offsetof(gphash_state, next_copy_of), gphash_units(&then, o->cache.of),
          sizeof(uint32_t), 0, .put = HD_APART },
        { "cache: heat of units", "heat", offsetof(gphash_state, next_heat), gphash_units(&then, o->cache.of),
          sizeof(uint32_t), 0, .put = HD_APART },
    };
    return hd_memory_add(all, rows, sizeof rows);
}

static int cache_memory(const gphash_state *o, hd_memory *all)
{
    const uint64_t n = o->cache.copies;
    const hd_memory rows[] = {
        { "cache: units of copies", "holder", CACHE(holder), n, sizeof(uint32_t), 0, .put = HD_APART },
        { "cache: free copies", "spare", CACHE(spare), n, sizeof(uint32_t), HD_AS_IT_COMES, .put = HD_APART },
        { "cache: copies", "copies", CACHE(copy), n, gphash_unit_bytes(&o->v, o->cache.of), HD_AS_IT_COMES,
          .put = HD_APART },
    };
    return o->cache.of ? hd_memory_add(all, rows, sizeof rows) : 0;
}

int gphash_growth_memory(const gphash_state *o, hd_memory *all)
{
    int n = gphash_level_memory(o, gphash_top(&o->v) + 1, all);
    n += chunk_memory(o, o->v.grown + 1, all + n);
    return n + next_ring_memory(o, all + n);
}

static int words_memory(const gphash_state *o, hd_memory *all)
{
    const gphash_words *w = o->words;
    const size_t at = offsetof(gphash_state, words);
    hd_memory head = hd_memory_word(NULL, at, WORDS(head), sizeof w->head);
    hd_memory tail = hd_memory_word(NULL, at, WORDS(tail), sizeof w->tail);
    head.what = tail.what = "ends of the ring";
    head.holds = tail.holds = HD_HOLDS_ENTRIES;
    head.twin = offsetof(gphash_table, head);
    tail.twin = offsetof(gphash_table, tail);
    const hd_memory rows[] = {
        { "table: counters", NULL, at, 1, sizeof *w, 0, .put = HD_TOGETHER },
        hd_memory_word("tally", at, WORDS(tally), sizeof w->tally),
        hd_memory_word("sum", at, WORDS(sum), sizeof w->sum),
        hd_memory_word("fetched", at, WORDS(fetched), sizeof w->fetched),
        hd_memory_word("ordered", at, WORDS(ordered), sizeof w->ordered),
        hd_memory_word("promotion", at, WORDS(cache), sizeof w->cache),
        hd_memory_word("head", at, WORDS(head), sizeof w->head),
        hd_memory_word("tail", at, WORDS(tail), sizeof w->tail),
        head,
        tail,
        { "table: guards", "guards", offsetof(gphash_state, guard), GPHASH_GUARDS, sizeof(uint32_t), 0,
          .put = HD_TOGETHER },
    };
    return hd_memory_add(all, rows, sizeof rows);
}

/* What windows note of far slots and cells, and room to sort it. */
static int notes_memory(const gphash_state *o, hd_memory *all)
{
    bool far = o->gpu.info.gphash.index != HD_INDEX_DEVICE && (gphash_is_near(o) || o->v.cell_bytes);
    const uint64_t n = far ? gphash_notes(o) : 0, counts = far ? gpu_sort_counts(gphash_sort_shares(o)) : 0;
    const hd_memory rows[] = {
        { "index: changes of a window", "changes", offsetof(gphash_state, changed), n, sizeof(uint64_t), HD_AS_IT_COMES,
          .put = HD_APART },
        { "index: order of a window", "order", offsetof(gphash_state, order), n, sizeof(uint64_t), HD_AS_IT_COMES,
          .put = HD_APART },
        { "index: room to sort", "room to sort", offsetof(gphash_state, unsorted), n, sizeof(uint64_t), HD_AS_IT_COMES,
          .put = HD_APART },
        { "index: counts of a sort", "counts of a sort", offsetof(gphash_state, count), counts, sizeof(uint32_t),
          HD_AS_IT_COMES, .put = HD_APART },
    };
    return hd_memory_add(all, rows, sizeof rows);
}

int gphash_memory(const void *state, hd_memory *all)
{
    const gphash_state *o = (const gphash_state *)state;
    int n = 0;
    for (uint32_t i = o->v.bottom; i <= gphash_top(&o->v); i++) n += gphash_level_memory(o, i, all + n);
    for (uint32_t k = 0; k <= o->v.grown; k++) n += chunk_memory(o, k, all + n);
    n += gphash_ring_memory(o, all + n);
    n += words_memory(o, all + n);
    n += notes_memory(o, all + n);
    n += cache_memory(o, all + n);
    return n + gpu_list_memory(&o->gpu, offsetof(gphash_state, kept), all + n);
}

void gphash_begin_table(void *state)
{
    gphash_state *o = (gphash_state *)state;
    o->v = gphash_view_for(&o->gpu.info);
    o->cache.of = o->gpu.info.gphash.cache;
    o->cache.copies = o->gpu.info.gphash.cached;
    o->cache.unit_bytes = gphash_unit_bytes(&o->v, o->cache.of);
}

void gphash_taken(void *state)
{
    gphash_state *o = (gphash_state *)state;
    o->gpu.tally = o->words->tally;
    o->gpu.sum = &o->words->sum;
    o->gpu.op = o->words->op;
    o->gpu.word = &o->words->word;
    o->cache.word = &o->words->cache;
}

void *gphash_view_of_state(void *entries) { return gphash_table_of(entries); }

gphash_view gphash_view_that_lasts(const gphash_state *o)
{
    gphash_view v = o->v;
    memcpy(v.level, gphash_lasting(o), sizeof v.level);
    return v;
}

void gphash_copy_slots(const gphash_view *v, const gphash_level *to, const gphash_level *from)
{
    for (uint32_t i = v->bottom; i <= gphash_top(v); i++) {
        size_t bytes = (size_t)(gphash_level_buckets(v, i) * v->slots) * sizeof(uint64_t);
        memcpy(to[i].key, from[i].key, bytes);
        memcpy(to[i].number, from[i].number, bytes);
    }
}

/* The two parts of a unit, or of its copy. */
typedef struct parts {
    uint8_t *p[2];
    size_t bytes;
} parts;

static parts parts_of_unit(const gphash_state *o, uint64_t unit)
{
    const gphash_view *v = &o->v;
    const size_t words = v->slots * sizeof(uint64_t);
    uint64_t first = unit * v->slots;
    if (o->cache.of == HD_CACHE_BUCKETS)
        return (parts){ { (uint8_t *)gphash_key_at(v, first), (uint8_t *)gphash_number_at(v, first) }, words };
    uint8_t *cell = gphash_cell(v, unit);
    return (parts){ { cell, cell + v->cell_bytes / 2 }, v->cell_bytes / 2 };
}
static parts parts_of_copy(const gphash_state *o, uint64_t unit)
{
    const gphash_cache *c = &o->cache;
    uint8_t *copy = c->copy + (uint64_t)(c->copy_of[unit] - 1) * c->unit_bytes;
    return (parts){ { copy, copy + c->unit_bytes / 2 }, c->unit_bytes / 2 };
}

void gphash_make_copy(const gphash_state *o, uint64_t unit)
{
    const parts from = parts_of_unit(o, unit), to = parts_of_copy(o, unit);
    for (int i = 0; i < 2; i++) memcpy(to.p[i], from.p[i], to.bytes);
}

uint64_t gphash_wrong_copy(const gphash_state *o, bool drop)
{
    const gphash_cache *c = &o->cache;
    uint64_t wrong = GPHASH_NOWHERE;
    for (uint64_t u = 0; u < gphash_units(&o->v, c->of); u++) {
        if (!c->copy_of[u]) continue;
        const parts is = parts_of_unit(o, u), copy = parts_of_copy(o, u);
        if (memcmp(is.p[0], copy.p[0], is.bytes) == 0 && memcmp(is.p[1], copy.p[1], is.bytes) == 0) continue;
        if (wrong == GPHASH_NOWHERE) wrong = u;
        if (drop) c->copy_of[u] = 0;
    }
    return wrong;
}

void gphash_before_batch(void *state, void *entries)
{
    gphash_state *o = (gphash_state *)state;
    const gphash_table *t = gphash_table_of(entries);
    gphash_level near[GPHASH_LEVELS];
    memcpy(near, o->v.level, sizeof near);
    o->v = t->v;
    if (gphash_is_near(o)) {
        memcpy(o->far, o->v.level, sizeof o->far);
        memcpy(o->v.level, near, sizeof near);
        gphash_copy_slots(&o->v, o->v.level, o->far);
    }
    gphash_wrong_copy(o, true); /* the reference may have changed the table */
    o->words->head = t->head;
    o->words->tail = t->tail;
}

void gphash_after_batch(void *state, void *entries, bool good)
{
    const gphash_state *o = (const gphash_state *)state;
    gphash_table *t = gphash_table_of(entries);
    HD_ASSERT(!good || gphash_wrong_copy(o, false) == GPHASH_NOWHERE, "GP-5: a copy is not that of its unit");
    t->head = o->words->head;
    t->tail = o->words->tail;
}

hd_status gphash_shape_there(const hd_config *c, hd_info *info, bool device)
{
    bool file = device && c->file;
    if (c->gphash.index == HD_INDEX_USUAL && file) info->gphash.index = HD_INDEX_NEAR;
    if (file && info->gphash.index == HD_INDEX_DEVICE)
        return hd_fail(HD_EINVAL, "index: device, but the memory of a device does not outlive the process");
    if (info->gphash.cache && info->gphash.index == HD_INDEX_DEVICE)
        return hd_fail(HD_EINVAL, "cache: the table is in the device's memory; it needs index=far or index=near");
    if (info->gphash.cache == HD_CACHE_BUCKETS && info->gphash.index == HD_INDEX_NEAR)
        return hd_fail(HD_EINVAL, "cache: a near index has the slots of all buckets");
    return HD_OK;
}

hd_status gphash_open_here(const void *state, const hd_seams *s, void **staged)
{
    return gphash_reference.open(NULL, &((const gphash_state *)state)->gpu.info, s, staged);
}
