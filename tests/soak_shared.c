/* SPDX-License-Identifier: Apache-2.0
 *
 * soak_shared.c - keys that all threads use. Keys 1 to SHARED hold stamps: a writer and its counter. The checks hold
 * while any thread evicts, erases or clears:
 * - A value that was read is whole, and a thread wrote it.
 * - It is not older than the last stamp that its writer had finished before the read began, and not older than a stamp
 *   of this writer that the reader has seen before.
 * - Once a key was seen to be missing, no stamp that was finished before comes back.
 *
 * Other keys hold sums, to which all threads add. In a table with room there are SHARED of these keys, and they are
 * never missing. In a full table insert_and_evict inserts each of them once, like every other key there. So a sum that
 * is evicted is listed, and none is lost.
 */
#include <string.h>

#include "tests/soak.h"

enum { SEQ_BITS = 40, RECENT = 64 };
static const uint64_t seq_mask = (1ull << SEQ_BITS) - 1;

static uint64_t seal_of(uint64_t stamp) { return stamp * 0xbf58476d1ce4e5b9u ^ 0x5851f42d4c957f2du; }
static bool is_stamp(uint64_t key) { return key >= 1 && key <= SHARED; }
static bool writes(hd_op op)
{
    return op == HD_OP_ASSIGN_VALUES || op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_ASSIGN ||
           op == HD_OP_INSERT_AND_EVICT;
}

/* ---- Stamps ---------------------------------------------------------------------------------- */

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

void shared_floors(worker *w, flight *a)
{
    for (int k = 0; k < SHARED; k++)
        for (int t = 0; t < THREADS; t++) {
            a->over[k][t] = t == (int)w->number ? w->wrote[k] : atomic_load(&w->s->finished[t][k]);
            a->floor[k][t] = most(a->over[k][t], atomic_load(&w->s->cleared[t][k]));
        }
}

static void judge_stamp(worker *w, const flight *a, uint64_t i, uint64_t key, const uint64_t *value, bool listed)
{
    uint64_t k = key - 1, writer = value[0] >> SEQ_BITS, seq = value[0] & seq_mask;
    if (value[1] != seal_of(value[0]) || writer >= THREADS) return complain(w, a, i, "a torn value");
    if (seq > atomic_load(&w->s->issued[writer])) return complain(w, a, i, "a value that no thread wrote");
    if (seq < a->floor[k][writer])
        return complain(w, a, i, "a value that its writer had already replaced, or that was cleared, when this began");
    if (seq < w->seen[k][writer])
        return complain(w, a, i, "a value older than one that was seen before, or of an entry that was gone");
    /* of items that evict the same key one after the other, the later may be listed first */
    if (!listed) w->seen[k][writer] = seq;
}

/* Nothing that was finished when the batch began is in the table any more. */
static void absent(worker *w, const flight *a, uint64_t key)
{
    for (int t = 0; t < THREADS; t++) w->seen[key - 1][t] = most(w->seen[key - 1][t], a->over[key - 1][t] + 1);
}

