/* SPDX-License-Identifier: Apache-2.0 */
/* The key is in place before its digest is. Whoever looks in between does not find it, and the end state shows nothing. */
SIMT_FN bool key_before_digest_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    uint32_t state = canary_look(t, a, family, o);
    if (state != CANARY_ABSENT) return state == CANARY_DECIDED || (state == CANARY_FOUND && hkv_try(t, a, family, o));
    hkv_place p = hkv_choose(t, a, o, (const uint64_t *)0, (const uint64_t *)0);
    uint8_t digest = simt_ld_u8(a->v.digest + p.entry);
    hkv_decide_absent(t, a, o, p);
    if (o->fresh) {
        simt_st_u8(a->v.digest + o->entry, digest); /* as if it had not been written yet */
        simt_strlx_u64(hkv_key_at(&a->v, o->entry), o->key);
        simt_st_u8(a->v.digest + o->entry, o->digest);
    }
    return true;
}
#define CANARY canary_key_before_digest
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_TRY key_before_digest_try
#include "tests/canaries/frame.h"
