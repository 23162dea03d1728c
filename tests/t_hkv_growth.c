/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hkv_growth.c - the kernels with which an HKV table grows, on the host machine under many schedules, with race
 * detection and weak memory: between two sets of planes, and in planes that have grown. The reference moves the same
 * entries into a table of its own, and the two must agree slot by slot. HEDDLE_TEST_SCALE makes the test longer or
 * shorter.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/backend_host.h"
#include "lib/table.h"
#include "ref/hkv/hkv.h"
#include "tests/growth_way.h"
#include "tests/model.h"

typedef unsigned long long ull;

/* ---- Tables ---------------------------------------------------------------------------------- */

/* A table and how it is filled. */
typedef struct shape {
    uint64_t buckets, times;
    uint32_t slots, value_bytes;
    bool dual;
    hd_layout layout;
    hd_tiers tiers;
    unsigned near, twins, full; /* percent: values that are near, keys whose halves are alike, slots that are filled */
    bool pins;
} shape;

static const shape shapes[] = {
    { 1, 2, 8, 8, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 100, 0, 100, false },
    { 2, 2, 16, 16, true, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 100, 100, 100, true },
    { 5, 3, 8, 0, false, HD_LAYOUT_PLANES, HD_TIERS_BUCKET, 100, 0, 90, true },
    { 3, 2, 40, 32, true, HD_LAYOUT_PLANES, HD_TIERS_BUCKET, 100, 50, 100, false },
    { 4, 2, 136, 24, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 100, 0, 70, false },
    { 7, 2, 8, 48, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 50, 0, 100, true },
    { 6, 4, 8, 12, true, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 33, 30, 100, false },
    { 5, 2, 11, 7, true, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 70, 60, 100, true },
    { 6, 2, 16, 32, false, HD_LAYOUT_PAIRS, HD_TIERS_POSITION, 40, 0, 100, false },
    { 4, 3, 8, 5, true, HD_LAYOUT_PLANES, HD_TIERS_POSITION, 60, 40, 100, true },
    { 3, 2, 16, 16, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 150, 0, 100, false }, /* far values only after it */
    { 8, 2, 8, 20, true, HD_LAYOUT_PAIRS, HD_TIERS_POSITION, 120, 20, 50, false },
    { 1, 7, 33, 64, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 20, 0, 100, true },
    { 9, 2, 2, 4, true, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 5, 80, 100, false },
    { 16, 2, 8, 1, false, HD_LAYOUT_PLANES, HD_TIERS_BUCKET, 90, 0, 40, false },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* The reference's state inside of one of backend "host". */
static hkv_view *view_of(const hd_table *t) { return hkv_view_of(*(void **)t->state); }

static uint64_t some_key(uint64_t *random, unsigned twins, uint64_t seed)
{
    uint64_t h = test_random(random);
    if (test_below(random, 100) < twins) h = (h >> 32) * 0x100000001u;
    uint64_t key = model_unhash(h, seed);
    return key < HD_KEY_RESERVED ? key : 1;
}

/* Puts entries in as the reference would, takes some out again so that there are holes, and pins some. */
static void fill(hd_table *t, const shape *s, uint64_t seed)
{
    hkv_view *v = view_of(t);
    uint64_t random = seed, all = hkv_capacity(v), n = 0;
    uint8_t value[64];
    for (uint64_t tries = 0; n < all * s->full / 100 && tries < 60 * all; tries++) {
        uint64_t key = some_key(&random, s->twins, v->seed);
        value_make(value, s->value_bytes, key, tries);
        if (hkv_find(v, key) == HKV_NOWHERE) n += hkv_put(v, key, value, test_random(&random) >> 20);
    }
    for (uint64_t e = 0; e < all && s->pins; e++)
        if (v->digest[e] != HKV_NO_DIGEST && test_below(&random, 5) == 0) {
            v->holder[e] = 1 + test_below(&random, 9);
            v->pins++;
        }
    for (uint64_t e = 0; e < all; e++)
        if (test_below(&random, 8) == 0 && !(v->holder && v->holder[e])) hkv_make_empty(v, e);
    must(hd_check(t));
}

static hd_table *open_shape(const shape *s, uint64_t seed)
{
    hd_config c = hd_config_default();
    hd_table *t;
    c.backend = "host";
    c.slots = s->slots;
    c.capacity = s->buckets * s->slots;
    c.value_bytes = s->value_bytes;
    c.hkv.dual = s->dual;
    c.layout = s->layout;
    c.seed = seed;
    c.hkv.tiers = s->tiers;
    c.hkv.device_value_bytes = s->near < 100 || s->near > 100 ? c.capacity * s->value_bytes * s->near / 100 : 0;
    c.hkv.pins = s->pins;
    c.threads = 1;
    must(hd_open(&c, &t));
    fill(t, s, seed);
    return t;
}

/* ---- Against the reference ------------------------------------------------------------------- */

static void same_plane(const char *name, const void *a, const void *b, uint64_t bytes)
{
    const uint8_t *x = (const uint8_t *)a, *y = (const uint8_t *)b;
    for (uint64_t i = 0; a && i < bytes; i++)
        check(x[i] == y[i], "%s: byte %llu of %llu is %02x, and %02x by the reference", name, (ull)i, (ull)bytes, x[i],
              y[i]);
}

static void same_as(const hkv_view *v, const hkv_view *by_reference)
{
    const hkv_view *w = by_reference;
    uint64_t entries = hkv_capacity(w);
    check(v->buckets == w->buckets && v->pins == w->pins, "%llu buckets and %llu pins", (ull)v->buckets, (ull)v->pins);
    same_plane("digests", v->digest, w->digest, entries);
    same_plane("keys", v->key, w->key, entries * 8 * v->step);
    if (v->step == 1) same_plane("scores", v->score, w->score, entries * 8);
    same_plane("bounds", v->bound, w->bound, hkv_bounds_of(v) * 8);
    same_plane("holders", v->holder, w->holder, entries * 8);
    for (uint64_t e = 0; e < entries; e++)
        if (v->digest[e] != HKV_NO_DIGEST)
            check(memcmp(hkv_value(v, e), hkv_value(w, e), v->value_bytes) == 0,
                  "the value of slot %llu is another one", (ull)e);
}

/* The state that the reference makes of the table when it grows so. */
static void *grown_by_reference(const hd_table *t, uint64_t buckets, uint32_t threads)
{
    hd_info info = t->info;
    void *state;
    info.buckets = buckets;
    info.capacity = info.places = buckets * info.slots;
    must(hkv_reference.open(NULL, &info, &hd_seams_os, &state));
    hkv_move_all(view_of(t), hkv_view_of(state), threads);
    return state;
}

/* ---- Schedules ------------------------------------------------------------------------------- */

static uint64_t entries_of(hd_table *t)
{
    uint64_t n;
    must(hd_size_sync(t, &n));
    return n;
}

static uint64_t grow_one(uint64_t n)
{
    const shape *s = &shapes[n % SHAPES];
    bool in_place = n / SHAPES % 2;
    uint32_t blocks = 1 + n / 2 % 4, threads = n % 3 ? 32 : 128;
    simt_config w = growth_way(n / SHAPES + n), usual = simt_config_default();
    test_case(
        "shape %llu: %llu buckets of %u x %llu, value=%u%s, near %u%%, twins %u%%%s; %s, %u blocks of %u, way %llu",
        (ull)(n % SHAPES), (ull)s->buckets, s->slots, (ull)s->times, s->value_bytes, s->dual ? " dual" : "", s->near,
        s->twins, s->pins ? ", pins" : "", in_place ? "in place" : "anew", blocks, threads, (ull)(n / SHAPES + n));
    hd_table *t = open_shape(s, n + 1);
    uint64_t entries = entries_of(t), buckets = s->buckets * s->times;
    void *expected = grown_by_reference(t, buckets, 1);
    must(hd_host_configure(t, &w));
    must(hd_host_lanes(t, blocks, threads));
    must(hd_host_in_place(t, in_place));
    must(hd_grow(t, buckets));
    same_as(view_of(t), hkv_view_of(expected));
    usual.strategy = SIMT_ROUND_ROBIN;
    must(hd_host_configure(t, &usual));
    must(hd_check(t));
    check(entries_of(t) == entries, "%llu entries, and %llu before", (ull)entries_of(t), (ull)entries);
    hkv_reference.close(expected, &hd_seams_os);
    hd_close(t);
    return entries;
}

static void test_schedules(void **unused)
{
    (void)unused;
    uint64_t n = test_times(60 * SHAPES), entries = 0;
    for (uint64_t i = 0; i < n; i++) entries += grow_one(i);
    test_tried("schedules", n, "of growth of hkv, %llu entries", (ull)entries);
}

/* The reference moves buckets of a large table in several threads, and strays of dual mode after them. */
static void test_threads(void **unused)
{
    (void)unused;
    static const shape large[] = {
        { 9000, 2, 8, 16, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 100, 0, 95, true },
        { 8200, 3, 8, 8, true, HD_LAYOUT_PLANES, HD_TIERS_BUCKET, 100, 60, 100, true },
        { 9001, 2, 8, 8, true, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 60, 30, 100, false },
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const shape *s = &large[i];
        hd_table *t = open_shape(s, i + 1);
        void *by_one = grown_by_reference(t, s->buckets * s->times, 1);
        for (uint32_t threads = 2; threads <= 5; threads += 3) {
            void *by_several = grown_by_reference(t, s->buckets * s->times, threads);
            test_case("table %zu, %u threads", i, threads);
            same_as(hkv_view_of(by_several), hkv_view_of(by_one));
            hkv_reference.close(by_several, &hd_seams_os);
        }
        hkv_reference.close(by_one, &hd_seams_os);
        hd_close(t);
    }
}

/* What only tables on the host machine have. */
static void other_backends_are_refused(void **unused)
{
    (void)unused;
    hd_config c = hd_config_default();
    hd_table *t;
    simt_config w = simt_config_default();
    c.capacity = 64;
    c.slots = 8;
    must(hd_open(&c, &t));
    must_fail(hd_host_in_place(t, true), HD_EINVAL, "host machine");
    must_fail(hd_host_configure(t, &w), HD_EINVAL, "host machine");
    must_fail(hd_host_lanes(t, 1, 32), HD_EINVAL, "host machine");
    hd_close(t);
}

static const struct CMUnitTest tests[] = { unit(other_backends_are_refused), unit(test_threads), unit(test_schedules) };

int main(void) { return test_run(tests); }
