/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hive_device_walk.c - calls that go over a whole Hive table, on a fake device: hd_save, hd_load, hd_for_each and
 * hd_check. The table is copied in parts, so host memory does not depend on its size. Files are those of other
 * backends, byte by byte. A kernel completes a table that was loaded: buckets that keys have passed, masks, the count
 * of the stash. hd_check says what the reference says of a copy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hive/own.h"
#include "lib/backend_cuda.h"
#include "lib/cuda_state.h"
#include "lib/table.h"
#include "ref/hive/hive.h"
#include "tests/device_tables.h"
#include "tests/faulty.h"

typedef unsigned long long ull;

/* ---- Tables ---------------------------------------------------------------------------------- */

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
enum { SHAPES = sizeof shapes / sizeof *shapes };

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

/* A part has a few buckets, and may begin in one segment and end in another. */
static void open_table(bench *b, const dictionary *d)
{
    const hd_staging_sizes sizes = { 640, 0 };
    bench_open_config(b, config_of(d), 4096);
    hd_cuda_staging(b->far, &sizes);
    if (d->buckets > d->base) must(hd_grow(b->far, d->buckets));
}

static void fill_to_the_brim(hd_table *t, uint64_t seed)
{
    hd_info info;
    must(hd_table_info(t, &info));
    fill_dictionary(t, info.places + info.places / 4, seed);
}

static hive_own *own_of(bench *b) { return (hive_own *)(void *)((hd_cuda *)b->far->state)->own; }

/* ---- Contents -------------------------------------------------------------------------------- */

/* A table on the host machine with what a file has. */
static hd_table *open_here(const dictionary *d, const char *path)
{
    hd_config c = config_of(d);
    hd_table *here;
    c.backend = "host";
    must(hd_open(&c, &here));
    must(hd_load(here, path, NULL));
    return here;
}

static uint64_t memory_of(hd_table *t)
{
    hd_info info;
    must(hd_table_info(t, &info));
    return info.memory_bytes;
}

/* A table that was loaded takes new keys as the other one does, and grows. */
static void goes_on(hd_table *t, uint64_t seed)
{
    hd_info info;
    must(hd_table_info(t, &info));
    fill_dictionary(t, info.places / 4, seed);
    must(hd_check(t));
    must(hd_grow(t, info.buckets + 3));
    must(hd_check(t));
}

/* The host machine saves what it has loaded as the same bytes, and the device loads that. */
static void saves_and_loads(const dictionary *d, uint64_t seed)
{
    bench b, other;
    const char *from_host = file_named("host"), *from_device = file_named("device");
    test_case("%s, seed %llu", d->name, (ull)seed);
    open_table(&b, d);
    open_table(&other, d);
    if (seed % 3 == 0) fill_dictionary(b.far, d->buckets, seed);
    if (seed % 3 == 1) fill_to_the_brim(b.far, seed);
    fill_dictionary(other.far, d->buckets, 8); /* what is there is lost */
    must(hd_save(b.far, from_device));
    hd_table *here = open_here(d, from_device);
    same_tables(here, b.far);
    must(hd_save(here, from_host));
    test_same_files(from_host, from_device);
    must(hd_load(other.far, from_host, NULL));
    same_tables(other.far, b.far);
    check(memory_of(other.far) == memory_of(b.far), "%llu and %llu bytes", (ull)memory_of(other.far),
          (ull)memory_of(b.far));
    check(own_of(&other)->v.stashed == bench_get(&other, hive_stashed_of(own_of(&other)), 8),
          "the stash is said to have %llu entries", (ull)own_of(&other)->v.stashed);
    goes_on(other.far, seed + 1);
    goes_on(here, seed + 1);
    bench_close(&other);
    bench_close(&b);
    hd_close(here);
}

static void files_are_those_of_other_backends(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES; i++)
        for (uint64_t seed = 0; seed < 3; seed++) saves_and_loads(&shapes[i], seed);
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
        open_table(&b, &shapes[i]);
        open_table(&other, &shapes[i]);
        fill_to_the_brim(b.far, 11);
        contents_take(&all, b.far);
        /* most keys go, so that the buckets of those that stay are nearly empty */
        hd_batch batch = test_batch(HD_OP_ERASE, all.n - all.n / 8, all.key, NULL, NULL);
        must(hd_run(b.far, &batch));
        contents_give(&all);
        must(hd_save(b.far, path));
        must(hd_load(other.far, path, NULL));
        same_tables(other.far, b.far);
        stashed += own_of(&other)->v.stashed;
        bench_close(&other);
        bench_close(&b);
    }
    check(stashed > 0, "no table has entries in its stash");
}

