/* SPDX-License-Identifier: Apache-2.0 */
/* lfu's sum does not stop at its largest value: the most used entry of all becomes the least. */
SIMT_FN void score_wraps_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    if (o->outcome == HD_UPDATED && o->score == UINT64_MAX) simt_st_u64(hkv_score_at(&a->v, o->entry), hkv_score_in(a, o->i).given - 1);
    hkv_end(t, a, o);
}
#define CANARY canary_score_wraps
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_END score_wraps_end
#include "tests/canaries/frame.h"
