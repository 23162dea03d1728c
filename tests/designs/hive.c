/* SPDX-License-Identifier: Apache-2.0
 *
 * hive.c - Hive, for tests/conform.h. Then many items that want few slots, lists in windows, a stash of several
 * buckets, and two or three items that conflict, with every interleaving of few preemptions. And growth and shrinking.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/hive/rows.h"
#include "judge/hive/fixture.h"
#include "tests/conform.h"
#include "tests/growth_way.h"

enum { STASHED_NEW, FAR_NEW /* of rings: beyond where they enter them */ };

/* What came to be in the stash. */
static void look(const fixture *s, totals *t)
{
    size_t n;
    const hive_view *v = hive_fixture_view(s);
    const simt_ticket_record *ticket = simt_machine_tickets(conform_machine, &n);
    for (size_t i = 0; i < n; i++) {
        if (ticket[i].what != HD_INSERTED || ticket[i].item == JUDGE_MOVE || ticket[i].b < hive_capacity(v)) continue;
        t->special[STASHED_NEW]++;
        t->special[FAR_NEW] +=
            ticket[i].b / v->slots != hive_ring(v, hive_hash(v, s->part[0].batch.key[ticket[i].item]));
    }
}

/* Small tables: two and three candidates, one bucket that is all of them, both words, spare slots and none, keys that
 * come twice, many for few slots. */
static const char *const shapes[] = {
    "buckets=2 slots=8 batch=10x1 keys=uniform:14 duplicate=200000 reserved=50000",
    "buckets=1 slots=8 batch=6x1 keys=uniform:60 hashes=3 spare=0",
    "buckets=3 slots=8 batch=16x1 keys=uniform:40 value=2 duplicate=100000 reserved=50000 spare=3",
    "buckets=3 slots=8 batch=16x1 keys=uniform:200 hashes=3 distinct=1 spare=2 hash=crc32,city64,murmur3",
    "buckets=4 slots=16 batch=24x1 keys=uniform:90 duplicate=200000 hash=bithash1,bithash2",
    "buckets=6 slots=16 batch=70x1 keys=uniform:130 duplicate=100000", /* more than a warp has lanes */
    "buckets=2 slots=32 batch=5x1 keys=uniform:300 value=2 hashes=3",
    "buckets=3 slots=8 batch=4x1 keys=uniform:6 duplicate=400000 spare=3",
    "buckets=2 slots=32 batch=6x1 keys=uniform:70 duplicate=300000",
};
enum { SHAPES = CONFORM_COUNT(shapes), NARROW = 6 /* the first ones: with fewer than 32 slots */ };

static hd_case case_of(const char *shape, int op, uint32_t row, bool masks, uint64_t seed)
{
    return conform_case(op, hive_row_name(row), seed, "%s%s", shape, masks ? " layout=masks" : "");
}

static uint64_t rounds(uint32_t row, int op) { return (void)row, test_quarter(op == JUDGE_MIXED ? 64 : 24); }

/* The same in layout words, if the row cannot have the other; false: it cannot run it at all. */
static bool fit(uint32_t row, hd_case *c)
{
    if (fixture_unsupported(&judge_design_hive, row, c)) c->layout = HD_LAYOUT_WORDS;
    return fixture_unsupported(&judge_design_hive, row, c) == NULL;
}

/* Both layouts, as often with weak memory as without. */
static void set(scene *x, uint32_t row, int op, uint64_t k, uint64_t n)
{
    x->c[0] = case_of(shapes[k % SHAPES], op, row, n / 4 % 2, n + 1);
    if (!fit(row, &x->c[0])) x->c[0] = case_of(shapes[SHAPES - 1], op, row, true, n + 1);
    if (!fit(row, &x->c[0])) x->c[0] = case_of(shapes[k % NARROW], op, row, false, n + 1);
}

/* Many items look for room in a few full buckets. In layout "masks" one of them lets others wait only while it moves
 * keys: they end soon. */