/* ---- hd_for_each ----------------------------------------------------------------------------- */

/* All values are changed, or those up to one at which the caller stops. */
static void values_are_changed(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES; i++)
        for (uint64_t most = 0; most < 70; most += 23) {
            bench b;
            const char *path = file_named("before");
            test_case("%s, %llu entries", shapes[i].name, (ull)most);
            open_table(&b, &shapes[i]);
            fill_to_the_brim(b.far, 5);
            must(hd_save(b.far, path));
            hd_table *here = open_here(&shapes[i], path);
            change_both(here, b.far, most, shapes[i].value_bytes);
            hd_close(here);
            bench_close(&b);
        }
}

/* ---- hd_check -------------------------------------------------------------------------------- */

static uint8_t *slot_of(const hive_view *v, uint64_t e)
{
    return (uint8_t *)hive_bucket(v, e / v->slots) + e % v->slots * hive_word_bytes(v);
}

/* Changes a word, a mask, a lock or the count of the stash, at random. */
static void damage(bench *b, uint64_t *random)
{
    const hive_own *o = own_of(b);
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

static void the_check_is_the_reference_s(void **unused)
{
    (void)unused;
    uint64_t random = 1, n = test_times(60), broken = 0;
    unsigned rules = 0;
    for (uint64_t i = 0; i < n; i++) {
        bench b;
        char expected[256], what[96];
        open_table(&b, &shapes[i % SHAPES]);
        if (i % 3)
            fill_to_the_brim(b.far, i + 1);
        else
            fill_dictionary(b.far, 3 * shapes[i % SHAPES].buckets, i + 1);
        must(hd_check(b.far));
        for (int k = 0; k < 3; k++) {
            damage(&b, &random);
            snprintf(what, sizeof what, "%s, damage %llu", shapes[i % SHAPES].name, (ull)(3 * i + (ull)k));
            check_as_reference(b.far, what, expected, sizeof expected);
            broken += expected[0] != 0;
            if (expected[0]) rules |= 1u << (expected[5] - '0');
        }
        bench_close(&b);
    }
    check(broken > n, "only %llu of %llu tables were found broken", (ull)broken, (ull)(3 * n));
    check(n < 60 || rules == 0x7e, "the rules that were broken: %x", rules);
}

/* ---- Host memory ----------------------------------------------------------------------------- */

static void measure(uint64_t buckets, uint64_t *bytes)
{
    const dictionary d = { "large", 16, 4, 2, HD_LAYOUT_WORDS, HD_HASH_USUAL, buckets, buckets };
    const hd_staging_sizes sizes = { 16 << 10, 0 };
    bench b;
    open_table(&b, &d);
    hd_cuda_staging(b.far, &sizes);
    fill_dictionary(b.far, buckets * d.slots / 2, 3);
    measure_calls(&b, buckets, bytes);
    must(hd_shrink(b.far, buckets));
    bench_close(&b);
}

/* With twice the table, no call has more. Both tables are larger than the pieces of a walk. */
static void no_call_takes_host_memory_for_the_table(void **unused)
{
    (void)unused;
    enum { BUCKETS = 3 * 128 }; /* three pieces of 16 KiB */
    uint64_t small[CALLS_OF_ALL], large[CALLS_OF_ALL];
    measure(BUCKETS, small);
    measure(2 * BUCKETS, large);
    /* blocks of a file that is small have its size, and so has a batch of its entries */
    memory_is_bounded(small, large, 0, 4 * 16 * BUCKETS * 20 + 8 * BUCKETS * 64, 12 << 20);
}

/* ---- Readers go on --------------------------------------------------------------------------- */

static void readers_go_on_while_a_table_is_saved(void **unused)
{
    (void)unused;
    bench b;
    open_with_reader(&b, config_of(&shapes[0]));
    fill_dictionary(b.far, shapes[0].base * shapes[0].slots / 2, 3);
    check_readers_go_on(&b);
    bench_close(&b);
}

static const struct CMUnitTest tests[] = { unit(files_are_those_of_other_backends),
                                           unit(passed_buckets_are_not_open),
                                           unit(values_are_changed),
                                           unit(the_check_is_the_reference_s),
                                           unit(no_call_takes_host_memory_for_the_table),
                                           unit(readers_go_on_while_a_table_is_saved) };

int main(void) { return test_run(tests); }
