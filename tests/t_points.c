/* SPDX-License-Identifier: Apache-2.0
 *
 * t_points.c - points (bench/device): the drawn keys are as requested, a value shows whether it is right, floors and
 * goals are consistent, every operation is proved and timed on this machine at every load factor, and a wrong result is
 * not timed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/device/cliffs.h"
#include "bench/device/goals.h"
#include "bench/device/growth.h"
#include "bench/device/roofline.h"
#include "bench/device/point.h"
#include "lib/table.h"
#include "ref/hive/hive.h"
#include "ref/ovs/ovs.h"
#include "ref/sl/sl.h"
#include "ref/hkv/hkv.h"
#include "tests/testing.h"

/* ---- Drawings -------------------------------------------------------------------------------- */

static void an_order_has_everyone_once(void)
{
    static const uint64_t sizes[] = { 1, 2, 3, 5, 17, 64, 1000, 65537 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint64_t n = sizes[k], in_place = 0;
        bench_order o = bench_order_of(n, k);
        uint8_t *seen = (uint8_t *)test_alloc(n, 1);
        test_case("an order of %llu", (ull)n);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = bench_ordered(&o, i);
            check(at < n, "%llu became %llu", (ull)i, (ull)at);
            check(!seen[at]++, "%llu came twice", (ull)at);
            in_place += at == i;
        }
        check(n < 64 || in_place < n / 8, "%llu are where they were", (ull)in_place);
        free(seen);
    }
}

