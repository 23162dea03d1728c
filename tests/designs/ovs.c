/* SPDX-License-Identifier: Apache-2.0
 *
 * ovs.c - the tables larger than the device's memory, for tests/conform.h: segments of one to eight buckets, of which
 * none, some or all are near. Then two inserters of one key and an eraser, with every interleaving of few preemptions;
 * what misses and repeated lookups read of far memory; and tables that grow and shrink.
 */
#include <string.h>

#include "gpu/ovs/rows.h"
#include "judge/ovs/fixture.h"
#include "tests/conform.h"

static const char *const shapes[] = {
    "buckets=2 segment=256 batch=10x1 keys=uniform:14 duplicate=200000 reserved=50000",
    "buckets=1 segment=128 batch=6x1 keys=uniform:60 near=1",
    "buckets=3 segment=128 near=256 batch=16x1 keys=uniform:40 duplicate=100000 reserved=50000",
    "buckets=4 segment=512 batch=16x1 keys=uniform:200 distinct=1",
    "buckets=8 segment=512 near=512 batch=70x1 keys=uniform:150 duplicate=100000",
    "buckets=8 segment=1024 batch=4x1 keys=uniform:6 duplicate=400000",
    "buckets=2 segment=128 near=128 batch=12x1 keys=uniform:45 duplicate=300000",
    "buckets=2 segment=256 batch=10x1 keys=uniform:40 duplicate=200000 guide=digest",
    "buckets=8 segment=512 near=512 batch=70x1 keys=uniform:150 duplicate=100000 reserved=50000 guide=digest",
    "buckets=3 segment=128 near=1 batch=16x1 keys=uniform:70 distinct=1 guide=digest",
    "buckets=4 segment=128 near=256 batch=16x1 keys=uniform:70 duplicate=100000 reserved=50000 partition=range",
    "buckets=6 segment=256 batch=40x1 keys=uniform:90 duplicate=200000 guide=digest partition=range",
    "buckets=4 segment=256 near=256 batch=40x1 keys=uniform:60 duplicate=200000 reserved=50000 copies=128",
    "buckets=3 segment=128 near=1 batch=16x1 keys=uniform:40 duplicate=300000 copies=32 guide=digest",
    "buckets=6 segment=256 near=256 batch=70x1 keys=uniform:90 duplicate=100000 copies=256 partition=range",
    "buckets=2 segment=256 batch=10x1 keys=uniform:14 duplicate=200000 reserved=50000 value=8",
    "buckets=3 segment=128 near=256 batch=16x1 keys=uniform:40 duplicate=100000 reserved=50000 value=8",
    "buckets=8 segment=512 near=512 batch=70x1 keys=uniform:80 duplicate=100000 value=8",
    "buckets=8 segment=1024 near=1 batch=16x1 keys=uniform:60 distinct=1 value=8",
};

static uint64_t rounds(uint32_t row, int op) { return (void)row, test_quarter(op == JUDGE_MIXED ? 60 : 30); }

/* Two batches of assignments at a time, of few keys: by flip, and by a kernel that does not sort. (Of those that sort,
 * one runs after the other.) */
static void assignments_overlap(void **unused)
{
    static const struct {
        const char *kernel[2], *shape;
    } twos[] = {
        { { "flip", "quad" }, "buckets=2 segment=256 batch=12x1 keys=uniform:14 duplicate=300000" },
        { { "flip", "quad" }, "buckets=2 segment=256 batch=12x1 keys=uniform:14 duplicate=300000 guide=digest" },
        { { "probe8", "flip" }, "buckets=4 segment=512 near=512 batch=40x1 keys=uniform:30" },
        { { "flip", "wide" }, "buckets=2 segment=256 batch=12x1 keys=uniform:14 duplicate=300000 value=8" },
        { { "quad", "flip" }, "buckets=4 segment=256 near=256 batch=20x1 keys=uniform:20 copies=64" },
    };
    enum { TWOS = sizeof twos / sizeof *twos };
    totals t = { 0 };
    (void)unused;
    for (uint64_t n = 0; n < test_quarter(30 * TWOS); n++) {
        scene x = scene_begin(n, 32, 20);
        for (int k = 0; k < 2; k++) {
            const char *variant = twos[n % TWOS].kernel[k];
            int op = k ? HD_OP_ASSIGN : HD_OP_ASSIGN_VALUES;
            hd_case c = conform_case(op, variant, n + 1, "%s", twos[n % TWOS].shape);
            scene_part(&x, conform_row(variant, op), 32, 1 + (uint32_t)(n % 2), &c);
        }
        scene_run(&x, &t);
    }
    test_tried("schedules", t.schedules, "of two batches of assignments to ovs at a time");
    check(t.outcome[HD_UPDATED] && t.outcome[HD_MISS], "no key was there, or none was absent");
}

