/* SPDX-License-Identifier: Apache-2.0
 *
 * t_ovs_agree.c - the ovs kernels: every variant, with every operation that it runs and with mixed batches, against the
 * reference, for many fixtures and schedules; two inserters of one key and an eraser, with every interleaving of few
 * preemptions; and tables on the host machine that grow and shrink. HEDDLE_TEST_SCALE makes the search longer or
 * shorter.
 */
#include <stdio.h>
#include <string.h>

#include "base/op.h"
#include "gpu/ovs/rows.h"
#include "judge/growth.h"
#include "judge/ovs/fixture.h"
#include "tests/exploring.h"
#include "tests/growth_way.h"
#include "tests/on_machine.h"

static simt_machine *machine;

/* Small tables, with segments of one to eight buckets, of which none, some or all are near; the last ones of pairs. */
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
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void run_case(const hd_case *c, uint32_t row, uint64_t n, uint64_t window, ull schedules, totals *t)
{
    fixture_kernel kernel = fixture_kernel_at(&judge_design_ovs, row, 32u << n % 2, 1 + (uint32_t)(n / 2 % 3));
    const fixture_kernel *one = &kernel;
    fixture *s;
    comparison *a;
    kernel.window = window;
    must(fixture_open(c, &one, 1, &s));
    must(comparison_open(s, &a));
    const simt_config w = explore_way(n);
    explore_case(machine, a, c, w, w.weak ? 3 : 1, schedules, t);
    comparison_close(a);
}

static hd_case case_of(const char *shape, int op, uint32_t row, uint64_t seed)
{
    char text[512];
    hd_case c;
    snprintf(text, sizeof text, "ovs.%s.%s %s seed=%llu", fixture_op_name((hd_op)op),
             hd_variant_row_name(ovs_variants, row), shape, (ull)seed);
    must(hd_case_parse(text, &c));
    return c;
}

/* The next shape whose table the row runs. */
static hd_case next_case(int op, uint32_t row, uint64_t seed, uint64_t *at)
{
    hd_case c = case_of(shapes[(*at)++ % SHAPES], op, row, seed);
    for (int more = 1; more < SHAPES && fixture_unfit(&judge_design_ovs, row, &c); more++)
        c = case_of(shapes[(*at)++ % SHAPES], op, row, seed);
    return c;
}

static void kernels_agree(void **unused)
{
    totals t;
    uint64_t n = 0, at = 0;
    (void)unused;
    memset(&t, 0, sizeof t);
    for (uint32_t row = 0; row < hd_variant_row_count(ovs_variants); row++)
        for (int op = 0; op <= JUDGE_MIXED; op++) {
            if (!fixture_runs(&judge_design_ovs, row, (hd_op)op)) continue;
            bool whole = op != JUDGE_MIXED && !hd_op_is_keyed(hd_op_row_of((hd_op)op)), lists = op == HD_OP_FIND_MISSED;
            for (uint64_t k = 0; k < test_quarter(op == JUDGE_MIXED ? 60 : 30); k++, n++) {
                hd_case c = next_case(op, row, n + 1, &at);
                run_case(&c, row, n, lists && k % 2 ? 1 + n * 5 % 34 : 0, whole ? 2 : 6, &t);
            }
        }
    test_tried("schedules", t.schedules, "of %llu fixtures of ovs, %llu distinct", t.fixtures, t.distinct);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) {
        bool never = o == HD_EVICTED || o == HD_REFUSED || o == HD_PINNED;
        check((t.outcome[o] == 0) == never, "%s: %llu times", hd_outcome_name((hd_outcome)o), t.outcome[o]);
    }
    check(t.moves == 0, "a key moved");
}

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
    totals t;
    (void)unused;
    memset(&t, 0, sizeof t);
    for (uint64_t n = 0; n < test_quarter(30 * TWOS); n++) {
        fixture_kernel kernel[2];
        const fixture_kernel *both[2] = { &kernel[0], &kernel[1] };
        hd_case c[2];
        fixture *s;
        comparison *a;
        for (int k = 0; k < 2; k++) {
            uint32_t row = 0;
            while (strcmp(hd_variant_row_name(ovs_variants, row), twos[n % TWOS].kernel[k]) != 0) row++;
            c[k] = case_of(twos[n % TWOS].shape, k ? HD_OP_ASSIGN : HD_OP_ASSIGN_VALUES, row, n + 1);
            kernel[k] = fixture_kernel_at(&judge_design_ovs, row, 32, 1 + (uint32_t)(n % 2));
        }
        must(fixture_open(c, both, 2, &s));
        must(comparison_open(s, &a));
        const simt_config w = explore_way(n);
        explore_case(machine, a, &c[0], w, w.weak ? 3 : 1, 20, &t);
        comparison_close(a);
    }
    test_tried("schedules", t.schedules, "of two batches of assignments to ovs at a time");
    check(t.outcome[HD_UPDATED] && t.outcome[HD_MISS], "no key was there, or none was absent");
}

