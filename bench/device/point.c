/* SPDX-License-Identifier: Apache-2.0
 *
 * point.c - measures a point, from its load factor to its times.
 */
#include "bench/device/point.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine.h"
#include "bench/median.h"
#include "base/error.h"

/* ---- What a point asks of the table ---------------------------------------------------------- */

uint64_t point_hits(const bench_point *p)
{
    uint64_t of = p->op == BENCH_MIXED ? p->n - bench_mixed_inserts(p->n) : p->n,
             hits = (uint64_t)(p->hits * (double)of + 0.5);
    return hits < of ? hits : of;
}

uint64_t point_changes(const bench_point *p)
{
    if (p->op == HD_OP_ERASE) return point_hits(p);
    if (p->op == BENCH_MIXED) return bench_mixed_inserts(p->n) - bench_mixed_erases(point_hits(p));
    return bench_buffers_inserts(p->op) ? p->n - point_hits(p) : 0;
}

const char *point_unsupported_row(const bench_point *p, const bench_fixture *s, const hd_kernel *row)
{
    static const uint8_t any = HD_OP_FIND;
    hd_batch b = { .op = p->op, .each = p->op == BENCH_MIXED ? &any : NULL };
    return hd_kernel_unsupported(row, &s->info, &b);
}

const char *point_unsupported(const bench_point *p, const bench_fixture *s)
{
    const char *why = "there is no such variant on this backend";
    hd_kernel k;
    if (!p->variant) return NULL;
    for (uint32_t row = 0; hd_kernel_named(s->info.design, s->info.backend, row, &k); row++) {
        if (!hd_variant_is_named(k.variant, p->variant)) continue;
        why = point_unsupported_row(p, s, &k);
        if (!why) return NULL;
    }
    return why;
}

/* How a repetition goes: `parts` queues of `calls` calls each. */
typedef struct course {
    uint64_t calls, parts, level; /* level: entries when a part begins */
    double left_out;              /* of the list that hits come from   */
} course;

/* Entries come, in the balance. */
static bool brings(const bench_point *p) { return bench_buffers_inserts(p->op) || p->op == BENCH_MIXED; }

/* One call, after which the table is at its load factor, or before it. */
static course bulk_course(const bench_point *p)
{
    course c = { 1, 1, p->n, 0 };
    if (brings(p)) c.level = p->n - point_changes(p);
    return c;
}

/* How many calls a part may have: less where what is to be found would leave, or a full table would not be full. */
static uint64_t calls_most(const bench_point *p, const bench_fixture *s, uint64_t calls)
{
    enum { DRIFT = 40 };
    uint64_t changes = point_changes(p), share = !s->evicts ? DRIFT : p->load >= 1 && p->hits > 0 ? 8 : 3;
    uint64_t most = changes ? s->info.capacity / share / changes : calls;
    if (most == 0) most = 1;
    return most < calls ? most : calls;
}

/* Entries when a part begins: half of what it changes below or above its load factor. */
static uint64_t level_of(const bench_point *p, uint64_t capacity, uint64_t calls)
{
    uint64_t half = calls * point_changes(p) / 2, level = (uint64_t)(p->load * (double)capacity);
    if (p->load >= 1) return capacity;
    if (brings(p)) return level - (half < level ? half : level);
    if (p->op == HD_OP_ERASE) return level + half < capacity ? level + half : capacity - 1;
    return level;
}

/* The oldest leave first: what is to be found is not among them. */
static double left_out_of(const bench_point *p, const bench_fixture *s, uint64_t calls)
{
    if (!s->evicts || !brings(p)) return 0;
    if (p->load >= 1) return 0.1 + 1.5 * (double)(calls * point_changes(p)) / (double)s->info.capacity;
    return p->load > 0.6 ? 0.25 : 0;
}

