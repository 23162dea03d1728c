/* SPDX-License-Identifier: Apache-2.0 */
/* A lookup beside updaters owns nothing: it copies the value and then sees whether the key is still in place. It is, after an
 * updater has taken it away and put it back. */
SIMT_FN bool optimistic_find_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    (void)family;
    if (o->outcome != HKV_UNDECIDED) return true;
    hkv_search(t, a, HKV_UPDATE, o, hkv_digests_of(a, o->first), hkv_digests_of(a, o->second));
    if (o->entry == HKV_NONE && (o->at_first.busy || o->at_second.busy)) return false;
    hkv_decide_lookup(t, a, o);
    hkv_move(t, a, o, false);
    if (o->entry != HKV_NONE && simt_ldrlx_u64(hkv_key_at(&a->v, o->entry)) != o->key) {
        o->outcome = HKV_UNDECIDED;
        return false;
    }
    simt_ticket(o->i, o->outcome, 0, o->entry);
    return true;
}
SIMT_FN void optimistic_find_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    (void)t;
    if (o->outcome == HD_RESERVED) simt_ticket(o->i, o->outcome, 0, o->entry);
    hkv_deliver(a, o);
}
#define CANARY canary_optimistic_find
#define CANARY_FAMILY HKV_LOOKUP
#define CANARY_TRY optimistic_find_try
#define CANARY_MOVE(t, a, o, streaming)
#define CANARY_END optimistic_find_end
#include "tests/canaries/frame.h"
