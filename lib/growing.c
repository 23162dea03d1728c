/* SPDX-License-Identifier: Apache-2.0
 *
 * growing.c - hd_run_growing: a batch that is run until nothing of it is pending, in a table that is grown before it is
 * too full.
 *
 * A batch that may insert more keys than fit below the target load factor runs in parts, and the table may grow between
 * them: an insertion into a nearly full table costs many times an earlier one. The table's counters tell how many keys
 * were inserted, so that no slot is read, and no outcome unless one is PENDING. Only then are the arrays of a device
 * copied to the host.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/ask.h"
#include "base/backend.h"
#include "base/error.h"
#include "base/op.h"
#include "lib/table.h"

typedef struct growing {
    hd_table *t;
    double target, share; /* share: of the slots, that are taken where pending items made it grow */
    uint32_t value_bytes;
    bool keyed;    /* items have outcomes */
    bool inserts;  /* the batch may insert keys */
    bool pointers; /* the batch delivers pointers into the table, which growth would invalidate */
    bool whole;    /* no parts: the batch lists, or delivers pointers */
    bool theirs;   /* kernels reach an array in place: the batch may run after its call has returned */
    hd_reach outcomes;
} growing;

/* The arrays of a batch that has pending items, in the order in which they lie in memory: those of 8 bytes first. */
static const struct {
    size_t field;
    uint32_t bytes; /* per item; 0: value_bytes */
} columns[] = { { offsetof(hd_batch, key), 8 },       { offsetof(hd_batch, score), 8 },
                { offsetof(hd_batch, score_out), 8 }, { offsetof(hd_batch, flag), 1 },
                { offsetof(hd_batch, each), 1 },      { offsetof(hd_batch, outcome), 1 },
                { offsetof(hd_batch, found), 1 },     { offsetof(hd_batch, value), 0 },
                { offsetof(hd_batch, value_out), 0 } };
enum { COLUMNS = sizeof columns / sizeof *columns };

/* The pending items of a batch, as a batch of its own. */
typedef struct rest {
    hd_batch batch;
    uint64_t n, *item; /* item[k]: the index in the caller's batch */
    uint8_t *column[COLUMNS];
    void *block; /* all of them */
    uint64_t bytes;
} rest;

static uint64_t count_pending(const uint8_t *outcome, uint64_t n)
{
    uint64_t pending = 0;
    for (uint64_t i = 0; i < n; i++) pending += outcome[i] == HD_PENDING;
    return pending;
}

static uint8_t *cut(uint8_t **at, uint64_t bytes)
{
    uint8_t *p = *at;
    *at += (bytes + 7) & ~7ull;
    return p;
}

static uint64_t column_bytes(size_t k, uint32_t value_bytes)
{
    return columns[k].bytes ? columns[k].bytes : value_bytes;
}

/* Room for n items. */
static hd_status rest_open(rest *r, hd_table *t, uint32_t value_bytes, uint64_t n)
{
    void *p;
    r->bytes = sizeof *r->item;
    for (size_t k = 0; k < COLUMNS; k++) r->bytes += column_bytes(k, value_bytes);
    hd_status status = hd_take(&t->seams, "growing: pending items", n + 8, r->bytes, &p);
    if (status) return status;
    uint8_t *at = (uint8_t *)p;
    r->block = p;
    r->n = n;
    r->item = (uint64_t *)(void *)cut(&at, n * 8);
    for (size_t k = 0; k < COLUMNS; k++) r->column[k] = cut(&at, n * column_bytes(k, value_bytes));
    HD_ASSERT(at <= (uint8_t *)p + (n + 8) * r->bytes, "columns are longer than their memory");
    return HD_OK;
}

static void rest_close(rest *r, hd_table *t) { hd_give(&t->seams, r->block, r->n + 8, r->bytes); }

/* Moves the elements whose outcome is pending to `to`, in order. `to` may be `from`. */
static void collect_array(uint8_t *to, const uint8_t *from, uint64_t bytes, const uint8_t *outcome, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (outcome[i] != HD_PENDING) continue;
        memmove(to, from + i * bytes, bytes);
        to += bytes;
    }
}

/* The items of `from` whose outcome is pending. `from` may be r's own batch, for items only move down. Outputs move
 * along: not every hit delivers. */
