/* SPDX-License-Identifier: Apache-2.0
 *
 * victim.h - Algorithm 2, line 11, and Algorithm 3: which slot a new key may take. An empty one, or that of the least score
 * which nobody has pinned.
 */
#ifndef HKV_VICTIM_H
#define HKV_VICTIM_H

#include "gpu/hkv/item.h"
#include "gpu/hkv/pins.h"

/* A slot to take. */
typedef struct hkv_place {
    uint64_t entry; /* HKV_NONE: all are pinned */
    uint64_t least; /* whose score this is ...  */
    bool empty;     /* ... unless it is nobody's */
} hkv_place;

/* Whether the entry of slot s would be the better victim: lower than the least so far, and not pinned. */
SIMT_FN bool hkv_is_lower(const hkv_args *a, uint64_t b, uint32_t s, uint64_t score, uint32_t at, uint64_t least, bool pins)
{
    if (at < a->v.slots && score >= least) return false;
    return !pins || !hkv_pin_at(a, simt_ld_u64(a->v.key + hkv_entry(&a->v, b, s)));
}

/* Algorithm 2, line 11: the least score of a full bucket, whose scores are at `score` (in the table, or a copy of them). Two
 * scores a load, where buckets are even. */
SIMT_FN hkv_place hkv_least(simt_tile t, const hkv_args *a, uint64_t b, const uint64_t *score)
{
    uint32_t slots = a->v.slots, at = slots, step = slots % 2 ? 1 : 2;
    uint64_t least = UINT64_MAX;
    bool pins = simt_ld_u32(a->pins) != 0;
    hkv_place p;
    for (uint32_t s = step * t.rank; s < slots; s += step * t.size) {
        uint64_t x, y = 0;
        if (step == 2) {
            simt_v4 w = simt_ld_v4((const simt_v4 *)(const void *)(score + s));
            x = (uint64_t)w.y << 32 | w.x;
            y = (uint64_t)w.w << 32 | w.z;
        } else {
            x = simt_ld_u64(score + s);
        }
        if (hkv_is_lower(a, b, s, x, at, least, pins)) {
            least = x;
            at = s;
        }
        if (step == 2 && hkv_is_lower(a, b, s + 1, y, at, least, pins)) {
            least = y;
            at = s + 1;
        }
    }
    simt_join();
    p.empty = false;
    p.least = HKV_LEAST64(t, least);
    at = HKV_LEAST32(t, least == p.least ? at : slots);
    p.entry = at < slots ? hkv_entry(&a->v, b, at) : HKV_NONE;
    return p;
}

/* Algorithm 3. D1: room in either bucket, the emptier takes it. D2: both full, the one with the lower least score gives it
 * up. Ties go to the first. In single mode both are the same. */
SIMT_FN hkv_place hkv_choose(simt_tile t, const hkv_args *a, const hkv_one *o, const uint64_t *first_scores, const uint64_t *second_scores)
{
    const hkv_view *v = &a->v;
    hkv_place p, q;
    if (o->at_first.empties || o->at_second.empties) {
        bool second = o->at_second.empties > o->at_first.empties;
        p.entry = second ? hkv_entry(v, o->second, o->at_second.empty) : hkv_entry(v, o->first, o->at_first.empty);
        p.least = 0;
        p.empty = true;
        return p;
    }
    p = hkv_least(t, a, o->first, first_scores);
    if (!v->dual) return p;
    q = hkv_least(t, a, o->second, second_scores);
    return p.entry == HKV_NONE || (q.entry != HKV_NONE && q.least < p.least) ? q : p;
}

#endif
