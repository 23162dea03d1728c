/* SPDX-License-Identifier: Apache-2.0
 *
 * agree.c - the skip list, for tests/conform.h: chunks of every size. Then, with every interleaving of few preemptions,
 * items that meet in a split or a merge; and how often items try to take a lock.
 */
#include <string.h>

#include "gfsl/gpu/state.h"
#include "gfsl/ref/gfsl.h"
#include "simt/simt.h"
#include "gfsl/add.h"
#include "tests/conform.h"

static const char *const shapes[] = {
    "buckets=12 slots=6 batch=12x1 keys=uniform:40 duplicate=200000 reserved=50000",
    "buckets=2 slots=6 batch=8x1 keys=uniform:20 duplicate=100000",
    "buckets=40 slots=6 batch=16x1 keys=uniform:150 distinct=1",
    "buckets=8 slots=14 batch=16x1 keys=uniform:60 duplicate=300000",
    "buckets=8 slots=30 batch=24x1 keys=uniform:150 duplicate=100000",
    "buckets=6 slots=6 batch=70x1 keys=uniform:60 duplicate=400000",
    "buckets=30 slots=6 batch=16x1 keys=uniform:60 duplicate=100000 unsorted=1",
    "buckets=30 slots=6 batch=24x1 keys=uniform:80 level_pools=1 far=data keys_per_block=3",
    "buckets=14 slots=14 batch=24x1 keys=uniform:150 level_pools=1 unsorted=1 keys_per_block=40 blocks=1",
    "buckets=16 slots=6 batch=20x1 keys=uniform:40 duplicate=200000 far=all unsorted=1 blocks=2",
};

static uint64_t rounds(uint32_t row, int op)
{
    (void)row;
    return test_times(op == JUDGE_MIXED || op == HD_OP_ERASE || op == HD_OP_INSERT_OR_ASSIGN ? 120 : 24);
}

/* What the last runs did to chunks. */
static void look(const fixture *s, totals *t)
{
    static const uint32_t number[CONFORM_SPECIAL] = { 0, GFSL_FREED, GFSL_TOP };
    gfsl_table_state then, now;
    fixture_view(s, s->initial, &then);
    fixture_view(s, s->memory, &now);
    for (int i = 0; i < CONFORM_SPECIAL; i++) t->special[i] += now.v.head[number[i]] > then.v.head[number[i]];
}

/* ---- Meetings -------------------------------------------------------------------------------- */

/* Three items, each of a block, and a table of one level with three chunks: chunk k has keys from 100 x k + 1 on. */
typedef struct meeting {
    const char *what;
    uint32_t n[3]; /* entries of each chunk */
    struct {
        hd_op op;
        uint64_t key;
    } item[3];
} meeting;

/* clang-format off */
static const meeting meetings[] = {
    { "an entry shifts, and a search reads", { 4, 3, 3 },
      { { HD_OP_INSERT_OR_ASSIGN, 0 }, { HD_OP_FIND, 4 }, { HD_OP_FIND, 0 } } },
    { "a chunk splits, and its keys are found", { 6, 3, 3 },
      { { HD_OP_INSERT_OR_ASSIGN, 50 }, { HD_OP_FIND, 6 }, { HD_OP_FIND, 50 } } },
    { "two insert a key where a chunk splits", { 3, 6, 3 },
      { { HD_OP_INSERT_OR_ASSIGN, 150 }, { HD_OP_FIND_OR_INSERT, 150 }, { HD_OP_ERASE, 104 } } },
    { "a chunk is merged, and its key is found", { 3, 2, 3 },
      { { HD_OP_ERASE, 101 }, { HD_OP_FIND, 102 }, { HD_OP_FIND, 201 } } },
    { "a chunk is merged, and a key comes to it", { 3, 2, 3 },
      { { HD_OP_ERASE, 101 }, { HD_OP_INSERT_OR_ASSIGN, 150 }, { HD_OP_FIND, 102 } } },
    { "two neighbours are merged", { 2, 2, 3 },
      { { HD_OP_ERASE, 101 }, { HD_OP_ERASE, 201 }, { HD_OP_FIND, 102 } } },
    { "a chunk is merged into a full one", { 3, 2, 6 },
      { { HD_OP_ERASE, 102 }, { HD_OP_INSERT_OR_ASSIGN, 203 }, { HD_OP_ERASE, 206 } } },
};
/* clang-format on */

/* Chunk c, the k-th of its level, after chunk `before`, has n entries; word i is i. */
static void lay_chunk(gfsl_view *v, uint32_t c, uint32_t k, uint32_t n, uint32_t before)
{
    uint64_t *word = gfsl_at(v, c);
    for (uint32_t i = 0; i < v->slots; i++) word[i] = i < n ? (uint64_t)(100 * k + i + 1) << 32 | i : GFSL_EMPTY;
    word[v->slots] = GFSL_EMPTY;
    word[v->slots + 1] = gfsl_seal(0, GFSL_LIVE);
    if (k == 0) return;
    gfsl_at(v, before)[v->slots] = (uint64_t)(100 * k) << 32 | c;
    v->head[0]++;
}

