/* SPDX-License-Identifier: Apache-2.0
 *
 * mix.c - runs of all operations, drawn from the seed or chosen, with other events between batches: growth, and
 * snapshots that are loaded into the same table, into a table of another shape, or into a new table that replaces the
 * old one.
 */
#include <inttypes.h>
#include <string.h>

#include "judge/runner.h"
#include "base/error.h"
#include "lib/params.h"

/* Relative frequencies. Insertions are frequent, so that buckets fill up. */
/* clang-format off */
static const uint8_t weight[HD_OP_COUNT_] = {
    [HD_OP_FIND] = 12, [HD_OP_CONTAINS] = 4, [HD_OP_FIND_PTR] = 6, [HD_OP_FIND_MISSED] = 8,
    [HD_OP_TOUCH] = 12, [HD_OP_ASSIGN] = 8, [HD_OP_ASSIGN_VALUES] = 8, [HD_OP_ASSIGN_SCORES] = 8,
    [HD_OP_ACCUM_OR_ASSIGN] = 20, [HD_OP_INSERT_OR_ASSIGN] = 24, [HD_OP_INSERT_AND_EVICT] = 24,
    [HD_OP_FIND_OR_INSERT] = 16, [HD_OP_FIND_OR_INSERT_PTR] = 12,
    [HD_OP_LOCK_KEYS] = 10, [HD_OP_UNLOCK_KEYS] = 14, [HD_OP_ERASE] = 10, [HD_OP_ERASE_IF] = 3,
    [HD_OP_EXPORT] = 3, [HD_OP_EXPORT_IF] = 3, [HD_OP_SIZE] = 2, [HD_OP_SIZE_IF] = 3, [HD_OP_CLEAR] = 1,
    [HD_OP_PROMOTE] = 4, [HD_OP_PREDECESSOR] = 24, [HD_OP_SUCCESSOR] = 24, [HD_OP_RANGE] = 60, [HD_OP_MIN] = 6,
    [HD_OP_MAX] = 6,
};
/* clang-format on */

static uint64_t below(runner *r, uint64_t n) { return runner_below(r, n); }

/* Ordered operations count only where the table runs them: elsewhere runs are what they were before these came. */
static uint64_t weight_of(const runner *r, int op)
{
    return judge_ops[op].order && !runner_runs(r, (hd_op)op) ? 0 : weight[op];
}

static hd_op draw_op(runner *r)
{
    for (;;) {
        uint64_t all = 0;
        for (int o = 0; o < HD_OP_COUNT_; o++) all += weight_of(r, o);
        uint64_t at = below(r, all);
        int op = 0;
        while (at >= weight_of(r, op)) at -= weight_of(r, op++);
        if (runner_runs(r, (hd_op)op)) return (hd_op)op;
    }
}

/* Scores that are likely to split the table's entries in two groups. */
static uint64_t near_score(runner *r, const hd_info *info)
{
    switch (below(r, 5)) {
    case 0: return below(r, 16);
    case 1: return below(r, info->now + 1);
    case 2: return (uint64_t)info->epoch << 32 | below(r, info->now + 16);
    case 3: return runner_number(r) >> below(r, 64);
    default: return UINT64_MAX - below(r, 2);
    }
}

void runner_predicate(runner *r, hd_batch *b, const hd_info *info)
{
    if (strncmp(b->pred, "score", 5) == 0) {
        b->pred_arg[0] = near_score(r, info);
        b->pred_arg[1] = near_score(r, info);
    } else if (strcmp(b->pred, "key_masked") == 0) {
        b->pred_arg[0] = 3ull << below(r, 62);
        b->pred_arg[1] = runner_number(r) & b->pred_arg[0];
    } else {
        b->pred_arg[0] = runner_number(r);
        b->pred_arg[1] = b->pred_arg[0] + (runner_number(r) >> 1);
    }
}

static void draw_predicate(runner *r, hd_batch *b, const hd_info *info)
{
    hd_row row;
    uint64_t rows = 0;
    while (hd_list(HD_PREDICATES, rows, &row)) rows++;
    hd_list(HD_PREDICATES, (size_t)below(r, rows), &row);
    b->pred = row.name;
    runner_predicate(r, b, info);
    if (b->op == HD_OP_ERASE_IF && strcmp(b->pred, "all") == 0 && below(r, 4))
        b->pred = "key_masked", b->pred_arg[0] = 3, b->pred_arg[1] = below(r, 4);
}

