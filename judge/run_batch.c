/* SPDX-License-Identifier: Apache-2.0
 *
 * run_batch.c - runs one batch of a case, and judges it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/design.h"
#include "judge/runner.h"
#include "lib/backend_host.h"
#include "base/error.h"
#include "base/op.h"

/* ---- Judging --------------------------------------------------------------------------------- */

bool runner_wrong(runner *r, uint32_t by, const char *what, const char *sentence)
{
    if (!sentence || !(r->judges & by)) return false;
    r->report->by = by;
    snprintf(r->report->wrong, sizeof r->report->wrong, "batch %" PRIu64 ": %s%s%s", r->batch, what, *what ? ": " : "",
             sentence);
    return true;
}

/* The whole table is compared after every batch while that is cheap, else after some. */
static bool compare_now(const runner *r, const hd_info *info)
{
    enum { CHEAP = 1 << 20, EVERY = 64 };
    return info->memory_bytes <= CHEAP || r->batch % EVERY == EVERY - 1 || r->batch + 1 == r->c->batches;
}

/* Of n ascending numbers, how many are below x. */
static uint64_t count_below(const uint64_t *number, uint64_t n, uint64_t x)
{
    uint64_t low = 0;
    while (low < n) {
        uint64_t middle = (low + n) / 2;
        if (number[middle] < x)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* The order of the items on the simulator, by their tickets. Tickets of moves belong to no item. */
static bool order_learned(runner *r, const hd_batch *b)
{
    size_t n;
    const simt_ticket_record *ticket = simt_machine_tickets(hd_host_machine(r->table), &n);
    uint64_t drawn = 0, *at = r->order + r->arrays.most, *since = at + r->arrays.most;
    bool all = true;
    for (size_t i = 0; i < n && all; i++) {
        if (ticket[i].item == JUDGE_MOVE) continue;
        all = drawn < b->n && ticket[i].item < b->n;
        if (!all) break;
        r->order[drawn] = ticket[i].item;
        at[drawn++] = i;
    }
    all = all && drawn == b->n;
    for (uint64_t p = 0; p < drawn && all; p++) since[p] = count_below(at, drawn, ticket[at[p]].started);
    if (judge_dictionary(r->c->design)) hd_oracle_since(r->oracle, since);
    return !runner_wrong(r, HD_RUN_ORACLE, judge_batch_name(b), all ? NULL : "not every item drew one ticket");
}

/* False: an output is wrong. */
static bool outputs_right(runner *r, const hd_batch *b, const hd_info *before)
{
    bool keyed = judge_keyed_batch(b), asked = r->judges & HD_RUN_ORACLE;
    if (runner_wrong(r, HD_RUN_ARRAYS, "", judge_arrays_check(&r->arrays, b))) return false;
    if (!asked) return true;
    bool learned = r->order && keyed && !r->in_order;
    if (learned && !order_learned(r, b)) return false;
    return !runner_wrong(r, HD_RUN_ORACLE, "",
                         hd_oracle_batch(r->oracle, r->table, b, learned ? r->order : NULL,
                                         runner_by_device(r) ? r->time_ns : before->now, before->epoch));
}

static void judge_batch(runner *r, const hd_batch *b, const hd_info *before)
{
    hd_info after;
    bool keyed = judge_keyed_batch(b), asked = r->judges & HD_RUN_ORACLE;
    if (!outputs_right(r, b, before)) return;
    if (hd_table_info(r->table, &after)) return (void)runner_wrong(r, HD_RUN_ORACLE, "hd_table_info", hd_why());
    if (asked && after.now != before->now + (keyed && !runner_by_device(r) ? b->n : 0))
        return (void)runner_wrong(r, HD_RUN_ORACLE, judge_batch_name(b), "the clock went wrong");
    for (uint64_t i = 0; keyed && i < b->n; i++) r->outcome[b->outcome[i]]++;
    r->report->judged += keyed ? b->n : 0;
    if (!compare_now(r, &after)) return;
    if (hd_check(r->table) && runner_wrong(r, HD_RUN_INVARIANTS, judge_batch_name(b), hd_why())) return;
    if (asked) runner_wrong(r, HD_RUN_ORACLE, judge_batch_name(b), hd_oracle_compare(r->oracle, r->table));
}

/* A value may be written through its pointer until the next insertion: writes some, and the oracle expects them. */
static void write_through(runner *r, const hd_batch *b)
{
    if (strcmp(r->shape.backend, "cuda") == 0) return; /* a device's pointers */
    for (uint64_t i = 0; i < b->n; i++) {
        hd_outcome o = (hd_outcome)b->outcome[i];
        if (!judge_delivers_ptr(b->op, o) || o == HD_PINNED || hd_rng_below(&r->rng, 2) || !b->ptr || !b->ptr[i])
            continue;
        runner_value(r, (uint8_t *)b->ptr[i]);
        hd_oracle_wrote(r->oracle, b->key[i], b->ptr[i]);
    }
}

/* The outcomes are judged; then values are written through pointers. Without the oracle writes are not recorded. */
static void judge_what_ran(runner *r, const hd_batch *b, const hd_info *before)
{
    judge_batch(r, b, before);
    bool follows = r->judges & HD_RUN_ORACLE;
    if (follows && !runner_failed(r) && !b->each && judge_ops[b->op].ptr_out && r->c->value_bytes) write_through(r, b);
}

hd_status runner_retire(runner *r)
{
    hd_counters c;
    hd_status s = hd_counters_sync(r->table, &c);
    if (s) return s;
    hd_counters *all = &r->report->counters;
    all->batches += c.batches;
    all->items += c.items;
    for (int o = 0; o < HD_OP_COUNT_; o++) all->op[o] += c.op[o];
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) {
        all->outcome[o] += c.outcome[o];
        if (r->oracle && !runner_failed(r) && c.outcome[o] != r->outcome[o])
            runner_wrong(r, HD_RUN_COUNTERS, hd_outcome_name((hd_outcome)o), "the counter differs from the outcomes");
        r->outcome[o] = 0;
    }
    hd_close(r->table);
    r->table = NULL;
    return HD_OK;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void window_count(runner *r, const hd_batch *b)
{
    if (!judge_keyed_batch(b)) return;
    hd_run_window *w = &r->report->window[r->batch * HD_RUN_WINDOWS / r->c->batches];
    w->items += b->n;
    for (uint64_t i = 0; i < b->n; i++)
        w->hits += b->outcome[i] == HD_HIT || b->outcome[i] == HD_UPDATED || b->outcome[i] == HD_PINNED ||
                   b->outcome[i] == HD_ERASED;
}

static hd_status run_timed(runner *r, hd_batch *b)
{
    uint64_t start = hd_seams_os.time.now_ns(hd_seams_os.time.self);
    hd_status s = hd_run(r->table, b);
    uint64_t end = hd_seams_os.time.now_ns(hd_seams_os.time.self);
    if (s) return hd_fail(s, "batch %" PRIu64 ": %s", r->batch, hd_why());
    r->report->seconds += (double)(end - start) * 1e-9;
    r->report->ran = b->ran;
    r->report->requests += judge_keyed_batch(b) ? b->n : 0;
    r->report->distinct_batches += b->distinct;
    window_count(r, b);
    return HD_OK;
}

/* From no time to 19 hours: any number of bits below 46. */
static uint64_t step_ns(const runner *r)
{
    hd_rng g = hd_rng_from(r->c->seed ^ r->time_ns);
    return hd_rng_below(&g, 1ull << hd_rng_below(&g, 46));
}

/* Whether an output that may be NULL is to be. */
static bool leaves_out(runner *r)
{
    return r->c->outputs == HD_OUTPUTS_NONE || (r->c->outputs == HD_OUTPUTS_SOME && hd_rng_below(&r->rng, 2));
}

/* Leaves out outputs. The judge needs outcomes, what was exported, and of a list everything or the items. */
static void leave_out(runner *r, hd_batch *b)
{
    const hd_op_row *row = hd_row_of_batch(b);
    bool lists = row->needs & HD_LISTS, keyed = hd_op_is_keyed(row);
    if (leaves_out(r)) b->found = NULL;
    if (leaves_out(r)) b->value_out = NULL;
    if (leaves_out(r)) b->score_out = NULL;
    if (leaves_out(r)) b->key_out = NULL;
    if (leaves_out(r)) b->rows = NULL;
    if (leaves_out(r)) b->more = NULL;
    if (!(row->needs & HD_NEEDS_PTR) && leaves_out(r)) b->ptr = NULL;
    if (leaves_out(r)) b->list_value = NULL;
    if (leaves_out(r)) b->list_score = NULL;
    if (lists && !keyed && leaves_out(r)) b->list_item = NULL;
    if (lists && keyed && leaves_out(r))
        b->list_key = b->list_score = b->list_item = b->count = NULL, b->list_value = NULL;
    if (!lists && !(row->needs & HD_NEEDS_COUNT) && leaves_out(r)) b->count = NULL;
}

hd_status runner_run(runner *r, hd_batch *b)
{
    hd_info before;
    hd_status s = r->starved ? hd_fail(HD_ENOMEM, "batch %" PRIu64 ": no memory to tell its keys apart", r->batch)
                             : hd_table_info(r->table, &before);
    if (s) return s;
    leave_out(r, b);
    if (r->choices && r->choices->batch) r->choices->batch(r->choices->self, b);
    if (r->oracle) judge_arrays_arm(&r->arrays);
    if (r->order && !r->in_order) s = hd_host_draw_tickets(r->table);
    if (runner_by_device(r)) r->time_ns += step_ns(r);
    if (!s) s = run_timed(r, b);
    if (!s && r->oracle) judge_what_ran(r, b, &before);
    return s;
}
