/* SPDX-License-Identifier: Apache-2.0
 *
 * list.h - lists: what the items of a batch, or a range of slots, have to list is put together in its order by one
 * launch.
 *
 * The range is cut into segments. A block draws the next one, counts what it lists, says so, and adds up what the
 * segments before it say; then it writes from there. It waits for segments that were drawn before its own and wait for
 * still earlier ones only, whenever blocks begin. The last block to leave makes all that was said 0 again, for the next
 * launch.
 *
 * In a segment a warp takes a stretch of 512 at a time, sixteen flags or digests a lane. The warp puts the listed items
 * in order in shared memory. Then every lane has an entry, or 16 bytes of a value, to move, four at a time, and
 * neighbouring lanes write neighbouring addresses.
 *
 * If there are few segments and values are large, several blocks draw the same segment: each is a *part* of it. All of
 * them count what it lists, part 0 says so and lists keys, scores and items, and each part copies its share of the
 * values.
 */
#ifndef HKV_LIST_H
#define HKV_LIST_H

#include "gpu/hkv/scan.h"
#include "gpu/warp.h"

/* The lanes that copy a listed value. */
enum { HKV_BY_LANE, HKV_BY_GROUP, HKV_BY_WARP };

enum { HKV_LIST_THREADS = 128 /* or fewer */, HKV_LIST_AT_ONCE = 4, HKV_LIST_OWN = 1u << 16 };

/* Of a lane's sixteen items or slots of a stretch, a bit each. */
typedef struct hkv_marks {
    uint32_t listed, own; /* own: it lists its own key and value */
} hkv_marks;

/* ---- Over a block ---------------------------------------------------------------------------- */

/* What the threads of a block bring, and what those of the warps before bring. words: (32), shared memory. */
SIMT_FN uint64_t hkv_block_sum(uint64_t *words, uint64_t n, uint64_t *before)
{
    simt_tile w = simt_tile_of(32);
    uint32_t warp = simt_thread() / 32;
    n = simt_reduce_add_u64(w, n);
    simt_sync_block(); /* all have read what was there */
    if (w.rank == 0) simt_st_u64(words + warp, n);
    simt_sync_block();
    uint64_t theirs = w.rank < simt_threads() / 32 ? simt_ld_u64(words + w.rank) : 0;
    *before = simt_reduce_add_u64(w, w.rank < warp ? theirs : 0);
    return simt_reduce_add_u64(w, theirs);
}

/* What thread 0 has. */
SIMT_FN uint64_t hkv_block_word(uint64_t *words, uint64_t x)
{
    simt_sync_block();
    if (simt_thread() == 0) simt_st_u64(words, x);
    simt_sync_block();
    return simt_ld_u64(words);
}

/* ---- Segments -------------------------------------------------------------------------------- */

/* Digests are read sixteen at a time from multiples of sixteen. */
SIMT_FN uint64_t hkv_list_origin(const hkv_args *a) { return a->list.stage_flag ? a->first : a->first & ~15ull; }

SIMT_FN uint64_t hkv_segment_length(const hkv_args *a)
{
    uint64_t each = (a->last - hkv_list_origin(a) + HKV_SEGMENTS - 1) / HKV_SEGMENTS;
    return (each + HKV_SEGMENT_LEAST - 1) / HKV_SEGMENT_LEAST * HKV_SEGMENT_LEAST;
}

/* The next part of a segment: a number of which the lowest list_parts_log bits say the part, and the others the
 * segment. */
SIMT_FN uint64_t hkv_segment_draw(const hkv_args *a, uint64_t *words)
{
    uint64_t s = 0;
    if (simt_thread() == 0) s = simt_add_u64(a->list.cursor + HKV_DRAWN, 1, SIMT_RELAXED);
    return hkv_block_word(words, s);
}

/* How much of the list the segments before s have, and the windows before this one. What a segment has is said plus
 * one. */
