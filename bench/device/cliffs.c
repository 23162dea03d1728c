/* SPDX-License-Identifier: Apache-2.0
 *
 * cliffs.c - see cliffs.h.
 */
#include "bench/device/cliffs.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "lib/params.h"
#include "bench/machine.h"

/* ---- What there is: a line for each ---------------------------------------------------------- */

enum {
    ORDERED = CLIFF_PROMISED | CLIFF_SORTED,
    AFTER_TOUCH = CLIFF_PROMISED | CLIFF_TOUCHED,
    ALONE = CLIFF_PROMISED | CLIFF_APART,
    CAPTURED = CLIFF_PROMISED | CLIFF_GRAPH
};

/* clang-format off */
const cliff_pattern cliff_patterns[] = {
    { "new",       "new keys, promised distinct",                          CLIFF_SHARE, 0,    0,       CLIFF_PROMISED },
    { "hits",      "keys of the table, promised distinct",                 CLIFF_SHARE, 1,    0,       CLIFF_PROMISED },
    { "hits60",    "60% keys of the table, 40% new, promised distinct",    CLIFF_SHARE, 0.6,  0,       CLIFF_PROMISED },
    { "new_u",     "as new, not promised",                                 CLIFF_SHARE, 0,    0,       0 },
    { "hits_u",    "as hits, not promised",                                CLIFF_SHARE, 1,    0,       0 },
    { "hits60_u",  "as hits60, not promised",                              CLIFF_SHARE, 0.6,  0,       0 },
    { "zipf80",    "Zipf 0.8; the most frequent keys are in the table",    CLIFF_ZIPF,  0.8,  0,       0 },
    { "zipf99",    "Zipf 0.99, likewise",                                  CLIFF_ZIPF,  0.99, 0,       0 },
    { "zipf120",   "Zipf 1.2, likewise",                                   CLIFF_ZIPF,  1.2,  0,       CLIFF_CACHED },
    { "hot1000",   "1,000 keys of the table, each equally often",          CLIFF_HOT,   1000, 0,       CLIFF_CACHED },
    { "one",       "one key of the table in every item",                   CLIFF_HOT,   1,    0,       CLIFF_CACHED },
    { "sorted",    "as hits60, ascending",                                 CLIFF_SHARE, 0.6,  0,       ORDERED },
    { "touched",   "as new, right after every entry was touched",          CLIFF_SHARE, 0,    0,       AFTER_TOUCH },
    { "batch1",    "as hits60, calls of 1 item (not compared)",            CLIFF_SHARE, 0.6,  1,       ALONE },
    { "batch1Ki",  "as hits60, calls of 1,024 items (not compared)",       CLIFF_SHARE, 0.6,  1 << 10, ALONE },
    { "batch32Ki", "as hits60, calls of 32,768 items (not compared)",      CLIFF_SHARE, 0.6,  1 << 15, ALONE },
    { "batch16Mi", "as hits60, calls of 16,777,216 items",                 CLIFF_SHARE, 0.6,  1 << 24, CLIFF_PROMISED },
    { "graph",     "as hits60, the queue captured, launched as one graph", CLIFF_SHARE, 0.6,  0,       CAPTURED },
    { "table",     "operations without keys: all entries (not compared)",  CLIFF_WHOLE, 0,    0,       CLIFF_APART },
};

/* A touch whose batch has room for values. */
static const bench_buffers_row values_out = { HD_OP_TOUCH, TRAY_OUT, HD_HIT, false };