/* ---- Meetings -------------------------------------------------------------------------------- */

/* A key from `from` on whose way begins in bucket 0, and that is there or not. */
static uint64_t key_of_first(const ovs_view *v, uint64_t from, bool present)
{
    while ((ovs_find(v, from) != OVS_NOWHERE) != present || ovs_start(v, ovs_hash(v, from)) != 0) from++;
    return from;
}

/* Two items bring a key, and one erases another before its way's end: what claims are verified for. */
static void lay_three(fixture *s, const void *context)
{
    const uint64_t *k = (const uint64_t *)context;
    ovs_view *v = ovs_fixture_view(s);
    uint8_t *each = (uint8_t *)(uintptr_t)s->part[0].batch.each;
    uint64_t key = key_of_first(v, 1000, false), e = 0;
    while (e < ovs_places(v) - 1 && !ovs_is_key(*ovs_at(v, e))) e++;
    fixture_item(s, 0, 0, key, 0);
    fixture_item(s, 0, 1, key, 0);
    fixture_item(s, 0, 2, ovs_is_key(*ovs_at(v, e)) ? ovs_key_of(*ovs_at(v, e)) : key, 0);
    each[0] = *k % 2 ? HD_OP_FIND_OR_INSERT : HD_OP_INSERT_OR_ASSIGN;
    each[1] = HD_OP_INSERT_OR_ASSIGN;
    each[2] = HD_OP_ERASE;
}

static void meetings_are_exhausted(void **unused)
{
    const uint32_t preemptions = test_is_long() ? 2 : 1; /* two take a minute for each fixture */
    totals t = { 0 };
    (void)unused;
    for (uint32_t row = 0; row < hd_variant_row_count(ovs_variants); row++) {
        const char *name = hd_variant_row_name(ovs_variants, row);
        bool alike = strncmp(name, "probe", 5) == 0 && strcmp(name, "probe16") != 0; /* its text, for other tiles */
        if (alike && !test_is_long()) continue;
        for (uint64_t k = 0; fixture_runs(&judge_design_ovs, row, JUDGE_MIXED) && k < test_times(preemptions); k++) {
            hd_case c = conform_case(JUDGE_MIXED, name, 900 + k, "buckets=2 segment=256 batch=3x1 keys=uniform:40%s",
                                     (k + row) % 2 ? " guide=digest" : "");
            scene x = scene_search(1 + (uint32_t)(k % preemptions), 400000);
            scene_part(&x, row, 32, 3, &c);
            x.lay = lay_three;
            x.context = &k;
            scene_run(&x, &t);
        }
    }
    test_tried("schedules", t.schedules, "all with at most %u preemptions, at atomics, of %llu fixtures of ovs",
               preemptions, t.fixtures);
    check(t.outcome[HD_INSERTED] && t.outcome[HD_ERASED], "nothing happened");
}

/* The items of two warps, in a table of pairs: two of key K, and two of keys whose ways begin in the same bucket. The
 * other items are reserved. */
static void lay_pairs(fixture *s, const void *context)
{
    bool erases = *(const hd_op *)context == HD_OP_ERASE;
    const ovs_view *v = ovs_fixture_view(s);
    uint64_t k = key_of_first(v, 0, erases), other = key_of_first(v, erases ? 0 : k + 1, false);
    for (uint64_t i = 0; i < s->part[0].batch.n; i++) fixture_item(s, 0, i, UINT64_MAX, 0);
    fixture_item(s, 0, 1, other, 0);
    fixture_item(s, 0, 2, k, 0);
    fixture_item(s, 0, 32, k, 0);
    fixture_item(s, 0, 33, key_of_first(v, other + 1, false), 0);
}

