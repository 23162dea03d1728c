/* SPDX-License-Identifier: Apache-2.0
 *
 * coalesced_loop.h - how a warp of coalesced.h takes items, and the main loops that run them (section 6).
 */
#ifndef HKV_COALESCED_LOOP_H
#define HKV_COALESCED_LOOP_H

#include "gpu/hkv/coalesced_claim.h"
#include "gpu/hkv/coalesced_search.h"

/* ---- A round ------------------------------------------------------------------------------- */

/* Ends a round: moves the values of the items that are decided, ends those items, and backs off where an item has to
 * try again. */
SIMT_FN void hkv_coalesced_finish(simt_tile w, const hkv_args *a, uint32_t family, uint64_t *tally, hkv_one *o,
                                  bool todo)
{
    bool done = todo && o->outcome != HKV_UNDECIDED;
    hkv_rows_move(w, a, family, o, done);
    if (hkv_holder(a)) hkv_pins_count(a, done && o->pins);
    if (done) {
        hkv_tally_add(tally, o->outcome);
        hkv_coalesced_end(a, o);
    }
    if (todo && !done) simt_backoff(32);
    simt_join();
}

/* Erases of one key would all read its digests, which this launch writes, so that no cache near the lane has them. The
 * first lane that tries erases for the lanes with the same key, which do not search. Returns whether the lane waits. */
SIMT_FN bool hkv_erase_waits(simt_tile w, const hkv_one *o, bool tries)
{
    uint32_t speaker = simt_ffs(simt_ballot(w, tries));
    if (!speaker) return false;
    return simt_shfl_u64(w, o->key, speaker - 1) == o->key && tries && w.rank != speaker - 1;
}

/* The first lane that tried has decided its item: those that waited for it come next. An erased key is absent. */
SIMT_FN void hkv_erase_after(simt_tile w, hkv_one *o, bool tried, bool waited)
{
    uint32_t speaker = simt_ffs(simt_ballot(w, tried));
    if (!speaker) return;
    uint32_t outcome = simt_shfl_u32(w, o->outcome, speaker - 1);
    uint64_t entry = simt_shfl_u64(w, o->entry, speaker - 1), item = 0;
    if (simt_tells()) item = simt_shfl_u64(w, o->i, speaker - 1);
    if (!waited || outcome == HKV_UNDECIDED) return;
    o->outcome = outcome == HD_ERASED ? HD_MISS : outcome;
    simt_ticket_beside(o->i, o->outcome, 0, outcome == HD_PINNED ? entry : HKV_NONE, item, (int64_t)w.rank + 1);
}

/* ---- The items of a warp --------------------------------------------------------------------- */

/* The items of a warp: groups of 32 neighbours, where group g of warp k is group g * hkv_warps() + k of the launch. The
 * keys of the next 32 items are loaded ahead. */
typedef struct hkv_run {
    uint64_t key;   /* of item `taken + lane` of this warp                         */
    uint32_t taken; /* how many items the warp has begun                           */
    uint32_t items; /* of the launch, if keys repeat                               */
} hkv_run;

/* The list of items that LEADERS or REST runs. */
SIMT_FN uint32_t hkv_run_list(const hkv_args *a) { return a->groups.pass == HKV_LEADERS ? HKV_GROUPS : HKV_RESTS; }

/* The number in the launch of item `number` of the warp. */
SIMT_FN uint64_t hkv_run_number(uint32_t number)
{
    return ((uint64_t)(number >> 5) * hkv_warps() + hkv_warp_number()) * 32 + (number & 31);
}

/* Item `number` of the warp; a->last or more: there is none. *group: the group that it leads. */
SIMT_FN uint64_t hkv_run_item(const hkv_args *a, const hkv_run *r, uint32_t number, uint32_t *group)
{
    uint64_t k = hkv_run_number(number);
    if (a->groups.pass == HKV_WHOLE) return a->first + k;
    if (k >= r->items) return a->last;
    if (a->groups.pass == HKV_SINGLES) return simt_ld_u32(a->groups.role + k) == HKV_SINGLE ? a->first + k : a->last;
    uint32_t n = simt_ld_u32(hkv_left(a, hkv_run_list(a)) + k);
    *group = n;
    if (a->groups.pass == HKV_LEADERS) n = hkv_ranked_item(hkv_group_leader(a, a->groups.group + n));
    return a->first + n;
}

SIMT_FN hkv_run hkv_run_begin(simt_tile w, const hkv_args *a)
{
    hkv_run r;
    uint32_t group;
    r.taken = 0;
    r.items = (uint32_t)(a->last - a->first);
    if (a->groups.pass == HKV_LEADERS) r.items = simt_ld_u32(a->groups.left_count + HKV_GROUPS);
    if (a->groups.pass == HKV_REST) r.items = simt_ld_u32(a->groups.left_count + HKV_RESTS_WERE);
    r.key = hkv_item_key(a, hkv_run_item(a, &r, w.rank, &group));
    return r;
}

/* True: the warp has begun all of its items. */
SIMT_FN bool hkv_run_ended(const hkv_args *a, const hkv_run *r)
{
    return a->groups.pass == HKV_WHOLE || hkv_run_number(r->taken) >= r->items;
}

