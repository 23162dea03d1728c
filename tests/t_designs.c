/* SPDX-License-Identifier: Apache-2.0
 *
 * t_designs.c - the judge of kernels works for any design: a design that only this program has (line.h), and that
 * shares nothing with HKV, is drawn, run, watched, judged, toured, printed and resized by the same code. A correct
 * kernel passes, and each fault meets its objection.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/comparison.h"
#include "judge/kernels.h"
#include "judge/all_kernels.h"
#include "tests/line.h"
#include "judge/port_hosted.h"
#include "tests/on_machine.h"
#include "tests/testing.h"
#include "tests/toy_design.h"

extern const judge_design judge_design_line, judge_design_toy;

static simt_machine *machine;
static const char *const ops[] = { "find", "insert_or_assign", "erase", "mixed" };
enum { OPS = sizeof ops / sizeof *ops };

/* The judge gets the first two tickets in reversed order. */
const simt_ticket_record *__real_simt_machine_tickets(const simt_machine *m, size_t *n);
const simt_ticket_record *__wrap_simt_machine_tickets(const simt_machine *m, size_t *n);
static bool swapped;
/* Item `item` is told to have been `what`. */
static struct {
    bool on;
    uint64_t item;
    hd_outcome what;
} retold;
const simt_ticket_record *__wrap_simt_machine_tickets(const simt_machine *m, size_t *n)
{
    static simt_ticket_record other[8];
    const simt_ticket_record *t = __real_simt_machine_tickets(m, n);
    for (size_t i = 0; retold.on && i < *n; i++) {
        other[i] = t[i];
        if (t[i].item == retold.item) other[i].what = retold.what;
    }
    if (retold.on) return other;
    if (!swapped) return t;
    check(*n == 2, "%zu tickets", *n);
    other[0] = t[1];
    other[1] = t[0];
    return other;
}

#define SMALL " value=4 pins=0"

static hd_case case_of(const char *op, const char *kernel, const char *tail, uint64_t seed)
{
    char text[512];
    hd_case c;
    snprintf(text, sizeof text, "line.%s.%s" SMALL " %s seed=%llu", op, kernel, tail, (ull)seed);
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    return c;
}

static simt_config way(uint64_t n)
{
    simt_config w = simt_config_default();
    w.unit = n % 3 == 2 ? SIMT_BY_WARP : SIMT_BY_LANE;
    w.strategy = n % 2 ? SIMT_RANDOM : SIMT_PCT;
    w.pct_length = 1000;
    w.seed = n;
    w.weak = n % 4 == 3;
    w.step_limit = 200000;
    return w;
}

