/* SPDX-License-Identifier: Apache-2.0 */
/* Evicted entries are listed, refused ones are lost: their caller has them nowhere. */
SIMT_FN void refused_unlisted_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    hkv_end(t, a, o);
    if (o->outcome == HD_REFUSED) simt_st_u8(a->stage_flag + (o->i - a->first), HKV_NOT_LISTED);
}
#define CANARY canary_refused_unlisted
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_END refused_unlisted_end
#include "tests/canaries/frame.h"
