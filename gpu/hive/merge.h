/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.h - the kernels of shrinking (section IV-C2): bucket round + b goes back into bucket b, one tile for each pair.
 * An earlier kernel finds the pairs with more keys than one bucket holds. One lane each moves keys away from these, and
 * they are checked again. These kernels run alone on the table.
 */
#ifndef HIVE_MERGE_H
#define HIVE_MERGE_H

#include "gpu/hive/resize.h"

/* The first free slot of bucket b, and what it says; HIVE_NOWHERE. */
SIMT_FN uint64_t hive_free_slot(const hive_view *v, uint64_t b, uint64_t *word)
{
    SIMT_ROLLED
    for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++) {
        *word = hive_load(v, e);
        if (hive_is_free(v, *word)) return e;
    }
    return HIVE_NOWHERE;
}

/* ---- Which pairs are too many ---------------------------------------------------------------- */

/* Of the bucket's slots, a bit for each that holds a key; and for each that is fresh. */
SIMT_FN uint32_t hive_key_bits(simt_tile t, const hive_args *a, uint64_t b, uint64_t w[HIVE_LANE_WORDS],
                               uint32_t *fresh)
{
    const hive_view *v = &a->v;
    uint32_t n = hive_share(t, v), keys = 0, never = 0;
    hive_load_share(t, v, b, w);
    SIMT_UNROLL
    for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) {
        if (k >= n) break;
        keys |= (uint32_t)hive_is_key(v, w[k]) << k;
        never |= (uint32_t)(w[k] == hive_fresh(v)) << k;
    }
    *fresh = hive_gather_bits(t, never, n);
    return hive_gather_bits(t, keys, n);
}

/* How many keys bucket b and its partner have. */
SIMT_FN uint32_t hive_keys_of_pair(simt_tile t, const hive_args *a, uint64_t b)
{
    uint64_t w[HIVE_LANE_WORDS];
    uint32_t fresh, low = hive_key_bits(t, a, b, w, &fresh), high = hive_key_bits(t, a, a->round + b, w, &fresh);
    return simt_popc(low) + simt_popc(high);
}

/* One more than the last of [first, last) whose pair has too many keys; 0: none. */
SIMT_FN void hive_measure_pairs(const hive_args *a)
{
    simt_tile t = simt_tile_of(8);
    for (uint64_t b = a->b.first + gpu_thread() / t.size; b < a->b.last; b += gpu_threads() / t.size) {
        bool crowded = hive_keys_of_pair(t, a, b) > a->v.slots;
        if (crowded && t.rank == 0) {
            uint64_t last = simt_ldrlx_u64(a->crowded);
            while (last < b + 1) {
                uint64_t was = simt_cas_u64(a->crowded, last, b + 1, SIMT_RELAXED);
                if (was == last) break;
                last = was;
            }
        }
        simt_join();
    }
}

/* ---- Pairs that fit -------------------------------------------------------------------------- */

/* The n-th bit of those that are set, from 0. */
SIMT_FN uint32_t hive_bit_at(uint32_t bits, uint32_t n)
{
    for (; n; n--) bits &= bits - 1;
    return simt_ffs(bits) - 1;
}

/* Keys come into the lower bucket's free slots, each to that of its rank. */
SIMT_FN void hive_merge_pair(simt_tile t, const hive_args *a, uint64_t b, uint64_t high)
{
    const hive_view *v = &a->v;
    uint64_t w[HIVE_LANE_WORDS], ours[HIVE_LANE_WORDS];
    uint32_t all = (uint32_t)((1ull << v->slots) - 1), n = hive_share(t, v), fresh, their_fresh, first = t.rank * n;
    uint32_t keys = hive_key_bits(t, a, b, ours, &fresh), coming = hive_key_bits(t, a, high, w, &their_fresh),
             room = ~keys & all, taken = 0;
    /* an item may have gone past one of them */
    bool shut = simt_popc(fresh) <= v->spare || simt_popc(their_fresh) <= v->spare;
    for (uint32_t k = 0, left = simt_popc(coming); k < left; k++) taken |= 1u << hive_bit_at(room, k);
    SIMT_UNROLL
    for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) {
        if (k >= n) break;
        uint32_t s = first + k, bit = 1u << s;
        if (coming & bit) hive_set(v, b * v->slots + hive_bit_at(room, simt_popc(coming & (bit - 1))), w[k]);
        if (shut && (fresh & ~taken & bit)) hive_set(v, b * v->slots + s, hive_vacant(v));
    }
    simt_join();
    if (v->masks && t.rank == 0) simt_strlx_u32(hive_mask(v, b), room & ~taken);
    simt_join();
}