/* Some schedules of a case, or of two at a time; what is wrong with them, or NULL. */
static const char *explored(const hd_case *c, uint32_t parts, simt_config w, uint64_t schedules, uint64_t *ran)
{
    static char story[2048];
    const fixture_kernel *kernels[FIXTURE_PARTS];
    fixture_kernel k[FIXTURE_PARTS];
    fixture *s;
    comparison *a;
    simt_exploration e;
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t row;
        must(fixture_kernel_row(&c[i], &row));
        k[i] = fixture_kernel_at(judge_design_of(&c[i]), row, 32, 2);
        kernels[i] = &k[i];
    }
    must(fixture_open(c, kernels, parts, &s));
    must(comparison_open(s, &a));
    comparison_watch_with(a, &w, 1);
    simt_trial trial = comparison_trial(a);
    must(simt_explore(machine, &trial, &w, schedules, 0, 50, &e));
    snprintf(story, sizeof story, "%s", e.finding.story);
    bool wrong = e.wrong;
    *ran += e.schedules;
    simt_exploration_free(machine, &e);
    comparison_close(a);
    return wrong ? story : NULL;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static const char *const shapes[] = {
    "buckets=2 slots=4 batch=8x1 keys=uniform:12 duplicate=200000 reserved=100000",
    "buckets=4 slots=3 batch=16x1 keys=uniform:20",
    "buckets=1 slots=5 batch=3x1 keys=uniform:4 distinct=1",
    "buckets=3 slots=16 batch=40x1 keys=uniform:100 duplicate=100000",
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void a_sound_kernel_agrees(void)
{
    uint64_t ran = 0;
    for (uint64_t n = 0; n < test_times(120); n++) {
        hd_case c = case_of(ops[n % OPS], "sound", shapes[n / OPS % SHAPES], n + 1);
        const char *why = explored(&c, 1, way(n), 10, &ran);
        check(!why, "%s", why);
    }
    for (uint64_t n = 0; n < test_times(20); n++) { /* an item that changes nothing may draw its ticket late */
        hd_case c = case_of("mixed", "late_ticket", shapes[n % SHAPES], n + 1);
        const char *why = explored(&c, 1, way(n), 10, &ran);
        check(!why, "%s", why);
    }
    for (uint64_t n = 0; n < test_times(10); n++) { /* readers beside readers */
        hd_case c[2] = { case_of("find", "sound", shapes[n % SHAPES], n + 1),
                         case_of("find", "sound", shapes[n % SHAPES], n + 2) };
        const char *why = explored(c, 2, way(n), 10, &ran);
        check(!why, "%s", why);
    }
    test_tried("schedules", ran, "of batches on a table that is no HKV, each judged in the order of its tickets");
}

typedef struct fault {
    const char *kernel, *op, *sentence;
} fault;

static const fault faults[] = { { "no_look", "insert_or_assign", "the key is present" },
                                { "no_look", "insert_or_assign", "LINE-2: key" },
                                { "no_lock", "insert_or_assign", "LINE-" },
                                { "wrong_place", "insert_or_assign", "it did not go behind the last one" },
                                { "old_value", "find", "delivered a wrong value" },
                                { "silent_move", "erase", "where the tickets put" },
                                { "move_back", "erase", ": no entry was there" },
                                { "move_far", "erase", "of 8" },
                                { "move_far", "erase", ": its new place was not empty" },
                                { "never_lets_go", "erase", "the lock is still held" },
                                { "never_lets_go", "find", "steps and no end" },
                                { "beside", "find", "" },
                                { "peek", "mixed", ": true at no moment of the batch; at its end: the key is " },
                                { "old_value", "mixed", ", find hit): true at no moment of the batch" },
                                { "no_look", "mixed", "LINE-2: key" },
                                { "silent_move", "mixed", "item" } };

/* Looks through fixtures until a sentence is said; what else is said of a faulty kernel is true, too. */
static void faults_are_said(void)
{
    uint64_t ran = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const fault *f = &faults[i];
        bool said = false;
        char other[256] = "nothing";
        for (uint64_t n = 0; n < 80 && !said; n++) {
            hd_case c = case_of(f->op, f->kernel, n % 2 ? shapes[2] : shapes[0], n + 1);
            simt_config w = way(2 * n + 1);
            if (strstr(f->sentence, "still held")) c.batch = 1; /* else the next one waits for ever */
            const char *why = explored(&c, 1, w, 5, &ran);
            if (why) snprintf(other, sizeof other, "%.255s", why);
            said = why && strstr(why, f->sentence);
        }
        check(said, "%s of %s: no message was '%s'; last: %s", f->op, f->kernel, f->sentence, other);
    }
}

/* The place of item i among the tickets. */
static size_t turn_of(uint64_t i)
{
    size_t n, at = 0;
    const simt_ticket_record *t = simt_machine_tickets(machine, &n);
    while (at < n && t[at].item != i) at++;
    return at;
}

/* Runs the batch, without an objection; its outcomes. */
static const uint8_t *outcomes_of(comparison *a, const fixture *s, simt_config w)
{
    const char *why;
    must(comparison_run(a, machine, &w, &why));
    check(!why, "%s", why);
    return s->part[0].batch.outcome;
}

/* A bucket of 4 slots that holds `first`, and a mixed batch of 8 for *k, which may draw tickets late. */
static void open_mixed(fixture_kernel *k, const uint64_t *first, uint64_t n, const uint64_t *key, const uint8_t *each,
                       fixture **s, comparison **a)
{
    hd_case c = case_of("mixed", "late_ticket", "buckets=1 slots=4 batch=8x1 keys=uniform:9", 1);
    *k = fixture_kernel_at(judge_design_named("line"), LINE_LATE_TICKET, 32, 1);
    must(fixture_open_empty(&c, s));
    must(comparison_open(*s, a));
    must(fixture_batch(*s, k, HD_OP_INSERT_OR_ASSIGN, first, n));
    fixture_reference(*s);
    fixture_begin(*s, (*s)->memory, n);
    must(fixture_batch(*s, k, JUDGE_MIXED, key, 8));
    memcpy(judge_arrays_at(&(*s)->part[0].arrays, JUDGE_EACH), each, 8);
    fixture_changed(*s, 0);
}

/* A find and an insert, or an erase, of one key: the find that looked first and drew its ticket last is right, for
 * before the first ticket it was. A lie about it was never true. */
