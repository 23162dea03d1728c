/* SPDX-License-Identifier: Apache-2.0
 *
 * resize.h - a table that grows (section IV-C1): buckets are split, a tile for each, and what was in the stash is brought in again. These are alone on the
 * table.
 *
 * A key keeps its slot's number: it stays, or is in the same slot of the new bucket, so that no slot of either is written twice, nor any mask.
 */
#ifndef HIVE_RESIZE_H
#define HIVE_RESIZE_H

#include "gpu/hive/steps.h"

/* Whether the key, which was in bucket `from`, is in `to` now: which of the two its way has first. */
SIMT_FN bool hive_goes_over(const hive_view *v, uint64_t key, uint64_t from, uint64_t to)
{
    uint64_t h = hive_hash(v, key);
    for (uint32_t i = 0; i < v->hashes; i++) {
        uint64_t c = hive_candidate(v, h, i);
        if (c == from) return false;
        if (c == to) return true;
    }
    return false;
}

/* Bits of the bucket's slots, from each lane's share of n. */
SIMT_FN uint32_t hive_gather_bits(simt_tile t, uint32_t mine, uint32_t n) { return simt_reduce_add_u32(t, mine << n * t.rank); }

SIMT_FN void hive_split_bucket(simt_tile t, const hive_args *a, uint64_t from, uint64_t to)
{
    const hive_view *v = &a->v;
    uint64_t w[HIVE_LANE_WORDS];
    uint32_t n = hive_share(t, v), stays = 0, goes = 0, fresh = 0;
    hive_load_share(t, v, from, w);
    SIMT_UNROLL
    for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) fresh += k < n && w[k] == hive_fresh(v);
    bool open = simt_reduce_add_u32(t, fresh) > v->spare;
    uint64_t nobody = open ? hive_fresh(v) : hive_vacant(v); /* who has left lies on its own way: nobody was ever turned away from an open bucket */
    SIMT_UNROLL
    for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) {
        if (k >= n) break;
        bool key = hive_is_key(v, w[k]), over = key && hive_goes_over(v, hive_key_of(v, w[k]), from, to);
        hive_set(v, hive_share_at(t, v, to) + k, over ? w[k] : nobody);
        if (!key || over) hive_set(v, hive_share_at(t, v, from) + k, nobody);
        stays |= (uint32_t)(key && !over) << k;
        goes |= (uint32_t)over << k;
    }
    simt_join();
    if (!v->masks) return;
    stays = hive_gather_bits(t, stays, n);
    goes = hive_gather_bits(t, goes, n);
    uint32_t all = (uint32_t)((1ull << v->slots) - 1);
    if (t.rank == 0) {
        simt_strlx_u32(hive_mask(v, from), ~stays & all);
        simt_strlx_u32(hive_mask(v, to), ~goes & all);
        simt_strlx_u32(hive_lock(v, to), 0);
    }
    simt_join();
}

SIMT_FN void hive_split_buckets(const hive_args *a)
{
    simt_tile t = simt_tile_of(8);
    for (uint64_t b = a->first + hive_thread() / t.size; b < a->last; b += hive_threads() / t.size) hive_split_bucket(t, a, b, a->round + b);
}

/* Slot e of the stash that was. */
SIMT_FN uint64_t hive_load_was(const hive_args *a, uint64_t e)
{
    uint8_t *p = (uint8_t *)a->was.word + e * hive_word_bytes(&a->v);
    if (a->v.half == 32) return simt_ldrlx_u64(hive_wide(p));
    return simt_ldrlx_u32(hive_narrow(p));
}

/* Its keys are inserted as the items of a distinct batch are; there is a place for each, if nowhere else in the new stash. */
SIMT_FN void hive_restash_slots(const hive_args *a)
{
    simt_tile t = simt_tile_of(8);
    for (uint64_t e = a->first + hive_thread() / t.size; e < a->last; e += hive_threads() / t.size) {
        uint64_t word = hive_load_was(a, e);
        if (!hive_is_key(&a->v, word)) continue;
        simt_started(e);
        hive_one o = hive_item_of(a, e, a->op, hive_key_of(&a->v, word), hive_value_of(&a->v, word), HD_EITHER);
        while (!hive_try(t, a, &o)) simt_backoff(64);
    }
}

#endif