static void judge_key(worker *w, flight *a, uint64_t i)
{
    arrays *x = a->here;
    uint64_t k = x->key[i] - 1;
    hd_outcome o = (hd_outcome)x->outcome[i];
    bool full = w->s->leg == SHARED_FULL,
         gone = o == HD_MISS || o == HD_REFUSED || o == HD_ERASED || o == HD_INSERTED || o == HD_EVICTED;
    if (!full && gone) complain(w, a, i, "a key of a table with room is gone");
    if (gone) absent(w, a, x->key[i]);
    if (writes(a->b.op)) {
        uint64_t seq = x->value[i][0] & seq_mask;
        atomic_store(&w->s->finished[w->number][k], seq);
        w->seen[k][w->number] = most(w->seen[k][w->number], seq);
    } else if (a->b.op == HD_OP_FIND || a->b.op == HD_OP_TOUCH) {
        if (o == HD_HIT) judge_stamp(w, a, i, x->key[i], x->value_out[i], false);
    }
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void judge_sum(worker *w, const flight *a, uint64_t i, uint64_t key, const uint64_t *value)
{
    uint64_t owner = (key >> 32) - 1;
    bool known = w->s->leg == SHARED_FULL ? owner < THREADS && (uint32_t)key < atomic_load(&w->s->fresh[owner])
                                          : key <= 2 * SHARED;
    if (!known) complain(w, a, i, "a key of no thread");
    if (value[1] != 3 * value[0]) complain(w, a, i, "a torn sum");
}

static void judge_addition(worker *w, flight *a, uint64_t i)
{
    hd_outcome o = (hd_outcome)a->here->outcome[i];
    bool full = w->s->leg == SHARED_FULL;
    if (a->b.op != HD_OP_ACCUM_OR_ASSIGN) return;
    if (o == HD_UPDATED || (!full && o == HD_INSERTED))
        atomic_fetch_add(&w->s->added, 1);
    else if (!full)
        complain(w, a, i, "an addition to a table with room was refused");
}

/* ---- Answers --------------------------------------------------------------------------------- */

void shared_judge(worker *w, flight *a, uint64_t i)
{
    if (is_stamp(a->here->key[i]))
        judge_key(w, a, i);
    else
        judge_addition(w, a, i);
}

static void saw(worker *w, const flight *a, uint64_t key, const uint64_t *value, uint64_t *sum, bool listed)
{
    if (is_stamp(key)) return judge_stamp(w, a, 0, key, value, listed);
    judge_sum(w, a, 0, key, value);
    *sum += value[0];
}

void shared_judge_list(worker *w, flight *a)
{
    arrays *x = a->here;
    uint64_t told = 0, sum = 0;
    for (uint64_t i = 0; i < a->b.n; i++) told += x->outcome[i] == HD_EVICTED || x->outcome[i] == HD_REFUSED;
    if (x->count != told) complain(w, a, 0, "the list is longer or shorter than the outcomes say");
    for (uint64_t i = 0; i < x->count && i < KEYS_MOST; i++) {
        saw(w, a, x->list_key[i], x->list_value[i], &sum, true);
    }
    atomic_fetch_add(&w->s->left, sum);
}

void shared_saw(worker *w, const flight *a, uint64_t key, const uint64_t *value, uint64_t *sum)
{
    saw(w, a, key, value, sum, false);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

void shared_fill(soak *s)
{
    uint64_t key[SHARED], value[SHARED][WORDS], score[SHARED];
    hd_batch b = { .n = 0 };
    for (uint64_t i = 0; i < SHARED; i++) key[i] = i + 1, value[i][0] = 0, value[i][1] = seal_of(0), score[i] = 1;
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.n = SHARED;
    b.key = key, b.value = value, b.score = score;
    must(hd_run(s->t, &b));
}

/* Item i is of a key of stamps. */
static void stamp(worker *w, flight *a, uint64_t i, uint64_t k)
{
    arrays *x = a->here;
    x->key[i] = k + 1;
    x->value[i][0] = w->number << SEQ_BITS | w->stamp;
    x->value[i][1] = seal_of(x->value[i][0]);
    if (writes(a->b.op)) w->wrote[k] = w->stamp;
}

static void add_one(worker *w, flight *a, uint64_t i)
{
    arrays *x = a->here;
    uint64_t t = test_below(&w->random, THREADS), newest = atomic_load(&w->s->fresh[t]),
             back = test_below(&w->random, RECENT);
    bool full = w->s->leg == SHARED_FULL;
    x->key[i] = full ? own_key(t, newest > back ? newest - back - 1 : 0) : SHARED + 1 + test_below(&w->random, SHARED);
    x->flag[i] = full ? HD_ADD : HD_EITHER;
    x->value[i][0] = 1;
    x->value[i][1] = 3;
}

/* Item i inserts a new sum. */
static void put_fresh(worker *w, flight *a, uint64_t i)
{
    a->here->key[i] = own_key(w->number, atomic_fetch_add(&w->s->fresh[w->number], 1));
    a->here->value[i][0] = a->here->value[i][1] = 0;
}

void shared_draw(worker *w, flight *a)
{
    static const hd_op always[] = { HD_OP_FIND, HD_OP_TOUCH, HD_OP_ASSIGN_VALUES, HD_OP_ASSIGN };
    static const hd_op room[] = { HD_OP_FIND, HD_OP_INSERT_OR_ASSIGN, HD_OP_ACCUM_OR_ASSIGN, HD_OP_CONTAINS };
    static const hd_op full[] = { HD_OP_ERASE, HD_OP_INSERT_AND_EVICT, HD_OP_INSERT_AND_EVICT, HD_OP_ACCUM_OR_ASSIGN };
    arrays *x = a->here;
    uint64_t first = test_below(&w->random, SHARED);
    uint64_t draw = test_below(&w->random, 8);
    const hd_op *ops = draw < 4 ? always : w->s->leg == SHARED_FULL ? full : room;
    a->b.op = ops[draw % 4];
    a->b.n = 1 + test_below(&w->random, w->s->batch < SHARED / 2 ? w->s->batch : SHARED / 2);
    shared_floors(w, a);
    if (writes(a->b.op)) atomic_store(&w->s->issued[w->number], ++w->stamp);
    for (uint64_t i = 0; i < a->b.n; i++) {
        x->score[i] = test_below(&w->random, 1000);
        if (a->b.op == HD_OP_ACCUM_OR_ASSIGN)
            add_one(w, a, i);
        else if (a->b.op == HD_OP_INSERT_AND_EVICT && i > 0 && test_below(&w->random, 2))
            put_fresh(w, a, i);
        else
            stamp(w, a, i, (first + 3 * i) % SHARED);
    }
}