#define NONE HD_OP_COUNT_
const cliff_op cliff_ops[] = {
    { HD_OP_FIND,               NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_FIND_PTR,           NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_FIND_MISSED,        NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_CONTAINS,           NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_TOUCH,              NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_TOUCH,              NONE,            NONE,              NULL,          -1, NULL,
      "touch_values", &values_out },
    { HD_OP_ASSIGN,             NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_ASSIGN_VALUES,      NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_ASSIGN_SCORES,      NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_ACCUM_OR_ASSIGN,    NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_INSERT_OR_ASSIGN,   NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_INSERT_AND_EVICT,   NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_FIND_OR_INSERT,     NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_FIND_OR_INSERT_PTR, NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_LOCK_KEYS,          NONE,            HD_OP_UNLOCK_KEYS, NULL,          -1, NULL, NULL, NULL },
    { HD_OP_UNLOCK_KEYS,        HD_OP_LOCK_KEYS, NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_ERASE,              NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_ERASE_IF,           NONE,            NONE,              "score_below",  0, NULL, NULL, NULL },
    { HD_OP_EXPORT,             NONE,            NONE,              NULL,           1, NULL, NULL, NULL },
    { HD_OP_EXPORT_IF,          NONE,            NONE,              "all",          1, NULL, NULL, NULL },
    { HD_OP_SIZE,               NONE,            NONE,              NULL,           1, NULL, NULL, NULL },
    { HD_OP_SIZE_IF,            NONE,            NONE,              "all",          1, NULL, NULL, NULL },
    { HD_OP_CLEAR,              NONE,            NONE,              NULL,          -1, NULL, NULL, NULL },
    { HD_OP_PROMOTE,            NONE,            NONE,              NULL,          -1,
      "all values are in one tier", NULL, NULL },
};
/* clang-format on */

const size_t cliff_pattern_count = sizeof cliff_patterns / sizeof *cliff_patterns;
const size_t cliff_op_count = sizeof cliff_ops / sizeof *cliff_ops;

const char *cliff_op_name(const cliff_op *o) { return o->name ? o->name : hd_op_name(o->op); }

bool cliff_applies(const cliff_op *o, const cliff_pattern *p)
{
    return hd_op_does(o->op, HD_NEEDS_KEY) == (p->draw != CLIFF_WHOLE);
}

uint64_t cliff_universe(uint64_t capacity)
{
    const uint64_t most = 64ull << 20;
    return capacity < most / 4 ? 4 * capacity : most;
}

bench_shape cliff_shape(const char *backend)
{
    bench_shape shape = bench_shape_of(hd_config_default().design, backend);
    shape.table.threads = 1;
    hd_params_number_set(&shape.table, shape.table.design, "pins", 1); /* a graph may begin with lock_keys */
    hd_params_number_set(&shape.table, shape.table.design, "capture_times", true);
    return shape;
}

/* ---- One cell -------------------------------------------------------------------------------- */

typedef struct measuring {
    const cliff_plan *plan;
    const cliff_op *o;
    const cliff_pattern *p;
    bench_fixture *s;
    const bench_buffers *t;
    cliff_cell *cell;
    uint64_t first;   /* Zipf: ranks that the table has not are keys number first, first + 1, ... */
    uint64_t at;      /* of the listed keys, the next: the calls of a cell share none, of whatever sizes they are */
    uint64_t entered; /* keys that may have entered the table since its state was made */
    uint64_t entries;
    double aside_s; /* of the last queue: what is not timed of it */
} measuring;

static bool inserts(const cliff_op *o) { return hd_op_family(o->op) == HD_FAMILY_UPSERT; }
static bool repeats(const cliff_pattern *p) { return p->draw == CLIFF_ZIPF || p->draw == CLIFF_HOT; }
static bool is_whole(const measuring *m) { return m->p->draw == CLIFF_WHOLE; }

/* Whether the table is in another state afterwards. Pins are taken back, and erase_if erases nothing. */
static bool leaves_traces(const cliff_op *o, const cliff_pattern *p)
{
    bool same = hd_op_row_of(o->op)->role == HD_READER || o->op == HD_OP_ASSIGN_VALUES || o->op == HD_OP_ERASE_IF ||
                hd_op_family(o->op) == HD_FAMILY_PIN;
    return !same || (p->flags & CLIFF_TOUCHED);
}

/* Different keys of the table that a batch needs. */
static uint64_t needed(const cliff_pattern *p, uint64_t n)
{
    return (uint64_t)(p->draw == CLIFF_SHARE ? p->of * (double)n + 0.5 : p->draw == CLIFF_HOT ? p->of : 0);
}

/* A key of a batch is not there a second time: erased, or pinned and unpinned. */
static bool uses_up(const cliff_op *o) { return o->op == HD_OP_ERASE || hd_op_family(o->op) == HD_FAMILY_PIN; }

