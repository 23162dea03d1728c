/* SPDX-License-Identifier: Apache-2.0
 *
 * conform_agree.c - a design's kernels: every variant, with every operation that it runs and with mixed batches,
 * against the reference, for many fixtures and schedules. Tables that grow and shrink. What the judge's port says of a
 * table. Then what is special to the design (tests/designs/). HEDDLE_TEST_SCALE makes the search longer or shorter.
 */
#include "tests/conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/op.h"
#include "judge/rules.h"
#include "tests/growth_way.h"

simt_machine *conform_machine;

/* ---- Scenes ---------------------------------------------------------------------------------- */

simt_config conform_way(uint64_t n, uint32_t lanes)
{
    simt_config w = simt_config_default();
    (void)lanes;
    w.seed = n * 7919;
    w.unit = n % 4 == 1 ? SIMT_BY_WARP : SIMT_BY_LANE;
    w.strategy = n % 2 ? SIMT_RANDOM : SIMT_PCT;
    w.pct_depth = 3 + (uint32_t)(n / 2 % 2);
    w.pct_length = 4000;
    w.preempt = n % 3 == 0 ? SIMT_AT_SYNC : n % 3 == 1 ? SIMT_AT_ATOMIC : SIMT_AT_ALL;
    w.weak = n % 4 == 2;
    w.step_limit = 20000000;
    return w;
}

simt_config conform_all(uint32_t bound)
{
    simt_config w = simt_config_default();
    w.strategy = SIMT_SEARCH;
    w.preempt = SIMT_AT_ATOMIC;
    w.unit = SIMT_BY_WARP;
    w.bound = bound;
    return w;
}

uint32_t conform_row(const char *variant, int op)
{
    const judge_design *d = conform_this.judge;
    const char *name;
    for (uint32_t row = 0; (name = fixture_row_name(d, row)); row++)
        if ((!variant || strcmp(name, variant) == 0) && fixture_runs(d, row, (hd_op)op)) return row;
    check(false, "%s does not run %s", variant ? variant : "a kernel", fixture_op_name((hd_op)op));
    return 0;
}

hd_case conform_case(int op, const char *variant, uint64_t seed, const char *format, ...)
{
    char shape[512], text[1024];
    hd_case c;
    va_list list;
    va_start(list, format);
    vsnprintf(shape, sizeof shape, format, list);
    va_end(list);
    snprintf(text, sizeof text, "%s.%s.%s %s seed=%llu", conform_this.judge->name, fixture_op_name((hd_op)op), variant,
             shape, (ull)seed);
    must(hd_case_parse(text, &c));
    return c;
}

scene scene_begin(uint64_t n, uint32_t lanes, ull schedules)
{
    scene x;
    memset(&x, 0, sizeof x);
    x.way = conform_this.way ? conform_this.way(n, lanes) : conform_way(n, lanes);
    x.watch = conform_this.watch ? conform_this.watch : x.way.weak ? 3 : 1;
    x.schedules = schedules;
    return x;
}

scene scene_search(uint32_t bound, ull schedules)
{
    scene x = scene_begin(0, 32, schedules);
    x.way = conform_all(bound);
    x.watch = 1;
    return x;
}

void scene_part(scene *x, uint32_t row, uint32_t threads, uint32_t blocks, const hd_case *c)
{
    x->kernel[x->parts] = fixture_kernel_at(conform_this.judge, row, threads, blocks);
    x->c[x->parts++] = *c;
}

void scene_part_of(scene *x, uint32_t row, uint64_t n, const hd_case *c)
{
    scene_part(x, row, 32u << n % 2, 1 + (uint32_t)(n / 2 % 3), c);
}

fixture *scene_open(const scene *x)
{
    const fixture_kernel *kernel[FIXTURE_PARTS] = { &x->kernel[0], &x->kernel[1] };
    fixture *s;
    must(fixture_open(x->c, kernel, x->parts, &s));
    return s;
}

static void count(const fixture *s, const scene *x, const simt_exploration *e, totals *t)
{
    size_t n;
    const simt_ticket_record *ticket = simt_machine_tickets(conform_machine, &n);
    t->schedules += e->schedules;
    t->distinct += e->distinct;
    t->fixtures++;
    for (size_t i = 0; i < n; i++) {
        if (ticket[i].item == JUDGE_MOVE)
            t->moves++;
        else
            t->outcome[ticket[i].what]++;
    }
    if (x->look) return x->look(s, t);
    if (conform_this.look) conform_this.look(s, t);
}

