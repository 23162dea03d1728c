/* SPDX-License-Identifier: Apache-2.0
 *
 * batches.c - times one operation, batch by batch, on a filled table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine.h"
#include "bench/timed.h"
#include "judge/rules.h"
#include "base/error.h"
#include "base/op.h"
#include "lib/params.h"

/* ---- What is timed --------------------------------------------------------------------------- */

/* Operations that cannot be repeated at once are undone, or prepared, by another, which is not timed. */
static hd_op op_before(hd_op op) { return op == HD_OP_UNLOCK_KEYS ? HD_OP_LOCK_KEYS : HD_OP_COUNT_; }
static hd_op op_after(hd_op op)
{
    return op == HD_OP_LOCK_KEYS ? HD_OP_UNLOCK_KEYS : op == HD_OP_ERASE ? HD_OP_INSERT_OR_ASSIGN : HD_OP_COUNT_;
}

/* One batch's arrays and where its time goes. */
typedef struct act {
    const bench_line *line;
    bench_stage *stage;
    hd_source *source;   /* probe=keys */
    hd_request *request; /* (n)        */
    hd_batch batch;
    uint64_t n, items;               /* items: what a batch counts for (table-wide: slots) */
    uint64_t fate[HD_OUTCOME_COUNT]; /* of timed items */
    uint64_t count;
    void *memory[12];
    int memories;
} act;

static void *act_take(act *a, uint64_t count, uint64_t size, bool *refused)
{
    void *p = size && count <= SIZE_MAX / size ? calloc(count, size) : NULL;
    *refused = *refused || (!p && size);
    if (p) a->memory[a->memories++] = p;
    return p;
}

static void act_close(act *a)
{
    for (int i = 0; i < a->memories; i++) free(a->memory[i]);
    hd_source_close(a->source);
}

static bool is_export(hd_op op) { return hd_op_family(op) == HD_FAMILY_EXPORT; }

/* The table may hold other keys afterwards. */
static bool changes_keys(hd_op op) { return hd_op_row_of(op)->role == HD_INSERTER; }

/* Every operation gets the outputs that it is for: values for find, the list for insert_and_evict. */
static hd_status act_arrays(act *a)
{
    hd_op op = a->line->op;
    uint64_t n = a->n, value_bytes = a->stage->info.value_bytes;
    bool refused = false, keyed = hd_op_does(op, HD_NEEDS_KEY), lists = hd_op_does(op, HD_LISTS);
    hd_batch *b = &a->batch;
    if (keyed) {
        b->key = (const uint64_t *)act_take(a, n, sizeof *b->key, &refused);
        b->value = act_take(a, n, value_bytes, &refused);
        b->outcome = (uint8_t *)act_take(a, n, 1, &refused);
    }
    if (hd_op_does(op, HD_GIVES_VALUE)) b->value_out = act_take(a, n, value_bytes, &refused);
    if (hd_op_does(op, HD_GIVES_PTR) && !hd_op_does(op, HD_GIVES_VALUE))
        b->ptr = (void **)act_take(a, n, sizeof *b->ptr, &refused);
    if (lists) {
        b->list_key = (uint64_t *)act_take(a, n, sizeof *b->list_key, &refused);
        if (op != HD_OP_FIND_MISSED) {
            b->list_score = (uint64_t *)act_take(a, n, sizeof *b->list_score, &refused);
            b->list_value = act_take(a, n, value_bytes, &refused);
        }
    }
    if (lists || !keyed) b->count = &a->count;
    if (a->line->probe == BENCH_KEYS) a->request = (hd_request *)act_take(a, n, sizeof *a->request, &refused);
    return refused ? hd_fail(HD_ENOMEM, "batch: memory for %" PRIu64 " items was refused", n) : HD_OK;
}

static hd_status act_open(act *a, const bench_line *l, bench_stage *s)
{
    uint64_t most = UINT64_MAX, n = l->c.batch;
    bool keyed = hd_op_does(l->op, HD_NEEDS_KEY);
    memset(a, 0, sizeof *a);
    a->line = l;
    a->stage = s;
    hd_status e = keyed ? stage_most(s, l->probe, &most) : HD_OK;
    if (e) return e;
    if (is_export(l->op)) most = s->info.capacity;
    a->n = n < most ? n : most;
    a->items = keyed || is_export(l->op) ? a->n : s->info.capacity;
    a->batch.op = l->op;
    a->batch.n = a->n;
    a->batch.distinct = l->c.distinct;
    a->batch.elem = l->c.value_bytes % 8 == 0 ? HD_U64 : l->c.value_bytes % 4 == 0 ? HD_I32 : HD_F16;
    a->batch.holder = hd_op_does(l->op, HD_NEEDS_HOLDER);
    /* erase_if erases nothing, or there would be nothing left for the next one; the others list or count all */
    a->batch.pred = l->op == HD_OP_ERASE_IF ? "score_below" : "all";
    e = act_arrays(a);
    if (!e && l->probe == BENCH_KEYS) e = hd_source_open_spec(l->c.keys, l->c.seed, &a->source);
    return e;
}

