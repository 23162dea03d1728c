/* SPDX-License-Identifier: Apache-2.0
 *
 * t_agree.c - every kernel, with every operation that it runs, every policy, and one and two candidate buckets, against
 * the reference (judge/comparison.h), for many fixtures and schedules. Then pairs of operations at the same time, and
 * small fixtures with every interleaving. HEDDLE_TEST_SCALE makes the search longer or shorter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/comparison.h"
#include "judge/hkv/fixture.h"
#include "judge/kernels.h"
#include "base/error.h"
#include "base/op.h"
#include "policies/expression.h"
#include "tests/variants.h"
#include "workload/expressions.h"

#include "gpu/hkv/steps.h"

/* The steps with nothing around them, to be run by single lanes. */
#define STEPS        lanes_upsert
#define STEPS_FAMILY HKV_UPSERT
#include "tests/steps_alone.h"
#define STEPS        lanes_update
#define STEPS_FAMILY HKV_UPDATE
#include "tests/steps_alone.h"
#define STEPS        lanes_pin
#define STEPS_FAMILY HKV_PIN
#include "tests/steps_alone.h"
#define STEPS        lanes_erase
#define STEPS_FAMILY HKV_ERASE
#include "tests/steps_alone.h"

typedef unsigned long long ull;

static simt_machine *machine;

typedef struct totals {
    ull schedules, distinct, fixtures;
} totals;

/* ---- One fixture ------------------------------------------------------------------------------- */

/* Small tables: what fits, what does not, odd sizes, values of no, odd and many bytes. */
/* clang-format off */
static const char *const shapes[] = {
    "buckets=2 slots=4 batch=12x1 keys=uniform:10 value=8 duplicate=200000 reserved=50000 extreme=100000 pins=3 "
    "near=20",
    "buckets=3 slots=2 batch=10x1 keys=uniform:40 value=16 duplicate=100000 extreme=100000 pins=4",
    "buckets=4 slots=8 batch=32x1 keys=uniform:24 value=64 duplicate=100000 reserved=20000 pins=2 near=1000 "
    "tiers=position fetch=direct",
    "buckets=2 slots=13 batch=8x1 keys=uniform:40 value=0 duplicate=300000 reserved=100000 pins=0",
    "buckets=2 slots=3 batch=9x1 keys=uniform:64 value=24 extreme=200000 pins=5 near=100",
    "buckets=2 slots=4 batch=40x1 keys=uniform:8 value=12 duplicate=300000 extreme=50000 pins=1",
    "buckets=2 slots=6 batch=8x1 keys=uniform:64 value=4 extreme=400000 admit=always pins=2 near=1",
    "buckets=3 slots=4 batch=16x1 keys=uniform:30 value=128 distinct=1 pins=3",
};
/* clang-format on */
/* For kernels that need 16 slots at a time: fewer keys find full buckets. */
static const char *const wide_shapes[] = {
    "buckets=2 slots=16 batch=12x1 keys=uniform:10 value=16 duplicate=200000 reserved=50000 extreme=100000 pins=3",
    "buckets=2 slots=16 batch=10x1 keys=uniform:200 value=8 extreme=200000 pins=4 near=90",
    ("buckets=3 slots=32 batch=16x1 keys=uniform:400 value=64 duplicate=100000 admit=always pins=2 near=3000 "
     "tiers=position fetch=direct"),
    "buckets=2 slots=16 batch=24x1 keys=uniform:40 value=4 duplicate=300000 reserved=50000 pins=0",
    "buckets=2 slots=16 batch=24x1 keys=uniform:400 value=32 distinct=1 pins=0 near=200",
    "buckets=2 slots=32 batch=40x1 keys=uniform:2000 value=8 distinct=1 reserved=30000 pins=0",
    "buckets=2 slots=16 batch=12x1 keys=uniform:100 value=12 duplicate=300000 pins=0 near=70",
};
enum { SHAPES = sizeof shapes / sizeof *shapes, WIDE_SHAPES = sizeof wide_shapes / sizeof *wide_shapes };

