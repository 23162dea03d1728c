/* SPDX-License-Identifier: Apache-2.0
 *
 * reinsert.c - see reinsert.h.
 */
#include "lib/reinsert.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "lib/table.h"

enum {
    BLOCK_BYTES = 4 << 20, /* of the rows of a batch */
    WORDS = 5,             /* columns of 8 bytes */
    PATIENCE = 4           /* batches in a row that change nothing but entries of equal scores */
};

static uint64_t row_bytes(uint32_t value_bytes) { return WORDS * 8 + 1 + 2 * (uint64_t)value_bytes; }

hd_status hd_reinsert_open(hd_reinsert *x, const hd_design *design, const hd_backend *on, const hd_seams *seams,
                           void *state, hd_info *info, const char *from, uint64_t entries)
{
    uint64_t row = row_bytes(info->value_bytes), most = BLOCK_BYTES / row ? BLOCK_BYTES / row : 1;
    memset(x, 0, sizeof *x);
    x->design = design;
    x->backend = on;
    x->seams = seams;
    x->from = from;
    x->state = state;
    x->info = info;
    x->room = entries < most ? entries : most;
    if (x->room == 0) x->room = 1;
    x->block_bytes = x->room * row;
    hd_status status = hd_take(seams, "load: a batch", x->block_bytes, 1, &x->block);
    if (status) return status;
    uint64_t *word = (uint64_t *)x->block,
             **const column[WORDS] = { &x->key, &x->score, &x->gone_key, &x->gone_score, &x->gone_item };
    for (int i = 0; i < WORDS; i++, word += x->room) *column[i] = word;
    x->value = (uint8_t *)word;
    x->gone_value = x->value + x->room * info->value_bytes;
    x->outcome = x->gone_value + x->room * info->value_bytes;
    HD_ASSERT(x->outcome + x->room == (uint8_t *)x->block + x->block_bytes, "columns make up the block");
    return HD_OK;
}

hd_status hd_reinsert_close(hd_reinsert *x)
{
    uint64_t outcomes[HD_OUTCOME_COUNT] = { 0 }, ops[HD_OP_COUNT_] = { 0 };
    hd_status status = x->backend->tally ? x->backend->tally(x->state, outcomes, ops) : HD_OK;
    hd_give(x->seams, x->block, x->block_bytes, 1);
    return status;
}

static bool keeps_scores(const hd_reinsert *x) { return !x->design->policy; }

static hd_status launch(hd_reinsert *x, uint64_t n, uint64_t *gone)
{
    static const hd_when by_score = { .per_item = 1, .by_score = true };
    uint64_t outcomes[HD_OUTCOME_COUNT] = { 0 };
    hd_kernel kernel;
    hd_batch b;
    HD_ASSERT(n > 0 && n <= x->room, "a batch has more rows than there is room for");
    memset(&b, 0, sizeof b);
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.n = n;
    b.key = x->key;
    b.value = x->value;
    b.outcome = x->outcome;
    if (keeps_scores(x)) {
        b.op = HD_OP_INSERT_AND_EVICT;
        b.score = x->score;
        b.raw_scores = true;
        b.list_key = x->gone_key;
        b.list_score = x->gone_score;
        b.list_item = x->gone_item;
        b.list_value = x->gone_value;
        b.count = gone;
    }
    double load_factor = (double)x->inserted / (double)x->info->places;
    hd_status status = hd_kernel_pick(x->info, &b, load_factor < 1 ? load_factor : 1, &kernel);
    return status ? status : x->backend->launch(x->state, kernel.row, &b, by_score, outcomes);
}

/* Counts what is in the state now. *pending: items without a slot, in a design that evicts nothing. */
static hd_status count_outcomes(hd_reinsert *x, uint64_t n, uint64_t *inserted, uint64_t *pending)
{
    *inserted = *pending = 0;
    for (uint64_t i = 0; i < n; i++) {
        hd_outcome o = (hd_outcome)x->outcome[i];
        *inserted += o == HD_INSERTED;
        *pending += o == HD_PENDING;
        if (o != HD_INSERTED && o != HD_PENDING && o != HD_EVICTED && o != HD_REFUSED)
            return hd_fail(HD_ECORRUPT, "%s: key %" PRIu64 " is %s", x->from, x->key[i],
                           o == HD_RESERVED ? "reserved" : "there twice");
    }
    x->inserted += *inserted;
    HD_ASSERT(x->inserted <= x->info->places, "more entries than slots");
    return HD_OK;
}

static void copy_row(hd_reinsert *x, uint64_t to, const uint64_t *key, const uint64_t *score, const uint8_t *value,
                     uint64_t from)
{
    const uint64_t bytes = x->info->value_bytes;
    x->key[to] = key[from];
    x->score[to] = score[from];
    memmove(x->value + to * bytes, value + from * bytes, bytes);
}

/* The evicted entries are the next batch. An item that was refused has only full buckets with higher scores, now and
 * later: it is dropped. *n: the number of rows. *better: an entry was evicted by one with a higher score. */
static void take_evicted(hd_reinsert *x, uint64_t gone, uint64_t *n, bool *better)
{
    HD_ASSERT(gone <= *n, "more rows than items");
    for (uint64_t k = 0; k < gone; k++) HD_ASSERT(x->gone_item[k] < *n, "a row is of no item");
    *n = 0;
    *better = false;
    /* before the rows of items are overwritten */
    for (uint64_t k = 0; k < gone && !*better; k++) *better = x->gone_score[k] < x->score[x->gone_item[k]];
    for (uint64_t k = 0; k < gone; k++)
        if (x->outcome[x->gone_item[k]] == HD_EVICTED)
            copy_row(x, (*n)++, x->gone_key, x->gone_score, x->gone_value, k);
}

/* The pending items are the next batch, and find a larger table, where there can be one. */
static hd_status take_pending(hd_reinsert *x, uint64_t *n)
{
    uint64_t left = 0, buckets = x->info->buckets;
    for (uint64_t i = 0; i < *n; i++)
        if (x->outcome[i] == HD_PENDING) copy_row(x, left++, x->key, x->score, x->value, i);
    *n = x->design->ref->resize ? left : 0;
    if (*n == 0) return HD_OK;
    bool made = false;
    hd_status status = HD_OK;
    if (x->design->ref->room_for) status = x->backend->room_for(x->state, x->seams, x->key, *n, x->info, &made);
    return status || made ? status : x->backend->resize(x->state, x->seams, buckets + buckets / 8 + 1, x->info);
}

/* Each batch with a new or a better entry brings the state nearer to its last one, so there is an end. */
hd_status hd_reinsert_run(hd_reinsert *x, uint64_t n)
{
    for (int idle = 0; n && idle < PATIENCE;) {
        uint64_t inserted = 0, pending = 0, gone = 0;
        bool better = false;
        hd_status status = launch(x, n, &gone);
        if (!status) status = count_outcomes(x, n, &inserted, &pending);
        if (!status && keeps_scores(x))
            take_evicted(x, gone, &n, &better);
        else if (!status)
            status = take_pending(x, &n);
        if (status) return status;
        idle = inserted || better || pending ? 0 : idle + 1;
    }
    return HD_OK;
}
