/* SPDX-License-Identifier: Apache-2.0
 *
 * word.h - a table's words in kernel text: loads of one, and of what a lane has of a bucket; the changes that args.h
 * speaks of. A word has 64 bits, or 32 where keys and values have 16.
 */
#ifndef HIVE_WORD_H
#define HIVE_WORD_H

#include "gpu/hive/args.h"
#include "gpu/words.h"

enum { HIVE_LANE_WORDS = 4 /* of a bucket, at most, that a lane has */ };

/* ---- Where ----------------------------------------------------------------------------------- */

/* Entry e. */
SIMT_FN uint8_t *hive_at(const hive_view *v, uint64_t e)
{
    return (uint8_t *)hive_bucket(v, e / v->slots) + e % v->slots * hive_word_bytes(v);
}
SIMT_FN uint64_t *hive_wide(uint8_t *p) { return (uint64_t *)(void *)p; }
SIMT_FN uint32_t *hive_narrow(uint8_t *p) { return (uint32_t *)(void *)p; }

SIMT_FN uint32_t *hive_mask(const hive_view *v, uint64_t b)
{
    uint64_t at;
    const hive_segment *g = hive_segment_of(v, b, &at);
    return g->mask + at;
}
SIMT_FN uint32_t *hive_lock(const hive_view *v, uint64_t b)
{
    uint64_t at;
    const hive_segment *g = hive_segment_of(v, b, &at);
    return g->lock + at;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

SIMT_FN uint64_t hive_load_at(const hive_view *v, uint8_t *p)
{
    if (v->half == 32) return simt_ldrlx_u64(hive_wide(p));
    return simt_ldrlx_u32(hive_narrow(p));
}
SIMT_FN uint64_t hive_load(const hive_view *v, uint64_t e) { return hive_load_at(v, hive_at(v, e)); }

/* How many words of a bucket a lane of the tile has, and which entry the first of them is. */
SIMT_FN uint32_t hive_share(simt_tile t, const hive_view *v) { return v->slots / t.size; }
SIMT_FN uint64_t hive_share_at(simt_tile t, const hive_view *v, uint64_t b)
{
    return b * v->slots + t.rank * hive_share(t, v);
}

SIMT_FN uint64_t hive_load_narrow(uint8_t *p, bool acquires)
{
    return acquires ? simt_ldacq_u32(hive_narrow(p)) : simt_ldrlx_u32(hive_narrow(p));
}

/* n neighbouring words, 1, 2 or 4, relaxed, or acquired; those further on are 0. */
SIMT_FN void hive_load_words(const hive_view *v, uint8_t *p, uint32_t n, bool acquires, uint64_t w[HIVE_LANE_WORDS])
{
    w[0] = w[1] = w[2] = w[3] = 0;
    if (v->half == 32) {
        if (n == 1) w[0] = acquires ? simt_ldacq_u64(hive_wide(p)) : simt_ldrlx_u64(hive_wide(p));
        if (n >= 2) gpu_load_two(hive_wide(p), acquires, &w[0], &w[1]);
        if (n == 4) gpu_load_two(hive_wide(p + 16), acquires, &w[2], &w[3]);
    } else if (n == 4) {
        const simt_v4 *all = (const simt_v4 *)(const void *)p;
        simt_v4 four = acquires ? simt_ldacq_v4(all) : simt_ldrlx_v4(all);
        w[0] = four.x;
        w[1] = four.y;
        w[2] = four.z;
        w[3] = four.w;
    } else {
        w[0] = hive_load_narrow(p, acquires);
        if (n == 2) w[1] = hive_load_narrow(p + 4, acquires);
    }
}

/* This lane's words of a bucket that begins at `bucket`, or of bucket b; those that it does not have are 0. */
SIMT_FN uint8_t *hive_share_of(simt_tile t, const hive_view *v, uint8_t *bucket)
{
    return bucket + t.rank * hive_share(t, v) * hive_word_bytes(v);
}
SIMT_FN uint8_t *hive_share_in(simt_tile t, const hive_view *v, uint64_t b)
{
    return hive_share_of(t, v, (uint8_t *)hive_bucket(v, b));
}
SIMT_FN void hive_load_share_of(simt_tile t, const hive_view *v, uint8_t *bucket, bool acquires,
                                uint64_t w[HIVE_LANE_WORDS])
{
    hive_load_words(v, hive_share_of(t, v, bucket), hive_share(t, v), acquires, w);
}
SIMT_FN void hive_load_share_as(simt_tile t, const hive_view *v, uint64_t b, bool acquires, uint64_t w[HIVE_LANE_WORDS])
{
    hive_load_share_of(t, v, (uint8_t *)hive_bucket(v, b), acquires, w);
}
SIMT_FN void hive_load_share(simt_tile t, const hive_view *v, uint64_t b, uint64_t w[HIVE_LANE_WORDS])
{
    hive_load_share_as(t, v, b, false, w);
}

/* Which lanes of a tile of less than a warp say so, by a ballot of the whole warp, whose lanes are all together. */
SIMT_FN uint32_t hive_votes(simt_tile t, bool p)
{
    return simt_ballot(simt_tile_of(32), p) >> t.base & ((1u << t.size) - 1);
}

/* The first free one of a lane's n words; n: there is none. */
SIMT_FN uint32_t hive_free_word(const hive_view *v, const uint64_t w[HIVE_LANE_WORDS], uint32_t n)
{
    uint32_t at = n;
    SIMT_UNROLL
    for (uint32_t k = HIVE_LANE_WORDS; k-- > 0;)
        if (k < n && hive_is_free(v, w[k])) at = k;
    return at;
}

/* Word j of them; of none, any. */
SIMT_FN uint64_t hive_pick(const uint64_t w[HIVE_LANE_WORDS], uint32_t j)
{
    uint64_t x = w[0];
    SIMT_UNROLL
    for (uint32_t m = 1; m < HIVE_LANE_WORDS; m++)
        if (m == j) x = w[m];
    return x;
}

/* ---- Changes, by one lane -------------------------------------------------------------------- */

/* By its owner. Released: a slot shows that its key has left after it shows where the key is. */
SIMT_FN void hive_put_at(const hive_view *v, uint8_t *p, uint64_t word)
{
    if (v->half == 32)
        simt_strel_u64(hive_wide(p), word);
    else
        simt_strel_u32(hive_narrow(p), (uint32_t)word);
}
SIMT_FN void hive_put(const hive_view *v, uint64_t e, uint64_t word) { hive_put_at(v, hive_at(v, e), word); }

/* Relaxed: for words that no other item reads now, or that say all there is to say. */
SIMT_FN void hive_set_at(const hive_view *v, uint8_t *p, uint64_t word)
{
    if (v->half == 32)
        simt_strlx_u64(hive_wide(p), word);
    else
        simt_strlx_u32(hive_narrow(p), (uint32_t)word);
}
SIMT_FN void hive_set(const hive_view *v, uint64_t e, uint64_t word) { hive_set_at(v, hive_at(v, e), word); }

/* Of a word that says all there is to say: nothing else is to be seen with it. */
SIMT_FN bool hive_cas_at(const hive_view *v, uint8_t *p, uint64_t from, uint64_t to)
{
    if (v->half == 32) return simt_cas_u64(hive_wide(p), from, to, SIMT_RELAXED) == from;
    return simt_cas_u32(hive_narrow(p), (uint32_t)from, (uint32_t)to, SIMT_RELAXED) == (uint32_t)from;
}
SIMT_FN bool hive_cas(const hive_view *v, uint64_t e, uint64_t from, uint64_t to)
{
    return hive_cas_at(v, hive_at(v, e), from, to);
}

/* Entry e says VACANT already, or says it now: others may have it. Pairs with the acquire of hive_take. */
SIMT_FN void hive_open(const hive_args *a, uint64_t e)
{
    const hive_view *v = &a->v;
    if (v->masks) simt_or_u32(hive_mask(v, e / v->slots), 1u << e % v->slots, SIMT_RELEASE);
    if (e >= hive_capacity(v)) simt_add_u64(a->stashed, UINT64_MAX, SIMT_RELEASE);
}

/* A claim, or a hole, is given back. */
SIMT_FN void hive_give_back(const hive_args *a, uint64_t e)
{
    hive_put(&a->v, e, hive_vacant(&a->v));
    hive_open(a, e);
}

/* Entry e, where `from` was seen free, becomes `to`; false: another item has it. */
SIMT_FN bool hive_take(const hive_args *a, uint64_t e, uint64_t from, uint64_t to)
{
    const hive_view *v = &a->v;
    uint32_t bit = 1u << e % v->slots;
    if (!v->masks) return hive_cas(v, e, from, to);
    if ((simt_and_u32(hive_mask(v, e / v->slots), ~bit, SIMT_ACQUIRE) & bit) == 0) return false;
    hive_put(v, e, to);
    return true;
}

#endif
