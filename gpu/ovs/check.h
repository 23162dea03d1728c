/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - kernels over a table at rest: hd_check, and the end of hd_load, so that no table is copied to the host for
 * them. A tile has a lane for each slot of a bucket, and reads the words, or key words, of a bucket at a time, so that
 * the bus carries whole sectors. Each slot is checked against the rules in their order, as the reference does
 * (ref/ovs/check.c). The first slot that breaks one is reported.
 */
#ifndef OVS_CHECK_H
#define OVS_CHECK_H

#include "gpu/ovs/check_args.h"
#include "gpu/ovs/copies.h"
#include "gpu/ovs/digest.h"

/* The word, or key word, of the lane's slot of bucket b. */
SIMT_FN uint64_t ovs_line_word(simt_tile t, const ovs_view *v, uint64_t b)
{
    return simt_ldrlx_u64(ovs_bucket(v, b) + t.rank);
}

/* What is wrong with a word of bucket b by itself; OVS_RULES: nothing. *steps: how many buckets its key has passed. */
SIMT_FN uint32_t ovs_check_word(const ovs_view *v, uint64_t b, uint64_t word, uint64_t *steps)
{
    uint64_t h = ovs_hash(v, ovs_key_in(v, word));
    *steps = 0;
    if (word == ovs_fresh_in(v) || word == ovs_vacant_in(v)) return OVS_RULES;
    if (ovs_is_free_in(v, word)) return OVS_RULE_FREE;
    if (!ovs_is_key_in(v, word)) return OVS_RULE_CLAIMED;
    if (ovs_segment_of(v, h) != b >> v->line_bits) return OVS_RULE_SEGMENT;
    *steps = ovs_step_of(v, h, b & (ovs_lines(v) - 1));
    return *steps < ovs_way(v) ? OVS_RULES : OVS_RULE_WAY;
}

/* Whether one of the first buckets of a key's way has the key, too, or ends its search. */
SIMT_FN uint32_t ovs_check_way(simt_tile t, const ovs_view *v, uint64_t key, uint64_t steps)
{
    uint64_t h = ovs_hash(v, key);
    SIMT_ROLLED
    for (uint64_t step = 0; step < steps; step++) {
        uint64_t word = ovs_line_word(t, v, ovs_way_bucket(v, h, step));
        simt_join();
        if (simt_any(t, ovs_key_in(v, word) == key)) return OVS_RULE_TWICE;
        if (simt_any(t, word == ovs_fresh_in(v))) return OVS_RULE_OPEN;
    }
    return OVS_RULES;
}

SIMT_FN uint32_t ovs_check_digest(const ovs_view *v, uint64_t e, uint64_t word)
{
    uint64_t slots = ovs_segment_slots(v);
    uint8_t *segment = ovs_digests_at(v, e / slots);
    if (!segment) return OVS_RULES;
    uint32_t is = ovs_digest_there(segment, e % slots);
    return is == ovs_digest_for(v, word, is) ? OVS_RULES : OVS_RULE_DIGEST;
}

SIMT_FN void ovs_check_rows(const ovs_check_args *a)
{
    const ovs_view *v = &a->v;
    uint64_t sum = 0, rows = ovs_has_ranges(v) ? ovs_segments(v) : 0;
    for (uint64_t r = gpu_thread(); r < rows; r += gpu_threads()) {
        int wrong = ovs_row_wrong(v, r);
        if (wrong == OVS_ROW_RULES && simt_ld_u64(v->row + r) != simt_ld_u64(a->row_here + r)) wrong = OVS_ROW_COPY;
        if (wrong != OVS_ROW_RULES) simt_max_u64(a->first_row, ~(OVS_ROW_RULES * r + (uint64_t)wrong), SIMT_RELAXED);
        sum += ovs_row_share(v, r);
    }
    simt_join();
    if (sum) simt_add_u64(a->sum, sum, SIMT_RELAXED);
    simt_join();
}

