/* SPDX-License-Identifier: Apache-2.0 */
/* What is held is let go by a relaxed store: nothing says that the entry was written before. */
SIMT_FN void no_release_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    (void)t;
    if (o->fresh) simt_strlx_u64(hkv_key_at(&a->v, o->entry), o->key);
    simt_ticket(o->i, o->outcome, o->gone_key, o->entry);
    if (o->holds == HKV_HOLDS_BUCKETS) simt_strlx_u32(a->lock + o->first, 0);
    hkv_deliver(a, o);
}
#define CANARY canary_no_release
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_END no_release_end
#include "tests/canaries/frame.h"
