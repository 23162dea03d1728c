/* SPDX-License-Identifier: Apache-2.0
 *
 * coalesced_victim.h - the victim of a full bucket in coalesced.h, found by lower bounds (section 8, C).
 */
#ifndef HKV_COALESCED_VICTIM_H
#define HKV_COALESCED_VICTIM_H

#include "gpu/hkv/coalesced_copy.h"

typedef struct hkv_low {
    uint64_t least, second; /* the two least of the numbers so far; equal if the least came twice */
    uint32_t at;            /* the index of the first one that is the least */
} hkv_low;

/* Adds number x with index `at`. Indices begin at 0. */
SIMT_FN void hkv_low_add(hkv_low *l, uint64_t x, uint32_t at)
{
    bool lower = x < l->least || at == 0;
    uint64_t other = lower ? l->least : x;
    if (other < l->second) l->second = other;
    if (lower) l->at = at;
    if (lower) l->least = x;
}

/* The least of n numbers in a row; pairs: of the scores of n pairs. */
SIMT_FN hkv_low hkv_row_low(const uint8_t *row, uint32_t n, bool pairs)
{
    hkv_low l;
    l.least = l.second = UINT64_MAX;
    l.at = 0;
    SIMT_UNROLL_BY(2)
    for (uint32_t k = 0; k < (pairs ? n : n / 2); k++) {
        simt_v4 x = simt_ld_v4((const simt_v4 *)(const void *)(row + 16 * k));
        if (!pairs) hkv_low_add(&l, (uint64_t)x.y << 32 | x.x, 2 * k);
        hkv_low_add(&l, (uint64_t)x.w << 32 | x.z, pairs ? k : 2 * k + 1);
    }
    return l;
}

typedef struct hkv_victim {
    uint64_t entry, key, least; /* its slot, its key and its score when the row was loaded */
    uint64_t second;            /* the least score of the other seven entries of its group */
    uint64_t others;            /* no other group of its bucket has a lower score */
    uint64_t stays;             /* hkv_place's, of policies that ask for them */
    uint32_t spared;
    bool at_hand; /* the row has its group */
} hkv_victim;

/* Which entries of group `number` are pinned, a bit each, for the lanes with `wanted`. */
SIMT_FN uint32_t hkv_rows_pinned(simt_tile w, const hkv_args *a, uint8_t *rows, const uint8_t *row, uint64_t number,
                                 bool wanted)
{
    uint32_t pinned = 0;
    hkv_rows_fetch(w, rows, (const uint8_t *)hkv_holders(a), number, wanted, 8 * HKV_BOUNDED, false);
    SIMT_ROLLED
    for (uint32_t k = 0; wanted && k < HKV_BOUNDED; k++)
        if (simt_ld_u64((const uint64_t *)(const void *)(row + 8 * k))) pinned |= 1u << k;
    simt_join();
    return pinned;
}

/* In a row of pairs: the entries of the mask get the highest score, so no search chooses them if there is a lower
 * one. */
SIMT_FN void hkv_row_hide(uint8_t *row, uint32_t pinned)
{
    SIMT_ROLLED
    for (uint32_t k = 0; k < HKV_BOUNDED; k++)
        if (pinned >> k & 1) simt_st_u64((uint64_t *)(void *)(row + 16 * k + 8), UINT64_MAX);
}

/* Finds the least score of bucket b for the lanes with `wanted`, and stores it in *x if *x is empty or higher. Loads
 * the bounds, then the group with the least bound. If the least score of the group is above the second least bound,
 * raises the group's bound to this score and repeats. Needs: scores of the bucket do not fall meanwhile. Two items may
 * raise one bound at the same time, and the lower value may remain. Both values are correct bounds.
 *
 * pins: entries are pinned. They do not count, for the victim or for the bounds; *x may stay empty if all others have
 * the highest score. beside: an entry that does not count either; HKV_NONE: all do.
 *
 * Where entries are spared, those with one score are in the order of their slots: a victim's score is its bound, or
 * below all others. */
