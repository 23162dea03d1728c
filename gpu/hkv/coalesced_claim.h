/* SPDX-License-Identifier: Apache-2.0
 *
 * coalesced_claim.h - what an item of coalesced.h does after its search: it claims an entry, decides,
 * publishes the entry, and ends (sections 3 to 8).
 */
#ifndef HKV_COALESCED_CLAIM_H
#define HKV_COALESCED_CLAIM_H

#include "gpu/hkv/coalesced_search.h"
#include "gpu/hkv/coalesced_victim.h"

enum { HKV_LOCK_NEVER, HKV_LOCK_TO_EVICT, HKV_LOCK_ALWAYS }; /* section 4; in this order */

/* True for launches of distinct keys, other than LEADERS. */
SIMT_FN bool hkv_keys_differ(const hkv_args *a) { return a->distinct || a->groups.pass == HKV_SINGLES; }

/* The level of a launch of upserts (section 4). Where keys repeat, the scores of present entries must only rise below
 * ALWAYS, in any order of the items. If the policy ignores the old score, an item may run after an item with a later
 * time, and then stores a lower score. */
SIMT_FN uint32_t hkv_coalesced_locking(const hkv_args *a)
{
    bool rises = a->policy_flags & HD_MONOTONE, admits = !a->v.admit_always && (a->policy_flags & HD_SCORE_ADMITS);
    if (a->groups.pass == HKV_LEADERS || a->groups.pass == HKV_REST) return HKV_LOCK_ALWAYS;
    if (hkv_holder(a) || hkv_keeps_order(a)) return HKV_LOCK_ALWAYS;
    if (hkv_keys_differ(a)) return rises && admits ? HKV_LOCK_NEVER : HKV_LOCK_TO_EVICT;
    if (a->op == HD_OP_ACCUM_OR_ASSIGN || !rises || (a->policy_flags & HD_ORDER_FREE)) return HKV_LOCK_ALWAYS;
    return a->v.dual ? HKV_LOCK_ALWAYS : HKV_LOCK_TO_EVICT;
}

/* The item is about to claim entry e, or has it under its locks. find_or_insert_ptr stores the pointer now, so that the
 * store that publishes the entry need not wait for it. If the claim fails, the item stores another pointer later. */
SIMT_FN void hkv_coalesced_point_at(const hkv_args *a, const hkv_one *o, uint64_t e)
{
    if (hkv_points_early(a)) hkv_point_at(a, o->i, e);
}

/* Claims entry e, which has `key`. The acquire pairs with the release of the last owner (section 5). */
SIMT_FN bool hkv_claim(const hkv_args *a, uint64_t e, uint64_t key)
{
    return simt_cas_u64(hkv_key_at(&a->v, e), key, HD_KEY_LOCKED, SIMT_ACQUIRE) == key;
}

/* True: a hit changes only the score, and the new score does not depend on the old one. Such an item claims nothing. */
SIMT_FN bool hkv_rates_only(const hkv_args *a)
{
    bool only = a->op == HD_OP_ASSIGN_SCORES || (a->op == HD_OP_TOUCH && !a->value_out);
    return only && (a->policy_flags & HD_ORDER_FREE);
}

/* Erases the entry that the item owns. It takes effect at the store of the digest: from then on no search finds the
 * key. Order: bound, digest, then the release store of EMPTY. */
SIMT_FN void hkv_coalesced_erase_claimed(const hkv_args *a, hkv_one *o)
{
    o->outcome = HD_ERASED;
    hkv_lower_bound(&a->v, o->entry, 0);
    simt_strlx_u8(a->v.digest + o->entry, HKV_NO_DIGEST);
    simt_ticket_store(o->i, HD_ERASED, 0, o->entry);
    if (a->v.step == 2) {
        simt_strel_2u64(hkv_key_at(&a->v, o->entry), HD_KEY_EMPTY, 0);
    } else {
        simt_strlx_u64(hkv_score_at(&a->v, o->entry), 0);
        simt_strel_u64(hkv_key_at(&a->v, o->entry), HD_KEY_EMPTY);
    }
    o->holds = HKV_HOLDS_NOTHING;
}

