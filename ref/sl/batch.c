/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - whole batches, on one thread.
 */
#include <string.h>

#include "base/op.h"
#include "policies/predicates/predicate.h"
#include "ref/accum.h"
#include "ref/rule.h"
#include "ref/sl/sl.h"

static void value_out(const sl_view *v, const hd_batch *b, uint64_t row, uint64_t place)
{
    uint32_t bytes = sl_value_bytes(v);
    if (b->value_out) memcpy((char *)b->value_out + row * bytes, sl_value_at(v, place), bytes);
}

static void entry_out(const sl_view *v, const hd_batch *b, uint64_t row, sl_at at)
{
    uint64_t place = sl_place_at(v, at);
    if (b->key_out) b->key_out[row] = sl_key(v, place);
    value_out(v, b, row, place);
}

/* ---- Ordered items --------------------------------------------------------------------------- */

static hd_outcome run_neighbour(const sl_view *v, const hd_batch *b, uint64_t i)
{
    uint64_t key = b->key[i];
    sl_at at;
    bool there;
    if (b->op == HD_OP_SUCCESSOR)
        there = sl_first_from(v, b->inclusive ? key : key + 1, &at);
    else
        there = (b->inclusive || key > 0) && sl_last_to(v, b->inclusive ? key : key - 1, &at);
    if (there) entry_out(v, b, i, at);
    return there ? HD_HIT : HD_MISS;
}

static hd_outcome run_range(const sl_view *v, const hd_batch *b, uint64_t i)
{
    uint32_t rows = 0;
    sl_at at;
    bool there = sl_first_from(v, b->key[i], &at) && sl_key(v, sl_place_at(v, at)) <= b->key2[i], more = there;
    for (; more && rows < b->limit; more = sl_after(v, &at) && sl_key(v, sl_place_at(v, at)) <= b->key2[i])
        entry_out(v, b, i * b->limit + rows++, at);
    if (b->rows) b->rows[i] = rows;
    if (b->more) b->more[i] = more;
    return there ? HD_HIT : HD_MISS;
}

static hd_outcome run_ordered(const sl_view *v, const hd_batch *b, uint64_t i)
{
    if (b->key[i] < sl_keys(v)) return b->op == HD_OP_RANGE ? run_range(v, b, i) : run_neighbour(v, b, i);
    if (b->op == HD_OP_RANGE && b->rows) b->rows[i] = 0;
    if (b->op == HD_OP_RANGE && b->more) b->more[i] = false;
    return HD_RESERVED;
}

static void run_end(const sl_view *v, const hd_batch *b)
{
    sl_at at;
    bool there = b->op == HD_OP_MIN ? sl_first_from(v, 0, &at) : sl_last_to(v, UINT64_MAX, &at);
    if (there) entry_out(v, b, 0, at);
    *b->count = there;
}

/* ---- Other items ----------------------------------------------------------------------------- */

static uint64_t given_value(const sl_view *v, const hd_batch *b, uint64_t i)
{
    uint64_t value = 0;
    uint32_t bytes = sl_value_bytes(v);
    if (b->value) memcpy(&value, (const char *)b->value + i * bytes, bytes);
    return value;
}

static void change(sl_view *v, const hd_batch *b, uint64_t i, const hd_rule *r, uint64_t place)
{
    uint64_t value = given_value(v, b, i);
    if (r->value == HD_REPLACE_VALUE) memcpy(sl_value_at(v, place), &value, sl_value_bytes(v));
    if (r->value == HD_ADD_VALUE) hd_accum_add(b->elem, sl_value_at(v, place), &value, sl_value_bytes(v));
    if (r->besides == HD_REMOVE) sl_remove(v, b->key[i]);
}

static hd_outcome run_item(sl_view *v, const hd_batch *b, uint64_t i)
{
    uint32_t flag = b->flag ? b->flag[i] : HD_EITHER;
    uint64_t key = b->key[i];
    if (key >= sl_keys(v) || hd_flag_is_none(b->op, flag)) return HD_RESERVED;
    const hd_rule *r = hd_rule_of(b->op, flag);
    uint64_t place = sl_find(v, key);
    if (place == SL_NOWHERE && !r->insert) return HD_MISS;
    if (place == SL_NOWHERE) return sl_insert(v, key, given_value(v, b, i)) ? HD_INSERTED : HD_PENDING;
    if (hd_op_writes_row(b->op, HD_GIVES_VALUE, r->found)) value_out(v, b, i, place);
    if (hd_op_writes_row(b->op, HD_GIVES_SCORE, r->found) && b->score_out) b->score_out[i] = 0;
    change(v, b, i, r, place);
    return r->found;
}

