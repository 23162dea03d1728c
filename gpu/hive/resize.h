/* SPDX-License-Identifier: Apache-2.0
 *
 * resize.h - the kernels of growth (section IV-C1): buckets are split, one tile for each, and the entries of the stash
 * are inserted again. These kernels run alone on the table.
 *
 * A key keeps its slot number: it stays, or goes to the same slot of the new bucket. So no slot of either bucket, and
 * no mask, is written twice.
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
SIMT_FN uint32_t hive_gather_bits(simt_tile t, uint32_t mine, uint32_t n)
{
    return simt_reduce_add_u32(t, mine << n * t.rank);
}

/* How many words of a tile's bucket say so, by what this lane's say; all tiles of the warp count at once. */
SIMT_FN uint32_t hive_count_words(simt_tile t, const bool says[HIVE_LANE_WORDS])
{
    uint32_t n = 0;
    SIMT_UNROLL
    for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) n += simt_popc(hive_votes(t, says[k]));
    return n;
}

/* A tile loads several buckets before it uses the first one. The tiles of a warp stay together. */
enum { HIVE_BUCKETS_AT_ONCE = 2 };

typedef struct hive_buckets_seen {
    uint64_t b[HIVE_BUCKETS_AT_ONCE];
    bool is[HIVE_BUCKETS_AT_ONCE]; /* there is such a one */
    uint64_t w[HIVE_BUCKETS_AT_ONCE][HIVE_LANE_WORDS];
} hive_buckets_seen;

/* Those from x on, which is the same for all of a warp: bucket x and one a stride further for its first tile. */
SIMT_FN void hive_see_buckets(simt_tile t, const hive_args *a, uint64_t x, hive_buckets_seen *s)
{
    SIMT_UNROLL
    for (uint32_t m = 0; m < HIVE_BUCKETS_AT_ONCE; m++) {
        s->b[m] = x + t.base / t.size + m * (gpu_threads() / t.size);
        s->is[m] = s->b[m] < a->b.last;
        if (s->is[m]) hive_load_share(t, &a->v, s->b[m], s->w[m]);
    }
    simt_join();
}
SIMT_FN uint64_t hive_first_buckets(simt_tile t, const hive_args *a)
{
    return a->b.first + gpu_thread() / 32 * (32 / t.size);
}
SIMT_FN uint64_t hive_buckets_stride(simt_tile t) { return HIVE_BUCKETS_AT_ONCE * (gpu_threads() / t.size); }

/* ---- Splitting ------------------------------------------------------------------------------- */

SIMT_FN void hive_split_bucket(simt_tile t, const hive_args *a, uint64_t from, uint64_t to,
                               const uint64_t w[HIVE_LANE_WORDS], bool open)
{
    const hive_view *v = &a->v;
    uint32_t n = hive_share(t, v), bytes = hive_word_bytes(v), stays = 0, goes = 0;
    uint8_t *here = hive_share_in(t, v, from), *there = hive_share_in(t, v, to);
    /* a key that moves over stays on its own way: no item ever went past an open bucket */
    uint64_t free_word = open ? hive_fresh(v) : hive_vacant(v);
    SIMT_UNROLL
    for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) {
        if (k >= n) break;
        bool key = hive_is_key(v, w[k]), over = key && hive_goes_over(v, hive_key_of(v, w[k]), from, to);
        hive_set_at(v, there + k * bytes, over ? w[k] : free_word);
        if (!key || over) hive_set_at(v, here + k * bytes, free_word);
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
    const hive_view *v = &a->v;
    simt_tile t = simt_tile_of(8);
    uint32_t n = hive_share(t, v);
    for (uint64_t x = hive_first_buckets(t, a); x < a->b.last; x += hive_buckets_stride(t)) {
        hive_buckets_seen s;
        hive_see_buckets(t, a, x, &s);
        SIMT_UNROLL
        for (uint32_t m = 0; m < HIVE_BUCKETS_AT_ONCE; m++) {
            bool fresh[HIVE_LANE_WORDS];
            SIMT_UNROLL
            for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) fresh[k] = s.is[m] && k < n && s.w[m][k] == hive_fresh(v);
            bool open = hive_count_words(t, fresh) > v->spare;
            if (s.is[m]) hive_split_bucket(t, a, s.b[m], a->round + s.b[m], s.w[m], open);
            simt_join();
        }
    }
}

/* ---- The stash ------------------------------------------------------------------------------- */

/* Slot e of the stash that was. */
SIMT_FN uint64_t hive_load_was(const hive_args *a, uint64_t e)
{
    uint8_t *p = (uint8_t *)a->was.word + e * hive_word_bytes(&a->v);
    if (a->v.half == 32) return simt_ldrlx_u64(hive_wide(p));
    return simt_ldrlx_u32(hive_narrow(p));
}

/* Its keys are inserted as the items of a distinct batch are; there is a place for each, if nowhere else in the new
 * stash. */
SIMT_FN void hive_restash_slots(const hive_args *a)
{
    simt_tile t = simt_tile_of(8);
    for (uint64_t e = a->b.first + gpu_thread() / t.size; e < a->b.last; e += gpu_threads() / t.size) {
        uint64_t word = hive_load_was(a, e);
        if (!hive_is_key(&a->v, word)) continue;
        simt_started(e);
        hive_one o = hive_item_of(a, e, a->b.op, hive_key_of(&a->v, word), hive_value_of(&a->v, word), HD_EITHER);
        while (!hive_try(t, a, &o)) simt_backoff(64);
    }
}

#endif