static void crowds(void **unused)
{
    enum { SCENES = 12 /* of a row */ };
    totals t = { 0 };
    (void)unused;
    for (uint64_t k = 0; k < test_quarter(SCENES); k++)
        for (uint32_t row = 0; row < hive_row_count(); row++) {
            hd_case c = case_of("buckets=2 slots=32 batch=16x1 keys=uniform:300 value=2 hashes=3",
                                HD_OP_INSERT_OR_ASSIGN, row, true, 48 + k);
            scene x = scene_begin(0, 32, 8);
            x.way = simt_config_default();
            x.way.step_limit = 2000000;
            scene_part_of(&x, row, 2 * k, &c);
            if (fixture_runs(&judge_design_hive, row, HD_OP_INSERT_OR_ASSIGN) &&
                !fixture_unsupported(&judge_design_hive, row, &c))
                scene_run(&x, &t);
        }
    check(t.outcome[HD_PENDING] || test_times(SCENES) < SCENES, "every item found a place"); /* of fewer, all may */
    test_tried("schedules", t.schedules, "of %llu fixtures of hive in which many items want few slots, %llu distinct",
               t.fixtures, t.distinct);
}

/* A table's room for lists holds a million items; here it holds few, and a list goes on in the next window where it was
 * in the last. */
static void windows(void **unused)
{
    enum { SCENES = 24 /* of a row */ };
    static const char *const wide_or_narrow[] = { "buckets=3 slots=32 batch=33x1 keys=uniform:200",
                                                  "buckets=6 slots=16 batch=70x1 keys=uniform:400 reserved=100000" };
    totals t = { 0 };
    uint64_t n = 0;
    (void)unused;
    for (uint32_t row = 0; row < hive_row_count(); row++)
        for (uint64_t k = 0; fixture_runs(&judge_design_hive, row, HD_OP_FIND_MISSED) && k < test_quarter(SCENES);
             k++, n++) {
            hd_case c = case_of(wide_or_narrow[k % 2], HD_OP_FIND_MISSED, row, true, n + 1);
            if (!fit(row, &c)) c = case_of(wide_or_narrow[1 - k % 2], HD_OP_FIND_MISSED, row, true, n + 1);
            check(fit(row, &c), "a row that fits neither");
            scene x = scene_begin(n, 32, 2);
            scene_part_of(&x, row, n, &c);
            x.kernel[0].window = 1 + n * 5 % 34;
            scene_run(&x, &t);
        }
    check(t.outcome[HD_MISS], "nothing was listed");
    test_tried("schedules", t.schedules,
               "of %llu fixtures of hive whose lists are made in windows of few items, %llu distinct", t.fixtures,
               t.distinct);
}

/* ---- Rings of several buckets ---------------------------------------------------------------- */

/* A key that is not there and enters the ring in bucket b goes into slot e. */
static uint64_t bring_to_ring(hive_view *v, uint64_t e, uint64_t b, uint64_t key)
{
    while (hive_ring(v, hive_hash(v, key)) != b || hive_find(v, key) != HIVE_NOWHERE) key++;
    check(hive_put(v, e, key, key), "key %llu", (ull)key);
    return key;
}

/* No slot of the ring is fresh; its first bucket is full, and the first item's key beyond it, if the stash takes so
 * many. */
static void fill_ring(fixture *s, const void *unused)
{
    (void)unused;
    hive_fixture_table *t = hive_fixture_table_of(s);
    hive_view *v = &t->own.v;
    uint64_t first = hive_buckets(v), e = first * v->slots, end = e + v->slots, key = 100000;
    check(v->stash_buckets == 2, "%llu buckets of the stash", (ull)v->stash_buckets);
    for (; e < end && v->stashed + 3 < hive_stash_limit(v); e++)
        if (hive_is_free(v, hive_read(v, e))) key = bring_to_ring(v, e, first, key);
    while (e < end + v->slots && !hive_is_free(v, hive_read(v, e))) e++;
    if (e >= end && v->stashed < hive_stash_limit(v)) fixture_item(s, 0, 0, bring_to_ring(v, e, first, key), 0);
    hive_shut(v, first);
    hive_shut(v, first + 1);
    *hive_fixture_stashed(t) = v->stashed;
    fixture_begin(s, s->memory, s->clock);
}

/* The stash has two buckets here, and none of its slots is fresh: a search for a key that the first bucket lacks goes
 * on to the second, and so does an insert if the first is full. */