/* Explores and judges; a failure says how to see it again. */
static void explore(const hd_case *c, const fixture_kernel *const *k, uint32_t parts, simt_config w, ull schedules,
                    totals *t)
{
    static const char *const strategies[] = { "in turn", "random", "pct", "search", "replay" };
    fixture *s;
    comparison *a;
    char text[2][512] = { "", "" };
    for (uint32_t i = 0; i < parts; i++) hd_case_print(&c[i], text[i], sizeof text[i]);
    test_case("%s%s%s", text[0], parts > 1 ? " + " : "", text[1]);
    must(fixture_open(c, k, parts, &s));
    must(comparison_open(s, &a));
    comparison_watch_with(a, &w, w.weak ? 3 : 1);
    w.shared_bytes = 48 << 10;
    simt_trial trial = comparison_trial(a);
    simt_exploration e;
    must(simt_explore(machine, &trial, &w, schedules, 0, 400, &e));
    t->schedules += e.schedules;
    t->distinct += e.distinct;
    t->fixtures++;
    if (e.wrong) {
        char schedule[512], buckets[4096] = "";
        simt_schedule_print(e.schedule, e.schedule_n, schedule, sizeof schedule);
        if (!e.finding.fault) comparison_draw(a, buckets, sizeof buckets);
        check(false,
              "%s: %s\nunit %s, %s%s, preempted at %u, blocks of %u threads, %u of them; seed %llu; schedule %s\n%s",
              simt_fault_name(e.finding.fault), e.finding.story, w.unit == SIMT_BY_LANE ? "lane" : "warp",
              strategies[w.strategy], w.weak ? ", weak" : "", w.preempt, k[0]->threads, k[0]->blocks, (ull)e.seed,
              schedule, buckets);
    }
    check(w.strategy != SIMT_SEARCH || e.exhausted, "not all schedules were run: %llu", (ull)e.schedules);
    simt_exploration_free(machine, &e);
    comparison_close(a);
}

/* Way number `n` of going through a fixture: units, strategies, where lanes may be preempted, and every fourth time
 * weak memory. */
static simt_config way(uint64_t n, uint32_t lanes)
{
    simt_config w = simt_config_default();
    w.seed = n * 7919;
    w.unit = n % 4 == 1 ? SIMT_BY_WARP : SIMT_BY_LANE;
    w.strategy = n % 2 ? SIMT_RANDOM : SIMT_PCT;
    w.pct_depth = 3 + (uint32_t)(n / 2 % 2);
    w.pct_length = lanes == 1 ? 800 : 6000;
    w.preempt = n % 3 == 0 ? SIMT_AT_SYNC : n % 3 == 1 ? SIMT_AT_ATOMIC : SIMT_AT_ALL;
    w.weak = n % 4 == 2;
    w.step_limit = 2000000;
    return w;
}

/* A layout that the row can run; half of the time the paper's, if it can. */
static const char *layout_for(uint32_t row, uint64_t n)
{
    hd_info info;
    memset(&info, 0, sizeof info);
    info.slots = 16;
    info.layout = HD_LAYOUT_PLANES;
    return (row < hkv_row_count() && hkv_row(row)->fits(&info)) || n / 3 % 2 ? "pairs" : "planes";
}

static hd_case case_of(const char *shape, uint32_t row, hd_op op, const char *variant, const char *policy, bool dual,
                       uint64_t seed)
{
    char text[512];
    hd_case c;
    snprintf(text, sizeof text, "hkv.%s.%s %s policy=%s dual=%d layout=%s seed=%llu", hd_op_name(op), variant, shape,
             policy, dual, layout_for(row, seed), (ull)seed);
    must(hd_case_parse(text, &c));
    return c;
}

static const char *shape_for(uint32_t row, uint64_t n)
{
    hd_info narrow;
    memset(&narrow, 0, sizeof narrow);
    narrow.slots = 4;
    return hkv_row(row)->fits(&narrow) ? wide_shapes[n % WIDE_SHAPES] : shapes[n % SHAPES];
}

/* ---- Every kernel of a variant --------------------------------------------------------------- */

