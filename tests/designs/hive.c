/* SPDX-License-Identifier: Apache-2.0
 *
 * hive.c - Hive, for tests/conform.h. Then many items that want few slots, lists in windows, a stash of several
 * buckets, and two or three items that conflict, with every interleaving of few preemptions. Tables that grow and
 * shrink. What the judge's port says of words, regions, items and invariants between steps.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/hive/rows.h"
#include "judge/hive/fixture.h"
#include "tests/conform.h"

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
    hive_view *v = &t->state.v;
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

/* The kernels of growth: split, measure, merge, thin, restash. */
static const char *const growing[] = {
    "tile buckets=1 slots=8",
    "tile buckets=2 slots=8 hashes=3 layout=masks",
    "tile buckets=3 slots=16 value=2",
    "tile buckets=2 slots=32 layout=masks",
    "tile buckets=5 slots=8 layout=masks value=2 spare=3",
    "tile buckets=3 slots=8 hashes=3 spare=0",
};

/* ---- What the judge's port says -------------------------------------------------------------- */

enum { SLOTS = 8, STASH = 2 * SLOTS, SHOWN = 3 /* a slot */ };
/* What a step does. Words of a table: */
enum { FRESH = 1, VACANT, BROKEN, KEY, CLAIMED, LEAVING, WORDS };
enum { MASK = WORDS, SHUT, COUNT, BEGIN };
/* Batches: at: the operation; of MINE and LONE; of MINE, whose value is in the stash; the same, with a score. */
enum { BATCH = BEGIN + 1, BRING, SEEK, SEEK_SCORED };
/* A key: none; by way of bucket 0, of bucket 1; in bucket 0 alone; that one. */
enum { NONE, MINE, OTHER, LONE, FEW };

static const conform_step words[] = {
    { ASK_PLACE, FRESH, SHOWN, NONE, "fresh; empty" },
    { ASK_PLACE, VACANT, SHOWN, NONE, "vacant; empty" },
    { ASK_PLACE, KEY, SHOWN, FEW, "1f value ab; key 1f with ab" },
    { ASK_PLACE, CLAIMED, SHOWN, FEW, "claimed by 1f; changing" },
    { ASK_PLACE, LEAVING, SHOWN, FEW, "leaving 1f; changing" },
    { ASK_PLACE, BROKEN, SHOWN, NONE, "no word of a table: " },
};

static const conform_name names[] = {
    { "word", 0, "bucket 0, slot 0" },
    { "word", 8 * (SLOTS + 3), "bucket 1, slot 3" },
    { "word 1", 8 * 2, "bucket 2, slot 2" },
    { "word 2", 8 * SLOTS, "bucket 5, slot 0" },
    { "stash word", 8 * 5, "stash bucket 0, slot 5" },
    { "mask", 4, "mask of bucket 1" },
    { "mask 1", 0, "mask of bucket 2" },
    { "mask 2", 0, "mask of bucket 4" },
    { "stash mask", 0, "mask of stash bucket 0" },
    { "lock", 4, "lock of bucket 1" },
    { "lock 1", 4, "lock of bucket 3" },
    { "lock 2", 0, "lock of bucket 4" },
    { "stash lock", 0, "lock of stash bucket 0" },
};

static const conform_name narrow_names[] = {
    { "word", 4 * (SLOTS + 3), "bucket 1, slot 3" },
    { "word 1", 4 * 2, "bucket 2, slot 2" },
};

static const conform_step watched[] = {
    { ASK_WATCH, BATCH, HD_OP_FIND, OTHER, NULL },
    { ASK_WATCH, BROKEN, 0, NONE, "bucket 0, slot 0: a free slot says neither fresh nor vacant (HIVE-3, in flight)" },
    { ASK_WATCH, CLAIMED, 0, NONE, "a key that is none (HIVE-1, in flight)" },
    { ASK_WATCH, FRESH, 0, NONE, NULL },
    { ASK_WATCH, KEY, SLOTS, LONE, "bucket 1, slot 0: a key is in none of its buckets (HIVE-2, in flight)" },
    { ASK_WATCH, FRESH, SLOTS, NONE, NULL },
    { ASK_WATCH, CLAIMED, 0, MINE, NULL },
    { ASK_WATCH, KEY, 0, MINE, NULL },
    { ASK_WATCH, KEY, 1, MINE, "a key shows in two slots (HIVE-1, in flight)" },
    { ASK_WATCH, FRESH, 1, NONE, NULL },
    { ASK_WATCH, MASK, 0, NONE, "the mask gives a slot away that is taken (HIVE-5, in flight)" },
    { ASK_WATCH, FRESH, 0, NONE, NULL },
    { ASK_WATCH, KEY, SLOTS, MINE, "a key is behind a bucket that is open (HIVE-4, in flight)" },
    { ASK_WATCH, FRESH, SLOTS, NONE, NULL },
    { ASK_WATCH, SHUT, 0, NONE, NULL },
    { ASK_WATCH, SHUT, SLOTS, NONE, NULL },
    { ASK_WATCH, KEY, STASH, OTHER, "the stash has 1 entries, and counts 0 (HIVE-6, in flight)" },
    { ASK_WATCH, COUNT, 0, NONE, NULL },
    { ASK_WATCH, BEGIN, 0, NONE, NULL }, /* it was there before the first step */
    { ASK_WATCH, VACANT, STASH, NONE, "no item erases it, and it is nowhere" },
    { ASK_WATCH, BATCH, HD_OP_ERASE, OTHER, NULL },
    { ASK_WATCH, BATCH, HD_OP_ERASE, MINE, "no item erases it, and it is nowhere" },
    { ASK_WATCH, BATCH, HD_OP_CLEAR, NONE, NULL },
    { ASK_WATCH, LEAVING, STASH, OTHER, NULL },
    { ASK_WATCH, BATCH, HD_OP_FIND, OTHER, "no item erases it, and it is nowhere" },
    { ASK_WATCH, CLAIMED, SLOTS, OTHER, NULL },
    { ASK_CHECK, CLAIMED, SLOTS, OTHER, "HIVE-3" },
};

