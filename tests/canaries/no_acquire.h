/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is taken by a relaxed compare-and-swap: what its last holder wrote need not be seen. */
SIMT_FN bool no_acquire_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    if (o->outcome == HKV_UNDECIDED && o->holds == HKV_HOLDS_NOTHING) {
        if (simt_cas_u32(a->lock + o->first, 0, 1, SIMT_RELAXED) != 0) return false;
        o->holds = HKV_HOLDS_BUCKETS;
    }
    return hkv_try(t, a, family, o);
}
#define CANARY canary_no_acquire
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_TRY no_acquire_try
#include "tests/canaries/frame.h"