/* Two items bring key K, and one erases a key before its way's end: what claims are verified for. */
static void meetings_are_exhausted(void **unused)
{
    const uint32_t preemptions = test_is_long() ? 2 : 1; /* two take a minute for each fixture */
    totals t;
    (void)unused;
    memset(&t, 0, sizeof t);
    for (uint32_t row = 0; row < hd_variant_row_count(ovs_variants); row++) {
        const char *name = hd_variant_row_name(ovs_variants, row);
        bool alike = strncmp(name, "probe", 5) == 0 && strcmp(name, "probe16") != 0; /* its text, for other tiles */
        if (alike && !test_is_long()) continue;
        for (uint64_t k = 0; fixture_runs(&judge_design_ovs, row, JUDGE_MIXED) && k < test_times(preemptions); k++) {
            const char *shape = (k + row) % 2 ? "buckets=2 segment=256 batch=3x1 keys=uniform:40 guide=digest"
                                              : "buckets=2 segment=256 batch=3x1 keys=uniform:40";
            hd_case c = case_of(shape, JUDGE_MIXED, row, 900 + k);
            fixture_kernel kernel = fixture_kernel_at(&judge_design_ovs, row, 32, 3);
            const fixture_kernel *one = &kernel;
            fixture *s;
            comparison *a;
            must(fixture_open(&c, &one, 1, &s));
            ovs_view *v = ovs_fixture_view(s);
            uint64_t key = 1000, e = 0;
            while (ovs_find(v, key) != OVS_NOWHERE || ovs_start(v, ovs_hash(v, key)) != 0) key++;
            while (e < ovs_places(v) - 1 && !ovs_is_key(*ovs_at(v, e))) e++;
            fixture_item(s, 0, 0, key, 0);
            fixture_item(s, 0, 1, key, 0);
            fixture_item(s, 0, 2, ovs_is_key(*ovs_at(v, e)) ? ovs_key_of(*ovs_at(v, e)) : key, 0);
            uint8_t *each = (uint8_t *)(uintptr_t)s->part[0].batch.each;
            each[0] = k % 2 ? HD_OP_FIND_OR_INSERT : HD_OP_INSERT_OR_ASSIGN;
            each[1] = HD_OP_INSERT_OR_ASSIGN;
            each[2] = HD_OP_ERASE;
            must(comparison_open(s, &a));
            explore_case(machine, a, &c, explore_all(1 + (uint32_t)(k % preemptions)), 1, 400000, &t);
            comparison_close(a);
        }
    }
    test_tried("schedules", t.schedules, "all with at most %u preemptions, at atomics, of %llu fixtures of ovs",
               preemptions, t.fixtures);
    check(t.outcome[HD_INSERTED] && t.outcome[HD_ERASED], "nothing happened");
}

/* The items of two warps, in a table of pairs: two of key K, and two of keys whose ways begin in the same bucket. The
 * other items are reserved. */
