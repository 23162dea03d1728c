/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - kernels over a table at rest: hd_check, and the end of hd_load, so that no table is copied to the host for
 * them. A lane takes a slot. A slot is asked in the order of the rules, as the reference does (ref/ovs/check.c), and
 * the first slot that breaks one is reported.
 */
#ifndef OVS_CHECK_H
#define OVS_CHECK_H

#include "gpu/ovs/check_args.h"
#include "gpu/ovs/digest.h"

/* The first slot of bucket b that has the key; OVS_SLOTS: none. *fresh: the bucket is open. */
SIMT_FN uint32_t ovs_slot_of_key(const ovs_view *v, uint64_t b, uint64_t key, bool *fresh)
{
    uint64_t *bucket = ovs_bucket(v, b);
    uint32_t slot = OVS_SLOTS;
    *fresh = false;
    SIMT_ROLLED
    for (uint32_t s = OVS_SLOTS; s-- > 0;) {
        uint64_t word = simt_ldrlx_u64(bucket + s);
        if (ovs_key_of(word) == key) slot = s;
        *fresh = *fresh || word == ovs_fresh();
    }
    return slot;
}

SIMT_FN uint32_t ovs_check_key(const ovs_view *v, uint64_t e, uint64_t key)
{
    uint64_t h = ovs_hash(v, key), own = e / OVS_SLOTS;
    if (ovs_segment_of(v, h) != own >> v->line_bits) return OVS_RULE_SEGMENT;
    uint64_t steps = ovs_step_of(v, h, own & (ovs_lines(v) - 1));
    if (steps >= ovs_way(v)) return OVS_RULE_WAY;
    for (uint64_t step = 0; step <= steps; step++) {
        bool fresh;
        uint64_t b = ovs_way_bucket(v, h, step);
        uint32_t slot = ovs_slot_of_key(v, b, key, &fresh);
        if (slot < OVS_SLOTS) return b * OVS_SLOTS + slot == e ? OVS_RULES : OVS_RULE_TWICE;
        if (fresh) break;
    }
    return OVS_RULE_OPEN;
}

SIMT_FN uint32_t ovs_check_word(const ovs_view *v, uint64_t e, uint64_t word)
{
    if (word == ovs_fresh() || word == ovs_vacant()) return OVS_RULES;
    if (ovs_is_free(word)) return OVS_RULE_FREE;
    return ovs_is_key(word) ? ovs_check_key(v, e, ovs_key_of(word)) : OVS_RULE_CLAIMED;
}

SIMT_FN uint32_t ovs_check_digest(const ovs_view *v, uint64_t e, uint64_t word)
{
    uint64_t slots = ovs_segment_slots(v);
    uint8_t *segment = ovs_digests_at(v, e / slots);
    if (!segment) return OVS_RULES;
    uint32_t is = ovs_digest_there(segment, e % slots);
    return is == ovs_digest_for(v, word, is) ? OVS_RULES : OVS_RULE_DIGEST;
}

SIMT_FN void ovs_check_slots(const ovs_check_args *a)
{
    for (uint64_t e = gpu_thread(); e < ovs_places(&a->v); e += gpu_threads()) {
        uint64_t word = simt_ldrlx_u64(ovs_at(&a->v, e));
        uint32_t wrong = ovs_check_word(&a->v, e, word);
        if (wrong == OVS_RULES) wrong = ovs_check_digest(&a->v, e, word);
        if (wrong != OVS_RULES) simt_max_u64(a->first, ~(OVS_RULES * e + wrong), SIMT_RELAXED);
    }
}

/* The table's words have been written, each slot by itself. No bucket that a key has passed is open from now on. */
SIMT_FN void ovs_shut_passed(const ovs_check_args *a)
{
    const ovs_view *v = &a->v;
    for (uint64_t e = gpu_thread(); e < ovs_places(v); e += gpu_threads()) {
        uint64_t word = simt_ldrlx_u64(ovs_at(v, e)), h = ovs_hash(v, ovs_key_of(word));
        uint64_t steps = ovs_is_key(word) ? ovs_step_of(v, h, e / OVS_SLOTS & (ovs_lines(v) - 1)) : 0;
        SIMT_ROLLED
        for (uint64_t s = 0; s < steps * OVS_SLOTS; s++) {
            uint64_t *slot = ovs_bucket(v, ovs_way_bucket(v, h, s / OVS_SLOTS)) + s % OVS_SLOTS;
            if (simt_ldrlx_u64(slot) == ovs_fresh()) simt_strlx_u64(slot, ovs_vacant());
        }
    }
}

/* After that: the digests of all slots. */
SIMT_FN void ovs_renew_digests(const ovs_check_args *a)
{
    for (uint64_t e = gpu_thread(); e < ovs_places(&a->v); e += gpu_threads())
        ovs_renew_digest(&a->v, e, simt_ldrlx_u64(ovs_at(&a->v, e)));
}

#endif