static course course_of(const bench_point *p, const bench_effort *effort, const bench_fixture *s)
{
    enum { LEAST = 20, MOST = 256, ITEMS = 4 << 20, PARTS = 5 };
    course c = { effort->calls, 1, 0, 0 };
    if (p->bulk) return bulk_course(p);
    uint64_t fits = bench_buffers_calls(&s->shape, bench_buffers_row_of(p->op), p->n, effort->memory_most);
    if (c.calls == 0) c.calls = ITEMS / p->n < LEAST ? LEAST : ITEMS / p->n > MOST ? MOST : ITEMS / p->n;
    uint64_t all = c.calls;
    c.calls = calls_most(p, s, c.calls);
    if (c.calls > fits) c.calls = fits;
    c.parts = (all + c.calls - 1) / c.calls;
    if (!s->evicts && point_changes(p) && c.parts > PARTS) c.parts = PARTS; /* each on a new table */
    c.level = level_of(p, s->info.capacity, c.calls);
    c.left_out = left_out_of(p, s, c.calls);
    return c;
}

/* ---- Drawing and restoring ------------------------------------------------------------------- */

hd_status point_draw(const bench_point *p, bench_fixture *s, const bench_buffers *t, uint64_t c, uint32_t generation,
                     bench_mix *mix)
{
    hd_batch b = bench_buffers_batch(t, s, c);
    if (p->op == HD_OP_EXPORT) return HD_OK;
    bench_draw d = bench_fixture_draw(s, p->n, point_hits(p), p->zipf);
    bench_mix m = bench_mix_of(&d);
    if (mix) *mix = m;
    hd_status e = s->device->keys(&d, (uint64_t *)(uintptr_t)b.key); /* the tray's */
    if (!e && b.value) e = s->device->values(b.key, p->n, s->shape.words, generation, (void *)(uintptr_t)b.value);
    if (!e && b.score) e = bench_fixture_score(s, &b, (uint64_t *)(uintptr_t)b.score);
    if (!e && b.each) e = s->device->ops(&m, (uint8_t *)(uintptr_t)b.each);
    return e;
}

/* What the calls since key number `fresh` did is undone, as far as it can be; what cannot is made anew by
 * bench_fixture_level. */
static hd_status restore(const bench_point *p, bench_fixture *s, const bench_buffers *t, uint64_t calls, uint64_t fresh)
{
    hd_status e = HD_OK;
    if (point_changes(p) == 0) return HD_OK;
    bench_fixture_changed(s);
    if (!s->evicts) s->blank = true;
    if (p->zipf > 0 && (p->load < 1 || p->op == HD_OP_ERASE)) s->blank = true; /* which ranks came is not known */
    if (s->blank) return HD_OK;
    if (p->op != HD_OP_ERASE) return p->load < 1 ? bench_fixture_put_numbers(s, fresh, s->fresh - fresh, true) : HD_OK;
    for (uint64_t c = 0; c < calls && !e; c++) e = bench_fixture_put(s, bench_buffers_batch(t, s, c).key, p->n);
    return e;
}

/* ---- Proving on a table that is small enough to be checked ----------------------------------- */

static hd_status set_up(const bench_point *p, const course *c, bench_fixture *s, uint64_t *fresh)
{
    hd_status e = bench_fixture_level(s, c->level);
    *fresh = s->fresh;
    if (e || p->op == HD_OP_EXPORT) return e;
    if (point_hits(p) || p->zipf > 0) e = bench_fixture_list(s, c->left_out);
    if (!e) e = bench_fixture_settle(s, p->zipf);
    if (!e && point_hits(p) > s->presents)
        e = hd_fail(HD_EINVAL, "batch: %" PRIu64 " keys to be found, of %" PRIu64 " in the table", point_hits(p),
                    s->presents);
    return e;
}

static hd_status prove_here(const bench_point *p, const course *c, bench_fixture *s, bench_buffers *t, bench_measure *m)
{
    uint64_t fresh = 0;
    hd_status e = set_up(p, c, s, &fresh);
    if (!e) e = point_prove(p, s, t, m);
    return e || *m->wrong ? e : restore(p, s, t, 1, fresh);
}