static void collect(rest *r, const hd_batch *from, const uint8_t *outcome, uint32_t value_bytes)
{
    hd_batch b = *from;
    if (from == &r->batch)
        collect_array((uint8_t *)r->item, (const uint8_t *)r->item, sizeof *r->item, outcome, from->n);
    else
        for (uint64_t i = 0, n = 0; i < from->n; i++)
            if (outcome[i] == HD_PENDING) r->item[n++] = i;
    b.n = count_pending(outcome, from->n);
    HD_ASSERT(b.n > 0 && b.n <= r->n, "more items are pending than there is room for");
    for (size_t k = 0; k < COLUMNS; k++) {
        const uint8_t *p = (const uint8_t *)hd_field(from, columns[k].field);
        bool outcomes = columns[k].field == offsetof(hd_batch, outcome);
        if (!p && !outcomes) continue;
        if (!outcomes) collect_array(r->column[k], p, column_bytes(k, value_bytes), outcome, from->n);
        hd_field_set(&b, columns[k].field, r->column[k]);
    }
    r->batch = b;
}

/* Writes the results of the pending items to the caller's arrays. */
static void scatter(const rest *r, hd_batch *to, uint8_t *outcome, uint32_t value_bytes)
{
    const hd_batch *from = &r->batch;
    for (uint64_t k = 0; k < from->n; k++) {
        uint64_t i = r->item[k];
        HD_ASSERT(i < to->n && (k == 0 || i > r->item[k - 1]), "pending items are in another order");
        outcome[i] = from->outcome[k];
        if (to->found) to->found[i] = from->found[k];
        if (from->outcome[k] != HD_HIT) continue;
        if (to->value_out)
            memcpy((uint8_t *)to->value_out + i * value_bytes, (const uint8_t *)from->value_out + k * value_bytes,
                   value_bytes);
        if (to->score_out) to->score_out[i] = from->score_out[k];
    }
    to->ran = from->ran;
}

/* ---- Growing --------------------------------------------------------------------------------- */

/* Grows the table until `size` entries are a share of `target` of its slots, and by an eighth at least, so that
 * repeated growth ends. A table that grows in place grows to the end of a doubling: in between, buckets that are not
 * yet split hold twice as many entries as the others and fill up early. The memory of a doubling is taken when it
 * begins. The caller holds the lock as inserter. */
static hd_status grow_locked(hd_table *t, uint64_t size, double target)
{
    const hd_info *info = &t->info;
    double wanted = (double)size / (double)info->slots / target + 1;
    uint64_t least = info->buckets + info->buckets / 8 + 1, buckets = wanted < 1e18 ? (uint64_t)wanted : UINT64_MAX,
             whole = info->base_buckets;
    hd_status status = HD_EINVAL;
    if (buckets < least) buckets = least;
    HD_ASSERT(buckets > info->buckets, "a growth without end");
    if (t->design->ref->resize) {
        while (whole && whole < buckets && whole <= UINT64_MAX / 2) whole *= 2;
        if (whole > buckets) status = hd_table_grow(t, whole);
        /* it may have them, and not twice as many as it has */
        return whole > buckets && status != HD_EINVAL ? status : hd_table_grow(t, buckets);
    }
    uint64_t times = buckets / info->buckets + (buckets % info->buckets != 0), most = UINT64_MAX / info->buckets;
    return hd_table_grow(t, (times < most ? times : most) * info->buckets);
}

/* A size that no table of the design has is no mistake of the caller's. */
static hd_status status_of_growth(hd_status status)
{
    return status == HD_EINVAL ? hd_fail(HD_ENOMEM, "growing: %s", hd_why()) : status;
}

/* Grows the table for `size` entries, when they are more than a share of `target`. */
static hd_status grow_for(hd_table *t, uint64_t size, double target)
{
    hd_status status = HD_OK;
    t->lock->enter(t->lock_state, HD_INSERTER);
    if ((double)size > target * (double)t->info.places) status = grow_locked(t, size, target);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status_of_growth(status);
}

/* Grows the table, which has `size` entries, for items that are pending: where their keys belong, if that makes a
 * difference. */
static hd_status grow_for_pending(hd_table *t, const hd_batch *pending, uint64_t size, double target)
{
    bool made;
    t->lock->enter(t->lock_state, HD_INSERTER);
    hd_status status = hd_table_room_for(t, pending->key, pending->n, &made);
    if (!status && !made) status = grow_locked(t, size + pending->n, target);
    t->lock->leave(t->lock_state, HD_INSERTER);
    return status_of_growth(status);
}