SIMT_FN uint64_t hkv_segment_base(const hkv_args *a, uint64_t s, uint64_t *words)
{
    uint64_t n = 0, unused, step = HKV_LIST_AT_ONCE * simt_threads();
    for (uint64_t k = simt_thread(); k < s; k += step) {
        uint64_t said[HKV_LIST_AT_ONCE];
        for (;;) {
            bool waits = false;
            SIMT_UNROLL
            for (uint32_t j = 0; j < HKV_LIST_AT_ONCE; j++)
                said[j] = k + j * simt_threads() < s ? simt_ldrlx_u64(a->list.segment + k + j * simt_threads()) : 1;
            SIMT_UNROLL
            for (uint32_t j = 0; j < HKV_LIST_AT_ONCE; j++) waits = waits || said[j] == 0;
            if (!waits) break;
            simt_backoff(32);
        }
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_LIST_AT_ONCE; j++) n += said[j] - 1;
    }
    simt_join();
    n = hkv_block_sum(words, n, &unused);
    return a->list.window ? n + simt_ld_u64(a->list.cursor + a->list.window % 2) : n;
}

/* The last block out clears: all others have drawn, and read, what they ever will. */
SIMT_FN void hkv_segments_leave(const hkv_args *a)
{
    simt_tile w = simt_tile_of(32);
    if (simt_thread() < 32) {
        uint64_t left = 0, length = hkv_segment_length(a), range = a->last - hkv_list_origin(a);
        if (w.rank == 0) left = 1 + simt_add_u64(a->list.cursor + HKV_LEFT, 1, SIMT_ACQ_REL);
        left = simt_shfl_u64(w, left, 0);
        if (left == simt_blocks()) {
            simt_sync_tile(w);
            for (uint64_t k = w.rank; k * length < range; k += 32) simt_strlx_u64(a->list.segment + k, 0);
            if (w.rank < 2) simt_strlx_u64(a->list.cursor + HKV_DRAWN + w.rank, 0);
        }
    }
}

/* ---- What a stretch lists -------------------------------------------------------------------- */

/* Of a batch's items. Flags are 1, or 2 for what is the item's own. */
SIMT_FN hkv_marks hkv_marks_of_items(simt_tile w, const hkv_args *a, uint64_t x)
{
    hkv_marks m;
    m.listed = m.own = 0;
    x += 16 * w.rank;
    if (x < a->last && a->last - x >= 16) {
        simt_v4 flags = simt_ldcs_v4((const simt_v4 *)(const void *)(a->list.stage_flag + (x - a->first)));
        m.own = hkv_bits16(flags, HKV_LISTED_INPUT * 0x01010101u);
        m.listed = ~hkv_bits16(flags, HKV_NOT_LISTED) & 0xffff;
        return m;
    }
    for (uint64_t i = x; i < a->last; i++) {
        uint32_t flag = simt_ld_u8(a->list.stage_flag + (i - a->first));
        if (flag != HKV_NOT_LISTED) m.listed |= 1u << (i - x);
        if (flag == HKV_LISTED_INPUT) m.own |= 1u << (i - x);
    }
    return m;
}

SIMT_FN hkv_marks hkv_marks_of(simt_tile w, const hkv_args *a, uint64_t x)
{
    hkv_marks m;
    m.listed = m.own = 0;
    if (x >= a->last) return m;
    if (a->list.stage_flag)
        m = hkv_marks_of_items(w, a, x);
    else
        m.listed = hkv_filled16(w, a, x);
    simt_join();
    if (!a->list.stage_flag) m.listed = hkv_sweep16(w, a, x, m.listed);
    return m;
}

/* ---- Writing --------------------------------------------------------------------------------- */

SIMT_FN void hkv_listed_head(const hkv_args *a, uint64_t x, bool own, uint64_t *key, uint64_t *score)
{
    *key = *score = 0;
    if (!a->list.stage_flag) {
        hkv_pair_at(&a->v, x, key, score);
        return;
    }
    if (a->list_key) *key = simt_ld_u64(own ? a->key + x : a->list.stage_key + (x - a->first));
    if (a->list_score && a->op != HD_OP_FIND_MISSED) *score = simt_ld_u64(a->list.stage_score + (x - a->first));
}

SIMT_FN const uint8_t *hkv_listed_value(const hkv_args *a, uint64_t x, bool own)
{
    uint64_t bytes = a->v.value_bytes;
    if (!a->list.stage_flag) return hkv_value(&a->v, x);
    return own ? a->value + x * bytes : a->list.stage_value + (x - a->first) * bytes;
}