static int by_size(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* Sorts key[], and says how many of it are among the first `presents` numbers. */
static uint64_t hits_among(uint64_t *key, uint64_t n, uint64_t presents)
{
    uint64_t hits = 0;
    qsort(key, n, sizeof *key, by_size);
    for (uint64_t i = 0; i < presents; i++) {
        uint64_t wanted = hd_scramble(i);
        hits += bsearch(&wanted, key, n, sizeof *key, by_size) != NULL;
    }
    return hits;
}

enum { PRESENT = 5000, BATCH = 1000 };

static void list_of_numbers(uint64_t *present)
{
    for (uint64_t i = 0; i < PRESENT; i++) present[i] = hd_scramble(i);
}

static void a_drawing_is_what_it_says(void)
{
    static uint64_t present[PRESENT], key[4 * BATCH];
    bench_fixture s = { .present = present, .presents = PRESENT, .fresh = PRESENT };
    static const uint64_t hits[] = { 0, 1, 600, 999, 1000 };
    list_of_numbers(present);
    for (size_t k = 0; k < sizeof hits / sizeof *hits; k++) {
        test_case("%llu hits of %d", (ull)hits[k], BATCH);
        for (int batch = 0; batch < 4; batch++) {
            uint64_t fresh = s.fresh;
            bench_draw d = bench_fixture_draw(&s, BATCH, hits[k], 0);
            must(bench_here.keys(&d, key + batch * BATCH));
            check(s.fresh - fresh == BATCH - hits[k], "%llu numbers were used", (ull)(s.fresh - fresh));
        }
        for (int i = 0; i < 4 * BATCH; i++) check(key[i] < HD_KEY_RESERVED, "key %llx", (ull)key[i]);
        uint64_t found = hits_among(key, 4 * BATCH, PRESENT);
        check(found == 4 * hits[k], "%llu different keys of the list", (ull)found);
        for (int i = 1; i < 4 * BATCH; i++) check(key[i] != key[i - 1], "a key came twice");
    }
}

static void a_skewed_drawing_favours_few(void)
{
    static uint64_t present[PRESENT], key[64 * BATCH];
    enum { N = 64 * BATCH };
    bench_fixture s = { .present = present, .presents = PRESENT, .fresh = PRESENT };
    list_of_numbers(present);
    bench_draw d = bench_fixture_draw(&s, N, N / 4 * 3, 0.99);
    uint64_t of_list = 0, run = 1, longest = 1;
    must(bench_here.keys(&d, key));
    qsort(key, N, sizeof *key, by_size);
    qsort(present, PRESENT, sizeof *present, by_size);
    for (int i = 0; i < N; i++) of_list += bsearch(&key[i], present, PRESENT, sizeof *present, by_size) != NULL;
    for (int i = 1; i < N; i++) {
        run = key[i] == key[i - 1] ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }
    /* of 5,000 ranks the first has about a ninth of all */
    check(of_list * 100 > N * 74 && of_list * 100 < N * 76, "%llu of %d are of the list", (ull)of_list, N);
    check(longest > N / 16 && longest < N / 8, "the most frequent key came %llu times of %d", (ull)longest, N);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void a_value_tells_whether_it_is_right(void)
{
    enum { WORDS = 8 };
    uint32_t value[WORDS], later[WORDS];
    bench_value(77, 1, WORDS, value);
    bench_value(77, 2, WORDS, later);
    check(bench_value_of(77, 1, WORDS, value) == BENCH_RIGHT, "its own");
    check(bench_value_of(77, BENCH_ANY, WORDS, value) == BENCH_RIGHT, "of any generation");
    check(bench_value_of(77, 2, WORDS, value) == BENCH_WRONG, "of another generation");
    check(bench_value_of(78, BENCH_ANY, WORDS, value) == BENCH_WRONG, "another key's");
    for (int w = 0; w < WORDS; w++) {
        uint32_t torn[WORDS];
        memcpy(torn, value, sizeof torn);
        torn[w] = later[w];
        check(bench_value_of(77, BENCH_ANY, WORDS, torn) == BENCH_WRONG, "word %d is a later one's", w);
    }
    memset(value, 0, sizeof value);
    check(bench_value_of(77, BENCH_ANY, WORDS, value) == BENCH_ZERO, "zero");
}

static bench_shape shape_of(const char *design, uint64_t capacity, uint32_t slots, uint32_t words)
{
    bench_shape shape = bench_shape_of(design, "ref");
    shape.table.capacity = capacity;
    shape.table.slots = slots;
    shape.words = words;
    return shape;
}

/* ---- Floors and goals ------------------------------------------------------------------------ */

static double floor_in(const bench_shape *shape, hd_op op, double hits, double load)
{
    bench_limits one;
    /* a place costs 1, a line that streams too */
    for (int i = 0; i < BENCH_LIMIT_COUNT; i++) one.per_s[i] = bench_limit_rows[i].in_bytes ? 128 : 1;
    bench_places p = bench_places_of(shape, op, hits, load);
    return bench_floor_s(&p, shape->words * 4, &one);
}

static double floor_of(hd_op op, double hits, double load, uint32_t words, bool dual, hd_layout layout)
{
    bench_shape shape = shape_of("hkv", 0, 128, words);
    shape.table.layout = layout;
    shape.table.hkv.dual = dual;
    return floor_in(&shape, op, hits, load);
}

static void floors_make_sense(void)
{
    const bench_shape other = shape_of("other", 0, 128, 8);
    check(!bench_places_of(&other, HD_OP_FIND, 1, 0.5).known, "places of a design that counts none are known");
    check(floor_in(&other, HD_OP_FIND, 1, 0.5) == 0, "a design that counts no places has a roofline");
    for (int i = 0; i < bench_goals_hkv.rows; i++) {
        hd_op op = bench_goals_hkv.row[i].op;
        test_case("%s", hd_op_name(op));
        double at_half = floor_of(op, 0.6, 0.5, 8, false, HD_LAYOUT_PAIRS),
               full = floor_of(op, 0.6, 1, 8, false, HD_LAYOUT_PAIRS);
        double found = floor_of(op, 1, 0.5, 8, false, HD_LAYOUT_PAIRS),
               absent = floor_of(op, 0, 0.5, 8, false, HD_LAYOUT_PAIRS);
        check(at_half > 0, "%g", at_half);
        check(full > at_half, "full %g, half full %g", full, at_half);
        if (op == HD_OP_EXPORT) continue;
        check(at_half > 0.599 * found + 0.399 * absent && at_half < 0.601 * found + 0.401 * absent,
              "a mix is %g of %g and %g", at_half, found, absent);
        check(floor_of(op, 0.6, 0.5, 8, true, HD_LAYOUT_PAIRS) > at_half, "two buckets");
        check(floor_of(op, 0.6, 0.5, 64, false, HD_LAYOUT_PAIRS) >= at_half, "larger values");
    }
    double find = floor_of(HD_OP_FIND, 1, 0.5, 8, false, HD_LAYOUT_PAIRS),
           pointer = floor_of(HD_OP_FIND_PTR, 1, 0.5, 8, false, HD_LAYOUT_PAIRS);
    check(find > pointer + 1, "find %g copies a value that find_ptr %g does not", find, pointer);
    double pairs = floor_of(HD_OP_INSERT_OR_ASSIGN, 0, 1, 8, false, HD_LAYOUT_PAIRS),
           planes = floor_of(HD_OP_INSERT_OR_ASSIGN, 0, 1, 8, false, HD_LAYOUT_PLANES);
    check(pairs + 6 < planes,
          "an eviction reads 2 lines of bounds and scores in pairs (%g), and 8 of scores in planes (%g)", pairs,
          planes);
}

/* Of 16 slots a bucket is a line, whose price is 1 here, and of 32 two; what changes is one place, which is read with
 * it. */
static void floors_of_words_make_sense(void)
{
    bench_shape shape = shape_of("hive", 0, 16, 1);
    const double key = 8.0 / 128, value = 4.0 / 128, fate = 1.0 / 128, tiny = 1e-9;
    check(fabs(floor_in(&shape, HD_OP_FIND, 1, 0.9) - (1 + key + value + fate)) < tiny, "a hit: %g",
          floor_in(&shape, HD_OP_FIND, 1, 0.9));
    check(fabs(floor_in(&shape, HD_OP_FIND, 0, 0.9) - (1 + key + fate)) < tiny, "a miss: %g",
          floor_in(&shape, HD_OP_FIND, 0, 0.9));
    check(fabs(floor_in(&shape, HD_OP_INSERT_OR_ASSIGN, 0, 0.9) - (1 + key + value)) < tiny, "a new key: %g",
          floor_in(&shape, HD_OP_INSERT_OR_ASSIGN, 0, 0.9));
    check(fabs(floor_in(&shape, HD_OP_ERASE, 1, 0.9) - (1 + key)) < tiny, "a key that goes: %g",
          floor_in(&shape, HD_OP_ERASE, 1, 0.9));
    double mixed = floor_in(&shape, BENCH_MIXED, 0.5, 0.9), of_all = 1 + key + 0.5 * value + 0.15 * value + 2 * fate;
    check(fabs(mixed - of_all) < tiny, "a mixed batch: %g, not %g", mixed, of_all);
    double words = floor_in(&shape, HD_OP_INSERT_OR_ASSIGN, 0, 0.9), small = floor_in(&shape, HD_OP_FIND, 1, 0.9);
    shape.table.layout = HD_LAYOUT_MASKS;
    check(floor_in(&shape, HD_OP_INSERT_OR_ASSIGN, 0, 0.9) > words + 0.9, "a mask is another place");
    check(fabs(floor_in(&shape, HD_OP_ASSIGN, 1, 0.9) - words) < tiny, "which a new value leaves alone");
    shape.table.slots = 64;
    check(floor_in(&shape, HD_OP_FIND, 1, 0.9) > small + 0.9, "a bucket of four lines costs more than one");
}

/* What a design runs, and no more, is in its table; figures are found by the shape that they were set for. */
static void every_operation_has_a_row(void)
{
    static const struct {
        const bench_goals *goals;
        const char *(*unsupported)(hd_op);
        bool mixes;
    } tables[] = { { &bench_goals_hkv, NULL, false },
                   { &bench_goals_hive, hive_unsupported, true },
                   { &bench_goals_ovs, ovs_unsupported, true },
                   { &bench_goals_sl, sl_unsupported, false } };
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        const bench_goals *g = tables[k].goals;
        int with = 0;
        check(goals_of(g->design) == g, "%s", g->design);
        for (int op = 0; op < BENCH_OPS; op++) {
            int i = 0;
            while (i < g->rows && g->row[i].op != (hd_op)op) i++;
            bool runs = op == BENCH_MIXED       ? tables[k].mixes
                        : tables[k].unsupported ? !tables[k].unsupported((hd_op)op)
                                                : !hd_op_does((hd_op)op, HD_ORDERED);
            check((i < g->rows) == (bench_buffers_row_of((hd_op)op) != NULL && runs),
                  "%s: a row without a measure, or the reverse", bench_buffers_name((hd_op)op));
        }
        for (int i = 0; i < g->rows; i++)
            for (int d = 0; d < goals_dims(g); d++)
                for (int l = 0; l < goals_loads(g); l++) {
                    const bench_goal *row = &g->row[i];
                    bench_shape shape = shape_of(g->design, goal_capacity(g, g->dim[d], g->load[l]), 128, g->dim[d]);
                    shape.table.hkv.dual = row->dual;
                    bench_point point = { .op = row->op,
                                          .hits = row->hits,
                                          .load = g->load[l],
                                          .n = row->n ? row->n : g->n,
                                          .bulk = g->bulk && !row->n };
                    bench_peers p = goal_of("NVIDIA H200", &shape, &point);
                    test_case("%s, %s, hits %g, dim %u, load %g", g->design, bench_buffers_name(row->op), row->hits,
                              (unsigned)g->dim[d], g->load[l]);
                    check(p.goal == row->goal[d][l] && p.peer == row->peer[d][l], "found were %g and %g", p.goal,
                          p.peer);
                    check(p.goal == 0 || p.goal > p.peer, "a goal of %g, %g is there", p.goal, p.peer);
                    check(goal_of("NVIDIA A100", &shape, &point).peer == 0, "another device");
                    point.n /= 2;
                    check(goal_of("NVIDIA H200", &shape, &point).peer == 0, "other calls");
                    point.n *= 2, shape.table.capacity /= 2;
                    check(goal_of("NVIDIA H200", &shape, &point).peer == 0, "another capacity");
                    shape.table.capacity *= 2, shape.table.design = "no design";
                    check(goal_of("NVIDIA H200", &shape, &point).peer == 0, "another design");
                    with += p.goal > 0 || p.peer > 0;
                }
        check(with > 0, "no figure was found");
    }
}

/* ---- Points ---------------------------------------------------------------------------------- */

static const bench_effort effort = { 2, 3, true, true, false, 0, 1 << 24 };

static void measure(bench_fixture *s, const bench_point *p, bench_measure *m)
{
    bench_buffers t = { 0 };
    must(point_measure(p, &effort, s, &t, m));
    bench_buffers_drop(&t, s->device);
}

static void every_point_is_proved_and_timed(void)
{
    enum { CAPACITY = 1 << 12 };
    static const double shares[] = { 0, 0.6, 1 };
    uint64_t round = 0;
    for (int shape = 0; shape < 4; shape++) {
        bench_fixture s;
        bench_shape of = shape_of("hkv", CAPACITY, 128, 3);
        of.table.layout = shape & 1 ? HD_LAYOUT_PAIRS : HD_LAYOUT_PLANES;
        of.table.hkv.dual = shape & 2;
        of.table.hkv.tiers = shape & 2 ? HD_TIERS_POSITION : HD_TIERS_BUCKET;
        of.near = shape ? 0.3 : 0;
        must(bench_fixture_open(&s, &bench_here, &of));
        for (int l = 0; l < goals_loads(&bench_goals_hkv); l++)
            for (int op = 0; op < HD_OP_COUNT_; op++)
                for (int skewed = 0; skewed < (op == HD_OP_EXPORT ? 1 : 2) && bench_buffers_row_of((hd_op)op) &&
                                     !hd_op_does((hd_op)op, HD_ORDERED);
                     skewed++)
                    for (int h = 0; h < 3; h++) {
                        bench_point p = { .op = (hd_op)op,
                                          .hits = shares[h],
                                          .load = bench_goals_hkv.load[l],
                                          .n = 50,
                                          .zipf = skewed ? 0.99 : 0 };
                        bench_measure m;
                        if ((p.op == HD_OP_ERASE && h == 0) || !test_takes(round++)) continue;
                        test_case("%s, hits %g, load %g, %s, shape %d", hd_op_name(p.op), p.hits, p.load,
                                  skewed ? "skewed" : "distinct", shape);
                        measure(&s, &p, &m);
                        check(*m.wrong == 0, "%s", m.wrong);
                        check(m.times == effort.repeat && m.queue_s[0] > 0 && m.queue_s[1] > 0 && m.wall_s > 0,
                              "%zu times", m.times);
                        check(m.calls * m.parts >= effort.calls, "%llu calls", (ull)(m.calls * m.parts));
                        double level = p.load - m.load; /* a queue begins on the side that it leaves */
                        check(level < 0.02 && level > -0.02, "it began at %g", m.load);
                        if (!skewed && p.op != HD_OP_EXPORT)
                            check(m.hits > p.hits - 0.011 && m.hits < p.hits + 0.011, "%g were found", m.hits);
                    }
        bench_fixture_close(&s);
    }
}

/* A design that evicts nothing: the load factor is as requested, before or after, and no item is PENDING. */
static void points_that_evict_nobody(void)
{
    enum { CAPACITY = 1 << 12, SHAPES_OF_HIVE = 4 };
    static const char *const others[] = { "ovs", "sl" };
    uint64_t round = 0;
    for (int shape = 0; shape < SHAPES_OF_HIVE + 2; shape++)
        for (int bulk = 0; bulk < 2; bulk++) {
            bench_fixture s;
            bool hive = shape < SHAPES_OF_HIVE;
            bench_shape of = shape_of(hive ? "hive" : others[shape - SHAPES_OF_HIVE], CAPACITY, shape & 2 ? 32 : 16, 1);
            if (hive) of.table.layout = shape & 1 ? HD_LAYOUT_MASKS : HD_LAYOUT_WORDS;
            if (hive) of.table.hive.hashes = shape & 2 ? 3 : 2;
            if (!hive) of.table.slots = 16;
            must(bench_fixture_open(&s, &bench_here, &of));
            const bench_goals *g = goals_of(of.table.design);
            for (int i = 0; i < g->rows; i++)
                for (int l = 0; l < goals_loads(g); l++) {
                    const bench_goal *row = &g->row[i];
                    double load = g->load[l], at = 0;
                    bench_point p = { .op = row->op,
                                      .hits = row->hits,
                                      .load = load,
                                      .n = bulk ? (uint64_t)(load * (double)s.info.capacity) : 64,
                                      .bulk = bulk };
                    bench_measure m;
                    if (!test_takes(round++)) continue;
                    test_case("%s, hits %g, load %g, %s, shape %d", bench_buffers_name(p.op), p.hits, load,
                              bulk ? "bulk" : "queue", shape);
                    measure(&s, &p, &m);
                    check(*m.wrong == 0, "%s", m.wrong);
                    check(m.times == effort.repeat && m.queue_s[0] > 0 && (m.wall_s > 0) == !bulk, "%zu times",
                          m.times);
                    check(m.fate[HD_PENDING] == 0, "%llu are pending", (ull)m.fate[HD_PENDING]);
                    at = load;
                    if (bulk && bench_buffers_inserts(p.op)) at = load * p.hits;
                    if (bulk && p.op == BENCH_MIXED) at = load * 0.6; /* half of so many come, a tenth goes */
                    check(fabs(m.load - at) < (bulk ? 0.005 : 0.03), "it began at %g, not %g", m.load, at);
                    if (p.op == BENCH_MIXED) check(fabs(m.hits - 0.25) < 0.011, "%g found their keys", m.hits);
                }
            bench_fixture_close(&s);
        }
}

/* A table with too little room: PENDING items are counted, and the point is timed all the same. */
static void the_pending_are_counted(void)
{
    bench_fixture s;
    bench_measure m;
    bench_point p = { .op = HD_OP_INSERT_OR_ASSIGN, .load = 1, .n = 1 << 10, .bulk = true };
    bench_shape of = shape_of("hive", 1 << 10, 8, 1);
    must(bench_fixture_open(&s, &bench_here, &of));
    p.n = s.info.places + 32;
    measure(&s, &p, &m);
    uint64_t rounds = effort.repeat + 1;
    check(*m.wrong == 0, "%s", m.wrong);
    check(m.fate[HD_PENDING] >= 32 * rounds && m.fate[HD_INSERTED] + m.fate[HD_PENDING] == p.n * rounds,
          "%llu came, %llu are pending", (ull)m.fate[HD_INSERTED], (ull)m.fate[HD_PENDING]);
    bench_fixture_close(&s);
}

static void a_mixed_batch_is_what_it_says(void)
{
    enum { N = 1000, HITS = 250 };
    static uint64_t present[PRESENT], key[N];
    static uint8_t each[N];
    uint64_t count[HD_OP_COUNT_] = { 0 }, fates[HD_OUTCOME_COUNT] = { 0 };
    bench_fixture s = { .present = present, .presents = PRESENT, .fresh = PRESENT };
    list_of_numbers(present);
    bench_draw d = bench_fixture_draw(&s, N, HITS, 0);
    bench_mix m = bench_mix_of(&d);
    must(bench_here.keys(&d, key));
    must(bench_here.ops(&m, each));
    qsort(present, PRESENT, sizeof *present, by_size);
    for (uint64_t i = 0; i < N; i++) {
        uint8_t fate;
        bool there = bsearch(&key[i], present, PRESENT, sizeof *present, by_size) != NULL;
        check(bench_mixed_op(&m, i, &fate) == each[i], "item %llu", (ull)i);
        check(there == (fate == HD_HIT || fate == HD_ERASED), "item %llu becomes %s, its key is %s", (ull)i,
              hd_outcome_name((hd_outcome)fate), there ? "there" : "new");
        count[each[i]]++;
        fates[fate]++;
    }
    check(count[HD_OP_INSERT_OR_ASSIGN] == 500 && count[HD_OP_FIND] == 300 && count[HD_OP_ERASE] == 200,
          "%llu insert, %llu look", (ull)count[HD_OP_INSERT_OR_ASSIGN], (ull)count[HD_OP_FIND]);
    check(fates[HD_HIT] == 150 && fates[HD_ERASED] == 100 && fates[HD_INSERTED] == 500, "%llu hit, %llu go",
          (ull)fates[HD_HIT], (ull)fates[HD_ERASED]);
}

/* Where a design holds few keys, none comes twice until half of them were there; then the table is emptied, and they
 * come again. */
static void few_keys_come_again(void)
{
    enum { CAPACITY = 1 << 10, N = 256 };
    uint64_t key[N], size;
    bench_fixture s;
    bench_shape of = bench_shape_of("hive", "ref");
    of.table.capacity = CAPACITY;
    of.words = 1;
    must(bench_fixture_open(&s, &bench_here, &of));
    check(s.shape.table.slots == 16 && s.info.keys < 1ull << 32, "%u slots, %llu keys", s.shape.table.slots,
          (ull)s.info.keys);
    bench_draw d = bench_fixture_draw(&s, N, 0, 0);
    for (uint64_t i = 0; i < N; i++) {
        key[i] = bench_key(&d, i);
        check(key[i] < s.info.keys, "key %llu", (ull)key[i]);
        for (uint64_t k = 0; k < i; k++) check(key[k] != key[i], "items %llu and %llu are one key", (ull)k, (ull)i);
    }
    must(bench_fixture_level(&s, CAPACITY / 2));
    s.fresh = s.info.keys / 2 + 1;
    must(bench_fixture_level(&s, CAPACITY / 4));
    must(bench_fixture_size(&s, &size));
    check(size >= CAPACITY / 4 - 1 && size <= CAPACITY / 4 && s.fresh == size, "%llu entries, key number %llu is next",
          (ull)size, (ull)s.fresh);
    bench_fixture_close(&s);
}

/* Before a skewed point is timed on in-bucket tiers, what will be wanted most is near. */
static void the_wanted_are_near(void **state)
{
    (void)state;
    enum { CAPACITY = 1 << 12, ASKED = 2000 };
    bench_fixture s;
    bench_measure m;
    bench_point p = { .op = HD_OP_FIND, .hits = 1, .load = 1, .n = 50, .zipf = 0.99 };
    uint64_t moved = 1, near = 0, key[ASKED];
    void *ptr[ASKED];
    bench_shape of = shape_of("hkv", CAPACITY, 128, 3);
    of.table.layout = HD_LAYOUT_PAIRS;
    of.near = 0.1;
    must(bench_fixture_open(&s, &bench_here, &of));
    measure(&s, &p, &m);
    check(*m.wrong == 0, "%s", m.wrong);
    must(hd_run(s.table, &(hd_batch){ .op = HD_OP_PROMOTE, .n = CAPACITY, .count = &moved }));
    check(moved == 0, "%llu were still to come near", (ull)moved);
    bench_draw d = bench_fixture_draw(&s, ASKED, ASKED, p.zipf);
    must(bench_here.keys(&d, key));
    must(hd_run(s.table, &(hd_batch){ .op = HD_OP_FIND_PTR, .n = ASKED, .key = key, .ptr = ptr }));
    const hkv_view *v = hkv_view_of(s.table->state);
    for (int i = 0; i < ASKED; i++)
        near += (uint8_t *)ptr[i] >= v->value && (uint8_t *)ptr[i] < v->value + s.info.values_device_bytes;
    test_note("%.3f of skewed lookups are near, with a share of 0.1", (double)near / ASKED);
    check(near > ASKED / 2, "%llu of %d", (ull)near, ASKED);
    bench_fixture_close(&s);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* A table that grows under its batches ends with all of them, as one does that had the room. */
static void what_grows_is_measured(void)
{
    enum { FROM = 1 << 10, TO = 1 << 13 };
    static const bench_growth_way ways[] = { GROWTH_NONE, GROWTH_CALLER, GROWTH_DOUBLE, GROWTH_CALL };
    bench_growth g = { .shape = shape_of("hive", FROM, 16, 1), .load = 0.8, .to = TO, .n = 300, .invariants = true };
    bench_growth_measure m, down;
    for (int w = 0; w < 4; w++)
        for (int here = 0; here < 2; here++) {
            test_case("way %d, %s", w, here ? "arrays of this machine" : "arrays of the device");
            must(growth_fill(&bench_here, &g, ways[w], here, &m));
            check(*m.wrong == 0, "%s", m.wrong);
            check(m.items == TO - (uint64_t)(0.8 * FROM) && m.seconds > 0, "%llu items", (ull)m.items);
            check((m.resizes == 0) == (ways[w] == GROWTH_NONE) && (m.capacity == m.from) == (ways[w] == GROWTH_NONE),
                  "%llu growths, %llu to %llu slots", (ull)m.resizes, (ull)m.from, (ull)m.capacity);
            check(m.capacity >= TO, "%llu slots", (ull)m.capacity);
        }
    for (uint64_t split = 0; split < 24; split += 23) {
        test_case("%llu buckets are split", (ull)split);
        g.split = split;
        must(growth_resize(&bench_here, &g, &m, &down));
        check(*m.wrong == 0 && *down.wrong == 0, "%s%s", m.wrong, down.wrong);
        check(m.from == FROM && m.capacity == FROM + (split ? split * 16 : FROM), "%llu to %llu slots", (ull)m.from,
              (ull)m.capacity);
        check(m.items == (uint64_t)((double)(uint64_t)(0.8 * FROM) * (split ? (double)split / 64 : 1)),
              "%llu entries took part", (ull)m.items);
        check(down.from == m.capacity && down.capacity == FROM, "%llu to %llu slots", (ull)down.from,
              (ull)down.capacity);
    }
}

/* ---- Cliffs ---------------------------------------------------------------------------------- */

static const cliff_pattern *pattern_named(const char *name)
{
    size_t i = 0;
    while (i < cliff_pattern_count && strcmp(cliff_patterns[i].name, name) != 0) i++;
    check(i < cliff_pattern_count, "there is no pattern %s", name);
    return &cliff_patterns[i];
}

static const cliff_op *cliff_op_of(hd_op op)
{
    size_t i = 0;
    while (i < cliff_op_count && cliff_ops[i].op != op) i++;
    check(i < cliff_op_count, "%s is not among the operations", hd_op_name(op));
    return &cliff_ops[i];
}

/* One cell, on a table of its own. */
static cliff_cell cliff_of(const bench_device *device, const cliff_plan *plan, hd_op op, const char *pattern)
{
    cliff_cell cell;
    bench_fixture s;
    bench_shape shape = cliff_shape("ref");
    test_case("%s, %s", hd_op_name(op), pattern);
    shape.table.capacity = 1 << 12;
    shape.words = 2;
    bench_buffers t = { 0 };
    must(bench_fixture_open(&s, device, &shape));
    must(cliff_measure(plan, cliff_op_of(op), pattern_named(pattern), &s, &t, &cell));
    bench_buffers_drop(&t, s.device);
    bench_fixture_close(&s);
    return cell;
}

static const cliff_plan plan = { 256, 4, 2, 1 << 24, 10, HD_F32 };

static void every_operation_has_its_cliffs(void)
{
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        if (hd_op_does((hd_op)op, HD_ORDERED)) continue;
        const cliff_op *o = cliff_op_of((hd_op)op);
        check(o->why || o->arrays || bench_buffers_any(o->op), "%s has no arrays", hd_op_name(o->op));
    }
    for (size_t i = 0; i < cliff_op_count; i++)
        for (size_t k = 0; k < i; k++)
            check(strcmp(cliff_op_name(&cliff_ops[i]), cliff_op_name(&cliff_ops[k])) != 0, "%s has two rows",
                  cliff_op_name(&cliff_ops[i]));
}

/* Seconds of a call that takes as long as a device says. */
static double took;
static uint64_t timed;
static hd_status slow_end(double *seconds)
{
    timed++;
    *seconds = took;
    return HD_OK;
}

/* A climb begins with a 512th of a batch, but at least one item, and ends where the next call would take too long. */
static void a_climb_keeps_the_limit(void)
{
    bench_device slow = bench_here;
    cliff_plan limited = { 1024, 4, 1, 1 << 24, 1, HD_F32 };
    slow.end = slow_end;
    took = 1e-9;
    cliff_cell cell = cliff_of(&slow, &limited, HD_OP_TOUCH, "hits");
    check(cell.times == 1 && cell.n == 1024 && cell.calls == 4 && !cell.below, "%llu calls of %llu items",
          (ull)cell.calls, (ull)cell.n);
    took = 0.9; /* every call fits, no queue does */
    cell = cliff_of(&slow, &limited, HD_OP_TOUCH, "hits");
    check(cell.times == 1 && cell.n == 2 && cell.below, "%llu items", (ull)cell.n);
    took = 0.01; /* 64 times as many items may take 41 s, 8 times as many 0.64 s, and then as long again: power 1 */
    cell = cliff_of(&slow, &limited, HD_OP_TOUCH, "hits");
    check(cell.times == 1 && cell.n == 1024 && cell.calls == 4, "%llu items", (ull)cell.n);
    took = 0.5; /* 8 times as many items may take 32 s: measured twice, and no more */
    timed = 0;
    cell = cliff_of(&slow, &limited, HD_OP_TOUCH, "one");
    check(cell.n == 2 && cell.below && cell.calls == 1 && timed == 2, "%llu items, %llu calls", (ull)cell.n,
          (ull)timed);
    check(fabs(cell.item_s[0] - 0.25) < 1e-12, "%g s an item", cell.item_s[0]);
}

/* What an item finds at the beginning: of Zipf's law over 4 times the capacity, most are keys of the table. */
static void patterns_are_what_they_say(void)
{
    static const struct {
        const char *name;
        double least, most;
    } shares[] = { { "new", 0, 0 },           { "hits_u", 1, 1 },       { "hits60", 0.59, 0.61 },
                   { "sorted", 0.59, 0.61 },  { "zipf80", 0.65, 0.80 }, { "zipf99", 0.80, 0.90 },
                   { "zipf120", 0.93, 0.99 }, { "hot1000", 1, 1 },      { "one", 1, 1 },
                   { "batch1", 1, 1 },        { "touched", 0, 0 } };
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        cliff_cell cell = cliff_of(&bench_here, &plan, HD_OP_CONTAINS, shares[i].name);
        uint64_t items = cell.n * cell.calls * cell.times;
        double found = (double)cell.outcome[HD_HIT] / (double)items;
        check(!cell.wrong && cell.times == 2, "%s", cell.why);
        check(cell.outcome[HD_HIT] + cell.outcome[HD_MISS] == items, "%llu items", (ull)items);
        check(cell.expected >= shares[i].least && cell.expected <= shares[i].most, "%g", cell.expected);
        check(fabs(found - cell.expected) < 0.05, "%g, not %g", found, cell.expected);
    }
    cliff_cell gone =
        cliff_of(&bench_here, &plan, HD_OP_ERASE, "hits"); /* each key once: calls of all sizes share none */
    check(!gone.wrong && gone.outcome[HD_ERASED] == gone.n * gone.calls * gone.times, "%llu were erased, %s",
          (ull)gone.outcome[HD_ERASED], gone.why);
    cliff_cell once = cliff_of(&bench_here, &plan, HD_OP_INSERT_OR_ASSIGN, "touched");
    check(once.calls == 1 && once.n == plan.batch, "%llu calls right after the touch", (ull)once.calls);
}

