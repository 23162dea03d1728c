/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - hd_run: what happens to a batch, in order; what is known of batches that have run; and the batches that the
 * library itself makes.
 */
#include <string.h>

#include "base/ask.h"
#include "base/error.h"
#include "lib/table.h"
#include "policies/policy.h"

/* ---- The life of a batch --------------------------------------------------------------------- */

uint64_t hd_time_of(hd_table *t)
{
    uint64_t now = t->seams.time.unix_ns(t->seams.time.self), latest = atomic_load(&t->latest);
    while (latest < now && !atomic_compare_exchange_weak(&t->latest, &latest, now)) {
    }
    return latest < now ? now : latest;
}

/* Takes the batch's ticks: n for a keyed batch, none for a table-wide one. */
static hd_when tick(hd_table *t, const hd_batch *b, const hd_op_row *row)
{
    hd_when when = { .per_item = 1, .epoch = atomic_load(&t->epoch), .rises = !t->scores_ahead };
    uint64_t ticks = hd_op_is_keyed(row) ? b->n : 0;
    if (t->info.clock == HD_CLOCK_LOGICAL) {
        when.clock = atomic_fetch_add(&t->clock, ticks);
        when.own = !t->scores_ahead;
        when.repeats = t->times_once && hd_op_does(b->op, HD_SCORES) && !hd_batch_is_raw(b);
    } else {
        when.by_device = !t->now_is_told && t->backend != t->design->ref;
        when.opened = atomic_load(&t->clock);
        when.per_item = 0;
        if (!when.by_device) when.clock = hd_time_of(t);
    }
    return when;
}

/* A batch that was refused has not begun, and its ticks go back, unless a later one has drawn its own from behind them.
 * One that a device failed may have run. */
static void tick_back(hd_table *t, const hd_batch *b, const hd_op_row *row, hd_when when, hd_status status)
{
    uint64_t ticks = hd_op_is_keyed(row) ? b->n : 0, then = when.clock + ticks;
    bool begun = status == HD_OK || status == HD_ECUDA || status == HD_EKERNEL;
    if (!begun && t->info.clock == HD_CLOCK_LOGICAL) atomic_compare_exchange_strong(&t->clock, &then, when.clock);
}

static void add_outcomes(hd_table *t, const uint64_t *outcomes)
{
    for (int o = 0; o < HD_OUTCOME_COUNT; o++)
        if (outcomes[o]) atomic_fetch_add(&t->outcome[o], outcomes[o]);
    if (outcomes[HD_INSERTED] != outcomes[HD_ERASED])
        atomic_fetch_add(&t->entries, outcomes[HD_INSERTED] - outcomes[HD_ERASED]);
}

/* What the keyed outcomes do not tell of the number of entries. */
static void learn_entries(hd_table *t, const hd_batch *b)
{
    bool told = b->count && !t->backend->device_arrays;
    if (b->op == HD_OP_SIZE && told) atomic_store(&t->entries, *b->count);
    if (b->op == HD_OP_ERASE_IF && told) atomic_fetch_sub(&t->entries, *b->count);
    if (b->op == HD_OP_CLEAR) atomic_store(&t->entries, 0);
    if (b->op == HD_OP_ERASE_IF ? told : b->op != HD_OP_CLEAR || !t->backend->device_arrays) return;
    atomic_store(&t->entries_unknown, true);
    if (t->backend->device_arrays && b->stream) atomic_store(&t->may_replay, true);
}

/* Readers may count it at the same time as it changes: it is near enough. */
static double load_factor_of(hd_table *t)
{
    uint64_t entries = atomic_load(&t->entries);
    return entries < t->info.places ? (double)entries / (double)t->info.places : 1;
}

static void tally(hd_table *t, const hd_batch *b, const hd_op_row *row, const uint64_t *outcomes)
{
    atomic_fetch_add(&t->batches, 1);
    for (uint64_t i = 0; b->each && !t->backend->device_arrays && i < b->n; i++)
        atomic_fetch_add(&t->op[b->each[i]], 1);
    if (!b->each) atomic_fetch_add(&t->op[b->op], hd_op_is_keyed(row) ? b->n : 1);
    add_outcomes(t, outcomes);
    if (!b->each) learn_entries(t, b);
}

hd_status hd_late_tally(hd_table *t)
{
    uint64_t outcomes[HD_OUTCOME_COUNT] = { 0 }, ops[HD_OP_COUNT_] = { 0 };
    hd_status status = t->backend->tally ? t->backend->tally(t->state, outcomes, ops) : HD_OK;
    add_outcomes(t, outcomes);
    for (int o = 0; o < HD_OP_COUNT_; o++)
        if (ops[o]) atomic_fetch_add(&t->op[o], ops[o]);
    return status;
}

