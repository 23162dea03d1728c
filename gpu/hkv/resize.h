/* SPDX-License-Identifier: Apache-2.0
 *
 * resize.h - the kernels of growth. With m times the buckets, bucket b has m children, the buckets m x b to m x b + m -
 * 1 (policies/hashes/hash.h). One warp moves the entries of a bucket into its children, and writes every slot of them,
 * so that the new planes need no clearing. Entries keep their order. Where entries go, and that there always is room,
 * is what ref/hkv/grow.c says; the result is the reference's, slot by slot.
 *
 * Reads per old slot: key, score, holder. Writes per new slot: digest, key, score, holder; per group: the bound. Reads
 * and writes the value of each entry.
 *
 * In place. The new planes may begin with the memory of the old ones. Then a bucket's children lie where other buckets
 * lay, all of which have higher numbers (except bucket 0, which is its own first child). So buckets are drawn from the
 * highest to the lowest. Before a warp writes, it waits until the buckets that lay there have been moved. Those were
 * drawn before, by warps that are running, and bucket B - 1 waits for none: some warp always makes progress. After a
 * move the warp stores to `bucket` with release order; the warp that waits loads it with acquire order.
 *
 * Near values (layout.h) are shared out evenly, so that those of b's children begin no earlier than those of b. If the
 * two overlap, the warp copies the near values of b aside first.
 *
 * Strays. In dual mode an entry of b may have no child of b as a candidate, only children of b - 1: a stray. A launch
 * before the growth lists all strays, with copies of their values. The warp of b - 1 places them after its own entries.
 * No other warp writes these children, so nothing is locked.
 */
#ifndef HKV_RESIZE_H
#define HKV_RESIZE_H

#include "gpu/hkv/resize_args.h"
#include "gpu/hkv/scan.h"

/* The child that a key of hash h in a bucket goes to, less `first`, the bucket's first child; at least `times`: the key
 * is a stray. */
SIMT_FN uint64_t hkv_child_of(const hkv_view *to, uint64_t h, uint64_t first, uint64_t times)
{
    uint64_t child = hd_first_bucket(h, to->buckets) - first;
    if (child < times || !to->dual) return child;
    return hd_second_bucket(h, to->buckets) - first;
}

SIMT_FN uint64_t hkv_grow_times(const hkv_grow_args *a) { return a->to.buckets / a->from.buckets; }

/* ---- Strays ---------------------------------------------------------------------------------- */

SIMT_FN void hkv_grow_list_stray(const hkv_grow_args *a, uint64_t e, uint64_t key, uint64_t h)
{
    const hkv_view *from = &a->from;
    uint64_t k = simt_add_u64(&a->words->strays, 1, SIMT_RELAXED), receives;
    if (k >= a->stray_room) return;
    hkv_stray *stray = a->stray + k;
    receives = hd_first_bucket(h, a->to.buckets) / hkv_grow_times(a);
    simt_st_u64(&stray->entry, e);
    simt_st_u64(&stray->key, key);
    simt_st_u64(&stray->score, simt_ld_u64(hkv_score_at(from, e)));
    simt_st_u64(&stray->holder, from->holder ? simt_ld_u64(from->holder + e) : 0);
    simt_st_u64(&stray->next, simt_exch_u32(a->bucket + receives, (uint32_t)k + 1, SIMT_RELAXED));
    if (from->value_bytes == 0) return;
    hkv_copy(simt_tile_of(1), a->stray_value + k * from->value_bytes, hkv_value(from, e), from->value_bytes, false);
}

/* Lists all of them, and counts those that there is no room for. */
SIMT_FN void hkv_grow_list_strays(const hkv_grow_args *a)
{
    const hkv_view *from = &a->from;
    simt_tile w = simt_tile_of(32);
    uint64_t times = hkv_grow_times(a);
    for (uint64_t b = hkv_warp_number(); b < from->buckets; b += hkv_warps())
        for (uint32_t s = w.rank; s < from->slots; s += 32) {
            uint64_t e = hkv_entry(from, b, s), key = simt_ld_u64(hkv_key_at(from, e));
            if (key == HD_KEY_EMPTY) continue;
            uint64_t h = hd_hash(key, from->seed);
            if (hkv_child_of(&a->to, h, b * times, times) >= times) hkv_grow_list_stray(a, e, key, h);
        }
}