static void objected(const scene *x, const comparison *a, const simt_exploration *e)
{
    static const char *const strategies[] = { "in turn", "random", "pct", "search", "replay" };
    const simt_config *w = &x->way;
    char schedule[512], buckets[4096] = "";
    simt_schedule_print(e->schedule, e->schedule_n, schedule, sizeof schedule);
    if (!e->finding.fault) comparison_draw(a, buckets, sizeof buckets);
    check(false, "%s: %s\nunit %s, %s%s, preempted at %u, blocks of %u threads, %u of them; seed %llu; schedule %s\n%s",
          simt_fault_name(e->finding.fault), e->finding.story, w->unit == SIMT_BY_LANE ? "lane" : "warp",
          strategies[w->strategy], w->weak ? ", weak" : "", w->preempt, x->kernel[0].threads, x->kernel[0].blocks,
          (ull)e->seed, schedule, buckets);
}

void scene_explore(const scene *x, fixture *s, totals *t)
{
    simt_config w = x->way;
    simt_exploration e;
    comparison *a;
    char text[2][1024] = { "", "" };
    for (uint32_t i = 0; i < x->parts; i++) hd_case_print(&x->c[i], text[i], sizeof text[i]);
    test_case("%s%s%s", text[0], x->parts > 1 ? " + " : "", text[1]);
    must(comparison_open(s, &a));
    comparison_watch_with(a, &w, x->watch);
    w.shared_bytes = 48 << 10;
    simt_trial trial = comparison_trial(a);
    must(simt_explore(conform_machine, &trial, &w, x->schedules, 0, 400, &e));
    if (e.wrong) objected(x, a, &e);
    check(w.strategy != SIMT_SEARCH || e.exhausted, "not all schedules were run: %llu", (ull)e.schedules);
    count(s, x, &e, t);
    simt_exploration_free(conform_machine, &e);
    comparison_close(a);
}

void scene_run(const scene *x, totals *t)
{
    fixture *s = scene_open(x);
    if (x->lay) x->lay(s, x->context);
    scene_explore(x, s, t);
}

comparison *scene_once(fixture *s, const simt_config *w)
{
    const char *why;
    comparison *a;
    must(comparison_open(s, &a));
    must(comparison_run(a, conform_machine, w, &why));
    check(!why, "%s", why);
    return a;
}

/* ---- Every operation of every row ------------------------------------------------------------ */

/* The next shape whose table the row runs. */
static hd_case next_case(uint32_t row, int op, uint64_t seed, uint64_t *at)
{
    const conform_design *d = &conform_this;
    const char *variant = fixture_row_name(d->judge, row);
    hd_case c;
    size_t tries = 0;
    do c = conform_case(op, variant, seed, "%s", d->shapes[(*at)++ % d->shapes_n]);
    while (++tries < d->shapes_n && fixture_unsupported(d->judge, row, &c));
    return c;
}

/* Lanes hardly meet in an operation without keys. */
static bool is_whole(int op) { return op != JUDGE_MIXED && !hd_op_is_keyed(hd_op_row_of((hd_op)op)); }

void conform_rows(uint32_t from, uint32_t to, totals *t)
{
    const conform_design *d = &conform_this;
    uint64_t n = 0, at = 0;
    for (uint32_t row = from; row < to; row++) {
        judge_row r;
        check(fixture_row(d->judge, row, &r), "row %u", row);
        for (int op = 0; op <= JUDGE_MIXED; op++) {
            uint64_t rounds = fixture_runs(d->judge, row, (hd_op)op) ? d->rounds(row, op) : 0;
            if (d->restarts) at = 0;
            for (uint64_t k = 0; k < rounds; k++, n++) {
                scene x = scene_begin(n, r.lanes, is_whole(op) ? d->whole : d->schedules);
                hd_case c = { 0 };
                if (!d->set) c = next_case(row, op, n + 1, &at);
                scene_part_of(&x, row, n, &c);
                if (d->windows && op == HD_OP_FIND_MISSED && k % 2) x.kernel[0].window = 1 + n * 5 % 34;
                if (d->set) d->set(&x, row, op, k, n);
                scene_run(&x, t);
            }
        }
    }
}