/* ---- Lies ------------------------------------------------------------------------------------ */

static bench_device liar;
static hd_table *victim; /* the test removes an entry of it, unknown to the checks */

static hd_status lying_values(const uint64_t *key, uint64_t n, uint32_t words, uint32_t generation, void *value)
{
    hd_status e = bench_here.values(key, n, words, generation, value);
    for (uint64_t i = 0; i < n; i++) ((uint32_t *)value)[i * words + words - 1] ^= 1;
    return e;
}

/* As if another batch had written them. */
static hd_status later_values(const uint64_t *key, uint64_t n, uint32_t words, uint32_t generation, void *value)
{
    return bench_here.values(key, n, words, generation + 1, value);
}

static hd_status lying_keys(const bench_draw *d, uint64_t *key)
{
    hd_status e = bench_here.keys(d, key);
    if (d->hits) key[0] = hd_scramble(1ull << 40), key[1] = hd_scramble((1ull << 40) + 1);
    return e;
}

/* New ones instead of those of the list, and the reverse. */
static hd_status stranger_keys(const bench_draw *d, uint64_t *key)
{
    bench_draw other = *d;
    if (!d->presents) return bench_here.keys(d, key); /* a table that is filled */
    other.hits = d->n - d->hits;
    other.fresh = d->seed | 1ull << 63;
    if (d->skewed) other.law = hd_zipf_of(0, 1ull << 30);
    return bench_here.keys(&other, key);
}

