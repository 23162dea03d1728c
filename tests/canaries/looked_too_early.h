/* SPDX-License-Identifier: Apache-2.0 */
/* The key is looked up before the bucket's lock is taken, and not again: two items may both find it absent. */
SIMT_FN bool looked_too_early_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    if (o->outcome == HKV_UNDECIDED && !o->looked) hkv_search(t, a, family, o, hkv_digests_of(a, o->first), hkv_digests_of(a, o->second));
    return hkv_try(t, a, family, o);
}
#define CANARY canary_looked_too_early
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_TRY looked_too_early_try
#include "tests/canaries/frame.h"