static void every_moment_counts(void)
{
    uint64_t key[8] = { 5, 5, 6, 6, 7, 7, 7, 7 }, first[2] = { 6, 6 }, late[2] = { 0, 0 };
    const uint8_t each[8] = {
        HD_OP_FIND, HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND, HD_OP_ERASE, HD_OP_FIND, HD_OP_FIND, HD_OP_FIND, HD_OP_FIND
    };
    fixture_kernel k;
    fixture *s;
    comparison *a;
    open_mixed(&k, first, 2, key, each, &s, &a);
    for (uint64_t seed = 0; seed < 200; seed++) {
        const uint8_t *o = outcomes_of(a, s, way(seed * 6 + 1));
        bool missed = o[0] == HD_MISS && turn_of(0) > turn_of(1), hit = o[2] == HD_HIT && turn_of(2) > turn_of(3);
        late[0] += missed;
        late[1] += hit;
        if (!hit) continue;
        ((uint32_t *)s->part[0].batch.value_out)[2] ^= 1;
        const char *why = comparison_judge(a, machine);
        check(why && strstr(why, "mixed.late_ticket: item 2 (key 6, find hit): true at no moment of the batch; at its "
                                 "end: the key is absent"),
              "%s", why ? why : "it passed");
    }
    check(late[0] > 5 && late[1] > 5, "%llu misses and %llu hits drew their tickets too late", (ull)late[0],
          (ull)late[1]);
    comparison_close(a);
}

/* One item takes the only free slot, a second finds no room, and a third erases an entry. The second item may draw its
 * ticket after the erase: there was a moment without room. */
static void there_was_a_moment_without_room(void)
{
    uint64_t key[8] = { 4, 5, 1, 1, 8, 8, 8, 8 }, first[3] = { 1, 2, 3 }, late = 0;
    uint8_t each[8] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_ERASE };
    fixture_kernel k;
    fixture *s;
    comparison *a;
    memset(each + 3, HD_OP_FIND, 5);
    open_mixed(&k, first, 3, key, each, &s, &a);
    for (uint64_t seed = 0; seed < 300; seed++) {
        const uint8_t *o = outcomes_of(a, s, way(seed * 6 + 1));
        for (int i = 0; i < 2; i++)
            late += o[i] == HD_PENDING && turn_of((uint64_t)i) > turn_of(2) && turn_of(2) > turn_of(1 - (uint64_t)i);
    }
    check(late > 5, "%llu drew their tickets when there was room again", (ull)late);
    comparison_close(a);
}

/* Of two that erase one key, the one that missed drew its ticket first: it looked later, and that entries move makes it
 * right. A wrong place is not. */
static void who_misses_may_be_early(void)
{
    fixture_kernel k = fixture_kernel_at(judge_design_named("line"), LINE_SOUND, 32, 1);
    hd_case c = case_of("erase", "sound", "buckets=1 slots=4 batch=2x1 keys=uniform:9", 1);
    uint64_t key[2] = { 6, 6 }, first[2] = { 5, 6 };
    fixture *s;
    comparison *a;
    must(fixture_open_empty(&c, &s));
    must(comparison_open(s, &a));
    must(fixture_batch(s, &k, HD_OP_INSERT_OR_ASSIGN, first, 2));
    fixture_reference(s);
    fixture_begin(s, s->memory, 2);
    must(fixture_batch(s, &k, HD_OP_ERASE, key, 2));
    const uint8_t *o = outcomes_of(a, s, way(1));
    check(o[0] == HD_ERASED && o[1] == HD_MISS, "the second of two launches came first");
    swapped = true;
    const char *why = comparison_judge(a, machine);
    swapped = false;
    check(!why, "%s", why);
    s->part[0].batch.outcome[1] = HD_PENDING;
    why = comparison_judge(a, machine);
    check(why && strstr(why, "was miss, but pending was delivered"), "%s", why ? why : "it passed");
    comparison_close(a);
}

/* Kernels of the design's rows, by name. */
static void rows_are_found(void)
{
    uint32_t row = 99;
    hd_case c = case_of("erase", "silent_move", shapes[0], 1);
    must(fixture_kernel_row(&c, &row));
    check(row == LINE_SILENT_MOVE && strcmp(fixture_row_name(judge_design_of(&c), row), "silent_move") == 0, "row %u",
          row);
    c = case_of("find", "tlpv1", shapes[0], 1);
    must_fail(fixture_kernel_row(&c, &row), HD_EINVAL, "there are sound, late_ticket");
    c = case_of("touch", "sound", shapes[0], 1);
    must_fail(fixture_kernel_row(&c, &row), HD_EINVAL, "sound does not run touch");
    c = case_of("find", "sound", "slots=17", 1);
    must_fail(fixture_kernel_row(&c, &row), HD_EINVAL, "it would go along it for too long");
    snprintf(c.design, sizeof c.design, "cube");
    must_fail(fixture_kernel_row(&c, &row), HD_EINVAL, "no kernels of design cube");
    check(strcmp(judge_design_at(0)->name, "hkv") == 0 && strcmp(judge_design_at(1)->name, "hive") == 0 &&
              strcmp(judge_design_at(2)->name, "gfsl") == 0 && strcmp(judge_design_at(3)->name, "ovs") == 0 &&
              strcmp(judge_design_at(4)->name, "sl") == 0 && strcmp(judge_design_at(5)->name, "gphash") == 0 &&
              strcmp(judge_design_at(6)->name, "line") == 0 && strcmp(judge_design_at(7)->name, "toy") == 0 &&
              !judge_design_at(8),
          "the designs");
}

