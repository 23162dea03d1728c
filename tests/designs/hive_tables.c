/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_tables.c - Hive, for tests/conform_tables.h.
 */
#include "lib/table.h"
#include "ref/hive/hive.h"
#include "tests/conform_tables.h"

static const char *const shapes[] = {
    "usual capacity=64 slots=8 keys=uniform:200",
    "usual capacity=64 hashes=3 spare=2 table_seed=9 keys=uniform:200",
    "usual capacity=64 slots=8 hash=bithash1,bithash2 value=2 keys=uniform:200",
    "usual capacity=64 slots=32 layout=masks keys=uniform:200",
    "usual capacity=8 slots=8 spare=0 layout=masks value=2 hashes=3 keys=uniform:200",
};

static const test_refusal refusals[] = {
    { "slots=0", "slots" },
    { "slots=1", "slots" },
    { "slots=4", "slots" },
    { "slots=7", "slots" },
    { "slots=9", "slots" },
    { "slots=24", "slots" },
    { "slots=33", "slots" },
    { "slots=64", "slots" },
    { "slots=128", "slots" },
    { "slots=4294967295", "slots" },
    { "value_bytes=0", "value_bytes" },
    { "value_bytes=1", "value_bytes" },
    { "value_bytes=3", "value_bytes" },
    { "value_bytes=8", "value_bytes" },
    { "value_bytes=16", "value_bytes" },
    { "hashes=0", "hashes" },
    { "hashes=1", "hashes" },
    { "hashes=4", "hashes" },
    { "hash=bithash1,bithash3", "nearest: bithash1" },
    { "hash=bithash1,", "hash: there is no ''" },
    { "hash=bithash1", "functions for 1 candidate buckets" },
    { "hash=bithash1,bithash2,city32", "functions for 3 candidate buckets" },
    { "hash=bithash1,bithash2,bithash1,bithash2", "longer than 31" },
    { "hashes=3 hash=bithash1,bithash2", "functions for 2 candidate buckets" },
    { "hashes=3 hash=crc32,city32,crc32", "'crc32' twice" },
    { "spare=16", "spare" },
    { "slots=8 spare=4", "spare" },
    { "capacity=0", "capacity" },
    { "capacity=18446744073709551615", "capacity" },
    { "capacity=68719476737", "capacity" },
    { "clock=device", "clock" },
    { "policy=lru", "policy" },
    { "layout=planes", "layout" },
    { "layout=pairs", "layout" },
};

/* ---- Invariants ------------------------------------------------------------------------------ */

#define DAMAGED "usual capacity=32 slots=8 layout=masks table_seed=5 spare=0"
enum { SECOND = 8, THIRD = 16 /* slots: the first ones of buckets 1 and 2 */ };

/* Key n of those whose buckets are 0 and 1. */
static uint64_t key_at(const hive_view *v, uint64_t n)
{
    for (uint64_t key = 0;; key++) {
        uint64_t h = hive_hash(v, key);
        if (hive_candidate(v, h, 0) == 0 && hive_candidate(v, h, 1) == 1 && n-- == 0) return key;
    }
}

/* Keys 0, 1 and 2 are in their first bucket, in their second, and in the stash. */
static void lay(hd_table *t)
{
    hive_view *v = hive_view_of(t->state);
    check(hive_put(v, 0, key_at(v, 0), 1) && hive_put(v, SECOND, key_at(v, 1), 2) &&
              hive_put(v, hive_capacity(v), key_at(v, 2), 3),
          "the table");
}

static void spoil(hive_view *v, uint64_t b)
{
    for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++)
        if (hive_is_free(v, hive_read(v, e))) hive_write(v, e, hive_vacant(v));
}

/* The stash has as many entries as slots. */
static void overfull(hive_view *v)
{
    for (uint64_t b = 0; b < hive_buckets(v); b++) spoil(v, b);
    for (uint64_t e = hive_capacity(v), k = key_at(v, 2) + 1; e < hive_places(v); e++, k++)
        if (!hive_is_key(v, hive_read(v, e))) hive_write(v, e, hive_pack(v, k, 1));
    v->stashed = v->slots;
}

