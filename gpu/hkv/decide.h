/* SPDX-License-Identifier: Apache-2.0
 *
 * decide.h - Algorithm 2: decides the outcome of an item. The search is done, and the item holds what it needs. These
 * functions write everything except the value and the key of a new entry; hkv_end() publishes that key.
 */
#ifndef HKV_DECIDE_H
#define HKV_DECIDE_H

#include "gpu/hkv/repeated_keys.h"
#include "gpu/hkv/victim.h"

/* The score after a hit, where o->score is the score before it. */
SIMT_FN uint64_t hkv_score_of_hit(const hkv_args *a, const hkv_one *o)
{
    return hd_on_hit(a->v.policy, hkv_program(a), o->score, hkv_hit_in(a, o));
}

/* Replaces the old score in o->score by the score after a hit. Lowers the bound before a lower score is stored. */
SIMT_FN void hkv_rescore(const hkv_args *a, hkv_one *o, uint64_t after)
{
    if (after < o->score) hkv_lower_bound(&a->v, o->entry, after);
    o->score = after;
}

/* find_or_insert with a holder: pins the entry of the item, which holds the bucket. In rank 0. */
SIMT_FN void hkv_pin_entry(const hkv_args *a, hkv_one *o)
{
    if (!hkv_holder(a) || simt_ld_u64(a->v.holder + o->entry) != 0) return;
    simt_st_u64(a->v.holder + o->entry, hkv_holder(a));
    o->pins = true;
}

/* What an item of a present key knows before it decides. */
enum {
    HKV_KNOWS_NOTHING,
    HKV_KNOWS_SCORE,     /* the old one: o->score          */
    HKV_KNOWS_BOTH,      /* and the new one: o->gone_score */
    HKV_KNOWS_TOO_LITTLE /* it must try again              */
};

/* The key is at o->entry, and the item holds what it needs: decides the outcome, and the new score in rank 0. Returns
 * true if the caller still has to store the score. */
SIMT_FN bool hkv_rate_found(simt_tile t, const hkv_args *a, hkv_one *o, hkv_rule r, bool pinned, uint32_t knows)
{
    bool rescored = !pinned && hkv_rescores(a, o, r);
    o->outcome = pinned && (r.rescore || r.change != HKV_KEEP) ? HD_PINNED : r.found;
    if (!pinned) o->change = r.change;
    if (a->value && o->change != HKV_KEEP) o->in = a->value + o->i * a->v.value_bytes;
    hkv_value_goes_out(a, o);
    if (hkv_holder(a)) HKV_SYNC(t); /* all lanes have read the holder */
    if (t.rank != 0) return rescored;
    if (!pinned) hkv_pin_entry(a, o);
    if (knows == HKV_KNOWS_NOTHING) o->score = simt_ldrlx_u64(hkv_score_at(&a->v, o->entry));
    if (a->groups.pass == HKV_LEADERS) simt_st_u64(&a->groups.group[o->group].before, o->score);
    if (rescored) hkv_rescore(a, o, knows == HKV_KNOWS_BOTH ? o->gone_score : hkv_score_of_hit(a, o));
    return rescored;
}

/* The same, and stores the score. */
SIMT_FN void hkv_decide_found(simt_tile t, const hkv_args *a, hkv_one *o, hkv_rule r, bool pinned)
{
    if (hkv_rate_found(t, a, o, r, pinned, HKV_KNOWS_NOTHING) && t.rank == 0)
        simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
}

/* The key is absent: does the policy admit it to slot p? Sets the outcome, and what happens to the entry. */
SIMT_FN bool hkv_admit(const hkv_args *a, hkv_one *o, hkv_place p)
{
    const hkv_view *v = &a->v;
    hd_score_in in = hkv_score_in(a, o->i);
    if (hkv_keeps_order(a)) {
        if (hkv_has_queues(a) && p.entry != HKV_NONE) in = p.room->in;
        in.spared = (uint16_t)p.spared;
        in.least = p.stays;
    }
    o->score = hd_on_insert(v->policy, hkv_program(a), in);
    o->outcome = HD_REFUSED;
    bool admits = p.entry != HKV_NONE && (p.empty || v->admit_always);
    if (p.entry != HKV_NONE && !admits)
        admits = hd_admission_beside(v->policy, hkv_program(a), in, o->score) >= p.least;
    if (!admits) return false;
    o->outcome = p.empty ? HD_INSERTED : HD_EVICTED;
    o->entry = p.entry;
    o->fresh = true;
    o->change = a->op == HD_OP_FIND_OR_INSERT_PTR ? HKV_ZERO : HKV_REPLACE;
    o->in = a->value ? a->value + o->i * v->value_bytes : (const uint8_t *)0;
    if (a->groups.pass == HKV_LEADERS) hkv_group_inserted(a, o);
    if (!p.empty && a->list.stage_flag && a->list.stage_value)
        o->out = a->list.stage_value + (o->i - a->first) * v->value_bytes;
    return true;
}

/* find_or_insert_ptr has evicted an entry with this score. If an item of this batch had its pointer, it gets NULL, or
 * the last launch finds it (pointers.h). That launch checks all items if scores are not times. */
SIMT_FN void hkv_pointer_lost(const hkv_args *a, uint64_t score)
{
    if (!a->ptr || !a->times_tell || score < a->clock) return;
    if (!hkv_loser_is_known(a)) {
        if (simt_ldrlx_u64(a->lost) != a->clock + 1) simt_strlx_u64(a->lost, a->clock + 1);
    } else if (score - a->clock < a->n) {
        simt_st_u64(a->ptr + (score - a->clock), 0);
    }
}