static hd_status prove_small(const bench_point *p, const bench_fixture *large, bench_measure *m)
{
    enum { BUCKETS = 256, CALL_OF = 32 };
    bench_fixture s;
    bench_buffers t;
    bench_point small = *p;
    bench_shape shape = large->shape;
    bench_effort once = { 1, 1, true, false, false, 0, UINT64_MAX };
    if (shape.table.capacity > (uint64_t)BUCKETS * shape.table.slots)
        shape.table.capacity = (uint64_t)BUCKETS * shape.table.slots;
    if (small.n > shape.table.capacity / CALL_OF) small.n = shape.table.capacity / CALL_OF + 1;
    if (p->op == HD_OP_EXPORT) small.n = shape.table.capacity;
    if (p->bulk) small.n = (uint64_t)(p->load * (double)shape.table.capacity);
    memset(&t, 0, sizeof t);
    hd_status e = bench_fixture_open(&s, large->device, &shape);
    if (e) return e;
    course c = course_of(&small, &once, &s);
    e = bench_buffers_set(&t, s.device, &shape, bench_buffers_row_of(p->op), small.n, 1);
    if (!e) e = prove_here(&small, &c, &s, &t, m);
    if (!e && !*m->wrong && hd_check(s.table))
        snprintf(m->wrong, sizeof m->wrong, "on a table of %" PRIu64 " entries: %s", shape.table.capacity, hd_why());
    bench_buffers_drop(&t, s.device);
    bench_fixture_close(&s);
    return e;
}

/* ---- Timing ---------------------------------------------------------------------------------- */

hd_batch point_batch(const bench_point *p, const bench_fixture *s, const bench_buffers *t, uint64_t c)
{
    hd_batch b = bench_buffers_batch(t, s, c);
    b.distinct = p->zipf <= 0;
    b.kernel = p->variant;
    return b;
}

static hd_status queue_of(const bench_point *p, bench_fixture *s, const bench_buffers *t, uint64_t calls,
                          double *seconds, bench_measure *m)
{
    hd_status e = s->device->begin();
    for (uint64_t c = 0; c < calls && !e; c++) {
        hd_batch b = point_batch(p, s, t, c);
        e = hd_run(s->table, &b);
        m->ran = b.ran;
    }
    double part = 0;
    if (!e) e = s->device->end(&part);
    *seconds += part;
    return e;
}

/* One call at a time; each takes its own place in all[]. */
static hd_status walls_of(const bench_point *p, bench_fixture *s, const bench_buffers *t, uint64_t calls, double *all,
                          bench_measure *m)
{
    hd_status e = HD_OK;
    for (uint64_t c = 0; c < calls && !e; c++) {
        hd_batch b = point_batch(p, s, t, c);
        double from = machine_wall_s();
        e = hd_run(s->table, &b);
        if (!e) e = s->device->wait();
        all[c] = machine_wall_s() - from;
        m->ran = b.ran;
    }
    return e;
}

/* The counters of the table, which only timed calls may move between the two. */
static hd_status counted(bench_fixture *s, uint64_t *fate, int sign)
{
    hd_counters c;
    hd_status e = hd_counters_sync(s->table, &c);
    for (int o = 0; o < HD_OUTCOME_COUNT && !e; o++) fate[o] += sign > 0 ? c.outcome[o] : 0 - c.outcome[o];
    return e;
}

/* The table as a part of a course begins with it, and the batches of its calls. */
static hd_status fill_in(const bench_point *p, const course *c, bench_fixture *s, const bench_buffers *t, bool first,
                         uint64_t *fresh, bench_measure *m)
{
    uint64_t size = 0;
    hd_status e = set_up(p, c, s, fresh);
    if (!e && first) e = bench_fixture_size(s, &size);
    if (first) m->load = (double)size / (double)s->info.capacity;
    for (uint64_t i = 0; i < c->calls && !e; i++) e = point_draw(p, s, t, i, (uint32_t)(s->drawn & 0x7f) + 1, NULL);
    if (!e) e = counted(s, m->fate, -1);
    return e ? e : s->device->wait();
}

