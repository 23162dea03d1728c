/* SPDX-License-Identifier: Apache-2.0 */
/* The bucket's scores are read before its lock is taken, and not again. */
SIMT_FN bool stale_minimum_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o, uint64_t *room)
{
    const uint64_t *score = hkv_score_at(&a->v, hkv_entry(&a->v, o->first, 0)) - (a->v.step - 1);
    for (uint32_t w = 0; w < a->v.slots * a->v.step; w++) {
        simt_st_u64(room + w, simt_ld_u64(score + w));
    }
    return hkv_try_with(t, a, family, o, room + (a->v.step - 1), (const uint64_t *)0);
}
#define CANARY canary_stale_minimum
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_ROOM 32
#define CANARY_TRY(t, a, family, o) stale_minimum_try(t, a, family, o, room)
#include "tests/canaries/frame.h"
