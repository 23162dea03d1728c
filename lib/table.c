/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c - a table from open to close, and hd_run: what happens to a batch, in order.
 */
#include "lib/table.h"

#include <inttypes.h>
#include <string.h>

#include "base/ask.h"
#include "base/backend.h"
#include "base/error.h"
#include "lib/params.h"
#include "policies/expression.h"

/* ---- The life of a batch --------------------------------------------------------------------- */

/* A time that is not below an earlier one: kernels rely on that (hd_when.rises). */
static uint64_t time_of(hd_table *t)
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
        when.by_device = !t->now_is_told && t->design->gpu;
        when.opened = atomic_load(&t->clock);
        when.per_item = 0;
        if (!when.by_device) when.clock = time_of(t);
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
    bool told = b->count && !t->design->far;
    if (b->op == HD_OP_SIZE && told) atomic_store(&t->entries, *b->count);
    if (b->op == HD_OP_ERASE_IF && told) atomic_fetch_sub(&t->entries, *b->count);
    if (b->op == HD_OP_CLEAR) atomic_store(&t->entries, 0);
    if (b->op == HD_OP_ERASE_IF ? told : b->op != HD_OP_CLEAR || !t->design->far) return;
    atomic_store(&t->untold, true);
    if (t->design->far && b->stream) atomic_store(&t->replayed, true);
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
    for (uint64_t i = 0; b->each && !t->design->far && i < b->n; i++) atomic_fetch_add(&t->op[b->each[i]], 1);
    if (!b->each) atomic_fetch_add(&t->op[b->op], hd_op_is_keyed(row) ? b->n : 1);
    add_outcomes(t, outcomes);
    if (!b->each) learn_entries(t, b);
}

hd_status hd_late_tally(hd_table *t)
{
    uint64_t outcomes[HD_OUTCOME_COUNT] = { 0 }, ops[HD_OP_COUNT_] = { 0 };
    hd_status status = t->design->tally ? t->design->tally(t->state, outcomes, ops) : HD_OK;
    add_outcomes(t, outcomes);
    for (int o = 0; o < HD_OP_COUNT_; o++)
        if (ops[o]) atomic_fetch_add(&t->op[o], ops[o]);
    return status;
}