/* Keys, scores and items of n entries, whose order is in shared memory. x: where the stretch begins. */
SIMT_FN void hkv_list_heads(simt_tile w, const hkv_args *a, const uint32_t *order, uint32_t n, uint64_t x, uint64_t at)
{
    bool scores = a->list_score && a->op != HD_OP_FIND_MISSED, pairs = a->list_key || scores;
    for (uint32_t i = w.rank; i < n && pairs; i += 32 * HKV_LIST_AT_ONCE) {
        uint64_t key[HKV_LIST_AT_ONCE], score[HKV_LIST_AT_ONCE];
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_LIST_AT_ONCE; j++) {
            uint32_t o = i + 32 * j < n ? simt_ld_u32(order + i + 32 * j) : 0;
            if (i + 32 * j < n) hkv_listed_head(a, x + o % HKV_STRETCH, o & HKV_LIST_OWN, &key[j], &score[j]);
        }
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_LIST_AT_ONCE; j++) {
            if (i + 32 * j >= n) continue;
            if (a->list_key) simt_st_u64(a->list_key + at + i + 32 * j, key[j]);
            if (scores) simt_st_u64(a->list_score + at + i + 32 * j, score[j]);
        }
    }
    for (uint32_t i = w.rank; i < n && a->list_item; i += 32)
        simt_st_u64(a->list_item + at + i, x + simt_ld_u32(order + i) % HKV_STRETCH);
    simt_join();
}

/* Values in pieces of sixteen bytes: piece p of the list is part p % pieces of entry p / pieces, so that lanes write
 * side by side. The block's share is a run of pieces. */
SIMT_FN void hkv_list_pieces(simt_tile w, const hkv_args *a, const uint32_t *order, uint32_t n, uint64_t x, uint64_t at,
                             uint32_t part)
{
    uint32_t parts_log = a->list.parts_log, all = n * (a->v.value_bytes / 16), each = ((all >> parts_log) + 31) & ~31u,
             first = each * part;
    if ((part + 1) >> parts_log == 0 && first + each < all) all = first + each;
    hkv_piece mine = hkv_piece_first(first + w.rank, 32, a->v.value_bytes);
    uint8_t *to = a->list_value + at * a->v.value_bytes;
    for (uint32_t p = first + w.rank; p < all; p += 32 * HKV_LIST_AT_ONCE) {
        simt_v4 piece[HKV_LIST_AT_ONCE];
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_LIST_AT_ONCE; j++) {
            if (p + 32 * j < all) {
                uint32_t o = simt_ld_u32(order + mine.value);
                const uint8_t *from = hkv_listed_value(a, x + o % HKV_STRETCH, o & HKV_LIST_OWN);
                piece[j] = simt_ldcs_v4((const simt_v4 *)(const void *)(from + 16 * mine.part));
            }
            hkv_piece_next(&mine);
        }
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_LIST_AT_ONCE; j++)
            if (p + 32 * j < all) simt_stcs_v4((simt_v4 *)(void *)(to + 16 * (uint64_t)(p + 32 * j)), piece[j]);
    }
    simt_join();
}

/* One value after another: a lane of its own, eight lanes of their own, or all of them. */
SIMT_FN void hkv_list_values(simt_tile w, const hkv_args *a, const uint32_t *order, uint32_t n, uint64_t x, uint64_t at,
                             uint32_t by, uint8_t *buffer)
{
    uint32_t bytes = a->v.value_bytes, together = by == HKV_BY_WARP ? 1 : 32;
    for (uint32_t first = 0; first < n; first += together) {
        uint32_t i = by == HKV_BY_WARP ? first : first + w.rank, o = i < n ? simt_ld_u32(order + i) : 0;
        const uint8_t *from = i < n ? hkv_listed_value(a, x + o % HKV_STRETCH, o & HKV_LIST_OWN) : (const uint8_t *)0;
        uint8_t *to = i < n ? a->list_value + (at + i) * bytes : (uint8_t *)0;
        if (by == HKV_BY_GROUP)
            hkv_group_copy(simt_tile_of(HKV_GROUP), buffer, i < n, to, from, bytes);
        else if (i < n)
            hkv_copy(by == HKV_BY_WARP ? w : simt_tile_of(1), to, from, bytes, true);
        simt_join();
    }
}