/* Every outcome of a dictionary, a move if its entries move, and what the design counts. */
static void all_happened(const totals *t)
{
    bool rare = t->fixtures < 100; /* of few fixtures, some have none */
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) {
        bool never = o == HD_EVICTED || o == HD_REFUSED || o == HD_PINNED;
        check(never ? !t->outcome[o] : t->outcome[o] || rare, "%s: %llu times", hd_outcome_name((hd_outcome)o),
              t->outcome[o]);
    }
    check(conform_this.moves ? t->moves || rare : !t->moves, "%llu keys moved", t->moves);
    for (int i = 0; i < CONFORM_SPECIAL && conform_this.special[i]; i++) {
        test_note("last runs: %llu %s", t->special[i], conform_this.special[i]);
        check(t->special[i] || rare, "no %s", conform_this.special[i]);
    }
}

static void agrees(void **unused)
{
    totals t = { 0 };
    (void)unused;
    conform_rows(0, fixture_row_count(conform_this.judge), &t);
    test_tried("schedules", t.schedules, "of %llu fixtures of %s, %llu distinct", t.fixtures, conform_this.judge->name,
               t.distinct);
    all_happened(&t);
}

/* ---- Growing and shrinking ------------------------------------------------------------------- */

/* On the host machine, with race detection and weak memory. */
static void tables_grow(void **unused)
{
    enum { TIMES = 8 };
    const conform_design *d = &conform_this;
    judge_growth all;
    (void)unused;
    memset(&all, 0, sizeof all);
    for (uint64_t n = 0; n < test_times(d->grown); n++) {
        char text[512];
        snprintf(text, sizeof text, "%s.mix.%s seed=%llu", d->judge->name, d->growing[n % d->growing_n], (ull)n + 1);
        growth_try(text, n / d->growing_n + n, TIMES, &all);
    }
    test_tried("schedules", all.grown + all.shrunk, "of growth and shrinking of %s, %llu entries", d->judge->name,
               (ull)all.entries);
    check(all.grown && all.shrunk && all.short_of && (all.stashed || !d->moves),
          "%llu grew, %llu shrank, %llu not as far as was asked; %llu entries were in a stash", (ull)all.grown,
          (ull)all.shrunk, (ull)all.short_of, (ull)all.stashed);
}

/* ---- What the judge's port says -------------------------------------------------------------- */

static void says(const char *got, const char *want)
{
    check(want ? got && strstr(got, want) : !got, "'%s' instead of '%s'", got ? got : "nothing",
          want ? want : "nothing");
}

static fixture *empty_table(const char *shape)
{
    const char *variant = fixture_row_name(conform_this.judge, conform_row(NULL, HD_OP_INSERT_OR_ASSIGN));
    hd_case c = conform_case(HD_OP_INSERT_OR_ASSIGN, variant, 1, "%s", shape);
    fixture *s;
    c.duplicate_ppm = c.reserved_ppm = 0;
    must(fixture_open_empty(&c, &s));
    return s;
}

static const char *place_told(const fixture *s, uint64_t e, char text[JUDGE_SENTENCE])
{
    const judge_design *d = conform_this.judge;
    uint64_t key = d->key_at(s->table, e);
    char line[64];
    fixture_describe(d, s->table, e, line, sizeof line);
    if (key < HD_KEY_RESERVED)
        return fixture_say(text, "%s; key %llx with %x", line, (ull)key, *d->value_at(s->table, e));
    return fixture_say(text, "%s; %s", line, key == HD_KEY_EMPTY ? "empty" : "changing");
}

static const char *item_told(const fixture *s, const conform_step *x)
{
    judge_listing l = { false, 0, 0, NULL };
    simt_ticket_record t;
    memset(&t, 0, sizeof t);
    t.b = x->at;
    return fixture_accept(s, s->table, 0, (uint64_t)x->whose, x->at == CONFORM_NO_TICKET ? NULL : &t, &l);
}

static const char *told(fixture *s, const conform_step *x, char text[JUDGE_SENTENCE])
{
    switch (x->asks) {
    case ASK_CHECK: return fixture_check(s, s->table, text);
    case ASK_PLACE: return place_told(s, x->at, text);
    case ASK_ACCEPT: return item_told(s, x);
    case ASK_MOVE: return conform_this.judge->move(s->table, x->at, (uint64_t)x->whose);
    default: return fixture_watch(s, NULL, false, text);
    }
}

static void region_is_named(const fixture *s, const conform_name *n)
{
    char text[JUDGE_SENTENCE];
    uint32_t i = 0;
    while (i < s->regions && strcmp(s->region[i].name, n->region) != 0) i++;
    check(i < s->regions, "there is no region '%s'", n->region);
    says(fixture_names(s, n->region, n->at, text, sizeof text) ? text : NULL, n->want);
}