hd_status hd_earlier_await(hd_table *t)
{
    if (!t->design->far || t->lock->apart == HD_APART_BY_EVENTS) return HD_OK;
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_late_tally(t);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

/* Scores that are no times of the table's clock will be stored. Batches that were put on streams before rely on there
 * being none, and may run after this one where the order is that of arrival: they are waited for, once. */
static hd_status leave_times(hd_table *t, const hd_batch *b)
{
    const hd_device_seam *d = t->seams.device;
    bool relied_on = t->policy_flags & (HD_SCORE_IS_TIME | HD_MONOTONE) && t->lock->apart == HD_APART_BY_WORD;
    hd_stream_state is = { 0, 0 };
    hd_status status = HD_OK;
    if (!t->scores_ahead && relied_on && t->design->far) {
        status = HD_ASK(d, "batch: its stream", stream_state, b->stream, &is);
        if (!status && is.capture)
            status = hd_fail(HD_EINVAL, "stream: it is being captured, and the first batch with raw_scores waits");
        if (!status) status = hd_late_tally(t);
    }
    if (!status) t->scores_ahead = true;
    return status;
}

/* Under the lock, in the batch's role. */
static hd_status run(hd_table *t, hd_batch *b, const hd_op_row *row)
{
    uint64_t outcomes[HD_OUTCOME_COUNT] = { 0 };
    hd_kernel kernel = { NULL, NULL, NULL, 0 };
    hd_status status = hd_batch_check(t, b, row);
    if (!status && !b->kernel)
        kernel = t->choice.of[hd_amount_of(t->design, b)][hd_load_band(load_factor_of(t))]
                             [b->each ? HD_CHOICE_MIXED : (int)b->op];
    if (!status && !kernel.variant)
        status = hd_kernel_pick(&t->info, b, load_factor_of(t), &kernel); /* named, or why none */
    if (!status && t->design->prepare) status = t->design->prepare(t->state, &t->seams, b, &t->info);
    if (!status && hd_batch_is_raw(b)) status = leave_times(t, b);
    if (status) return status;
    hd_when when = tick(t, b, row);
    b->ran = b->each ? kernel.variant->ran_mixed : kernel.variant->ran[b->op];
    status = t->design->launch(t->state, kernel.row, b, when, outcomes);
    tick_back(t, b, row, when, status);
    if (!status)
        tally(t, b, row, outcomes);
    else
        atomic_store(&t->untold, true);
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

hd_status hd_run(hd_table *t, hd_batch *b)
{
    if (!t || !b) return hd_fail(HD_EINVAL, "%s: NULL", t ? "batch" : "table");
    const hd_op_row *row = hd_row_of_batch(b);
    if (!row) return hd_fail(HD_EINVAL, "op: %d is no operation", (int)b->op);
    hd_role role = hd_role_of_batch(b);
    t->lock->enter(t->lock_state, role);
    hd_status status = run(t, b, row);
    t->lock->leave(t->lock_state, role);
    return status;
}

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
    atomic_store(&t->untold, false);
    return HD_OK;
}

hd_status hd_entries_sync(hd_table *t, uint64_t *entries)
{
    t->lock->enter(t->lock_state, HD_INSERTER); /* no batch is between its items and its tally */
    hd_status status = hd_late_tally(t);
    if (!status && entries && (atomic_load(&t->untold) || atomic_load(&t->replayed))) status = look_at_every_slot(t);
    if (!status && entries) *entries = atomic_load(&t->entries);
    if (!status) atomic_store(&t->told, atomic_load(&t->batches));
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

/* ---- Open and close -------------------------------------------------------------------------- */

hd_config hd_config_default(void)
{
    hd_config c;
    hd_params_reset(&c);
    return c;
}

hd_config hd_config_of(const char *design)
{
    const hd_design *d = NULL;
    hd_config c = hd_config_default();
    if (design) c.design = design;
    for (size_t i = 0; design && !d && (d = hd_design_at(i)); i++)
        if (strcmp(d->name, design) != 0) d = NULL;
    if (d && d->usual) d->usual(&c);
    return c;
}

/* The registry's own string for `name`, which outlives the caller's; NULL and HD_EINVAL when there is none. */
static hd_status resolve(const char *field, const char *name, hd_kind kind, const char **known, size_t *at)
{
    hd_row row;
    if (!name) return hd_fail(HD_EINVAL, "%s: NULL", field);
    for (*at = 0; hd_list(kind, *at, &row); ++*at)
        if (strcmp(row.name, name) == 0) return *known = row.name, HD_OK;
    return hd_fail_name(field, name, kind);
}

/* A design that keeps no scores has one policy, which is no row. Of another one info->policy is the row's name, or
 * use->text, if it has expressions. */
static hd_status resolve_policy(const hd_design *d, const hd_config *c, hd_info *info, hd_policy_use *use)
{
    info->policy = d->policy ? d->policy : use->text;
    info->policy_flags = "";
    if (!d->policy) {
        hd_status status = c->policy ? hd_policy_read(c->policy, use) : hd_fail(HD_EINVAL, "policy: NULL");
        if (status) return status;
        info->policy_flags = hd_policy_flag_words(use->program.flags);
        if (use->number != HD_POLICY_EXPRESSION && strcmp(use->text, hd_policy_rows[use->number].name) == 0)
            info->policy = hd_policy_rows[use->number].name;
        return HD_OK;
    }
    if (c->policy && strcmp(c->policy, d->policy) == 0) return HD_OK;
    return hd_fail(HD_EINVAL, "policy: %s has '%s' alone, for it keeps no scores; not '%.60s'", d->name, d->policy,
                   c->policy ? c->policy : "NULL");
}

/* No row of the design has the backend. Where this library lacks the backend, its row says which one has it. */
static hd_status fail_backend(const hd_info *info, size_t at)
{
    hd_row row;
    bool elsewhere = hd_list(HD_BACKENDS, at, &row) && row.more[0];
    return hd_fail(HD_EINVAL, "backend: design %s does not run on %s%s%s", info->design, info->backend,
                   elsewhere ? "; it is " : "", elsewhere ? row.more : "");
}

static hd_status describe(const hd_config *c, hd_info *info, const hd_design **design, size_t *lock,
                          hd_policy_use *policy)
{
    size_t row = 0;
    memset(info, 0, sizeof *info);
    hd_status status = resolve("design", c->design, HD_DESIGNS, &info->design, &row);
    if (!status) status = resolve("backend", c->backend, HD_BACKENDS, &info->backend, &row);
    if (!status) status = resolve("lock", c->lock, HD_LOCKS, &info->lock, lock);
    if (status) return status;
    *design = hd_design_on(info->design, info->backend);
    if (!*design) return fail_backend(info, row);
    if ((status = resolve_policy(*design, c, info, policy))) return status;
    if ((status = hd_params_check((*design)->params, info->design, c))) return status;
    info->slots = c->slots;
    info->value_bytes = c->value_bytes;
    info->layout = c->layout;
    info->clock = c->clock;
    info->seed = c->seed;
    info->epoch = c->epoch;
    info->threads = c->threads;
    info->keys = HD_KEY_RESERVED;
    hd_params_to_info((*design)->params, c, info);
    status = (*design)->shape(*design, c, info);
    if (!status && !info->places) info->places = info->capacity;
    return status;
}

void hd_table_become(hd_table *t, const hd_info *info)
{
    t->info = *info;
    hd_kernels_choose(info, &t->choice);
}

/* What the device's clock says, or what stands for it. */
static hd_status read_clock(hd_table *t, uint64_t *now)
{
    if (t->design->clock && !t->now_is_told) return t->design->clock(t->state, now);
    return *now = time_of(t), HD_OK;
}

/* Where ticks of the device's clock begin (hd_tick_of). */
static hd_status start_clock(hd_table *t)
{
    uint64_t now = 0;
    if (t->info.clock == HD_CLOCK_LOGICAL) return HD_OK;
    hd_status status = read_clock(t, &now);
    atomic_store(&t->clock, now ? now : 1); /* 0 means that there is no such time: hd_tick_at, and older files */
    return status;
}

/* Its state and its lock, or neither. */
static hd_status open_state(hd_table *t)
{
    hd_status status = t->design->open(t->design, &t->info, &t->seams, &t->state);
    if (status) return status;
    status = start_clock(t);
    if (status) return t->design->close(t->state, &t->seams), status;
    status = t->lock->open(t->lock_state, t->lock->together & (t->design->owns ? ~0u : ~(uint32_t)HD_UPDATERS));
    /* only a mutex that cannot be made fails it (gate.c) */
    if (status) t->design->close(t->state, &t->seams); /* GCOVR_EXCL_LINE */
    return status;
}

/* Whether one function of a pair is missing. */
static bool half(bool take, bool give) { return take != give; }

hd_status hd_seams_of_config(const hd_config *c, hd_seams *seams)
{
    *seams = c->seams ? *c->seams : hd_seams_os;
    if (!seams->device) seams->device = &hd_device_os;
    const hd_allocator *a = c->allocator;
    if (c->now) {
        seams->time.unix_ns = c->now;
        seams->time.self = c->now_context;
    }
    if (!a) return HD_OK;
    if (half(a->take, a->give) || half(a->device_take, a->device_give) || half(a->pinned_take, a->pinned_give))
        return hd_fail(HD_EINVAL, "allocator: a function of a pair is NULL, and the other one is not");
    if (a->take) seams->memory = (hd_memory_seam){ a->take, a->give, a->context };
    seams->allocator = *a;
    return HD_OK;
}

hd_status hd_open(const hd_config *c, hd_table **table)
{
    if (!c || !table) return hd_fail(HD_EINVAL, "%s: NULL", c ? "table" : "config");
    hd_info info;
    const hd_design *design = NULL;
    size_t lock = 0;
    hd_policy_use policy;
    memset(&policy, 0, sizeof policy);
    hd_status status = describe(c, &info, &design, &lock, &policy);
    if (status) return status;

    hd_seams seams;
    void *p;
    if ((status = hd_seams_of_config(c, &seams))) return status;
    if ((status = hd_take(&seams, "table", 1, sizeof(hd_table), &p))) return status;
    hd_table *t = (hd_table *)p;
    memset(t, 0, sizeof *t);
    t->design = design;
    t->lock = hd_lock_at(lock);
    t->seams = seams;
    t->now_is_told = c->now != NULL;
    memcpy(t->policy, policy.text, sizeof t->policy);
    if (info.policy == policy.text) info.policy = t->policy;
    hd_table_become(t, &info);
    t->policy_flags = policy.program.flags;
    t->times_once = !design->policy && hd_policy_reads_time(policy.number, &policy.program) &&
                    !hd_params_number_of_table(&info, "capture_times");
    atomic_init(&t->epoch, c->epoch);
    if ((status = open_state(t))) {
        hd_give(&seams, t, 1, sizeof *t);
        return status;
    }
    *table = t;
    return HD_OK;
}

void hd_close(hd_table *t)
{
    if (!t) return;
    hd_seams seams = t->seams;
    t->lock->close(t->lock_state);
    t->design->close(t->state, &seams);
    hd_give(&seams, t, 1, sizeof *t);
}

/* ---- What a table says of itself ------------------------------------------------------------- */

hd_status hd_table_info(hd_table *t, hd_info *info)
{
    if (!t || !info) return hd_fail(HD_EINVAL, "%s: NULL", t ? "info" : "table");
    t->lock->enter(t->lock_state, HD_READER);
    *info = t->info;
    info->now = atomic_load(&t->clock);
    info->epoch = atomic_load(&t->epoch);
    t->lock->leave(t->lock_state, HD_READER);
    return HD_OK;
}

hd_status hd_epoch_set(hd_table *t, uint32_t epoch)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    atomic_store(&t->epoch, epoch);
    return HD_OK;
}

hd_status hd_clock_sync(hd_table *t, uint64_t *now)
{
    if (!t || !now) return hd_fail(HD_EINVAL, "%s: NULL", t ? "now" : "table");
    hd_status status = HD_OK;
    t->lock->enter(t->lock_state, HD_INSERTER);
    if (t->info.clock == HD_CLOCK_LOGICAL)
        *now = atomic_load(&t->clock);
    else
        status = read_clock(t, now);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

hd_status hd_clock_set(hd_table *t, uint64_t clock)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    bool by_device = t->info.clock == HD_CLOCK_DEVICE;
    if (clock > INT64_MAX || (by_device && !clock))
        return hd_fail(HD_EINVAL, "clock: %" PRIu64 " is not from %d to 2^63 - 1", clock, by_device);
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_late_tally(t); /* waits: earlier batches rely on the scores that there are */
    uint64_t was = atomic_load(&t->clock);
    if (!status && (by_device ? clock != was : clock < was)) t->scores_ahead = true;
    if (!status) atomic_store(&t->clock, clock);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

hd_status hd_counters_sync(hd_table *t, hd_counters *c)
{
    if (!t || !c) return hd_fail(HD_EINVAL, "%s: NULL", t ? "counters" : "table");
    memset(c, 0, sizeof *c);
    t->lock->enter(t->lock_state, HD_INSERTER); /* no batch is between its items and its tally */
    hd_status status = hd_late_tally(t);
    c->batches = atomic_load(&t->batches);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) c->items += c->outcome[o] = atomic_load(&t->outcome[o]);
    for (int o = 0; o < HD_OP_COUNT_; o++) c->op[o] = atomic_load(&t->op[o]);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

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

hd_status hd_view_open(hd_table *t, void *stream, hd_view *view)
{
    if (!t || !view) return hd_fail(HD_EINVAL, "%s: NULL", t ? "view" : "table");
    const hd_design *ref = t->design->gpu ? t->design->gpu->ref : t->design;
    if (!ref->view) return hd_fail(HD_EINVAL, "design %s has no view", t->info.design);
    t->lock->enter(t->lock_state, HD_READER);
    hd_status status = t->design->view(t->state, stream, view);
    if (status) t->lock->leave(t->lock_state, HD_READER);
    return status;
}

hd_status hd_view_close(hd_table *t, void *stream)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    hd_status status = t->design->view_end ? t->design->view_end(t->state, stream) : HD_OK;
    t->lock->leave(t->lock_state, HD_READER);
    return status;
}

hd_status hd_for_each(hd_table *t, hd_visitor *visit, void *context)
{
    if (!t || !visit) return hd_fail(HD_EINVAL, "%s: NULL", t ? "visit" : "table");
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_walk(t->design, t->state, HD_WALK_CHANGE);
    if (!status) {
        hd_entries all = { .n = 0 };
        for (hd_entry *e; (e = hd_entries_next(&all, t->design, t->state));)
            if (visit(context, e->key, e->score, e->value)) break;
        status = hd_walked(t->design, t->state, true);
    }
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

hd_status hd_check(hd_table *t)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = t->design->check(t->state);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* Under the lock as inserter, in place. */
static hd_status resize(hd_table *t, uint64_t buckets, bool grows)
{
    hd_info info = t->info;
    if (buckets == 0) return hd_fail(HD_EINVAL, "buckets: a table has at least one");
    if (grows ? buckets < info.buckets : buckets > info.buckets)
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are %s than the present %" PRIu64, buckets,
                       grows ? "fewer" : "more", info.buckets);
    hd_status status = buckets == info.buckets ? HD_OK : t->design->resize(t->state, &t->seams, buckets, &info);
    hd_table_become(t, &info); /* also where a device failed behind it */
    return status;
}

/* A new state, which the entries move into. The old one stands until the new one is whole. Of the designs here, only
 * those without kernels grow so; a design with kernels may, as long as it has none for growth. */
static hd_status grow_anew(hd_table *t, const hd_info *info)
{
    void *state;
    hd_status status = t->design->open(t->design, info, &t->seams, &state);
    if (status) return status;
    status = hd_stage(t->design, t->state, true);
    if (!status && !(status = hd_stage(t->design, state, true))) {
        t->design->move_all(t->state, state);
        status = hd_settle(t->design, state, true);
    }
    if (!status) status = hd_late_tally(t);
    if (status) {
        hd_settle(t->design, t->state, false);
        t->design->close(state, &t->seams);
        return status;
    }
    t->design->close(t->state, &t->seams);
    t->state = state;
    return HD_OK;
}

hd_status hd_larger_shape(const hd_design *d, uint64_t buckets, hd_info *info)
{
    if (buckets > (uint64_t)PTRDIFF_MAX / info->slots / (HD_METADATA_MOST + (uint64_t)info->value_bytes))
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are more than can be addressed", buckets);
    hd_config c = hd_config_default();
    c.capacity = buckets * info->slots;
    c.slots = info->slots;
    c.value_bytes = info->value_bytes;
    hd_params_of_info(d->params, info, &c);
    hd_status status = d->shape(d, &c, info);
    info->places = info->capacity;
    return status;
}

/* Under the lock as inserter. */
hd_status hd_table_grow(hd_table *t, uint64_t buckets)
{
    hd_info info = t->info;
    if (t->design->resize) return resize(t, buckets, true);
    if (buckets == 0 || buckets % info.buckets)
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " is no multiple of the present %" PRIu64, buckets, info.buckets);
    if (buckets == info.buckets) return HD_OK;
    hd_status status = hd_larger_shape(t->design, buckets, &info);
    if (status) return status;
    if (t->design->grow) {
        status = hd_late_tally(t);
        if (!status) status = t->design->grow(t->design, &t->seams, &info, &t->state);
    } else {
        status = grow_anew(t, &info);
    }
    if (!status) hd_table_become(t, &info);
    return status;
}

