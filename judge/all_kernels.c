/* SPDX-License-Identifier: Apache-2.0
 *
 * all_kernels.c - from a case to a row per kernel.
 */
#include "judge/all_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/comparison.h"
#include "judge/kernels.h"
#include "judge/rules.h"
#include "base/error.h"
#include "lib/params.h"
#include "workload/workload.h"

enum { OPS = JUDGE_MIXED + 1 };

/* A full table and its comparison. */
typedef struct stop {
    fixture *s;
    comparison *a;
    uint8_t *full;  /* (s->bytes) as the reference left it ... */
    uint64_t clock; /* ... and when                            */
} stop;

typedef struct guide {
    hd_case c;
    const judge_design *d;
    all_kernels *t;
    simt_machine *m;
    uint64_t *key;      /* (n) of the case's requests */
    uint64_t n, fill;   /* the first `fill` are for the reference, the rest for the kernels */
    bool reads, writes; /* what requests there are */
    hd_progress *progress;
    void *context;
    bool ended; /* progress asked to stop */
} guide;

/* ---- Requests -------------------------------------------------------------------------------- */

static hd_status read_requests(guide *g, hd_source *source)
{
    hd_request r[1024];
    uint64_t most = ALL_KERNELS_FILL / g->c.batch < g->c.batches ? ALL_KERNELS_FILL / g->c.batch * g->c.batch
                                                                 : g->c.batches * g->c.batch;
    g->key = (uint64_t *)malloc(most * sizeof *g->key);
    if (!g->key) return hd_fail(HD_ENOMEM, "keys: no memory for %llu", (unsigned long long)most);
    for (size_t got = 1; got && g->n < most;) {
        size_t want = most - g->n < sizeof r / sizeof *r ? (size_t)(most - g->n) : sizeof r / sizeof *r;
        hd_status status = hd_source_next(source, r, want, &got);
        if (status) return status;
        for (size_t i = 0; i < got; i++) {
            g->key[g->n++] = fixture_holdable(g->d, r[i].key);
            g->reads = g->reads || r[i].verb == HD_READ || r[i].verb == HD_READ_MODIFY_WRITE;
            g->writes = g->writes || r[i].verb != HD_READ;
        }
    }
    g->fill = g->n > g->c.batch ? g->n - g->c.batch : 0;
    return g->n ? HD_OK : hd_fail(HD_EINVAL, "keys: %s has none", g->c.keys);
}

/* The reference serves all requests but the last batch. */
static hd_status fill(guide *g, stop *x)
{
    fixture *s = x->s;
    for (uint64_t done = 0, n; done < g->fill; done += n) {
        n = g->fill - done < g->c.batch ? g->fill - done : g->c.batch;
        hd_status status = fixture_batch(s, NULL, HD_OP_INSERT_OR_ASSIGN, g->key + done, n);
        if (status) return status;
        fixture_reference(s);
        s->clock += n;
    }
    fixture_begin(s, s->memory, s->clock);
    x->full = (uint8_t *)malloc(s->bytes);
    if (!x->full) return hd_fail(HD_ENOMEM, "capacity: no memory for a copy of the table");
    memcpy(x->full, s->initial, s->bytes);
    x->clock = s->clock;
    return HD_OK;
}

/* ---- One kernel ------------------------------------------------------------------------------ */

static uint64_t hits(const hd_batch *b)
{
    uint64_t n = 0;
    for (uint64_t i = 0; judge_ops[b->op].keyed && i < b->n; i++)
        n += b->outcome[i] == HD_HIT || b->outcome[i] == HD_UPDATED || b->outcome[i] == HD_PINNED ||
             b->outcome[i] == HD_ERASED;
    return n;
}

