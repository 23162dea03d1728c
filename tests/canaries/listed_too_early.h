/* SPDX-License-Identifier: Apache-2.0 */
/* A place in the list is taken before it is known whether somebody leaves; when a slot was empty after all, the place stays and
 * nothing is written there. */
SIMT_FN void listed_too_early_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    hkv_end(t, a, o);
    if (o->outcome == HD_INSERTED) simt_st_u8(a->stage_flag + (o->i - a->first), HKV_LISTED);
}
#define CANARY canary_listed_too_early
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_END listed_too_early_end
#include "tests/canaries/frame.h"
