/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_device.c - HKV tables, for tests/conform_device.h: values in two tiers, in both layouts. Then a table of several
 * parts of the usual size, and each rule of hd_check broken alone.
 */
#include <stdlib.h>

#include "gpu/hkv/state.h"
#include "tests/conform_device.h"

enum { SLOTS = 16, BUCKETS = 13, VALUE_MOST = 40 };

static const shape shapes[] = {
    { "pairs", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 40, 0 },
    { "planes, no values", true, false, HD_LAYOUT_PLANES, HD_TIERS_BUCKET, 0, 0 },
    { "half is near", true, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 24, BUCKETS *SLOTS / 2 + 3 },
    { "half is near, by position", false, false, HD_LAYOUT_PLANES, HD_TIERS_POSITION, 7, BUCKETS *SLOTS / 2 + 3 },
    { "planes that grow", true, true, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 1024, 0 },
    { "all is near at first", false, true, HD_LAYOUT_PLANES, HD_TIERS_BUCKET, 1024, BUCKETS *SLOTS + 19 },
    { "half is near, and grows", false, true, HD_LAYOUT_PAIRS, HD_TIERS_POSITION, 1024, BUCKETS *SLOTS / 2 + 3 },
    { "anew", true, true, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 1024, BUCKETS *SLOTS / 2 + 3 },
};
enum { GROWTHS = 4, SHAPES = sizeof shapes / sizeof *shapes - GROWTHS };

static const char *name(size_t i) { return shapes[i].name; }
static hd_config config(size_t i)
{
    hd_config c = shape_config(&shapes[i], BUCKETS, SLOTS);
    if (i % 2) c.lock = "group3";
    return c;
}

static void fill(hd_table *t, uint64_t n, uint64_t seed)
{
    hd_info info;
    must(hd_table_info(t, &info));
    uint64_t *key = (uint64_t *)test_alloc(n, 8), *score = (uint64_t *)test_alloc(n, 8), random = seed;
    uint8_t *value = (uint8_t *)test_alloc(n, info.value_bytes + 1);
    for (uint64_t i = 0; i < n; i++) {
        key[i] = test_random(&random) >> 1;
        score[i] = test_random(&random) >> 8;
        value_make(value + i * info.value_bytes, info.value_bytes, key[i], i);
    }
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, n, key, value, NULL);
    b.score = score;
    b.kernel = "tlpv1";
    must(hd_run(t, &b));
    b.op = HD_OP_ERASE; /* holes */
    b.n = n / 8;
    must(hd_run(t, &b));
    free(key);
    free(score);
    free(value);
}

/* A table of the usual parts, more than one of which it has. */
static void a_larger_table_is_loaded(void **unused)
{
    (void)unused;
    bench b, other;
    const shape s = { "1 KiB", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 1024, 0 };
    const uint64_t buckets = 3 * (4 << 20) / 1024 / SLOTS + 5;
    bench_open_config(&b, shape_config(&s, buckets, SLOTS), 4096);
    bench_open_config(&other, shape_config(&s, buckets, SLOTS), 4096);
    fill(b.far, buckets * SLOTS / 2, 3);
    const char *path = file_named("large");
    must(hd_save(b.far, path));
    must(hd_load(other.far, path, NULL));
    same_tables(b.far, other.far);
    bench_close(&other);
    bench_close(&b);
}

/* Changes some bytes of the device's planes, at random. */
static void damage(bench *b, uint64_t *random)
{
    hkv_state *o = (hkv_state *)(void *)((hd_cuda *)b->far->state)->state;
    const hkv_view *v = &o->v;
    uint64_t e = test_below(random, hkv_capacity(v)), f = test_below(random, hkv_capacity(v)), word;
    uint64_t bucket = e / SLOTS * SLOTS;
    static const uint64_t words[] = { HD_KEY_EMPTY, HD_KEY_LOCKED, HD_KEY_RESERVED, 5, 0 };
    void *at = NULL;
    size_t bytes = 8;
    word = words[test_below(random, sizeof words / sizeof *words)];
    if (v->dual && test_below(random, 2)) bucket = f / SLOTS * SLOTS;
    switch (test_below(random, 8)) {
    case 0: at = v->digest + e, bytes = 1, word = test_below(random, 256); break;
    case 1: at = hkv_key_at(v, e); break;
    case 2: at = hkv_score_at(v, e); break;
    case 3: at = v->bound ? v->bound + e / HKV_BOUNDED : hkv_score_at(v, e), word = ~0ull; break;
    case 4: at = &o->words->pins.count; break;
    case 5: at = v->holder ? v->holder + e : (uint64_t *)hkv_key_at(v, e); break;
    default: /* an entry is in another slot, too */
        f = bucket + test_below(random, SLOTS);
        bench_put(b, hkv_score_at(v, f), bench_get(b, hkv_score_at(v, e), 8), 8);
        bench_put(b, v->digest + f, bench_get(b, v->digest + e, 1), 1);
        at = hkv_key_at(v, f);
        word = bench_get(b, hkv_key_at(v, e), 8);
    }
    bench_put(b, at, word, bytes);
}