/* A range of slots, or nothing: for operations without keys. */
static void draw_slots(runner *r, hd_batch *b, const hd_info *info)
{
    b->n = 0;
    if (judge_ops[b->op].range) {
        b->start = below(r, 2) ? 0 : below(r, info->places + 1);
        b->n = info->places - b->start < r->arrays.most ? info->places - b->start : r->arrays.most;
    }
    b->distinct = false;
    judge_arrays_lend(&r->arrays, b);
}

static hd_status run_op(runner *r, hd_op op)
{
    hd_info info;
    hd_batch b;
    hd_status s = hd_table_info(r->table, &info);
    if (s) return s;
    runner_fill(r, &b, op, NULL, below(r, 8) ? 1 + below(r, r->requests) : r->requests);
    b.holder = 1 + below(r, 3);
    if (judge_ops[op].may_pin && (judge_dictionary(r->c->design) || below(r, 4))) b.holder = 0;
    if (b.flag && below(r, 2)) {
        uint8_t *flag = (uint8_t *)judge_arrays_at(&r->arrays, JUDGE_FLAG);
        for (uint64_t i = 0; i < b.n; i++) flag[i] = (uint8_t)below(r, 3);
    }
    if (judge_ops[op].predicate) draw_predicate(r, &b, &info);
    if (!judge_ops[op].keyed) draw_slots(r, &b, &info);
    if (op == HD_OP_INSERT_OR_ASSIGN && r->mixes && below(r, 2)) runner_mix(r, &b);
    return runner_run(r, &b);
}

/* ---- Besides batches ------------------------------------------------------------------------- */

static void judge_all(runner *r, const char *what)
{
    if (hd_check(r->table) && runner_wrong(r, HD_RUN_INVARIANTS, what, hd_why())) return;
    if (r->oracle && (r->judges & HD_RUN_ORACLE))
        runner_wrong(r, HD_RUN_ORACLE, what, hd_oracle_compare(r->oracle, r->table));
}

/* For a design that grows in place: some more (way 1) or fewer (-1) buckets, or either (0). */
static hd_status resize(runner *r, int way)
{
    hd_info info;
    hd_status s = hd_table_info(r->table, &info);
    if (s) return s;
    uint64_t some = 1 + below(r, info.buckets), most = r->start_buckets * 8;
    bool shrinks = way ? way < 0 : info.buckets >= most || below(r, 2);
    if (way > 0 && info.buckets + some > most) return HD_OK;
    if (shrinks)
        s = hd_shrink(r->table, info.buckets > info.base_buckets + some ? info.buckets - some : info.base_buckets);
    else
        s = hd_grow(r->table, info.buckets + some);
    if (!s) judge_all(r, shrinks ? "shrink" : "grow");
    return s;
}

/* For a design whose entries move between two memories: another limit of the first one, no less than the case's,
 * because kernels may need that. */
static hd_status set_near(runner *r)
{
    hd_info info;
    hd_status s = hd_table_info(r->table, &info);
    if (s) return s;
    uint64_t least = hd_params_number(&r->config, info.design, "near"),
             most = below(r, 2) ? info.memory_bytes : info.capacity * 2 * (uint64_t)info.value_bytes;
    s = hd_set_near(r->table, below(r, 4) ? least + below(r, most + 1) : 0);
    if (!s) judge_all(r, "set_near");
    return s == HD_EINVAL ? HD_OK : s;
}

/* Two or three times the buckets, up to 64 times the first number and to 64 MiB. */
static hd_status grow(runner *r)
{
    enum { TIMES_MOST = 64, BYTES_MOST = 64 << 20 };
    hd_info info;
    hd_status s = hd_table_info(r->table, &info);
    uint64_t times = 2 + below(r, 2);
    if (s || info.buckets * times > r->start_buckets * TIMES_MOST || info.memory_bytes * times > BYTES_MOST) return s;
    s = hd_grow(r->table, info.buckets * times);
    if (!s) judge_all(r, "grow");
    return s;
}

static const char snapshot[] = "mix.hd";

/* Loads the snapshot into the same table: only the pins are lost. */
static hd_status load_back(runner *r)
{
    uint64_t dropped = 1;
    hd_status s = hd_load(r->table, snapshot, &dropped);
    if (s) return s;
    if (r->oracle) hd_oracle_unpin(r->oracle);
    if (dropped) runner_wrong(r, HD_RUN_ORACLE, "load", "a table had no room for its own snapshot");
    judge_all(r, "load");
    return HD_OK;
}

