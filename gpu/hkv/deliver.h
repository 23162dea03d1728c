/* SPDX-License-Identifier: Apache-2.0
 *
 * deliver.h - the outputs of an item: outcome, score and address in the caller's arrays, its entry in the list buffer,
 * and its count in the tally.
 */
#ifndef HKV_DELIVER_H
#define HKV_DELIVER_H

#include "base/op.h"
#include "gpu/hkv/item.h"

SIMT_FN bool hkv_delivers_value(uint32_t op) { return HD_OP_IN(op, HD_OPS_GIVE_VALUE); }
SIMT_FN bool hkv_delivers_score(uint32_t op) { return HD_OP_IN(op, HD_OPS_GIVE_SCORE); }
SIMT_FN bool hkv_delivers_ptr(uint32_t op) { return HD_OP_IN(op, HD_OPS_GIVE_PTR); }

/* Whether items of the operation may store the value that they were given. */
SIMT_FN bool hkv_stores_values(uint32_t op) { return HD_OP_IN(op, HD_OPS_NEED_VALUE); }

SIMT_FN bool hkv_was_found(uint32_t outcome) { return outcome == HD_HIT || outcome == HD_PINNED; }
SIMT_FN bool hkv_was_placed(uint32_t outcome) { return outcome == HD_INSERTED || outcome == HD_EVICTED; }

/* ---- Deferred copies of far values (fetch.h) ------------------------------------------------- */

/* True: far values are copied by a later launch. Only find does so: no batch changes values while a reader runs. */
SIMT_FN bool hkv_puts_off(const hkv_args *a) { return a->op == HD_OP_FIND && a->fetch.entry; }

/* The bin of the far tier that the value of entry e lies in. */
SIMT_FN uint32_t hkv_fetch_bin(const hkv_args *a, uint64_t e)
{
    return (uint32_t)((uint64_t)(hkv_value(&a->v, e) - a->v.far) >> a->fetch.shift);
}

/* Records the entry whose far value the item needs, or HKV_NONE, and its rank among the items of the same bin. */
SIMT_FN void hkv_put_off(const hkv_args *a, const hkv_one *o)
{
    uint64_t at = o->i - a->first;
    bool waits = o->entry != HKV_NONE && !hkv_is_near(&a->v, o->entry);
    simt_st_u64(a->fetch.entry + at, waits ? o->entry : HKV_NONE);
    if (waits)
        simt_st_u32(a->fetch.rank + at, simt_add_u32(a->fetch.count + hkv_fetch_bin(a, o->entry), 1, SIMT_RELAXED));
}

/* ---- An item's outputs ----------------------------------------------------------------------- */

/* If the operation delivers values: sets where the value of the entry is copied to. */
SIMT_FN void hkv_value_goes_out(const hkv_args *a, hkv_one *o)
{
    if (hkv_puts_off(a) && !hkv_is_near(&a->v, o->entry)) return;
    if (hkv_delivers_value(a->op) && a->value_out) o->out = a->value_out + o->i * a->v.value_bytes;
}

/* Records what the item lists: the missed key, or the entry that was evicted or refused (list.h). */
SIMT_FN void hkv_stage_item(const hkv_args *a, const hkv_one *o)
{
    uint64_t at = o->i - a->first;
    uint32_t listed = HKV_NOT_LISTED;
    HD_ASSERT(o->i >= a->first && o->i < a->last, "an item is of another window");
    if (a->op == HD_OP_FIND_MISSED)
        listed = o->outcome == HD_MISS ? HKV_LISTED_INPUT : HKV_NOT_LISTED;
    else if (o->outcome == HD_EVICTED)
        listed = HKV_LISTED;
    else if (o->outcome == HD_REFUSED)
        listed = HKV_LISTED_INPUT;
    simt_st_u8(a->list.stage_flag + at, (uint8_t)listed);
    if (listed == HKV_LISTED) simt_st_u64(a->list.stage_key + at, o->gone_key);
    if (listed != HKV_NOT_LISTED)
        simt_st_u64(a->list.stage_score + at, listed == HKV_LISTED ? o->gone_score : o->score);
}

/* The address of entry e's value. find_or_insert_ptr: perhaps the entry's number. Another item may replace the address
 * by NULL (hkv_occupy), or a later launch checks it, and makes an address of a number (pointers.h). */
