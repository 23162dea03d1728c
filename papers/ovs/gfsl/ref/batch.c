/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - whole batches, on one thread: the operations of all dictionaries (ref/words), those that need the order of
 * keys, and erase_if, which takes entries in that order.
 */
#include <string.h>

#include "base/op.h"
#include "policies/predicates/predicate.h"
#include "gfsl/ref/gfsl.h"

static void entry_out(const gfsl_view *v, const hd_batch *b, uint64_t row, uint64_t e)
{
    uint64_t word = *gfsl_slot(v, e);
    uint32_t value = gfsl_low(word);
    if (b->key_out) b->key_out[row] = gfsl_key(word);
    if (b->value_out) memcpy((char *)b->value_out + row * sizeof value, &value, sizeof value);
}

static hd_outcome run_neighbour(const gfsl_view *v, const hd_batch *b, uint64_t i)
{
    uint64_t key = b->key[i], e = WORD_NOWHERE;
    if (b->op == HD_OP_SUCCESSOR)
        e = gfsl_first_from(v, b->inclusive ? key : key + 1);
    else if (b->inclusive || key > 0)
        e = gfsl_last_to(v, b->inclusive ? key : key - 1);
    if (e != WORD_NOWHERE) entry_out(v, b, i, e);
    return e != WORD_NOWHERE ? HD_HIT : HD_MISS;
}

static hd_outcome run_range(const gfsl_view *v, const hd_batch *b, uint64_t i)
{
    uint64_t e, key = b->key[i];
    uint32_t rows = 0;
    bool more = false, there = false;
    while (!more && (e = gfsl_first_from(v, key)) != WORD_NOWHERE && gfsl_key(*gfsl_slot(v, e)) <= b->key2[i]) {
        there = true;
        more = rows == b->limit;
        if (!more) entry_out(v, b, i * b->limit + rows++, e);
        key = (uint64_t)gfsl_key(*gfsl_slot(v, e)) + 1;
    }
    if (b->rows) b->rows[i] = rows;
    if (b->more) b->more[i] = more;
    return there ? HD_HIT : HD_MISS;
}

static hd_outcome run_ordered(const gfsl_view *v, const hd_batch *b, uint64_t i)
{
    if (b->key[i] < word_keys(GFSL_HALF)) return b->op == HD_OP_RANGE ? run_range(v, b, i) : run_neighbour(v, b, i);
    if (b->op == HD_OP_RANGE && b->rows) b->rows[i] = 0;
    if (b->op == HD_OP_RANGE && b->more) b->more[i] = false;
    return HD_RESERVED;
}

static void run_neighbours(const gfsl_view *v, const hd_batch *b, uint64_t *tally)
{
    for (uint64_t i = 0; i < b->n; i++) {
        hd_outcome o = run_ordered(v, b, i);
        if (b->outcome) b->outcome[i] = (uint8_t)o;
        if (b->found) b->found[i] = HD_OP_IN(o, HD_OUTCOMES_FOUND);
        tally[o]++;
    }
}

static void run_end(const gfsl_view *v, const hd_batch *b)
{
    uint64_t e = b->op == HD_OP_MIN ? gfsl_first_from(v, 0) : gfsl_last_to(v, word_keys(GFSL_HALF) - 1);
    if (e != WORD_NOWHERE) entry_out(v, b, 0, e);
    *b->count = e != WORD_NOWHERE;
}

static void run_erase_if(gfsl_view *v, const hd_batch *b)
{
    uint64_t n = 0, e;
    for (uint64_t key = 0; (e = gfsl_first_from(v, key)) != WORD_NOWHERE;) {
        const uint64_t *slot = gfsl_slot(v, e);
        key = gfsl_key(*slot);
        if (hd_predicate_holds(hd_predicate_of(b), key, 0, (const uint8_t *)slot, GFSL_HALF / 8, b->pred_arg[0],
                               b->pred_arg[1])) {
            gfsl_remove(v, e);
            n++;
        }
        key++;
    }
    if (b->count) *b->count = n;
}

void gfsl_run_batch(gfsl_view *v, const hd_batch *b, uint64_t *tally)
{
    const word_table t = gfsl_words_of(v);
    bool ordered = !b->each && hd_op_does(b->op, HD_ORDERED);
    if (ordered && hd_op_does(b->op, HD_NEEDS_KEY))
        run_neighbours(v, b, tally);
    else if (ordered)
        run_end(v, b);
    else if (!b->each && b->op == HD_OP_CLEAR)
        gfsl_clear(v);
    else if (!b->each && b->op == HD_OP_ERASE_IF)
        run_erase_if(v, b);
    else
        word_run(&t, b, tally);
    gfsl_settle(v);
}