static void pairs_meet(void **unused)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND_OR_INSERT, HD_OP_ACCUM_OR_ASSIGN, HD_OP_ERASE };
    enum { OPS = sizeof ops / sizeof *ops, ITEMS = 34 };
    const uint32_t row = hd_variant_row_of(ovs_variants, "wide", GPU_ALIKE);
    totals t;
    (void)unused;
    memset(&t, 0, sizeof t);
    for (uint64_t k = 0; k < OPS * test_quarter(2); k++) {
        hd_op op = ops[k % OPS];
        hd_case c = case_of("buckets=2 segment=256 batch=34x1 keys=uniform:9 value=8", op, row, 700 + k);
        fixture_kernel kernel = fixture_kernel_at(&judge_design_ovs, row, 64, 1);
        const fixture_kernel *one = &kernel;
        fixture *s;
        comparison *a;
        must(fixture_open(&c, &one, 1, &s));
        ovs_view *v = ovs_fixture_view(s);
        uint64_t key[3], from = 0;
        for (int i = 0; i < 3; i++) {
            bool present = op == HD_OP_ERASE && i == 0;
            while ((ovs_find(v, from) != OVS_NOWHERE) != present || ovs_start(v, ovs_hash(v, from)) != 0) from++;
            key[i] = from;
            from = present ? 0 : from + 1;
        }
        for (uint64_t i = 0; i < ITEMS; i++) fixture_item(s, 0, i, UINT64_MAX, 0);
        fixture_item(s, 0, 1, key[1], 0);
        fixture_item(s, 0, 2, key[0], 0);
        fixture_item(s, 0, 32, key[0], 0);
        fixture_item(s, 0, 33, key[2], 0);
        must(comparison_open(s, &a));
        explore_case(machine, a, &c, explore_all(1), 1, 400000, &t);
        comparison_close(a);
    }
    test_tried("schedules", t.schedules, "all with at most a preemption of two warps and a key of pairs, %llu fixtures",
               t.fixtures);
    check(t.outcome[HD_INSERTED] && t.outcome[HD_ERASED], "nothing happened");
}

/* ---- Digests --------------------------------------------------------------------------------- */

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

/* The fixture keeps the kernel's address. */
static fixture *fixture_for(const hd_case *c, const fixture_kernel *kernel)
{
    fixture *s;
    must(fixture_open(c, &kernel, 1, &s));
    return s;
}

/* Runs its batch, whose outcomes must be right. */
static uint64_t far_sectors_read(fixture *s)
{
    simt_config w = simt_config_in_turn();
    const char *why = NULL;
    comparison *a;
    w.meter = true;
    must(comparison_open(s, &a));
    must(comparison_run(a, machine, &w, &why));
    check(!why, "%s", why ? why : "");
    comparison_close(a);
    return simt_machine_totals(machine).far_sectors;
}

#define GUIDED_SHAPE "buckets=16 segment=512 near=1 guide=digest batch=40x1 keys=uniform:500"

/* The sectors of far memory that finds read, or erasures: of absent keys whose digests are in no bucket of their ways,
 * in one, or of present keys in as many buckets as their digests are in. */
static uint64_t far_sectors_of(uint32_t row, hd_op op, uint64_t seed, uint64_t buckets, bool present)
{
    hd_case c = case_of(GUIDED_SHAPE, op, row, seed);
    fixture_kernel kernel = fixture_kernel_at(&judge_design_ovs, row, 32, 2);
    fixture *s = fixture_for(&c, &kernel);
    const ovs_view *v = ovs_fixture_view(s);
    uint64_t key = 0, n = 0;
    for (; n < 40 && key < 1u << 19; key++)
        if ((ovs_find(v, key) != OVS_NOWHERE) == present && alike(v, key) == buckets) fixture_item(s, 0, n++, key, 0);
    for (uint64_t i = n; n && i < 40; i++) fixture_item(s, 0, i, s->part[0].batch.key[i % n], 0);
    uint64_t sectors = far_sectors_read(s);
    return n ? sectors : 0;
}

static void misses_read_no_far_memory(void **unused)
{
    uint64_t alike_read = 0, present_read = 0, tables = 0;
    (void)unused;
    for (uint32_t row = 0; row < hd_variant_row_count(ovs_variants); row++)
        for (uint64_t k = 0; k < 10; k++) {
            hd_op op = k % 2 ? HD_OP_FIND : HD_OP_ERASE;
            hd_case c = case_of(GUIDED_SHAPE, op, row, k);
            if (!fixture_runs(&judge_design_ovs, row, op) || fixture_unfit(&judge_design_ovs, row, &c)) continue;
            uint64_t far = far_sectors_of(row, op, 50 + k, 0, false);
            check(far == 0, "absent keys: %llu sectors of far memory", (ull)far);
            alike_read += far_sectors_of(row, op, 50 + k, 1, false);
            present_read += op == HD_OP_FIND ? far_sectors_of(row, op, 50 + k, 1, true) : 0;
            tables++;
        }
    check(alike_read && present_read, "keys whose digests are there: %llu and %llu sectors", (ull)alike_read,
          (ull)present_read);
    test_tried("schedules", tables, "of tables and absent keys; digests like theirs cost %llu far sectors",
               (ull)alike_read);
}

/* The sectors of far memory that 64 finds by `sorted` read, of `keys` keys of as many buckets in turn; 0: there are not
 * as many. */