static void agrees(void **state)
{
    const char *variant = VARIANT_OF(state);
    /* lanes by themselves are ten times as fast, and make most of what is promised */
    bool warps = strcmp(variant, "tlpv1") != 0;
    totals t = { 0, 0, 0 };
    uint64_t n = 0;
    for (uint32_t row = 0; row < hkv_row_count(); row++) {
        if (strcmp(hkv_row_name(row), variant) != 0) continue;
        for (int op = 0; op < HD_OP_COUNT_; op++) {
            if (hkv_family_of((uint32_t)op) != hkv_row(row)->family) continue;
            for (uint32_t policy = 0; policy < HD_POLICY_COUNT; policy++)
                for (int dual = 0; dual < 2; dual++)
                    for (uint64_t k = 0; k < test_quarter(warps ? 8 : 6); k++, n++) {
                        bool whole = !hd_op_is_keyed(hd_op_row_of((hd_op)op)); /* lanes hardly meet in these */
                        fixture_kernel kernel = hkv_fixture_kernel_at(row, 32u << n % 2, 1 + (uint32_t)(n / 2 % 3));
                        const fixture_kernel *kernels[] = { &kernel };
                        hd_case c = case_of(shape_for(row, n), row, (hd_op)op, variant, hd_policy_rows[policy].name,
                                            dual, n + 1);
                        c.raw_ppm = n % 5 == 3 ? 1000000 : 0;
                        explore(&c, kernels, 1, way(n, hkv_row(row)->lanes), whole ? 2 : warps ? 5 : 250, &t);
                    }
        }
    }
    test_tried("schedules", t.schedules, "of %llu fixtures of %s, %llu distinct", t.fixtures, variant, t.distinct);
}

/* ---- Policies that are expressions --------------------------------------------------------------- */

/* Sets of flags that no row of the registry has, and admission scores that fall. After them come random policies. */
static const char *const expressions[] = {
    "expr:on_insert=given;on_hit=max(old,given)+1;admission=MAX",
    "expr:on_insert=now;on_hit=(old>>1)+now",
    "expr:on_insert=now;admission=100000-now",
    "expr:on_insert=0;on_hit=now+1",
    "expr:on_insert=given;on_hit=old+given;admission=given/2",
    "expr:on_insert=given+5;on_hit=old+given;admission=~given",
    "expr:on_insert=now;admission=MAX",
    "expr:on_insert=given;on_hit=old+given;admission=100000-now",
    "expr:on_insert=given;on_hit=min(old,given)",
};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

static const char *expression_at(uint64_t n, hd_rng *g, char text[HD_EXPRESSIONS_TEXT])
{
    hd_policy_use use;
    if (n % (2 * EXPRESSIONS) < EXPRESSIONS) return expressions[n % EXPRESSIONS];
    do hd_expressions_draw(g, text);
    while (hd_policy_read(text, &use) || use.number != HD_POLICY_EXPRESSION);
    return text;
}

static void agrees_by_expressions(void **state)
{
    const char *variant = VARIANT_OF(state);
    bool warps = strcmp(variant, "tlpv1") != 0;
    totals t = { 0, 0, 0 };
    uint64_t n = 0;
    hd_rng g = hd_rng_from(31);
    char text[HD_EXPRESSIONS_TEXT];
    for (uint32_t row = 0; row < hkv_row_count(); row++) {
        bool scores = hkv_row(row)->family == HKV_UPDATE || hkv_row(row)->family == HKV_UPSERT;
        if (!scores || strcmp(hkv_row_name(row), variant) != 0) continue;
        for (int op = 0; op < HD_OP_COUNT_; op++) {
            if (hkv_family_of((uint32_t)op) != hkv_row(row)->family) continue;
            for (int dual = 0; dual < 2; dual++)
                for (uint64_t k = 0; k < test_quarter(warps ? 4 * EXPRESSIONS : 8 * EXPRESSIONS); k++, n++) {
                    fixture_kernel kernel = hkv_fixture_kernel_at(row, 32u << n % 2, 1 + (uint32_t)(n / 2 % 3));
                    const fixture_kernel *kernels[] = { &kernel };
                    hd_case c =
                        case_of(shape_for(row, n), row, (hd_op)op, variant, expression_at(n, &g, text), dual, n + 1);
                    c.raw_ppm = n % 7 == 3 ? 1000000 : 0;
                    explore(&c, kernels, 1, way(n, hkv_row(row)->lanes), warps ? 5 : 100, &t);
                }
        }
    }
    if (t.fixtures == 0) test_skip("it scores nothing");
    test_tried("schedules", t.schedules, "of %llu fixtures of %s with policy expressions, %llu distinct", t.fixtures,
               variant, t.distinct);
}

/* ---- Buckets of as many slots as there can be ------------------------------------------------- */