/* True: the score that the search loaded beside the key can be used; it need not be loaded again after the claim. Needs
 * a policy that ignores the old score. The item then uses the loaded score only for this: if its own score is lower, it
 * lowers the bound. With distinct keys no other item of the batch changes the score, and in LEADERS and REST of an
 * upsert the item holds the bucket. Beside another batch of updates, another item may change the score
 * after it was loaded. This does no harm: no item raises bounds in these launches, so the bound stays at or below the
 * loaded score. So either the item lowers the bound, or its own score is at least the loaded one and thus at least the
 * bound. */
SIMT_FN bool hkv_has_score(const hkv_args *a)
{
    return a->v.step == 2 && (a->distinct || a->groups.pass) && (a->policy_flags & HD_ORDER_FREE);
}

/* True: an item that claims a present entry replaces value and score, and reads neither. It claims with
 * HKV_KEY_REPLACED, so that another item of the key knows (hkv_coalesced_overwritten). */
SIMT_FN bool hkv_replaces(const hkv_args *a) { return a->op == HD_OP_ASSIGN && (a->policy_flags & HD_ORDER_FREE); }

/* True: another item of this batch has written the entry already, and this item may take effect just before it. If
 * scores are times (args.times_tell), o->score - a->clock is the number of the item that wrote the entry last. */
SIMT_FN bool hkv_coalesced_outdone(const hkv_args *a, const hkv_one *o)
{
    uint64_t by = o->score - a->clock;
    return a->times_tell && !a->distinct && by >= a->first && by < a->last;
}

/* The item takes effect just before the writer that hkv_coalesced_outdone() found. The writer overwrote everything that
 * this item would have written, so this item writes nothing to the table. A repeated key therefore costs a read and not
 * an atomic. */
SIMT_FN void hkv_coalesced_precede(const hkv_args *a, hkv_one *o, hkv_rule r)
{
    simt_ticket_before(o->i, r.found, 0, o->entry, o->score - a->clock);
    o->outcome = r.found;
    o->score = a->clock + o->i;
    hkv_value_goes_out(a, o);
}

/* The CAS found HKV_KEY_REPLACED in an entry that had the item's key. In this launch no key is inserted or removed.
 * So the owner is an item of the same key, of this batch or of one beside it. The owner replaces value and score. This
 * item takes effect just before the owner, and writes nothing, even if the owner's score is already in the table: an
 * item that comes between the two reads neither score nor value. Items of a repeated key therefore do not queue. */
SIMT_FN void hkv_coalesced_overwritten(hkv_one *o, hkv_rule r)
{
    o->outcome = r.found;
    simt_ticket_before_owner(o->i, r.found, 0, o->entry);
}

/* Hits that need no claim (family HKV_UPDATE): the item precedes another writer, or changes only the score. True: the
 * item is decided. */
SIMT_FN bool hkv_coalesced_unclaimed(const hkv_args *a, hkv_one *o, hkv_rule r)
{
    bool rates = hkv_rates_only(a), replaces = hkv_replaces(a);
    if (!rates && !replaces) return false;
    if (a->v.step == 1) o->score = simt_ldrlx_u64(hkv_score_at(&a->v, o->entry));
    if (hkv_coalesced_outdone(a, o)) {
        hkv_coalesced_precede(a, o, r);
        return true;
    }
    if (!rates) return false;
    o->outcome = r.found;
    hkv_rescore(a, o, hkv_score_of_hit(a, o));
    hkv_value_goes_out(a, o);
    simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
    simt_ticket_store(o->i, o->outcome, 0, o->entry);
    return true;
}

/* Claims the present entry: one CAS of its key, acquire. False: another item owns the entry or has changed its key. If
 * the owner overwrites everything that item o would write, o is decided; otherwise o stays UNDECIDED. */
SIMT_FN bool hkv_coalesced_claim_found(const hkv_args *a, hkv_one *o, hkv_rule r)
{
    uint64_t lock = hkv_replaces(a) ? HKV_KEY_REPLACED : HD_KEY_LOCKED,
             there = simt_cas_u64(hkv_key_at(&a->v, o->entry), o->key, lock, SIMT_ACQUIRE);
    if (there == HKV_KEY_REPLACED && (hkv_replaces(a) || a->op == HD_OP_ASSIGN_VALUES)) hkv_coalesced_overwritten(o, r);
    if (there != o->key) return false;
    if (lock == HKV_KEY_REPLACED) simt_owns(o->i, o->entry);
    o->holds = HKV_HOLDS_ENTRY;
    return true;
}

