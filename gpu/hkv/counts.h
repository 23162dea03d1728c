/* SPDX-License-Identifier: Apache-2.0
 *
 * counts.h - counters of keys, for policies that ask how often they came (HD_COUNTS; ref/hkv/queues.c is the reference,
 * layout.h has the shape). An item that counts, or asks, holds its buckets.
 */
#ifndef HKV_COUNTS_H
#define HKV_COUNTS_H

#include "gpu/hkv/repeated_keys.h"

/* The counters of bucket b. */
SIMT_FN uint64_t *hkv_counts_in(const hkv_args *a, uint64_t b) { return a->v.count + b * hkv_count_words(a->v.slots); }

/* One lane: a bucket with these counters counts n uses of the key. After four halvings all other counters are 0. */
SIMT_FN_APART void hkv_count_in(uint64_t *bucket, uint32_t slots, bool dual, uint64_t key, uint64_t n)
{
    enum { ALL_ARE_ZERO = 4 };
    const uint64_t sample = hkv_count_sample(slots, dual), h = hkv_count_hash(key);
    uint64_t *group = bucket + hkv_count_at(slots, h), uses = simt_ldrlx_u64(bucket), word[HKV_COUNT_ROWS];
    for (uint32_t halved = 0; n; halved++) {
        uint64_t more = n < sample - uses ? n : sample - uses;
        SIMT_UNROLL
        for (uint32_t row = 0; row < HKV_COUNT_ROWS; row++) word[row] = simt_ldrlx_u64(group + row);
        SIMT_UNROLL
        for (uint32_t row = 0; row < HKV_COUNT_ROWS; row++) {
            uint32_t shift = hkv_count_shift(h, row);
            uint64_t left = HKV_COUNT_MOST - (word[row] >> shift & HKV_COUNT_MOST);
            simt_strlx_u64(group + row, word[row] + ((more < left ? more : left) << shift));
        }
        uses += more;
        n -= more;
        if (uses < sample) break;
        uses /= 2;
        uint32_t first = halved < ALL_ARE_ZERO ? 4 : (uint32_t)(group - bucket),
                 last = halved < ALL_ARE_ZERO ? hkv_count_words(slots) : first + HKV_COUNT_ROWS;
        SIMT_ROLLED
        for (uint32_t i = first; i < last; i += HKV_COUNT_ROWS) {
            SIMT_UNROLL
            for (uint32_t row = 0; row < HKV_COUNT_ROWS; row++) word[row] = simt_ldrlx_u64(bucket + i + row);
            SIMT_UNROLL
            for (uint32_t row = 0; row < HKV_COUNT_ROWS; row++)
                simt_strlx_u64(bucket + i + row, hkv_counts_halved(word[row]));
        }
    }
    simt_strlx_u64(bucket, uses);
}

/* Counts n uses of the item's key: it holds its buckets. */
SIMT_FN void hkv_count_uses(const hkv_args *a, const hkv_one *o, uint64_t n)
{
    hkv_count_in(hkv_counts_in(a, o->first), a->v.slots, a->v.dual, o->key, n);
    if (a->v.dual) hkv_count_in(hkv_counts_in(a, o->second), a->v.slots, true, o->key, n);
}

/* Counts the item, if its operation may insert. */
SIMT_FN void hkv_count(simt_tile t, const hkv_args *a, const hkv_one *o, hkv_rule r)
{
    if (!hkv_counts_keys(a) || !r.insert) return;
    if (t.rank == 0) hkv_count_uses(a, o, 1);
    HKV_SYNC(t);
}

/* The others of the item's group, which take effect behind it, are counted. One lane. */
SIMT_FN void hkv_count_others(const hkv_args *a, const hkv_one *o)
{
    const hkv_group *g = a->groups.group + o->group;
    if (!hkv_counts_keys(a) || a->groups.pass != HKV_LEADERS) return;
    hkv_count_uses(a, o, hkv_group_count(g) - 1 - simt_ld_u32(&g->refused));
}

/* How often a bucket with these counters has counted the key. */
SIMT_FN_APART uint8_t hkv_counted(const uint64_t *bucket, uint32_t slots, uint64_t key)
{
    uint64_t h = hkv_count_hash(key), least = HKV_COUNT_MOST;
    const uint64_t *group = bucket + hkv_count_at(slots, h);
    for (uint32_t row = 0; row < HKV_COUNT_ROWS; row++) {
        uint64_t count = simt_ldrlx_u64(group + row) >> hkv_count_shift(h, row) & HKV_COUNT_MOST;
        if (count < least) least = count;
    }
    return (uint8_t)least;
}

/* How many more uses of the key change nothing but the number of uses of bucket b. */
SIMT_FN uint64_t hkv_uses_alike(const hkv_args *a, uint64_t b, uint64_t key)
{
    const uint64_t *bucket = hkv_counts_in(a, b);
    bool most = hkv_counted(bucket, a->v.slots, key) == HKV_COUNT_MOST;
    return most ? hkv_count_sample(a->v.slots, a->v.dual) - 1 - simt_ldrlx_u64(bucket) : 0;
}

/* The leader of a group was refused, though an entry could have left. True: another item of the group tries next, in
 * its place. Those in between, which would find the same counters, have been counted, and are refused. After so many
 * samples all other counters are 0 since two halvings, so that those of the key repeat: none is admitted. One lane. */
SIMT_FN bool hkv_group_tries_again(const hkv_args *a, const hkv_one *o)
{
    enum { OVER_AND_OVER = 4 };
    hkv_group *g = a->groups.group + o->group;
    if (!hkv_counts_keys(a) || a->groups.pass != HKV_LEADERS) return false;
    uint32_t refused = simt_ld_u32(&g->refused) + 1, left = hkv_group_count(g) - refused;
    uint64_t alike = hkv_uses_alike(a, o->first, o->key);
    if (a->v.dual) {
        uint64_t second = hkv_uses_alike(a, o->second, o->key);
        if (second < alike) alike = second;
    }
    if (left < alike || refused >= OVER_AND_OVER * hkv_count_sample(a->v.slots, a->v.dual)) alike = left;
    hkv_count_uses(a, o, alike);
    refused += (uint32_t)alike;
    left -= (uint32_t)alike;
    simt_st_u32(&g->refused, left ? refused : refused - 1);
    return left != 0;
}

#endif
