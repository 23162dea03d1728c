/* SPDX-License-Identifier: Apache-2.0 */
/* A miss delivers a pointer too: that of whatever lies first in its bucket. */
SIMT_FN void stale_pointer_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    hkv_end(t, a, o);
    if (o->outcome == HD_MISS) simt_st_u64(a->ptr + o->i, (uint64_t)(uintptr_t)hkv_value(&a->v, hkv_entry(&a->v, o->first, 0)));
}
#define CANARY canary_stale_pointer
#define CANARY_FAMILY HKV_LOOKUP
#define CANARY_END stale_pointer_end
#include "tests/canaries/frame.h"
