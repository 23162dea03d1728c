/* SPDX-License-Identifier: Apache-2.0
 *
 * tables.c - the skip list, for tests/conform_tables.h.
 */
#include "lib/table.h"
#include "gfsl/ref/gfsl.h"
#include "tests/conform_tables.h"

static const char *const shapes[] = {
    "usual buckets=80 slots=6 keys=uniform:400",
    "usual buckets=20 slots=14 keys=uniform:400",
    "usual buckets=3 slots=30 keys=uniform:200",
    "usual buckets=60 slots=6 level_pools=1 far=data unsorted=1 keys=uniform:400",
    "usual buckets=20 slots=14 far=all keys_per_block=5 blocks=3 keys=uniform:400",
    "usual buckets=120 slots=6 level_pools=1 keys_per_block=100 unsorted=1 keys=uniform:400",
};

static const test_refusal refusals[] = {
    { "slots=8", "6, 14 or 30" },  { "value_bytes=8", "value_bytes" },
    { "layout=masks", "layout" },  { "capacity=1099511627776", "chunks" },
    { "far=data", "level_pools" }, { "clock=device", "clock" },
    { "policy=lru", "policy" },
};

/* ---- Invariants ------------------------------------------------------------------------------ */

#define DAMAGED "usual buckets=40 slots=6"

static void lay(hd_table *t)
{
    for (uint64_t key = 10; key < 40; key++) test_put(t, key, key);
}

static void damage(hd_table *t, uint64_t n)
{
    gfsl_view *v = gfsl_view_of(t->state);
    uint64_t *first = gfsl_at(v, 0), *index = gfsl_at(v, 1), seal = v->slots + 1;
    uint32_t next = gfsl_low(first[v->slots]);
    switch (n) {
    case 0: first[0] = first[1]; break;
    case 1: first[1] = first[0] + (100ull << 32); break;
    case 2: first[v->slots] = (uint64_t)1 << 32 | next; break;
    case 3: first[v->slots] |= GFSL_NONE; break;
    case 4: gfsl_at(v, next)[v->slots] &= ~(uint64_t)GFSL_NONE; break;
    case 5: first[0] = GFSL_EMPTY; break;
    case 6: gfsl_at(v, next)[seal] |= gfsl_seal(1, 0); break;
    case 7: index[1] = (index[1] & ~(uint64_t)GFSL_NONE) | 2; break;
    case 8: index[0] |= 1ull << 32; break;
    case 9: index[0] = gfsl_low(index[1]); break;
    case 10: first[seal] |= GFSL_LOCKED; break;
    case 11: gfsl_at(v, next)[seal] |= GFSL_ZOMBIE; break;
    case 12: v->head[GFSL_ZOMBIES] = 1; break;
    case 13: v->head[GFSL_USED]++; break;
    case 14: v->head[GFSL_FREED] = 1; break;
    case 15: v->head[0]++; break;
    default: v->head[GFSL_TOP] = 0; break;
    }
}

static const table_damage damages[] = {
    { "a key twice", "GFSL-1", DAMAGED, damage, 0 },
    { "above the fence", "GFSL-1", DAMAGED, damage, 1 },
    { "a fence below a key", "GFSL-1", DAMAGED, damage, 2 },
    { "the chain ends early", "GFSL-1", DAMAGED, damage, 3 },
    { "the chain is a ring", "GFSL-1", DAMAGED, damage, 4 },
    { "a free word between entries", "GFSL-1", DAMAGED, damage, 5 },
    { "a chunk of another level", "GFSL-1", DAMAGED, damage, 6 },
    { "an entry to a chunk of level 2", "GFSL-2", DAMAGED, damage, 7 },
    { "no least key", "GFSL-2", DAMAGED, damage, 8 },
    { "the least key leads too far", "GFSL-2", DAMAGED, damage, 9 },
    { "a locked chunk", "GFSL-3", DAMAGED, damage, 10 },
    { "a zombie in the chain", "GFSL-3", DAMAGED, damage, 11 },
    { "zombies that there are not", "GFSL-3", DAMAGED, damage, 12 },
    { "a used chunk too many", "GFSL-3", DAMAGED, damage, 13 },
    { "chunk 0, which is in use, is free", "GFSL-3", DAMAGED, damage, 14 },
    { "the number of chunks", "GFSL-4", DAMAGED, damage, 15 },
    { "the top level", "GFSL-4", DAMAGED, damage, 16 },
};

const table_design table_this = { .name = "gfsl",
                                  .shapes = shapes,
                                  .shapes_n = TABLES_COUNT(shapes),
                                  .refusal = refusals,
                                  .refusals = TABLES_COUNT(refusals),
                                  .dictionary = true,
                                  .roams = true,
                                  .load = 20,
                                  .unread = 120,
                                  .damage = damages,
                                  .damages = TABLES_COUNT(damages),
                                  .lay = lay };
