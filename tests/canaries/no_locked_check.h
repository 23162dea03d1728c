/* SPDX-License-Identifier: Apache-2.0 */
/* An entry whose key is away, because an updater owns it, is passed over: the key seems to be absent. */
SIMT_FN bool no_locked_check_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    if (o->outcome == HKV_UNDECIDED) hkv_search(t, a, family, o, hkv_digests_of(a, o->first), hkv_digests_of(a, o->second));
    o->at_first.busy = o->at_second.busy = false;
    return hkv_try(t, a, family, o);
}
#define CANARY canary_no_locked_check
#define CANARY_FAMILY HKV_UPDATE
#define CANARY_TRY no_locked_check_try
#include "tests/canaries/frame.h"