/* Restores the full table and draws the next batch. Before unlock_keys, the reference locks the same keys. */
static hd_status arrive(guide *g, stop *x, const fixture_kernel *k, hd_op op, uint64_t n)
{
    hd_status status = HD_OK;
    fixture_begin(x->s, x->full, x->clock);
    if (op == HD_OP_UNLOCK_KEYS) {
        status = fixture_batch(x->s, k, HD_OP_LOCK_KEYS, g->key + g->fill, n);
        if (!status) fixture_reference(x->s);
        fixture_begin(x->s, x->s->memory, x->clock + n);
    }
    return status ? status : fixture_batch(x->s, k, op, g->key + g->fill, n);
}

static simt_config in_turn(void)
{
    simt_config c = simt_config_in_turn();
    c.meter = true;
    c.shared_bytes = 48 << 10;
    c.step_limit = 1ull << 40;
    return c;
}

static simt_config at_random(uint64_t seed)
{
    simt_config c = simt_config_default();
    c.preempt = SIMT_AT_ATOMIC;
    c.seed = seed;
    c.shared_bytes = 48 << 10;
    c.step_limit = 1ull << 40;
    return c;
}

/* What a row counts: keys, or the slots that a whole table has. */
static uint64_t items_of(const fixture *s)
{
    const hd_batch *b = &s->part[0].batch;
    return judge_ops[b->op].keyed || b->n ? b->n : fixture_places(s->design, s->table);
}

static void went_wrong(const guide *g, all_kernels_row *r, const char *why)
{
    hd_case again = g->c;
    snprintf(r->wrong, sizeof r->wrong, "%.*s", (int)strcspn(why, "\n"), why);
    snprintf(again.op, sizeof again.op, "%s", fixture_op_name(r->op));
    snprintf(again.kernel, sizeof again.kernel, "%s", r->kernel.variant);
    hd_params_number_set(&again.table, again.design, "dual", r->dual);
    hd_case_print(&again, r->again, sizeof r->again);
}

