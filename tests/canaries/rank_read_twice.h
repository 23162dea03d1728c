/* SPDX-License-Identifier: Apache-2.0 */
/* An item that waits for a far value reads how many wait before it, and adds itself to them, in two steps: two items get one place, and one
 * of them no value. */
SIMT_FN void rank_read_twice_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    hkv_args b = *a;
    b.fetch_entry = (uint64_t *)0;
    hkv_end(t, &b, o);
    bool waits = o->entry != HKV_NONE && !hkv_is_near(&a->v, o->entry);
    simt_st_u64(a->fetch_entry + o->i, waits ? o->entry : HKV_NONE);
    if (!waits) return;
    uint32_t *count = a->fetch_count + hkv_fetch_bin(a, o->entry), rank = simt_ldrlx_u32(count);
    simt_st_u32(a->fetch_rank + o->i, rank);
    simt_strlx_u32(count, rank + 1);
}
#define CANARY canary_rank_read_twice
#define CANARY_FAMILY HKV_LOOKUP
#define CANARY_END rank_read_twice_end
#include "tests/canaries/frame.h"