static void widest(void **state)
{
    const char *variant = VARIANT_OF(state);
    hd_info info;
    totals t = { 0, 0, 0 };
    memset(&info, 0, sizeof info);
    info.slots = HD_SLOTS_MAX;
    info.layout = HD_LAYOUT_PAIRS;
    for (uint32_t row = 0; row < hkv_row_count(); row++) {
        if (strcmp(hkv_row_name(row), variant) != 0 || hkv_row(row)->fits(&info)) continue;
        int op = HD_OP_INSERT_AND_EVICT;
        if (hkv_row(row)->family != HKV_UPSERT)
            for (op = 0; hkv_family_of((uint32_t)op) != hkv_row(row)->family;) op++;
        for (int dual = 0; dual < 2; dual++) {
            char text[128];
            fixture_kernel kernel = hkv_fixture_kernel_at(row, 64, 1);
            const fixture_kernel *kernels[] = { &kernel };
            snprintf(text, sizeof text, "buckets=2 slots=%u batch=16x1 keys=uniform:20000 value=8 pins=2",
                     HD_SLOTS_MAX);
            hd_case c = case_of(text, row, (hd_op)op, variant, hd_policy_rows[row % HD_POLICY_COUNT].name, dual,
                                2 * row + (uint32_t)dual + 1);
            simt_config w = way(4 * row + 1, 32); /* by warp: a lane goes over all slots */
            w.preempt = SIMT_AT_SYNC;
            w.step_limit = 1ull << 30;
            explore(&c, kernels, 1, w, 1, &t);
        }
    }
    if (t.fixtures == 0) test_skip("its buckets have fewer slots");
    test_tried("schedules", t.schedules, "of buckets of %u slots, %s, %llu fixtures", HD_SLOTS_MAX, variant,
               t.fixtures);
}

/* ---- A crowd at one full bucket: hits on what is about to leave, and several that want it gone ---- */

static void crowded(void **state)
{
    static const char *const crowds[] = { "policy=lru distinct=1 keys=uniform:80 batch=180x1",
                                          "policy=lfu keys=uniform:22 batch=96x1",
                                          "policy=lru keys=uniform:22 batch=96x1",
                                          "policy=custom distinct=1 keys=uniform:80 batch=180x1",
                                          "policy=lfu distinct=1 admit=always keys=uniform:60 batch=120x1",
                                          "policy=lru distinct=1 keys=uniform:80 batch=60x1",
                                          "policy=lru raw=1000000 keys=uniform:40 batch=60x1",
                                          "policy=lfu raw=1000000 distinct=1 keys=uniform:80 batch=60x1" };
    static const uint32_t seed[] = { 0, 17, 34, 51, 68, 104 /* scores are ahead of the clock */, 121, 138 };
    const char *variant = VARIANT_OF(state);
    uint32_t row = hkv_row_of(variant, HKV_UPSERT);
    totals t = { 0, 0, 0 };
    if (row == hkv_row_count()) test_skip("it does not insert");
    for (uint32_t i = 0; i < sizeof crowds / sizeof *crowds; i++)
        for (uint32_t k = 0; k < 2; k++) {
            char text[512];
            hd_case c;
            snprintf(text, sizeof text, "hkv.%s.%s buckets=1 slots=16 value=8 pins=0 seed=%u %s",
                     k ? "find_or_insert" : "insert_or_assign", variant, seed[i] + k, crowds[i]);
            must(hd_case_parse(text, &c));
            fixture_kernel kernel = hkv_fixture_kernel_at(row, 32, 3);
            const fixture_kernel *kernels[] = { &kernel };
            simt_config w = way(4 * i + 2 * k, 32);
            w.unit = SIMT_BY_LANE;
            w.weak = i == 1 && k;
            w.preempt = SIMT_AT_ALL;
            explore(&c, kernels, 1, w, test_quarter(24), &t);
        }
    test_tried("schedules", t.schedules, "of a crowd at one bucket, %s, %llu distinct", variant, t.distinct);
}

/* ---- All scores are the highest, and some entries are pinned -------------------------------------- */

