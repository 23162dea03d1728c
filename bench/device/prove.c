/* SPDX-License-Identifier: Apache-2.0
 *
 * prove.c - checks one call in several ways: which keys were found, whether values are whole and belong to their keys,
 * what a lookup of the same keys returns afterwards, whether lists, contents and counters agree.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "bench/device/point.h"

enum { GENERATION = 0xf0 /* of the values of the call; the queues' are at most 0x80 */ };

typedef struct trial {
    const bench_point *p;
    bench_fixture *s;
    const bench_buffers *t;
    bench_measure *m;
    bench_mix mix;         /* n 0: it is not mixed */
    hd_batch b;            /* the call */
    uint64_t n, hits, now; /* now: the clock before */
} trial;

static void __attribute__((format(printf, 2, 3))) wrong(const trial *q, const char *format, ...)
{
    char *text = q->m->wrong;
    size_t bytes = sizeof q->m->wrong, used = 0;
    va_list args;
    if (*text) return; /* reports only the first */
    used = (size_t)snprintf(text, bytes, "on a table of %" PRIu64 " entries: ", q->s->info.capacity);
    va_start(args, format);
    vsnprintf(text + used, bytes - used, format, args);
    va_end(args);
}

/* How far the number of hits may be from what was asked: drawn by chance, it varies; and an entry may leave before it
 * is asked for. */
static uint64_t slack_of(const trial *q)
{
    if (q->p->zipf > 0) return q->n / 50 + 64;
    return bench_buffers_inserts(q->p->op) && q->hits ? q->n / 1000 + 4 : 0;
}

/* ---- The call's own answers ------------------------------------------------------------------ */

static hd_status answers_of(trial *q, const bench_answers *a, bench_told *told)
{
    hd_status e = q->s->device->answers(a, told);
    if (!e && told->count[BENCH_TOLD_VALUES + BENCH_WRONG])
        wrong(q, "%" PRIu64 " of %" PRIu64 " values are not their key's, or not whole",
              told->count[BENCH_TOLD_VALUES + BENCH_WRONG], a->n);
    return e;
}

/* Each item of a mixed batch has an outcome of its own. */
static void check_mixed(const trial *q, const bench_told *told)
{
    if (told->count[BENCH_TOLD_ODD])
        wrong(q, "%" PRIu64 " of %" PRIu64 " items of a mixed batch have another outcome than they should",
              told->count[BENCH_TOLD_ODD], q->n);
}

/* Outcomes of a distinct batch are known; of a skewed one, what a key that comes again may change is not. */
static void check_outcomes(const trial *q, const uint64_t *fate)
{
    const hd_outcome found = q->t->row->found;
    bool inserts = bench_buffers_inserts(q->p->op);
    uint64_t others =
                 inserts ? fate[HD_INSERTED] + fate[HD_EVICTED] + (q->s->evicts ? 0 : fate[HD_PENDING]) : fate[HD_MISS],
             slack = slack_of(q);
    /* a key that comes again */
    bool may_be_more = q->p->zipf > 0 && inserts, may_be_less = q->p->zipf > 0 && q->p->op == HD_OP_ERASE;
    if (fate[found] + others != q->n)
        wrong(q, "%" PRIu64 " of %" PRIu64 " items are %s, %" PRIu64 " %s", fate[found], q->n, hd_outcome_name(found),
              others, inserts ? "new" : "missed");
    if ((fate[found] + slack < q->hits && !may_be_less) || (fate[found] > q->hits + slack && !may_be_more))
        wrong(q, "%" PRIu64 " items are %s, not %" PRIu64, fate[found], hd_outcome_name(found), q->hits);
}