/* Of the list from `at` on: the stray with the least entry above `after` (HKV_NONE: of all), plus 1; 0: none. */
SIMT_FN uint64_t hkv_grow_next_stray(const hkv_grow_args *a, uint64_t at, uint64_t after)
{
    uint64_t found = 0, least = HKV_NONE;
    while (at) {
        const hkv_stray *stray = a->stray + at - 1;
        uint64_t e = simt_ld_u64(&stray->entry);
        if ((after == HKV_NONE || e > after) && e < least) {
            least = e;
            found = at;
        }
        at = simt_ld_u64(&stray->next);
    }
    simt_join();
    return found;
}

/* How many entries a child has. They are in its first slots. */
SIMT_FN uint32_t hkv_grow_count(simt_tile w, const hkv_view *to, uint64_t b)
{
    uint32_t n = 0;
    for (uint32_t s = w.rank; s < to->slots; s += 32)
        n += simt_ld_u8(to->digest + hkv_entry(to, b, s)) != HKV_NO_DIGEST;
    simt_join();
    return simt_reduce_add_u32(w, n);
}

/* Into the emptier of its candidates, which both are children of the warp's bucket. */
SIMT_FN void hkv_grow_place_stray(simt_tile w, const hkv_grow_args *a, uint64_t k)
{
    const hkv_view *to = &a->to;
    const hkv_stray *stray = a->stray + k;
    uint64_t key = simt_ld_u64(&stray->key), h = hd_hash(key, to->seed);
    uint64_t first = hd_first_bucket(h, to->buckets), second = hd_second_bucket(h, to->buckets);
    uint32_t n = hkv_grow_count(w, to, first), others = hkv_grow_count(w, to, second);
    uint64_t e = others < n ? hkv_entry(to, second, others) : hkv_entry(to, first, n);
    simt_sync_tile(w); /* all have counted */
    if (w.rank == 0) {
        simt_st_u64(hkv_key_at(to, e), key);
        simt_st_u64(hkv_score_at(to, e), simt_ld_u64(&stray->score));
        simt_st_u8(to->digest + e, hd_digest(h));
        if (to->holder) simt_st_u64(to->holder + e, simt_ld_u64(&stray->holder));
    }
    if (to->value_bytes) hkv_copy(w, hkv_value(to, e), a->stray_value + k * to->value_bytes, to->value_bytes, false);
    simt_sync_tile(w);
}

SIMT_FN void hkv_grow_place_strays(simt_tile w, const hkv_grow_args *a, uint64_t list)
{
    for (uint64_t after = HKV_NONE, k; (k = hkv_grow_next_stray(a, list, after));) {
        hkv_grow_place_stray(w, a, k - 1);
        after = simt_ld_u64(&a->stray[k - 1].entry);
    }
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Of a bucket, whose first entry is `first`: the value in slot s. */
SIMT_FN const uint8_t *hkv_grow_source(const hkv_grow_args *a, uint64_t first, uint32_t s, const uint8_t *aside)
{
    if (aside && hkv_is_near(&a->from, first + s)) return aside + (uint64_t)s * a->from.value_bytes;
    return hkv_value(&a->from, first + s);
}

/* The values of n entries, whose slots are in `order`, to entries e, e + 1, ... Pieces go in the order of the entries,
 * and all of a round are loaded before one is stored: a bucket that is its own child moves its values down. */
SIMT_FN void hkv_grow_values(simt_tile w, const hkv_grow_args *a, uint64_t first, const uint32_t *order, uint32_t n,
                             uint64_t e, const uint8_t *aside)
{
    uint32_t bytes = a->to.value_bytes,
             unit = hkv_unit((uintptr_t)a->from.value | (uintptr_t)a->from.far | (uintptr_t)a->to.value |
                             (uintptr_t)a->to.far | (uintptr_t)aside | bytes);
    uint32_t pieces = bytes / unit;
    uint64_t all = (uint64_t)n * pieces;
    if (all == 0) return;
    hkv_piece mine = hkv_piece_first(w.rank, 32, 16 * pieces);
    for (uint64_t p = 0; p < all; p += 32 * HKV_GROW_AT_ONCE) {
        uint8_t *to[HKV_GROW_AT_ONCE];
        hkv_part part[HKV_GROW_AT_ONCE];
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_GROW_AT_ONCE; j++) {
            uint32_t at = unit * mine.part;
            to[j] = mine.value < n ? hkv_value(&a->to, e + mine.value) + at : (uint8_t *)0;
            if (to[j])
                hkv_part_load(&part[j], hkv_grow_source(a, first, simt_ld_u32(order + mine.value), aside) + at, unit);
            hkv_piece_next(&mine);
        }
        simt_join();
        simt_sync_tile(w);
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_GROW_AT_ONCE; j++)
            if (to[j]) hkv_part_store(&part[j], to[j], unit);
        simt_join();
    }
}