/* No score tells a victim from a pinned entry. Of two full buckets the first gives up an entry (D2). */
static void highest(void **state)
{
    const char *variant = VARIANT_OF(state);
    uint32_t row = hkv_row_of(variant, HKV_UPSERT);
    totals t = { 0, 0, 0 };
    if (row == hkv_row_count()) test_skip("it does not insert");
    fixture_kernel kernel = hkv_fixture_kernel_at(row, 32, 2);
    const fixture_kernel *kernels[] = { &kernel };
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        if (hkv_family_of((hd_op)op) != HKV_UPSERT) continue;
        for (uint64_t seed = 1; seed <= test_quarter(48); seed++) {
            const char *shape = "buckets=3 slots=16 batch=8x1 keys=uniform:400 value=8 pins=2";
            hd_case c = case_of(shape, row, (hd_op)op, variant, "expr:on_insert=MAX", seed % 4 != 0, seed);
            explore(&c, kernels, 1, way(seed, hkv_row(row)->lanes), 2, &t);
        }
    }
    test_tried("schedules", t.schedules, "of the highest scores, %s, %llu fixtures", variant, t.fixtures);
}

/* ---- Two operations at once ------------------------------------------------------------------ */

/* The n-th row that runs the operation, around and around. */
static uint32_t row_for(hd_op op, uint64_t n)
{
    uint32_t rows[64], many = 0;
    for (uint32_t row = 0; row < hkv_row_count(); row++)
        if (hkv_row(row)->family == hkv_family_of(op)) rows[many++] = row;
    return rows[n % many];
}

static void test_pairs(void **unused)
{
    (void)unused;
    totals t = { 0, 0, 0 };
    uint64_t n = 0;
    for (int p = 0; p < HD_OP_COUNT_; p++)
        for (int q = 0; q < HD_OP_COUNT_; q++) {
            hd_role role = hd_op_row_of((hd_op)p)->role;
            if (role == HD_INSERTER || role != hd_op_row_of((hd_op)q)->role) continue;
            if (hd_op_does((hd_op)p, HD_ORDERED) || hd_op_does((hd_op)q, HD_ORDERED)) continue;
            for (uint64_t k = 0; k < test_quarter(3); k++, n++) {
                uint32_t rows[] = { row_for((hd_op)p, n), row_for((hd_op)q, n / 3) };
                fixture_kernel kernel[] = { hkv_fixture_kernel_at(rows[0], 32, 2),
                                            hkv_fixture_kernel_at(rows[1], 32, 2) };
                const fixture_kernel *kernels[] = { &kernel[0], &kernel[1] };
                const char *shape = wide_shapes[n % WIDE_SHAPES], *policy = hd_policy_rows[n % HD_POLICY_COUNT].name;
                hd_case c[] = { case_of(shape, rows[0], (hd_op)p, kernel[0].name, policy, n % 2, n + 1),
                                case_of(shape, rows[1], (hd_op)q, kernel[1].name, policy, n % 2, n + 1) };
                explore(c, kernels, 2, way(n, 32), 6, &t);
            }
        }
    test_tried("schedules", t.schedules, "of %llu pairs of operations, %llu distinct", t.fixtures, t.distinct);
}

/* Updates of coalesced beside updates of every variant, under every policy, in both layouts. Some own the entry, some
 * of coalesced store only its score, and an assign of coalesced replaces it without reading it. So a store of one may
 * come between any two stores of the other. Without values both batches store at about the same time. */