static hd_status check_call(trial *q, uint64_t *fate)
{
    bench_told told;
    bench_answers a = {
        .n = q->n, .key = q->b.key, .outcome = q->t->outcome, .value = q->b.value_out, .words = q->s->shape.words
    };
    a.ptr = q->b.ptr;
    a.of = 1u << q->t->row->found;
    a.generation = BENCH_ANY;
    a.mix = q->mix;
    hd_status e = answers_of(q, &a, &told);
    if (e) return e;
    memcpy(fate, told.count, HD_OUTCOME_COUNT * sizeof *fate);
    if (q->mix.n)
        check_mixed(q, &told);
    else
        check_outcomes(q, fate);
    uint64_t right = told.count[BENCH_TOLD_VALUES + BENCH_RIGHT], zero = told.count[BENCH_TOLD_VALUES + BENCH_ZERO];
    /* found: a value that the batch itself made */
    bool zeroed = q->p->op == HD_OP_FIND_OR_INSERT_PTR && q->p->zipf > 0;
    if ((q->b.value_out || q->b.ptr) && right + (zeroed ? zero : 0) != fate[q->t->row->found])
        wrong(q, "%" PRIu64 " values are right, of %" PRIu64 " that were found", right, fate[q->t->row->found]);
    if (q->p->op != HD_OP_FIND_OR_INSERT_PTR || zeroed) return HD_OK;
    a.of = 1u << HD_INSERTED | 1u << HD_EVICTED; /* new ones are zero */
    e = answers_of(q, &a, &told);
    if (!e && told.count[BENCH_TOLD_VALUES + BENCH_ZERO] != fate[HD_INSERTED] + fate[HD_EVICTED])
        wrong(q, "%" PRIu64 " new values are zero, of %" PRIu64, told.count[BENCH_TOLD_VALUES + BENCH_ZERO],
              fate[HD_INSERTED] + fate[HD_EVICTED]);
    return e;
}

/* ---- What a lookup says afterwards ----------------------------------------------------------- */

/* How many of the call's keys are to be there when it is over. */
static uint64_t expected_after(const trial *q, const uint64_t *fate)
{
    if (bench_buffers_inserts(q->p->op)) return q->n - fate[HD_PENDING];
    return q->p->op == HD_OP_ERASE ? 0 : fate[q->t->row->found] + fate[HD_INSERTED];
}

/* Whether the call makes scores anew. */
static bool rescores(const trial *q)
{
    hd_op op = q->p->op;
    return q->s->evicts && (bench_buffers_inserts(op) || op == HD_OP_ASSIGN || op == HD_OP_ASSIGN_SCORES);
}

static hd_status check_after(trial *q, const uint64_t *fate)
{
    hd_op op = q->p->op;
    bool wrote = q->b.value && op != HD_OP_FIND_OR_INSERT && !q->mix.n;
    uint64_t expected = expected_after(q, fate);
    hd_batch find = { .op = HD_OP_FIND,
                      .n = q->n,
                      .key = q->b.key,
                      .outcome = q->t->outcome,
                      .value_out = q->t->value_out,
                      .score_out = q->t->score_out };
    bench_answers a = {
        .n = q->n, .key = q->b.key, .outcome = q->t->outcome, .value = q->t->value_out, .words = q->s->shape.words
    };
    bench_told told;
    find.stream = q->s->device->stream();
    a.score = rescores(q) ? q->t->score_out : NULL;
    a.score_least = q->now;
    a.of = 1u << HD_HIT;
    a.generation = wrote ? (uint32_t)GENERATION : (uint32_t)BENCH_ANY;
    hd_status e = hd_run(q->s->table, &find);
    if (!e) e = answers_of(q, &a, &told);
    if (e) return e;
    if (told.count[HD_HIT] != expected)
        wrong(q, "afterwards %" PRIu64 " of the keys are there, not %" PRIu64, told.count[HD_HIT], expected);
    if (told.count[BENCH_TOLD_OLD])
        wrong(q, "afterwards %" PRIu64 " scores are older than the call", told.count[BENCH_TOLD_OLD]);
    if (told.count[BENCH_TOLD_VALUES + BENCH_ZERO] && op != HD_OP_FIND_OR_INSERT_PTR && q->s->shape.words)
        wrong(q, "afterwards %" PRIu64 " values are zero", told.count[BENCH_TOLD_VALUES + BENCH_ZERO]);
    return HD_OK;
}