SIMT_FN bool hkv_lists_pieces(const hkv_args *a)
{
    uintptr_t low = (uintptr_t)a->list_value | a->v.value_bytes;
    low |= a->list.stage_flag ? (uintptr_t)a->list.stage_value | (uintptr_t)a->value
                              : (uintptr_t)a->v.value | (uintptr_t)a->v.far;
    return low % 16 == 0;
}

/* What lane by lane was marked in the stretch at x, from place `at` of the list on. order: (HKV_STRETCH), the warp's
 * own. */
SIMT_FN void hkv_list_stretch(const hkv_args *a, uint64_t x, hkv_marks m, uint64_t at, uint32_t by, uint32_t part,
                              uint32_t *order, uint8_t *buffer)
{
    simt_tile w = simt_tile_of(32);
    uint32_t n, place = gpu_sum_before_all(w, simt_popc(m.listed), &n);
    simt_sync_tile(w); /* the order before was read */
    for (uint32_t left = m.listed; left; left &= left - 1) {
        uint32_t k = simt_ffs(left) - 1;
        simt_st_u32(order + place++, (16 * w.rank + k) | (m.own >> k & 1 ? HKV_LIST_OWN : 0));
    }
    simt_join();
    simt_sync_tile(w);
    if (part == 0) hkv_list_heads(w, a, order, n, x, at);
    if (!a->list_value || a->v.value_bytes == 0 || a->op == HD_OP_FIND_MISSED) return;
    if (by == HKV_BY_WARP && hkv_lists_pieces(a))
        hkv_list_pieces(w, a, order, n, x, at, part);
    else if (part == 0)
        hkv_list_values(w, a, order, n, x, at, by, buffer);
}

/* ---- A segment ------------------------------------------------------------------------------- */

SIMT_FN void hkv_list_segment(const hkv_args *a, uint64_t s, uint32_t by, uint32_t part, uint64_t *words,
                              uint32_t *order, uint8_t *buffer)
{
    simt_tile w = simt_tile_of(32);
    uint64_t at_once = HKV_STRETCH * (uint64_t)(simt_threads() / 32), length = hkv_segment_length(a),
             from = hkv_list_origin(a) + s * length;
    uint64_t to = a->last - from < length ? a->last : from + length,
             mine = HKV_STRETCH * (uint64_t)(simt_thread() / 32), n = 0, before = 0;
    hkv_marks m;
    m.listed = m.own = 0;
    for (uint64_t x = from + mine; x < to; x += at_once) {
        m = hkv_marks_of(w, a, x);
        n += simt_popc(m.listed);
    }
    n = hkv_block_sum(words, n, &before);
    if (part == 0 && simt_thread() == 0) simt_strlx_u64(a->list.segment + s, n + 1);
    uint64_t base = hkv_segment_base(a, s, words);
    if (to == a->last && part == 0 && simt_thread() == 0) {
        simt_st_u64(a->list.cursor + (a->list.window + 1) % 2, base + n);
        if (a->count) simt_st_u64(a->count, base + n);
    }
    for (uint64_t x = from + mine; x - mine < to; x += at_once) {
        if (length != at_once) { /* else all is marked already */
            m = hkv_marks_of(w, a, x);
            n = hkv_block_sum(words, simt_popc(m.listed), &before);
        }
        hkv_list_stretch(a, x, m, base + before, by, part, order, buffer);
        base += n;
    }
}

/* orders: (HKV_STRETCH) words of shared memory for each warp; words: (32). */
SIMT_FN void hkv_list(const hkv_args *a, uint32_t by, uint8_t *buffer)
{
    SIMT_SHARED(uint32_t, orders, HKV_LIST_THREADS / 32 * HKV_STRETCH);
    SIMT_SHARED(uint64_t, words, 32);
    uint64_t length = hkv_segment_length(a), range = a->last - hkv_list_origin(a), drawn, s;
    uint32_t parts_log = a->list.parts_log;
    do {
        drawn = hkv_segment_draw(a, words);
        s = drawn >> parts_log;
        if (s * length < range)
            hkv_list_segment(a, s, by, (uint32_t)(drawn - (s << parts_log)), words,
                             orders + simt_thread() / 32 * HKV_STRETCH, buffer);
        /* else there is none left for a block that had one */
    } while (s * length < range && ((uint64_t)simt_blocks() >> parts_log) * length < range);
    hkv_segments_leave(a);
}

#endif