/* One repetition: *seconds of its queues, or walls (calls x parts) of its calls. */
static hd_status repetition(const bench_point *p, const course *c, bench_fixture *s, const bench_buffers *t,
                            double *seconds, double *walls, bench_measure *m)
{
    hd_status e = HD_OK;
    for (uint64_t part = 0; part < c->parts && !e; part++) {
        uint64_t fresh;
        e = fill_in(p, c, s, t, part == 0, &fresh, m);
        if (e) return e;
        if (walls)
            e = walls_of(p, s, t, c->calls, walls + part * c->calls, m);
        else
            e = queue_of(p, s, t, c->calls, seconds, m);
        if (!e) e = counted(s, m->fate, 1);
        if (!e) e = restore(p, s, t, c->calls, fresh);
    }
    return e;
}

static hd_status time_wall(const bench_point *p, const course *c, bench_fixture *s, const bench_buffers *t,
                           bench_measure *m)
{
    uint64_t calls = c->calls * c->parts;
    double *all = (double *)calloc(calls, sizeof *all);
    if (!all) return hd_fail(HD_ENOMEM, "calls: memory for %" PRIu64 " times was refused", calls);
    hd_status e = repetition(p, c, s, t, NULL, all, m);
    m->wall_s = median_of(all, calls) / (double)p->n;
    free(all);
    return e;
}

/* The call that is watched finds the caches as calls like itself leave them. */
static hd_status watch_call(const bench_point *p, const bench_effort *effort, bench_fixture *s, const bench_buffers *t,
                            bench_measure *m)
{
    uint64_t before = m->calls - 1;
    double seconds = 0;
    hd_batch b = point_batch(p, s, t, before);
    hd_status e = queue_of(p, s, t, before, &seconds, m);
    if (!e) e = s->device->watch(effort->number);
    if (!e) e = s->device->begin();
    if (!e) e = hd_run(s->table, &b);
    seconds = 0;
    if (!e) e = s->device->end(&seconds);
    hd_status ended = s->device->unwatch();
    m->queue_s[m->times++] = seconds / (double)p->n;
    return e ? e : ended;
}

static hd_status watch(const bench_point *p, const bench_effort *effort, const course *c, bench_fixture *s,
                       const bench_buffers *t, bench_measure *m)
{
    uint64_t fresh;
    hd_status e = fill_in(p, c, s, t, true, &fresh, m);
    if (!e) e = watch_call(p, effort, s, t, m);
    if (!e) e = counted(s, m->fate, 1);
    return e ? e : restore(p, s, t, c->calls, fresh);
}

static hd_status time_queue(const bench_point *p, const bench_effort *effort, const course *c, bench_fixture *s,
                            const bench_buffers *t, bench_measure *m)
{
    uint64_t items = c->calls * c->parts * p->n;
    hd_status e = HD_OK;
    for (uint64_t i = 0; i <= effort->repeat && !e; i++) { /* the first warms up */
        double seconds = 0;
        e = repetition(p, c, s, t, &seconds, NULL, m);
        if (i > 0) m->queue_s[m->times++] = seconds / (double)items;
    }
    return e;
}

/* ---- Checking the counters ------------------------------------------------------------------- */

/* How far the share of hits may be from what was drawn: below, and above. */
typedef struct tolerance {
    double below, above;
} tolerance;

static tolerance tolerance_of(const bench_point *p, uint64_t items)
{
    bool skewed = p->zipf > 0;
    double slack = (skewed ? 2 / sqrt((double)items) : 0) + (brings(p) || skewed ? 0.01 : 0);
    bool more_is_fine = skewed && bench_buffers_inserts(p->op), less_is_fine = skewed && p->op == HD_OP_ERASE;
    return (tolerance){ less_is_fine ? 1 : slack, more_is_fine ? 1 : slack };
}