static void test_updates_beside_updates(void **unused)
{
    (void)unused;
    static const char *const few[] = {
        "buckets=2 slots=16 batch=16x1 keys=uniform:8 value=16 duplicate=100000 pins=0",
        "buckets=2 slots=16 batch=16x1 keys=uniform:4 value=0 duplicate=100000 pins=0",
        "buckets=2 slots=16 batch=16x1 keys=uniform:16 value=0 distinct=1 pins=0",
    };
    totals t = { 0, 0, 0 };
    uint64_t n = 0;
    uint32_t row = hkv_row_of("coalesced", HKV_UPDATE);
    fixture_kernel k = hkv_fixture_kernel_at(row, 32, 2);
    for (int policy = 0; policy < HD_POLICY_COUNT; policy++) /* one policy more does not change the cases of others */
        for (int p = 0; p < HD_OP_COUNT_; p++)
            for (int q = 0; q < HD_OP_COUNT_; q++) {
                if (hkv_family_of((hd_op)p) != HKV_UPDATE || hkv_family_of((hd_op)q) != HKV_UPDATE) continue;
                for (uint64_t i = 0; i < test_quarter(4); i++, n++) {
                    uint64_t turn = n + n / 16; /* another one for the same operations under the next policy */
                    simt_config w = way(turn, 32);
                    w.strategy = SIMT_RANDOM;
                    w.preempt = SIMT_AT_ALL; /* between any two stores */
                    w.weak = turn % 4 >= 2;
                    uint32_t other = turn % 4 == 2 ? row_for((hd_op)q, turn / 4) : row;
                    fixture_kernel beside = hkv_fixture_kernel_at(other, 32, 2);
                    const fixture_kernel *kernels[] = { &k, &beside };
                    const char *shape = few[turn / 4 % 3], *name = hd_policy_rows[policy].name;
                    hd_case c[] = { case_of(shape, row, (hd_op)p, k.name, name, turn / 8 % 2, n + 1),
                                    case_of(shape, row, (hd_op)q, beside.name, name, turn / 8 % 2, n + 1) };
                    explore(c, kernels, 2, w, 40, &t);
                }
            }
    test_tried("schedules", t.schedules, "of %llu updates beside updates, %llu distinct", t.fixtures, t.distinct);
}

/* Items of one key that give 2^22 and more run by themselves, if the policy reads what they give. If it does not, no
 * item may be left for that: it would have no outcome. */
static void test_scores_at_edges(void **unused)
{
    (void)unused;
    totals t = { 0, 0, 0 };
    uint32_t row = hkv_row_of("coalesced", HKV_UPDATE);
    fixture_kernel k = hkv_fixture_kernel_at(row, 32, 2);
    const fixture_kernel *kernel = &k;
    for (int policy = 0; policy < HD_POLICY_COUNT; policy++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            const char *shape = "buckets=2 slots=16 batch=16x1 keys=uniform:3 value=8 extreme=1000000 pins=0";
            hd_case c = case_of(shape, row, HD_OP_TOUCH, k.name, hd_policy_rows[policy].name, false, seed);
            explore(&c, &kernel, 1, way(seed, 32), test_times(5), &t);
        }
    test_tried("schedules", t.schedules, "of scores at edges, %llu distinct", t.distinct);
}

/* ---- All schedules of small fixtures ----------------------------------------------------------- */

/* What an item is to its bucket. */
enum { LEAST, NOT_LEAST, ABSENT_LOW, ABSENT_HIGH, KINDS };

static uint64_t key_of_kind(const fixture *s, int kind, uint64_t bucket)
{
    const hkv_view *v = hkv_fixture_view(s);
    uint64_t least = HD_KEY_EMPTY, most = HD_KEY_EMPTY, lowest = UINT64_MAX, highest = 0;
    for (uint32_t k = 0; k < v->slots; k++) {
        uint64_t e = hkv_entry(v, bucket, k);
        if (*hkv_key_at(v, e) >= HD_KEY_RESERVED) continue;
        if (*hkv_score_at(v, e) <= lowest) lowest = *hkv_score_at(v, e), least = *hkv_key_at(v, e);
        if (*hkv_score_at(v, e) >= highest) highest = *hkv_score_at(v, e), most = *hkv_key_at(v, e);
    }
    if (kind == LEAST && least != HD_KEY_EMPTY) return least;
    if (kind == NOT_LEAST && most != HD_KEY_EMPTY) return most;
    uint64_t key = kind == ABSENT_LOW ? 1000 : 2000;
    while (hd_first_bucket(hd_hash(key, v->seed), v->buckets) != bucket) key++;
    return key;
}

