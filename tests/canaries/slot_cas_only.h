/* SPDX-License-Identifier: Apache-2.0 */
/* No bucket lock: a newcomer claims its slot by a compare-and-swap of the key. The slot is its own then, but another may have
 * claimed another slot for the same key. */
SIMT_FN bool slot_cas_only_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    if (o->outcome != HKV_UNDECIDED) return true;
    hkv_search(t, a, family, o, hkv_digests_of(a, o->first), hkv_digests_of(a, o->second));
    if (o->entry != HKV_NONE) {
        if (!hkv_try_entry(t, a, o)) return false;
        hkv_decide_found(t, a, o, hkv_rule_of(a, o->i), false);
        return true;
    }
    hkv_place p = hkv_choose(t, a, o, (const uint64_t *)0, (const uint64_t *)0);
    if (p.entry == HKV_NONE) return false;
    uint64_t gone = p.empty ? HD_KEY_EMPTY : simt_ldrlx_u64(hkv_key_at(&a->v, p.entry));
    if (gone == HD_KEY_LOCKED || simt_cas_u64(hkv_key_at(&a->v, p.entry), gone, HD_KEY_LOCKED, SIMT_ACQUIRE) != gone) return false;
    hkv_decide_absent(t, a, o, p);
    if (!o->fresh) simt_strel_u64(hkv_key_at(&a->v, p.entry), gone);
    o->gone_key = p.empty ? 0 : gone;
    return true;
}
#define CANARY canary_slot_cas_only
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_TRY slot_cas_only_try
#include "tests/canaries/frame.h"
