/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c - a table from open to close, and what it says of itself.
 */
#include "lib/table.h"

#include <inttypes.h>
#include <string.h>

#include "base/backend.h"
#include "base/error.h"
#include "lib/params.h"
#include "policies/expression.h"

/* ---- Open and close -------------------------------------------------------------------------- */

/* The registry's own string for `name`, which outlives the caller's; NULL and HD_EINVAL when there is none. */
static hd_status resolve(const char *field, const char *name, hd_kind kind, const char **known, size_t *at)
{
    hd_row row;
    if (!name) return hd_fail(HD_EINVAL, "%s: NULL", field);
    for (*at = 0; hd_list(kind, *at, &row); ++*at)
        if (strcmp(row.name, name) == 0) return *known = row.name, HD_OK;
    const char *elsewhere = kind == HD_DESIGNS ? hd_design_elsewhere(name) : "";
    return *elsewhere ? hd_fail(HD_EINVAL, "design: there is no '%s'%s", name, elsewhere)
                      : hd_fail_name(field, name, kind);
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
        const hd_policy_row *row = hd_policy_row_of(use->number);
        if (row && strcmp(use->text, row->name) == 0) info->policy = row->name;
        return HD_OK;
    }
    if (c->policy && strcmp(c->policy, d->policy) == 0) return HD_OK;
    return hd_fail(HD_EINVAL, "policy: %s has '%s' alone, for it keeps no scores; not '%.60s'", d->name, d->policy,
                   c->policy ? c->policy : "NULL");
}

/* The design is not on the backend. Where this library lacks the backend, its row says which one has it. */
static hd_status fail_backend(const hd_info *info, size_t at)
{
    hd_row row;
    bool elsewhere = hd_list(HD_BACKENDS, at, &row) && row.more[0];
    return hd_fail(HD_EINVAL, "backend: design %s does not run on %s%s%s", info->design, info->backend,
                   elsewhere ? "; it is " : "", elsewhere ? row.more : "");
}

