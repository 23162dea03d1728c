/* SPDX-License-Identifier: Apache-2.0
 *
 * update.h - changes of values in place: batches of updaters, and the last step of batches that insert (args.h).
 */
#ifndef SL_UPDATE_H
#define SL_UPDATE_H

#include "gpu/sl/entry.h"

/* ---- One item whose key is there ------------------------------------------------------------- */

SIMT_FN uint64_t sl_given(const sl_args *a, uint64_t i)
{
    uint32_t bytes = sl_value_bytes(&a->v);
    return gpu_elem_load(a->b.value + i * bytes, bytes);
}

/* One store: of key and value, or of the word of the value. */
SIMT_FN void sl_replace(const sl_args *a, uint64_t i, uint64_t place, uint64_t key)
{
    uint64_t *p = sl_words(a, place) + (a->v.words - 1), word = sl_given(a, i);
    if (a->v.words == 1) word |= key << 32;
    simt_strlx_u64(p, word);
    simt_ticket_store(i, HD_UPDATED, 0, place);
}

/* Element by element, each by one addition. */
SIMT_FN void sl_add(const sl_args *a, uint64_t i, uint64_t place)
{
    uint32_t bytes = sl_value_bytes(&a->v), n = gpu_elem_bytes(a->b.elem);
    const uint8_t *from = a->b.value + i * bytes;
    uint8_t *to = sl_value_in(a, place);
    for (uint32_t at = 0; at < bytes; at += n) gpu_piece_add(a->b.elem, to + at, n, gpu_piece_load(from + at, n));
    simt_ticket(i, HD_UPDATED, 0, place);
}

/* The value that is there stays. */
SIMT_FN void sl_keep(const sl_args *a, uint64_t i, uint64_t place)
{
    simt_ticket(i, HD_HIT, 0, place);
    if (a->b.op != HD_OP_FIND_OR_INSERT) return;
    if (a->b.value_out) sl_deliver_value(a, i, sl_entry_value(a, place));
    if (a->b.score_out) simt_st_u64(a->b.score_out + i, 0);
}

SIMT_FN uint32_t sl_change(const sl_args *a, uint64_t i, uint64_t place, uint64_t key, uint32_t flag)
{
    switch (a->b.op) {
    case HD_OP_FIND_OR_INSERT: sl_keep(a, i, place); return HD_HIT;
    case HD_OP_ACCUM_OR_ASSIGN:
        if (flag == HD_ASSIGN_NEW) {
            sl_keep(a, i, place);
            return HD_HIT;
        }
        sl_add(a, i, place);
        return HD_UPDATED;
    default: sl_replace(a, i, place, key); return HD_UPDATED;
    }
}

/* ---- Updaters -------------------------------------------------------------------------------- */

/* key: SL_NO_KEY: RESERVED. Else s: where it is */
SIMT_FN uint32_t sl_update_item(const sl_args *a, uint64_t i, uint64_t key, const sl_spot *s)
{
    uint32_t outcome = key == SL_NO_KEY ? HD_RESERVED : HD_MISS;
    if (key != SL_NO_KEY && s->there)
        outcome = sl_change(a, i, s->place, key, HD_EITHER);
    else
        simt_ticket(i, outcome, 0, SL_NO_PLACE);
    sl_deliver_outcome(&a->b, i, outcome);
    return outcome;
}

SIMT_FN uint32_t sl_update_one(const sl_args *a, uint64_t i)
{
    uint64_t key = sl_item_key(a, i);
    sl_spot s;
    s.there = false;
    if (key != SL_NO_KEY) s = sl_search(a, key, true);
    return sl_update_item(a, i, key, &s);
}

/* A thread per item. */
SIMT_FN void sl_update(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t mine = 0;
    for (uint64_t at = a->b.first + gpu_thread() / 32 * 32; at < a->b.last; at += gpu_threads()) {
        uint32_t outcome = SL_NO_ITEM;
        if (at + w.rank < a->b.last) outcome = sl_update_one(a, at + w.rank);
        simt_join();
        gpu_count_lanes(w, &mine, outcome);
    }
    gpu_tally_lanes(w, &a->b, mine);
}

/* ---- The last step of a window --------------------------------------------------------------- */

/* Whether an item whose key is absent would bring it in. */
SIMT_FN bool sl_inserts(const sl_args *a, uint32_t flag) { return a->b.op != HD_OP_ERASE && flag != HD_ADD; }

/* What an item of the order finds: its number, what its position is marked with, and its key if it is to be searched
 * for. Else SL_NO_KEY: it is RESERVED; it is a head, so its key is new; or it erases. */
typedef struct sl_applied {
    uint64_t i, key;
    uint32_t mark;
    bool reserved;
} sl_applied;

SIMT_FN sl_applied sl_apply_begin(const sl_args *a, uint64_t at)
{
    sl_applied x;
    x.i = a->b.first + (uint32_t)simt_ld_u64(a->window.word + at);
    x.mark = simt_ld_u32(a->window.mark + at);
    x.key = x.mark ? SL_NO_KEY : sl_item_key(a, x.i);
    x.reserved = !x.mark && x.key == SL_NO_KEY;
    if (a->b.op == HD_OP_ERASE) x.key = SL_NO_KEY;
    return x;
}

/* Of an erase the heads of present keys are marked, and have been erased. A head of another batch that no merge took is
 * PENDING; the ticket of one that was taken is the merge's. */
SIMT_FN uint32_t sl_apply_item(const sl_args *a, const sl_applied *x, const sl_spot *s)
{
    uint32_t flag = sl_flag_of(&a->b, x->i), outcome;
    if (x->key != SL_NO_KEY && s->there) return sl_change(a, x->i, s->place, x->key, flag);
    if (x->reserved)
        outcome = HD_RESERVED;
    else if (a->b.op == HD_OP_ERASE)
        outcome = x->mark ? HD_ERASED : HD_MISS;
    else
        outcome = x->mark == SL_MERGED ? HD_INSERTED : sl_inserts(a, flag) ? HD_PENDING : HD_MISS;
    if (outcome != HD_ERASED && outcome != HD_INSERTED) simt_ticket(x->i, outcome, 0, SL_NO_PLACE);
    return outcome;
}

/* A thread per position in the order of keys. */
SIMT_FN void sl_apply(const sl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t mine = 0, n = a->b.last - a->b.first;
    for (uint64_t at = gpu_thread() / 32 * 32; at < n; at += gpu_threads()) {
        uint32_t outcome = SL_NO_ITEM;
        if (at + w.rank < n) {
            sl_applied x = sl_apply_begin(a, at + w.rank);
            sl_spot s;
            s.there = false;
            if (x.key != SL_NO_KEY) s = sl_search(a, x.key, true);
            outcome = sl_apply_item(a, &x, &s);
            sl_deliver_outcome(&a->b, x.i, outcome);
        }
        simt_join();
        gpu_count_lanes(w, &mine, outcome);
    }
    gpu_tally_lanes(w, &a->b, mine);
}

#endif