/* An entry that the call made is gone before it is asked for. */
static hd_status forgetful_answers(const bench_answers *a, bench_told *told)
{
    hd_status e = bench_here.answers(a, told);
    uint64_t i = a->n / 2;
    while (a->outcome && i + 1 < a->n && a->outcome[i] != HD_INSERTED && a->outcome[i] != HD_UPDATED) i++;
    uint64_t gone = a->key[i];
    hd_batch b = { .op = HD_OP_ERASE, .n = 1, .key = &gone };
    return !e && victim ? hd_run(victim, &b) : e;
}

/* The list has a value that is not its key's. */
static hd_status swapping_answers(const bench_answers *a, bench_told *told)
{
    if (!a->outcome && a->n) ((uint64_t *)(uintptr_t)a->key)[0] ^= 1;
    return bench_here.answers(a, told);
}

/* An operation is another one. */
static hd_status lying_ops(const bench_mix *m, uint8_t *each)
{
    hd_status e = bench_here.ops(m, each);
    uint64_t i = 0;
    while (each[i] != HD_OP_ERASE) i++;
    each[i] = HD_OP_FIND;
    return e;
}

static void lies_on(const char *design, hd_op op, double hits, const char *expected)
{
    bench_fixture s;
    bench_measure m;
    bool evicts = strcmp(design, "hkv") == 0;
    bench_point p = { .op = op, .hits = hits, .load = evicts ? 1 : 0.9, .n = 200 };
    test_case("%s, %s, hits %g: %s", design, bench_buffers_name(op), hits, expected);
    bench_shape of = shape_of(design, 1 << 14, evicts ? 128 : 16, evicts ? 3 : 1);
    must(bench_fixture_open(&s, &liar, &of));
    victim = s.table;
    measure(&s, &p, &m);
    check(strstr(m.wrong, expected), "said was '%s'", m.wrong);
    check(m.times == 0 && m.wall_s == 0, "it was timed");
    bench_fixture_close(&s);
}