/* The share of n items whose keys are in the table, if none enters it and none leaves. */
static double share_of(const measuring *m, uint64_t n)
{
    const cliff_pattern *p = m->p;
    if (p->draw == CLIFF_HOT) return 1;
    if (p->draw != CLIFF_ZIPF) return (double)needed(p, n) / (double)n;
    hd_zipf all = hd_zipf_of(p->of, cliff_universe(m->s->info.capacity));
    return (hd_zipf_H(&all, (double)m->s->presents + 0.5) - all.low) * 0x1p-53 / all.step;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static bench_draw drawing(measuring *m, uint64_t n)
{
    const cliff_pattern *p = m->p;
    bench_fixture *s = m->s;
    bench_draw d = bench_fixture_draw(s, n, repeats(p) ? n : needed(p, n), 0);
    if (!repeats(p)) {
        d.at = m->at;
        m->at = s->presents ? (m->at + d.hits) % s->presents : 0;
        return d;
    }
    d.skewed = true;
    d.law = p->draw == CLIFF_HOT ? hd_zipf_of(0, (uint64_t)p->of) : hd_zipf_of(p->of, cliff_universe(s->info.capacity));
    d.fresh = m->first;
    if (uses_up(m->o)) d.list = bench_order_of(s->presents, d.seed); /* other keys than the call before */
    return d;
}

static hd_batch batch_of(const measuring *m, uint64_t c, uint64_t n)
{
    hd_batch b = bench_buffers_batch(m->t, m->s, c);
    b.n = n;
    b.distinct = m->p->flags & CLIFF_PROMISED;
    b.pred = m->o->pred;
    b.elem = m->plan->elem;
    b.holder = hd_op_does(m->o->op, HD_NEEDS_HOLDER);
    return b;
}

/* Fills the arrays of call c. */
static hd_status draw(measuring *m, uint64_t c, uint64_t n)
{
    const bench_device *device = m->s->device;
    hd_batch b = batch_of(m, c, n);
    uint64_t *key = (uint64_t *)(uintptr_t)b.key; /* the buffers' */
    if (is_whole(m)) return HD_OK;
    bench_draw d = drawing(m, n);
    hd_status e = device->keys(&d, key);
    if (!e && (m->p->flags & CLIFF_SORTED)) e = device->sort(key, n);
    if (!e && b.value) e = device->values(key, n, m->s->shape.words, 1, (void *)(uintptr_t)b.value);
    if (!e && b.score) e = bench_fixture_score(m->s, &b, (uint64_t *)(uintptr_t)b.score);
    m->entered += inserts(m->o) ? (uint64_t)((1 - share_of(m, n)) * (double)n) + 1 : 0;
    return e;
}

/* Another operation with the keys of so many calls; nothing for HD_OP_COUNT_. */
static hd_status aside(measuring *m, hd_op op, uint64_t calls, uint64_t n)
{
    hd_status e = HD_OK;
    double from = machine_wall_s();
    for (uint64_t c = 0; c < calls && op != HD_OP_COUNT_ && !e; c++) {
        hd_batch b = { .op = op, .n = n, .key = batch_of(m, c, n).key, .holder = 1, .stream = m->s->device->stream() };
        b.distinct = m->p->flags & CLIFF_PROMISED;
        e = hd_run(m->s->table, &b);
    }
    if (!e && op != HD_OP_COUNT_) e = m->s->device->wait();
    m->aside_s += machine_wall_s() - from;
    return e;
}

/* ---- Time ------------------------------------------------------------------------------------ */

static hd_status run_all(const measuring *m, uint64_t calls, uint64_t n)
{
    hd_status e = HD_OK;
    for (uint64_t c = 0; c < calls && !e; c++) {
        hd_batch b = batch_of(m, c, n);
        e = hd_run(m->s->table, &b);
    }
    return e;
}

/* The same by one launch of a graph; *graph is the caller's to forget. */
static hd_status capture_all(const measuring *m, uint64_t calls, uint64_t n, void **graph)
{
    const bench_device *device = m->s->device;
    hd_status e = device->capture();
    if (e) return e;
    e = run_all(m, calls, n);
    hd_status ended = device->captured(graph);
    return e ? e : ended;
}

static hd_status count(const measuring *m, uint64_t *outcome, int sign)
{
    hd_counters c;
    hd_status e = hd_counters_sync(m->s->table, &c);
    for (int o = 0; o < HD_OUTCOME_COUNT && !e; o++) outcome[o] += sign > 0 ? c.outcome[o] : 0 - c.outcome[o];
    return e;
}

/* So many calls of n items, whose arrays are filled; *seconds for all. */
static hd_status queue(measuring *m, uint64_t calls, uint64_t n, uint64_t *outcome, double *seconds)
{
    const bench_device *device = m->s->device;
    void *graph = NULL;
    m->aside_s = 0;
    hd_status e = aside(m, m->o->before, calls, n);
    if (!e) e = count(m, outcome, -1);
    if (!e && (m->p->flags & CLIFF_GRAPH)) e = capture_all(m, calls, n, &graph);
    if (!e) e = device->wait();
    if (!e) e = device->begin();
    if (!e) e = graph ? device->launch(graph) : run_all(m, calls, n);
    if (!e) e = device->end(seconds);
    if (!e) e = count(m, outcome, 1);
    if (graph) device->forget(graph);
    return e ? e : aside(m, m->o->after, calls, n);
}

/* ---- Climb ----------------------------------------------------------------------------------- */

enum { STEP_BITS = 3, LEVELS = 3 };

/* A call that was made, and the one before it. */
typedef struct climb {
    unsigned level; /* its batch is n >> 3 level */
    uint64_t n, before_n;
    double seconds, before_s;
} climb;

static uint64_t size_at(uint64_t n, unsigned level) { return n >> STEP_BITS * level; }

/* What a call of `to` items will take, if the time grows with that power of the items. */
static double predicted(const climb *c, uint64_t to, double power)
{
    return c->seconds * pow((double)to / (double)c->n, power);
}

/* The power by which the time grew last: 1 at least; 2 where all items wait for each other, or if it is not known. */
static double power_of(const climb *c)
{
    if (c->before_n == 0) return 2;
    double power = log(c->seconds / c->before_s) / log((double)c->n / (double)c->before_n);
    return power > 1 ? fmin(power, 2) : 1;
}

/* The next level; the present one: none may be tried. A leap over levels is for calls that cannot pass the limit; the
 * next level also for those that grow as they did. */
static unsigned next_level(const climb *c, uint64_t n, double limit_s)
{
    unsigned level = 0;
    while (level < c->level && predicted(c, size_at(n, level), 2) > limit_s) level++;
    if (level == c->level && level > 0 && predicted(c, size_at(n, level - 1), power_of(c)) <= limit_s) level--;
    return level;
}

/* The first call of a kernel takes longer: what would end the climb is measured twice. */
static hd_status climb_up(measuring *m, uint64_t n, climb *c, uint64_t *outcome)
{
    bool again = false;
    memset(c, 0, sizeof *c);
    c->level = is_whole(m) ? 0 : LEVELS;
    while (c->level && size_at(n, c->level) == 0) c->level--;
    for (;;) {
        double seconds = 0;
        c->n = size_at(n, c->level);
        memset(outcome, 0, HD_OUTCOME_COUNT * sizeof *outcome);
        hd_status e = draw(m, 0, c->n);
        if (!e) e = queue(m, 1, c->n, outcome, &seconds);
        if (e || c->level == 0) return c->seconds = seconds, e;
        seconds = fmax(seconds, m->aside_s);
        c->seconds = again ? fmin(c->seconds, seconds) : seconds;
        unsigned level = next_level(c, n, m->plan->limit_s);
        if (level == c->level && again) return HD_OK;
        again = level == c->level;
        if (again) continue;
        c->before_n = c->n;
        c->before_s = c->seconds;
        c->level = level;
    }
}

/* ---- State ----------------------------------------------------------------------------------- */

/* In the order of the slots; at most `at_once` at a time. */
static hd_status touch_all(bench_fixture *s)
{
    hd_status e = bench_fixture_list(s, 0);
    for (uint64_t done = 0, some; done < s->presents && !e; done += some) {
        some = s->presents - done < s->at_once ? s->presents - done : s->at_once;
        hd_batch b = { .op = HD_OP_TOUCH, .distinct = true, .n = some, .key = s->present + done };
        b.stream = s->device->stream();
        e = bench_fixture_score(s, &b, s->score);
        if (!e) e = hd_run(s->table, &b);
    }
    bench_fixture_changed(s);
    return e;
}

static hd_status prepare(measuring *m, uint64_t n)
{
    const double left_out = 0.25;
    bench_fixture *s = m->s;
    hd_status e = bench_fixture_level(s, s->info.capacity);
    if (!e && (m->p->flags & CLIFF_TOUCHED)) e = touch_all(s);
    if (!e && !is_whole(m)) e = bench_fixture_list(s, left_out);
    if (!e) e = bench_fixture_size(s, &m->entries);
    m->entered = 0;
    m->at = s->presents ? hd_mix64(s->drawn) % s->presents : 0;
    m->first = s->fresh;
    if (m->p->draw == CLIFF_ZIPF) s->fresh += cliff_universe(s->info.capacity);
    m->cell->load = (double)m->entries / (double)s->info.capacity;
    if (!e && needed(m->p, n) > s->presents && !is_whole(m))
        e = hd_fail(HD_EINVAL, "%" PRIu64 " keys of the table, of %" PRIu64 " that are listed", needed(m->p, n),
                    s->presents);
    return e;
}

/* ---- Check ----------------------------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3))) wrong(cliff_cell *cell, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(cell->why, sizeof cell->why, format, args);
    va_end(args);
    cell->wrong = true;
}

/* Outcomes that an item of a keyed operation may have, one bit each. */
static unsigned allowed(const measuring *m)
{
    unsigned found = 1u << m->t->row->found;
    if (m->o->op == HD_OP_LOCK_KEYS && repeats(m->p)) found |= 1u << HD_PINNED; /* by an item before */
    return found | (inserts(m->o) ? 1u << HD_INSERTED | 1u << HD_EVICTED | 1u << HD_REFUSED : 1u << HD_MISS);
}

/* Of one repetition. Fewer may be found where entries left, or were erased by an item before; more where an item before
 * inserted the key. */
static void check_outcomes(measuring *m, const uint64_t *outcome, uint64_t items)
{
    cliff_cell *cell = m->cell;
    uint64_t sum = 0;
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) {
        sum += outcome[o];
        if (outcome[o] && !(allowed(m) >> o & 1))
            wrong(cell, "%" PRIu64 " items are %s", outcome[o], hd_outcome_name((hd_outcome)o));
    }
    double slack = 0.01 + 3 / sqrt((double)items);
    double found = (double)(outcome[m->t->row->found] + outcome[HD_PINNED]) / (double)items;
    double left = fmin((double)m->entered / (double)m->s->info.capacity, 1);
    double least = cell->expected * (1 - left) - slack, most = cell->expected + slack;
    if (repeats(m->p) && uses_up(m->o) && m->o->op != HD_OP_LOCK_KEYS) least = 0;
    if (repeats(m->p) && inserts(m->o)) most = 1;
    if (sum != items) wrong(cell, "%" PRIu64 " items were timed, the counters say %" PRIu64, items, sum);
    if (!cell->wrong && (found < least || found > most))
        wrong(cell, "%.4f of the items found their keys, not %.4f to %.4f", found, fmax(least, 0), fmin(most, 1));
}