static void pairs_meet(void **unused)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND_OR_INSERT, HD_OP_ACCUM_OR_ASSIGN, HD_OP_ERASE };
    enum { OPS = sizeof ops / sizeof *ops };
    totals t = { 0 };
    (void)unused;
    for (uint64_t k = 0; k < OPS * test_quarter(2); k++) {
        hd_case c =
            conform_case(ops[k % OPS], "wide", 700 + k, "buckets=2 segment=256 batch=34x1 keys=uniform:9 value=8");
        scene x = scene_search(1, 400000);
        scene_part(&x, conform_row("wide", ops[k % OPS]), 64, 1, &c);
        x.lay = lay_pairs;
        x.context = &ops[k % OPS];
        scene_run(&x, &t);
    }
    test_tried("schedules", t.schedules, "all with at most a preemption of two warps and a key of pairs, %llu fixtures",
               t.fixtures);
    check(t.outcome[HD_INSERTED] && t.outcome[HD_ERASED], "nothing happened");
}

/* ---- Far memory ------------------------------------------------------------------------------ */

/* Makes the items of a batch of finds, or of other operations; false: there are none such. */
typedef bool far_items(fixture *s, uint64_t of, bool present);

/* On its way to an open bucket, or to the way's end: how many buckets have a digest like the key's. */
static uint64_t alike(const ovs_view *v, uint64_t key)
{
    uint64_t h = ovs_hash(v, key), n = 0;
    bool open = false;
    for (uint32_t step = 0; step < ovs_way(v) && !open; step++) {
        uint64_t b = ovs_way_bucket(v, h, step), with = 0;
        for (uint64_t e = b * OVS_SLOTS; e < (b + 1) * OVS_SLOTS; e++) {
            with += ovs_digest_in(v, e) == ovs_digest_of(h);
            open = open || ovs_digest_in(v, e) == 0;
        }
        n += with != 0;
    }
    return n;
}

/* Keys that are there or not, whose digests are in so many buckets of their ways. */
static bool keys_alike(fixture *s, uint64_t buckets, bool present)
{
    const ovs_view *v = ovs_fixture_view(s);
    uint64_t key = 0, n = 0;
    for (; n < 40 && key < 1u << 19; key++)
        if ((ovs_find(v, key) != OVS_NOWHERE) == present && alike(v, key) == buckets) fixture_item(s, 0, n++, key, 0);
    for (uint64_t i = n; n && i < 40; i++) fixture_item(s, 0, i, s->part[0].batch.key[i % n], 0);
    return n;
}

/* So many keys, of as many buckets, in turn. */
static bool keys_in_turn(fixture *s, uint64_t keys, bool present)
{
    const ovs_view *v = ovs_fixture_view(s);
    uint64_t there[64], n = 0;
    (void)present;
    for (uint64_t b = 0; b < ovs_buckets(v) && n < keys; b++)
        if (ovs_is_key(*ovs_bucket(v, b))) there[n++] = ovs_key_of(*ovs_bucket(v, b));
    for (uint64_t i = 0; n && i < 64; i++) fixture_item(s, 0, i, there[i % n], 0);
    return n == keys;
}

/* The sectors of far memory that a batch of such items reads; 0: there are no such items. */
static uint64_t far_sectors(uint32_t row, const hd_case *c, far_items *items, uint64_t of, bool present)
{
    scene x = scene_begin(0, 32, 1);
    simt_config w = simt_config_in_turn();
    w.meter = true;
    scene_part(&x, row, 32, 2, c);
    fixture *s = scene_open(&x);
    bool there = items(s, of, present);
    comparison_close(scene_once(s, &w));
    return there ? simt_machine_totals(conform_machine).far_sectors : 0;
}