hd_status hd_table_room_for(hd_table *t, const uint64_t *key, uint64_t n, bool *made)
{
    hd_info info = t->info;
    *made = false;
    if (!t->design->room_for) return HD_OK;
    hd_status status = t->design->room_for(t->state, &t->seams, key, n, &info, made);
    hd_table_become(t, &info);
    return status;
}

hd_status hd_grow(hd_table *t, uint64_t buckets)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_table_grow(t, buckets);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

hd_status hd_shrink(hd_table *t, uint64_t buckets)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    if (!t->design->resize) return hd_fail(HD_EINVAL, "table: design %s does not shrink", t->design->name);
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = resize(t, buckets, false);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

hd_status hd_set_near(hd_table *t, uint64_t near_bytes)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    if (!t->design->set_near)
        return hd_fail(HD_EINVAL, "table: design %s does not change its limit of device memory while it is open",
                       t->design->name);
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_info info = t->info;
    hd_status status = t->design->set_near(t->state, &t->seams, near_bytes, &info);
    hd_table_become(t, &info); /* also where it failed on the way */
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

hd_status hd_reserve(hd_table *t, uint64_t capacity)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = HD_OK;
    uint64_t times = capacity / t->info.capacity + (capacity % t->info.capacity != 0);
    /* no overflow: of the 2^64 entries that can be asked for, a bucket has two at least */
    if (times > 1)
        status = hd_table_grow(t, t->design->resize ? capacity / t->info.slots + (capacity % t->info.slots != 0)
                                                    : times * t->info.buckets);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}