/* Both items of the batch in one bucket (1: in the two), of kinds p and q. */
static void exhaust(const hd_case *c, const fixture_kernel *k, simt_unit unit, int p, int q, bool apart, totals *t)
{
    fixture *s;
    comparison *a;
    char text[512];
    simt_exploration e;
    hd_case_print(c, text, sizeof text);
    test_case("%s, kinds %d and %d%s, %s, %s", text, p, q, apart ? " apart" : "", k->name,
              unit == SIMT_BY_LANE ? "by lane" : "by warp");
    must(fixture_open(c, &k, 1, &s));
    fixture_item(s, 0, 0, key_of_kind(s, p, 0), p == ABSENT_LOW ? 0 : 9);
    fixture_item(s, 0, 1, p == q && p >= ABSENT_LOW && apart ? key_of_kind(s, q, 1) : key_of_kind(s, q, apart ? 1 : 0),
                 q == ABSENT_LOW ? 0 : 9);
    must(comparison_open(s, &a));
    simt_config w = simt_config_default();
    w.strategy = SIMT_SEARCH;
    w.bound = 2;
    w.unit = unit;
    w.preempt = SIMT_AT_SYNC;
    comparison_watch_with(a, &w, 1);
    simt_trial trial = comparison_trial(a);
    must(simt_explore(machine, &trial, &w, 2000000, 0, 0, &e));
    check(!e.wrong, "schedule %llu: %s: %s", (ull)e.schedules, simt_fault_name(e.finding.fault), e.finding.story);
    check(e.exhausted, "not all of them");
    t->schedules += e.schedules;
    t->distinct += e.distinct;
    t->fixtures++;
    simt_exploration_free(machine, &e);
    comparison_close(a);
}

static void test_exhaustive(void **unused)
{
    (void)unused;
    static const struct {
        hd_op op;
        void (*lanes)(const void *);
    } ops[] = {
        { HD_OP_INSERT_OR_ASSIGN, lanes_upsert },
        { HD_OP_FIND_OR_INSERT, lanes_upsert },
        { HD_OP_ACCUM_OR_ASSIGN, lanes_upsert },
        { HD_OP_FIND_OR_INSERT_PTR, lanes_upsert },
        { HD_OP_TOUCH, lanes_update },
        { HD_OP_ASSIGN, lanes_update },
        { HD_OP_LOCK_KEYS, lanes_pin },
        { HD_OP_UNLOCK_KEYS, lanes_pin },
        { HD_OP_ERASE, lanes_erase },
    };
    for (int warps = 0; warps < 2; warps++) {
        totals t = { 0, 0, 0 };
        uint64_t grid = 0;
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
            for (int p = 0; p < KINDS; p++)
                for (int q = 0; q < KINDS; q++)
                    for (int shape = 0; shape < (warps ? 1 : 4); shape++) {
                        if (warps && test_scale() == 1 && (i % 4 || p > q)) continue; /* half a second each */
                        if (!test_takes(grid++)) continue;
                        char tail[96];
                        snprintf(tail, sizeof tail, "buckets=2 slots=%d batch=2x1 keys=uniform:9 value=8 pins=2",
                                 shape % 2 ? 4 : 2);
                        hd_case c = case_of(tail, hkv_row_count(), ops[i].op, warps ? "warp" : "lanes", "custom",
                                            shape / 2, 11 + (uint64_t)i);
                        fixture_kernel k = warps ? hkv_fixture_kernel_at(row_for(ops[i].op, 0), 32, 2)
                                                 : hkv_fixture_kernel_at(0, 0, 0);
                        for (uint32_t row = 0; warps && row < hkv_row_count(); row++)
                            if (strcmp(hkv_row_name(row), "warp") == 0 &&
                                hkv_row(row)->family == hkv_family_of(ops[i].op))
                                k = hkv_fixture_kernel_at(row, 32, 2);
                        if (!warps) {
                            k.name = "lanes";
                            k.strictness = FIXTURE_ORDER;
                            k.text = ops[i].lanes;
                            k.lanes = k.threads = 1;
                        }
                        exhaust(&c, &k, warps ? SIMT_BY_WARP : SIMT_BY_LANE, p, q, shape / 2 && p != q, &t);
                    }
        test_tried(
            "schedules", t.schedules,
            "all with at most 2 preemptions at synchronising accesses%s, of %llu fixtures of 2 %s, %llu distinct",
            warps ? " and collectives" : "", t.fixtures, warps ? "warps" : "lanes", t.distinct);
    }
}

int main(void)
{
    static const struct CMUnitTest of_all[] = { unit(test_pairs), unit(test_updates_beside_updates),
                                                unit(test_scores_at_edges), unit(test_exhaustive) };
    static const struct CMUnitTest of_each[] = { unit(agrees), unit(agrees_by_expressions), unit(widest), unit(crowded),
                                                 unit(highest) };
    if (simt_machine_open(NULL, &machine)) return 1;
    int failed = variants_run(of_each, sizeof of_each / sizeof *of_each, of_all, sizeof of_all / sizeof *of_all);
    simt_machine_close(machine);
    return failed;
}