/* Every evicted entry is listed once, with its own value. */
static hd_status check_list(trial *q, uint64_t expected)
{
    uint64_t listed = 0;
    bench_told told;
    hd_status e = q->s->device->read(&listed, q->b.count, sizeof listed);
    if (e) return e;
    if (listed != expected) wrong(q, "%" PRIu64 " entries are listed, not %" PRIu64, listed, expected);
    if (listed > q->n) return HD_OK;
    bench_answers a = {
        .n = listed, .key = q->b.list_key, .value = q->b.list_value, .words = q->s->shape.words, .generation = BENCH_ANY
    };
    e = answers_of(q, &a, &told);
    if (!e && q->s->shape.words && told.count[BENCH_TOLD_VALUES + BENCH_RIGHT] != listed)
        wrong(q, "%" PRIu64 " of %" PRIu64 " listed values are their key's",
              told.count[BENCH_TOLD_VALUES + BENCH_RIGHT], listed);
    return e;
}

/* ---- Export ---------------------------------------------------------------------------------- */

/* All windows together list as many entries as there are, each window's values are its keys'. */
static hd_status prove_export(trial *q)
{
    uint64_t size = 0, sum = 0;
    hd_status e = bench_fixture_size(q->s, &size);
    for (uint64_t start = 0; start < q->s->info.places && !e; start += q->n) {
        uint64_t listed = 0;
        q->b.start = start;
        q->b.n = q->s->info.places - start < q->n ? q->s->info.places - start : q->n;
        e = hd_run(q->s->table, &q->b);
        if (!e) e = q->s->device->read(&listed, q->b.count, sizeof listed);
        if (!e) e = check_list(q, listed);
        sum += listed;
    }
    if (!e && sum != size) wrong(q, "%" PRIu64 " entries are listed, of %" PRIu64, sum, size);
    return e;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static hd_status prove_keyed(trial *q)
{
    uint64_t before = 0, after = 0, fate[HD_OUTCOME_COUNT] = { 0 };
    hd_op op = q->p->op;
    hd_status e = point_draw(q->p, q->s, q->t, 0, GENERATION, op == BENCH_MIXED ? &q->mix : NULL);
    if (!e) e = bench_fixture_size(q->s, &before);
    q->b.outcome = q->t->outcome;
    if (!e) e = hd_run(q->s->table, &q->b);
    if (!e) e = check_call(q, fate);
    if (!e && (op == BENCH_MIXED || hd_op_row_of(op)->role != HD_READER)) e = check_after(q, fate);
    if (!e && q->b.list_key) e = check_list(q, fate[HD_EVICTED] + fate[HD_REFUSED]);
    if (!e) e = bench_fixture_size(q->s, &after);
    if (!e && after + fate[HD_ERASED] != before + fate[HD_INSERTED])
        wrong(q, "%" PRIu64 " entries, %" PRIu64 " inserted, %" PRIu64 " erased: %" PRIu64 " are left", before,
              fate[HD_INSERTED], fate[HD_ERASED], after);
    return e;
}

hd_status point_prove(const bench_point *p, bench_fixture *s, const bench_buffers *t, bench_measure *m)
{
    hd_info info = s->info;
    trial q = { .p = p, .s = s, .t = t, .m = m, .n = p->n, .hits = point_hits(p) };
    hd_status e = hd_table_info(s->table, &info);
    q.now = info.now;
    q.b = point_batch(p, s, t, 0);
    if (!e) e = p->op == HD_OP_EXPORT ? prove_export(&q) : prove_keyed(&q);
    return e;
}