/* A key more in the stash than it counts. It is behind buckets without a fresh slot. */
static void uncounted(hive_view *v)
{
    uint64_t key = key_at(v, 2) + 1, stashed = v->stashed;
    hive_write(v, hive_capacity(v) + 7, hive_pack(v, key, 1));
    spoil(v, hive_candidate(v, hive_hash(v, key), 0));
    spoil(v, hive_candidate(v, hive_hash(v, key), 1));
    v->stashed = stashed + 2;
}

static void damage(hd_table *t, uint64_t n)
{
    hive_view *v = hive_view_of(t->state);
    uint64_t key = key_at(v, 0);
    switch (n) {
    case 0: hive_write(v, SECOND + 1, hive_pack(v, key, 3)); break;
    case 1: hive_write(v, 1, hive_pack(v, key, 1)); break;
    case 2:
        hive_write(v, 0, hive_vacant(v));
        hive_write(v, THIRD, hive_pack(v, key, 1));
        break;
    case 3: hive_write(v, THIRD + 1, hive_sign(v, HIVE_CLAIMED, key)); break;
    case 4: hive_write(v, 0, hive_sign(v, HIVE_LEAVING, key)); break;
    case 5: hive_write(v, THIRD + 2, hive_sign(v, HIVE_EMPTY, 5)); break;
    case 6: v->segment[0].lock[2] = 1; break;
    case 7: v->stash.lock[0] = 1; break;
    case 8: hive_write(v, 2, hive_fresh(v)); break;
    case 9:
        hive_write(v, SECOND + 2, hive_fresh(v));
        hive_write(v, SECOND + 1, hive_vacant(v));
        hive_write(v, SECOND, hive_vacant(v));
        break;
    case 10: v->segment[0].mask[0] |= 1; break;
    case 11: v->segment[0].mask[3] &= ~8u; break;
    case 12: v->segment[0].mask[3] |= 1u << 8; break;
    case 13: uncounted(v); break;
    case 14: v->stashed++; break;
    default: overfull(v); break;
    }
}

static const table_damage damages[] = {
    { "a key in two buckets", "HIVE-1", DAMAGED, damage, 0 },
    { "a key in a bucket twice", "HIVE-1", DAMAGED, damage, 1 },
    { "a key in none of its buckets", "HIVE-2", DAMAGED, damage, 2 },
    { "claimed", "HIVE-3", DAMAGED, damage, 3 },
    { "leaving", "HIVE-3", DAMAGED, damage, 4 },
    { "free, and neither fresh nor vacant", "HIVE-3", DAMAGED, damage, 5 },
    { "a bucket locked", "HIVE-3", DAMAGED, damage, 6 },
    { "a bucket of the stash locked", "HIVE-3", DAMAGED, damage, 7 },
    { "a fresh slot before a key", "HIVE-4", DAMAGED, damage, 8 },
    { "a fresh slot before one in the stash", "HIVE-4", DAMAGED, damage, 9 },
    { "a mask that says free", "HIVE-5", DAMAGED, damage, 10 },
    { "a mask that says taken", "HIVE-5", DAMAGED, damage, 11 },
    { "a mask of nine slots", "HIVE-5", DAMAGED, damage, 12 },
    { "the stash counted wrong", "HIVE-6", DAMAGED, damage, 13 },
    { "the stash counted more", "HIVE-6", DAMAGED, damage, 14 },
    { "more in the stash than it takes", "HIVE-6", DAMAGED, damage, 15 },
};

const table_design table_this = { .name = "hive",
                                  .shapes = shapes,
                                  .shapes_n = TABLES_COUNT(shapes),
                                  .views = true,
                                  .refusal = refusals,
                                  .refusals = TABLES_COUNT(refusals),
                                  .dictionary = true,
                                  .load = 80,
                                  .damage = damages,
                                  .damages = TABLES_COUNT(damages),
                                  .lay = lay };