/* Items that no point may have. */
static uint64_t strays_of(const bench_fixture *s, const bench_measure *m)
{
    uint64_t pending = s->evicts ? m->fate[HD_PENDING] : 0;
    return m->fate[HD_REFUSED] + m->fate[HD_RESERVED] + m->fate[HD_PINNED] + pending;
}

/* Hits are as many as were drawn, but for those that left a full table, or were brought by an earlier call. */
static void check_fates(const bench_point *p, const bench_fixture *s, uint64_t calls, bench_measure *m)
{
    hd_outcome found = bench_buffers_row_of(p->op)->found;
    uint64_t items = 0, strays = strays_of(s, m);
    m->hits = p->hits;
    if (p->op == HD_OP_EXPORT) return;
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) items += m->fate[o];
    uint64_t hits = m->fate[found] + (p->op == BENCH_MIXED ? m->fate[HD_ERASED] : 0);
    m->hits = items ? (double)hits / (double)items : 0;
    double expected = (double)point_hits(p) / (double)p->n;
    tolerance fine = tolerance_of(p, calls * p->n);
    if (items != calls * p->n)
        snprintf(m->wrong, sizeof m->wrong, "%" PRIu64 " items were timed, the counters say %" PRIu64, calls * p->n,
                 items);
    else if (strays)
        snprintf(m->wrong, sizeof m->wrong, "%" PRIu64 " items were refused, reserved, pinned or pending", strays);
    else if (m->hits < expected - fine.below || m->hits > expected + fine.above)
        snprintf(m->wrong, sizeof m->wrong, "%.4f of the timed items were %s, not %.4f", m->hits,
                 hd_outcome_name(found), expected);
}

/* In a full table, used entries have made lower bounds looser: the point after would pay for tightening them. */
static bool leaves_bounds(const bench_point *p)
{
    bool rescores = brings(p) || p->op == HD_OP_ASSIGN || p->op == HD_OP_ASSIGN_SCORES || p->op == HD_OP_TOUCH;
    return p->load >= 1 && rescores && point_hits(p) > 0;
}

enum { WATCHED_CALLS = 5 };

/* What is asked for, one after the other, as long as nothing is wrong. */
static hd_status measure_all(const bench_point *p, const bench_effort *effort, const course *c, bench_fixture *s,
                             bench_buffers *t, bench_measure *m)
{
    hd_status e = prove_small(p, s, m);
    if (!e && !*m->wrong) e = prove_here(p, c, s, t, m);
    if (!e && !*m->wrong && effort->watch) e = watch(p, effort, c, s, t, m);
    if (!e && !*m->wrong && effort->queue) e = time_queue(p, effort, c, s, t, m);
    if (!e && !*m->wrong && effort->wall && !p->bulk) e = time_wall(p, c, s, t, m);
    return e;
}

hd_status point_measure(const bench_point *p, const bench_effort *effort, bench_fixture *s, bench_buffers *t,
                        bench_measure *m)
{
    const bench_effort watching = { 1, WATCHED_CALLS, false, false, true, effort->number, effort->memory_most };
    course c = course_of(p, effort->watch ? &watching : effort, s);
    memset(m, 0, sizeof *m);
    if (effort->watch) c.parts = 1;
    m->calls = c.calls;
    m->parts = c.parts;
    hd_status e = bench_buffers_set(t, s->device, &s->shape, bench_buffers_row_of(p->op), p->n, c.calls);
    if (!e) e = measure_all(p, effort, &c, s, t, m);
    if (p->op == HD_OP_FIND_OR_INSERT_PTR || leaves_bounds(p)) s->blank = true;
    uint64_t rounds = (effort->queue ? effort->repeat + 1 : 0) + (effort->wall && !p->bulk) + effort->watch;
    if (!e && !*m->wrong) check_fates(p, s, c.calls * c.parts * rounds, m);
    return e;
}