static void pin_some(hd_table *t)
{
    uint64_t key[9], n = 0;
    model_contents all;
    contents_take(&all, t);
    for (; n < 9 && n < all.n; n++) key[n] = all.key[n * all.n / 9];
    contents_give(&all);
    hd_batch b = test_batch(HD_OP_LOCK_KEYS, n, key, NULL, NULL);
    b.holder = 3;
    must(hd_run(t, &b));
}

/* The first slot that is used, or not; the capacity: there is none. */
static uint64_t slot_that_is(bench *b, const hkv_view *v, bool used)
{
    uint64_t e = 0;
    while (e < hkv_capacity(v) && (bench_get(b, hkv_key_at(v, e), 8) != HD_KEY_EMPTY) != used) e++;
    return e;
}

/* An entry of the bucket that its key names first, again in the other one. */
static void place_twice(bench *b, const hkv_view *v)
{
    for (uint64_t e = 0; e < hkv_capacity(v); e++) {
        uint64_t key = bench_get(b, hkv_key_at(v, e), 8), h = hd_hash(key, v->seed);
        if (key == HD_KEY_EMPTY || hd_first_bucket(h, v->buckets) != e / v->slots) continue;
        uint64_t f = hkv_entry(v, hd_second_bucket(h, v->buckets), 0);
        bench_put(b, hkv_key_at(v, f), key, 8);
        bench_put(b, v->digest + f, hd_digest(h), 1);
        bench_put(b, hkv_score_at(v, f), bench_get(b, hkv_score_at(v, e), 8), 8);
        return;
    }
}

/* Each rule is broken alone, and the kernel names it as the reference does. */
static void every_rule_is_checked(void **unused)
{
    enum { NO_DIGEST, LOCKED, RESERVED, TWICE, PINNED, SCORE, BREAKS };
    (void)unused;
    unsigned rules = 0, found = 0;
    for (int i = 0; i < SHAPES * BREAKS; i++) {
        bench b;
        char expected[256], what[96];
        device_open(&b, (size_t)i / BREAKS);
        fill(b.far, BUCKETS * SLOTS / 2, 1);
        pin_some(b.far);
        const hkv_view *v = &((hkv_state *)(void *)((hd_cuda *)b.far->state)->state)->v;
        uint64_t used = slot_that_is(&b, v, true), unused_slot = slot_that_is(&b, v, false);
        switch (i % BREAKS) {
        case NO_DIGEST: bench_put(&b, v->digest + used, HKV_NO_DIGEST, 1); break;
        case LOCKED: bench_put(&b, hkv_key_at(v, used), HD_KEY_LOCKED, 8); break;
        case RESERVED: bench_put(&b, hkv_key_at(v, used), HD_KEY_RESERVED, 8); break;
        case TWICE:
            if (v->dual) place_twice(&b, v);
            break;
        case PINNED: bench_put(&b, v->holder + unused_slot, 3, 8); break;
        default: bench_put(&b, hkv_score_at(v, unused_slot), 7, 8);
        }
        snprintf(what, sizeof what, "%s, rule %d", shapes[i / BREAKS].name, i % BREAKS);
        check_as_reference(b.far, what, expected, sizeof expected);
        rules += expected[0] != 0;
        found |= expected[0] ? 1u << (i % BREAKS) : 0;
        bench_close(&b);
    }
    check(found == (1u << BREAKS) - 1, "broken in some shape: %x, %u in all", found, rules);
}

/* How many ghosts a table has; *e: the last one. */
static uint64_t ghosts_of(bench *b, const hkv_view *v, uint64_t *e)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < hkv_capacity(v); i++)
        if (bench_get(b, v->ghost + i, 8)) *e = i, n++;
    return n;
}