/* Whether the hit of a present key may lower the score. Then o->score is the old score, which the search
 * loaded: no other item has the key, so none changes it. */
SIMT_FN bool hkv_coalesced_may_lower(const hkv_args *a, hkv_rule r)
{
    return hkv_keys_differ(a) && !(a->policy_flags & HD_MONOTONE) && r.rescore;
}

/* The item of a present key holds its buckets if a hit lowers the score. False: the item must try again. */
SIMT_FN bool hkv_coalesced_hold_to_lower(const hkv_args *a, hkv_one *o, bool lowers)
{
    if (!lowers) {
        hkv_let_go(simt_tile_of(1), a, o);
        return true;
    }
    if (o->holds == HKV_HOLDS_BUCKETS) return true;
    if (!hkv_try_buckets(simt_tile_of(1), a, o)) return false;
    return simt_ldrlx_u64(hkv_key_at(&a->v, o->entry)) == o->key; /* it may have been evicted before */
}

/* What the item of a present key knows, which is not pinned. TO_EVICT: if a hit may lower the score, the new one, too.
 * If it does, the item holds its buckets then. HKV_KNOWS_TOO_LITTLE: it must try again. */
SIMT_FN uint32_t hkv_coalesced_foresee(const hkv_args *a, uint32_t locking, hkv_one *o, hkv_rule r)
{
    uint32_t knows = hkv_has_score(a) ? HKV_KNOWS_SCORE : HKV_KNOWS_NOTHING;
    if (locking != HKV_LOCK_TO_EVICT) return knows;
    if (hkv_coalesced_may_lower(a, r)) {
        knows = HKV_KNOWS_BOTH;
        o->gone_score = hkv_score_of_hit(a, o);
    }
    bool lowers = knows == HKV_KNOWS_BOTH && o->gone_score < o->score;
    return hkv_coalesced_hold_to_lower(a, o, lowers) ? knows : HKV_KNOWS_TOO_LITTLE;
}

/* The search found the key at o->entry. Claims it where that is needed, and decides. After a failed claim the item
 * stays UNDECIDED, unless the owner overwrites everything that it would write (hkv_coalesced_claim_found). */
SIMT_FN void hkv_coalesced_found(const hkv_args *a, uint32_t family, uint32_t locking, hkv_one *o)
{
    hkv_rule r = hkv_rule_of(a, o->i);
    bool pinned = hkv_is_pinned(a, o->entry); /* no item changes a pinned entry, so it needs no claim */
    hkv_coalesced_point_at(a, o, o->entry);
    if (family == HKV_UPDATE && !pinned && hkv_coalesced_unclaimed(a, o, r)) return;
    uint32_t knows = pinned ? HKV_KNOWS_NOTHING : hkv_coalesced_foresee(a, locking, o, r);
    if (knows == HKV_KNOWS_TOO_LITTLE) return;
    if (o->holds != HKV_HOLDS_BUCKETS && !pinned && !hkv_coalesced_claim_found(a, o, r)) return;
    if (family == HKV_ERASE && !pinned) {
        hkv_coalesced_erase_claimed(a, o);
        return;
    }
    bool rated = hkv_rate_found(simt_tile_of(1), a, o, r, pinned, knows);
    if (o->holds == HKV_HOLDS_ENTRY) {
        o->rated = rated;
        return;
    }
    if (rated) simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
    simt_ticket(o->i, o->outcome, 0, o->entry);
}

/* The key is absent and a bucket has room: claims the first free slot, or takes it under the bucket lock. */
SIMT_FN void hkv_coalesced_insert(const hkv_args *a, uint32_t locking, hkv_one *o)
{
    hkv_place p = hkv_free_place(a, o);
    hkv_coalesced_point_at(a, o, p.entry);
    if (hkv_reads_least(a)) p.stays = hkv_least_beside(simt_tile_of(1), a, p.entry / a->v.slots, p.entry);
    if (locking == HKV_LOCK_ALWAYS) {
        simt_strlx_u64(hkv_key_at(&a->v, p.entry), HD_KEY_LOCKED);
    } else {
        hkv_let_go(simt_tile_of(1), a, o);
        if (!hkv_claim(a, p.entry, HD_KEY_EMPTY)) return;
        o->holds = HKV_HOLDS_ENTRY;
    }
    if (!hkv_admit(a, o, p)) return; /* a free slot always admits: GCOVR_EXCL_BR_LINE */
    simt_ticket(o->i, o->outcome, 0, o->entry);
    o->rated = o->holds == HKV_HOLDS_ENTRY; /* the score stays 0 until the publication (section 8, D) */
    if (o->rated)
        simt_strlx_u8(a->v.digest + p.entry, o->digest);
    else
        hkv_occupy(a, o, p, 0);
}