/* Grows the table and runs the pending items again, until none is pending. The arrays are the host's. */
static hd_status run_rest(const growing *g, hd_batch *b, uint8_t *outcome, uint64_t pending)
{
    hd_table *t = g->t;
    rest r;
    memset(&r, 0, sizeof r);
    hd_status status = rest_open(&r, t, g->value_bytes, pending);
    for (const hd_batch *from = b; !status && pending; from = &r.batch) {
        uint64_t size;
        collect(&r, from, from == b ? outcome : r.batch.outcome, g->value_bytes);
        status = hd_entries_sync(t, &size);
        if (!status) status = grow_for_pending(t, &r.batch, size, g->share);
        if (!status) status = hd_run(t, &r.batch);
        if (!status) scatter(&r, b, outcome, g->value_bytes);
        if (!status) pending = count_pending(r.batch.outcome, r.batch.n);
    }
    if (r.block) rest_close(&r, t);
    return status;
}

/* ---- Arrays of a device ---------------------------------------------------------------------- */

static hd_status find_reach(const growing *g, const void *p, hd_reach *reach)
{
    const hd_device_seam *d = g->t->seams.device;
    return HD_ASK(d, "growing: its arrays", reach, p, reach);
}

/* One array, one way. This machine reads and writes what is not a device's. */
static hd_status copy_array(const growing *g, void *to, const void *from, const hd_array *array, hd_way way)
{
    const hd_device_seam *d = g->t->seams.device;
    hd_reach reach = HD_REACH_NONE;
    hd_status status = find_reach(g, array->p, &reach);
    if (!status && reach == HD_REACH_DEVICE)
        return HD_ASK(d, "growing: an array", copy, to, from, (size_t)array->bytes, way, NULL);
    if (!status) memcpy(to, from, (size_t)array->bytes);
    return status;
}

/* Copies the arrays between where they are and `block`, where they lie in order: all of them to it, the outputs back.
 * `here` is the batch with its arrays in the block. */
static hd_status copy_arrays(const growing *g, const hd_batch *there, hd_batch *here, uint8_t *block, hd_way way)
{
    const hd_device_seam *d = g->t->seams.device;
    hd_array all[HD_ARRAYS_MOST];
    int used = hd_batch_arrays(there, g->value_bytes, all);
    hd_status status = HD_OK;
    for (int i = 0; i < used && !status; i++) {
        uint8_t *p = cut(&block, all[i].bytes);
        hd_field_set(here, all[i].field, p);
        if (way == HD_FROM_DEVICE)
            status = copy_array(g, p, all[i].p, &all[i], way);
        else if (hd_array_is_out(&all[i]))
            status = copy_array(g, all[i].p, p, &all[i], way);
    }
    int code = d->wait(d->self, NULL); /* after a failure, too: no copy may arrive after the block has another owner */
    return status ? status : HD_TOLD(d, code, "wait", "growing: arrays");
}

/* The table has run the batch, and nothing of it is on its way. */
static hd_status run_rest_of_device(const growing *g, hd_batch *b)
{
    hd_table *t = g->t;
    hd_batch here = *b;
    hd_array all[HD_ARRAYS_MOST];
    uint64_t bytes = 0, pending = 0;
    void *block;
    int used = hd_batch_arrays(b, g->value_bytes, all);
    for (int i = 0; i < used; i++) bytes += (all[i].bytes + 7) & ~7ull;
    hd_status status = hd_take(&t->seams, "growing: arrays of the device", bytes, 1, &block);
    if (status) return status;
    status = copy_arrays(g, b, &here, (uint8_t *)block, HD_FROM_DEVICE);
    if (!status) pending = count_pending(here.outcome, here.n); /* of others' batches, where there are none */
    if (pending) {
        here.stream = NULL;
        status = run_rest(g, &here, here.outcome, pending);
        b->ran = here.ran;
        hd_status back = copy_arrays(g, b, &here, (uint8_t *)block, HD_TO_DEVICE);
        if (!status) status = back;
    }
    hd_give(&t->seams, block, bytes, 1);
    return status;
}