/* Two ghosts of a bucket with one order are found, as the reference finds them. Growth and clear forget all. */
static void ghosts_are_checked_and_forgotten(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES + GROWTHS; i++) {
        bench b;
        char expected[256];
        hd_config c = shape_config(&shapes[i], BUCKETS, SLOTS);
        c.policy = "twoq";
        bench_open_config(&b, c, 4096);
        fill(b.far, 3 * BUCKETS * SLOTS, 1);
        const hkv_view *v = &((hkv_state *)(void *)((hd_cuda *)b.far->state)->state)->v;
        uint64_t e = 0, word, n = ghosts_of(&b, v, &e);
        check(n > BUCKETS, "%s: %llu ghosts", shapes[i].name, (ull)n);
        must(hd_check(b.far));
        word = bench_get(&b, v->ghost + e / SLOTS * SLOTS, 8);
        bench_put(&b, v->ghost + e / SLOTS * SLOTS, bench_get(&b, v->ghost + e, 8) ^ 1, 8);
        check_as_reference(b.far, shapes[i].name, expected, sizeof expected);
        check(strncmp(expected, "HKV-9", 5) == 0, "%s: '%s'", shapes[i].name, expected);
        bench_put(&b, v->ghost + e / SLOTS * SLOTS, word, 8);
        must(hd_grow(b.far, 2 * BUCKETS));
        v = &((hkv_state *)(void *)((hd_cuda *)b.far->state)->state)->v;
        check(ghosts_of(&b, v, &e) == 0, "%s: ghosts after growth", shapes[i].name);
        fill(b.far, 6 * BUCKETS * SLOTS, 2);
        check(ghosts_of(&b, v, &e) > 0, "%s: none after growth", shapes[i].name);
        must(hd_run(b.far, &(hd_batch){ .op = HD_OP_CLEAR }));
        check(ghosts_of(&b, v, &e) == 0, "%s: ghosts after clear", shapes[i].name);
        bench_close(&b);
    }
}

static uint64_t words_counted(bench *b, const hkv_view *v)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < hkv_counts_of(v); i++) n += bench_get(b, v->count + i, 8) != 0;
    return n;
}

/* So do counters. */
static void counters_are_forgotten(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES + GROWTHS; i++) {
        bench b;
        hd_config c = shape_config(&shapes[i], BUCKETS, SLOTS);
        c.policy = "tinylfu";
        bench_open_config(&b, c, 4096);
        fill(b.far, 3 * BUCKETS * SLOTS, 1);
        const hkv_view *v = &((hkv_state *)(void *)((hd_cuda *)b.far->state)->state)->v;
        check(words_counted(&b, v) > 4 * BUCKETS, "%s: few counters", shapes[i].name);
        must(hd_grow(b.far, 2 * BUCKETS));
        v = &((hkv_state *)(void *)((hd_cuda *)b.far->state)->state)->v;
        check(words_counted(&b, v) == 0, "%s: counters after growth", shapes[i].name);
        fill(b.far, 6 * BUCKETS * SLOTS, 2);
        check(words_counted(&b, v) > 4 * BUCKETS, "%s: few after growth", shapes[i].name);
        must(hd_check(b.far));
        must(hd_run(b.far, &(hd_batch){ .op = HD_OP_CLEAR }));
        check(words_counted(&b, v) == 0, "%s: counters after clear", shapes[i].name);
        bench_close(&b);
    }
}

/* Entries are large, so that few of them make a table of several parts of the usual size. */
static hd_config large_config(uint64_t times)
{
    const shape s = { "4 KiB", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 4096, 0 };
    return shape_config(&s, times * 3 * (4 << 20) / 4096 / SLOTS, SLOTS);
}

static const device_large large = { large_config, { 4 << 20, 0 }, 4096, 4096 };
static const struct CMUnitTest tests[] = { unit(a_larger_table_is_loaded), unit(every_rule_is_checked),
                                           unit(ghosts_are_checked_and_forgotten), unit(counters_are_forgotten) };

/* A part has two buckets or so. */
const device_design device_this = { .shapes = SHAPES,
                                    .name = name,
                                    .config = config,
                                    .part = 4096,
                                    .fill = fill,
                                    .grows_by = BUCKETS,
                                    .growths = GROWTHS,
                                    .stride = 1,
                                    .full = 16,
                                    .damage = damage,
                                    .damages = 3,
                                    .tables = 240,
                                    .more = pin_some,
                                    .rule_at = 4,
                                    .rules = 0x1fe,
                                    .large = &large,
                                    .tests = tests,
                                    .tests_n = 3 };