static uint64_t far_sectors_of_repeated(uint64_t seed, uint64_t keys)
{
    uint32_t row = hd_variant_row_of(ovs_variants, "sorted", GPU_SORTED);
    hd_case c = case_of("buckets=64 segment=2048 near=1 batch=64x1 keys=uniform:4000", HD_OP_FIND, row, seed);
    fixture_kernel kernel = fixture_kernel_at(&judge_design_ovs, row, 32, 2);
    fixture *s = fixture_for(&c, &kernel);
    const ovs_view *v = ovs_fixture_view(s);
    uint64_t there[64], n = 0;
    for (uint64_t b = 0; b < ovs_buckets(v) && n < keys; b++)
        if (ovs_is_key(*ovs_bucket(v, b))) there[n++] = ovs_key_of(*ovs_bucket(v, b));
    for (uint64_t i = 0; n && i < 64; i++) fixture_item(s, 0, i, there[i % n], 0);
    uint64_t sectors = far_sectors_read(s);
    return n == keys ? sectors : 0;
}

/* Two warps have four halves, each of which loads the bucket once. */
static void repeated_lookups_share_loads(void **unused)
{
    enum { SECTORS = OVS_LINE / 32 };
    uint64_t tables = 0;
    (void)unused;
    for (uint64_t k = 0; k < 10; k++) {
        uint64_t one = far_sectors_of_repeated(80 + k, 1), all = far_sectors_of_repeated(80 + k, 48);
        check(one <= 4 * SECTORS * OVS_WAY && one % SECTORS == 0, "64 finds of a key: %llu sectors", (ull)one);
        if (one && all) check(one * 4 <= all, "64 finds of a key: %llu sectors, of 48 keys %llu", (ull)one, (ull)all);
        tables += one && all;
    }
    check(tables > 0, "no table had keys in 48 buckets");
    test_tried("schedules", tables, "of tables and lookups that repeat a key");
}

/* ---- Growing and shrinking ------------------------------------------------------------------- */

static void tables_grow_on_the_host_machine(void **unused)
{
    enum { TIMES = 8 };
    static const char *const tables[] = { "buckets=1 segment=128",
                                          "buckets=2 segment=256 near=256 guide=digest",
                                          "buckets=6 segment=256",
                                          "buckets=4 segment=512 near=1 guide=digest",
                                          "buckets=3 segment=128",
                                          "buckets=64 segment=8192 near=8192",
                                          "buckets=9 segment=1024",
                                          "buckets=128 segment=16384",
                                          "buckets=2 segment=256 near=256 value=8",
                                          "buckets=64 segment=8192 near=1 value=8",
                                          "buckets=9 segment=1024 near=2048 copies=256",
                                          "buckets=4 segment=256 near=256 copies=64 partition=range",
                                          "buckets=3 segment=128 partition=range",
                                          "buckets=4 segment=256 near=256 guide=digest partition=range",
                                          "buckets=9 segment=1024 near=2048 partition=range",
                                          "buckets=64 segment=8192 guide=digest near=1 partition=range" };
    enum { TABLES = sizeof tables / sizeof *tables };
    judge_growth all;
    (void)unused;
    memset(&all, 0, sizeof all);
    for (uint64_t n = 0; n < test_times(48); n++) {
        char text[512];
        const char *kernel = !strstr(tables[n % TABLES], "value=8") ? "probe16" : n / TABLES % 2 ? "flip" : "wide";
        snprintf(text, sizeof text, "ovs.mix.%s %s seed=%llu", kernel, tables[n % TABLES], (ull)n + 1);
        growth_try(text, n / TABLES + n, TIMES, &all);
    }
    test_tried("schedules", all.grown + all.shrunk, "of growth and shrinking of ovs, %llu entries", (ull)all.entries);
    check(all.grown && all.shrunk && all.short_of, "%llu grew, %llu shrank, %llu not as far as was asked",
          (ull)all.grown, (ull)all.shrunk, (ull)all.short_of);
}

int main(void)
{
    static const struct CMUnitTest tests[] = { unit(kernels_agree),
                                               unit(assignments_overlap),
                                               unit(meetings_are_exhausted),
                                               unit(pairs_meet),
                                               unit(misses_read_no_far_memory),
                                               unit(repeated_lookups_share_loads),
                                               unit(tables_grow_on_the_host_machine) };
    return test_run_on(&machine, tests);
}
