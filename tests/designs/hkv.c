/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv.c - HKV, for tests/conform.h: every kernel with every operation that it runs, every policy, and one and two
 * candidate buckets. Then policies that are expressions, crowds, the widest buckets, pairs of operations at the same
 * time, and small fixtures with every interleaving.
 */
#include <string.h>

#include "base/op.h"
#include "judge/hkv/fixture.h"
#include "judge/rules.h"
#include "policies/expression.h"
#include "tests/conform.h"
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

/* ---- Cases ----------------------------------------------------------------------------------- */

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

static simt_config way(uint64_t n, uint32_t lanes)
{
    simt_config w = conform_way(n, lanes);
    w.pct_length = lanes == 1 ? 800 : 6000;
    w.step_limit = 2000000;
    return w;
}

/* Whether the row runs buckets of so many slots. */
static bool fits(uint32_t row, uint32_t slots, hd_layout layout)
{
    hd_info info;
    memset(&info, 0, sizeof info);
    info.slots = slots;
    info.layout = layout;
    return !hkv_row(row)->fits(&info);
}

/* In a layout that the row can run; half of the time the paper's, if it can. */
static hd_case case_of(const char *shape, uint32_t row, int op, const char *policy, uint64_t dual, uint64_t seed)
{
    bool pairs = seed / 3 % 2 || (row < hkv_row_count() && !fits(row, 16, HD_LAYOUT_PLANES));
    return conform_case(op, hkv_row_name(row), seed, "%s policy=%s dual=%llu layout=%s", shape, policy, (ull)dual,
                        pairs ? "pairs" : "planes");
}

static const char *shape_for(uint32_t row, uint64_t n)
{
    return fits(row, 4, HD_LAYOUT_PLANES) ? shapes[n % SHAPES] : wide_shapes[n % WIDE_SHAPES];
}

/* The n-th row that runs the operation, around and around. */
static uint32_t row_for(int op, uint64_t n)
{
    uint32_t rows[64], many = 0;
    for (uint32_t row = 0; row < hkv_row_count(); row++)
        if (hkv_row(row)->family == hkv_family_of((uint32_t)op)) rows[many++] = row;
    return rows[n % many];
}

/* ---- Every kernel of a variant --------------------------------------------------------------- */

/* Lanes by themselves are ten times as fast, and make most of what is promised. */
static bool has_warps(uint32_t row) { return strcmp(hkv_row_name(row), "tlpv1") != 0; }

static uint64_t rounds_of_policy(uint32_t row) { return test_quarter(has_warps(row) ? 8 : 6); }
static uint64_t rounds(uint32_t row, int op) { return (void)op, 2 * HD_POLICY_COUNT * rounds_of_policy(row); }

static void set(scene *x, uint32_t row, int op, uint64_t k, uint64_t n)
{
    uint64_t kind = k / rounds_of_policy(row);
    x->c[0] = case_of(shape_for(row, n), row, op, hd_policy_rows[kind / 2].name, kind % 2, n + 1);
    x->c[0].raw_ppm = n % 5 == 3 ? 1000000 : 0;
    if (!has_warps(row) && hd_op_is_keyed(hd_op_row_of((hd_op)op))) x->schedules = 250;
}