/* The key is absent and its buckets are full. x is the entry with the least score among those that are not pinned; if
 * all are pinned, x.entry is HKV_NONE and hkv_admit() refuses. Refuses, or evicts x. A victim that changed since the
 * search leaves the item UNDECIDED. */
SIMT_FN void hkv_coalesced_evict(const hkv_args *a, uint32_t locking, hkv_one *o, hkv_victim x)
{
    hkv_place p;
    p.entry = x.entry;
    p.least = x.least;
    p.empty = false;
    p.spared = x.spared;
    p.stays = x.stays;
    p.room = (hkv_room *)0;
    bool admitted = hkv_admit(a, o, p);
    if (admitted) hkv_coalesced_point_at(a, o, x.entry);
    if (admitted && locking != HKV_LOCK_ALWAYS) {
        bool claimed = x.key < HD_KEY_RESERVED && hkv_claim(a, x.entry, x.key);
        if (claimed && simt_ldrlx_u64(hkv_score_at(&a->v, x.entry)) != x.least) { /* it rose: undo the claim */
            simt_strel_u64(hkv_key_at(&a->v, x.entry), x.key);
            claimed = false;
        }
        if (!claimed) {
            hkv_undecide(o);
            return;
        }
    }
    simt_ticket(o->i, o->outcome, admitted ? x.key : 0, admitted ? o->entry : HKV_NONE);
    if (!admitted && hkv_reads_least(a) && x.entry != HKV_NONE) hkv_lower_bound(&a->v, x.entry, x.least);
    if (!admitted) return;
    if (locking == HKV_LOCK_ALWAYS) simt_strlx_u64(hkv_key_at(&a->v, x.entry), HD_KEY_LOCKED);
    hkv_occupy(a, o, p, x.key);
    simt_strlx_u64(a->v.bound + x.entry / HKV_BOUNDED, x.second < o->score ? x.second : o->score);
    if (locking == HKV_LOCK_ALWAYS) return;
    hkv_let_go(simt_tile_of(1), a, o); /* the choice is made: the next item need not wait for the value */
    o->holds = HKV_HOLDS_ENTRY;
}

/* The key is absent. True: the buckets are full, and the item may evict. */
SIMT_FN bool hkv_coalesced_decide_absent(const hkv_args *a, uint32_t family, uint32_t locking, hkv_one *o)
{
    if (locking != HKV_LOCK_ALWAYS && hkv_saw_busy(o)) return false;
    if (family != HKV_UPSERT || !hkv_rule_of(a, o->i).insert) {
        o->outcome = HD_MISS;
        simt_ticket(o->i, HD_MISS, 0, HKV_NONE);
        return false;
    }
    bool room = o->at_first.empties || o->at_second.empties, held = o->holds != HKV_HOLDS_NOTHING;
    if (!held && locking == HKV_LOCK_TO_EVICT && !room) {
        /* Where keys repeat, another item may have inserted the key: it searches again, in the next round. */
        held = hkv_try_buckets(simt_tile_of(1), a, o);
        if (!held || !hkv_keys_differ(a)) return false;
    }
    if (hkv_has_queues(a)) return true; /* it may move others even where there is room */
    if (room) hkv_coalesced_insert(a, locking, o);
    return !room;
}

/* Decides by what the search saw (section 6). True: the key is absent, the buckets are full, and the item may evict. An
 * outcome that is still UNDECIDED asks for another round, unless the function returns true. */
SIMT_FN bool hkv_coalesced_decide(const hkv_args *a, uint32_t family, uint32_t locking, hkv_one *o)
{
    if (family == HKV_UPSERT && hkv_counts_keys(a)) hkv_count(simt_tile_of(1), a, o, hkv_rule_of(a, o->i));
    if (family == HKV_UPSERT && o->entry != HKV_NONE) hkv_count_others(a, o);
    if (o->entry == HKV_NONE) return hkv_coalesced_decide_absent(a, family, locking, o);
    hkv_coalesced_found(a, family, locking, o);
    return false;
}

