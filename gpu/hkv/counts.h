/* SPDX-License-Identifier: Apache-2.0
 *
 * counts.h - counters of keys, for policies that ask how often they came (HD_COUNTS; ref/hkv/queues.c is the reference,
 * layout.h has the shape). An item that counts, or asks, holds its buckets.
 */
#ifndef HKV_COUNTS_H
#define HKV_COUNTS_H

#include "gpu/hkv/item.h"
#include "gpu/hkv/spare.h"

SIMT_FN bool hkv_counts_keys(const hkv_args *a) { return (hkv_keeps_order(a) & HD_COUNTS) != 0; }

/* One lane: counts a use of the key in bucket b. */
SIMT_FN void hkv_count_in(const hkv_args *a, uint64_t b, uint64_t key)
{
    uint32_t words = hkv_count_words(a->v.slots);
    uint64_t h = hkv_count_hash(key), *counted = a->v.count + b * words,
             *group = a->v.count + hkv_count_at(&a->v, b, h);
    for (uint32_t row = 0; row < HKV_COUNT_ROWS; row++) {
        uint32_t shift = hkv_count_shift(h, row);
        uint64_t word = simt_ldrlx_u64(group + row);
        if ((word >> shift & HKV_COUNT_MOST) < HKV_COUNT_MOST) simt_strlx_u64(group + row, word + (1ull << shift));
    }
    uint64_t n = simt_ldrlx_u64(counted) + 1;
    bool halves = n >= hkv_count_sample(a->v.slots);
    simt_strlx_u64(counted, halves ? n / 2 : n);
    for (uint32_t i = 4; halves && i < words; i++)
        simt_strlx_u64(counted + i, hkv_counts_halved(simt_ldrlx_u64(counted + i)));
}

/* Counts the item, if its operation may insert: it holds its buckets. */
SIMT_FN void hkv_count(simt_tile t, const hkv_args *a, const hkv_one *o, hkv_rule r)
{
    if (!hkv_counts_keys(a) || !r.insert) return;
    if (t.rank == 0) hkv_count_in(a, o->first, o->key);
    if (t.rank == 0 && a->v.dual) hkv_count_in(a, o->second, o->key);
    HKV_SYNC(t);
}

/* How often bucket b has counted the key. */
SIMT_FN uint8_t hkv_counted(const hkv_args *a, uint64_t b, uint64_t key)
{
    uint64_t h = hkv_count_hash(key), least = HKV_COUNT_MOST, *group = a->v.count + hkv_count_at(&a->v, b, h);
    for (uint32_t row = 0; row < HKV_COUNT_ROWS; row++) {
        uint64_t count = simt_ldrlx_u64(group + row) >> hkv_count_shift(h, row) & HKV_COUNT_MOST;
        if (count < least) least = count;
    }
    return (uint8_t)least;
}

#endif
