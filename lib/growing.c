/* SPDX-License-Identifier: Apache-2.0
 *
 * growing.c - hd_run_growing: a batch that is run until nothing of it is pending.
 */
#include <string.h>

#include "lib/error.h"
#include "lib/op.h"
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
static void gather(rest *r, const hd_batch *from, const uint8_t *outcome, uint32_t value_bytes)
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
        if (from->value) memmove(r->value + n * value_bytes, (const uint8_t *)from->value + i * value_bytes, value_bytes);
        if (from->value_out) memmove(r->value_out + n * value_bytes, (const uint8_t *)from->value_out + i * value_bytes, value_bytes); /* not every hit delivers */
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
        if (to->value_out) memcpy((uint8_t *)to->value_out + i * value_bytes, r->value_out + k * value_bytes, value_bytes);
        if (to->score_out) to->score_out[i] = r->score_out[k];
    }
    to->ran = r->batch.ran;
}

/* So many buckets that `size` entries take a share of `target` of them: an eighth more at least, so that it ends. */
static hd_status grow_for(hd_table *t, uint64_t size, double target)
{
    hd_info info;
    hd_status status = hd_table_info(t, &info);
    if (status) return status;
    double wanted = (double)size / (double)info.slots / target + 1;
    uint64_t least = info.buckets + info.buckets / 8 + 1, buckets = wanted < 1e18 ? (uint64_t)wanted : UINT64_MAX;
    if (buckets < least) buckets = least;
    if (t->design->resize) return hd_grow(t, buckets);
    uint64_t times = buckets / info.buckets + (buckets % info.buckets != 0), most = UINT64_MAX / info.buckets;
    return hd_grow(t, (times < most ? times : most) * info.buckets);
}

static hd_status run_rest(hd_table *t, hd_batch *b, uint8_t *outcome, uint64_t pending, double target)
{
    rest r;
    memset(&r, 0, sizeof r);
    hd_status status = rest_open(&r, t, pending);
    for (const hd_batch *from = b; !status && pending; from = &r.batch) {
        uint64_t size;
        gather(&r, from, from == b ? outcome : r.outcome, t->info.value_bytes);
        status = hd_size_sync(t, &size);
        if (!status) status = grow_for(t, size + pending, target);
        if (!status) status = hd_run(t, &r.batch);
        if (!status) scatter(&r, b, outcome, t->info.value_bytes);
        if (!status) pending = count_pending(r.outcome, r.batch.n);
    }
    if (r.block) rest_close(&r, t);
    return status;
}

/* Whether this machine can look at the batch's arrays. */
static hd_status check_near(const hd_table *t, const hd_batch *b)
{
    bool owns = false;
    const hd_device_seam *d = t->seams.device ? t->seams.device : &hd_device_os;
    if (!t->design->far || !b->key || d->owns(d->self, b->key, &owns) || !owns) return HD_OK;
    return hd_fail(HD_EINVAL, "key: hd_run_growing reads the outcomes, and takes arrays of this machine alone");
}

hd_status hd_run_growing(hd_table *t, hd_batch *b, double target)
{
    enum { USUAL_PERCENT = 85 };
    if (!t || !b) return hd_fail(HD_EINVAL, "%s: NULL", t ? "batch" : "table");
    if (!(target >= 0 && target <= 1)) return hd_fail(HD_EINVAL, "target: %g is no share of 0 to 1", target);
    const hd_op_row *row = hd_row_of_batch(b);
    hd_status status = check_near(t, b);
    void *mine = NULL;
    uint8_t *told = b->outcome;
    uint64_t n = b->n;
    bool keyed = row && hd_op_is_keyed(row);
    if (!status && keyed && !told) status = hd_batch_check(t, b, row); /* before memory is taken for so many */
    if (!status && keyed && !told) status = hd_take(&t->seams, "growing: outcomes", n, 1, &mine);
    if (mine) b->outcome = (uint8_t *)mine;
    if (!status) status = hd_run(t, b);
    uint64_t pending = !status && keyed && n ? count_pending(b->outcome, n) : 0;
    if (pending) status = run_rest(t, b, b->outcome, pending, target > 0 ? target : USUAL_PERCENT / 100.0);
    b->outcome = told;
    hd_give(&t->seams, mine, mine ? n : 0, 1);
    if (status || target == 0) return status;
    uint64_t size;
    hd_info info;
    status = hd_size_sync(t, &size);
    if (!status) status = hd_table_info(t, &info);
    return status || (double)size / (double)info.places <= target ? status : grow_for(t, size, target);
}
