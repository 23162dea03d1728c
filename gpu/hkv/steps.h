/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.h - the steps of one item. A variant runs them with tiles of its own size, and chooses what overlaps. Each step
 * is written once, in the file named beside it.
 *
 *     hkv_begin    item.h      the item's key, its buckets, its digest
 *     hkv_try      hold.h      take what must not change meanwhile; false: another item has it, try again
 *                  locate.h    find the key (Algorithm 1)
 *                  decide.h    decide, write all but the value (Algorithms 2 and 3; victim.h, pins.h)
 *     move         value.h     copy values: out of the table, then into it (hkv_move, or a variant's own way)
 *     hkv_end      hold.h      publish, let go
 *                  deliver.h   deliver
 */
#ifndef HKV_STEPS_H
#define HKV_STEPS_H

#include "gpu/hkv/decide.h"
#include "gpu/hkv/deliver.h"
#include "gpu/hkv/hold.h"
#include "gpu/hkv/value.h"

/* Families whose items hold their buckets: they change which keys a bucket has. */
SIMT_FN bool hkv_locks_buckets(uint32_t family) { return family == HKV_UPSERT || family == HKV_ERASE; }

/* One turn of an item. first_copy, second_copy: the scores of its buckets, copied while the item held them; NULL: none.
 * False: try again. */
SIMT_FN bool hkv_try_with(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o, const uint64_t *first_copy,
                          const uint64_t *second_copy)
{
    if (o->outcome != HKV_UNDECIDED) return true; /* reserved, or no item */
    bool buckets = hkv_locks_buckets(family);
    if (buckets && o->holds == HKV_HOLDS_NOTHING && !hkv_try_buckets(t, a, o)) return false;
    if (!o->looked) hkv_search(t, a, family, o, hkv_digests_of(a, o->first), hkv_digests_of(a, o->second));
    if (family == HKV_UPSERT) {
        hkv_decide_upsert(t, a, o, first_copy, second_copy);
        return true;
    }
    if (family == HKV_LOOKUP) {
        hkv_decide_lookup(t, a, o);
        return true;
    }
    if (family == HKV_PIN) {
        hkv_decide_pin(t, a, o);
        return true;
    }
    if (o->entry == HKV_NONE) {
        if (family == HKV_UPDATE && hkv_saw_busy(o)) return o->looked = false;
        o->outcome = HD_MISS;
        return true;
    }
    if (family == HKV_ERASE) {
        hkv_decide_erase(t, a, o);
        return true;
    }
    bool pinned = hkv_is_pinned(a, o->entry); /* no item changes a pinned entry, so it needs no owner */
    if (!pinned && !hkv_try_entry(t, a, o)) return o->looked = false;
    o->rated = hkv_rate_found(t, a, o, hkv_rule_of(a, o->i), pinned, HKV_KNOWS_NOTHING);
    return true;
}

SIMT_FN bool hkv_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    return hkv_try_with(t, a, family, o, (const uint64_t *)0, (const uint64_t *)0);
}

/* The item has taken effect: its key is put in place, others may have what it held. */
SIMT_FN void hkv_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    if (o->outcome == HKV_NO_ITEM) return;
    if (o->fresh) HKV_SYNC(t); /* the value is whole before the key says so */
    if (t.rank == 0) {
        hkv_deliver_early(a, o);
        if (o->fresh) simt_strlx_u64(hkv_key_at(&a->v, o->entry), o->key);
        if (o->rated) {
            simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
            simt_ticket_store(o->i, o->outcome, 0, o->entry); /* others may replace the score, and not own the entry */
            o->told = true;
        }
        if (!o->told) simt_ticket(o->i, o->outcome, o->gone_key, o->entry);
    }
    hkv_let_go(t, a, o);
    if (t.rank == 0) hkv_deliver(a, o);
}

#endif