/* Whether the batch's arrays are in the reach of kernels, and can be read when it has run. */
static hd_status ask_whose(growing *g, const hd_batch *b)
{
    const hd_device_seam *d = g->t->seams.device;
    hd_stream_state is = { 0, 0 };
    hd_array all[HD_ARRAYS_MOST];
    hd_reach reach = HD_REACH_NONE;
    hd_status status = HD_OK;
    if (!g->t->backend->device_arrays || !g->keyed) return HD_OK;
    int used = hd_batch_arrays(b, g->value_bytes, all);
    for (int i = 0; i < used && !status; i++) {
        status = find_reach(g, all[i].p, &reach);
        if (all[i].p == (void *)b->outcome) g->outcomes = reach;
        g->theirs |= reach != HD_REACH_NONE;
    }
    if (!status && g->theirs) status = HD_ASK(d, "growing: its stream", stream_state, b->stream, &is);
    if (status || !g->theirs) return status;
    if (is.capture) return hd_fail(HD_EINVAL, "stream: it is being captured, and hd_run_growing waits for its batch");
    return b->outcome ? HD_OK : hd_fail(HD_EINVAL, "outcome: hd_run_growing needs it where kernels reach an array");
}

/* What has not run is PENDING, should growth be refused on the way. */
static hd_status mark_pending(const growing *g, const hd_batch *b)
{
    const hd_device_seam *d = g->t->seams.device;
    hd_status status = HD_OK;
    if (g->outcomes == HD_REACH_DEVICE && b->n)
        return HD_ASK(d, "growing: outcomes", fill, b->outcome, HD_PENDING, (size_t)b->n, b->stream);
    /* earlier batches of the stream may be on their way to it */
    if (g->outcomes == HD_REACH_BOTH) status = HD_ASK(d, "growing: outcomes", wait, b->stream);
    if (!status) memset(b->outcome, HD_PENDING, (size_t)b->n);
    return status;
}

/* ---- Parts of a batch ------------------------------------------------------------------------ */

/* The least size of a part, as a share of the slots: SHARE_AHEAD where a full table evicts or refuses. Where it answers
 * PENDING instead, PART_ENOUGH if that is more, because smaller launches cost as much; but at most SHARE_AFTER. */
enum { SHARE_AHEAD = 64, SHARE_AFTER = 16, PART_ENOUGH = 1 << 16 };

/* Grows a table that evicts, or into which the batch delivers pointers, before the part runs. *room: for at least
 * `wanted` items afterwards. */
static hd_status make_room(const growing *g, uint64_t entries, uint64_t wanted, uint64_t *room)
{
    hd_info info;
    if (*room >= wanted) return HD_OK;
    hd_status status = grow_for(g->t, entries + wanted, g->target);
    if (!status) status = hd_table_info(g->t, &info);
    if (status) return status;
    uint64_t most = (uint64_t)(g->target * (double)info.places);
    *room = most > entries + wanted ? most - entries : wanted;
    HD_ASSERT(*room >= wanted, "a table has grown, and has no room");
    return HD_OK;
}

/* Whether the table grows before a part runs, rather than after it. */
static bool grows_ahead(const growing *g) { return g->pointers || (g->inserts && !g->t->design->ref->resize); }

/* Whether the table may grow before a batch is at its end. */
static bool is_parted(const growing *g) { return g->target > 0 && (grows_ahead(g) || (g->inserts && !g->whole)); }

/* The least number of items of a part. */
static uint64_t least_part(const growing *g, const hd_info *info, uint64_t left)
{
    uint64_t least = g->whole ? left : info->places / SHARE_AHEAD, most = info->places / SHARE_AFTER;
    if (!grows_ahead(g) && least < PART_ENOUGH) least = most < PART_ENOUGH ? most : PART_ENOUGH;
    if (least == 0) least = 1;
    return least < left ? least : left;
}

/* How many of the items from `first` on to run next: those that keep the table below `target` even if each inserts a
 * key; or a part of the least size. */
static hd_status take_part(const growing *g, const hd_batch *b, uint64_t first, uint64_t *part)
{
    hd_table *t = g->t;
    hd_info info;
    uint64_t left = *part = b->n - first, entries = atomic_load(&t->entries);
    if (!is_parted(g)) return HD_OK;
    hd_status status = hd_table_info(t, &info);
    /* others have run since */
    if (!status && atomic_load(&t->synced_batches) != atomic_load(&t->batches)) status = hd_entries_sync(t, &entries);
    if (status) return status;
    uint64_t most = (uint64_t)(g->target * (double)info.places), room = entries < most ? most - entries : 0;
    uint64_t least = least_part(g, &info, left);
    if (grows_ahead(g)) status = make_room(g, entries, g->inserts ? least : 0, &room);
    if (status) return status;
    if (room < least) room = least;
    if (room < left) *part = room;
    HD_ASSERT(*part <= left && (*part > 0 || left == 0), "a part has no item");
    return HD_OK;
}