static hd_status act_keys(act *a)
{
    uint64_t *key = (uint64_t *)(uintptr_t)a->batch.key; /* ours: act_arrays took it */
    if (!key) return HD_OK;
    if (a->line->probe != BENCH_KEYS) return stage_keys(a->stage, a->line->probe, key, a->n);
    size_t got;
    hd_status e = hd_source_next(a->source, a->request, (size_t)a->n, &got);
    if (!e && got < a->n)
        return hd_fail(HD_EINVAL, "keys: '%s' has an end; the bench wants requests without one", a->line->c.keys);
    for (uint64_t i = 0; i < a->n && !e; i++) key[i] = a->request[i].key;
    return e;
}

/* The batch again with another operation: same keys, not timed. */
static hd_status act_aside(act *a, hd_op op)
{
    if (op == HD_OP_COUNT_) return HD_OK;
    hd_batch b = { .op = op, .n = a->n, .key = a->batch.key, .value = a->batch.value, .holder = 1 };
    return stage_run(a->stage, &b);
}

static hd_status act_once(act *a, bench_time *t)
{
    hd_batch *b = &a->batch;
    hd_status e = act_keys(a);
    if (!e) e = act_aside(a, op_before(b->op));
    if (e) return e;
    if (is_export(b->op)) { /* windows one after the other, from the start again at the end */
        b->start = b->start + 2 * a->n <= a->stage->info.capacity ? b->start + a->n : 0;
    }
    double cpu = machine_cpu_s(), wall = machine_wall_s();
    e = stage_run(a->stage, b);
    t->wall_s += machine_wall_s() - wall;
    t->cpu_s += machine_cpu_s() - cpu;
    t->items += a->items;
    for (uint64_t i = 0; b->outcome && i < a->n && !e; i++) a->fate[b->outcome[i]]++;
    return e ? e : act_aside(a, op_after(b->op));
}

/* ---- Check ----------------------------------------------------------------------------------- */

/* The outcomes that an item may have had, one bit each. */
static unsigned fates_allowed(const bench_line *l)
{
    if (!hd_op_does(l->op, HD_NEEDS_KEY)) return ~0u; /* table-wide: its items have no outcomes */
    switch (l->probe) {
    case BENCH_HIT: /* dual: reinserting an erased key may evict another one, which a later item then misses */
        return 1u << judge_ops[l->op].present |
               (l->op == HD_OP_ERASE && hd_params_number(&l->c.table, l->c.design, "dual") ? 1u << HD_MISS : 0);
    case BENCH_MISS: return 1u << HD_MISS;
    case BENCH_NEW: /* lru and lfu admit every new key */
        return 1u << HD_INSERTED | 1u << HD_EVICTED |
               (strcmp(l->c.policy, "lru") == 0 || strcmp(l->c.policy, "lfu") == 0 ? 0 : 1u << HD_REFUSED);
    default: return ~0u;
    }
}

static hd_status check_fates(const act *a, bench_result *r)
{
    unsigned allowed = fates_allowed(a->line);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++)
        if (a->fate[o] && !(allowed >> o & 1))
            snprintf(r->wrong, sizeof r->wrong, "%" PRIu64 " items had the outcome %s, which this probe cannot have",
                     a->fate[o], hd_outcome_name((hd_outcome)o));
    hd_counters c;
    hd_status e = hd_counters_sync(a->stage->table, &c);
    if (!e && c.items != a->stage->submitted)
        snprintf(r->wrong, sizeof r->wrong, "%" PRIu64 " items went in, the counters say %" PRIu64, a->stage->submitted,
                 c.items);
    return e;
}

/* ---- Warm up, repeat ------------------------------------------------------------------------- */

/* At least one batch, then until enough time has been measured. */
static hd_status repetition(act *a, double min_time_s, bench_stop *stop, void *context, bench_time *t)
{
    memset(t, 0, sizeof *t);
    hd_status e;
    do e = act_once(a, t);
    while (!e && t->wall_s < min_time_s && !stop(context));
    return e;
}

static hd_status repeat(act *a, const bench_plan *plan, bench_stop *stop, void *context, bench_result *r)
{
    bench_time warm;
    hd_status e = repetition(a, plan->min_time_s / 2, stop, context, &warm);
    for (uint64_t i = 0; i < plan->repeat && !e && !stop(context); i++) {
        e = repetition(a, plan->min_time_s, stop, context, &r->time[r->times]);
        r->times++;
    }
    return e;
}

hd_status batches_time(const bench_line *l, const bench_plan *plan, bench_stage *stage, bench_stop *stop, void *context,
                       bench_result *r)
{
    hd_status e = stage_set(stage, &l->c, l->fill);
    if (e) return e;
    act a;
    e = act_open(&a, l, stage);
    if (!e) e = repeat(&a, plan, stop, context, r);
    if (!e) e = check_fates(&a, r);
    r->load = stage_load(stage);
    r->capacity = stage->info.capacity;
    r->table_bytes = (double)stage->info.memory_bytes / (double)stage->info.capacity;
    r->resident_bytes = stage->resident_bytes > 0 ? (double)stage->resident_bytes / (double)stage->info.capacity : 0;
    if (changes_keys(l->op) && l->probe != BENCH_HIT) stage_changed(stage);
    act_close(&a);
    if (l->op == HD_OP_CLEAR || l->op == HD_OP_ERASE || e) stage_strike(stage); /* not as it was filled */
    return e;
}