/* Finds the victim of the lanes with `wanted` in their buckets, which are full. */
SIMT_FN hkv_victim hkv_coalesced_victim(simt_tile w, const hkv_args *a, uint8_t *rows, uint8_t *row, const hkv_one *o,
                                        bool wanted)
{
    hkv_victim x;
    bool pins = hkv_has_pins(a);
    x.entry = HKV_NONE;
    x.key = x.least = x.second = x.others = x.stays = 0;
    x.spared = 0;
    x.at_hand = false;
    SIMT_ROLLED
    for (uint32_t k = 0; k <= a->v.dual; k++) {
        hkv_rows_victim(w, a, rows, row, k ? o->second : o->first, wanted, pins, HKV_NONE, &x);
        if (pins && wanted) hkv_highest_victim(a, k ? o->second : o->first, &x);
    }
    return x;
}

/* The policy spares what it spares: x becomes the victim then. */
SIMT_FN void hkv_coalesced_spare(simt_tile w, const hkv_args *a, uint8_t *rows, uint8_t *row, const hkv_one *o,
                                 bool evicts, hkv_victim *x)
{
    uint32_t spared = 0;
    bool again = evicts;
    for (;;) {
        while (again) {
            again = hkv_spare(simt_tile_of(1), a, o, x->entry, &x->least, spared);
            spared += again;
            if (!again || !hkv_row_next_victim(a, row, x)) break;
        }
        simt_join();
        if (!simt_any(w, again)) break;
        hkv_victim next = hkv_coalesced_victim(w, a, rows, row, o, again);
        if (again) *x = next;
        simt_join();
    }
    x->spared = spared;
}

/* The least score that stays in the bucket of victim x: in its group, or by the bounds. */
SIMT_FN void hkv_coalesced_stays(simt_tile w, const hkv_args *a, uint8_t *rows, uint8_t *row, bool evicts,
                                 hkv_victim *x)
{
    hkv_victim beside;
    bool wanted = evicts && x->entry != HKV_NONE,
         known = x->second <= x->others && x->second < UINT64_MAX && x->least < UINT64_MAX;
    uint64_t b = wanted ? x->entry / a->v.slots : 0;
    if (wanted && known) x->stays = x->second;
    wanted = wanted && !known;

    beside.entry = HKV_NONE;
    beside.least = 0;
    hkv_rows_victim(w, a, rows, row, b, wanted, hkv_has_pins(a), x->entry, &beside);
    if (wanted) /* none was found where all that stay have the highest score */
        x->stays = beside.entry != HKV_NONE ? beside.least : hkv_least_beside(simt_tile_of(1), a, b, x->entry);
    simt_join();
}

/* A policy with queues: the lane's item takes slot p, under its locks, or is refused. If it leads a group, its items
 * try one after another. */
SIMT_FN void hkv_coalesced_take(const hkv_args *a, hkv_one *o, hkv_place p)
{
    bool admitted = hkv_admit(a, o, p);
    while (!admitted && p.entry != HKV_NONE && hkv_group_tries_again(a, o)) {
        hkv_count_uses(a, o, 1);
        hkv_room_counts_again(a, o, &p);
        admitted = hkv_admit(a, o, p);
    }
    uint64_t gone = admitted && !p.empty ? simt_ldrlx_u64(hkv_key_at(&a->v, p.entry)) : 0;
    simt_ticket(o->i, o->outcome, gone, admitted ? o->entry : HKV_NONE);
    hkv_count_others(a, o);
    if (!admitted) return;
    hkv_coalesced_point_at(a, o, p.entry);
    hkv_remember(a, p.room, gone);
    simt_strlx_u64(hkv_key_at(&a->v, p.entry), HD_KEY_LOCKED);
    hkv_occupy(a, o, p, gone);
}

/* Each lane with `wanted` makes room for its item: all of them read their buckets at the same time. */
SIMT_FN void hkv_coalesced_by_queues(const hkv_args *a, hkv_one *o, bool wanted)
{
    hkv_room rooms[2];
    if (wanted) hkv_coalesced_take(a, o, hkv_make_room_by_queues(simt_tile_of(1), a, o, rooms));
    simt_join();
}