/* Whether a slot on the way of the key has this word. Slots with digests are read like others. */
SIMT_FN bool ovs_has_word(const ovs_view *v, uint64_t word)
{
    uint64_t h = ovs_hash(v, ovs_key_of(word));
    bool found = false;
    SIMT_ROLLED
    for (uint32_t k = 0; k < ovs_way(v) * OVS_SLOTS && !found; k++)
        found = simt_ldrlx_u64(ovs_bucket(v, ovs_way_bucket(v, h, k / OVS_SLOTS)) + k % OVS_SLOTS) == word;
    return found;
}

SIMT_FN void ovs_check_copies(const ovs_check_args *a)
{
    const ovs_view *v = &a->v;
    for (uint64_t i = gpu_thread(); i < ovs_copy_words(v); i += gpu_threads()) {
        uint64_t copy = simt_ldrlx_u64(v->copy + i);
        int wrong = ovs_copy_wrong(v, i, copy);
        if (wrong == OVS_COPY_RULES && copy && !ovs_has_word(v, ~copy)) wrong = OVS_COPY_STALE;
        if (wrong != OVS_COPY_RULES) simt_max_u64(a->first_copy, ~(OVS_COPY_RULES * i + (uint64_t)wrong), SIMT_RELAXED);
    }
    simt_join();
}

SIMT_FN void ovs_check_slots(const ovs_check_args *a)
{
    const ovs_view *v = &a->v;
    simt_tile t = simt_tile_of(ovs_slots(v));
    ovs_check_rows(a);
    ovs_check_copies(a);
    for (uint64_t b = gpu_thread() / t.size; b < ovs_buckets(v); b += gpu_threads() / t.size) {
        uint64_t steps, word = ovs_line_word(t, v, b), key = ovs_key_in(v, word), e = b * t.size + t.rank;
        uint32_t wrong = ovs_check_word(v, b, word, &steps);
        simt_join();
        for (uint32_t left = simt_ballot(t, wrong == OVS_RULES && steps > 0); left; left &= left - 1) {
            uint32_t lane = simt_ffs(left) - 1,
                     found = ovs_check_way(t, v, simt_shfl_u64(t, key, lane), simt_shfl_u64(t, steps, lane));
            if (t.rank == lane) wrong = found;
            simt_join();
        }
        uint32_t first = simt_ffs(simt_match_u64(t, key)) - 1;
        if (wrong == OVS_RULES && ovs_is_key_in(v, word) && first != t.rank) wrong = OVS_RULE_TWICE;
        if (wrong == OVS_RULES) wrong = ovs_check_digest(v, e, word);
        if (wrong != OVS_RULES) simt_max_u64(a->first, ~(OVS_RULES * e + wrong), SIMT_RELAXED);
        simt_join();
    }
}

/* The table's words have been written, each slot by itself. No bucket that a key has passed is open from now on. */
SIMT_FN void ovs_shut_passed(const ovs_check_args *a)
{
    const ovs_view *v = &a->v;
    simt_tile t = simt_tile_of(ovs_slots(v));
    for (uint64_t b = gpu_thread() / t.size; b < ovs_buckets(v); b += gpu_threads() / t.size) {
        uint64_t word = ovs_line_word(t, v, b), h = ovs_hash(v, ovs_key_in(v, word));
        uint64_t steps = ovs_is_key_in(v, word) ? ovs_step_of(v, h, b & (ovs_lines(v) - 1)) : 0;
        simt_join();
        for (uint32_t left = simt_ballot(t, steps > 0); left; left &= left - 1) {
            uint32_t lane = simt_ffs(left) - 1;
            uint64_t of = simt_shfl_u64(t, h, lane), passed = simt_shfl_u64(t, steps, lane);
            for (uint64_t step = 0; step < passed; step++) {
                uint64_t *slot = ovs_bucket(v, ovs_way_bucket(v, of, step)) + t.rank;
                if (simt_ldrlx_u64(slot) == ovs_fresh_in(v)) simt_strlx_u64(slot, ovs_vacant_in(v));
                simt_join();
            }
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
