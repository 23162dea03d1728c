/* SPDX-License-Identifier: Apache-2.0
 *
 * sl_tables.c - the ordered table, for tests/conform_tables.h.
 */
#include "lib/table.h"
#include "ref/sl/sl.h"
#include "tests/conform_tables.h"

static const char *const shapes[] = {
    "usual capacity=64 segment=256 keys=uniform:400",
    "usual capacity=64 segment=256 value=8 near=9100000 keys=uniform:400",
    "usual capacity=64 segment=1024 slots=8 near=9100000 keys=uniform:2Gi",
    "usual capacity=300 segment=128 slots=8 keys=uniform:400",
};

static const test_refusal refusals[] = {
    { "value_bytes=2", "value_bytes" },
    { "segment=129", "segment" },
    { "segment=64", "segment" },
    { "segment=2147483648", "segment" },
    { "segment=128 slots=4", "slots" },
    { "segment=128 slots=12", "slots" },
    { "segment=128 slots=32", "slots" },
    { "segment=128 value_bytes=8 slots=32", "slots" },
    { "clock=device", "clock" },
    { "layout=pairs", "layout" },
    { "policy=lru", "policy" },
    { "capacity=18446744073709551615", "capacity" },
    { "capacity=72057594037927936", "capacity" },
};

/* ---- Invariants ------------------------------------------------------------------------------ */

#define DAMAGED "usual capacity=80 segment=128"
enum { FIT = 16 };

/* Four segments: 16, 16, 16 and 2 entries, in homes 0 to 3 of 5. */
static void lay(hd_table *t)
{
    for (uint64_t k = 0; k < 3 * FIT + 2; k++) test_put(t, 10 + k, k);
}

/* The same, and all homes but the first are far. */
static void lay_far(hd_table *t)
{
    must(hd_clear(t));
    must(sl_take_near(sl_view_of(t->state), 1, &hd_seams_os));
    lay(t);
    must(hd_check(t));
}

static void damage(hd_table *t, uint64_t n)
{
    sl_view *v = sl_view_of(t->state);
    if (n > 15) lay_far(t);
    switch (n) {
    case 0: v->rows = 0; break;
    case 1: v->rows = 3; break;
    case 2: v->used[0] |= 1u << 4; break;
    case 3: v->home[1] = 5; break;
    case 4: v->home[1] = 4; break;
    case 5: v->home[2] = 1; break;
    case 6: v->bound[0] = 1; break;
    case 7: v->bound[2] = v->bound[1]; break;
    case 8: v->count[4] = 1; break;
    case 9: v->count[1] = FIT + 1; break;
    case 10: v->count[3] = 0; break;
    case 11: sl_set(v, sl_place(v, 1, 3), sl_key(v, sl_place(v, 1, 2)), 1); break;
    case 12: sl_set(v, sl_place(v, 1, 0), v->bound[1] - 1, 1); break;
    case 13: sl_set(v, sl_place(v, 1, FIT - 1), v->bound[2], 1); break;
    case 14: sl_set(v, sl_place(v, 3, 1), (1ull << 32) - 3, 1); break;
    case 15: v->count[2] = 6; break;
    case 16: v->count[2] = 6; break;
    default: ++((uint32_t *)v->near_key)[(v->home[n - 16] - 1) * sl_home_lines(v)]; break;
    }
}

static const table_damage damages[] = {
    { "no segments", "SL-1", DAMAGED, damage, 0 },
    { "a segment is in no row", "SL-1", DAMAGED, damage, 1 },
    { "a free home is marked", "SL-1", DAMAGED, damage, 2 },
    { "a home that is none", "SL-1", DAMAGED, damage, 3 },
    { "a free home", "SL-1", DAMAGED, damage, 4 },
    { "a home twice", "SL-5", DAMAGED, damage, 5 },
    { "the first bound", "SL-2", DAMAGED, damage, 6 },
    { "equal bounds", "SL-2", DAMAGED, damage, 7 },
    { "entries of a free home", "SL-3", DAMAGED, damage, 8 },
    { "too many entries", "SL-3", DAMAGED, damage, 9 },
    { "an empty segment", "SL-3", DAMAGED, damage, 10 },
    { "equal keys", "SL-4", DAMAGED, damage, 11 },
    { "a key below its segment", "SL-5", DAMAGED, damage, 12 },
    { "a key above its segment", "SL-5", DAMAGED, damage, 13 },
    { "a reserved key", "SL-5", DAMAGED, damage, 14 },
    { "small neighbours", "SL-6", DAMAGED, damage, 15 },
    { "the entries of a far segment", "SL-8", DAMAGED, damage, 16 },
    { "the near key of row 1", "SL-7", DAMAGED, damage, 17 },
    { "the near key of row 2", "SL-7", DAMAGED, damage, 18 },
    { "the near key of row 3", "SL-7", DAMAGED, damage, 19 },
};

const table_design table_this = { .name = "sl",
                                  .shapes = shapes,
                                  .shapes_n = TABLES_COUNT(shapes),
                                  .refusal = refusals,
                                  .refusals = TABLES_COUNT(refusals),
                                  .dictionary = true,
                                  .load = 40,
                                  .damage = damages,
                                  .damages = TABLES_COUNT(damages),
                                  .lay = lay };
