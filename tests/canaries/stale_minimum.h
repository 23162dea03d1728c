/* SPDX-License-Identifier: Apache-2.0 */
/* The bucket's scores are read before its lock is taken, and not again. */
SIMT_FN bool stale_minimum_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o, uint64_t *room)
{
    const uint64_t *score = a->v.score + hkv_entry(&a->v, o->first, 0);
    for (uint32_t s = 0; s < a->v.slots; s++) {
        simt_st_u64(room + s, simt_ld_u64(score + s));
    }
    return hkv_try_with(t, a, family, o, room, (const uint64_t *)0);
}
#define CANARY canary_stale_minimum
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_ROOM 16
#define CANARY_TRY(t, a, family, o) stale_minimum_try(t, a, family, o, room)
#include "tests/canaries/frame.h"
