/* SPDX-License-Identifier: Apache-2.0
 *
 * soak_own.c - keys that one thread uses. A value that is read is the last one that was written. A key that was missing
 * stays missing. A pinned key is present. All evictions that were reported are keys that are missing. A reset may
 * remove a key, or restore an earlier state; soak.h says when.
 */
#include <string.h>

#include "base/op.h"
#include "tests/soak.h"

/* ---- What a key can be ----------------------------------------------------------------------- */

/* What is not said (NULL) does not differ. */
static bool same(const soak *s, const known *k, const uint64_t *value, const uint64_t *score)
{
    return (!value || memcmp(k->value, value, sizeof k->value) == 0) &&
           (!score || !s->exact_scores || k->score == *score);
}

/* Whether a reset may have come between what is known of the key and the batch. */
static bool maybe_reset(const flight *a, const known *k) { return a->begun > k->done; }

static const known *after_reset(const worker *w, uint64_t r, const known *k)
{
    return &w->s->after[r % RESETS].key[w->number][k - w->key];
}

static void now_known(const flight *a, known *k, bool present)
{
    k->present = present;
    k->done = a->done;
    k->begun = a->begun;
}

/* It is there, with this value and score, or with some that are not said (NULL). */
static void there(worker *w, const flight *a, uint64_t i, known *k, const uint64_t *value, const uint64_t *score)
{
    const known was = *k;
    const known *can = NULL;
    bool was_there = was.present && a->done <= was.begun,
         fits = was_there && (was.vague || same(w->s, &was, value, score));
    int cans = fits;
    for (uint64_t r = a->done > was.done ? a->done : was.done + 1; r <= a->begun; r++) {
        const known *c = after_reset(w, r, k);
        if (!c->present) continue;
        was_there = true;
        if (!same(w->s, c, value, score)) continue;
        can = c;
        cans++;
    }
    if (cans == 0)
        return complain(w, a, i,
                        was_there ? "a value that is not the last one written"
                                  : "a key is there that had been erased or evicted, or was cleared");
    if (!fits) {
        memcpy(k->value, can->value, sizeof k->value);
        k->score = can->score;
        k->pinned = k->vague = false;
    }
    if (value) memcpy(k->value, value, sizeof k->value);
    if (score) k->score = *score;
    k->vague = !(value && score) && (cans > 1 || k->vague);
    now_known(a, k, true);
}

static bool pin_holds(const flight *a, const known *k) { return k->present && k->pinned && a->begun == k->pinned_at; }

static void gone(worker *w, const flight *a, uint64_t i, known *k)
{
    if (pin_holds(a, k)) complain(w, a, i, "a pinned key is gone");
    if (k->present) atomic_fetch_add(&w->s->noticed, 1);
    now_known(a, k, false);
}