/* ---- A port that takes all it can from its backend "host" ------------------------------------- */

static const char *toy_explored(const char *op, const char *kernel, const char *tail, uint64_t n, uint64_t *ran)
{
    char text[256];
    hd_case c;
    snprintf(text, sizeof text, "toy.%s.%s value=8 pins=0 slots=32 keys=uniform:90 %s seed=%llu", op, kernel, tail,
             (ull)n + 1);
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    return explored(&c, 1, way(2 * n + 1), 3, ran);
}

static void defaults_judge_a_hosted_design(void)
{
    static const char *const toy_ops[] = { "find", "insert_or_assign", "mixed" };
    static const char *const tails[] = { "buckets=2 batch=20x1 duplicate=200000 reserved=100000",
                                         "buckets=1 batch=12x1", "buckets=4 batch=9x1 distinct=1" };
    uint64_t ran = 0, wrong[2] = { 0, 0 };
    for (uint64_t n = 0; n < test_times(36); n++) {
        const char *why = toy_explored(toy_ops[n % 3], "plain", tails[n / 3 % 3], n, &ran);
        check(!why, "%s", why);
        why = toy_explored("find", "stale", tails[n % 3], n, &ran);
        wrong[0] += why && strstr(why, "delivered a wrong value");
        why = toy_explored("find", "astray", tails[n % 3], n, &ran);
        wrong[1] += why != NULL;
    }
    check(wrong[0] * 4 > test_times(36) && wrong[1] == test_times(36), "%llu of stale and %llu of astray were found",
          (ull)wrong[0], (ull)wrong[1]);
    test_tried("schedules", ran, "of a design whose port says how entries are read, and nothing else");
}

static void objects(comparison *a, const char *sentence)
{
    const char *why = comparison_judge(a, machine);
    check(why && strstr(why, sentence), "'%s' instead of '%s'", why ? why : "it passed", sentence);
}

/* The reference that is its backend's says what an item delivers and what the table is at rest. */
static void defaults_object(void)
{
    const judge_design *d = judge_design_named("toy");
    uint64_t key[8] = { 2, 3, 4, 5, 6, 7, 8, 9 };
    hd_case c;
    fixture *s;
    comparison *a;
    must(hd_case_parse("toy.find.plain value=8 pins=0 buckets=2 slots=32 batch=8x1 keys=uniform:90 seed=1", &c));
    must(fixture_open_empty(&c, &s));
    must(comparison_open(s, &a));
    fixture_kernel k = fixture_kernel_at(d, TOY_LOOKUP, 32, 1), insertion = fixture_kernel_at(d, TOY_INSERT, 32, 1);
    must(fixture_batch(s, &insertion, HD_OP_INSERT_OR_ASSIGN, key, 8));
    check(outcomes_of(a, s, way(1))[3] == HD_INSERTED, "it was not there");
    retold.on = true, retold.item = 3, retold.what = HD_UPDATED, s->part[0].batch.outcome[3] = HD_UPDATED;
    objects(a, "item 3 (key 5, updated): the reference says inserted");
    retold.on = false;
    fixture_begin(s, s->memory, 8);
    must(fixture_batch(s, &k, HD_OP_FIND, key, 8));
    hd_batch *b = &s->part[0].batch;
    const uint8_t *o = outcomes_of(a, s, way(1));
    check(o[3] == HD_HIT, "it was inserted");
    ((uint64_t *)b->value_out)[4] ^= 1;
    objects(a, "item 4 (key 6, hit): delivered a wrong value");
    ((uint64_t *)b->value_out)[4] ^= 1;
    b->score_out[2] ^= 1;
    objects(a, "item 2 (key 4, hit): delivered a wrong score");
    b->score_out[2] ^= 1;
    const char *why = comparison_judge(a, machine);
    check(!why, "%s", why);

    const toy_view *v = &((const toy_state *)s->table)->v;
    uint64_t *place = v->board[0], was[2] = { place[0], place[1] };
    char text[2048];
    check(was[0] == 2, "key %llu is first", (ull)was[0]);
    place[1] ^= 1;
    objects(a, "has another value than in the reference's");
    place[1] = was[1];
    place[0] = 3; /* which is on board 1 */
    comparison_mute(a, COMPARISON_TICKETS | COMPARISON_CONTENTS | COMPARISON_COUNTS);
    objects(a, "key 3 is on board 0 of 2");
    place[0] = HD_KEY_LOCKED;
    fixture_describe(d, s->table, 0, text, sizeof text);
    check(strcmp(text, "locked") == 0, "%s", text);
    place[0] = HD_KEY_EMPTY;
    fixture_describe(d, s->table, 0, text, sizeof text);
    check(strcmp(text, "-") == 0, "%s", text);
    check(!fixture_names(s, "toy: a board", 0, text, sizeof text), "%s", text);

    uint8_t outcome = 0xee;
    uint64_t kept = place[2];
    const hd_batch erase = { .op = HD_OP_ERASE, .n = 1, .key = key + 2, .outcome = &outcome };
    fixture_apply(s, s->table, 0, &erase); /* an operation that the reference does not have */
    check(outcome == 0xee && place[2] == kept, "%s", hd_outcome_name((hd_outcome)outcome));
    comparison_close(a);
}

