/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_device.c - Hive tables, for tests/conform_device.h: both words, both layouts, with segments from growth. A
 * kernel completes a table that was loaded: buckets that keys have passed, masks, the count of the stash.
 */
#include <stdio.h>

#include "gpu/hive/state.h"
#include "ref/hive/hive.h"
#include "tests/conform_device.h"

/* The table begins with `base` buckets, and grows to `buckets`. */
typedef struct dictionary {
    const char *name;
    uint32_t slots, value_bytes, hashes;
    hd_layout layout;
    const char *hash;
    uint64_t base, buckets;
} dictionary;

static const dictionary shapes[] = {
    { "words", 16, 4, 2, HD_LAYOUT_WORDS, HD_HASH_USUAL, 3, 19 },
    { "masks", 32, 4, 3, HD_LAYOUT_MASKS, HD_HASH_USUAL, 2, 8 },
    { "narrow", 8, 2, 2, HD_LAYOUT_WORDS, HD_HASH_USUAL, 5, 33 },
    { "narrow, masks, functions by name", 16, 2, 2, HD_LAYOUT_MASKS, "bithash1,city32", 7, 7 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes, LARGE = 3 * 128 /* buckets: three pieces of 16 KiB */ };

static const char *name(size_t i) { return shapes[i].name; }

static hd_config config_of(const dictionary *d)
{
    hd_config c = hd_config_of("hive");
    c.slots = d->slots;
    c.capacity = d->base * d->slots;
    c.value_bytes = d->value_bytes;
    c.layout = d->layout;
    c.hive.hashes = d->hashes;
    snprintf(c.hive.hash, sizeof c.hive.hash, "%s", d->hash);
    return c;
}

static hd_config config(size_t i) { return config_of(&shapes[i]); }

static void opened(hd_table *t, size_t i)
{
    if (shapes[i].buckets > shapes[i].base) must(hd_grow(t, shapes[i].buckets));
}

static hive_state *state_of(bench *b) { return (hive_state *)(void *)((hd_cuda *)b->far->state)->state; }

/* The table has as much memory as the one that was saved, and knows how many entries its stash has. */
static void loaded(bench *saved, bench *other)
{
    hd_info a, b;
    must(hd_table_info(saved->far, &a));
    must(hd_table_info(other->far, &b));
    check(a.memory_bytes == b.memory_bytes, "%llu and %llu bytes", (ull)a.memory_bytes, (ull)b.memory_bytes);
    check(state_of(other)->v.stashed == bench_get(other, hive_stashed_of(state_of(other)), 8),
          "the stash is said to have %llu entries", (ull)state_of(other)->v.stashed);
}

/* The keys of a full table are in later buckets, and in the stash. After a load no search may end before them, though
 * no word of the file says which buckets they passed. */
static void passed_buckets_are_not_open(void **unused)
{
    (void)unused;
    uint64_t stashed = 0;
    for (size_t i = 0; i < SHAPES; i++) {
        bench b, other;
        const char *path = file_named("passed");
        model_contents all;
        test_case("%s", shapes[i].name);
        device_open(&b, i);
        device_open(&other, i);
        device_fill(b.far, DEVICE_FULL, 11);
        contents_take(&all, b.far);
        /* most keys go, so that the buckets of those that stay are nearly empty */
        hd_batch batch = test_batch(HD_OP_ERASE, all.n - all.n / 8, all.key, NULL, NULL);
        must(hd_run(b.far, &batch));
        contents_give(&all);
        must(hd_save(b.far, path));
        must(hd_load(other.far, path, NULL));
        same_tables(other.far, b.far);
        stashed += state_of(&other)->v.stashed;
        bench_close(&other);
        bench_close(&b);
    }
    check(stashed > 0, "no table has entries in its stash");
}

static uint8_t *slot_of(const hive_view *v, uint64_t e)
{
    return (uint8_t *)hive_bucket(v, e / v->slots) + e % v->slots * hive_word_bytes(v);
}

/* Changes a word, a mask, a lock or the count of the stash, at random. */
static void damage(bench *b, uint64_t *random)
{
    const hive_state *o = state_of(b);
    const hive_view *v = &o->v;
    uint64_t e = test_below(random, hive_places(v)), f = test_below(random, hive_places(v)), at;
    const hive_segment *g = hive_segment_of(v, e / v->slots, &at);
    uint32_t bytes = hive_word_bytes(v);
    const uint64_t signs[] = { hive_fresh(v), hive_vacant(v), hive_sign(v, HIVE_EMPTY, 1),
                               hive_sign(v, HIVE_CLAIMED, 9), hive_sign(v, HIVE_LEAVING, 9) };
    switch (test_below(random, 7)) {
    case 0:
        if (g->lock) bench_put(b, g->lock + at, 1, 4);
        break;
    case 1:
        if (g->mask) bench_put(b, g->mask + at, test_random(random), 4);
        break;
    case 2: bench_put(b, hive_stashed_of(o), test_below(random, 3), 8); break;
    case 3:
    case 4: bench_put(b, slot_of(v, e), signs[test_below(random, sizeof signs / sizeof *signs)], bytes); break;
    case 5: /* a neighbour becomes a copy */
        f = e / v->slots * v->slots + test_below(random, v->slots);
        bench_put(b, slot_of(v, f), bench_get(b, slot_of(v, e), bytes), bytes);
        break;
    default: bench_put(b, slot_of(v, f), bench_get(b, slot_of(v, e), bytes), bytes);
    }
}

static hd_config large_config(uint64_t times)
{
    const uint64_t buckets = times * LARGE;
    const dictionary d = { "large", 16, 4, 2, HD_LAYOUT_WORDS, HD_HASH_USUAL, buckets, buckets };
    return config_of(&d);
}

/* Blocks of a file that is small have its size, and so has a batch of its entries. */
static const device_large large = { large_config, { 16 << 10, 0 }, 0, 4 * 16 * LARGE * 20 + 8 * LARGE * 64 };
static const struct CMUnitTest tests[] = { unit(passed_buckets_are_not_open) };

/* A part has a few buckets, and may begin in one segment and end in another. */
const device_design device_this = { .shapes = SHAPES,
                                    .name = name,
                                    .config = config,
                                    .part = 640,
                                    .opened = opened,
                                    .stride = 4,
                                    .full = 10,
                                    .grows_by = 3,
                                    .loaded = loaded,
                                    .damage = damage,
                                    .damages = 3,
                                    .tables = 240,
                                    .rule_at = 5,
                                    .rules = 0x7e,
                                    .large = &large,
                                    .tests = tests,
                                    .tests_n = 1 };