static void rings(void **unused)
{
    enum { SCENES = 16 /* of a row */ };
    static const int ops[] = { HD_OP_INSERT_OR_ASSIGN, JUDGE_MIXED, HD_OP_FIND_OR_INSERT, HD_OP_FIND };
    totals t = { 0 };
    (void)unused;
    for (uint32_t row = 0; row < hive_row_count(); row++)
        for (uint64_t k = 0; fixture_runs(&judge_design_hive, row, JUDGE_MIXED) && k < test_quarter(SCENES); k++) {
            hd_case c = case_of("buckets=64 slots=8 batch=12x1 keys=uniform:2000", ops[k % 4], row, k / 4 % 2, 300 + k);
            if (!fit(row, &c))
                c = case_of("buckets=64 slots=32 batch=12x1 keys=uniform:2000", ops[k % 4], row, true, 300 + k);
            scene x = scene_begin(4 * k, 32, 2);
            scene_part(&x, row, 32, 2, &c);
            x.lay = fill_ring;
            scene_run(&x, &t);
        }
    test_tried("schedules", t.schedules, "of %llu fixtures of hive with a ring of two buckets, %llu distinct",
               t.fixtures, t.distinct);
    test_note("last runs: %llu into the stash, %llu of them beyond where they enter it, %llu misses",
              t.special[STASHED_NEW], t.special[FAR_NEW], t.outcome[HD_MISS]);
    check((t.special[FAR_NEW] && t.outcome[HD_MISS]) || test_times(SCENES) < SCENES, "no item went on in the stash");
}

/* ---- All schedules of small fixtures ----------------------------------------------------------- */

/* What an item's key is to the table. */
enum { IN_FIRST, IN_SECOND, STASHED, ABSENT, CROWDED, KINDS };
static const char *const kind_names[KINDS] = { "in its first bucket", "in a later one", "in the stash", "absent",
                                               "absent, its buckets full and others not" };

static bool has_room(const hive_view *v, uint64_t b)
{
    bool room = false;
    for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++) room = room || hive_is_free(v, hive_read(v, e));
    return room;
}

static int kind_of(const hive_view *v, uint64_t key)
{
    uint64_t e = hive_find(v, key), h = hive_hash(v, key);
    bool here = false, anywhere = false;
    if (e != HIVE_NOWHERE)
        return e >= hive_capacity(v) ? STASHED : hive_candidate(v, h, 0) == e / v->slots ? IN_FIRST : IN_SECOND;
    for (uint32_t i = 0; i < v->hashes; i++) here = here || has_room(v, hive_candidate(v, h, i));
    for (uint64_t b = 0; b < hive_buckets(v); b++) anywhere = anywhere || has_room(v, b);
    return anywhere && !here ? CROWDED : ABSENT;
}

/* A key of a kind, and none of `except`; HIVE_NOWHERE: there is none. */
static uint64_t key_of_kind(const hive_view *v, int kind, const uint64_t except[2])
{
    bool there = kind < ABSENT;
    for (uint64_t k = 0; k < (there ? hive_places(v) : 400); k++) {
        uint64_t word = there ? hive_read(v, k) : 0, key = there ? hive_key_of(v, word) : 1000 + k;
        if ((!there || hive_is_key(v, word)) && key != except[0] && key != except[1] && kind_of(v, key) == kind)
            return key;
    }
    return HIVE_NOWHERE;
}

static void set_item(fixture *s, uint64_t i, hd_op op, uint64_t key)
{
    ((uint8_t *)judge_arrays_at(&s->part[0].arrays, JUDGE_EACH))[i] = (uint8_t)op;
    fixture_item(s, 0, i, key, 0);
}

/* A key that has to do with bucket `step` of another's way: it is there, or it is absent and that is its first.
 * HIVE_NOWHERE: there is none. */
static uint64_t neighbour(const hive_view *v, uint64_t of, uint32_t step, bool there)
{
    uint64_t b = hive_candidate(v, hive_hash(v, of), step), e = b * v->slots;
    for (uint64_t k = 0; k < (there ? v->slots : 400); k++) {
        uint64_t key = there ? hive_key_of(v, hive_read(v, e + k)) : 2000 + k;
        if (there ? key < hive_keys(v) && key != of
                  : hive_find(v, key) == HIVE_NOWHERE && hive_candidate(v, hive_hash(v, key), 0) == b)
            return key;
    }
    return HIVE_NOWHERE;
}

/* Where the items are. */
enum { APART, BESIDE, BLOCK, THREE, PLACES };
static const char *const place_names[PLACES] = { "two items, a block each", "three items, two of them in one warp",
                                                 "two items, a warp each of one block",
                                                 "three items, a block each, two of one key" };

