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

#include "gpu/each.h"
#include "gpu/hive/stash.h"

/* The key is there, and is kept, replaced, added to or removed. False: it said something else by then. */
SIMT_FN bool hive_change(simt_tile t, const hive_args *a, hive_one *o, const hive_found *f)
{
    bool done = true;
    if (t.rank == 0) {
        if (o->change != HIVE_KEEP)
            done = hive_cas(&a->v, f->entry, f->word, hive_changed(a, &a->v, o->change, o->key, f->word, o->in));
        if (done) simt_ticket(o->i, o->found, 0, f->entry);
        if (done && o->change == HIVE_REMOVE) hive_open(a, f->entry);
    }
    simt_join();
    if (!simt_shfl_u32(t, done, 0)) return false;
    o->entry = f->entry;
    o->value = hive_value_of(&a->v, f->word);
    o->outcome = o->found;
    return true;
}

/* Nothing happened. */
SIMT_FN bool hive_leave(simt_tile t, hive_one *o, uint32_t outcome)
{
    if (t.rank == 0) simt_ticket(o->i, outcome, 0, HIVE_NOWHERE);
    simt_join();
    o->outcome = outcome;
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
        hive_put(&a->v, hole, hive_first_word(&a->v, a->distinct, o->key, o->in));
        if (a->distinct) simt_ticket_store(o->i, HD_INSERTED, 0, hole);
    }
    simt_join();
    hive_hold(a, o, hole);
    return HIVE_MADE;
}

/* One turn. False: again. */
SIMT_FN bool hive_try(simt_tile t, const hive_args *a, hive_one *o)
{
    if (o->outcome != HIVE_UNDECIDED) return true; /* reserved */
    if (o->claim != HIVE_NOWHERE) return hive_verify(t, a, o);
    hive_found f = hive_search(t, a, o);
    o->rounds++;
    if (f.what == HIVE_THERE) return hive_change(t, a, o, &f);
    if (f.what == HIVE_MOVING) return false;
    if (!o->insert) return hive_leave(t, o, HD_MISS);
    if (f.before && !a->distinct) return false;
    if (f.room != HIVE_NOWHERE) {
        if (!hive_try_slot(t, a, o, f.room, f.room_word)) return false;
    } else {
        hive_made made = hive_make(t, a, o);
        if (made == HIVE_NO_WAY) return hive_leave(t, o, HD_PENDING);
        if (made == HIVE_AGAIN) return false;
    }
    return a->distinct || hive_verify(t, a, o);
}

/* ---- All items ------------------------------------------------------------------------------- */

SIMT_FN uint64_t hive_thread(void) { return (uint64_t)simt_block() * simt_threads() + simt_thread(); }
SIMT_FN uint64_t hive_threads(void) { return (uint64_t)simt_blocks() * simt_threads(); }

/* Lane r of a tile counts outcomes r and r + size; those of a warp are added together. */
SIMT_FN void hive_tally(simt_tile t, const hive_args *a, uint64_t low, uint64_t high)
{
    simt_tile w = simt_tile_of(32);
    for (uint32_t d = t.size; d < 32; d *= 2) {
        low += simt_shfl_xor_u64(w, low, d);
        high += simt_shfl_xor_u64(w, high, d);
    }
    if (w.rank >= t.size) return;
    if (low) simt_add_u64(a->tally + t.rank, low, SIMT_RELAXED);
    if (high) simt_add_u64(a->tally + t.size + t.rank, high, SIMT_RELAXED);
}

enum { HIVE_ITEMS_THREADS = 128 /* of a block that runs hive_items */ };

/* Counts the operations of a mixed batch. sum: shared, a word for each thread. */
SIMT_FN void hive_count_each(const hive_args *a, uint32_t *sum)
{
    if (a->op_tally) gpu_count_each(a->each, a->n, a->op_tally, sum);
}

/* All items of a batch of `op`, or of a mixed one. */
SIMT_FN void hive_items_as(const hive_args *a, simt_tile t, uint32_t op, bool mixed)
{
    SIMT_SHARED(uint32_t, sum, HIVE_ITEMS_THREADS);
    uint64_t low = 0, high = 0;
    for (uint64_t i = a->first + hive_thread() / t.size; i < a->last; i += hive_threads() / t.size) {
        hive_one o = hive_begin(t, a, i, op, mixed);
        while (!hive_try(t, a, &o)) simt_backoff(64);
        if (t.rank == 0) hive_deliver_one(a, &o);
        simt_join();
        low += o.outcome == t.rank;
        high += o.outcome == t.size + t.rank;
    }
    simt_join();
    hive_tally(t, a, low, high);
    simt_join();
    if (mixed) hive_count_each(a, sum);
}
SIMT_FN void hive_items(const hive_args *a, simt_tile t) { hive_items_as(a, t, a->op, a->each != (const uint8_t *)0); }

#endif