static void comes(worker *w, const flight *a, uint64_t i, known *k, const uint64_t *value)
{
    gone(w, a, i, k);
    k->pinned = k->vague = false;
    memcpy(k->value, value, sizeof k->value);
    k->score = a->here->score[i];
    now_known(a, k, true);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void unlocked(worker *w, flight *a, uint64_t i, known *k, hd_outcome o)
{
    bool held = k->pinned && k->present;
    if (o == HD_PINNED) complain(w, a, i, "pinned by another");
    if (o == HD_HIT && !held) complain(w, a, i, "a pin that was never put");
    if (o != HD_HIT && held && a->begun == k->pinned_at) complain(w, a, i, "the pin is lost");
    k->pinned = false;
}

/* What an update that took effect left. */
static void updated(worker *w, flight *a, uint64_t i, known *k)
{
    const arrays *x = a->here;
    hd_op op = a->b.op;
    if (pin_holds(a, k)) complain(w, a, i, "a pinned key was changed");
    k->pinned = false;
    if (op == HD_OP_ASSIGN || op == HD_OP_ASSIGN_VALUES || op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_INSERT_AND_EVICT)
        memcpy(k->value, x->value[i], sizeof k->value);
    if (op == HD_OP_ASSIGN || op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_INSERT_AND_EVICT) k->vague = false;
    if (op == HD_OP_ACCUM_OR_ASSIGN)
        for (int n = 0; n < WORDS; n++) k->value[n] += x->value[i][n];
}

/* Answers about an entry that is there. */
static void judge_present(worker *w, flight *a, uint64_t i, known *k, hd_outcome o)
{
    const arrays *x = a->here;
    hd_op op = a->b.op;
    bool says = op == HD_OP_FIND || op == HD_OP_FIND_MISSED, before = op == HD_OP_TOUCH || op == HD_OP_FIND_OR_INSERT;
    bool accum = op == HD_OP_ACCUM_OR_ASSIGN, rescores = hd_op_row_of(op)->role != HD_READER &&
                                                         op != HD_OP_ASSIGN_VALUES &&
                                                         !(accum && x->flag[i] == HD_ASSIGN_NEW);
    /* what comes out is the new one */
    if (before && o != HD_PINNED && !k->vague && !maybe_reset(a, k)) k->score = x->score[i];
    if (before && o != HD_PINNED && (k->vague || maybe_reset(a, k))) {
        k->vague = true;
        there(w, a, i, k, NULL, NULL);
        memcpy(k->value, x->value_out[i], sizeof k->value);
        if (x->value_out[i][0] != tag_of(x->key[i]) && x->value_out[i][0] != 0)
            complain(w, a, i, "a value of another key");
        k->score = x->score[i];
        k->vague = false;
        return;
    }
    bool told = says || (before && o != HD_PINNED);
    there(w, a, i, k, told ? x->value_out[i] : NULL, told ? &x->score_out[i] : NULL);
    if (op == HD_OP_LOCK_KEYS || op == HD_OP_ERASE) return;
    if (o != HD_PINNED && rescores) k->score = x->score[i];
    if (o == HD_UPDATED) updated(w, a, i, k);
}

void own_judge(worker *w, flight *a, uint64_t i)
{
    static const uint64_t zero[WORDS] = { 0 };
    arrays *x = a->here;
    known *k = &w->key[(uint32_t)x->key[i]];
    hd_op op = a->b.op;
    hd_outcome o = (hd_outcome)x->outcome[i];
    if (op == HD_OP_UNLOCK_KEYS) return unlocked(w, a, i, k, o);
    if (op == HD_OP_LOCK_KEYS && o == HD_REFUSED) return; /* no place for a pin */
    if (o == HD_MISS || o == HD_REFUSED) return gone(w, a, i, k);
    if (o == HD_INSERTED || o == HD_EVICTED)
        return comes(w, a, i, k, op == HD_OP_FIND_OR_INSERT_PTR ? zero : x->value[i]);
    if (o == HD_PINNED && !k->pinned) complain(w, a, i, "pinned, but by no thread");
    judge_present(w, a, i, k, o);
    if (op == HD_OP_ERASE && o == HD_ERASED) now_known(a, k, false), k->pinned = false;
    if (op == HD_OP_LOCK_KEYS && o == HD_HIT) k->pinned = true, k->pinned_at = a->done;
}

void own_judge_list(worker *w, flight *a)
{
    arrays *x = a->here;
    uint64_t told = 0, thread, n;
    for (uint64_t i = 0; i < a->b.n; i++) told += x->outcome[i] == HD_EVICTED || x->outcome[i] == HD_REFUSED;
    if (x->count != told) complain(w, a, 0, "the list is longer or shorter than the outcomes say");
    for (uint64_t i = 0; i < x->count && i < KEYS_MOST; i++) {
        if (!own_place(w->s, x->list_key[i], &thread, &n)) complain(w, a, i, "a listed key of no thread");
        if (x->list_value[i][0] != tag_of(x->list_key[i]) && x->list_value[i][0] != 0)
            complain(w, a, i, "a listed value of another key");
    }
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

static void judge_listed(worker *w, flight *a)
{
    static _Thread_local bool listed[KEYS_MOST];
    arrays *x = a->here;
    uint64_t thread, n;
    memset(listed, 0, sizeof listed);
    for (uint64_t i = 0; i < x->count && i < KEYS_MOST; i++) {
        if (!own_place(w->s, x->list_key[i], &thread, &n) || thread != w->number || listed[n]) {
            complain(w, a, 0, "a listed key of another thread, or twice");
            continue;
        }
        listed[n] = true;
        there(w, a, 0, &w->key[n], x->list_value[i], NULL);
    }
    if (a->b.n != atomic_load(&w->s->growing)) return; /* it has grown meanwhile: that was a part of it */
    for (n = 0; n < w->s->keys; n++)
        if (!listed[n]) gone(w, a, 0, &w->key[n]);
}

static void judge_erased(worker *w, flight *a, uint64_t present, uint64_t pinned, bool reset)
{
    uint64_t count = a->here->count;
    if (!reset) {
        if (count > present - pinned) complain(w, a, 0, "more were erased than there were");
        atomic_fetch_add(&w->s->noticed, present - pinned - count);
    }
    atomic_fetch_add(&w->s->outcome[HD_ERASED], count);
    for (uint64_t n = 0; n < w->s->keys; n++)
        if (!w->key[n].present || !w->key[n].pinned) now_known(a, &w->key[n], false);
}

void own_judge_range(worker *w, flight *a)
{
    soak *s = w->s;
    uint64_t present = 0, pinned = 0, count = a->here->count;
    bool reset = a->begun > s->settled;
    for (uint64_t n = 0; n < s->keys; n++)
        present += w->key[n].present, pinned += w->key[n].present && w->key[n].pinned;
    if (a->b.op == HD_OP_SIZE) {
        if (count > atomic_load(&s->growing)) complain(w, a, 0, "more entries than places");
        return;
    }
    if (!reset && a->b.op != HD_OP_EXPORT_IF && (count > present || (a->b.op != HD_OP_ERASE_IF && count < pinned)))
        complain(w, a, 0, "more or fewer than there can be");
    if (count > s->keys) complain(w, a, 0, "more than there are keys");
    if (a->b.op == HD_OP_ERASE_IF) judge_erased(w, a, present, pinned, reset);
    if (a->b.op == HD_OP_EXPORT_IF) judge_listed(w, a);
}

/* ---- At rest, and in files ------------------------------------------------------------------- */

static flight at_rest(const soak *s)
{
    flight a;
    memset(&a.b, 0, sizeof a.b);
    a.here = NULL;
    a.done = a.begun = atomic_load(&s->done);
    return a;
}

void own_saw(worker *w, uint64_t n, const uint64_t *value, uint64_t score)
{
    flight a = at_rest(w->s);
    there(w, &a, n, &w->key[n], value, &score);
}

void own_missed(worker *w, uint64_t n)
{
    flight a = at_rest(w->s);
    gone(w, &a, n, &w->key[n]);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

void own_draw(worker *w, flight *a)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN,
                                 HD_OP_INSERT_OR_ASSIGN,
                                 HD_OP_INSERT_AND_EVICT,
                                 HD_OP_FIND_OR_INSERT,
                                 HD_OP_FIND_OR_INSERT_PTR,
                                 HD_OP_ACCUM_OR_ASSIGN,
                                 HD_OP_FIND,
                                 HD_OP_FIND,
                                 HD_OP_CONTAINS,
                                 HD_OP_FIND_PTR,
                                 HD_OP_FIND_MISSED,
                                 HD_OP_TOUCH,
                                 HD_OP_ASSIGN,
                                 HD_OP_ASSIGN_VALUES,
                                 HD_OP_ASSIGN_SCORES,
                                 HD_OP_ERASE };
    static const hd_op rare[] = { HD_OP_LOCK_KEYS, HD_OP_UNLOCK_KEYS, HD_OP_UNLOCK_KEYS, HD_OP_ERASE_IF,
                                  HD_OP_EXPORT_IF, HD_OP_SIZE,        HD_OP_SIZE_IF };
    arrays *x = a->here;
    uint64_t keys = w->s->keys, first = test_below(&w->random, keys), stride = 2 * test_below(&w->random, keys / 2) + 1;
    a->b.op = test_below(&w->random, 12) ? ops[test_below(&w->random, sizeof ops / sizeof *ops)]
                                         : rare[test_below(&w->random, sizeof rare / sizeof *rare)];
    a->b.n = 1 + test_below(&w->random, w->s->batch);
    if (a->b.op == HD_OP_LOCK_KEYS && a->b.n > 4) a->b.n = 4;
    if (a->b.op == HD_OP_UNLOCK_KEYS) a->b.n = w->s->batch;
    a->b.distinct = test_below(&w->random, 2);
    w->stamp++;
    for (uint64_t i = 0; i < a->b.n; i++) {
        x->key[i] = own_key(w->number, (first + i * stride) % keys);
        x->score[i] = test_below(&w->random, 1000);
        x->flag[i] = (uint8_t)test_below(&w->random, 2); /* new, or add */
        bool adds = a->b.op == HD_OP_ACCUM_OR_ASSIGN && x->flag[i] == HD_ADD;
        x->value[i][0] = adds ? 0 : tag_of(x->key[i]);
        x->value[i][1] = w->stamp;
    }
    a->b.pred = "key_in";
    a->b.pred_arg[0] = own_key(w->number, 0);
    a->b.pred_arg[1] = own_key(w->number, keys - 1);
    if (a->b.op == HD_OP_EXPORT_IF) a->b.n = atomic_load(&w->s->capacity);
}

bool own_draw_doubtful(worker *w, flight *a)
{
    uint64_t n = 0;
    for (uint64_t k = 0; k < w->s->keys && n < MOST; k++) {
        if (!w->key[k].pinned || w->key[k].pinned_at == atomic_load(&w->s->done)) continue;
        w->key[k].pinned = false;
        a->here->key[n++] = own_key(w->number, k);
    }
    a->b.op = HD_OP_UNLOCK_KEYS;
    a->b.n = n;
    return n != 0;
}