static void lies(hd_op op, double hits, const char *expected) { lies_on("hkv", op, hits, expected); }

static void what_lies_is_not_timed(void)
{
    liar = bench_here;
    liar.values = lying_values;
    lies(HD_OP_FIND, 1, "not their key's, or not whole");
    lies(HD_OP_ASSIGN, 0.6, "not their key's, or not whole");
    lies(HD_OP_INSERT_OR_ASSIGN, 0, "not their key's, or not whole");
    lies(HD_OP_EXPORT, 1, "not their key's, or not whole");
    liar = bench_here;
    liar.keys = lying_keys;
    lies(HD_OP_CONTAINS, 0.6, "items are hit, not 120");
    lies(HD_OP_ERASE, 1, "items are erased, not 200");
    liar = bench_here;
    liar.answers = forgetful_answers;
    lies(HD_OP_INSERT_OR_ASSIGN, 0.6, "of the keys are there, not 200");
    lies_on("hive", BENCH_MIXED, 1, "of the keys are there, not");
    liar = bench_here;
    liar.answers = swapping_answers;
    lies(HD_OP_INSERT_AND_EVICT, 0, "not their key's, or not whole");
    liar = bench_here;
    liar.values = lying_values;
    lies_on("hive", BENCH_MIXED, 0.5, "not their key's, or not whole");
    liar = bench_here;
    liar.ops = lying_ops;
    lies_on("hive", BENCH_MIXED, 0.5, "have another outcome");
    bench_growth g = { .shape = shape_of("hive", 1 << 10, 16, 1), .load = 0.8, .to = 1 << 12, .n = 300 };
    bench_growth_measure m;
    liar = bench_here;
    liar.values = later_values;
    must(growth_fill(&liar, &g, GROWTH_CALLER, false, &m));
    check(strstr(m.wrong, "with their values"), "said was '%s'", m.wrong);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void limits_are_measured(void)
{
    bench_limits l;
    must(bench_limits_measure(&bench_here, 1 << 22, 1 << 16, false, &l));
    for (int i = 0; i < BENCH_LIMIT_COUNT; i++) check(l.per_s[i] > 0, "%s: %g", bench_limit_rows[i].name, l.per_s[i]);
}

static void cliffs_that_lie_have_no_rate(void)
{
    static const struct {
        hd_op op;
        const char *pattern;
    } cells[] = {
        { HD_OP_FIND, "hits" },          { HD_OP_TOUCH, "hits60_u" },        { HD_OP_ASSIGN, "new" },
        { HD_OP_CONTAINS, "zipf99" },    { HD_OP_INSERT_OR_ASSIGN, "hits" }, { HD_OP_INSERT_OR_ASSIGN, "new" },
        { HD_OP_FIND_OR_INSERT, "one" }, { HD_OP_LOCK_KEYS, "hits" },        { HD_OP_ERASE, "hits" }
    };
    liar = bench_here;
    liar.keys = stranger_keys;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        cliff_cell cell = cliff_of(&bench_here, &plan, cells[i].op, cells[i].pattern);
        check(!cell.wrong && cell.times == plan.repeat, "%s", cell.why);
        cell = cliff_of(&liar, &plan, cells[i].op, cells[i].pattern);
        check(cell.wrong && cell.times == 0 && *cell.why, "said was '%s'", cell.why);
    }
}

static const struct CMUnitTest tests[] = { unit(an_order_has_everyone_once),
                                           unit(a_drawing_is_what_it_says),
                                           unit(a_skewed_drawing_favours_few),
                                           unit(a_value_tells_whether_it_is_right),
                                           unit(floors_make_sense),
                                           unit(floors_of_words_make_sense),
                                           unit(every_operation_has_a_row),
                                           unit(a_mixed_batch_is_what_it_says),
                                           unit(every_point_is_proved_and_timed),
                                           unit(points_that_evict_nobody),
                                           unit(the_pending_are_counted),
                                           unit(what_grows_is_measured),
                                           unit(few_keys_come_again),
                                           unit(the_wanted_are_near),
                                           unit(every_operation_has_its_cliffs),
                                           unit(a_climb_keeps_the_limit),
                                           unit(patterns_are_what_they_say),
                                           unit(what_lies_is_not_timed),
                                           unit(cliffs_that_lie_have_no_rate),
                                           unit(limits_are_measured) };

int main(void) { return test_run(tests); }
