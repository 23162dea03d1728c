/* SPDX-License-Identifier: Apache-2.0
 *
 * growing.c - hd_run_growing: a batch that is run until nothing of it is pending, in a table that is grown before it is
 * too full.
 *
 * A batch that may bring in more than there is room for at the load factor that is wanted is run in parts, and looked
 * after between them: keys that crowd into a full table cost many times what they cost a while earlier. How many came
 * the outcomes' counters tell, so that no slot is looked at, nor an outcome as long as none is PENDING. Arrays of a
 * device are brought here only when one is.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/ask.h"
#include "base/backend.h"
#include "base/error.h"
#include "base/op.h"
#include "lib/table.h"

/* What is pending of a batch, as a batch of its own. */
typedef struct rest {
    hd_batch batch;
    uint64_t n, *item, *key;
    uint8_t *value, *outcome, *value_out, *flag, *each;
    uint64_t *score_out, *score;
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

/* Room for n items. */
static hd_status rest_open(rest *r, hd_table *t, uint64_t n)
{
    uint64_t value = t->info.value_bytes, words = 4, bytes = 3;
    void *p;
    r->bytes = words * 8 + bytes + 2 * value;
    hd_status status = hd_take(&t->seams, "growing: pending items", n + 8, r->bytes, &p);
    if (status) return status;
    uint8_t *at = (uint8_t *)p;
    r->block = p;
    r->n = n;
    r->item = (uint64_t *)(void *)cut(&at, n * 8);
    r->key = (uint64_t *)(void *)cut(&at, n * 8);
    r->score = (uint64_t *)(void *)cut(&at, n * 8);
    r->score_out = (uint64_t *)(void *)cut(&at, n * 8);
    r->outcome = cut(&at, n);
    r->flag = cut(&at, n);
    r->each = cut(&at, n);
    r->value = cut(&at, n * value);
    r->value_out = cut(&at, n * value);
    return HD_OK;
}

static void rest_close(rest *r, hd_table *t) { hd_give(&t->seams, r->block, r->n + 8, r->bytes); }

/* The items of `from` whose outcome is pending; from may be r's own batch, for they only move down. */
static void coalesced(rest *r, const hd_batch *from, const uint8_t *outcome, uint32_t value_bytes)
{
    uint64_t n = 0;
    bool again = from == &r->batch;
    hd_batch b = *from;
    for (uint64_t i = 0; i < from->n; i++) {
        if (outcome[i] != HD_PENDING) continue;
        r->item[n] = again ? r->item[i] : i;
        r->key[n] = from->key[i];
        if (from->score) r->score[n] = from->score[i];
        if (from->flag) r->flag[n] = from->flag[i];
        if (from->each) r->each[n] = from->each[i];
        if (from->value)
            memmove(r->value + n * value_bytes, (const uint8_t *)from->value + i * value_bytes, value_bytes);
        /* not every hit delivers */
        if (from->value_out)
            memmove(r->value_out + n * value_bytes, (const uint8_t *)from->value_out + i * value_bytes, value_bytes);
        if (from->score_out) r->score_out[n] = from->score_out[i];
        n++;
    }
    b.n = n;
    b.key = r->key;
    b.score = from->score ? r->score : NULL;
    b.flag = from->flag ? r->flag : NULL;
    b.each = from->each ? r->each : NULL;
    b.value = from->value ? r->value : NULL;
    b.outcome = r->outcome;
    b.value_out = from->value_out ? r->value_out : NULL;
    b.score_out = from->score_out ? r->score_out : NULL;
    r->batch = b;
}

/* What the second time told, to where the caller looks. */
static void scatter(const rest *r, hd_batch *to, uint8_t *outcome, uint32_t value_bytes)
{
    for (uint64_t k = 0; k < r->batch.n; k++) {
        uint64_t i = r->item[k];
        outcome[i] = r->outcome[k];
        if (r->outcome[k] != HD_HIT) continue;
        if (to->value_out)
            memcpy((uint8_t *)to->value_out + i * value_bytes, r->value_out + k * value_bytes, value_bytes);
        if (to->score_out) to->score_out[i] = r->score_out[k];
    }
    to->ran = r->batch.ran;
}

/* ---- Growing --------------------------------------------------------------------------------- */

/* So many buckets that `size` entries take a share of `target` of them, and an eighth more at least, so that it ends. A
 * table that grows in place grows to the end of a doubling: buckets that are split by then have half of what the others
 * have, and it would be crowded long before it is full. The memory of a doubling is taken when it begins. */
static hd_status grow_for(hd_table *t, uint64_t size, double target)
{
    hd_info info;
    hd_status status = hd_table_info(t, &info);
    if (status) return status;
    double wanted = (double)size / (double)info.slots / target + 1;
    uint64_t least = info.buckets + info.buckets / 8 + 1, buckets = wanted < 1e18 ? (uint64_t)wanted : UINT64_MAX,
             whole = info.base_buckets;
    if (buckets < least) buckets = least;
    if (t->design->resize) {
        while (whole && whole < buckets && whole <= UINT64_MAX / 2) whole *= 2;
        if (whole > buckets) status = hd_grow(t, whole);
        /* it may have them, and not twice as many as it has */
        return whole > buckets && status != HD_EINVAL ? status : hd_grow(t, buckets);
    }
    uint64_t times = buckets / info.buckets + (buckets % info.buckets != 0), most = UINT64_MAX / info.buckets;
    return hd_grow(t, (times < most ? times : most) * info.buckets);
}

/* Items of this machine's arrays that are pending are run again, in a table that has grown. */
static hd_status run_rest(hd_table *t, hd_batch *b, uint8_t *outcome, uint64_t pending, double target)
{
    rest r;
    memset(&r, 0, sizeof r);
    hd_status status = rest_open(&r, t, pending);
    for (const hd_batch *from = b; !status && pending; from = &r.batch) {
        uint64_t size;
        coalesced(&r, from, from == b ? outcome : r.outcome, t->info.value_bytes);
        status = hd_entries_sync(t, &size);
        if (!status) status = grow_for(t, size + pending, target);
        if (!status) status = hd_run(t, &r.batch);
        if (!status) scatter(&r, b, outcome, t->info.value_bytes);
        if (!status) pending = count_pending(r.outcome, r.batch.n);
    }
    if (r.block) rest_close(&r, t);
    return status;
}

/* ---- Arrays of a device ---------------------------------------------------------------------- */

static const hd_device_seam *seam_of(const hd_table *t) { return t->seams.device ? t->seams.device : &hd_device_os; }

/* All of them, one way or the other, in their order in `block`; outputs alone, where they go back. `here` has them in
 * this machine's memory. */
static hd_status copy_arrays(const hd_table *t, const hd_batch *there, hd_batch *here, uint8_t *block, hd_way way)
{
    const hd_device_seam *d = seam_of(t);
    hd_array all[HD_ARRAYS_MOST];
    int used = hd_batch_arrays(there, t->info.value_bytes, all);
    hd_status status = HD_OK;
    for (int i = 0; i < used && !status; i++) {
        uint8_t *p = cut(&block, all[i].bytes);
        hd_field_set(here, all[i].field, p);
        if (way == HD_FROM_DEVICE)
            status = HD_ASK(d, "growing: an array", copy, p, all[i].p, (size_t)all[i].bytes, way, NULL);
        else if (all[i].out)
            status = HD_ASK(d, "growing: an array", copy, all[i].p, p, (size_t)all[i].bytes, way, NULL);
    }
    int code = d->wait(d->self, NULL); /* after a failure, too: nothing may arrive when the block is somebody else's */
    return status ? status : HD_TOLD(d, code, "wait", "growing: arrays");
}

/* The table has run the batch, and nothing of it is on its way. */
static hd_status run_rest_of_device(hd_table *t, hd_batch *b, double target)
{
    hd_batch here = *b;
    hd_array all[HD_ARRAYS_MOST];
    uint64_t bytes = 0, pending = 0;
    void *block;
    int used = hd_batch_arrays(b, t->info.value_bytes, all);
    for (int i = 0; i < used; i++) bytes += (all[i].bytes + 7) & ~7ull;
    hd_status status = hd_take(&t->seams, "growing: arrays of the device", bytes, 1, &block);
    if (status) return status;
    status = copy_arrays(t, b, &here, (uint8_t *)block, HD_FROM_DEVICE);
    if (!status) pending = count_pending(here.outcome, here.n); /* of others' batches, where there are none */
    if (pending) {
        here.stream = NULL;
        status = run_rest(t, &here, here.outcome, pending, target);
        b->ran = here.ran;
        hd_status back = copy_arrays(t, b, &here, (uint8_t *)block, HD_TO_DEVICE);
        if (!status) status = back;
    }
    hd_give(&t->seams, block, bytes, 1);
    return status;
}

/* Whether the batch's arrays are a device's, and can be looked at when it has run. */
static hd_status ask_whose(const hd_table *t, const hd_batch *b, const hd_op_row *row, bool *theirs)
{
    const hd_device_seam *d = seam_of(t);
    hd_stream_state is = { 0, 0 };
    *theirs = false;
    if (!t->design->far || !row || !hd_op_is_keyed(row) || !b->key) return HD_OK;
    hd_status status = HD_ASK(d, "growing: its arrays", owns, b->key, theirs);
    if (!status && *theirs) status = HD_ASK(d, "growing: its stream", stream_state, b->stream, &is);
    if (status || !*theirs) return status;
    if (is.capture) return hd_fail(HD_EINVAL, "stream: it is being captured, and hd_run_growing waits for its batch");
    return b->outcome ? HD_OK : hd_fail(HD_EINVAL, "outcome: hd_run_growing needs it where arrays are the device's");
}

/* ---- Parts of a batch ------------------------------------------------------------------------ */

/* Where a table may be full before the batch is through: parts are no smaller than this, nor than so large a share of
 * the places. */
enum { PART_LEAST = 1 << 16, PART_SHARE = 64 };

/* Items from `first` on that keep it below `target` even if each brings a key in; or a part of the least size, when
 * there is no such room. */
static hd_status take_part(hd_table *t, const hd_batch *b, const hd_op_row *row, uint64_t first, double target,
                           uint64_t *part)
{
    hd_info info;
    uint64_t left = *part = b->n - first, entries = atomic_load(&t->entries), least = PART_LEAST;
    bool lists = b->list_key || b->list_value || b->list_score || b->list_item || b->count,
         may_fill = row->role == HD_INSERTER && t->design->resize && !lists;
    if (target == 0 || !may_fill || left <= least) return HD_OK;
    hd_status status = hd_table_info(t, &info);
    /* others have run since */
    if (!status && atomic_load(&t->told) != atomic_load(&t->batches)) status = hd_entries_sync(t, &entries);
    if (status) return status;
    uint64_t most = (uint64_t)(target * (double)info.places), room = entries < most ? most - entries : 0;
    if (least < info.places / PART_SHARE) least = info.places / PART_SHARE;
    if (room < least) room = least;
    if (room < left) *part = room;
    return HD_OK;
}

/* The items [first, first + n) as a batch of their own. */
static hd_batch cut_batch(const hd_batch *b, uint32_t value_bytes, uint64_t first, uint64_t n)
{
    hd_array all[HD_ARRAYS_MOST];
    hd_batch part = *b;
    int used = first ? hd_batch_arrays(b, value_bytes, all) : 0;
    for (int i = 0; i < used; i++) hd_field_set(&part, all[i].field, (uint8_t *)all[i].p + all[i].bytes / b->n * first);
    part.n = n;
    return part;
}

/* Run until nothing of it is pending, and the table grown if it is too full then. */
static hd_status run_part(hd_table *t, hd_batch *b, bool keyed, bool theirs, double target)
{
    enum { USUAL_PERCENT = 85 };
    uint64_t before = atomic_load(&t->outcome[HD_PENDING]), size = 0, pending = 0;
    double to = target > 0 ? target : USUAL_PERCENT / 100.0;
    hd_info info;
    hd_status status = hd_run(t, b);
    if (!status && (keyed || target > 0)) status = hd_entries_sync(t, target > 0 ? &size : NULL);
    /* of others' batches, maybe */
    bool some = !status && keyed && b->n && atomic_load(&t->outcome[HD_PENDING]) != before;
    if (some && theirs) status = run_rest_of_device(t, b, to);
    if (some && !theirs && (pending = count_pending(b->outcome, b->n)))
        status = run_rest(t, b, b->outcome, pending, to);
    if (status || target == 0) return status;
    if (some) status = hd_entries_sync(t, &size);
    if (!status) status = hd_table_info(t, &info);
    return status || (double)size / (double)info.places <= target ? status : grow_for(t, size, target);
}

hd_status hd_run_growing(hd_table *t, hd_batch *b, double target)
{
    if (!t || !b) return hd_fail(HD_EINVAL, "%s: NULL", t ? "batch" : "table");
    if (!(target >= 0 && target <= 1)) return hd_fail(HD_EINVAL, "target: %g is no share of 0 to 1", target);
    const hd_op_row *row = hd_row_of_batch(b);
    bool keyed = row && hd_op_is_keyed(row), theirs;
    hd_status status = ask_whose(t, b, row, &theirs);
    void *mine = NULL;
    hd_batch all = *b;
    /* all of it, before a part runs or memory is taken for so many */
    if (!status && keyed) status = hd_batch_check(t, b, row);
    if (!status && keyed && !b->outcome) status = hd_take(&t->seams, "growing: outcomes", b->n, 1, &mine);
    if (mine) all.outcome = (uint8_t *)mine;
    uint64_t done = 0, n = b->n;
    do {
        if (!status && keyed) status = take_part(t, &all, row, done, target, &n);
        hd_batch part = cut_batch(&all, t->info.value_bytes, done, n);
        if (!status) status = run_part(t, &part, keyed, theirs, target);
        if (!status) b->ran = part.ran;
    } while (!status && keyed && (done += n) < b->n);
    hd_give(&t->seams, mine, mine ? b->n : 0, 1);
    return status;
}
