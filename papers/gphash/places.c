/* SPDX-License-Identifier: Apache-2.0
 *
 * places.c - whether growth has room for each entry of the bottom level (GPHash section 3.2.3): at its fixed place
 * (ref/gphash/layout.h), and where the paper's rule puts it: the first empty slot of the candidate bucket that has most
 * of them. Buckets are numbered by the bits of two numbers for each key, so keys with the same numbers are one *type*.
 *
 *     places head MODE            the names of the columns
 *     places fixed                small shapes; for each all values of the bits: buckets of the new level that entries
 *                                 of two bottom buckets may go to
 *     places all [NAME=VALUE]     every sequence of types that fits into a small table; growth after each
 *     places drawn [NAME=VALUE]   tables of random keys until one finds no room; growth then
 *     places chosen [NAME=VALUE]  the same with keys of two types, in an order that defeats the paper's rule
 *
 *     levels=2 hashes=2 slots=8 bottom=1   the shape; hashes 1 or 2
 *     keys=4                               of all: the longest sequence
 *     types=0 tables=1000 seed=1           of drawn: each table has keys of so many types; 0: of any
 */
#define EXPERIMENT "places"
#include "papers/words.h"
#include "ref/gphash/layout.h"

enum { SLOTS = 1 << 14, TYPES_MOST = 4096 };

typedef struct words {
    uint64_t levels, hashes, slots, bottom, keys, types, tables, seed;
} words;

typedef struct type {
    uint16_t bits[2]; /* of each hash function, as many as the new level needs */
} type;

typedef struct table {
    uint32_t levels, hashes, slots, bottom;
    uint32_t first[GPHASH_LEVELS + 1]; /* place of a level's bucket 0; one more: the end */
    bool used[SLOTS];
    type at[SLOTS];
} table;

static void shape(table *t, const words *w)
{
    t->levels = (uint32_t)w->levels, t->hashes = (uint32_t)w->hashes, t->slots = (uint32_t)w->slots;
    t->bottom = (uint32_t)w->bottom;
    t->first[t->bottom] = 0;
    for (uint32_t level = t->bottom; level <= t->bottom + t->levels; level++)
        t->first[level + 1] = t->first[level] + (t->slots << level);
    if (t->first[t->bottom + t->levels + 1] > SLOTS) stop("bottom", "the table is too large");
    memset(t->used, 0, sizeof t->used);
}

static uint32_t bucket(const table *t, type k, uint32_t level, uint32_t j)
{
    return t->first[level] + (k.bits[j] & ((1u << level) - 1)) * t->slots;
}

/* The place for a key in levels from `low` to `high`, as gphash_room chooses it; SLOTS: there is none. */
static uint32_t room(const table *t, type k, uint32_t low, uint32_t high)
{
    uint32_t best = SLOTS, most = 0;
    for (uint32_t level = high + 1; level-- > low;)
        for (uint32_t j = 0; j < t->hashes; j++) {
            uint32_t e = bucket(t, k, level, j), n = 0, place = SLOTS;
            for (uint32_t s = t->slots; s-- > 0;)
                if (!t->used[e + s]) n++, place = e + s;
            if (n > most) most = n, best = place;
        }
    return best;
}

static bool insert(table *t, type k, uint32_t low, uint32_t high)
{
    uint32_t e = room(t, k, low, high);
    if (e == SLOTS) return false;
    t->used[e] = true;
    t->at[e] = k;
    return true;
}

/* Bottom entries without room in the levels above: by the paper's rule, and at their fixed places. */
static void grow(const table *t, uint64_t *greedy, uint64_t *fixed)
{
    static table g;
    static bool taken[SLOTS];
    const uint32_t top = t->bottom + t->levels;
    memcpy(&g, t, sizeof g);
    memset(taken, 0, sizeof taken);
    for (uint32_t e = 0; e < t->first[t->bottom + 1]; e++) {
        type k = t->at[e];
        uint32_t j = 0;
        if (!t->used[e]) continue;
        *greedy += !insert(&g, k, t->bottom + 1, top);
        while (bucket(t, k, t->bottom, j) != e / t->slots * t->slots) j++;
        uint32_t place = bucket(t, k, top, j) + e % t->slots;
        *fixed += taken[place];
        taken[place] = true;
    }
}

/* All types of a shape, by number: the lowest bits of the two functions differ, as in gphash_part. */
static uint32_t types_of(const table *t) { return 1u << (t->bottom + t->levels) * t->hashes >> (t->hashes - 1); }
static type type_of(const table *t, uint32_t number)
{
    const uint32_t bits = t->bottom + t->levels, low = number & ((1u << bits) - 1);
    return (type){ { (uint16_t)low, (uint16_t)(number >> bits << 1 | (~low & 1)) } };
}

/* ---- fixed ----------------------------------------------------------------------------------- */

static void fixed_shape(gphash_view v)
{
    const uint32_t top = gphash_top(&v) + 1;
    const uint64_t buckets = gphash_level_buckets(&v, top);
    uint64_t *from = (uint64_t *)malloc(buckets * sizeof *from), values = 0, shared = 0;
    if (!from) stop("memory", "refused");
    for (uint64_t b = 0; b < buckets; b++) from[b] = UINT64_MAX;
    for (uint64_t upper = 0; upper < 1ull << 32; upper += (1ull << 32) / (4 * v.base)) /* of the key's hash */
        for (uint64_t bits = 0; bits < 1ull << top; bits++, values++) {
            uint64_t part = upper << 32 | bits, to = gphash_bucket(&v, part, top);
            uint64_t b = gphash_bucket(&v, part, v.bottom);
            shared += from[to] != UINT64_MAX && from[to] != b;
            from[to] = b;
        }
    free(from);
    printf("%llu\t%u\t%u\t%llu\t%llu\t%llu\n", (unsigned long long)v.base, v.bottom, v.levels,
           (unsigned long long)values, (unsigned long long)buckets, (unsigned long long)shared);
}