/* Loads it into a table of another shape: the best entries come first, as far as there is room. */
static hd_status load_elsewhere(runner *r)
{
    hd_info info;
    hd_config other = r->config;
    hd_table *t;
    uint64_t dropped;
    hd_status s = hd_table_info(r->table, &info);
    if (s) return s;
    other.file = NULL;
    other.capacity = info.capacity * (1 + below(r, 4)) / 2; /* a bucket has two slots or more */
    hd_params_number_set(&other, other.design, "dual", below(r, 2) && other.capacity > other.slots);
    other.seed += below(r, 2);
    s = hd_open(&other, &t);
    if (s) return s;
    s = hd_load(t, snapshot, &dropped);
    bool broken = !s && hd_check(t) && runner_wrong(r, HD_RUN_INVARIANTS, "load into another shape", hd_why());
    if (!s && !broken && r->oracle && (r->judges & HD_RUN_ORACLE))
        runner_wrong(r, HD_RUN_ORACLE, "load into another shape", hd_oracle_compare_part(r->oracle, t, dropped));
    hd_close(t);
    return s;
}

/* Opens it as a new table, which replaces the old one. */
static hd_status reopen(runner *r)
{
    hd_config config = r->config;
    hd_table *t;
    config.file = NULL; /* the old table has it */
    hd_status s = hd_open_snapshot(snapshot, &config, &t);
    if (s) return s;
    s = runner_retire(r);
    if (s) {
        hd_close(t);
        return s;
    }
    r->table = t;
    if (r->oracle) hd_oracle_unpin(r->oracle);
    judge_all(r, "open_snapshot");
    return HD_OK;
}

static hd_status save_and_load(runner *r, hd_case_between kind)
{
    hd_info before, after;
    hd_status s = hd_table_info(r->table, &before);
    if (!s) s = hd_save(r->table, snapshot);
    if (s) return s;
    s = kind == HD_BETWEEN_LOAD ? load_back(r) : kind == HD_BETWEEN_RESHAPE ? load_elsewhere(r) : reopen(r);
    if (!s) s = hd_table_info(r->table, &after);
    if (!s && (after.now != before.now || after.epoch != before.epoch))
        runner_wrong(r, HD_RUN_ORACLE, "load", "the clock or the epoch is another");
    return s;
}

static hd_status shrink(runner *r)
{
    hd_info info;
    hd_status s = hd_table_info(r->table, &info);
    if (s) return s;
    if (!r->resizes) return hd_shrink(r->table, info.buckets); /* which refuses it */
    return resize(r, info.buckets > info.base_buckets ? -1 : 1);
}

static hd_status do_between(runner *r, hd_case_between what)
{
    switch (what) {
    case HD_BETWEEN_NOTHING: return HD_OK;
    case HD_BETWEEN_GROW: return r->resizes ? resize(r, 1) : grow(r);
    case HD_BETWEEN_SHRINK: return shrink(r);
    case HD_BETWEEN_NEAR: return r->moves ? set_near(r) : hd_set_near(r->table, 0);
    default: return save_and_load(r, what);
    }
}

uint64_t runner_near(const runner *r) { return hd_params_number(&r->config, r->c->design, "near"); }

/* Whether a limit of device memory was in the way. Then the table is as it was. */
static bool too_near(runner *r, hd_status s)
{
    if (s != HD_EINVAL || !r->moves || !runner_near(r) || !strstr(hd_why(), "near: ")) return false;
    judge_all(r, "a growth that was refused");
    return true;
}

hd_status runner_between(runner *r, hd_case_between what)
{
    hd_status s = do_between(r, what);
    if (too_near(r, s)) return HD_OK;
    return s ? hd_fail(s, "batch %" PRIu64 ": %s", r->batch, hd_why()) : HD_OK;
}

hd_status mix_step(runner *r)
{
    hd_status s = HD_OK;
    uint64_t besides = runner_rarely(r, 256);
    if (r->resizes && besides < 16)
        s = resize(r, 0);
    else if (besides == 0)
        s = grow(r);
    else if (besides < (r->resizes ? 20 : 3))
        s = save_and_load(r, (hd_case_between)(HD_BETWEEN_LOAD + below(r, 3)));
    else if (r->moves && besides < 28)
        s = set_near(r);
    if (s && !too_near(r, s)) return hd_fail(s, "batch %" PRIu64 ": %s", r->batch, hd_why());
    return r->report->wrong[0] ? HD_OK : run_op(r, draw_op(r));
}