/* Of an operation on all entries. */
static hd_status check_count(measuring *m, uint64_t calls)
{
    uint64_t counted = 0, expected = (uint64_t)(m->o->counts * (double)m->entries);
    if (m->o->counts < 0) return HD_OK;
    hd_status e = m->s->device->read(&counted, batch_of(m, calls - 1, m->cell->n).count, sizeof counted);
    if (!e && counted != expected) wrong(m->cell, "%" PRIu64 " entries are counted, not %" PRIu64, counted, expected);
    return e;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* One more time per item, and its outcomes. */
static hd_status take(measuring *m, uint64_t calls, uint64_t n, double seconds, const uint64_t *outcome)
{
    cliff_cell *cell = m->cell;
    cell->n = n;
    cell->calls = calls;
    cell->expected = is_whole(m) ? 0 : share_of(m, n);
    cell->item_s[cell->times++] = seconds / ((double)calls * (double)n);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) cell->outcome[o] += outcome[o];
    if (is_whole(m)) return check_count(m, calls);
    check_outcomes(m, outcome, calls * n);
    return HD_OK;
}

/* The number of calls of n items in a queue: as many items as the plan has, in at most 256 calls. 0: no queue; the last
 * call of the climb is the result. */
static uint64_t calls_of(const cliff_plan *plan, const cliff_op *o, const cliff_pattern *p, uint64_t n)
{
    enum { MOST = 256 };
    if (o->op == HD_OP_CLEAR || (p->flags & CLIFF_TOUCHED)) return 0;
    uint64_t calls = p->draw == CLIFF_WHOLE ? plan->calls : plan->batch * plan->calls / n;
    return calls < MOST ? calls : MOST;
}