static void run_keyed(sl_view *v, const hd_batch *b, uint64_t *tally)
{
    uint64_t missed = 0, before = hd_tally_sum(tally);
    bool lists = b->op == HD_OP_FIND_MISSED, ordered = hd_op_does(b->op, HD_ORDERED);
    for (uint64_t i = 0; i < b->n; i++) {
        hd_outcome o = ordered ? run_ordered(v, b, i) : run_item(v, b, i);
        if (b->outcome) b->outcome[i] = (uint8_t)o;
        if (b->found) b->found[i] = HD_OP_IN(o, HD_OUTCOMES_FOUND);
        tally[o]++;
        if (!lists || o != HD_MISS) continue;
        if (b->list_key) b->list_key[missed] = b->key[i];
        if (b->list_item) b->list_item[missed] = i;
        missed++;
    }
    HD_ASSERT(hd_tally_sum(tally) - before == b->n, "an item has no outcome, or two");
    if (lists && b->count) *b->count = missed;
}

/* ---- Table-wide operations ------------------------------------------------------------------- */

static void list_put(const sl_view *v, const hd_batch *b, uint64_t at, uint64_t place)
{
    uint32_t bytes = sl_value_bytes(v);
    if (b->list_key) b->list_key[at] = sl_key(v, place);
    if (b->list_score) b->list_score[at] = 0;
    if (b->list_item) b->list_item[at] = place;
    if (b->list_value) memcpy((char *)b->list_value + at * bytes, sl_value_at(v, place), bytes);
}

static bool holds(const sl_view *v, const hd_batch *b, uint64_t place)
{
    return hd_predicate_holds(hd_predicate_of(b), sl_key(v, place), 0, (const uint8_t *)sl_value_at(v, place),
                              sl_value_bytes(v), b->pred_arg[0], b->pred_arg[1]);
}

/* Of home `home` the entries of the batch's slots: those that hold are counted, and listed or removed. */
static uint64_t scan_home(sl_view *v, const hd_batch *b, uint64_t home, uint64_t n)
{
    bool exports = hd_op_family(b->op) == HD_FAMILY_EXPORT, erases = b->op == HD_OP_ERASE_IF;
    uint64_t start = home * v->fit, kept = start, before = n;
    for (uint64_t place = start; place < start + v->count[home]; place++) {
        bool within = !exports || (place >= b->start && place - b->start < b->n), taken = within && holds(v, b, place);
        if (taken && exports) list_put(v, b, n, place);
        if (!taken && erases) sl_set(v, kept++, sl_key(v, place), sl_value(v, place));
        n += taken;
    }
    HD_ASSERT(!erases || kept - start + n - before == v->count[home], "an entry is neither kept nor erased");
    if (erases) v->count[home] = (uint32_t)(kept - start);
    return n - before;
}

static void run_scan(sl_view *v, const hd_batch *b)
{
    uint64_t n = 0;
    for (uint64_t home = 0; home < v->homes; home++) n += scan_home(v, b, home, n);
    if (b->op == HD_OP_ERASE_IF) sl_settle(v);
    if (b->count) *b->count = n;
}

void sl_run_batch(sl_view *v, const hd_batch *b, uint64_t *tally)
{
    sl_close_gaps(v);
    if (b->op == HD_OP_CLEAR)
        sl_clear(v);
    else if (hd_op_does(b->op, HD_NEEDS_KEY))
        run_keyed(v, b, tally);
    else if (hd_op_family(b->op) == HD_FAMILY_ENDS)
        run_end(v, b);
    else
        run_scan(v, b);
    HD_ASSERT(v->rows > 0 && v->rows <= v->homes, "SL-1: a table has 1 segment, or more");
    sl_renew_near(v);
}