hd_status hd_earlier_await(hd_table *t)
{
    if (!t->backend->device_arrays || t->lock->apart == HD_APART_BY_EVENTS) return HD_OK;
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_late_tally(t);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

/* HD_EINVAL: the batch's stream is being captured; why: what forbids that. */
static hd_status refuse_capture(const hd_table *t, const hd_batch *b, const char *why)
{
    hd_stream_state is = { 0, 0 };
    hd_status status = HD_ASK(t->seams.device, "batch: its stream", stream_state, b->stream, &is);
    return !status && is.capture ? hd_fail(HD_EINVAL, "stream: it is being captured, and %s", why) : status;
}

/* Scores that are no times of the table's clock will be stored. Batches that were put on streams before rely on there
 * being none, and may run after this one where the order is that of arrival: they are waited for, once. */
static hd_status leave_times(hd_table *t, const hd_batch *b)
{
    bool relied_on = t->policy_flags & (HD_SCORE_IS_TIME | HD_MONOTONE) && t->lock->apart == HD_APART_BY_WORD;
    hd_status status = HD_OK;
    if (!t->scores_ahead && relied_on && t->backend->device_arrays) {
        status = refuse_capture(t, b, "the first batch with raw_scores waits");
        if (!status) status = hd_late_tally(t);
    }
    if (!status) t->scores_ahead = true;
    return status;
}

/* Under the lock, in the batch's role. */
static hd_status run(hd_table *t, hd_batch *b, const hd_op_row *row)
{
    uint64_t outcomes[HD_OUTCOME_COUNT] = { 0 };
    hd_kernel kernel = { .variant = NULL };
    hd_status status = hd_batch_check(t, b, row);
    if (!status && !b->kernel)
        kernel = t->choice.of[hd_amount_of(t->design, t->backend, b)][hd_load_band(load_factor_of(t))]
                             [b->each ? HD_CHOICE_MIXED : (int)b->op];
    if (!status && !kernel.variant)
        status = hd_kernel_pick(&t->info, b, load_factor_of(t), &kernel); /* named, or why none */
    if (!status && t->design->ref->prepare) status = t->backend->prepare(t->state, &t->seams, b, &t->info);
    if (!status && hd_batch_is_raw(b)) status = leave_times(t, b);
    if (status) return status;
    hd_when when = tick(t, b, row);
    b->ran = b->each ? kernel.variant->ran_mixed : kernel.variant->ran[b->op];
    status = t->backend->launch(t->state, kernel.row, b, when, outcomes);
    tick_back(t, b, row, when, status);
    if (!status)
        tally(t, b, row, outcomes);
    else
        atomic_store(&t->entries_unknown, true);
    return status;
}

hd_status hd_batch_accept(hd_table *t, const hd_batch *b, const hd_op_row *row, hd_info *info)
{
    hd_kernel kernel;
    t->lock->enter(t->lock_state, HD_READER);
    *info = t->info;
    hd_status status = hd_batch_check(t, b, row);
    if (!status) status = hd_kernel_pick(info, b, load_factor_of(t), &kernel);
    t->lock->leave(t->lock_state, HD_READER);
    return status;
}

/* Runs a batch under the table's lock, in the batch's role (heddle.h, hd_run). */
hd_status hd_run(hd_table *t, hd_batch *b)
{
    if (!t || !b) return hd_fail(HD_EINVAL, "%s: NULL", t ? "batch" : "table");
    const hd_op_row *row = hd_row_of_batch(b);
    if (!row) return hd_fail(HD_EINVAL, "op: %d is no operation", (int)b->op);
    hd_role role = hd_role_of_batch(b);
    t->lock->enter(t->lock_state, role);
    hd_status status = role == HD_READER ? HD_OK : hd_store_may_change(t);
    bool waits = role != HD_READER && t->store && t->backend->device_arrays; /* it is durable when the call returns */
    if (!status && waits) status = refuse_capture(t, b, "launches of a graph would pass the table's file");
    if (!status) status = run(t, b, row);
    if (!status && waits) status = HD_ASK(t->seams.device, "batch: its stream", wait, b->stream);
    if (!status && role != HD_READER) status = hd_store_changed(t, HD_OK);
    t->lock->leave(t->lock_state, role);
    return status;
}

/* ---- Batches that the library makes ---------------------------------------------------------- */

static hd_status look_at_every_slot(hd_table *t)
{
    uint64_t entries = 0;
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_SIZE;
    b.count = &entries;
    hd_status status = run(t, &b, hd_op_row_of(b.op));
    if (status) return status;
    atomic_store(&t->entries, entries);
    atomic_store(&t->entries_unknown, false);
    return HD_OK;
}

hd_status hd_entries_sync(hd_table *t, uint64_t *entries)
{
    t->lock->enter(t->lock_state, HD_INSERTER); /* no batch is between its items and its tally */
    hd_status status = hd_late_tally(t);
    if (!status && entries && (atomic_load(&t->entries_unknown) || atomic_load(&t->may_replay)))
        status = look_at_every_slot(t);
    if (!status && entries) *entries = atomic_load(&t->entries);
    if (!status) atomic_store(&t->synced_batches, atomic_load(&t->batches));
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

/* How many entries the table has, counted by a batch of its own. */
hd_status hd_size_sync(hd_table *t, uint64_t *size)
{
    if (!t || !size) return hd_fail(HD_EINVAL, "%s: NULL", t ? "size" : "table");
    hd_status status = hd_earlier_await(t);
    if (status) return status;
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_SIZE;
    b.count = size;
    return hd_run(t, &b);
}

/* Entries / places, of one moment. */
hd_status hd_load_factor_sync(hd_table *t, double *load_factor)
{
    if (!t || !load_factor) return hd_fail(HD_EINVAL, "%s: NULL", t ? "load_factor" : "table");
    hd_status status = hd_earlier_await(t);
    if (status) return status;
    uint64_t size;
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_SIZE;
    b.count = &size;
    t->lock->enter(t->lock_state, HD_READER); /* one look: another thread may resize the table */
    status = run(t, &b, hd_op_row_of(b.op));
    if (!status) *load_factor = (double)size / (double)t->info.places;
    t->lock->leave(t->lock_state, HD_READER);
    return status;
}

/* Removes all entries, and waits until that is done. */
hd_status hd_clear(hd_table *t)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    hd_status status = hd_earlier_await(t);
    if (!status) status = hd_run(t, &b);
    if (status) return status;
    t->lock->enter(t->lock_state, HD_INSERTER);
    /* and so waits: where batches run as their streams get to them, a later call's could come before it */
    status = hd_late_tally(t);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}