static void agrees(void **state)
{
    const char *variant = VARIANT_OF(state);
    uint32_t from = 0, to;
    totals t = { 0 };
    while (strcmp(hkv_row_name(from), variant) != 0) from++;
    for (to = from; to < hkv_row_count() && strcmp(hkv_row_name(to), variant) == 0;) to++;
    conform_rows(from, to, &t);
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
    totals t = { 0 };
    uint64_t n = 0;
    hd_rng g = hd_rng_from(31);
    char text[HD_EXPRESSIONS_TEXT];
    for (uint32_t row = 0; row < hkv_row_count(); row++) {
        bool scores = hkv_row(row)->family == HKV_UPDATE || hkv_row(row)->family == HKV_UPSERT, warps = has_warps(row);
        if (!scores || strcmp(hkv_row_name(row), variant) != 0) continue;
        uint64_t each = test_quarter(warps ? 4 * EXPRESSIONS : 8 * EXPRESSIONS);
        for (int op = 0; op < HD_OP_COUNT_; op++) {
            if (hkv_family_of((uint32_t)op) != hkv_row(row)->family) continue;
            for (uint64_t k = 0; k < 2 * each; k++, n++) {
                const char *policy = expression_at(n, &g, text);
                hd_case c = case_of(shape_for(row, n), row, op, policy, k / each, n + 1);
                scene x = scene_begin(n, hkv_row(row)->lanes, warps ? 5 : 100);
                c.raw_ppm = n % 7 == 3 ? 1000000 : 0;
                scene_part_of(&x, row, n, &c);
                scene_run(&x, &t);
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
    char shape[128];
    totals t = { 0 };
    snprintf(shape, sizeof shape, "buckets=2 slots=%u batch=16x1 keys=uniform:20000 value=8 pins=2", HD_SLOTS_MAX);
    for (uint32_t row = 0; row < hkv_row_count(); row++) {
        if (strcmp(hkv_row_name(row), variant) != 0 || !fits(row, HD_SLOTS_MAX, HD_LAYOUT_PAIRS)) continue;
        int op = HD_OP_INSERT_AND_EVICT;
        if (hkv_row(row)->family != HKV_UPSERT)
            for (op = 0; hkv_family_of((uint32_t)op) != hkv_row(row)->family;) op++;
        for (uint32_t dual = 0; dual < 2; dual++) {
            hd_case c = case_of(shape, row, op, hd_policy_rows[row % HD_POLICY_COUNT].name, dual, 2 * row + dual + 1);
            scene x = scene_begin(4 * row + 1, 32, 1); /* by warp: a lane goes over all slots */
            x.way.preempt = SIMT_AT_SYNC;
            x.way.step_limit = 1ull << 30;
            scene_part(&x, row, 64, 1, &c);
            scene_run(&x, &t);
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
    totals t = { 0 };
    if (row == hkv_row_count()) test_skip("it does not insert");
    for (uint32_t i = 0; i < CONFORM_COUNT(crowds); i++)
        for (uint32_t k = 0; k < 2; k++) {
            hd_case c = conform_case(k ? HD_OP_FIND_OR_INSERT : HD_OP_INSERT_OR_ASSIGN, variant, seed[i] + k,
                                     "buckets=1 slots=16 value=8 pins=0 %s", crowds[i]);
            scene x = scene_begin(4 * i + 2 * k, 32, test_quarter(24));
            x.way.unit = SIMT_BY_LANE;
            x.way.weak = i == 1 && k;
            x.way.preempt = SIMT_AT_ALL;
            x.watch = x.way.weak ? 3 : 1;
            scene_part(&x, row, 32, 3, &c);
            scene_run(&x, &t);
        }
    test_tried("schedules", t.schedules, "of a crowd at one bucket, %s, %llu distinct", variant, t.distinct);
}

/* ---- All scores are the highest, and some entries are pinned -------------------------------------- */

/* No score tells a victim from a pinned entry. Of two full buckets the first gives up an entry (D2). */
static void highest(void **state)
{
    const char *variant = VARIANT_OF(state), *shape = "buckets=3 slots=16 batch=8x1 keys=uniform:400 value=8 pins=2";
    uint32_t row = hkv_row_of(variant, HKV_UPSERT);
    totals t = { 0 };
    if (row == hkv_row_count()) test_skip("it does not insert");
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        if (hkv_family_of((hd_op)op) != HKV_UPSERT) continue;
        for (uint64_t seed = 1; seed <= test_quarter(48); seed++) {
            hd_case c = case_of(shape, row, op, "expr:on_insert=MAX", seed % 4 != 0, seed);
            scene x = scene_begin(seed, hkv_row(row)->lanes, 2);
            scene_part(&x, row, 32, 2, &c);
            scene_run(&x, &t);
        }
    }
    test_tried("schedules", t.schedules, "of the highest scores, %s, %llu fixtures", variant, t.fixtures);
}

/* ---- Lower scores under raised bounds ------------------------------------------------------------- */

/* Every item gives the least score. */
static void give_least(fixture *s, const void *unused)
{
    hd_batch *b = &s->part[0].batch;
    (void)unused;
    for (uint64_t i = 0; b->key && i < b->n; i++) fixture_item(s, 0, i, b->key[i], 0);
}

/* Evictions, hits, erasures and moves between tiers that leave a lower score in a slot (HKV-8). */
static void lowered(void **state)
{
    const char *variant = VARIANT_OF(state);
    totals t = { 0 };
    for (uint32_t row = 0; row < hkv_row_count(); row++)
        for (int op = 0; op < HD_OP_COUNT_ && strcmp(hkv_row_name(row), variant) == 0; op++) {
            if (judge_ops[op].reads || !fixture_runs(conform_this.judge, row, (hd_op)op)) continue;
            for (uint64_t seed = 1; seed <= test_quarter(48); seed++) {
                hd_case c = conform_case(op, variant, seed,
                                         "buckets=2 slots=16 batch=12x1 keys=uniform:24 value=8 near=130 admit=always "
                                         "pins=2 policy=custom layout=pairs");
                scene x = scene_begin(seed, hkv_row(row)->lanes, 2);
                x.lay = give_least;
                scene_part(&x, row, 32, 2, &c);
                scene_run(&x, &t);
            }
        }
    if (t.fixtures == 0) test_skip("it changes nothing");
    test_tried("schedules", t.schedules, "of lower scores, %s, %llu fixtures", variant, t.fixtures);
}

/* ---- Two operations at once ------------------------------------------------------------------ */

static void test_pairs(void **unused)
{
    totals t = { 0 };
    uint64_t n = 0;
    (void)unused;
    for (int p = 0; p < HD_OP_COUNT_; p++)
        for (int q = 0; q < HD_OP_COUNT_; q++) {
            hd_role role = hd_op_row_of((hd_op)p)->role;
            if (role == HD_INSERTER || role != hd_op_row_of((hd_op)q)->role) continue;
            if (hd_op_does((hd_op)p, HD_ORDERED) || hd_op_does((hd_op)q, HD_ORDERED)) continue;
            for (uint64_t k = 0; k < test_quarter(3); k++, n++) {
                const char *shape = wide_shapes[n % WIDE_SHAPES], *policy = hd_policy_rows[n % HD_POLICY_COUNT].name;
                scene x = scene_begin(n, 32, 6);
                for (int i = 0; i < 2; i++) {
                    uint32_t row = row_for(i ? q : p, i ? n / 3 : n);
                    hd_case c = case_of(shape, row, i ? q : p, policy, n % 2, n + 1);
                    scene_part(&x, row, 32, 2, &c);
                }
                scene_run(&x, &t);
            }
        }
    test_tried("schedules", t.schedules, "of %llu pairs of operations, %llu distinct", t.fixtures, t.distinct);
}

static const char *const few[] = {
    "buckets=2 slots=16 batch=16x1 keys=uniform:8 value=16 duplicate=100000 pins=0",
    "buckets=2 slots=16 batch=16x1 keys=uniform:4 value=0 duplicate=100000 pins=0",
    "buckets=2 slots=16 batch=16x1 keys=uniform:16 value=0 distinct=1 pins=0",
};

/* Update p of coalesced beside update q, in way n. */
static void update_beside_update(int p, int q, uint64_t n, int policy, totals *t)
{
    uint64_t turn = n + n / 16; /* another one for the same operations under the next policy */
    uint32_t row = hkv_row_of("coalesced", HKV_UPDATE), other = turn % 4 == 2 ? row_for(q, turn / 4) : row;
    const char *shape = few[turn / 4 % 3], *name = hd_policy_rows[policy].name;
    hd_case c[] = { case_of(shape, row, p, name, turn / 8 % 2, n + 1),
                    case_of(shape, other, q, name, turn / 8 % 2, n + 1) };
    scene x = scene_begin(turn, 32, 40);
    x.way.strategy = SIMT_RANDOM;
    x.way.preempt = SIMT_AT_ALL; /* between any two stores */
    x.way.weak = turn % 4 >= 2;
    x.watch = x.way.weak ? 3 : 1;
    scene_part(&x, row, 32, 2, &c[0]);
    scene_part(&x, other, 32, 2, &c[1]);
    scene_run(&x, t);
}

/* Updates of coalesced beside updates of every variant, under every policy, in both layouts. Some own the entry, some
 * of coalesced store only its score, and an assign of coalesced replaces it without reading it. So a store of one may
 * come between any two stores of the other. Without values both batches store at about the same time. */
static void test_updates_beside_updates(void **unused)
{
    totals t = { 0 };
    uint64_t n = 0;
    (void)unused;
    for (int policy = 0; policy < HD_POLICY_COUNT; policy++) /* one policy more does not change the cases of others */
        for (int p = 0; p < HD_OP_COUNT_; p++)
            for (int q = 0; q < HD_OP_COUNT_; q++) {
                if (hkv_family_of((hd_op)p) != HKV_UPDATE || hkv_family_of((hd_op)q) != HKV_UPDATE) continue;
                for (uint64_t i = 0; i < test_quarter(4); i++) update_beside_update(p, q, n++, policy, &t);
            }
    test_tried("schedules", t.schedules, "of %llu updates beside updates, %llu distinct", t.fixtures, t.distinct);
}

/* Items of one key that give 2^22 and more run by themselves, if the policy reads what they give. If it does not, no
 * item may be left for that: it would have no outcome. */
static void test_scores_at_edges(void **unused)
{
    const char *shape = "buckets=2 slots=16 batch=16x1 keys=uniform:3 value=8 extreme=1000000 pins=0";
    uint32_t row = hkv_row_of("coalesced", HKV_UPDATE);
    totals t = { 0 };
    (void)unused;
    for (int policy = 0; policy < HD_POLICY_COUNT; policy++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            hd_case c = case_of(shape, row, HD_OP_TOUCH, hd_policy_rows[policy].name, false, seed);
            scene x = scene_begin(seed, 32, test_times(5));
            scene_part(&x, row, 32, 2, &c);
            scene_run(&x, &t);
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

/* Both items of the batch in one bucket, or each in one of the two. */
typedef struct meeting {
    int kind[2];
    bool apart;
} meeting;

static void lay(fixture *s, const void *context)
{
    const meeting *x = (const meeting *)context;
    int p = x->kind[0], q = x->kind[1];
    fixture_item(s, 0, 0, key_of_kind(s, p, 0), p == ABSENT_LOW ? 0 : 9);
    fixture_item(s, 0, 1, key_of_kind(s, q, x->apart), q == ABSENT_LOW ? 0 : 9);
}

/* An operation, and the kernel of single lanes that runs it. */
static const struct {
    hd_op op;
    void (*lanes)(const void *);
} small_ops[] = {
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

/* Operation i of small_ops by two warps, or by two lanes: every interleaving of them. */
static void exhaust(size_t i, bool warps, uint64_t shape, const meeting *x, totals *t)
{
    uint32_t row = warps ? hkv_row_of("warp", hkv_family_of(small_ops[i].op)) : 0;
    hd_case c = conform_case(small_ops[i].op, warps ? "warp" : "lanes", 11 + i,
                             "buckets=2 slots=%d batch=2x1 keys=uniform:9 value=8 pins=2 policy=custom dual=%llu "
                             "layout=%s",
                             shape % 2 ? 4 : 2, (ull)shape / 2, (11 + i) / 3 % 2 ? "pairs" : "planes");
    scene of = scene_search(2, 2000000);
    of.way.preempt = SIMT_AT_SYNC;
    of.way.unit = warps ? SIMT_BY_WARP : SIMT_BY_LANE;
    of.lay = lay;
    of.context = x;
    scene_part(&of, row, warps ? 32 : 1, warps ? 2 : 0, &c);
    if (!warps) {
        of.kernel[0].name = "lanes";
        of.kernel[0].strictness = FIXTURE_ORDER;
        of.kernel[0].text = small_ops[i].lanes;
        of.kernel[0].lanes = 1;
    }
    scene_run(&of, t);
}

static void test_exhaustive(void **unused)
{
    enum { MEETINGS = KINDS * KINDS };
    (void)unused;
    for (int warps = 0; warps < 2; warps++) {
        const uint64_t shapes_of = warps ? 1 : 4, all = CONFORM_COUNT(small_ops) * MEETINGS * shapes_of;
        totals t = { 0 };
        uint64_t grid = 0;
        for (uint64_t n = 0; n < all; n++) {
            uint64_t shape = n % shapes_of, i = n / shapes_of / MEETINGS;
            int p = (int)(n / shapes_of / KINDS % KINDS), q = (int)(n / shapes_of % KINDS);
            meeting x = { { p, q }, shape / 2 && p != q };
            if (warps && test_scale() == 1 && (i % 4 || p > q)) continue; /* half a second each */
            if (test_takes(grid++)) exhaust(i, warps, shape, &x, &t);
        }
        test_tried(
            "schedules", t.schedules,
            "all with at most 2 preemptions at synchronising accesses%s, of %llu fixtures of 2 %s, %llu distinct",
            warps ? " and collectives" : "", t.fixtures, warps ? "warps" : "lanes", t.distinct);
    }
}

static int run(void)
{
    static const struct CMUnitTest of_all[] = { unit(test_pairs), unit(test_updates_beside_updates),
                                                unit(test_scores_at_edges), unit(test_exhaustive) };
    static const struct CMUnitTest of_each[] = { unit(agrees),  unit(agrees_by_expressions),
                                                 unit(widest),  unit(crowded),
                                                 unit(highest), unit(lowered) };
    return variants_run(of_each, CONFORM_COUNT(of_each), of_all, CONFORM_COUNT(of_all));
}

const conform_design conform_this = {
    .judge = &judge_design_hkv, .rounds = rounds, .schedules = 5, .whole = 2, .set = set, .way = way, .run = run
};