/* Runs what is pending of a batch that has run. Other batches may be what made the counter move: outcomes decide. */
static hd_status run_pending(const growing *g, hd_batch *b)
{
    if (g->theirs) return run_rest_of_device(g, b);
    uint64_t pending = count_pending(b->outcome, b->n);
    hd_status status = pending ? run_rest(g, b, b->outcome, pending) : HD_OK;
    HD_ASSERT(status || count_pending(b->outcome, b->n) == 0, "an item is pending that has run");
    return status;
}

/* Runs it until nothing of it is pending, and grows the table if it is too full then. */
static hd_status run_part(const growing *g, hd_batch *b)
{
    hd_table *t = g->t;
    uint64_t before = atomic_load(&t->outcome[HD_PENDING]), size = 0;
    bool grows = g->target > 0 && !g->pointers;
    hd_status status = hd_run(t, b);
    if (!status && (g->keyed || grows)) status = hd_entries_sync(t, g->target > 0 ? &size : NULL);
    if (!status && g->keyed && b->n && atomic_load(&t->outcome[HD_PENDING]) != before) {
        status = run_pending(g, b);
        if (!status && grows) status = hd_entries_sync(t, &size);
    }
    return status || !grows ? status : grow_for(t, size, g->target);
}

/* Whether the batch gives or may give the caller lists. */
static bool has_lists(const hd_batch *b)
{
    return b->list_key || b->list_value || b->list_score || b->list_item || b->count;
}

/* What is known of a batch that hd_run would run; HD_EINVAL: it would not. */
static hd_status begin(growing *g, hd_table *t, const hd_batch *b, double target)
{
    const double least = 1.0 / 1024, usual = 0.85;
    memset(g, 0, sizeof *g);
    if (!(target == 0 || (target >= least && target <= 1)))
        return hd_fail(HD_EINVAL, "target: %g is neither 0 nor a share of 1/1024 to 1", target);
    const hd_op_row *row = hd_row_of_batch(b);
    if (!row) return hd_fail(HD_EINVAL, "op: %d is no operation", (int)b->op);
    hd_info info;
    g->t = t;
    g->target = target;
    g->share = target > 0 ? target : usual;
    g->keyed = hd_op_is_keyed(row);
    hd_status status = hd_batch_accept(t, b, row, &info);
    if (!status) g->value_bytes = info.value_bytes;
    if (!status) status = ask_whose(g, b);
    if (status) return status;
    g->inserts = b->each || row->family == HD_FAMILY_UPSERT;
    g->pointers = b->ptr && row->needs & HD_GIVES_PTR;
    g->whole = g->pointers || (row->needs & HD_LISTS && has_lists(b));
    return HD_OK;
}

/* `all` is b with outcomes. */
static hd_status run_parts(const growing *g, const hd_batch *all, hd_batch *b)
{
    hd_status status = HD_OK;
    uint64_t done = 0, n = b->n;
    do {
        if (g->keyed) status = take_part(g, all, done, &n);
        hd_batch part = hd_batch_cut(all, g->value_bytes, done, n);
        if (!status) status = run_part(g, &part);
        if (!status) b->ran = part.ran;
    } while (!status && g->keyed && (done += n) < b->n);
    return status;
}

hd_status hd_run_growing(hd_table *t, hd_batch *b, double target)
{
    if (!t || !b) return hd_fail(HD_EINVAL, "%s: NULL", t ? "batch" : "table");
    growing g;
    hd_status status = begin(&g, t, b, target);
    if (!status) status = hd_earlier_await(t); /* which could else run between two parts */
    if (status) return status;
    void *mine = NULL;
    hd_batch all = *b;
    if (g.keyed && !b->outcome) status = hd_take(&t->seams, "growing: outcomes", b->n, 1, &mine);
    if (mine) all.outcome = (uint8_t *)mine;
    if (!status && all.outcome && g.keyed) status = mark_pending(&g, &all);
    if (!status) status = run_parts(&g, &all, b);
    hd_give(&t->seams, mine, mine ? b->n : 0, 1);
    return status;
}