/* Absent keys whose digests are in no bucket of their ways; beside those with alike digests, and present keys. */
static void misses_read_no_far_memory(void **unused)
{
    uint64_t alike_read = 0, present_read = 0, tables = 0;
    (void)unused;
    for (uint32_t row = 0; row < hd_variant_row_count(ovs_variants); row++)
        for (uint64_t k = 0; k < 10; k++) {
            hd_op op = k % 2 ? HD_OP_FIND : HD_OP_ERASE;
            hd_case c = conform_case(op, hd_variant_row_name(ovs_variants, row), 50 + k,
                                     "buckets=16 segment=512 near=1 guide=digest batch=40x1 keys=uniform:500");
            if (!fixture_runs(&judge_design_ovs, row, op) || fixture_unsupported(&judge_design_ovs, row, &c)) continue;
            uint64_t far = far_sectors(row, &c, keys_alike, 0, false);
            check(far == 0, "absent keys: %llu sectors of far memory", (ull)far);
            alike_read += far_sectors(row, &c, keys_alike, 1, false);
            present_read += op == HD_OP_FIND ? far_sectors(row, &c, keys_alike, 1, true) : 0;
            tables++;
        }
    check(alike_read && present_read, "keys whose digests are there: %llu and %llu sectors", (ull)alike_read,
          (ull)present_read);
    test_tried("schedules", tables, "of tables and absent keys; digests like theirs cost %llu far sectors",
               (ull)alike_read);
}

/* Two warps have four halves, each of which loads the bucket once. */
static void repeated_lookups_share_loads(void **unused)
{
    enum { SECTORS = OVS_LINE / 32 };
    const uint32_t row = hd_variant_row_of(ovs_variants, "sorted", GPU_SORTED);
    uint64_t tables = 0;
    (void)unused;
    for (uint64_t k = 0; k < 10; k++) {
        hd_case c =
            conform_case(HD_OP_FIND, "sorted", 80 + k, "buckets=64 segment=2048 near=1 batch=64x1 keys=uniform:4000");
        uint64_t one = far_sectors(row, &c, keys_in_turn, 1, true), all = far_sectors(row, &c, keys_in_turn, 48, true);
        check(one <= 4 * SECTORS * OVS_WAY && one % SECTORS == 0, "64 finds of a key: %llu sectors", (ull)one);
        if (one && all) check(one * 4 <= all, "64 finds of a key: %llu sectors, of 48 keys %llu", (ull)one, (ull)all);
        tables += one && all;
    }
    check(tables > 0, "no table had keys in 48 buckets");
    test_tried("schedules", tables, "of tables and lookups that repeat a key");
}

static const char *const growing[] = {
    "probe16 buckets=1 segment=128",
    "probe16 buckets=2 segment=256 near=256 guide=digest",
    "probe16 buckets=6 segment=256",
    "probe16 buckets=4 segment=512 near=1 guide=digest",
    "probe16 buckets=3 segment=128",
    "probe16 buckets=64 segment=8192 near=8192",
    "probe16 buckets=9 segment=1024",
    "probe16 buckets=128 segment=16384",
    "wide buckets=2 segment=256 near=256 value=8",
    "flip buckets=2 segment=256 near=256 value=8",
    "wide buckets=64 segment=8192 near=1 value=8",
    "flip buckets=64 segment=8192 near=1 value=8",
    "probe16 buckets=9 segment=1024 near=2048 copies=256",
    "probe16 buckets=4 segment=256 near=256 copies=64 partition=range",
    "probe16 buckets=3 segment=128 partition=range",
    "probe16 buckets=4 segment=256 near=256 guide=digest partition=range",
    "probe16 buckets=9 segment=1024 near=2048 partition=range",
    "probe16 buckets=64 segment=8192 guide=digest near=1 partition=range",
};

static const struct CMUnitTest tests[] = { unit(assignments_overlap), unit(meetings_are_exhausted), unit(pairs_meet),
                                           unit(misses_read_no_far_memory), unit(repeated_lookups_share_loads) };

const conform_design conform_this = { .judge = &judge_design_ovs,
                                      .shapes = shapes,
                                      .shapes_n = CONFORM_COUNT(shapes),
                                      .rounds = rounds,
                                      .schedules = 6,
                                      .whole = 2,
                                      .windows = true,
                                      .growing = growing,
                                      .growing_n = CONFORM_COUNT(growing),
                                      .grown = 54,
                                      .tests = tests,
                                      .tests_n = CONFORM_COUNT(tests) };
