/* SPDX-License-Identifier: Apache-2.0
 *
 * absent.h - for canaries that decide otherwise than hkv_decide_absent or hkv_decide_found: hkv_try as far as that decision.
 */
enum { CANARY_AGAIN, CANARY_DECIDED, CANARY_ABSENT, CANARY_FOUND };

SIMT_FN uint32_t canary_look(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    if (o->outcome != HKV_UNDECIDED) return CANARY_DECIDED;
    if (!hkv_try_buckets(t, a, o)) return CANARY_AGAIN;
    hkv_search(t, a, family, o, hkv_digests_of(a, o->first), hkv_digests_of(a, o->second));
    return o->entry == HKV_NONE ? CANARY_ABSENT : CANARY_FOUND;
}
