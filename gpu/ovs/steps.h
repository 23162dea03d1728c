/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.h - one turn of an item, and all items of a batch. A variant decides how many lanes an item has. o->claim is
 * the slot that an item has claimed, counted along its way.
 */
#ifndef OVS_STEPS_H
#define OVS_STEPS_H

#include "gpu/ovs/copies.h"
#include "gpu/ovs/search.h"

/* Slot `at` of the item's way, where `from` was seen, becomes `to`, by rank 0; but a HIT changes nothing. Then the item
 * has `outcome`; or none yet: GPU_UNDECIDED. False: it said something else by then. */
SIMT_FN bool ovs_swap(simt_tile t, const ovs_args *a, gpu_one *o, uint64_t at, uint64_t from, uint64_t to,
                      uint32_t outcome)
{
    bool done = true;
    HD_ASSERT(at != OVS_NOWHERE && o->outcome == GPU_UNDECIDED, "an item is decided twice");
    if (t.rank == 0) {
        if (outcome != HD_HIT) done = simt_cas_u64(ovs_slot(&a->v, o->h, at), from, to, SIMT_RELAXED) == from;
        if (done && outcome != GPU_UNDECIDED) simt_ticket(o->i, outcome, 0, ovs_entry(&a->v, o->h, at));
    }
    simt_join();
    if (!simt_shfl_u32(t, done, 0)) return false;
    o->outcome = outcome;
    o->entry = at;
    return true;
}

/* The key is there, and is kept, replaced, added to or removed. */
SIMT_FN bool ovs_change(simt_tile t, const ovs_args *a, gpu_one *o, const ovs_found *f)
{
    uint64_t to = f->word;
    if (o->change != GPU_KEEP) to = gpu_changed(a->b.elem, OVS_HALF, o->change, o->key, f->word, o->in);
    o->value = word_value_of(OVS_HALF, f->word);
    if (!ovs_swap(t, a, o, f->at, f->word, to, o->found)) return false;
    if (o->change != GPU_KEEP && t.rank == 0) ovs_lose_copies(&a->v, o->h, o->key);
    simt_join();
    return true;
}

/* Whether the key is to come by this item, whose claim others see now. False: again; the claim may be given back. */
SIMT_FN bool ovs_verify(simt_tile t, const ovs_args *a, gpu_one *o)
{
    HD_ASSERT(o->claim != OVS_NOWHERE, "an item verifies what it has not claimed");
    simt_sync_tile(t);
    simt_fence(); /* of two that claim, the one whose fence is later sees the other's claim */
    ovs_found f = ovs_search(t, a, o, true);
    bool back = f.at != OVS_NOWHERE || f.before;
    if (!back && f.after) return false;
    simt_sync_tile(t); /* all have looked */
    if (t.rank == 0) {
        uint64_t word = back ? ovs_vacant() : word_pack(OVS_HALF, o->key, o->in);
        simt_strlx_u64(ovs_slot(&a->v, o->h, o->claim), word);
        if (!back) simt_ticket_store(o->i, HD_INSERTED, 0, ovs_entry(&a->v, o->h, o->claim));
    }
    simt_join();
    o->claim = OVS_NOWHERE;
    if (!back) o->outcome = HD_INSERTED;
    return !back;
}

/* One turn. False: again. */
SIMT_FN bool ovs_try(simt_tile t, const ovs_args *a, gpu_one *o)
{
    if (o->outcome != GPU_UNDECIDED) return true; /* reserved */
    if (o->claim != OVS_NOWHERE) return ovs_verify(t, a, o);
    ovs_found f = ovs_search(t, a, o, false);
    if (f.at != OVS_NOWHERE) return ovs_change(t, a, o, &f);
    if (!o->insert) return gpu_leave(t, o, HD_MISS);
    if (f.before && !a->b.distinct) return false;
    if (f.room == OVS_NOWHERE && f.open) return false;
    if (f.room == OVS_NOWHERE) return gpu_leave(t, o, HD_PENDING);
    uint64_t word = gpu_first_word(OVS_HALF, a->b.distinct, o->key, o->in);
    uint32_t outcome = a->b.distinct ? (uint32_t)HD_INSERTED : (uint32_t)GPU_UNDECIDED;
    if (!ovs_swap(t, a, o, f.room, f.room_word, word, outcome)) return false;
    if (t.rank == 0) ovs_show_digest(&a->v, o->h, f.room);
    simt_join();
    if (a->b.distinct) return true;
    o->claim = f.room;
    return ovs_verify(t, a, o);
}

SIMT_FN void ovs_items(const ovs_args *a, simt_tile t)
{
    SIMT_SHARED(uint32_t, sum, GPU_ITEMS_THREADS);
    gpu_counts c = gpu_count_none();
    bool mixed = a->b.each != (const uint8_t *)0;
    for (uint64_t i = a->b.first + gpu_thread() / t.size; i < a->b.last; i += gpu_threads() / t.size) {
        gpu_one o = gpu_begin(t, &a->b, OVS_HALF, i, a->b.op, mixed);
        o.h = ovs_hash(&a->v, o.key);
        while (!ovs_try(t, a, &o)) simt_backoff(64);
        if (t.rank == 0) {
            bool points = o.outcome == HD_HIT && a->b.ptr;
            const uint8_t *slot = points ? (const uint8_t *)ovs_slot(&a->v, o.h, o.entry) : (const uint8_t *)0;
            gpu_deliver(&a->b, OVS_HALF, i, o.op, o.outcome, o.value, slot, false);
        }
        simt_join();
        gpu_count(t, &c, o.outcome);
    }
    simt_join();
    gpu_tally(t, &a->b, &c);
    simt_join();
    if (mixed && a->b.op_tally) gpu_count_each(a->b.each, a->b.n, a->b.op_tally, sum);
}

#endif
