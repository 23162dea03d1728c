/* SPDX-License-Identifier: Apache-2.0
 *
 * item.h - one item on its way: what it is, what it holds between its steps, what its operation says, and what comes
 * back of it.
 */
#ifndef HIVE_ITEM_H
#define HIVE_ITEM_H

#include "gpu/add.h"
#include "gpu/hive/word.h"

enum { HIVE_UNDECIDED = HD_OUTCOME_COUNT };
enum { HIVE_KEEP, HIVE_REPLACE, HIVE_ADD, HIVE_REMOVE };

typedef struct hive_one {
    uint64_t i, key, h;
    uint64_t in;         /* the value that it brings; rank 0 knows it      */
    uint64_t value;      /* what was there, of a HIT; likewise             */
    uint64_t entry;      /* where the key is now; HIVE_NOWHERE             */
    uint64_t claim;      /* what it holds; HIVE_NOWHERE                    */
    uint64_t claim_step; /* how far on its way that is                     */
    uint32_t op, outcome, rounds;
    uint32_t found, change; /* what becomes of a key that is there         */
    bool insert;            /* and of one that is not                      */
} hive_one;

/* ---- What its operation says ----------------------------------------------------------------- */

SIMT_FN void hive_rule(hive_one *o, uint32_t flag)
{
    o->found = HD_UPDATED;
    o->change = HIVE_REPLACE;
    o->insert = false;
    switch (o->op) {
    case HD_OP_ASSIGN:
    case HD_OP_ASSIGN_VALUES: break;
    case HD_OP_INSERT_OR_ASSIGN: o->insert = true; break;
    case HD_OP_ACCUM_OR_ASSIGN:
        o->insert = flag != HD_ADD;
        o->change = flag == HD_ASSIGN_NEW ? HIVE_KEEP : HIVE_ADD;
        if (flag == HD_ASSIGN_NEW) o->found = HD_HIT;
        break;
    case HD_OP_ERASE:
        o->found = HD_ERASED;
        o->change = HIVE_REMOVE;
        break;
    default: /* find and its kind; in a mixed batch also what cannot be mixed, which inserts nothing */
        o->found = HD_HIT;
        o->change = HIVE_KEEP;
        o->insert = o->op < HD_OP_COUNT_ && HD_OP_IN(o->op, HD_OPS_UPSERT & HD_OPS_MIX);
        break;
    }
}

SIMT_FN bool hive_delivers_value(uint32_t op) { return HD_OP_IN(op, HD_OPS_GIVE_VALUE); }

/* What is there becomes, element by element. */
SIMT_FN uint64_t hive_sum(const hive_args *a, uint64_t value, uint64_t in)
{
    uint32_t bits = 8 * gpu_elem_bytes(a->elem);
    uint64_t mask = (1ull << bits) - 1, sum = 0;
    for (uint32_t at = 0; at < a->v.half; at += bits)
        sum |= (gpu_sum(a->elem, value >> at & mask, in >> at & mask) & mask) << at;
    return sum;
}

/* What the word of a key that is there becomes; v: how words are made. */
SIMT_FN uint64_t hive_changed(const hive_args *a, const hive_view *v, uint32_t change, uint64_t key, uint64_t word,
                              uint64_t in)
{
    if (change == HIVE_REMOVE) return hive_vacant(v);
    return hive_pack(v, key, change == HIVE_ADD ? hive_sum(a, hive_value_of(v, word), in) : in);
}

