/* SPDX-License-Identifier: Apache-2.0
 *
 * thread.h - linear probing with a thread per key. An item reads one word per slot of its search. It takes effect in
 * one step: the compare-and-swap of a word, or the load that ends its search. No item holds a lock. A failed
 * compare-and-swap means that another item has changed the word, so the batch makes progress.
 */
#ifndef LINEAR_THREAD_H
#define LINEAR_THREAD_H

#include "base/op.h"
#include "concurrency/word.h"
#include "ref/linear/layout.h"
#include "simt/simt.h"

typedef struct linear_args {
    linear_view v;
    uint32_t op;
    uint64_t n;
    const uint64_t *key;
    const uint32_t *value;
    uint8_t *outcome, *found;
    uint32_t *value_out;
    uint64_t *score_out, *count, *tally;
} linear_args;

SIMT_FN uint64_t linear_thread(void) { return (uint64_t)simt_block() * simt_threads() + simt_thread(); }
SIMT_FN uint64_t linear_threads(void) { return (uint64_t)simt_blocks() * simt_threads(); }

/* The slot at which a search for the key ends, and its word; LINEAR_NOWHERE: no slot is empty, and none has the key. */
SIMT_FN uint64_t linear_search(const linear_view *v, uint64_t key, uint64_t *word)
{
    uint64_t at = linear_home(v, key);
    for (uint64_t n = 0; n < v->slots; n++, at = linear_next(v, at)) {
        *word = simt_ldrlx_u64(v->word + at);
        if (*word == LINEAR_EMPTY || linear_key_of(*word) == key) return at;
    }
    *word = LINEAR_EMPTY;
    return LINEAR_NOWHERE;
}

/* The item took effect in the last step; its key is at slot `at`. */
SIMT_FN uint32_t linear_tell(uint64_t i, uint32_t outcome, uint64_t at)
{
    simt_ticket(i, outcome, 0, at);
    return outcome;
}

SIMT_FN uint32_t linear_find(const linear_args *a, uint64_t i, uint64_t key)
{
    uint64_t word, at = linear_search(&a->v, key, &word);
    if (word == LINEAR_EMPTY) return linear_tell(i, HD_MISS, 0);
    linear_tell(i, HD_HIT, at);
    if (a->op == HD_OP_FIND && a->value_out) simt_st_u32(a->value_out + i, (uint32_t)word);
    if (a->op == HD_OP_FIND && a->score_out) simt_st_u64(a->score_out + i, 0);
    return HD_HIT;
}

SIMT_FN uint32_t linear_insert(const linear_args *a, uint64_t i, uint64_t key)
{
    uint64_t word, fresh = linear_word(key, simt_ld_u32(a->value + i));
    for (;;) {
        uint64_t at = linear_search(&a->v, key, &word);
        if (at == LINEAR_NOWHERE) return linear_tell(i, HD_PENDING, 0);
        if (simt_cas_u64(a->v.word + at, word, fresh, SIMT_RELAXED) != word) continue;
        return linear_tell(i, word == LINEAR_EMPTY ? HD_INSERTED : HD_UPDATED, at);
    }
}

SIMT_FN uint32_t linear_item(const linear_args *a, uint64_t i)
{
    uint64_t key = simt_ld_u64(a->key + i);
    if (key >= LINEAR_KEYS) return linear_tell(i, HD_RESERVED, 0);
    return a->op == HD_OP_INSERT_OR_ASSIGN ? linear_insert(a, i, key) : linear_find(a, i, key);
}

SIMT_FN void linear_items(const linear_args *a)
{
    for (uint64_t i = linear_thread(); i < a->n; i += linear_threads()) {
        uint32_t outcome = linear_item(a, i);
        if (a->outcome) simt_st_u8(a->outcome + i, (uint8_t)outcome);
        if (a->found) simt_st_u8(a->found + i, HD_OP_IN(outcome, HD_OUTCOMES_FOUND));
        simt_add_u64(a->tally + outcome, 1, SIMT_RELAXED);
    }
}

/* size and clear. */
SIMT_FN void linear_sweep(const linear_args *a)
{
    uint64_t n = 0;
    for (uint64_t at = linear_thread(); at < a->v.slots; at += linear_threads()) {
        if (a->op == HD_OP_CLEAR)
            simt_strlx_u64(a->v.word + at, LINEAR_EMPTY);
        else
            n += simt_ldrlx_u64(a->v.word + at) != LINEAR_EMPTY;
    }
    if (n) simt_add_u64(a->count, n, SIMT_RELAXED);
}

SIMT_ENTRY(linear_kernel_items, linear_args, linear_items)
SIMT_ENTRY(linear_kernel_sweep, linear_args, linear_sweep)
SIMT_ENTRY(linear_kernel_word_enter, hd_word_args, hd_word_enter)
SIMT_ENTRY(linear_kernel_word_leave, hd_word_args, hd_word_leave)

#endif
