/* SPDX-License-Identifier: Apache-2.0
 *
 * gphash_tables.c - GPHash, for tests/conform_tables.h.
 */
#include "lib/table.h"
#include "ref/gphash/gphash.h"
#include "tests/conform_tables.h"

static const char *const shapes[] = {
    "usual capacity=96 keys=uniform:200",
    "usual capacity=96 slots=4 levels=4 layout=cells table_seed=9 keys=uniform:300",
    "usual capacity=96 slots=16 levels=1 value=1 keys=uniform:200",
    "usual capacity=96 slots=2 levels=4 hashes=4 value=4 layout=cells keys=uniform:900",
    "usual capacity=300 slots=16 hashes=1 value=3 keys=uniform:900",
    "usual capacity=96 index=near keys=uniform:200",
    "usual capacity=96 layout=cells index=near keys=uniform:300",
    "usual capacity=96 layout=cells index=near cache=values cached=50 keys=uniform:300",
    "usual capacity=96 index=far cache=buckets cached=7 keys=uniform:200",
};

static const test_refusal refusals[] = {
    { "slots=0", "slots" },
    { "slots=16", "slots" },
    { "slots=4294967295", "slots" },
    { "levels=0", "levels" },
    { "levels=9", "levels" },
    { "hashes=0", "hashes" },
    { "hashes=3", "hashes" },
    { "levels=4", "2 hashes x 8" },
    { "value_bytes=65537", "value_bytes" },
    { "value_bytes=9 layout=inline", "layout" },
    { "value_bytes=0 layout=cells", "layout" },
    { "layout=words", "layout" },
    { "cached=4", "no cache" },
    { "cache=values", "layout inline" },
    { "cached=4294967295 cache=buckets", "cached" },
    { "clock=device", "clock" },
    { "policy=lru", "policy" },
    { "capacity=0", "capacity" },
    { "capacity=18446744073709551615", "capacity" },
    { "capacity=4294967296 value_bytes=16", "cells" },
};

/* ---- Invariants ------------------------------------------------------------------------------ */

#define DAMAGED "usual capacity=48 table_seed=5 value=16"

/* Eight keys, each where an insertion puts it. */
static void lay(hd_table *t)
{
    for (uint64_t k = 0; k < 8; k++) check(test_put(t, 10 + k, k) == HD_INSERTED, "key %u", (unsigned)k);
}

/* Place n of those that are empty and candidates of the key, or that are not. */
static uint64_t empty_place(const gphash_view *v, uint64_t key, bool is_candidate)
{
    uint64_t hash = gphash_hash(v, key), e = 0;
    for (;; e++) {
        uint32_t level = gphash_level_of(v, e);
        uint64_t bucket = (e - gphash_first(v, level)) / v->slots;
        bool candidate = gphash_function_of(v, hash, level, bucket) < v->hashes;
        if (candidate == is_candidate && *gphash_key_at(v, e) == HD_KEY_EMPTY) return e;
    }
}

static void damage(hd_table *t, uint64_t n)
{
    gphash_table *g = gphash_table_of(t->state);
    gphash_view *v = &g->v;
    uint64_t e = gphash_find(v, 10), other = gphash_find(v, 11), *number = gphash_number_at(v, e);
    uint64_t to = n == 0 ? empty_place(v, 10, true) : empty_place(v, 10, false);
    switch (n) {
    case 0:
    case 1:
        *gphash_key_at(v, to) = 10;
        *gphash_number_at(v, to) = *number;
        if (n == 1) *gphash_key_at(v, e) = HD_KEY_EMPTY;
        break;
    case 2: *gphash_key_at(v, to) = HD_KEY_LOCKED; break;
    case 3: *number = GPHASH_NONE; break;
    case 4: *number = (*number & ~0xffffffffull) | gphash_cell_of(*gphash_number_at(v, other)); break;
    case 5: *number ^= 1ull << 48; break;
    case 6: *number = (*number & ~0xffffffffull) | gphash_cells(v); break;
    case 7: g->tail--; break;
    case 8: v->free[g->head % gphash_ring(v)] = (uint32_t)gphash_cell_of(*number); break;
    default: v->free[g->head % gphash_ring(v)] = v->free[(g->head + 1) % gphash_ring(v)]; break;
    }
}

static const table_damage damages[] = {
    { "a key in two slots", "GP-1", DAMAGED, damage, 0 },
    { "a key in none of its buckets", "GP-2", DAMAGED, damage, 1 },
    { "a locked slot", "GP-3", DAMAGED, damage, 2 },
    { "a key without a value", "GP-4", DAMAGED, damage, 3 },
    { "two keys with one cell", "GP-4", DAMAGED, damage, 4 },
    { "another key's number", "GP-4", DAMAGED, damage, 5 },
    { "a cell that is none", "GP-4", DAMAGED, damage, 6 },
    { "a cell lost", "GP-8", DAMAGED, damage, 7 },
    { "a cell free and in use", "GP-8", DAMAGED, damage, 8 },
    { "a cell free twice", "GP-8", DAMAGED, damage, 9 },
};

const table_design table_this = { .name = "gphash",
                                  .shapes = shapes,
                                  .shapes_n = TABLES_COUNT(shapes),
                                  .refusal = refusals,
                                  .refusals = TABLES_COUNT(refusals),
                                  .dictionary = true,
                                  .load = 50,
                                  .damage = damages,
                                  .damages = TABLES_COUNT(damages),
                                  .lay = lay };