static void lay(fixture *s, const void *context)
{
    const meeting *x = (const meeting *)context;
    gfsl_view *v = &((gfsl_table_state *)s->table)->v;
    uint8_t *each = (uint8_t *)(uintptr_t)s->part[0].batch.each;
    gfsl_clear(v);
    for (uint32_t k = 0, before = 0; k < 3; k++) {
        uint32_t c = k == 0 ? 0 : (uint32_t)v->head[GFSL_USED]++;
        lay_chunk(v, c, k, x->n[k], before);
        before = c;
    }
    memcpy(s->initial, s->memory, s->table_bytes);
    for (uint32_t i = 0; i < 12; i++) { /* four of a warp, of which three are done at once */
        fixture_item(s, 0, i, i % 4 ? s->keys : x->item[i / 4].key, 0);
        each[i] = (uint8_t)(i % 4 ? HD_OP_FIND : x->item[i / 4].op);
    }
}

static void meetings_are_exhausted(void **unused)
{
    totals t = { 0 };
    (void)unused;
    for (size_t k = 0; k < CONFORM_COUNT(meetings); k++) {
        hd_case c = conform_case(JUDGE_MIXED, "chunk", k + 1, "buckets=12 slots=6 batch=12x1 keys=uniform:300");
        scene x = scene_search(1, 400000);
        scene_part(&x, conform_row("chunk", JUDGE_MIXED), 32, 3, &c);
        x.way.local_first = true;
        x.lay = lay;
        x.context = &meetings[k];
        scene_run(&x, &t);
    }
    test_tried("schedules", t.schedules, "all with at most one preemption, at atomics, of %llu meetings in gfsl",
               t.fixtures);
    check(t.outcome[HD_INSERTED] && t.outcome[HD_ERASED] && t.outcome[HD_HIT], "nothing happened");
}
/* ---- Contention ------------------------------------------------------------------------------ */

/* How many lanes ran the access of that kind in a file. */
static ull lanes_at(const char *file, uint32_t kind)
{
    size_t n;
    ull lanes = 0;
    const simt_site *site = simt_machine_sites(conform_machine, &n);
    for (size_t i = 0; i < n; i++)
        if (site[i].kind == kind && strncmp(simt_site_name(site[i].site), file, strlen(file)) == 0)
            lanes += site[i].lanes;
    return lanes;
}

/* A list of 4,000 entries. */
static void lay_list(fixture *s, uint64_t seed)
{
    hd_rng g = hd_rng_from(seed);
    gfsl_view *v = &((gfsl_table_state *)s->table)->v;
    gfsl_clear(v);
    while (hd_rng_next(&g) && gfsl_places(v) && v->head[0] < 180) {
        uint64_t key = hd_rng_below(&g, 1000000);
        if (gfsl_find(v, key) == WORD_NOWHERE) gfsl_place(v, key, 1);
    }
    memcpy(s->initial, s->memory, s->table_bytes);
}

/* Lock attempts for each lock, where 32 warps insert keys that increase, or keys anywhere. */
static double attempts(bool increase, uint64_t seed)
{
    hd_case c = conform_case(HD_OP_INSERT_OR_ASSIGN, "chunk", seed,
                             "buckets=400 slots=30 batch=512x1 keys=uniform:1000000 distinct=1");
    scene x = scene_begin(0, 32, 1);
    scene_part(&x, conform_row("chunk", HD_OP_INSERT_OR_ASSIGN), 128, 8, &c);
    fixture *s = scene_open(&x);
    lay_list(s, seed);
    for (uint64_t i = 0; increase && i < s->part[0].batch.n; i++) fixture_item(s, 0, i, 1000000 + i, 0);
    simt_config w = simt_config_default();
    w.unit = SIMT_BY_WARP;
    w.preempt = SIMT_AT_ATOMIC;
    w.race = false;
    w.meter = true;
    w.resident = 8;
    w.step_limit = 100000000;
    comparison *a = scene_once(s, &w);
    ull tries = lanes_at("look.h", SIMT_RMW), ends = lanes_at("look.h", SIMT_STREL);
    comparison_close(a);
    return (double)tries / (double)ends;
}

/* Table 1 of the paper: 1.00 where keys lie anywhere, 10.6 where they increase. */
static void increasing_keys_contend(void **unused)
{
    (void)unused;
    double anywhere = attempts(false, 1), increasing = attempts(true, 1);
    print_message("# lock attempts per lock: %.2f for keys anywhere, %.2f for keys that increase\n", anywhere,
                  increasing);
    check(anywhere >= 1 && anywhere < 1.5 && increasing > 3 * anywhere, "%.2f and %.2f", anywhere, increasing);
}

static const struct CMUnitTest tests[] = { unit(meetings_are_exhausted), unit(increasing_keys_contend) };

const conform_design conform_this = { .judge = &judge_design_gfsl,
                                      .shapes = shapes,
                                      .shapes_n = CONFORM_COUNT(shapes),
                                      .restarts = true,
                                      .rounds = rounds,
                                      .schedules = 12,
                                      .whole = 2,
                                      .windows = true,
                                      .look = look,
                                      .special = { "splits", "merges", "new levels" },
                                      .tests = tests,
                                      .tests_n = CONFORM_COUNT(tests) };