/* ---- A child --------------------------------------------------------------------------------- */

/* A slot as a lane has read it. */
typedef struct hkv_grow_slot {
    uint64_t key, score, holder;
    uint8_t digest;
    bool goes;
} hkv_grow_slot;

SIMT_FN void hkv_grow_read(const hkv_grow_args *a, uint64_t e, uint64_t first_child, uint64_t child, uint64_t times,
                           hkv_grow_slot *x)
{
    const hkv_view *from = &a->from;
    if (from->step == 2) {
        simt_v4 pair = simt_ld_v4((const simt_v4 *)(const void *)hkv_key_at(from, e));
        x->key = (uint64_t)pair.y << 32 | pair.x;
        x->score = (uint64_t)pair.w << 32 | pair.z;
    } else {
        x->key = simt_ld_u64(hkv_key_at(from, e));
        x->score = simt_ld_u64(hkv_score_at(from, e));
    }
    uint64_t h = hd_hash(x->key, from->seed);
    x->goes = x->key != HD_KEY_EMPTY && hkv_child_of(&a->to, h, first_child, times) == child;
    x->digest = hd_digest(h);
    x->holder = 0;
    if (x->goes && from->holder) x->holder = simt_ld_u64(from->holder + e);
}

SIMT_FN void hkv_grow_write(const hkv_view *to, uint64_t e, uint64_t key, uint64_t score, uint8_t digest,
                            uint64_t holder)
{
    if (to->step == 2) {
        simt_v4 pair;
        pair.x = (uint32_t)key;
        pair.y = (uint32_t)(key >> 32);
        pair.z = (uint32_t)score;
        pair.w = (uint32_t)(score >> 32);
        simt_st_v4((simt_v4 *)(void *)hkv_key_at(to, e), pair);
    } else {
        simt_st_u64(hkv_key_at(to, e), key);
        simt_st_u64(hkv_score_at(to, e), score);
    }
    simt_st_u8(to->digest + e, digest);
    if (to->holder) simt_st_u64(to->holder + e, holder);
}

/* Moves what goes to child number `child` of bucket b. order: (HKV_GROW_STEP) words of the warp's shared memory. */
SIMT_FN void hkv_grow_child(simt_tile w, const hkv_grow_args *a, uint64_t b, uint64_t child, uint32_t *order,
                            const uint8_t *aside)
{
    const hkv_view *from = &a->from, *to = &a->to;
    uint64_t times = hkv_grow_times(a), first_child = b * times, first = hkv_entry(from, b, 0);
    uint64_t e = hkv_entry(to, first_child + child, 0), end = e + to->slots;
    for (uint64_t g = e / HKV_BOUNDED + w.rank; to->bound && g < end / HKV_BOUNDED; g += 32)
        simt_st_u64(to->bound + g, 0);
    for (uint32_t s0 = 0; s0 < from->slots; s0 += HKV_GROW_STEP) {
        hkv_grow_slot x[HKV_GROW_AT_ONCE];
        uint32_t n = 0;
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_GROW_AT_ONCE; j++) {
            uint32_t s = s0 + 32 * j + w.rank;
            x[j].goes = false;
            if (s < from->slots) hkv_grow_read(a, first + s, first_child, child, times, &x[j]);
        }
        simt_join();
        simt_sync_tile(w); /* the slots were read that are written now, and the order before */
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_GROW_AT_ONCE; j++) {
            uint32_t who = simt_ballot(w, x[j].goes), place = n + hkv_place_among(w, who);
            if (x[j].goes) {
                hkv_grow_write(to, e + place, x[j].key, x[j].score, x[j].digest, x[j].holder);
                simt_st_u32(order + place, s0 + 32 * j + w.rank);
            }
            n += simt_popc(who);
            simt_join();
        }
        simt_sync_tile(w);
        hkv_grow_values(w, a, first, order, n, e, aside);
        e += n;
    }
    simt_sync_tile(w); /* bucket 0 was read to its end */
    for (e += w.rank; e < end; e += 32) hkv_grow_write(to, e, HD_KEY_EMPTY, 0, HKV_NO_DIGEST, 0);
    simt_join();
}

/* ---- In place -------------------------------------------------------------------------------- */