static hd_status repetition(measuring *m, uint64_t n, uint64_t calls)
{
    uint64_t outcome[HD_OUTCOME_COUNT];
    climb c;
    hd_status e = prepare(m, n);
    if (!e) e = climb_up(m, n, &c, outcome);
    if (e) return e;
    double fit = m->plan->limit_s / fmax(c.seconds, 1e-9);
    if (fit < (double)calls) calls = (uint64_t)fit;
    m->cell->below = c.level > 0;
    if (c.level > 0 || calls == 0) return take(m, 1, c.n, c.seconds, outcome);
    double seconds = 0;
    memset(outcome, 0, sizeof outcome);
    for (uint64_t i = 0; i < calls && !e; i++) e = draw(m, i, n);
    if (!e) e = queue(m, calls, n, outcome, &seconds);
    return e ? e : take(m, calls, n, seconds, outcome);
}

/* Why there can be no such cell; true then. */
static bool is_impossible(const measuring *m, uint64_t n)
{
    const bench_fixture *s = m->s;
    cliff_cell *cell = m->cell;
    if (m->o->why)
        snprintf(cell->why, sizeof cell->why, "%s", m->o->why);
    else if ((m->p->flags & CLIFF_GRAPH) && !s->device->capture)
        snprintf(cell->why, sizeof cell->why, "this backend has no graphs");
    else if (n > s->info.places)
        snprintf(cell->why, sizeof cell->why, "a batch of %" PRIu64 " items, of a table of %" PRIu64 " entries", n,
                 s->info.places);
    return *cell->why;
}

