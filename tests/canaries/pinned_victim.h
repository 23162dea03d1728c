/* SPDX-License-Identifier: Apache-2.0 */
/* The least entry leaves, pinned or not. */
SIMT_FN bool pinned_victim_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    uint32_t state = canary_look(t, a, family, o);
    if (state != CANARY_ABSENT) return state == CANARY_DECIDED || (state == CANARY_FOUND && hkv_try(t, a, family, o));
    const uint64_t *score = hkv_score_at(&a->v, hkv_entry(&a->v, o->first, 0));
    hkv_place p = hkv_choose(t, a, o, (const uint64_t *)0, (const uint64_t *)0);
    for (uint32_t s = 0; !p.empty && s < a->v.slots; s++) {
        uint64_t x = simt_ld_u64(score + s * a->v.step);
        if (s && x >= p.least) continue;
        p.least = x;
        p.entry = hkv_entry(&a->v, o->first, s);
    }
    hkv_decide_absent(t, a, o, p);
    return true;
}
#define CANARY canary_pinned_victim
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_TRY pinned_victim_try
#include "tests/canaries/frame.h"
