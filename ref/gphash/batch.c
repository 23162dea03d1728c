/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - whole batches, one item after another.
 */
#include <string.h>

#include "base/op.h"
#include "policies/predicates/predicate.h"
#include "ref/gphash/gphash.h"

/* ---- Keyed batches --------------------------------------------------------------------------- */

static gphash_item item_at(const gphash_view *v, const hd_batch *b, uint64_t i)
{
    gphash_item it = { b->each ? (hd_op)b->each[i] : b->op, b->elem, b->flag ? b->flag[i] : HD_EITHER, b->key[i],
                       NULL };
    if (b->value) it.value = (const char *)b->value + i * v->value_bytes;
    return it;
}

static void deliver(const gphash_view *v, const hd_batch *b, uint64_t i, const gphash_item *it, const gphash_seen *seen)
{
    if (b->outcome) b->outcome[i] = (uint8_t)seen->outcome;
    if (b->found) b->found[i] = HD_OP_IN(seen->outcome, HD_OUTCOMES_FOUND);
    if (seen->outcome != HD_HIT) return;
    bool gives = hd_op_does(it->op, HD_GIVES_VALUE), points = hd_op_does(it->op, HD_GIVES_PTR);
    if (gives && b->value_out && v->value_bytes)
        memcpy((char *)b->value_out + i * v->value_bytes, gphash_value(v, seen->entry), v->value_bytes);
    if ((gives || points) && b->score_out) b->score_out[i] = 0;
    if (points) b->ptr[i] = gphash_value(v, seen->entry);
}

static void run_keyed(gphash_table *t, const hd_batch *b, uint64_t *tally)
{
    uint64_t missed = 0;
    bool lists = !b->each && b->op == HD_OP_FIND_MISSED;
    for (uint64_t i = 0; i < b->n; i++) {
        gphash_item it = item_at(&t->v, b, i);
        gphash_seen seen;
        gphash_apply(t, &it, &seen);
        deliver(&t->v, b, i, &it, &seen);
        tally[seen.outcome]++;
        if (!lists || seen.outcome != HD_MISS) continue;
        if (b->list_key) b->list_key[missed] = it.key;
        if (b->list_item) b->list_item[missed] = i;
        missed++;
    }
    if (lists && b->count) *b->count = missed;
}

/* ---- Table-wide operations ------------------------------------------------------------------- */

static void list_put(const gphash_view *v, const hd_batch *b, uint64_t at, uint64_t e)
{
    if (b->list_key) b->list_key[at] = *gphash_key_at(v, e);
    if (b->list_score) b->list_score[at] = 0;
    if (b->list_item) b->list_item[at] = e;
    if (b->list_value && v->value_bytes)
        memcpy((char *)b->list_value + at * v->value_bytes, gphash_value(v, e), v->value_bytes);
}

static void run_scan(gphash_table *t, const hd_batch *b)
{
    const gphash_view *v = &t->v;
    bool exports = b->op == HD_OP_EXPORT || b->op == HD_OP_EXPORT_IF;
    uint32_t predicate = hd_predicate_of(b);
    uint64_t first = exports ? b->start : 0, last = exports ? b->start + b->n : gphash_places(v), n = 0;
    for (uint64_t e = first; e < last; e++) {
        uint64_t key = *gphash_key_at(v, e);
        if (key >= HD_KEY_RESERVED) continue;
        if (!hd_predicate_holds(predicate, key, 0, (const uint8_t *)gphash_value(v, e), v->value_bytes, b->pred_arg[0],
                                b->pred_arg[1]))
            continue;
        if (exports) list_put(v, b, n, e);
        if (b->op == HD_OP_ERASE_IF) gphash_remove(t, e);
        n++;
    }
    if (b->count) *b->count = n;
}

void gphash_clear(gphash_table *t)
{
    gphash_view *v = &t->v;
    for (uint32_t i = v->bottom; i <= gphash_top(v); i++) {
        for (uint64_t at = 0; at < gphash_level_buckets(v, i) * v->slots; at++) {
            gphash_publish(&v->level[i].key[at], HD_KEY_EMPTY);
            gphash_publish(&v->level[i].number[at], GPHASH_NONE);
        }
    }
    t->head = 0;
    t->tail = gphash_cells(v);
    for (uint64_t i = 0; i < t->tail; i++) v->free[i] = (uint32_t)i;
}

void gphash_run_batch(gphash_table *t, const hd_batch *b, uint64_t *tally)
{
    if (b->each || hd_op_does(b->op, HD_NEEDS_KEY))
        run_keyed(t, b, tally);
    else if (b->op == HD_OP_CLEAR)
        gphash_clear(t);
    else if (b->op != HD_OP_PROMOTE)
        run_scan(t, b);
    else if (b->count)
        *b->count = 0; /* all memory is near */
}