static int many_arrays(const void *state, hd_memory *all)
{
    (void)state;
    memset(all, 0, (JUDGE_MEMORY_MOST + 1) * sizeof *all);
    return JUDGE_MEMORY_MOST + 1;
}

/* What is asked of rows, of shapes and of descriptions that do not exist. */
static void defaults_refuse(void)
{
    const judge_design *d = judge_design_named("toy");
    hd_case c, small;
    must(hd_case_parse("toy.find.plain value=8 pins=0 buckets=2 slots=32 batch=8x1 keys=uniform:90", &c));
    must(hd_case_parse("toy.find.plain value=4 pins=0 buckets=2 slots=32 batch=8x1 keys=uniform:90", &small));
    check(hosted_runs(d, TOY_LOOKUP, HD_OP_FIND) && !hosted_runs(d, 99, HD_OP_FIND), "row 99 runs something");
    check(hosted_runs(d, TOY_MIXED, JUDGE_MIXED) && !hosted_runs(d, TOY_LOOKUP, JUDGE_MIXED),
          "which row is of mixtures");
    check(!hosted_runs(&judge_design_hkv, 0, JUDGE_MIXED), "a cache runs mixtures");
    check(!hosted_unsupported(d, TOY_LOOKUP, &c) && !hosted_unsupported(d, 99, &c) &&
              !hosted_unsupported(d, TOY_LOOKUP, &small),
          "a table that is none has its reason already");
    check(!fixture_kernel_of_row(d, 99).name, "row 99 has a name");
    check(fixture_wide(d).slots == d->small.slots && fixture_wide(judge_design_named("hive")).slots == 32,
          "the wide table is the small one unless there is another");
    hd_gpu gpu = toy_gpu;
    hd_design host = toy_design;
    judge_design many = *d;
    fixture s = { 0 };
    toy_state state = { 0 };
    gpu.memory = many_arrays;
    host.gpu = &gpu;
    many.host = &host;
    s.design = &many;
    s.table = &state;
    must_fail(hosted_shape(&s, &c), HD_EINVAL, "at most 48 regions");
    must_fail(hosted_shape(&s, &small), HD_EINVAL, "value_bytes");
}

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
static uint64_t takes, refuse_at; /* the take, from 1, that is refused; 0: none */
void *__wrap_calloc(size_t n, size_t bytes) { return ++takes == refuse_at ? NULL : __real_calloc(n, bytes); }