SIMT_FN void hkv_point_at(const hkv_args *a, uint64_t i, uint64_t e)
{
    bool number = a->op == HD_OP_FIND_OR_INSERT_PTR && hkv_ptr_is_number(a);
    HD_ASSERT(e < hkv_capacity(&a->v), "a pointer is to an entry that the table lacks");
    simt_st_u64(a->ptr + i, number ? e + 1 : (uint64_t)(uintptr_t)hkv_value(&a->v, e));
}

/* The pointer of an item that is decided. Without an entry, find_or_insert_ptr gives NULL, other operations nothing. */
SIMT_FN void hkv_deliver_ptr(const hkv_args *a, const hkv_one *o)
{
    if (hkv_was_found(o->outcome) || hkv_was_placed(o->outcome))
        hkv_point_at(a, o->i, o->entry);
    else if (a->op == HD_OP_FIND_OR_INSERT_PTR && o->outcome != HD_RESERVED)
        simt_st_u64(a->ptr + o->i, 0);
}

SIMT_FN bool hkv_points_early(const hkv_args *a) { return a->op == HD_OP_FIND_OR_INSERT_PTR && a->ptr; }

/* find_or_insert_ptr delivers its pointer before the item publishes its entry and lets go: an item that evicts the
 * entry comes after that. */
SIMT_FN void hkv_deliver_early(const hkv_args *a, const hkv_one *o)
{
    if (hkv_points_early(a)) hkv_deliver_ptr(a, o);
}

/* hd_batch.found of an item that is decided. unlock_keys: a MISS has an entry if the key is present, and not pinned. */
SIMT_FN bool hkv_found(const hkv_args *a, const hkv_one *o)
{
    if (a->op == HD_OP_UNLOCK_KEYS && o->outcome == HD_MISS) return o->entry != HKV_NONE;
    return HD_OP_IN(o->outcome, HD_OUTCOMES_FOUND);
}

/* Writes the outputs of one item that hkv_deliver_early() has not written. */
SIMT_FN void hkv_deliver(const hkv_args *a, const hkv_one *o)
{
    bool found = hkv_was_found(o->outcome);
    HD_ASSERT(o->outcome < HD_PENDING, "an item is delivered that is not decided");
    if (a->outcome) simt_st_u8(a->outcome + o->i, (uint8_t)o->outcome);
    if (a->found) simt_st_u8(a->found + o->i, hkv_found(a, o));
    if (a->score_out && found && hkv_delivers_score(a->op)) simt_st_u64(a->score_out + o->i, o->score);
    if (a->op != HD_OP_FIND_OR_INSERT_PTR && hkv_delivers_ptr(a->op) && a->ptr) hkv_deliver_ptr(a, o);
    if (hkv_puts_off(a)) hkv_put_off(a, o);
    if (a->list.stage_flag) hkv_stage_item(a, o);
}

/* Outcomes are counted in fields of one 64-bit word: nine outcomes of seven bits. hkv never yields PENDING: a key
 * without a free slot evicts, or is refused. A tenth outcome would need a second word. */
enum { HKV_TALLY_BITS = 7, HKV_OUTCOMES = HD_PENDING };
#ifdef __cplusplus
static_assert(HKV_OUTCOMES * HKV_TALLY_BITS <= 64 && HKV_OUTCOMES + 1 == HD_OUTCOME_COUNT, "a field for each outcome");
#else
_Static_assert(HKV_OUTCOMES *HKV_TALLY_BITS <= 64 && HKV_OUTCOMES + 1 == HD_OUTCOME_COUNT, "a field for each outcome");
#endif

/* Adds the outcomes of a warp, one item per lane, to the tally of the batch. */
SIMT_FN void hkv_tally_lanes(const hkv_args *a, uint32_t outcome)
{
    simt_tile w = simt_tile_of(32);
    uint64_t sum = simt_reduce_add_u64(w, outcome < HKV_OUTCOMES ? 1ull << HKV_TALLY_BITS * outcome : 0);
    uint64_t mine = w.rank < HKV_OUTCOMES ? sum >> HKV_TALLY_BITS * w.rank & 127 : 0;
    if (mine) simt_add_u64(a->tally + w.rank, mine, SIMT_RELAXED);
}

#endif