hd_status cliff_measure(const cliff_plan *plan, const cliff_op *o, const cliff_pattern *p, bench_fixture *s,
                        bench_buffers *t, cliff_cell *cell)
{
    measuring m = { .plan = plan, .o = o, .p = p, .s = s, .t = t, .cell = cell };
    uint64_t n = is_whole(&m) ? s->info.places : p->batch ? p->batch : plan->batch;
    uint64_t calls = calls_of(plan, o, p, n);
    memset(cell, 0, sizeof *cell);
    cell->n = n;
    if (is_impossible(&m, n)) return HD_OK;
    const bench_buffers_row *row = o->arrays ? o->arrays : bench_buffers_any(o->op);
    uint64_t fit = bench_buffers_calls(&s->shape, row, n, plan->memory_most);
    if (calls > fit) calls = fit;
    hd_status e = bench_buffers_set(t, s->device, &s->shape, row, n, calls ? calls : 1);
    for (uint64_t i = 0; i < plan->repeat && !e && !cell->wrong; i++) {
        e = repetition(&m, n, calls);
        s->blank = e || cell->wrong || leaves_traces(o, p);
    }
    if (cell->wrong) cell->times = 0;
    if (e != HD_EINVAL && e != HD_ENOMEM) return e;
    snprintf(cell->why, sizeof cell->why, "%s", hd_why()); /* this one cannot be measured; others may */
    return cell->times = 0, HD_OK;
}