/* A key that others brought, or that is in no bucket of its, cannot have been inserted there; and no table has scores.
 * Others may have shut the bucket that an inserted or displaced key passes. */
static const conform_step judged[] = {
    { ASK_WATCH, BRING, 0, NONE, NULL },
    { ASK_ACCEPT, 0, SLOTS, 1, "that bucket is no candidate of its" },
    { ASK_PLACE, 0, SLOTS, NONE, "fresh" }, /* its bucket is still open */
    { ASK_ACCEPT, 0, SLOTS + 1, 0, NULL },
    { ASK_ACCEPT, 0, SLOTS + 1, 0, "the key was present, and the outcome is another" },
    { ASK_PLACE, 0, 0, NONE, "vacant" }, /* what it passed is shut */
    { ASK_PLACE, 0, SLOTS, NONE, "fresh" },
    { ASK_PLACE, 0, SLOTS + 1, NONE, "; key " },
    { ASK_MOVE, 0, SLOTS, 3, "a slot without a key" },
    { ASK_MOVE, 0, SLOTS + 1, STASH, NULL },
    { ASK_ACCEPT, SEEK_SCORED, CONFORM_NO_TICKET, 0, "delivered a score, and there are none" },
    { ASK_ACCEPT, SEEK, CONFORM_NO_TICKET, 0, NULL },
};

#define TABLE "buckets=2 slots=8 batch=8x1 keys=uniform:50 value="
static const conform_script scripts[] = {
    { TABLE "4", words, CONFORM_COUNT(words), NULL, 0 },
    { TABLE "2", words, CONFORM_COUNT(words), NULL, 0 },
    { TABLE "4 layout=masks", words, CONFORM_COUNT(words), names, CONFORM_COUNT(names) },
    { TABLE "2 layout=masks", words, CONFORM_COUNT(words), narrow_names, CONFORM_COUNT(narrow_names) },
    { TABLE "4 layout=masks", watched, CONFORM_COUNT(watched), NULL, 0 },
    { TABLE "4", judged, CONFORM_COUNT(judged), NULL, 0 },
};

/* The first key whose candidates are these. */
static uint64_t key_by(const hive_view *v, uint64_t first, uint64_t second)
{
    uint64_t key = 1;
    while (hive_candidate(v, hive_hash(v, key), 0) != first || hive_candidate(v, hive_hash(v, key), 1) != second) key++;
    return key;
}

/* A batch of so many keys, of which each is inserted or found. */
static void begin_batch(fixture *s, hd_op op, const uint64_t *key, uint64_t n)
{
    const fixture_kernel k = fixture_kernel_at(&judge_design_hive, conform_row("tile", op), 32, 1);
    must(fixture_batch(s, &k, op, key, n));
    memset(s->part[0].batch.outcome, op == HD_OP_FIND ? HD_HIT : HD_INSERTED, n);
}

static void change(fixture *s, const conform_step *x)
{
    hive_view *v = hive_fixture_view(s);
    const uint64_t keys[] = { hive_keys(v), key_by(v, 0, 1), key_by(v, 1, 0), key_by(v, 0, 0), 0x1f },
                   mine[] = { keys[MINE], keys[LONE] }, *key = &keys[x->does < BRING ? x->whose : MINE];
    const uint64_t word[WORDS] = { [FRESH] = hive_fresh(v),
                                   [VACANT] = hive_vacant(v),
                                   [BROKEN] = hive_sign(v, HIVE_EMPTY, 5),
                                   [KEY] = hive_pack(v, *key, 0xab),
                                   [CLAIMED] = hive_sign(v, HIVE_CLAIMED, *key),
                                   [LEAVING] = hive_sign(v, HIVE_LEAVING, *key) };
    switch (x->does) {
    case MASK: v->segment[0].mask[0] |= 1; break;
    case SHUT: hive_shut(v, x->at / SLOTS); break;
    case COUNT: *hive_fixture_stashed(hive_fixture_table_of(s)) = 1; break;
    case BEGIN: fixture_begin(s, s->memory, 0); break;
    case BATCH: begin_batch(s, (hd_op)x->at, key, x->whose != NONE); break;
    case BRING: begin_batch(s, HD_OP_INSERT_OR_ASSIGN, mine, 2); break;
    case SEEK:
    case SEEK_SCORED:
        begin_batch(s, HD_OP_FIND, mine, 1);
        memcpy(s->part[0].batch.value_out, hive_value_at(v, STASH), 4);
        s->part[0].batch.score_out[0] = x->does == SEEK_SCORED;
        break;
    default: hive_write(v, x->at, word[x->does]);
    }
}

static const struct CMUnitTest tests[] = { unit(crowds), unit(windows), unit(rings), unit(meetings_are_exhausted) };

const conform_design conform_this = { .judge = &judge_design_hive,
                                      .shapes = shapes,
                                      .shapes_n = SHAPES,
                                      .rounds = rounds,
                                      .schedules = 6,
                                      .whole = 2,
                                      .set = set,
                                      .moves = true,
                                      .look = look,
                                      .special = { "keys into the stash" },
                                      .growing = growing,
                                      .growing_n = CONFORM_COUNT(growing),
                                      .grown = 30,
                                      .scripts = scripts,
                                      .scripts_n = CONFORM_COUNT(scripts),
                                      .change = change,
                                      .tests = tests,
                                      .tests_n = CONFORM_COUNT(tests) };