static void fixed(const words *w)
{
    (void)w;
    for (uint64_t base = 1; base <= 7; base += 2)
        for (uint32_t bottom = 0; bottom <= 6; bottom += 2)
            for (uint32_t levels = 1; levels <= 8; levels *= 2)
                fixed_shape((gphash_view){ .base = base, .bottom = bottom, .levels = levels });
}

/* ---- all, drawn, chosen ---------------------------------------------------------------------- */

typedef struct found {
    uint64_t tables, greedy, fixed; /* greedy, fixed: tables in which an entry had no room */
} found;

static void look(const table *t, found *f)
{
    uint64_t greedy = 0, at_fixed = 0;
    grow(t, &greedy, &at_fixed);
    f->tables++;
    f->greedy += greedy > 0;
    f->fixed += at_fixed > 0;
}

static void print(const words *w, uint64_t keys, const found *f)
{
    printf("%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\n", (unsigned long long)w->levels,
           (unsigned long long)w->hashes, (unsigned long long)w->slots, (unsigned long long)w->bottom,
           (unsigned long long)keys, (unsigned long long)w->types, (unsigned long long)f->tables,
           (unsigned long long)f->greedy, (unsigned long long)f->fixed);
}

static void sequences(table *t, uint64_t keys, found *f)
{
    look(t, f);
    for (uint32_t number = 0; keys && number < types_of(t); number++) {
        type k = type_of(t, number);
        uint32_t e = room(t, k, t->bottom, t->bottom + t->levels - 1);
        if (e == SLOTS) continue;
        t->used[e] = true;
        t->at[e] = k;
        sequences(t, keys - 1, f);
        t->used[e] = false;
    }
}

static void all(const words *w)
{
    static table t;
    found f = { 0 };
    shape(&t, w);
    sequences(&t, w->keys, &f);
    print(w, w->keys, &f);
}

static uint32_t below(uint64_t *random, uint32_t n)
{
    *random += 0x9e3779b97f4a7c15u;
    return (uint32_t)((hd_mix64(*random) >> 32) * n >> 32);
}

static void drawn(const words *w)
{
    static table t;
    static type of[TYPES_MOST];
    uint64_t random = w->seed, keys = 0;
    found f = { 0 };
    for (uint64_t n = 0; n < w->tables; n++) {
        shape(&t, w);
        for (uint64_t i = 0; i < w->types; i++) of[i] = type_of(&t, below(&random, types_of(&t)));
        type k;
        do {
            k = w->types ? of[below(&random, (uint32_t)w->types)] : type_of(&t, below(&random, types_of(&t)));
            keys++;
        } while (insert(&t, k, t.bottom, t.bottom + t.levels - 1));
        look(&t, &f);
    }
    print(w, keys - w->tables, &f);
}

/* Of the new level's buckets, keys of the first type may be in 33 and 34, those of the second in 0 and 33. The first
 * type fills all that it may; so the second type is in bottom bucket 0 alone. Its entries move first, and share bucket
 * 33. In a kernel with a lane per bottom bucket, bucket 0 is in another warp than the others, so this may happen. */
static void chosen(const words *w)
{
    static table t;
    static const type of[2] = { { { 34, 33 } }, { { 0, 33 } } };
    uint64_t keys = 0;
    found f = { 0 };
    shape(&t, w);
    for (int i = 0; i < 2; i++)
        while (insert(&t, of[i], t.bottom, t.bottom + t.levels - 1)) keys++;
    look(&t, &f);
    print(w, keys, &f);
}

/* ---- Words ----------------------------------------------------------------------------------- */

#define TABLES "levels\thashes\tslots\tbottom\tkeys\ttypes\ttables\tgreedy\tfixed"
static const word_mode modes[] = { { "fixed", "base\tbottom\tlevels\tvalues\tbuckets\tshared", fixed },
                                   { "all", TABLES, all },
                                   { "drawn", TABLES, drawn },
                                   { "chosen", TABLES, chosen } };

int main(int argc, char **argv)
{
    words w = { .levels = 2, .hashes = 2, .slots = 8, .bottom = 1, .keys = 4, .tables = 1000, .seed = 1 };
    const word_mode *mode = WORD_MODE(argc, argv, modes);
    if (!mode) return 0;
    const word_row rows[] = {
        { "levels=", WORD_WHOLE, 8, &w.levels },
        { "hashes=", WORD_WHOLE, 2, &w.hashes },
        { "slots=", WORD_WHOLE, 32, &w.slots },
        { "bottom=", WORD_WHOLE, 6, &w.bottom },
        { "keys=", WORD_WHOLE, 64, &w.keys },
        { "types=", WORD_WHOLE, TYPES_MOST, &w.types },
        { "tables=", WORD_WHOLE, UINT32_MAX, &w.tables },
        { "seed=", WORD_WHOLE, UINT64_MAX, &w.seed },
    };
    WORDS_READ(argv + 2, argc - 2, rows);
    if (!w.levels || !w.slots || !w.hashes || w.bottom + 1 < w.hashes) stop("shape", "there is no such table");
    if (w.levels + w.bottom > 10) stop("levels", "too many");
    if (strcmp(mode->name, "chosen") == 0 && (w.bottom < 6 || w.hashes < 2))
        stop("bottom", "at least 6, for two hashes");
    mode->run(&w);
    return 0;
}