static void scripts_are_followed(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < conform_this.scripts_n; k++) {
        const conform_script *script = &conform_this.scripts[k];
        fixture *s = empty_table(script->shape);
        for (size_t i = 0; i < script->steps; i++) {
            const conform_step *x = &script->step[i];
            char text[JUDGE_SENTENCE];
            test_case("script %zu, step %zu", k, i);
            if (x->does) conform_this.change(s, x);
            says(told(s, x, text), x->want);
        }
        for (size_t i = 0; i < script->names; i++) region_is_named(s, &script->name[i]);
        fixture_close(s);
    }
}

/* Brings keys [from, to) with values of this byte, or erases them. */
static void run_keys(fixture *s, hd_op op, uint64_t from, uint64_t to, int value)
{
    uint64_t key[8], n = 0;
    while (from < to) key[n++] = from++;
    must(fixture_batch(s, NULL, op, key, n));
    if (op != HD_OP_ERASE) memset(judge_arrays_at(&s->part[0].arrays, JUDGE_VALUE), value, n * s->value_bytes);
    fixture_reference(s);
}

/* An entry, beside a table without it, one with another value, and one that may have it in another place. */
static void tables_differ(void **unused)
{
    const judge_design *d = conform_this.judge;
    fixture *s = empty_table(conform_this.shapes[0]), *t = empty_table(conform_this.shapes[0]);
    char text[4096];
    uint64_t e = 0;
    (void)unused;
    run_keys(s, HD_OP_INSERT_OR_ASSIGN, 7, 8, 7);
    while (d->key_at(s->table, e) != 7) e++;
    says(fixture_differs(d, s->table, t->table, e), "is not in");
    run_keys(t, HD_OP_INSERT_OR_ASSIGN, 0, 8, 8);
    says(fixture_differs(d, s->table, t->table, e), "has another value than in");
    check(fixture_draw(d, s->table, "one", t->table, "other", text, sizeof text) > 0, "nothing is drawn");
    run_keys(t, HD_OP_INSERT_OR_ASSIGN, 7, 8, 7);
    run_keys(t, HD_OP_ERASE, 0, 7, 0);
    says(fixture_differs(d, s->table, t->table, e), NULL);
    check(fixture_draw(d, s->table, "one", t->table, "other", text, sizeof text) == 0, "%s", text);
    fixture_close(s);
    fixture_close(t);
}

/* The first row that runs mixed batches; NOWHERE: there is none. */
enum { NOWHERE = UINT16_MAX };
static uint32_t mixed_row(void)
{
    const judge_design *d = conform_this.judge;
    for (uint32_t row = 0; row < fixture_row_count(d); row++)
        if (fixture_runs(d, row, JUDGE_MIXED)) return row;
    return NOWHERE;
}

/* What the kernel of a mixed batch counts. */
static void counts_are_judged(void **unused)
{
    const uint32_t row = mixed_row();
    simt_config w = simt_config_default();
    (void)unused;
    hd_case c = conform_case(JUDGE_MIXED, fixture_row_name(conform_this.judge, row), 1, "%s", conform_this.shapes[0]);
    scene x = scene_begin(0, 32, 1);
    scene_part_of(&x, row, 0, &c);
    fixture *s = scene_open(&x);
    comparison *a = scene_once(s, &w);
    uint64_t *counted = &s->part[0].op_tally[s->part[0].batch.each[0]];
    ++*counted;
    says(comparison_judge(a, conform_machine), "were counted");
    --*counted;
    says(comparison_judge(a, conform_machine), NULL);
    comparison_close(a);
}

static int run_all(void)
{
    struct CMUnitTest tests[16] = { unit(agrees), unit(tables_differ) };
    size_t n = 2;
    if (mixed_row() != NOWHERE) tests[n++] = (struct CMUnitTest)unit(counts_are_judged);
    if (conform_this.growing_n) tests[n++] = (struct CMUnitTest)unit(tables_grow);
    if (conform_this.scripts_n) tests[n++] = (struct CMUnitTest)unit(scripts_are_followed);
    for (size_t i = 0; i < conform_this.tests_n; i++) tests[n++] = conform_this.tests[i];
    return test_run_named("tests", tests, n);
}

int main(void)
{
    if (simt_machine_open(NULL, &conform_machine)) return 1;
    int failed = conform_this.run ? conform_this.run() : run_all();
    simt_machine_close(conform_machine);
    return failed;
}