SIMT_FN void hive_merge_pairs(const hive_args *a)
{
    simt_tile t = simt_tile_of(8);
    for (uint64_t b = a->b.first + gpu_thread() / t.size; b < a->b.last; b += gpu_threads() / t.size)
        hive_merge_pair(t, a, b, a->round + b);
}

/* ---- Pairs that do not ----------------------------------------------------------------------- */

/* The key `word`, of entry e, has a copy in bucket b, if that has room. Others bring keys there, too: a slot may be
 * gone by the time. */
SIMT_FN bool hive_copy_to(const hive_args *a, uint64_t b, uint64_t word)
{
    uint64_t seen, e;
    while ((e = hive_free_slot(&a->v, b, &seen)) != HIVE_NOWHERE) {
        if (hive_take(a, e, seen, word)) return true;
        simt_backoff(32);
    }
    return false;
}

/* The key in entry e goes on to the first bucket of its way but `except` that has room; false: there is none. */
SIMT_FN bool hive_goes_on(const hive_args *a, uint64_t e, uint64_t word, uint64_t except)
{
    const hive_view *v = &a->v;
    uint64_t key = hive_key_of(v, word), b;
    bool there = false;
    SIMT_ROLLED
    for (uint32_t nth = 0; !there && (b = hive_later_candidate(a, key, e / v->slots, nth)) != HIVE_NOWHERE; nth++)
        there = b != except && hive_copy_to(a, b, word);
    if (!there && !hive_count_in(simt_tile_of(1), a)) return false;
    b = hive_ring(v, hive_hash(v, key));
    SIMT_ROLLED
    for (uint64_t k = 0; k < v->stash_buckets && !there; k++, b = hive_ring_next(v, b))
        there = hive_copy_to(a, b, word);
    if (there) /* it is: the stash takes fewer than it has slots, and none leaves it now. GCOVR_EXCL_BR_LINE */
        hive_give_back(a, e);
    else
        hive_count_out(simt_tile_of(1), a); /* GCOVR_EXCL_LINE */
    return there;
}

/* Nothing of it is fresh any more, and keys go on while there are too many. How many have. */
SIMT_FN uint32_t hive_thin_out(const hive_args *a, uint64_t b, uint64_t except, uint32_t surplus)
{
    const hive_view *v = &a->v;
    uint32_t gone = 0;
    SIMT_ROLLED
    for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++) {
        uint64_t word = hive_load(v, e);
        if (word == hive_fresh(v)) hive_cas(v, e, word, hive_vacant(v)); /* fails if a key has come */
        if (gone < surplus && hive_is_key(v, word)) gone += hive_goes_on(a, e, word, except);
    }
    return gone;
}

/* Of [first, last) those with too many keys, by a lane for each. Keys come to them meanwhile, from others, which is
 * seen when they are measured again. */
SIMT_FN void hive_thin_pairs(const hive_args *a)
{
    simt_tile t = simt_tile_of(8);
    for (uint64_t b = a->b.first + gpu_thread() / t.size; b < a->b.last; b += gpu_threads() / t.size) {
        uint64_t high = a->round + b;
        uint32_t keys = hive_keys_of_pair(t, a, b), gone = 0;
        if (keys > a->v.slots && t.rank == 0) {
            gone = hive_thin_out(a, high, b, keys - a->v.slots);
            gone += hive_thin_out(a, b, high, keys - a->v.slots - gone);
            if (gone) simt_add_u64(a->crowded + 1, gone, SIMT_RELAXED);
        }
        simt_join();
    }
}

#endif