/* Waits until the old buckets [first, last), but b, have been moved. */
SIMT_FN void hkv_grow_await(simt_tile w, const hkv_grow_args *a, uint64_t b, uint64_t first, uint64_t last)
{
    if (last > a->from.buckets) last = a->from.buckets;
    for (uint64_t x = first + w.rank; x < last; x += 32)
        while (x != b && !(simt_ldacq_u32(a->bucket + x) & HKV_GROW_MOVED)) simt_backoff(64);
    simt_join();
    simt_sync_tile(w);
}

/* The first old bucket from b on that has the near value number `at`, or one behind it. */
SIMT_FN uint64_t hkv_grow_bucket_of(const hkv_view *from, uint64_t b, uint64_t at)
{
    uint64_t low = b, high = from->buckets;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (hkv_near_before(from, middle + 1) > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Before the near values of b's children are written: waits for the buckets whose near values lie there, and copies
 * those of b aside if they do. Returns the copy, or NULL. Tiers are by bucket. */
SIMT_FN const uint8_t *hkv_grow_clear_way(simt_tile w, const hkv_grow_args *a, uint64_t b)
{
    const hkv_view *from = &a->from;
    uint64_t times = hkv_grow_times(a);
    uint64_t first = hkv_near_before(&a->to, b * times), last = hkv_near_before(&a->to, b * times + times),
             mine = hkv_near_before(from, b), end = hkv_near_before(from, b + 1);
    if (first == last) return (const uint8_t *)0;
    hkv_grow_await(w, a, b, hkv_grow_bucket_of(from, b, first), hkv_grow_bucket_of(from, b, last - 1) + 1);
    if (first >= end || last <= mine) return (const uint8_t *)0;
    uint8_t *aside = a->aside + hkv_warp_number() * a->aside_bytes;
    uint64_t bytes = (end - mine) * from->value_bytes;
    simt_sync_tile(w); /* what was aside before was read */
    hkv_copy(w, aside, from->value + mine * from->value_bytes, (uint32_t)bytes, false);
    simt_sync_tile(w);
    return aside;
}

/* Whether near and far values have to be told apart, where they are in place. */
SIMT_FN bool hkv_grow_is_tiered(const hkv_grow_args *a) { return a->values_in_place && a->to.far && a->to.striped; }

SIMT_FN void hkv_grow_bucket(simt_tile w, const hkv_grow_args *a, uint64_t b, uint32_t *order)
{
    uint64_t times = hkv_grow_times(a);
    const uint8_t *aside = (const uint8_t *)0;
    if (a->in_place || a->values_in_place) hkv_grow_await(w, a, b, b * times, b * times + times);
    if (hkv_grow_is_tiered(a)) aside = hkv_grow_clear_way(w, a, b);
    for (uint64_t child = times; child-- > 0;) /* bucket 0 is the last child of itself to be written */
        hkv_grow_child(w, a, b, child, order, aside);
    if (!a->bucket) return;
    uint32_t list = simt_ldrlx_u32(a->bucket + b);
    simt_sync_tile(w); /* all lanes have read the list, and the whole bucket */
    if (list) hkv_grow_place_strays(w, a, list);
    if (w.rank == 0) simt_strel_u32(a->bucket + b, HKV_GROW_MOVED);
}

SIMT_FN void hkv_grow_buckets(const hkv_grow_args *a)
{
    SIMT_SHARED(uint32_t, orders, HKV_GROW_THREADS / 32 * HKV_GROW_STEP);
    simt_tile w = simt_tile_of(32);
    uint32_t *order = orders + simt_thread() / 32 * HKV_GROW_STEP;
    uint64_t moved = 0;
    if (simt_thread() >= HKV_GROW_THREADS || (a->aside && hkv_warp_number() >= a->aside_warps)) return;
    for (;;) {
        uint64_t k = 0;
        if (w.rank == 0) k = simt_add_u64(&a->words->drawn, 1, SIMT_RELAXED);
        k = simt_shfl_u64(w, k, 0);
        if (k >= a->from.buckets) break;
        hkv_grow_bucket(w, a, a->from.buckets - 1 - k, order);
        moved++;
    }
    if (w.rank != 0 || moved == 0) return;
    moved += simt_add_u64(&a->words->moved, moved, SIMT_RELAXED);
    if (moved == a->from.buckets && a->pins_from != a->pins_to)
        simt_st_u64(&a->pins_to->count, simt_ld_u64(&a->pins_from->count));
}

#endif