SIMT_FN void hkv_rows_victim(simt_tile w, const hkv_args *a, uint8_t *rows, uint8_t *row, uint64_t b, bool wanted,
                             bool pins, uint64_t beside, hkv_victim *x)
{
    const hkv_view *v = &a->v;
    uint64_t *bounds = v->bound + hkv_entry(v, b, 0) / HKV_BOUNDED;
    while (simt_any(w, wanted)) {
        hkv_rows_fetch(w, rows, (const uint8_t *)v->bound, b, wanted, v->slots, false);
        hkv_low bound;
        bound.least = bound.second = bound.at = 0;
        if (wanted) bound = hkv_row_low(row, v->slots / HKV_BOUNDED, false);
        if (x->entry != HKV_NONE && bound.least >= x->least) wanted = false;
        simt_join();
        uint64_t e = hkv_entry(v, b, HKV_BOUNDED * bound.at);
        uint32_t pinned = pins ? hkv_rows_pinned(w, a, rows, row, e / HKV_BOUNDED, wanted) : 0;
        if (beside != HKV_NONE && beside - e < HKV_BOUNDED) pinned |= 1u << (uint32_t)(beside - e);
        hkv_rows_fetch(w, rows, (const uint8_t *)v->key, e / HKV_BOUNDED, wanted, 16 * HKV_BOUNDED, false);
        if (wanted) {
            if (pinned) hkv_row_hide(row, pinned);
            hkv_low score = hkv_row_low(row, HKV_BOUNDED, true);
            bool tie = hkv_spares(a) && score.least == bound.second && score.least > bound.least;
            if (score.least > bound.second || tie) {
                simt_strlx_u64(bounds + bound.at, score.least);
            } else {
                wanted = false;
                if ((x->entry == HKV_NONE || score.least < x->least) && !(pinned >> score.at & 1)) {
                    x->entry = e + score.at;
                    x->key = simt_ld_u64((const uint64_t *)(const void *)(row + 16 * score.at));
                    x->least = score.least;
                    x->second = score.second;
                    x->others = bound.second;
                    x->at_hand = !v->dual;
                }
            }
        }
        simt_join();
    }
}

/* The victim's score has risen to x->least, so the next victim may be in its group, too. True: it is, by the row of the
 * lane, and below all entries of other groups. Otherwise the bound of the group is its least score. */
SIMT_FN bool hkv_row_next_victim(const hkv_args *a, uint8_t *row, hkv_victim *x)
{
    uint64_t e = x->entry / HKV_BOUNDED * HKV_BOUNDED;
    if (!x->at_hand) return false;
    simt_st_u64((uint64_t *)(void *)(row + 16 * (x->entry - e) + 8), x->least);
    hkv_low score = hkv_row_low(row, HKV_BOUNDED, true);
    if (score.least >= x->others) {
        simt_strlx_u64(a->v.bound + e / HKV_BOUNDED, score.least);
        return false;
    }
    x->entry = e + score.at;
    x->key = simt_ld_u64((const uint64_t *)(const void *)(row + 16 * score.at));
    x->least = score.least;
    x->second = score.second;
    return true;
}

/* The victim when hkv_rows_victim() found none: the first unpinned entry of bucket b. By the bounds its score is
 * 2^64 - 1, as that of every unpinned entry of the bucket. `second` is 0, so the bound of the group falls to 0. In dual
 * mode this comes before the search of the second bucket: on a tie the first one gives up an entry (D2). */
SIMT_FN void hkv_highest_victim(const hkv_args *a, uint64_t b, hkv_victim *x)
{
    const uint64_t *holder = hkv_holders(a);
    for (uint64_t e = hkv_entry(&a->v, b, 0); x->entry == HKV_NONE && e < hkv_entry(&a->v, b + 1, 0); e++) {
        if (simt_ld_u64(holder + e)) continue;
        x->entry = e;
        simt_ldrlx_2u64(hkv_key_at(&a->v, e), &x->key, &x->least);
    }
}

#endif