/* Each allocation is refused in turn: the fixture is not made, or the judge says why it passes no verdict. */
static void memory_is_missed(void)
{
    static const char *const toy_ops[] = { "insert_or_assign", "mixed" };
    uint64_t tried = 0, at = 1;
    for (int o = 0; o < 2; o++, at = 1)
        for (bool refused = true; refused; at++) {
            char text[256];
            uint32_t row;
            hd_case c;
            fixture *s = NULL;
            comparison *a = NULL;
            const char *why = NULL;
            snprintf(text, sizeof text,
                     "toy.%s.plain value=8 pins=0 slots=32 buckets=2 batch=9x1 keys=uniform:30 seed=3", toy_ops[o]);
            test_case("%s, and take %llu is refused", text, (ull)at);
            must(hd_case_parse(text, &c));
            must(fixture_kernel_row(&c, &row));
            fixture_kernel k = fixture_kernel_at(judge_design_of(&c), row, 32, 1);
            const fixture_kernel *kernels[] = { &k };
            simt_config w = way(1);
            takes = 0;
            refuse_at = at;
            hd_status status = fixture_open(&c, kernels, 1, &s);
            if (!status) status = comparison_open(s, &a);
            if (!status) status = comparison_run(a, machine, &w, &why);
            refuse_at = 0;
            refused = takes >= at;
            /* an item of a mixed batch may be judged at several moments; one of them is enough */
            bool passed = !status && !why, told = status == HD_ENOMEM || (why && strstr(why, "memory"));
            const char *said = why ? why : status ? hd_why() : "not reported";
            check(refused ? told || (o == 1 && passed) : passed, "%s: %s", hd_status_name(status), said);
            tried += refused;
            comparison_close(a);
        }
    test_tried("memory", tried, "refused to the judge of a design that has its backend's reference");
}

/* ---- Fixtures ---------------------------------------------------------------------------------- */

static void no_fixture_is_made_of_these(void)
{
    fixture *s = NULL;
    fixture_kernel k = fixture_kernel_at(judge_design_named("line"), 0, 0, 0);
    fixture_kernel other = fixture_kernel_at(&judge_design_hkv, 0, 0, 0);
    const fixture_kernel *kernels[] = { &k, &k };
    hd_case c[2] = { case_of("find", "sound", shapes[0], 1), hd_case_default() };
    must(hd_case_parse("hkv.find.tlpv1 buckets=2 slots=4 batch=4x1 keys=uniform:9", &c[1]));
    must_fail(fixture_open(c, kernels, 2, &s), HD_EINVAL, "kernels of design hkv beside those of line");
    c[0] = case_of("find", "sound", "buckets=5", 1);
    must_fail(fixture_open(c, kernels, 1, &s), HD_EINVAL, "1 to 4 parts");
    c[0] = case_of("find", "sound", "", 1);
    c[0].value_bytes = 8;
    must_fail(fixture_open(c, kernels, 1, &s), HD_EINVAL, "values of 4 bytes");
    must(hd_case_parse("hkv.mixed.tlpv1 buckets=2 slots=4 batch=4x1 keys=uniform:9", &c[0]));
    kernels[0] = &other;
    must_fail(fixture_open(c, kernels, 1, &s), HD_EINVAL, "a batch of design hkv is of one operation");
    check(!s, "a fixture is left");
}

/* A case is its fixture: twice the same words, twice the same memory; keys that it cannot hold are among those that are
 * drawn. */
static void fixtures_are_their_cases(void)
{
    fixture_kernel k = fixture_kernel_at(judge_design_named("line"), 0, 0, 0);
    const fixture_kernel *kernels[] = { &k };
    hd_case c =
        case_of("insert_or_assign", "sound", "buckets=2 slots=4 batch=200x1 keys=uniform:12 reserved=300000", 7);
    fixture *s, *t;
    uint64_t reserved = 0;
    must(fixture_open(&c, kernels, 1, &s));
    must(fixture_open(&c, kernels, 1, &t));
    check(s->bytes == t->bytes && memcmp(s->initial, t->initial, s->bytes) == 0, "the same words, another fixture");
    check(fixture_buckets_differ(s, t) == 0, "the same tables differ");
    check(!s->part[0].batch.score, "scores for a design that has none");
    for (uint64_t i = 0; i < s->part[0].batch.n; i++) reserved += s->part[0].batch.key[i] >= LINE_KEYS;
    check(reserved > 20 && reserved < 120, "%llu keys of 200 are reserved", (ull)reserved);
    fixture_close(s);
    fixture_close(t);
}

/* ---- Batch after batch ----------------------------------------------------------------------- */

/* Batches on a table that grows and shrinks between them; the places that tickets name reach as far as the table
 * does. */
