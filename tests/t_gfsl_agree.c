/* SPDX-License-Identifier: Apache-2.0
 *
 * t_gfsl_agree.c - the kernels of the skip list gfsl: every operation that they run and mixed batches, against the
 * reference, for many fixtures and schedules; and with every interleaving of few preemptions, items that meet in a
 * split or a merge. HEDDLE_TEST_SCALE makes the search longer or shorter.
 */
#include <stdio.h>
#include <string.h>

#include "base/op.h"
#include "gpu/gfsl/own.h"
#include "judge/rules.h"
#include "ref/gfsl/gfsl.h"
#include "simt/simt.h"
#include "tests/exploring.h"
#include "tests/on_machine.h"

static simt_machine *machine;

/* Small tables, with chunks of every size. */
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
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* What the last runs of fixtures did to chunks. */
typedef struct reached {
    ull splits, merges, raises;
} reached;

static void look_at(const fixture *s, reached *r)
{
    gfsl_own then, now;
    fixture_view(s, s->initial, &then);
    fixture_view(s, s->memory, &now);
    r->splits += now.v.head[0] > then.v.head[0];
    r->merges += now.v.head[GFSL_FREED] > then.v.head[GFSL_FREED];
    r->raises += now.v.head[GFSL_TOP] > then.v.head[GFSL_TOP];
}

static void run_case(const hd_case *c, uint32_t row, uint64_t n, uint64_t window, ull schedules, totals *t, reached *r)
{
    fixture_kernel kernel = fixture_kernel_at(&judge_design_gfsl, row, 32u << n % 2, 1 + (uint32_t)(n / 2 % 3));
    const fixture_kernel *one = &kernel;
    fixture *s;
    comparison *a;
    kernel.window = window;
    must(fixture_open(c, &one, 1, &s));
    must(comparison_open(s, &a));
    const simt_config w = explore_way(n);
    explore_case(machine, a, c, w, w.weak ? 3 : 1, schedules, t);
    look_at(s, r);
    comparison_close(a);
}

static hd_case case_of(const char *shape, int op, uint64_t seed)
{
    char text[512];
    hd_case c;
    snprintf(text, sizeof text, "gfsl.%s.chunk %s seed=%llu", fixture_op_name((hd_op)op), shape, (ull)seed);
    must(hd_case_parse(text, &c));
    return c;
}

static void kernels_agree(void **unused)
{
    totals t;
    reached r = { 0, 0, 0 };
    judge_row row;
    uint64_t n = 0;
    (void)unused;
    memset(&t, 0, sizeof t);
    for (uint32_t at = 0; fixture_row(&judge_design_gfsl, at, &row); at++)
        for (int op = 0; op <= JUDGE_MIXED; op++) {
            if (!fixture_runs(&judge_design_gfsl, at, (hd_op)op)) continue;
            bool whole = op != JUDGE_MIXED && !hd_op_is_keyed(hd_op_row_of((hd_op)op)), lists = op == HD_OP_FIND_MISSED;
            uint64_t times = op == JUDGE_MIXED || op == HD_OP_ERASE || op == HD_OP_INSERT_OR_ASSIGN ? 120 : 24;
            for (uint64_t k = 0; k < test_times(times); k++, n++) {
                hd_case c = case_of(shapes[k % SHAPES], op, n + 1);
                run_case(&c, at, n, lists && k % 2 ? 1 + n * 5 % 34 : 0, whole ? 2 : 12, &t, &r);
            }
        }
    test_tried("schedules", t.schedules, "of %llu fixtures of gfsl, %llu distinct; %llu splits, %llu merges",
               t.fixtures, t.distinct, r.splits, r.merges);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) {
        bool never = o == HD_EVICTED || o == HD_REFUSED || o == HD_PINNED;
        check((t.outcome[o] == 0) == never, "%s: %llu times", hd_outcome_name((hd_outcome)o), t.outcome[o]);
    }
    check(t.fixtures < 300 || (r.splits && r.merges && r.raises), "%llu splits, %llu merges, %llu new levels", r.splits,
          r.merges, r.raises);
}

/* ---- Meetings -------------------------------------------------------------------------------- */