/* The first word of a slot that is taken for a key: CLAIMED; or the key itself, if no other item inserts it. */
SIMT_FN uint64_t hive_first_word(const hive_view *v, bool distinct, uint64_t key, uint64_t in)
{
    return distinct ? hive_pack(v, key, in) : hive_sign(v, HIVE_CLAIMED, key);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

SIMT_FN hive_one hive_item_of(const hive_args *a, uint64_t i, uint32_t op, uint64_t key, uint64_t in, uint32_t flag)
{
    hive_one o;
    o.i = i;
    o.key = key;
    o.h = hive_hash(&a->v, key);
    o.in = in;
    o.value = 0;
    o.entry = o.claim = o.claim_step = HIVE_NOWHERE;
    o.op = op;
    o.outcome = HIVE_UNDECIDED;
    o.rounds = 0;
    hive_rule(&o, flag);
    return o;
}

/* Whether a mixed batch may have the operation. The outcome of an item with another one is RESERVED, and so is that of
 * an item whose flag is no hd_accum. The host does not check arrays of the device. */
SIMT_FN bool hive_mixes(uint32_t op) { return op < HD_OP_COUNT_ && HD_OP_IN(op, HD_OPS_MIX); }

/* Item i of the batch, which is of `op`, or mixed. */
SIMT_FN hive_one hive_begin(simt_tile t, const hive_args *a, uint64_t i, uint32_t op, bool mixed)
{
    uint32_t bytes = a->v.half / 8, flag = HD_EITHER;
    uint64_t in = 0;
    simt_started(i);
    uint64_t key = simt_ld_u64(a->key + i);
    if (mixed) op = simt_ld_u8(a->each + i);
    if (a->flag && op == HD_OP_ACCUM_OR_ASSIGN) flag = simt_ld_u8(a->flag + i);
    if (a->value && t.rank == 0) in = gpu_elem_load(a->value + i * bytes, bytes);
    simt_join();
    hive_one o = hive_item_of(a, i, op, key, in, flag);
    if (key >= hive_keys(&a->v) || flag > HD_EITHER || (mixed && !hive_mixes(op))) {
        o.outcome = HD_RESERVED;
        if (t.rank == 0) simt_ticket(i, HD_RESERVED, 0, HIVE_NOWHERE);
    }
    simt_join();
    return o;
}

/* A value of a batch; aligned: its place is known to be a multiple of its size, as in kernels.cu alone. */
SIMT_FN uint32_t hive_value_in(const uint8_t *p, uint32_t bytes, bool aligned)
{
    if (aligned && bytes == 4) return simt_ld_u32((const uint32_t *)(const void *)p); /* GCOVR_EXCL_LINE: kernels.cu */
    return (uint32_t)gpu_elem_load(p, bytes);
}
SIMT_FN void hive_value_out(uint8_t *p, uint32_t bytes, uint32_t value, bool aligned)
{
    if (aligned && bytes == 4)                     /* GCOVR_EXCL_BR_LINE: kernels.cu */
        simt_st_u32((uint32_t *)(void *)p, value); /* GCOVR_EXCL_LINE */
    else
        gpu_elem_store(p, bytes, value);
}

/* One lane writes the outputs of item i. slot: the slot of a HIT, if a pointer to it is wanted. */
SIMT_FN void hive_deliver(const hive_args *a, uint64_t i, uint32_t op, uint32_t outcome, uint64_t value,
                          const uint8_t *slot, bool aligned)
{
    uint32_t bytes = a->v.half / 8;
    bool hit = outcome == HD_HIT;
    if (a->outcome) simt_st_u8(a->outcome + i, (uint8_t)outcome);
    if (a->found) simt_st_u8(a->found + i, HD_OP_IN(outcome, HD_OUTCOMES_FOUND));
    if (hit && a->value_out && hive_delivers_value(op))
        hive_value_out(a->value_out + i * bytes, bytes, (uint32_t)value, aligned);
    if (hit && a->score_out && (hive_delivers_value(op) || op == HD_OP_FIND_PTR)) simt_st_u64(a->score_out + i, 0);
    if (hit && a->ptr && op == HD_OP_FIND_PTR) simt_st_u64(a->ptr + i, (uint64_t)(uintptr_t)slot);
    if (a->stage_flag) simt_st_u8(a->stage_flag + (i - a->first), outcome == HD_MISS);
}
SIMT_FN void hive_deliver_one(const hive_args *a, const hive_one *o)
{
    hive_deliver(a, o->i, o->op, o->outcome, o->value,
                 o->outcome == HD_HIT ? hive_at(&a->v, o->entry) : (const uint8_t *)0, false);
}

#endif