static void tables_are_resized_between_batches(void)
{
    enum { BATCHES = 200 };
    const judge_design *d = judge_design_named("line");
    fixture_kernel k = fixture_kernel_at(d, 0, 32, 2);
    hd_case c = case_of("insert_or_assign", "sound", "buckets=1 slots=6 batch=12x1 keys=uniform:40", 3);
    bool fewer = test_times(BATCHES) < BATCHES; /* in which not everything need happen */
    uint64_t random = 5, seen[HD_OP_COUNT_] = { 0 }, pending = 0, most = 0;
    fixture *s;
    comparison *a;
    must(fixture_open_empty(&c, &s));
    must(comparison_open(s, &a));
    must_fail(fixture_resize(s, 5), HD_EINVAL, "1 to 4 parts");
    for (uint64_t n = 0; n < test_times(BATCHES); n++) {
        uint64_t key[12];
        const char *why;
        for (int i = 0; i < 12; i++) key[i] = test_below(&random, 40);
        must(fixture_batch(s, &k,
                           n % 5 == 2   ? HD_OP_FIND
                           : n % 5 == 3 ? HD_OP_ERASE
                           : n % 5 == 4 ? JUDGE_MIXED
                                        : HD_OP_INSERT_OR_ASSIGN,
                           key, 12));
        simt_config w = way(n);
        const hd_batch *b = &s->part[0].batch;
        check((n % 5 == 4) == (b->each != NULL), "batch %llu is mixed, or is not", (ull)n);
        for (int i = 0; b->each && i < 12; i++) seen[b->each[i]]++;
        must(comparison_run(a, machine, &w, &why));
        check(!why, "batch %llu, %llu parts: %s", (ull)n, (ull)d->buckets(s->table), why);
        for (int i = 0; i < 12; i++) pending += s->part[0].batch.outcome[i] == HD_PENDING;
        fixture_begin(s, s->memory, s->clock + 12);
        uint64_t entries = 0, parts = 1 + test_below(&random, LINE_PARTS);
        for (uint64_t b = 0; b < d->buckets(s->table); b++) entries += fixture_entries(d, s->table, b);
        if (entries <= parts * 6)
            must(fixture_resize(s, parts));
        else
            must_fail(fixture_resize(s, parts), HD_EINVAL, "do not fit");
        if (entries > most) most = entries;
    }
    for (int op = 0; op < HD_OP_COUNT_; op++)
        check(d->mix[op] ? seen[op] > 20 || fewer : seen[op] == 0, "%s was drawn %llu times", hd_op_name((hd_op)op),
              (ull)seen[op]);
    check((pending > 10 && most > 12) || fewer, "%llu were pending, %llu entries at most", (ull)pending, (ull)most);
    comparison_close(a);
    must(hd_case_parse("hkv.find.tlpv1 buckets=2 slots=4 batch=4x1 keys=uniform:9", &c));
    must(fixture_open_empty(&c, &s));
    must_fail(fixture_resize(s, 4), HD_EINVAL, "design hkv keeps its own");
    fixture_close(s);
}

static void tours_visit(void)
{
    all_kernels t;
    hd_case c = case_of("mix", "sound", "buckets=4 slots=16 batch=50x6 keys=uniform:60", 2);
    must(all_kernels_run(&c, NULL, NULL, &t));
    check(t.rows == OPS && !t.wrong && strcmp(t.design->name, "line") == 0, "%zu rows, %llu wrong", t.rows,
          (ull)t.wrong);
    for (size_t i = 0; i < t.rows; i++) {
        const all_kernels_row *r = &t.row[i];
        check(!r->dual && !r->unsupported[0] && !r->wrong[0] && r->metered == 50 && r->hits == r->ref_hits &&
                  r->hits > 10 && r->sectors,
              "%s: %s", fixture_op_name(r->op), r->wrong);
    }
    all_kernels_close(&t);
    c = case_of("find", "old_value", "buckets=4 slots=16 batch=50x6 keys=uniform:60", 2);
    must(all_kernels_run(&c, NULL, NULL, &t));
    check(t.rows == 1 && strstr(t.row[0].wrong, "delivered a wrong value") &&
              strncmp(t.row[0].again, "line.find.old_value ", 20) == 0,
          "%s; %s", t.row[0].wrong, t.row[0].again);
    all_kernels_close(&t);
}

/* ---- In words -------------------------------------------------------------------------------- */

