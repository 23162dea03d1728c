/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.h - one turn of an item, and all items of a batch. A variant decides how many lanes an item has.
 *
 *     hive_begin    item.h       the item's operation, key, hash
 *     hive_try      search.h     is the key there, coming, moving (WCME)
 *                   below        it is: replace, add, remove
 *                   claim.h      it is not: take a slot, and check that no other item inserts it (WABC)
 *                   displace.h   no slot: make one
 *                   stash.h      none can be made
 *     hive_deliver  item.h       write the outputs
 */
#ifndef HIVE_STEPS_H
#define HIVE_STEPS_H

#include "gpu/hive/stash.h"

/* The key is there, and is kept, replaced, added to or removed. False: it said something else by then. */
SIMT_FN bool hive_change(simt_tile t, const hive_args *a, hive_one *o, const hive_found *f)
{
    bool done = true;
    if (t.rank == 0) {
        if (o->change != GPU_KEEP)
            done = hive_cas(&a->v, f->entry, f->word, hive_changed(a, &a->v, o->change, o->key, f->word, o->in));
        if (done) simt_ticket(o->i, o->found, 0, f->entry);
        if (done && o->change == GPU_REMOVE) hive_open(a, f->entry);
    }
    simt_join();
    if (!simt_shfl_u32(t, done, 0)) return false;
    o->entry = f->entry;
    o->value = hive_value_of(&a->v, f->word);
    o->outcome = o->found;
    return true;
}

/* The slots that its search saw are all taken. */
SIMT_FN hive_made hive_make(simt_tile t, const hive_args *a, hive_one *o)
{
    uint64_t hole = HIVE_NOWHERE;
    hive_made made = hive_displace(t, a, o, &hole);
    if (made == HIVE_NO_WAY) return hive_to_stash(t, a, o);
    if (made != HIVE_MADE) return made;
    if (t.rank == 0) {
        hive_put(&a->v, hole, hive_first_word(&a->v, a->b.distinct, o->key, o->in));
        if (a->b.distinct) simt_ticket_store(o->i, HD_INSERTED, 0, hole);
    }
    simt_join();
    hive_hold(a, o, hole);
    return HIVE_MADE;
}

/* One turn. False: again. */
SIMT_FN bool hive_try(simt_tile t, const hive_args *a, hive_one *o)
{
    if (o->outcome != GPU_UNDECIDED) return true; /* reserved */
    if (o->claim != HIVE_NOWHERE) return hive_verify(t, a, o);
    hive_found f = hive_search(t, a, o);
    o->rounds++;
    if (f.what == HIVE_THERE) return hive_change(t, a, o, &f);
    if (f.what == HIVE_MOVING) return false;
    if (!o->insert) return gpu_leave(t, o, HD_MISS);
    if (f.before && !a->b.distinct) return false;
    if (f.room != HIVE_NOWHERE) {
        if (!hive_try_slot(t, a, o, f.room, f.room_word)) return false;
    } else {
        hive_made made = hive_make(t, a, o);
        if (made == HIVE_NO_WAY) return gpu_leave(t, o, HD_PENDING);
        if (made == HIVE_AGAIN) return false;
    }
    return a->b.distinct || hive_verify(t, a, o);
}

/* ---- All items ------------------------------------------------------------------------------- */

/* Counts the operations of a mixed batch. sum: shared, a word for each thread. */
SIMT_FN void hive_count_each(const hive_args *a, uint32_t *sum)
{
    if (a->b.op_tally) gpu_count_each(a->b.each, a->b.n, a->b.op_tally, sum);
}

/* All items of a batch of `op`, or of a mixed one. */
SIMT_FN void hive_items_as(const hive_args *a, simt_tile t, uint32_t op, bool mixed)
{
    SIMT_SHARED(uint32_t, sum, GPU_ITEMS_THREADS);
    gpu_counts c = gpu_count_none();
    for (uint64_t i = a->b.first + gpu_thread() / t.size; i < a->b.last; i += gpu_threads() / t.size) {
        hive_one o = hive_begin(t, a, i, op, mixed);
        while (!hive_try(t, a, &o)) simt_backoff(64);
        if (t.rank == 0) hive_deliver_one(a, &o);
        simt_join();
        gpu_count(t, &c, o.outcome);
    }
    simt_join();
    gpu_tally(t, &a->b, &c);
    simt_join();
    if (mixed) hive_count_each(a, sum);
}
SIMT_FN void hive_items(const hive_args *a, simt_tile t)
{
    hive_items_as(a, t, a->b.op, a->b.each != (const uint8_t *)0);
}

#endif
