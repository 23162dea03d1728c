/* SPDX-License-Identifier: Apache-2.0
 *
 * claim.h - an absent key's slot: taken, verified, committed (section IV-A, step 2, and what the paper leaves out: that
 * two items of a batch may bring the same key).
 */
#ifndef HIVE_CLAIM_H
#define HIVE_CLAIM_H

#include "gpu/hive/search.h"

/* The item has slot e, by rank 0. In a mask's layout it was won before it was written, and shows when the store
 * does. */
SIMT_FN bool hive_take_first(const hive_args *a, const hive_one *o, uint64_t e, uint64_t from)
{
    if (!hive_take(a, e, from, hive_first_word(&a->v, a->b.distinct, o->key, o->in))) return false;
    if (a->b.distinct && a->v.masks) simt_ticket_store(o->i, HD_INSERTED, 0, e);
    if (a->b.distinct && !a->v.masks) simt_ticket(o->i, HD_INSERTED, 0, e);
    return true;
}

/* The item has taken slot e: it is in the table where keys are distinct, and else has claimed a place. */
SIMT_FN void hive_hold(const hive_args *a, hive_one *o, uint64_t e)
{
    HD_ASSERT(o->claim == HIVE_NOWHERE, "an item claims a second slot");
    HD_ASSERT(e < hive_places(&a->v), "an item claims a slot that the table lacks");
    if (a->b.distinct) {
        o->entry = e;
        o->outcome = HD_INSERTED;
    } else {
        o->claim = e;
        o->claim_step = hive_step_of(a, o, e / a->v.slots);
    }
}

SIMT_FN bool hive_try_slot(simt_tile t, const hive_args *a, hive_one *o, uint64_t e, uint64_t from)
{
    bool got = false;
    if (t.rank == 0) got = hive_take_first(a, o, e, from);
    simt_join();
    if (!simt_shfl_u32(t, got, 0)) return false;
    hive_hold(a, o, e);
    return true;
}

/* Whether the key is to come by this item, whose claim others see now. False: again; the claim may be given back. */
SIMT_FN bool hive_verify(simt_tile t, const hive_args *a, hive_one *o)
{
    HD_ASSERT(o->claim != HIVE_NOWHERE, "an item verifies what it has not claimed");
    simt_sync_tile(t);
    simt_fence(); /* of two that claim, the one whose fence is later sees the other's claim */
    hive_found f = hive_search(t, a, o);
    bool back = f.what != HIVE_ABSENT || f.before;
    if (!back && f.after) return false;
    simt_sync_tile(t); /* all have looked */
    if (t.rank == 0) {
        if (back) {
            hive_give_back(a, o->claim);
        } else {
            hive_put(&a->v, o->claim, hive_pack(&a->v, o->key, o->in));
            simt_ticket_store(o->i, HD_INSERTED, 0, o->claim);
        }
    }
    simt_join();
    if (!back) {
        o->entry = o->claim;
        o->outcome = HD_INSERTED;
    }
    o->claim = o->claim_step = HIVE_NOWHERE;
    return !back;
}

#endif