static hd_status describe(const hd_config *c, hd_info *info, const hd_design **design, const hd_backend **on,
                          size_t *lock, hd_policy_use *policy)
{
    size_t row = 0;
    memset(info, 0, sizeof *info);
    hd_status status = resolve("design", c->design, HD_DESIGNS, &info->design, &row);
    if (!status) status = resolve("backend", c->backend, HD_BACKENDS, &info->backend, &row);
    if (!status) status = resolve("lock", c->lock, HD_LOCKS, &info->lock, lock);
    if (status) return status;
    *design = hd_design_named(info->design);
    *on = hd_backend_named(*design, info->backend);
    if (!*on) return fail_backend(info, row);
    if ((status = resolve_policy(*design, c, info, policy))) return status;
    if (!(*design)->policy && policy->number >= HD_POLICY_LOADED && (*on)->device_arrays)
        return hd_fail(HD_EINVAL, "policy: '%s' is of a file, and backend %s has none of these", info->policy,
                       info->backend);
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
    status = (*on)->shape(*design, c, info);
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
    if (t->backend->clock && !t->now_is_told) return t->backend->clock(t->state, now);
    return *now = hd_time_of(t), HD_OK;
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
static hd_status open_state(hd_table *t, bool has_file)
{
    hd_status status = t->backend->open(t->design, &t->info, &t->seams, &t->state);
    if (status) return status;
    status = start_clock(t);
    if (status) return t->backend->close(t->state, &t->seams), status;
    /* What a batch has changed is found when it has run, so those of a table with a file run one by one. */
    bool owns = t->backend != t->design->ref && t->design->owns && !has_file;
    status = t->lock->open(t->lock_state, t->lock->together & (owns ? ~0u : ~(uint32_t)HD_UPDATERS));
    /* only a mutex that cannot be made fails it (gate.c) */
    if (status) t->backend->close(t->state, &t->seams); /* GCOVR_EXCL_LINE */
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

/* Its state, its lock and what its file has, or nothing. */
static hd_status open_parts(hd_table *t, hd_store *store, bool to_read)
{
    hd_status status = open_state(t, store && !to_read);
    if (status) return status;
    status = hd_store_begin(t, store, to_read);
    if (status) {
        t->lock->close(t->lock_state);
        t->backend->close(t->state, &t->seams);
    }
    return status;
}

static hd_status open_table(const hd_config *c, const hd_seams *seams, hd_store *store, bool to_read, hd_table **table)
{
    hd_info info;
    const hd_design *design = NULL;
    const hd_backend *on = NULL;
    size_t lock = 0;
    hd_policy_use policy;
    memset(&policy, 0, sizeof policy);
    void *p;
    hd_status status = describe(c, &info, &design, &on, &lock, &policy);
    if (!status) status = hd_store_shape(store, design, on, &info);
    if (!status) status = hd_take(seams, "table", 1, sizeof(hd_table), &p);
    if (status) return status;
    hd_table *t = (hd_table *)p;
    memset(t, 0, sizeof *t);
    t->design = design;
    t->backend = on;
    t->lock = hd_lock_at(lock);
    t->seams = *seams;
    t->now_is_told = c->now != NULL;
    memcpy(t->policy, policy.text, sizeof t->policy);
    if (info.policy == policy.text) info.policy = t->policy;
    hd_table_become(t, &info);
    t->policy_flags = policy.program.flags;
    t->times_once = !design->policy && hd_policy_reads_time(policy.number, &policy.program) &&
                    !hd_params_number_of_table(&info, "capture_times");
    atomic_init(&t->epoch, c->epoch);
    if ((status = open_parts(t, store, to_read)))
        hd_give(seams, t, 1, sizeof *t);
    else
        *table = t;
    return status;
}

hd_status hd_table_open(const hd_config *c, const hd_seams *seams, hd_store *store, bool to_read, hd_table **table)
{
    hd_seams own = *seams;
    const hd_design *d = store ? hd_design_named(c->design) : NULL;
    const hd_backend *on = d ? hd_backend_named(d, c->backend) : NULL; /* NULL: open_table says so */
    hd_store_memory(store, on && on->device_arrays, &own);
    hd_status status = open_table(c, &own, store, to_read, table);
    if (!status && to_read) (*table)->store = NULL;
    if (status || to_read) hd_store_drop(store);
    return status;
}

/* Opens an empty table, or that of a file. A call that fails leaves *table as it was, and keeps no memory. */
hd_status hd_open(const hd_config *c, hd_table **table)
{
    if (!c || !table) return hd_fail(HD_EINVAL, "%s: NULL", c ? "table" : "config");
    hd_config complete = *c;
    hd_seams seams;
    hd_store *store;
    hd_status status = hd_seams_of_config(c, &seams);
    if (!status) status = hd_store_open(&complete, &seams, &store);
    return status ? status : hd_table_open(&complete, &seams, store, false, table);
}

/* Makes all batches so far durable. */
hd_status hd_persist(hd_table *t)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_store_persist(t);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

/* Frees a table and its state. NULL is allowed. */
void hd_close(hd_table *t)
{
    if (!t) return;
    hd_seams seams = t->seams;
    hd_store *store = t->store;
    hd_store_end(t);
    t->lock->close(t->lock_state);
    t->backend->close(t->state, &seams);
    hd_give(&seams, t, 1, sizeof *t);
    hd_store_drop(store);
}

/* ---- What a table says of itself ------------------------------------------------------------- */

/* What the table is now; it does not wait for batches on streams. */
hd_status hd_table_info(hd_table *t, hd_info *info)
{
    if (!t || !info) return hd_fail(HD_EINVAL, "%s: NULL", t ? "info" : "table");
    t->lock->enter(t->lock_state, HD_READER);
    *info = t->info;
    info->now = atomic_load(&t->clock);
    info->epoch = atomic_load(&t->epoch);
    if (t->store) hd_store_tell(t->store, info);
    t->lock->leave(t->lock_state, HD_READER);
    return HD_OK;
}

/* The epoch of the batches that begin from now on. */
hd_status hd_epoch_set(hd_table *t, uint32_t epoch)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    atomic_store(&t->epoch, epoch);
    return HD_OK;
}

/* The present time of the table's clock, behind all earlier batches. */
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

/* Sets the clock, behind all earlier batches. HD_EINVAL: no time of this clock. */
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

/* The totals of all earlier batches. */
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

/* A view of the table for kernels of the caller. Until hd_view_close the caller is a reader. */
hd_status hd_view_open(hd_table *t, void *stream, hd_view *view)
{
    if (!t || !view) return hd_fail(HD_EINVAL, "%s: NULL", t ? "view" : "table");
    if (!t->design->ref->view) return hd_fail(HD_EINVAL, "design %s has no view", t->info.design);
    t->lock->enter(t->lock_state, HD_READER);
    hd_status status = t->backend->view(t->state, stream, view);
    if (status) t->lock->leave(t->lock_state, HD_READER);
    return status;
}

/* Ends a view, also where the device failed. */
hd_status hd_view_close(hd_table *t, void *stream)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    hd_status status = t->backend->view_end ? t->backend->view_end(t->state, stream) : HD_OK;
    t->lock->leave(t->lock_state, HD_READER);
    return status;
}

/* Visits the entries in the order of their slots, and writes changed values back. */
hd_status hd_for_each(hd_table *t, hd_visitor *visit, void *context)
{
    if (!t || !visit) return hd_fail(HD_EINVAL, "%s: NULL", t ? "visit" : "table");
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_store_may_change(t);
    if (!status && !(status = hd_walk(t->backend, t->state, HD_WALK_CHANGE))) {
        hd_entries all = { .n = 0 };
        for (hd_entry *e; (e = hd_entries_next(&all, t->backend, t->state));)
            if (visit(context, e->key, e->score, e->value)) break;
        status = hd_store_changed(t, hd_walked(t->backend, t->state, true));
    }
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}

/* Checks the invariants of the table. HD_ECORRUPT: hd_why() names the first that does not hold. */
hd_status hd_check(hd_table *t)
{
    if (!t) return hd_fail(HD_EINVAL, "table: NULL");
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = t->backend->check(t->state);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status;
}
