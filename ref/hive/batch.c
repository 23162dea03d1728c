/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - whole batches, on one thread.
 */
#include <string.h>

#include "base/op.h"
#include "predicates/predicate.h"
#include "ref/hive/hive.h"

/* ---- Keyed batches --------------------------------------------------------------------------- */

static hive_item item_at(const hive_view *v, const hd_batch *b, uint64_t i)
{
    uint32_t bytes = v->half / 8;
    hive_item it = { b->each ? (hd_op)b->each[i] : b->op, b->elem, b->flag ? b->flag[i] : HD_EITHER, b->key[i], 0 };
    if (b->value) memcpy(&it.value, (const char *)b->value + i * bytes, bytes);
    return it;
}

static void deliver(const hive_view *v, const hd_batch *b, uint64_t i, const hive_item *it, const hive_seen *seen)
{
    uint32_t bytes = v->half / 8;
    if (b->outcome) b->outcome[i] = (uint8_t)seen->outcome;
    if (b->found) b->found[i] = HD_OP_IN(seen->outcome, HD_OUTCOMES_FOUND);
    if (seen->outcome != HD_HIT) return;
    bool value = it->op == HD_OP_FIND || it->op == HD_OP_FIND_MISSED || it->op == HD_OP_FIND_OR_INSERT;
    if (value && b->value_out) memcpy((char *)b->value_out + i * bytes, &seen->value, bytes);
    if ((value || it->op == HD_OP_FIND_PTR) && b->score_out) b->score_out[i] = 0;
    if (it->op == HD_OP_FIND_PTR) b->ptr[i] = hive_value_at(v, seen->entry);
}

static void run_keyed(hive_view *v, const hd_batch *b, uint64_t *tally)
{
    uint64_t missed = 0;
    bool lists = !b->each && b->op == HD_OP_FIND_MISSED;
    for (uint64_t i = 0; i < b->n; i++) {
        hive_item it = item_at(v, b, i);
        hive_seen seen;
        hive_apply(v, &it, &seen);
        deliver(v, b, i, &it, &seen);
        tally[seen.outcome]++;
        if (!lists || seen.outcome != HD_MISS) continue;
        if (b->list_key) b->list_key[missed] = it.key;
        if (b->list_item) b->list_item[missed] = i;
        missed++;
    }
    if (lists && b->count) *b->count = missed;
}

/* ---- Table-wide operations ------------------------------------------------------------------- */

static void list_put(const hive_view *v, const hd_batch *b, uint64_t at, uint64_t e)
{
    if (b->list_key) b->list_key[at] = hive_key_of(v, hive_read(v, e));
    if (b->list_score) b->list_score[at] = 0;
    if (b->list_item) b->list_item[at] = e;
    if (b->list_value) memcpy((char *)b->list_value + at * (v->half / 8), hive_value_at(v, e), v->half / 8);
}

static void run_scan(hive_view *v, const hd_batch *b)
{
    bool exports = b->op == HD_OP_EXPORT || b->op == HD_OP_EXPORT_IF;
    uint32_t predicate = hd_predicate_of(b);
    uint64_t first = exports ? b->start : 0, last = exports ? b->start + b->n : hive_places(v), n = 0;
    for (uint64_t e = first; e < last; e++) {
        uint64_t word = hive_read(v, e);
        if (!hive_is_key(v, word)) continue;
        if (!hd_predicate_holds(predicate, hive_key_of(v, word), 0, (const uint8_t *)hive_value_at(v, e), v->half / 8,
                                b->pred_arg[0], b->pred_arg[1]))
            continue;
        if (exports) list_put(v, b, n, e);
        if (b->op == HD_OP_ERASE_IF) hive_remove(v, e);
        n++;
    }
    if (b->count) *b->count = n;
}

void hive_clear(hive_view *v)
{
    for (uint64_t e = 0; e < hive_places(v); e++) hive_write(v, e, hive_fresh(v));
    v->stashed = 0;
}

void hive_run_batch(hive_view *v, const hd_batch *b, uint64_t *tally)
{
    if (b->each)
        run_keyed(v, b, tally);
    else if (b->op == HD_OP_CLEAR)
        hive_clear(v);
    else if (!hd_op_does(b->op, HD_NEEDS_KEY))
        run_scan(v, b);
    else
        run_keyed(v, b, tally);
}
