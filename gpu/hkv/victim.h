/* SPDX-License-Identifier: Apache-2.0
 *
 * victim.h - Algorithm 2, line 11, and Algorithm 3: which slot a new key may take: an empty one, or the one with the
 * least score that is not pinned.
 */
#ifndef HKV_VICTIM_H
#define HKV_VICTIM_H

#include "gpu/hkv/item.h"
#include "gpu/hkv/pins.h"
#include "gpu/hkv/queues.h"

/* Whether the entry of slot s would be the better victim: lower than the least so far, and not pinned. */
SIMT_FN bool hkv_is_lower(const hkv_args *a, uint64_t b, uint32_t s, uint64_t score, uint32_t at, uint64_t least,
                          bool pins)
{
    if (at < a->v.slots && score >= least) return false;
    return !pins || !hkv_has_holder(a, hkv_entry(&a->v, b, s));
}

/* A score that is compared with the least so far. */
SIMT_FN void hkv_compare(const hkv_args *a, uint64_t b, uint32_t s, uint64_t score, uint32_t *at, uint64_t *least,
                         bool pins)
{
    if (!hkv_is_lower(a, b, s, score, *at, *least, pins)) return;
    *least = score;
    *at = s;
}

/* Algorithm 2, line 11: the least score of a full bucket. copy: of its scores, as far apart as in the table; NULL:
 * there is none. Sixteen bytes
 * a load, where they are aligned: two scores, or a key and its score. */
SIMT_FN hkv_place hkv_least(simt_tile t, const hkv_args *a, uint64_t b, const uint64_t *copy)
{
    const uint64_t *score = copy ? copy : hkv_score_at(&a->v, hkv_entry(&a->v, b, 0));
    uint32_t slots = a->v.slots, at = slots, step = a->v.step, per_load = step == 1 && slots % 2 == 0 ? 2 : 1;
    uint64_t least = UINT64_MAX;
    bool pins = hkv_has_pins(a);
    hkv_place p;
    for (uint32_t s = per_load * t.rank; s < slots; s += per_load * t.size) {
        if (step == 2 || per_load == 2) {
            simt_v4 w = simt_ld_v4((const simt_v4 *)(const void *)(score + s * step - (step - 1)));
            uint64_t y = (uint64_t)w.w << 32 | w.z;
            if (step == 1) hkv_compare(a, b, s, (uint64_t)w.y << 32 | w.x, &at, &least, pins);
            hkv_compare(a, b, s + per_load - 1, y, &at, &least, pins);
        } else {
            uint64_t x = simt_ld_u64(score + s);
            hkv_compare(a, b, s, x, &at, &least, pins);
        }
    }
    simt_join();
    p.empty = false;
    p.spared = 0;
    p.stays = 0;
    p.room = (hkv_room *)0;
    p.least = HKV_LEAST64(t, least);
    at = HKV_LEAST32(t, least == p.least ? at : slots);
    p.entry = at < slots ? hkv_entry(&a->v, b, at) : HKV_NONE;
    return p;
}

/* D1 of Algorithm 3: room in either bucket, the emptier takes it. A tie goes to the first. */
SIMT_FN hkv_place hkv_free_place(const hkv_args *a, const hkv_one *o)
{
    bool second = o->at_second.empties > o->at_first.empties;
    hkv_place p;
    p.entry = second ? hkv_entry(&a->v, o->second, o->at_second.empty) : hkv_entry(&a->v, o->first, o->at_first.empty);
    p.least = p.stays = 0;
    p.spared = 0;
    p.room = (hkv_room *)0;
    p.empty = true;
    return p;
}

/* Algorithm 3. D2: both full, the one with the lower least score gives it up. Ties go to the first. In single mode both
 * are the same. */
SIMT_FN hkv_place hkv_choose_now(simt_tile t, const hkv_args *a, const hkv_one *o, const uint64_t *first_copy,
                                 const uint64_t *second_copy)
{
    const hkv_view *v = &a->v;
    hkv_place p, q;
    if (o->at_first.empties || o->at_second.empties) return hkv_free_place(a, o);
    p = hkv_least(t, a, o->first, first_copy);
    if (!v->dual) return p;
    q = hkv_least(t, a, o->second, second_copy);
    return p.entry == HKV_NONE || (q.entry != HKV_NONE && q.least < p.least) ? q : p;
}

/* The same, after the policy has spared what it spares. The copies lack the scores of spared entries. */
SIMT_FN hkv_place hkv_choose(simt_tile t, const hkv_args *a, const hkv_one *o, const uint64_t *first_copy,
                             const uint64_t *second_copy)
{
    hkv_place p = hkv_choose_now(t, a, o, first_copy, second_copy);
    if (!hkv_keeps_order(a)) return p;
    uint32_t spared = 0;
    while (!p.empty && hkv_spare(t, a, o, p.entry, &p.least, spared)) {
        p = hkv_choose_now(t, a, o, (const uint64_t *)0, (const uint64_t *)0);
        spared++;
    }
    p.spared = spared;
    if (hkv_reads_least(a) && p.entry != HKV_NONE) p.stays = hkv_least_beside(t, a, p.entry / a->v.slots, p.entry);
    return p;
}

#endif