static void places_have_names(void)
{
    const judge_design *d = judge_design_named("line");
    hd_case c = case_of("insert_or_assign", "sound", "buckets=2 slots=4 batch=4x1 keys=uniform:9", 1);
    fixture *s, *t;
    char text[1024];
    uint64_t key[4] = { 10, 11, 12, 13 };
    must(fixture_open_empty(&c, &s));
    must(fixture_open_empty(&c, &t));
    must(fixture_batch(s, NULL, HD_OP_INSERT_OR_ASSIGN, key, 4));
    fixture_reference(s);
    check(strcmp(fixture_place(d, s->table, 6, text, sizeof text), "part 1, slot 2") == 0, "%s", text);
    check(d->names(s, "part 1", 16, text, sizeof text) && strcmp(text, "word in part 1, slot 2") == 0, "%s", text);
    check(!d->names(s, "n", 0, text, sizeof text), "%s", text);
    check(fixture_buckets_differ(s, t) == 1, "one part differs, and it is %llu", (ull)fixture_buckets_differ(s, t));
    fixture_draw(d, s->table, "one", t->table, "other", text, sizeof text);
    check(strncmp(text, "part 0\n", 7) == 0 && strstr(text, ">    0  a value") && !strstr(text, "part 1"), "%s", text);
    uint64_t back[4] = { 13, 12, 11, 10 }; /* the same entries in another order, values and all, are the same */
    must(fixture_batch(t, NULL, HD_OP_INSERT_OR_ASSIGN, back, 4));
    for (int i = 0; i < 4; i++)
        memcpy((uint8_t *)judge_arrays_at(&t->part[0].arrays, JUDGE_VALUE) + 4 * i,
               (const uint8_t *)judge_arrays_at(&s->part[0].arrays, JUDGE_VALUE) + 4 * (3 - i), 4);
    fixture_reference(t);
    check(fixture_buckets_differ(s, t) == 0, "the places of entries do not count");
    const line_table *one = (const line_table *)s->table, *other = (const line_table *)t->table;
    *line_at(other, 6) = *line_at(other, 3);
    *line_at(other, 3) = LINE_NOBODY;
    check(fixture_buckets_differ(s, t) == 0, "nor is in which part");
    *line_at(one, 0) = LINE_NOBODY; /* key 10, which the other has in part 1 now */
    check(fixture_buckets_differ(s, t) == 1 && fixture_bucket_differs(d, s->table, t->table, 1),
          "%llu parts differ where the other has an entry more", (ull)fixture_buckets_differ(s, t));
    fixture_close(s);
    fixture_close(t);
}

/* The last test: no table is opened afterwards. */
static void designs_are_added(void **unused)
{
    static hd_design more[HD_DESIGNS_MOST];
    static judge_design judged[HD_DESIGNS_MOST];
    static char name[HD_DESIGNS_MOST][8];
    size_t n = 0;
    (void)unused;
    must_fail(hd_design_add(hd_design_at(1), NULL), HD_EINVAL, "there is a 'hive' already");
    more[0] = (hd_design){ .name = "other", .params = hd_design_named("gfsl")->params };
    must_fail(hd_design_add(&more[0], NULL), HD_EINVAL, "gfsl and other would have the same fields");
    more[0].params = NULL;
    must_fail(judge_design_add(judge_design_at(1), NULL), HD_EINVAL, "has a 'hive' already");
    while (hd_design_at(n)) n++;
    check(strcmp(hd_design_at(n - 2)->name, "sl") == 0 && strcmp(hd_design_at(n - 3)->name, "gfsl") == 0, "the order");
    for (size_t i = 0; i < HD_DESIGNS_MOST; i++) {
        snprintf(name[i], sizeof name[i], "d%zu", i);
        more[i].name = judged[i].name = name[i];
        if (judge_design_at(HD_DESIGNS_MOST - 1))
            must_fail(judge_design_add(&judged[i], NULL), HD_EINVAL, "or no room");
        else
            must(judge_design_add(&judged[i], NULL));
        if (n + i >= HD_DESIGNS_MOST)
            must_fail(hd_design_add(&more[i], NULL), HD_EINVAL, "16 are there; no room");
        else
            must(hd_design_add(&more[i], i == 1 ? "d0" : NULL));
    }
    check(hd_design_at(n) == &more[1] && hd_design_at(n + 1) == &more[0] && hd_design_named("d2") == &more[2],
          "they are in the list");
    check(!hd_design_at(HD_DESIGNS_MOST) && !judge_design_at(HD_DESIGNS_MOST), "the lists end");
}

int main(void)
{
    static const struct CMUnitTest designs[] = { unit(a_sound_kernel_agrees),
                                                 unit(faults_are_said),
                                                 unit(every_moment_counts),
                                                 unit(who_misses_may_be_early),
                                                 unit(there_was_a_moment_without_room),
                                                 unit(rows_are_found),
                                                 unit(defaults_judge_a_hosted_design),
                                                 unit(defaults_object),
                                                 unit(defaults_refuse),
                                                 unit(memory_is_missed),
                                                 unit(no_fixture_is_made_of_these),
                                                 unit(fixtures_are_their_cases),
                                                 unit(tables_are_resized_between_batches),
                                                 unit(tours_visit),
                                                 unit(places_have_names),
                                                 unit(designs_are_added) };
    if (judge_design_add(&judge_design_line, NULL) || judge_design_add(&judge_design_toy, NULL)) return 1;
    return test_run_on(&machine, designs);
}
