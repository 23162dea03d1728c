/* SPDX-License-Identifier: Apache-2.0
 *
 * item.h - one item on its way: what it is, what it holds between its steps, what its operation says, and what comes
 * back of it.
 */
#ifndef HIVE_ITEM_H
#define HIVE_ITEM_H

#include "gpu/hive/word.h"
#include "gpu/words.h"

typedef gpu_one hive_one;

/* What the word of a key that is there becomes; v: how words are made. */
SIMT_FN uint64_t hive_changed(const hive_args *a, const hive_view *v, uint32_t change, uint64_t key, uint64_t word,
                              uint64_t in)
{
    return gpu_changed(a->b.elem, v->half, change, key, word, in);
}
SIMT_FN uint64_t hive_first_word(const hive_view *v, bool distinct, uint64_t key, uint64_t in)
{
    return gpu_first_word(v->half, distinct, key, in);
}

SIMT_FN hive_one hive_item_of(const hive_args *a, uint64_t i, uint32_t op, uint64_t key, uint64_t in, uint32_t flag)
{
    return gpu_item_of(i, op, key, hive_hash(&a->v, key), in, flag);
}
SIMT_FN hive_one hive_begin(simt_tile t, const hive_args *a, uint64_t i, uint32_t op, bool mixed)
{
    hive_one o = gpu_begin(t, &a->b, a->v.half, i, op, mixed);
    o.h = hive_hash(&a->v, o.key);
    return o;
}

SIMT_FN void hive_deliver(const hive_args *a, uint64_t i, uint32_t op, uint32_t outcome, uint64_t value,
                          const uint8_t *slot, bool aligned)
{
    gpu_deliver(&a->b, a->v.half, i, op, outcome, value, slot, aligned);
}
SIMT_FN void hive_deliver_one(const hive_args *a, const hive_one *o)
{
    hive_deliver(a, o->i, o->op, o->outcome, o->value,
                 o->outcome == HD_HIT ? hive_at(&a->v, o->entry) : (const uint8_t *)0, false);
}

#endif