/* Gives the next items of the warp to the lanes without an item, and loads the keys of the next 32. */
SIMT_FN void hkv_run_refill(simt_tile w, const hkv_args *a, hkv_run *run, hkv_one *o)
{
    bool idle = o->outcome == HKV_NO_ITEM;
    uint32_t who = simt_ballot(w, idle), place = hkv_place_among(w, who), group = 0, none;
    if (!who) return;
    uint64_t key = simt_shfl_u64(w, run->key, place);
    if (idle) {
        uint64_t i = hkv_run_item(a, run, run->taken + place, &group);
        *o = hkv_begin_with(a, i, key);
        o->group = group;
    }
    run->taken += simt_popc(who);
    run->key = hkv_item_key(a, hkv_run_item(a, run, run->taken + w.rank, &none));
    simt_join();
}

/* Again, while many lanes have no item: SINGLES skips members of groups. */
SIMT_FN void hkv_run_refill_more(simt_tile w, const hkv_args *a, hkv_run *run, hkv_one *o)
{
    enum { FEW = 6 };
    while (!hkv_run_ended(a, run)) {
        uint32_t idle = simt_ballot(w, o->outcome == HKV_NO_ITEM);
        if (simt_popc(idle) <= FEW) return;
        hkv_run_refill(w, a, run, o);
    }
}
/* ---- The main loops -------------------------------------------------------------------------- */

/* The main loop of updates, upserts and erases. In each round every lane searches, decides and moves its item's value;
 * items that are done end, the others try again (section 6). */
SIMT_FN void hkv_coalesced(const hkv_args *a, uint32_t family)
{
    SIMT_SHARED(uint8_t, all_rows, HKV_COALESCED_THREADS * HKV_COALESCED_ROW);
    simt_tile w = simt_tile_of(32);
    uint8_t *rows = all_rows + (simt_thread() & ~31u) * HKV_COALESCED_ROW;
    uint8_t *row = rows + w.rank * HKV_COALESCED_ROW;
    uint32_t locking = family == HKV_UPSERT ? hkv_coalesced_locking(a) : HKV_LOCK_NEVER, rounds = 0;
    if (a->groups.pass == HKV_LEADERS) hkv_members_counted(a);
    simt_join();
    uint64_t *tally = hkv_row_tally(rows);
    hkv_run run = hkv_run_begin(w, a);
    hkv_one o = hkv_begin_with(a, a->last, 0);
    simt_st_u64(tally, 0);
    for (;;) {
        hkv_run_refill(w, a, &run, &o);
        if (a->groups.pass == HKV_SINGLES) hkv_run_refill_more(w, a, &run, &o);
        bool todo = o.outcome != HKV_NO_ITEM, tries = o.outcome == HKV_UNDECIDED, waits = false;
        if (!simt_any(w, todo)) break;
        if (family == HKV_ERASE) waits = hkv_erase_waits(w, &o, tries);
        tries = tries && !waits;
        if (locking == HKV_LOCK_ALWAYS && tries && o.holds == HKV_HOLDS_NOTHING)
            tries = hkv_try_buckets(simt_tile_of(1), a, &o);
        simt_join();
        hkv_rows_search(w, a, rows, row, &o, tries, true, family == HKV_UPSERT, family == HKV_UPDATE);
        bool evicts = false;
        if (tries) evicts = hkv_coalesced_decide(a, family, locking, &o);
        simt_join();
        if (family == HKV_ERASE) hkv_erase_after(w, &o, tries, waits);
        if (family == HKV_UPSERT && simt_any(w, evicts)) hkv_coalesced_make_room(w, a, locking, rows, row, &o, evicts);
        hkv_coalesced_finish(w, a, family, tally, &o, todo);
        if (++rounds % 64 == 0) hkv_tally_flush(w, a, tally);
    }
    hkv_tally_flush(w, a, tally);
}

/* Lookups and pins need one round per item: no item changes keys meanwhile. */
SIMT_FN void hkv_coalesced_once(const hkv_args *a, uint32_t family)
{
    SIMT_SHARED(uint8_t, all_rows, HKV_COALESCED_THREADS * HKV_COALESCED_ROW);
    simt_tile w = simt_tile_of(32);
    uint8_t *rows = all_rows + (simt_thread() & ~31u) * HKV_COALESCED_ROW;
    uint64_t *tally = hkv_row_tally(rows);
    uint32_t rounds = 0, pins = 0;
    hkv_run run = hkv_run_begin(w, a);
    uint32_t none;
    simt_st_u64(tally, 0);
    while (hkv_run_item(a, &run, 32 * rounds, &none) < a->last) {
        hkv_one o = hkv_begin_with(a, a->last, 0);
        hkv_run_refill(w, a, &run, &o);
        bool looks = o.outcome == HKV_UNDECIDED;
        hkv_rows_search(w, a, rows, rows + w.rank * HKV_COALESCED_ROW, &o, looks, false, false, true);
        if (looks && family == HKV_LOOKUP) hkv_decide_lookup(simt_tile_of(1), a, &o);
        if (looks && family == HKV_PIN) hkv_decide_pin(simt_tile_of(1), a, &o);
        if (family == HKV_LOOKUP) hkv_rows_move(w, a, family, &o, looks);
        hkv_end(simt_tile_of(1), a, &o);
        if (family == HKV_PIN) pins += simt_popc(simt_ballot(w, o.pins));
        hkv_tally_add(tally, o.outcome);
        simt_join();
        if (++rounds % 64 == 0) hkv_tally_flush(w, a, tally);
    }
    if (pins && w.rank == 0) hkv_pins_add(a, pins);
    hkv_tally_flush(w, a, tally);
}

#endif
