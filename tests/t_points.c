/* SPDX-License-Identifier: Apache-2.0
 *
 * t_points.c - points (bench/device): drawings are what they say, a value tells whether it is right, floors and goals make sense, every
 * operation is proved and timed on this machine at every load factor, and what lies is not timed.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/device/goals.h"
#include "bench/device/places.h"
#include "bench/device/point.h"
#include "lib/table.h"
#include "ref/hkv.h"
#include "tests/testing.h"

typedef unsigned long long ull;

/* ---- Drawings ------------------------------------------------------------------------------------------------ */

static void an_order_has_everyone_once(void **state)
{
    (void)state;
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

static void a_drawing_is_what_it_says(void **state)
{
    (void)state;
    static uint64_t present[PRESENT], key[4 * BATCH];
    bench_stand s = { .present = present, .presents = PRESENT, .fresh = PRESENT };
    static const uint64_t hits[] = { 0, 1, 600, 999, 1000 };
    list_of_numbers(present);
    for (size_t k = 0; k < sizeof hits / sizeof *hits; k++) {
        test_case("%llu hits of %d", (ull)hits[k], BATCH);
        for (int batch = 0; batch < 4; batch++) {
            uint64_t fresh = s.fresh;
            bench_draw d = stand_draw(&s, BATCH, hits[k], 0);
            must(bench_here.keys(&d, key + batch * BATCH));
            check(s.fresh - fresh == BATCH - hits[k], "%llu numbers were used", (ull)(s.fresh - fresh));
        }
        for (int i = 0; i < 4 * BATCH; i++) check(key[i] < HD_KEY_RESERVED, "key %llx", (ull)key[i]);
        uint64_t found = hits_among(key, 4 * BATCH, PRESENT);
        check(found == 4 * hits[k], "%llu different keys of the list", (ull)found);
        for (int i = 1; i < 4 * BATCH; i++) check(key[i] != key[i - 1], "a key came twice");
    }
}

static void a_skewed_drawing_favours_few(void **state)
{
    (void)state;
    static uint64_t present[PRESENT], key[64 * BATCH];
    enum { N = 64 * BATCH };
    bench_stand s = { .present = present, .presents = PRESENT, .fresh = PRESENT };
    list_of_numbers(present);
    bench_draw d = stand_draw(&s, N, N / 4 * 3, 0.99);
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

/* ---- Values ---------------------------------------------------------------------------------------------------- */

static void a_value_tells_whether_it_is_right(void **state)
{
    (void)state;
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

/* ---- Floors and goals ------------------------------------------------------------------------------------------ */

static double floor_of(hd_op op, double hits, double load, uint32_t words, bool dual, hd_layout layout)
{
    bench_limits one;
    bench_shape shape = { .design = "hkv", .layout = layout, .dual = dual, .slots = 128, .words = words };
    for (int i = 0; i < BENCH_LIMIT_COUNT; i++) one.per_s[i] = bench_limit_rows[i].in_bytes ? 128 : 1; /* a place costs 1, a line that streams too */
    bench_places p = bench_places_of(&shape, op, hits, load);
    return bench_floor_s(&p, words * 4, &one);
}

static void floors_make_sense(void **state)
{
    (void)state;
    for (const bench_goal *g = bench_goals; g->op != HD_OP_COUNT_; g++) {
        hd_op op = g->op;
        test_case("%s", hd_op_name(op));
        double at_half = floor_of(op, 0.6, 0.5, 8, false, HD_LAYOUT_PAIRS), full = floor_of(op, 0.6, 1, 8, false, HD_LAYOUT_PAIRS);
        double found = floor_of(op, 1, 0.5, 8, false, HD_LAYOUT_PAIRS), absent = floor_of(op, 0, 0.5, 8, false, HD_LAYOUT_PAIRS);
        check(at_half > 0, "%g", at_half);
        check(full > at_half, "full %g, half full %g", full, at_half);
        if (op == HD_OP_EXPORT) continue;
        check(at_half > 0.599 * found + 0.399 * absent && at_half < 0.601 * found + 0.401 * absent, "a mix is %g of %g and %g", at_half, found, absent);
        check(floor_of(op, 0.6, 0.5, 8, true, HD_LAYOUT_PAIRS) > at_half, "two buckets");
        check(floor_of(op, 0.6, 0.5, 64, false, HD_LAYOUT_PAIRS) >= at_half, "larger values");
    }
    double find = floor_of(HD_OP_FIND, 1, 0.5, 8, false, HD_LAYOUT_PAIRS), pointer = floor_of(HD_OP_FIND_PTR, 1, 0.5, 8, false, HD_LAYOUT_PAIRS);
    check(find > pointer + 1, "find %g copies a value that find_ptr %g does not", find, pointer);
    double pairs = floor_of(HD_OP_INSERT_OR_ASSIGN, 0, 1, 8, false, HD_LAYOUT_PAIRS), planes = floor_of(HD_OP_INSERT_OR_ASSIGN, 0, 1, 8, false, HD_LAYOUT_PLANES);
    check(pairs + 6 < planes, "an eviction reads 2 lines of bounds and scores in pairs (%g), and 8 of scores in planes (%g)", pairs, planes);
}

static void every_operation_has_a_row(void **state)
{
    (void)state;
    const uint64_t large = goal_capacity(8), n = 1 << 20;
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        const bench_goal *g = bench_goals;
        while (g->op != HD_OP_COUNT_ && g->op != (hd_op)op) g++;
        check((g->op != HD_OP_COUNT_) == (tray_row_of((hd_op)op) != NULL), "%s: a goal without a measure, or the reverse", hd_op_name((hd_op)op));
    }
    for (const bench_goal *g = bench_goals; g->op != HD_OP_COUNT_; g++)
        for (int d = 0; d < GOAL_DIMS; d++)
            for (int l = 0; l < GOAL_LOADS; l++) {
                bench_peers p = goal_of("hkv", "NVIDIA H200", g->op, g->hits, g->dual, goal_dims[d], goal_loads[l], goal_capacity(goal_dims[d]), n);
                check(p.hkv == g->hkv[d][l] && p.goal == g->goal[d][l], "%s, dim %u", hd_op_name(g->op), (unsigned)goal_dims[d]);
                check(p.hkv > 0 && (p.goal == 0 || p.goal > p.hkv), "%s, dim %u: a goal of %g, %g is there", hd_op_name(g->op), (unsigned)goal_dims[d], p.goal, p.hkv);
            }
    check(goal_of("hkv", "NVIDIA H200", HD_OP_FIND, 1, false, 8, 0.5, large, n).goal > 0, "the figures' own shape");
    check(goal_of("hkv", "NVIDIA A100", HD_OP_FIND, 1, false, 8, 0.5, large, n).hkv == 0, "another device");
    check(goal_of("hkv", "NVIDIA H200", HD_OP_FIND, 1, false, 8, 0.5, large / 2, n).hkv == 0, "another capacity");
    check(goal_of("hkv", "NVIDIA H200", HD_OP_FIND, 1, false, 8, 0.5, large, n / 2).hkv == 0, "another batch");
    check(goal_of("no design", "NVIDIA H200", HD_OP_FIND, 1, false, 8, 0.5, large, n).hkv == 0, "another design");
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static const bench_effort effort = { 2, 3, true, true, false, 0, 1 << 24 };

static void measure(bench_stand *s, const bench_point *p, bench_measure *m)
{
    bench_tray t;
    memset(&t, 0, sizeof t);
    must(point_measure(p, &effort, s, &t, m));
    tray_drop(&t, s->device);
}

static void every_point_is_proved_and_timed(void **state)
{
    (void)state;
    enum { CAPACITY = 1 << 12 };
    static const double shares[] = { 0, 0.6, 1 };
    uint64_t round = 0;
    for (int shape = 0; shape < 4; shape++) {
        bench_stand s;
        must(stand_open(&s, &bench_here, &(bench_shape){ "hkv", "ref", shape & 1 ? HD_LAYOUT_PAIRS : HD_LAYOUT_PLANES, shape & 2, CAPACITY, 128, 3, shape & 2 ? HD_TIERS_POSITION : HD_TIERS_BUCKET, shape ? 0.3 : 0, HD_FETCH_USUAL }));
        for (int l = 0; l < GOAL_LOADS; l++)
            for (int op = 0; op < HD_OP_COUNT_; op++)
                for (int skewed = 0; skewed < (op == HD_OP_EXPORT ? 1 : 2) && tray_row_of((hd_op)op); skewed++)
                    for (int h = 0; h < 3; h++) {
                        bench_point p = { .op = (hd_op)op, .hits = shares[h], .load = goal_loads[l], .n = 50, .zipf = skewed ? 0.99 : 0 };
                        bench_measure m;
                        if ((p.op == HD_OP_ERASE && h == 0) || !test_takes(round++)) continue;
                        test_case("%s, hits %g, load %g, %s, shape %d", hd_op_name(p.op), p.hits, p.load, skewed ? "skewed" : "distinct", shape);
                        measure(&s, &p, &m);
                        check(*m.wrong == 0, "%s", m.wrong);
                        check(m.times == effort.repeat && m.queue_s[0] > 0 && m.queue_s[1] > 0 && m.wall_s > 0, "%zu times", m.times);
                        check(m.calls * m.parts >= effort.calls, "%llu calls", (ull)(m.calls * m.parts));
                        double level = p.load - m.load; /* a queue begins on the side that it leaves */
                        check(level < 0.02 && level > -0.02, "it began at %g", m.load);
                        if (!skewed && p.op != HD_OP_EXPORT) check(m.hits > p.hits - 0.011 && m.hits < p.hits + 0.011, "%g were found", m.hits);
                    }
        stand_close(&s);
    }
}

/* Where a design holds few keys, none comes twice until half of them were there; then the table is emptied, and they come again. */
static void few_keys_come_again(void **state)
{
    (void)state;
    enum { CAPACITY = 1 << 10, N = 256 };
    uint64_t key[N], size;
    bench_stand s;
    must(stand_open(&s, &bench_here, &(bench_shape){ "hive", "ref", HD_LAYOUT_USUAL, false, CAPACITY, 0, 1, HD_TIERS_BUCKET, 0, HD_FETCH_USUAL }));
    check(s.shape.slots == 32 && s.info.keys < 1ull << 32, "%u slots, %llu keys", s.shape.slots, (unsigned long long)s.info.keys);
    bench_draw d = stand_draw(&s, N, 0, 0);
    for (uint64_t i = 0; i < N; i++) {
        key[i] = bench_key(&d, i);
        check(key[i] < s.info.keys, "key %llu", (unsigned long long)key[i]);
        for (uint64_t k = 0; k < i; k++) check(key[k] != key[i], "items %llu and %llu are one key", (unsigned long long)k, (unsigned long long)i);
    }
    must(stand_level(&s, CAPACITY / 2));
    s.fresh = s.info.keys / 2 + 1;
    must(stand_level(&s, CAPACITY / 4));
    must(stand_size(&s, &size));
    check(size >= CAPACITY / 4 - 1 && size <= CAPACITY / 4 && s.fresh == size, "%llu entries, key number %llu is next", (unsigned long long)size, (unsigned long long)s.fresh);
    stand_close(&s);
}

/* Before a skewed point is timed on in-bucket tiers, what will be wanted most is near. */
static void the_wanted_are_near(void **state)
{
    (void)state;
    enum { CAPACITY = 1 << 12, ASKED = 2000 };
    bench_stand s;
    bench_measure m;
    bench_point p = { .op = HD_OP_FIND, .hits = 1, .load = 1, .n = 50, .zipf = 0.99 };
    uint64_t moved = 1, near = 0, key[ASKED];
    void *ptr[ASKED];
    must(stand_open(&s, &bench_here, &(bench_shape){ "hkv", "ref", HD_LAYOUT_PAIRS, false, CAPACITY, 128, 3, HD_TIERS_BUCKET, 0.1, HD_FETCH_USUAL }));
    measure(&s, &p, &m);
    check(*m.wrong == 0, "%s", m.wrong);
    must(hd_run(s.table, &(hd_batch){ .op = HD_OP_PROMOTE, .n = CAPACITY, .count = &moved }));
    check(moved == 0, "%llu were still to come near", (ull)moved);
    bench_draw d = stand_draw(&s, ASKED, ASKED, p.zipf);
    must(bench_here.keys(&d, key));
    must(hd_run(s.table, &(hd_batch){ .op = HD_OP_FIND_PTR, .n = ASKED, .key = key, .ptr = ptr }));
    const hkv_view *v = hkv_view_of(s.table->state);
    for (int i = 0; i < ASKED; i++) near += (uint8_t *)ptr[i] >= v->value && (uint8_t *)ptr[i] < v->value + s.info.near_value_bytes;
    test_note("%.3f of skewed lookups are near, with a share of 0.1", (double)near / ASKED);
    check(near > ASKED / 2, "%llu of %d", (ull)near, ASKED);
    stand_close(&s);
}

/* ---- Lies -------------------------------------------------------------------------------------------------------- */

static bench_device liar;
static hd_table *victim; /* whose entry goes behind everybody's back */

static hd_status lying_values(const uint64_t *key, uint64_t n, uint32_t words, uint32_t generation, void *value)
{
    hd_status e = bench_here.values(key, n, words, generation, value);
    for (uint64_t i = 0; i < n; i++) ((uint32_t *)value)[i * words + words - 1] ^= 1;
    return e;
}

static hd_status lying_keys(const bench_draw *d, uint64_t *key)
{
    hd_status e = bench_here.keys(d, key);
    if (d->hits) key[0] = hd_scramble(1ull << 40), key[1] = hd_scramble((1ull << 40) + 1);
    return e;
}

/* An entry that the call made is gone before it is asked for. */
static hd_status forgetful_answers(const bench_answers *a, bench_told *told)
{
    hd_status e = bench_here.answers(a, told);
    uint64_t gone = a->key[a->n / 2];
    hd_batch b = { .op = HD_OP_ERASE, .n = 1, .key = &gone };
    return !e && victim ? hd_run(victim, &b) : e;
}

/* The list has a value that is not its key's. */
static hd_status swapping_answers(const bench_answers *a, bench_told *told)
{
    if (!a->outcome && a->n) ((uint64_t *)(uintptr_t)a->key)[0] ^= 1;
    return bench_here.answers(a, told);
}

static void lies(hd_op op, double hits, const char *expected)
{
    bench_stand s;
    bench_measure m;
    bench_point p = { .op = op, .hits = hits, .load = 1, .n = 200 };
    test_case("%s, hits %g: %s", hd_op_name(op), hits, expected);
    must(stand_open(&s, &liar, &(bench_shape){ "hkv", "ref", HD_LAYOUT_USUAL, false, 1 << 14, 128, 3, HD_TIERS_BUCKET, 0, HD_FETCH_USUAL }));
    victim = s.table;
    measure(&s, &p, &m);
    check(strstr(m.wrong, expected), "said was '%s'", m.wrong);
    check(m.times == 0 && m.wall_s == 0, "it was timed");
    stand_close(&s);
}

static void what_lies_is_not_timed(void **state)
{
    (void)state;
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
    liar = bench_here;
    liar.answers = swapping_answers;
    lies(HD_OP_INSERT_AND_EVICT, 0, "not their key's, or not whole");
}

/* ---- Limits -------------------------------------------------------------------------------------------------------- */

static void limits_are_measured(void **state)
{
    (void)state;
    bench_limits l;
    must(bench_limits_measure(&bench_here, 1 << 22, 1 << 16, false, &l));
    for (int i = 0; i < BENCH_LIMIT_COUNT; i++) check(l.per_s[i] > 0, "%s: %g", bench_limit_rows[i].name, l.per_s[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_has_everyone_once),        cmocka_unit_test(a_drawing_is_what_it_says),
        cmocka_unit_test(a_skewed_drawing_favours_few),      cmocka_unit_test(a_value_tells_whether_it_is_right),
        cmocka_unit_test(floors_make_sense),                 cmocka_unit_test(every_operation_has_a_row),
        cmocka_unit_test(every_point_is_proved_and_timed),
        cmocka_unit_test(few_keys_come_again), cmocka_unit_test(the_wanted_are_near),   cmocka_unit_test(what_lies_is_not_timed),
        cmocka_unit_test(limits_are_measured),
    };
    return test_run(tests);
}