/* A table of one level with a chunk for each number: of keys 100 x chunk + 1 and so on. Word i of text: of chunk i. */
static void lay(fixture *s, const uint32_t *n, uint32_t chunks)
{
    gfsl_view *v = &((gfsl_own *)s->table)->v;
    gfsl_clear(v);
    uint32_t before = 0;
    for (uint32_t k = 0; k < chunks; k++) {
        uint32_t c = k == 0 ? 0 : (uint32_t)v->head[GFSL_USED]++;
        uint64_t *word = gfsl_at(v, c);
        for (uint32_t i = 0; i < v->slots; i++) word[i] = i < n[k] ? (uint64_t)(100 * k + i + 1) << 32 | i : GFSL_EMPTY;
        word[v->slots] = GFSL_EMPTY;
        word[v->slots + 1] = gfsl_seal(0, GFSL_LIVE);
        if (k) gfsl_at(v, before)[v->slots] = (uint64_t)(100 * k) << 32 | c;
        if (k) v->head[0]++;
        before = c;
    }
    memcpy(s->initial, s->memory, s->table_bytes);
}

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

static void meetings_are_exhausted(void **unused)
{
    totals t;
    uint32_t row;
    (void)unused;
    memset(&t, 0, sizeof t);
    for (size_t k = 0; k < sizeof meetings / sizeof *meetings; k++) {
        const meeting *x = &meetings[k];
        hd_case c = case_of("buckets=12 slots=6 batch=12x1 keys=uniform:300", JUDGE_MIXED, k + 1);
        must(fixture_kernel_row(&c, &row));
        fixture_kernel kernel = fixture_kernel_at(&judge_design_gfsl, row, 32, 3);
        const fixture_kernel *one = &kernel;
        fixture *s;
        comparison *a;
        must(fixture_open(&c, &one, 1, &s));
        lay(s, x->n, 3);
        uint8_t *each = (uint8_t *)(uintptr_t)s->part[0].batch.each;
        for (uint32_t i = 0; i < 12; i++) { /* four of a warp, of which three are done at once */
            fixture_item(s, 0, i, i % 4 ? s->keys : x->item[i / 4].key, 0);
            each[i] = (uint8_t)(i % 4 ? HD_OP_FIND : x->item[i / 4].op);
        }
        must(comparison_open(s, &a));
        simt_config w = explore_all(1);
        w.local_first = true;
        explore_case(machine, a, &c, w, 1, 400000, &t);
        comparison_close(a);
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
    const simt_site *site = simt_machine_sites(machine, &n);
    for (size_t i = 0; i < n; i++)
        if (site[i].kind == kind && strncmp(simt_site_name(site[i].site), file, strlen(file)) == 0)
            lanes += site[i].lanes;
    return lanes;
}

/* Lock attempts for each lock, where 32 warps insert keys that increase, or keys anywhere, into a list of 4,000. */
static double attempts(bool increase, uint64_t seed)
{
    hd_case c =
        case_of("buckets=400 slots=30 batch=512x1 keys=uniform:1000000 distinct=1", HD_OP_INSERT_OR_ASSIGN, seed);
    uint32_t row;
    must(fixture_kernel_row(&c, &row));
    fixture_kernel kernel = fixture_kernel_at(&judge_design_gfsl, row, 128, 8);
    const fixture_kernel *one = &kernel;
    const char *why;
    fixture *s;
    comparison *a;
    hd_rng g = hd_rng_from(seed);
    must(fixture_open(&c, &one, 1, &s));
    gfsl_view *v = &((gfsl_own *)s->table)->v;
    gfsl_clear(v);
    while (hd_rng_next(&g) && gfsl_places(v) && v->head[0] < 180) {
        uint64_t key = hd_rng_below(&g, 1000000);
        if (gfsl_find(v, key) == WORD_NOWHERE) gfsl_place(v, key, 1);
    }
    memcpy(s->initial, s->memory, s->table_bytes);
    for (uint64_t i = 0; increase && i < s->part[0].batch.n; i++) fixture_item(s, 0, i, 1000000 + i, 0);
    must(comparison_open(s, &a));
    simt_config w = simt_config_default();
    w.unit = SIMT_BY_WARP;
    w.preempt = SIMT_AT_ATOMIC;
    w.race = false;
    w.meter = true;
    w.resident = 8;
    w.step_limit = 100000000;
    must(comparison_run(a, machine, &w, &why));
    check(!why, "%s", why);
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

int main(void)
{
    static const struct CMUnitTest tests[] = { unit(kernels_agree), unit(meetings_are_exhausted),
                                               unit(increasing_keys_contend) };
    return test_run_on(&machine, tests);
}