static hd_status run_row(guide *g, stop *x, all_kernels_row *r)
{
    fixture_kernel k = fixture_kernel_at(g->d, r->row, 0, 0);
    uint64_t n = g->n - g->fill;
    hd_status status = arrive(g, x, &k, r->op, n);
    if (!status && judge_ops[x->s->part[0].batch.op].keyed) {
        fixture_reference(x->s);
        r->ref_hits = hits(&x->s->part[0].batch);
        status = arrive(g, x, &k, r->op, n);
    }
    for (int random = 0; random < 2 && !status && !r->wrong[0]; random++) {
        const char *why = NULL;
        simt_config c = random ? at_random(g->c.seed) : in_turn();
        if (random) status = arrive(g, x, &k, r->op, (n + 3) / 4);
        if (!status) status = comparison_run(x->a, g->m, &c, &why);
        if (status) break;
        if (why) went_wrong(g, r, why);
        r->at_random = why && random;
        r->items += items_of(x->s);
        if (random) continue;
        simt_totals sum = simt_machine_totals(g->m);
        r->metered = r->items;
        r->hits = hits(&x->s->part[0].batch);
        r->steps = sum.steps;
        r->sectors = sum.sectors;
        r->far_sectors = sum.far_sectors;
        r->lines = sum.lines;
        r->atomics = sum.atomics;
    }
    g->t->ran++;
    g->t->items += r->items;
    g->t->wrong += r->wrong[0] != 0;
    return status;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static bool named(const guide *g, hd_op op)
{
    if (strcmp(g->c.op, "mix") == 0) return true;
    if (strcmp(g->c.op, "serve") == 0)
        return (op == HD_OP_FIND_OR_INSERT && g->reads) || (op == HD_OP_INSERT_OR_ASSIGN && g->writes);
    return strcmp(g->c.op, fixture_op_name(op)) == 0;
}

static hd_status plan(guide *g, int duals)
{
    all_kernels *t = g->t;
    judge_row kernel;
    t->row = (all_kernels_row *)calloc((size_t)OPS * 2 * fixture_row_count(g->d), sizeof *t->row);
    if (!t->row) return hd_fail(HD_ENOMEM, "no memory for the tour's rows");
    for (int op = 0; op < OPS; op++) {
        for (int dual = 0; dual < duals && named(g, (hd_op)op); dual++)
            for (uint32_t k = 0; fixture_row(g->d, k, &kernel); k++) {
                if (!fixture_runs(g->d, k, (hd_op)op)) continue;
                if (strcmp(g->c.kernel, "ref") != 0 && strcmp(g->c.kernel, kernel.variant) != 0) continue;
                all_kernels_row *r = &t->row[t->rows++];
                r->op = (hd_op)op;
                r->dual = dual == 1;
                r->buckets = g->d->buckets_of_key ? g->d->buckets_of_key(&g->c) : 1 + (uint32_t)dual;
                r->kernel = kernel;
                r->row = k;
                const char *unsupported = fixture_unsupported(g->d, k, &g->c);
                if (unsupported) snprintf(r->unsupported, sizeof r->unsupported, "%s", unsupported);
            }
    }
    return t->rows
               ? HD_OK
               : hd_fail(HD_EINVAL, "kernel: %s runs nothing of %s; heddle list kernels has all", g->c.kernel, g->c.op);
}

/* All rows with one candidate bucket, or with two. */
static hd_status visit(guide *g, bool dual, size_t *done)
{
    stop x;
    memset(&x, 0, sizeof x);
    hd_case c = g->c;
    hd_params_number_set(&c.table, c.design, "dual", dual);
    hd_status status = fixture_open_empty(&c, &x.s);
    if (!status) status = comparison_open(x.s, &x.a);
    if (!status) status = fill(g, &x);
    for (size_t i = 0; i < g->t->rows && !status; i++) {
        all_kernels_row *r = &g->t->row[i];
        if (r->dual != dual) continue;
        g->ended = g->progress && g->progress(g->context, (*done)++, g->t->rows);
        if (g->ended) break;
        if (!r->unsupported[0]) status = run_row(g, &x, r);
    }
    free(x.full);
    comparison_close(x.a);
    return status;
}

hd_status all_kernels_run(const hd_case *c, hd_progress *progress, void *context, all_kernels *t)
{
    const hd_time_seam *time = &hd_seams_os.time;
    guide g;
    hd_source *source = NULL;
    size_t done = 0;
    memset(t, 0, sizeof *t);
    memset(&g, 0, sizeof g);
    if (!judge_design_of(c)) return HD_EINVAL;
    g.c = *c;
    g.d = t->design = judge_design_of(c);
    g.t = t;
    g.progress = progress;
    g.context = context;
    if (g.c.batch > ALL_KERNELS_BATCH) {
        g.c.batches = g.c.batches * g.c.batch / ALL_KERNELS_BATCH;
        g.c.batch = ALL_KERNELS_BATCH;
    }
    uint64_t start = time->now_ns(time->self),
             buckets = c->buckets ? c->buckets : (c->capacity + c->slots - 1) / c->slots;
    int duals = buckets < 2 || !g.d->dual ? 1 : 2;
    hd_status status = hd_source_open_spec(c->keys, c->seed, &source);
    if (!status) status = read_requests(&g, source);
    hd_source_close(source);
    if (!status) status = plan(&g, duals);
    if (!status) status = simt_machine_open(NULL, &g.m);
    for (int dual = 0; dual < duals && !status && !g.ended; dual++) status = visit(&g, dual == 1, &done);
    simt_machine_close(g.m);
    free(g.key);
    t->filled = g.fill;
    t->asked = g.n - g.fill;
    t->seconds = (double)(time->now_ns(time->self) - start) * 1e-9;
    if (status) all_kernels_close(t);
    return status;
}

void all_kernels_close(all_kernels *t)
{
    free(t->row);
    memset(t, 0, sizeof *t);
}

const char *all_kernels_agrees(const all_kernels_row *r)
{
    return r->wrong[0] ? "no" : r->kernel.strictness == FIXTURE_SHAPE ? "shape" : "yes";
}