typedef struct meeting {
    uint32_t row;
    /* other: of all items but the first; SAME: they have its key. THREE: of the third, to the bucket of the first's way
     * where such a key would be */
    int place, kind, other;
    hd_op op[3];
    uint32_t bound;
} meeting;
enum { SAME = -1 };

static uint64_t items_per_warp(uint32_t row) { return 32 / hive_row(row)->lanes; }

/* The keys of the items; the first one's is there. Where there is none of a kind, one that is absent. */
static void keys_of(const meeting *x, const hive_view *v, uint64_t key[3])
{
    bool near = x->other != SAME && x->other != STASHED;
    for (int i = 1; i < 3; i++) {
        bool same = x->other == SAME || (x->place == THREE && i == 1);
        if (same)
            key[i] = key[0];
        else if (x->place == THREE && near)
            key[i] = neighbour(v, key[0], x->other == IN_SECOND || x->other == CROWDED, x->other < ABSENT);
        else
            key[i] = key_of_kind(v, x->other, key);
        if (key[i] == HIVE_NOWHERE) key[i] = key_of_kind(v, ABSENT, key);
    }
}

/* A fixture whose first item is of the kind that is wanted, which the scene explores. Between the items that meet are
 * reserved keys, which are done at once. */
static fixture *meet(const meeting *x, uint64_t seed, scene *of)
{
    static const char *const tails[] = { "buckets=2", "buckets=3 hashes=3", "buckets=3 spare=0", "buckets=4" };
    uint64_t per = items_per_warp(x->row),
             at[3] = { 0, x->place == BESIDE ? 1 : per, x->place == BESIDE ? per : 2 * per };
    uint32_t n = x->place == BESIDE || x->place == THREE ? 3 : 2;
    uint32_t blocks = x->place == BLOCK ? 1 : x->place == THREE ? 3 : 2;
    for (uint64_t tries = 0; tries < 200; tries++) {
        uint64_t key[3] = { HIVE_NOWHERE, HIVE_NOWHERE, HIVE_NOWHERE };
        char shape[128];
        snprintf(shape, sizeof shape, "%s slots=%d batch=%llux1 keys=uniform:9", tails[(seed + tries) % 4],
                 per == 1 ? 32 : 8, (ull)at[n - 1] + 1);
        hd_case c = case_of(shape, JUDGE_MIXED, x->row, seed / 2 % 2, seed + 1000 * tries);
        if (!fit(x->row, &c)) c.layout = HD_LAYOUT_MASKS;
        *of = scene_search(x->bound, 2000000);
        scene_part(of, x->row, x->place == BLOCK ? 64 : 32, blocks, &c);
        fixture *s = scene_open(of);
        const hive_view *v = hive_fixture_view(s);
        key[0] = key_of_kind(v, x->kind, key);
        if (key[0] == HIVE_NOWHERE) {
            fixture_close(s);
            continue;
        }
        keys_of(x, v, key);
        for (uint64_t i = 0; i < at[n - 1]; i++) set_item(s, i, HD_OP_FIND, s->keys);
        for (uint32_t i = 0; i < n; i++) set_item(s, at[i], x->op[i], key[i]);
        return s;
    }
    check(false, "no fixture of %s has a key that is %s", hive_row_name(x->row), kind_names[x->kind]);
    return NULL;
}

static void exhaust(const meeting *x, uint64_t seed, totals *t)
{
    scene of;
    fixture *s = meet(x, seed, &of);
    of.way.local_first = true;
    scene_explore(&of, s, t);
}

/* With two preemptions, and with one where a key may look for room: at scale 1 one in so many of all meetings, other
 * ones for each row and place; at a larger one more of them, and with two always. */
