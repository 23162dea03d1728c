/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - every invariant of layout.h, by number, for a table at rest; and what makes a table one after a crash.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ref/gphash/gphash.h"

static bool marked(const gphash_table *t, uint64_t cell) { return t->v.mark[cell / 64] >> cell % 64 & 1; }
static void mark(const gphash_table *t, uint64_t cell) { t->v.mark[cell / 64] |= 1ull << cell % 64; }
static void unmark_all(const gphash_table *t)
{
    if (t->v.mark) memset(t->v.mark, 0, (gphash_cells(&t->v) + 63) / 64 * sizeof *t->v.mark);
}

/* Whether a number names a cell of its own for a key with that hash. Then it is marked. */
static bool owns_cell(const gphash_table *t, uint64_t hash, uint64_t number)
{
    uint64_t cell = gphash_cell_of(number);
    if (number == GPHASH_NONE || gphash_tag_of(number) != gphash_tag(hash)) return false;
    if (cell >= gphash_cells(&t->v) || marked(t, cell)) return false;
    mark(t, cell);
    return true;
}

/* What is wrong with place e; NULL: nothing. */
static const char *place_wrong(const gphash_table *t, uint64_t e)
{
    const gphash_view *v = &t->v;
    uint64_t key = *gphash_key_at(v, e), hash = gphash_hash(v, key);
    uint32_t level = gphash_level_of(v, e);
    if (key == HD_KEY_EMPTY) return NULL;
    if (key >= HD_KEY_RESERVED) return "GP-3: a slot is locked at rest";
    if (gphash_function_of(v, hash, level, (e - gphash_first(v, level)) / v->slots) == v->hashes)
        return "GP-2: the key is in none of its buckets";
    if (gphash_find(v, key) != e) return "GP-1: the key is in two slots";
    if (v->cell_bytes && !owns_cell(t, hash, *gphash_number_at(v, e)))
        return "GP-4: the entry has no cell, another key's, or a cell that another entry has, too";
    return NULL;
}

void gphash_check(const gphash_table *t, char *why, size_t bytes)
{
    const gphash_view *v = &t->v;
    uint64_t used = 0;
    why[0] = 0;
    unmark_all(t);
    for (uint64_t e = 0; e < gphash_places(v); e++) {
        const char *wrong = place_wrong(t, e);
        uint32_t level = gphash_level_of(v, e);
        uint64_t at = e - gphash_first(v, level);
        used += v->cell_bytes && *gphash_key_at(v, e) != HD_KEY_EMPTY;
        if (!wrong) continue;
        snprintf(why, bytes, "%s (level %u, bucket %" PRIu64 ", slot %" PRIu64 ")", wrong, level, at / v->slots,
                 at % v->slots);
        return;
    }
    if (used + (t->tail - t->head) != gphash_cells(v)) {
        snprintf(why, bytes, "GP-8: %" PRIu64 " cells are in use, %" PRIu64 " are free, and there are %" PRIu64, used,
                 t->tail - t->head, gphash_cells(v));
        return;
    }
    for (uint64_t i = t->head; i < t->tail; i++) {
        uint64_t cell = v->free[i % gphash_ring(v)];
        if (cell >= gphash_cells(v) || marked(t, cell)) {
            snprintf(why, bytes, "GP-8: cell %" PRIu64 " is free twice, or also in use", cell);
            return;
        }
        mark(t, cell);
    }
}

void gphash_arrange(gphash_table *t)
{
    const gphash_view *v = &t->v;
    if (!v->cell_bytes || !gphash_is_to_arrange(t->head, t->tail)) return;
    const uint64_t cells = gphash_cells(v), first = v->free[(t->head - 1) % gphash_ring(v)];
    unmark_all(t);
    for (uint64_t i = t->head; i < t->tail; i++) mark(t, v->free[i % gphash_ring(v)]);
    t->head = t->tail = 0;
    for (uint64_t k = 0; k < cells; k++)
        if (marked(t, (first + k) % cells)) v->free[t->tail++] = (uint32_t)((first + k) % cells);
}

uint64_t gphash_recover(gphash_table *t)
{
    const gphash_view *v = &t->v;
    uint64_t emptied = 0;
    unmark_all(t);
    for (uint64_t e = 0; e < gphash_places(v); e++) {
        uint64_t *key = gphash_key_at(v, e), *number = gphash_number_at(v, e);
        bool is_key = *key < HD_KEY_RESERVED;
        if (is_key && (!v->cell_bytes || owns_cell(t, gphash_hash(v, *key), *number))) continue;
        emptied += *key != HD_KEY_EMPTY;
        gphash_publish(key, HD_KEY_EMPTY);
        gphash_publish(number, GPHASH_NONE);
    }
    t->head = t->tail = 0;
    for (uint64_t cell = 0; cell < gphash_cells(v); cell++)
        if (!marked(t, cell)) v->free[t->tail++] = (uint32_t)cell;
    return emptied;
}
