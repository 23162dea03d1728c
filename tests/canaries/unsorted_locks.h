/* SPDX-License-Identifier: Apache-2.0 */
/* Two buckets are locked in the order of the key's own candidates, and the second is waited for while the first is held. */
SIMT_FN bool unsorted_locks_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    if (o->outcome == HKV_UNDECIDED) {
        while (simt_cas_u32(a->lock + o->first, 0, 1, SIMT_ACQUIRE) != 0) simt_backoff(64);
        while (simt_cas_u32(a->lock + o->second, 0, 1, SIMT_ACQUIRE) != 0) simt_backoff(64);
        o->holds = HKV_HOLDS_BUCKETS;
    }
    return hkv_try(t, a, family, o);
}
#define CANARY canary_unsorted_locks
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_TRY unsorted_locks_try
#include "tests/canaries/frame.h"