static void meetings_are_exhausted(void **unused)
{
    (void)unused;
    static const hd_op ops[] = { HD_OP_FIND,           HD_OP_INSERT_OR_ASSIGN,
                                 HD_OP_FIND_OR_INSERT, HD_OP_ACCUM_OR_ASSIGN,
                                 HD_OP_ASSIGN,         HD_OP_ERASE };
    enum { OPS = sizeof ops / sizeof *ops, ALL = OPS * OPS * KINDS * (KINDS + 1) };
    ull moves = 0;
    for (uint32_t at = 0; at < hive_row_count() * PLACES; at++) {
        uint32_t row = at / PLACES;
        int place = (int)(at % PLACES);
        totals t[2];
        memset(t, 0, sizeof t);
        if (!fixture_runs(&judge_design_hive, row, JUDGE_MIXED) || (place == BESIDE && items_per_warp(row) == 1))
            continue;
        if (place == BLOCK && hive_row(row)->lanes > 1) continue; /* as APART: its warps share nothing */
        /* neither shares a factor with ALL */
        uint64_t longer = test_is_long(), every = place == THREE ? (longer ? 211 : 839) : (longer ? 101 : 401),
                 stride = test_scale() < every ? every / test_scale() : 1;
        for (uint64_t n = at * 11 % stride; n < ALL; n += stride) {
            int kind = (int)(n / OPS / OPS % KINDS), other = (int)(n / OPS / OPS / KINDS) - 1;
            /* or nearly as many steps */
            bool seeks = kind >= ABSENT || other >= ABSENT || place == THREE || items_per_warp(row) == 1;
            meeting x = { row,
                          place,
                          kind,
                          other,
                          { ops[n % OPS], ops[n / OPS % OPS], ops[n / 7 % OPS] },
                          seeks && test_scale() == 1 ? 1 : 2 };
            if (test_takes(n / stride)) exhaust(&x, n, &t[x.bound - 1]);
        }
        /* two bring a key while a slot of its becomes free: what claims are verified for */
        for (uint64_t n = 0; place == THREE && items_per_warp(row) == 32 && n < (longer ? 8 : 2); n++) {
            meeting x = { row,
                          place,
                          n % 3 ? ABSENT : CROWDED,
                          n % 2 ? IN_FIRST : IN_SECOND,
                          { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_ERASE },
                          1 };
            exhaust(&x, n, &t[0]);
        }
        for (int bound = 1; bound <= 2; bound++) {
            const totals *of = &t[bound - 1];
            moves += of->moves;
            if (of->fixtures)
                test_tried("schedules", of->schedules,
                           "all with at most %d preemption%s, at atomics, of %llu fixtures of %s, %s; %llu distinct",
                           bound, bound > 1 ? "s" : "", of->fixtures, hive_row_name(row), place_names[place],
                           of->distinct);
        }
    }
    check(moves || test_times(16) < 16, "no key was displaced"); /* of fewer fixtures, none may be */
}

/* The kernels of growth (split, measure, merge, thin, restash) in full tables, with race detection and weak memory. */
static void tables_grow_on_the_host_machine(void **unused)
{
    enum { TIMES = 8 };
    static const char *const tables[] = { "buckets=1 slots=8",
                                          "buckets=2 slots=8 hashes=3 layout=masks",
                                          "buckets=3 slots=16 value=2",
                                          "buckets=2 slots=32 layout=masks",
                                          "buckets=5 slots=8 layout=masks value=2 spare=3",
                                          "buckets=3 slots=8 hashes=3 spare=0" };
    judge_growth all;
    (void)unused;
    memset(&all, 0, sizeof all);
    for (uint64_t n = 0; n < test_times(30); n++) {
        char text[512];
        snprintf(text, sizeof text, "hive.mix.tile %s seed=%llu", tables[n % 6], (ull)n + 1);
        growth_try(text, n / 6 + n, TIMES, &all);
    }
    test_tried("schedules", all.grown + all.shrunk, "of growth and shrinking of hive, %llu entries", (ull)all.entries);
    check(all.grown && all.shrunk && all.short_of && all.stashed,
          "%llu grew, %llu shrank, %llu not as far as was asked; %llu entries were in the stash", (ull)all.grown,
          (ull)all.shrunk, (ull)all.short_of, (ull)all.stashed);
}

static const struct CMUnitTest tests[] = { unit(crowds), unit(windows), unit(rings), unit(meetings_are_exhausted),
                                           unit(tables_grow_on_the_host_machine) };

const conform_design conform_this = { .judge = &judge_design_hive,
                                      .rounds = rounds,
                                      .schedules = 6,
                                      .whole = 2,
                                      .set = set,
                                      .moves = true,
                                      .look = look,
                                      .special = { "keys into the stash" },
                                      .tests = tests,
                                      .tests_n = CONFORM_COUNT(tests) };