/* The lanes with `evicts` look for a victim in their buckets, which are full, and refuse or evict. */
SIMT_FN void hkv_coalesced_make_room(simt_tile w, const hkv_args *a, uint32_t locking, uint8_t *rows, uint8_t *row,
                                     hkv_one *o, bool evicts)
{
    if (hkv_has_queues(a)) {
        hkv_coalesced_by_queues(a, o, evicts);
        return;
    }
    hkv_victim x = hkv_coalesced_victim(w, a, rows, row, o, evicts);
    if (hkv_spares(a)) hkv_coalesced_spare(w, a, rows, row, o, evicts, &x);
    if (hkv_reads_least(a)) hkv_coalesced_stays(w, a, rows, row, evicts, &x);
    if (evicts) hkv_coalesced_evict(a, locking, o, x);
    simt_join();
}

/* ---- The end of an item ---------------------------------------------------------------------- */

/* The counts of a lane's outcomes, behind its row: a field of HKV_TALLY_BITS bits for each outcome. A field holds
 * at most 127. The main loops flush the counts every 64 rounds. */
SIMT_FN uint64_t *hkv_row_tally(uint8_t *rows)
{
    return (uint64_t *)(void *)(rows + simt_lane() * HKV_COALESCED_ROW + 128);
}

/* Counts an outcome. HKV_NO_ITEM is not counted. */
SIMT_FN void hkv_tally_add(uint64_t *mine, uint32_t outcome)
{
    if (outcome < HKV_OUTCOMES) simt_st_u64(mine, simt_ld_u64(mine) + (1ull << HKV_TALLY_BITS * outcome));
}

/* Adds the counts of all lanes to the tally of the batch, and clears them. */
SIMT_FN void hkv_tally_flush(simt_tile w, const hkv_args *a, uint64_t *mine)
{
    uint64_t all = simt_ld_u64(mine);
    uint32_t my_sum = 0;
    for (uint32_t outcome = 0; outcome < HKV_OUTCOMES; outcome++) {
        uint32_t sum = simt_reduce_add_u32(w, (uint32_t)(all >> HKV_TALLY_BITS * outcome) & 127);
        if (w.rank == outcome) my_sum = sum;
    }
    if (my_sum) simt_add_u64(a->tally + w.rank, my_sum, SIMT_RELAXED);
    simt_st_u64(mine, 0);
    simt_join();
}

/* Publishes the entry that the item owns: stores the key, and the score if `rated`, with release. An item of a present
 * key takes effect here: at the store of its score, because an item that claims nothing (hkv_rates_only) may replace
 * this score before the key is published. */
SIMT_FN void hkv_coalesced_publish(const hkv_args *a, hkv_one *o)
{
    uint64_t *key = hkv_key_at(&a->v, o->entry);
    bool apart = o->rated && a->v.step == 1; /* in layout planes no item inserts */
    if (apart) simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
    if (apart) simt_ticket_store(o->i, o->outcome, 0, o->entry);
    if (o->rated && a->v.step == 2)
        simt_strel_2u64(key, o->key, o->score);
    else
        simt_strel_u64(key, o->key);
    if (!o->fresh && !apart) simt_ticket_store(o->i, o->outcome, 0, o->entry);
    o->holds = HKV_HOLDS_NOTHING;
}

/* Ends an item that has its outcome: publishes, lets go, and delivers. The lane is then free. */
SIMT_FN void hkv_coalesced_end(const hkv_args *a, hkv_one *o)
{
    if (o->outcome == HD_RESERVED) simt_ticket(o->i, HD_RESERVED, 0, HKV_NONE);
    if (o->entry == HKV_NONE) hkv_deliver_early(a, o);
    if (o->fresh && o->holds != HKV_HOLDS_ENTRY) simt_strel_u64(hkv_key_at(&a->v, o->entry), o->key);
    if (o->holds == HKV_HOLDS_ENTRY)
        hkv_coalesced_publish(a, o);
    else
        hkv_let_go(simt_tile_of(1), a, o);
    if (a->groups.pass == HKV_LEADERS) hkv_group_end(a, o);
    if (a->groups.pass == HKV_REST) simt_st_u32(a->groups.role + (o->i - a->first), HKV_SINGLE);
    hkv_deliver(a, o);
    o->outcome = HKV_NO_ITEM;
}

#endif