/* Writes the score and the digest of a new entry into slot p, whose key is HD_KEY_LOCKED until hkv_end(). gone: the
 * evicted key. */
SIMT_FN void hkv_occupy(const hkv_args *a, hkv_one *o, hkv_place p, uint64_t gone)
{
    const hkv_view *v = &a->v;
    o->gone_key = gone;
    o->gone_score = p.least;
    simt_strlx_u64(hkv_score_at(v, p.entry), o->score);
    if (!p.empty && o->score < p.least) hkv_lower_bound(v, p.entry, o->score);
    if (!p.empty && a->op == HD_OP_FIND_OR_INSERT_PTR) hkv_pointer_lost(a, p.least);
    hkv_pin_entry(a, o);
    simt_strlx_u8(v->digest + p.entry, o->digest);
}

/* The key is absent and the item holds its buckets: takes slot p, or refuses. */
SIMT_FN void hkv_decide_absent(simt_tile t, const hkv_args *a, hkv_one *o, hkv_place p)
{
    if (!hkv_admit(a, o, p)) return;
    HKV_SYNC(t); /* all lanes have read what rank 0 overwrites */
    if (t.rank == 0) {
        uint64_t gone = p.empty ? 0 : simt_ld_u64(hkv_key_at(&a->v, p.entry));
        if (hkv_has_queues(a)) hkv_remember(a, p.room, gone);
        simt_strlx_u64(hkv_key_at(&a->v, p.entry), HD_KEY_LOCKED);
        hkv_occupy(a, o, p, gone);
    }
}

/* The same, for a policy with queues. */
SIMT_FN void hkv_decide_by_queues(simt_tile t, const hkv_args *a, hkv_one *o)
{
    hkv_room rooms[2];
    hkv_decide_absent(t, a, o, hkv_make_room_by_queues(t, a, o, rooms));
}

/* The slot was taken by another item: resets the decision, so that the item searches again. */
SIMT_FN void hkv_undecide(hkv_one *o)
{
    o->outcome = HKV_UNDECIDED;
    o->entry = HKV_NONE;
    o->change = HKV_KEEP;
    o->out = (uint8_t *)0;
    o->in = (const uint8_t *)0;
    o->looked = o->fresh = false;
}

SIMT_FN void hkv_decide_upsert(simt_tile t, const hkv_args *a, hkv_one *o, const uint64_t *first_copy,
                               const uint64_t *second_copy)
{
    hkv_rule r = hkv_rule_of(a, o->i);
    hkv_count(t, a, o, r);
    if (o->entry != HKV_NONE)
        hkv_decide_found(t, a, o, r, hkv_is_pinned(a, o->entry));
    else if (!r.insert)
        o->outcome = HD_MISS;
    else if (hkv_has_queues(a))
        hkv_decide_by_queues(t, a, o);
    else
        hkv_decide_absent(t, a, o, hkv_choose(t, a, o, first_copy, second_copy));
}

/* ---- The other families ---------------------------------------------------------------------- */

SIMT_FN void hkv_decide_lookup(simt_tile t, const hkv_args *a, hkv_one *o)
{
    o->outcome = o->entry == HKV_NONE ? HD_MISS : HD_HIT;
    if (o->entry == HKV_NONE) return;
    hkv_value_goes_out(a, o);
    if (t.rank == 0 && a->score_out && hkv_delivers_score(a->op)) o->score = simt_ld_u64(hkv_score_at(&a->v, o->entry));
}

/* The search is done, and no item changes keys. One CAS of the holder decides. An entry that is unpinned may be a
 * victim again, so the bound of its group counts it again. */
SIMT_FN void hkv_decide_pin(simt_tile t, const hkv_args *a, hkv_one *o)
{
    bool locks = a->op == HD_OP_LOCK_KEYS;
    uint32_t outcome = HD_MISS;
    uint64_t *holder = hkv_holders(a), from = locks ? 0 : a->holder, to = locks ? a->holder : 0;
    if (t.rank == 0 && holder && o->entry != HKV_NONE) {
        uint64_t there = simt_ldrlx_u64(holder + o->entry); /* items of a repeated key share the load, not a CAS */
        if (there == from) there = simt_cas_u64(holder + o->entry, from, to, SIMT_RELAXED);
        outcome = there == from ? HD_HIT : locks || there ? HD_PINNED : HD_MISS;
        simt_ticket(o->i, outcome, 0, o->entry);
        o->told = true;
        o->pins = outcome == HD_HIT;
        if (o->pins && !locks) hkv_lower_bound(&a->v, o->entry, simt_ld_u64(hkv_score_at(&a->v, o->entry)));
    }
    o->outcome = HKV_FROM0(t, outcome);
}

SIMT_FN void hkv_decide_erase(simt_tile t, const hkv_args *a, hkv_one *o)
{
    const hkv_view *v = &a->v;
    o->outcome = hkv_is_pinned(a, o->entry) ? HD_PINNED : HD_ERASED;
    HKV_SYNC(t);
    if (o->outcome == HD_ERASED && t.rank == 0) {
        simt_strlx_u64(hkv_key_at(v, o->entry), HD_KEY_LOCKED);
        simt_strlx_u64(hkv_score_at(v, o->entry), 0);
        hkv_lower_bound(v, o->entry, 0);
        simt_strlx_u8(v->digest + o->entry, HKV_NO_DIGEST);
        simt_strel_u64(hkv_key_at(v, o->entry), HD_KEY_EMPTY);
    }
}

#endif
