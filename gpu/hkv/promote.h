/* SPDX-License-Identifier: Apache-2.0
 *
 * promote.h - in-bucket tiers: the entries of a bucket with the best scores change places with the ones of worse scores
 * whose values are near, until no far value is worth more than a near one. A tile per bucket, which it has for itself:
 * promote runs alone, as clear does. So no lock is taken, and no reader can miss an entry that is on its way from one
 * slot to another.
 *
 * Pinned entries stay where they are: the caller may be writing through their pointers.
 */
#ifndef HKV_PROMOTE_H
#define HKV_PROMOTE_H

#include "gpu/hkv/scan.h"

/* A slot of a bucket; v->slots: there is none. */
typedef struct hkv_seat {
    uint64_t score;
    uint32_t slot;
} hkv_seat;

SIMT_FN bool hkv_is_fixed(const hkv_args *a, uint64_t e, uint64_t key, bool pins)
{
    return key == HD_KEY_EMPTY || (pins && hkv_has_holder(a, e));
}

/* The near seat to give up: the first that is empty, else the first with the least score. */
SIMT_FN hkv_seat hkv_near_seat(simt_tile t, const hkv_args *a, uint64_t b, bool pins, bool *empty)
{
    uint32_t slots = a->v.slots, free = slots, at = slots;
    uint64_t least = UINT64_MAX;
    hkv_seat r;
    for (uint32_t s = t.rank; s < hkv_near_of(&a->v, b); s += t.size) {
        uint64_t e = hkv_entry(&a->v, b, s), key = simt_ld_u64(hkv_key_at(&a->v, e)),
                 score = simt_ld_u64(hkv_score_at(&a->v, e));
        if (key == HD_KEY_EMPTY && free == slots) free = s;
        if (hkv_is_fixed(a, e, key, pins) || (at < slots && score >= least)) continue;
        least = score;
        at = s;
    }
    simt_join();
    free = HKV_LEAST32(t, free);
    *empty = free < slots;
    r.score = HKV_LEAST64(t, least);
    r.slot = HKV_LEAST32(t, least == r.score ? at : slots);
    if (*empty) r.slot = free;
    return r;
}

/* The far one to fill it from: the first with the greatest score. */
SIMT_FN hkv_seat hkv_far_seat(simt_tile t, const hkv_args *a, uint64_t b, bool pins)
{
    uint32_t slots = a->v.slots, at = slots;
    uint64_t lack = UINT64_MAX; /* what the greatest score is short of 2^64 - 1 */
    hkv_seat r;
    for (uint32_t s = (uint32_t)hkv_near_of(&a->v, b) + t.rank; s < slots; s += t.size) {
        uint64_t e = hkv_entry(&a->v, b, s), key = simt_ld_u64(hkv_key_at(&a->v, e)),
                 score = simt_ld_u64(hkv_score_at(&a->v, e));
        if (hkv_is_fixed(a, e, key, pins) || (at < slots && ~score >= lack)) continue;
        lack = ~score;
        at = s;
    }
    simt_join();
    uint64_t least = HKV_LEAST64(t, lack);
    r.score = ~least;
    r.slot = HKV_LEAST32(t, lack == least ? at : slots);
    return r;
}

/* Swaps entries x, near, and y, far. If x is empty, its value is not copied. */
SIMT_FN void hkv_change_seats(simt_tile t, const hkv_args *a, uint64_t x, uint64_t y, bool empty)
{
    const hkv_view *v = &a->v;
    uint8_t *near = hkv_value(v, x), *far = hkv_value(v, y);
    HKV_SYNC(t); /* all have read what is now overwritten */
    if (empty)
        hkv_copy(t, near, far, v->value_bytes, false);
    else
        hkv_swap(t, near, far, v->value_bytes);
    if (t.rank == 0) {
        uint64_t key = simt_ld_u64(hkv_key_at(v, x)), score = simt_ld_u64(hkv_score_at(v, x));
        uint8_t digest = simt_ld_u8(v->digest + x);
        simt_st_u64(hkv_key_at(v, x), simt_ld_u64(hkv_key_at(v, y)));
        simt_st_u64(hkv_score_at(v, x), simt_ld_u64(hkv_score_at(v, y))); /* no lower than it was: its bound holds */
        simt_st_u8(v->digest + x, simt_ld_u8(v->digest + y));
        simt_st_u64(hkv_key_at(v, y), key);
        simt_st_u64(hkv_score_at(v, y), score);
        simt_st_u8(v->digest + y, digest);
        hkv_lower_bound(v, y, score);
    }
    HKV_SYNC(t);
}

SIMT_FN uint32_t hkv_promote_bucket(simt_tile t, const hkv_args *a, uint64_t b, bool pins)
{
    for (uint32_t moved = 0;; moved++) {
        bool empty = false;
        hkv_seat low = hkv_near_seat(t, a, b, pins, &empty), high = hkv_far_seat(t, a, b, pins);
        if (low.slot == a->v.slots || high.slot == a->v.slots || (!empty && high.score <= low.score)) return moved;
        hkv_change_seats(t, a, hkv_entry(&a->v, b, low.slot), hkv_entry(&a->v, b, high.slot), empty);
    }
}

/* The buckets that begin in slots [first, last). */
SIMT_FN void hkv_promote_slots(const hkv_args *a, simt_tile t)
{
    bool pins = hkv_has_pins(a);
    uint64_t thread = (uint64_t)simt_block() * simt_threads() + simt_thread(),
             tiles = (uint64_t)simt_blocks() * simt_threads() / t.size;
    uint64_t moved = 0, first = hkv_stripe(&a->v, a->first),
             b = thread / t.size + first + (first * a->v.slots < a->first);
    if (!a->v.far || !a->v.striped) return;
    for (; b * a->v.slots < a->last; b += tiles) moved += hkv_promote_bucket(t, a, b, pins);
    simt_join();
    hkv_count_up(a, t.rank == 0 ? moved : 0);
}

#endif
