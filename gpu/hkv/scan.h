/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.h - what goes over all slots: counting, erasing by predicate, clearing, and lists.
 *
 * A list is written in order by two launches. The range, of slots or of a batch's items, is cut into segments, one to a
 * warp: the first launch counts what each has to list; in the second each adds up what the segments before it have, and
 * writes from there. No lane waits for another, and the order does not depend on any.
 */
#ifndef HKV_SCAN_H
#define HKV_SCAN_H

/* Predicates are also the host's functions, so that CUDA may not have them call its own; a plain load is what it would be. */
#ifndef __CUDACC__
#define HD_VALUE_BYTE(p) simt_ld_u8(p)
#endif

#include "gpu/hkv/group.h"
#include "predicates/predicate.h"

/* Who copies a listed value. */
enum { HKV_BY_LANE, HKV_BY_GROUP, HKV_BY_WARP };

SIMT_FN uint64_t hkv_warp_number(void) { return ((uint64_t)simt_block() * simt_threads() + simt_thread()) / 32; }
SIMT_FN uint64_t hkv_warps(void) { return (uint64_t)simt_blocks() * simt_threads() / 32; }

/* ---- What is asked of a slot ---------------------------------------------------------------------------- */

SIMT_FN bool hkv_holds(const hkv_args *a, uint64_t e)
{
    if (simt_ld_u8(a->v.digest + e) == HKV_NO_DIGEST) return false;
    if (a->predicate == HD_PREDICATE_all) return true;
    uint64_t key = simt_ld_u64(hkv_key_at(&a->v, e));
    uint64_t score = simt_ld_u64(hkv_score_at(&a->v, e));
    return hd_predicate_holds(a->predicate, key, score, hkv_value(&a->v, e), a->v.value_bytes, a->pred_arg[0], a->pred_arg[1]);
}

/* 1 when slot e counts; erase_if: and is empty from now on. */
SIMT_FN uint32_t hkv_sweep_slot(const hkv_args *a, uint64_t e)
{
    if (!hkv_holds(a, e)) return 0;
    if (a->op != HD_OP_ERASE_IF) return 1;
    if (hkv_is_pinned(a, simt_ld_u64(hkv_key_at(&a->v, e)))) return 0;
    simt_st_u64(hkv_score_at(&a->v, e), 0);
    hkv_lower_bound(&a->v, e, 0);
    simt_st_u8(a->v.digest + e, HKV_NO_DIGEST);
    simt_st_u64(hkv_key_at(&a->v, e), HD_KEY_EMPTY);
    return 1;
}

SIMT_FN void hkv_count_up(const hkv_args *a, uint64_t n)
{
    simt_tile w = simt_tile_of(32);
    n = simt_reduce_add_u64(w, n);
    if (a->count && n && w.rank == 0) simt_add_u64(a->count, n, SIMT_RELAXED);
}

/* A thread takes one slot after another of its own. */
SIMT_FN void hkv_sweep_slots(const hkv_args *a)
{
    uint64_t n = 0, step = (uint64_t)simt_blocks() * simt_threads();
    for (uint64_t e = a->first + (uint64_t)simt_block() * simt_threads() + simt_thread(); e < a->last; e += step) n += hkv_sweep_slot(a, e);
    hkv_count_up(a, n);
}

/* A thread takes sixteen slots, whose digests it reads at once: of empty slots nothing else is read. */
SIMT_FN void hkv_sweep_lines(const hkv_args *a)
{
    uint64_t n = 0, step = 16 * (uint64_t)simt_blocks() * simt_threads();
    for (uint64_t e = a->first + 16 * ((uint64_t)simt_block() * simt_threads() + simt_thread()); e < a->last; e += step) {
        uint32_t full = 0xffff;
        if (e % 16 == 0 && a->last - e >= 16) {
            simt_v4 d = simt_ld_v4((const simt_v4 *)(const void *)(a->v.digest + e));
            if ((d.x | d.y | d.z | d.w) == 0) continue;
        } else if (a->last - e < 16) {
            full >>= 16 - (uint32_t)(a->last - e);
        }
        for (; full; full &= full - 1) n += hkv_sweep_slot(a, e + simt_ffs(full) - 1);
    }
    hkv_count_up(a, n);
}

/* ---- Clear ------------------------------------------------------------------------------------------------- */

SIMT_FN void hkv_clear_pins(const hkv_args *a, uint64_t thread, uint64_t threads)
{
    for (uint64_t i = thread; i < a->v.pin_places; i += threads) simt_st_u64(&a->v.pin[i].key, HD_KEY_EMPTY);
    if (thread == 0) simt_st_u32(a->pins, 0);
}

SIMT_FN void hkv_clear_slots(const hkv_args *a)
{
    uint64_t thread = (uint64_t)simt_block() * simt_threads() + simt_thread(), threads = (uint64_t)simt_blocks() * simt_threads();
    for (uint64_t e = a->first + thread; e < a->last; e += threads) {
        simt_st_u64(hkv_key_at(&a->v, e), HD_KEY_EMPTY);
        simt_st_u64(hkv_score_at(&a->v, e), 0);
        simt_st_u8(a->v.digest + e, HKV_NO_DIGEST);
        if (a->v.bound && e % HKV_BOUNDED == 0) simt_st_u64(a->v.bound + e / HKV_BOUNDED, 0);
    }
    hkv_clear_pins(a, thread, threads);
}

/* Plane after plane in 16-byte stores; thread 0 sees to what is left of them at the end. */
SIMT_FN void hkv_clear_planes(const hkv_args *a)
{
    uint64_t thread = (uint64_t)simt_block() * simt_threads() + simt_thread(), threads = (uint64_t)simt_blocks() * simt_threads(), n = a->last;
    simt_v4 none, empty, pair;
    none.x = none.y = none.z = none.w = pair.z = pair.w = 0;
    empty.x = empty.y = empty.z = empty.w = pair.x = pair.y = 0xffffffffu;
    for (uint64_t i = thread; i < n / 16; i += threads) simt_st_v4((simt_v4 *)(void *)(a->v.digest + 16 * i), none);
    if (a->v.step == 1) {
        for (uint64_t i = thread; i < n / 2; i += threads) simt_st_v4((simt_v4 *)(void *)(a->v.key + 2 * i), empty);
        for (uint64_t i = thread; i < n / 2; i += threads) simt_st_v4((simt_v4 *)(void *)(a->v.score + 2 * i), none);
    } else {
        for (uint64_t i = thread; i < n; i += threads) simt_st_v4((simt_v4 *)(void *)(a->v.key + 2 * i), pair);
    }
    for (uint64_t i = thread; a->v.bound && i < n / HKV_BOUNDED; i += threads) simt_st_u64(a->v.bound + i, 0);
    if (thread == 0) {
        for (uint64_t e = n - n % 16; e < n; e++) simt_st_u8(a->v.digest + e, HKV_NO_DIGEST);
        if (n % 2 && a->v.step == 1) simt_st_u64(a->v.key + n - 1, HD_KEY_EMPTY);
        if (n % 2 && a->v.step == 1) simt_st_u64(a->v.score + n - 1, 0);
    }
    hkv_clear_pins(a, thread, threads);
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

SIMT_FN uint64_t hkv_segment_length(const hkv_args *a) { return ((a->last - a->first + HKV_SEGMENTS - 1) / HKV_SEGMENTS + 31) & ~31ull; }

/* What item, or slot, x lists. */
SIMT_FN uint32_t hkv_listed(const hkv_args *a, uint64_t x)
{
    if (a->stage_flag) return simt_ld_u8(a->stage_flag + (x - a->first));
    return hkv_holds(a, x) ? HKV_LISTED : HKV_NOT_LISTED;
}

SIMT_FN void hkv_list_count(const hkv_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t length = hkv_segment_length(a);
    for (uint64_t s = hkv_warp_number(); a->first + s * length < a->last; s += hkv_warps()) {
        uint64_t n = 0, from = a->first + s * length, to = a->last - from < length ? a->last : from + length;
        for (uint64_t x = from + w.rank; x < to; x += 32) n += hkv_listed(a, x) != HKV_NOT_LISTED;
        n = simt_reduce_add_u64(w, n);
        if (w.rank == 0) simt_st_u64(a->segment + s, n);
    }
}

/* How much of the list the segments before s have. */
SIMT_FN uint64_t hkv_list_base(simt_tile w, const hkv_args *a, uint64_t s)
{
    uint64_t n = 0;
    for (uint64_t k = w.rank; k < s; k += 32) n += simt_ld_u64(a->segment + k);
    n = simt_reduce_add_u64(w, n);
    return n + simt_ld_u64(a->cursor + a->window % 2);
}

SIMT_FN void hkv_list_heads(const hkv_args *a, uint64_t x, uint64_t at, uint32_t listed)
{
    const uint64_t *key = a->stage_flag ? (listed == HKV_LISTED_INPUT ? a->key + x : a->stage_key + (x - a->first)) : hkv_key_at(&a->v, x);
    const uint64_t *score = a->stage_flag ? a->stage_score + (x - a->first) : hkv_score_at(&a->v, x);
    if (a->list_key) simt_st_u64(a->list_key + at, simt_ld_u64(key));
    if (a->list_score && a->op != HD_OP_FIND_MISSED) simt_st_u64(a->list_score + at, simt_ld_u64(score));
    if (a->list_item) simt_st_u64(a->list_item + at, x);
}

SIMT_FN const uint8_t *hkv_listed_value(const hkv_args *a, uint64_t x, uint32_t listed)
{
    uint64_t bytes = a->v.value_bytes;
    if (!a->stage_flag) return hkv_value(&a->v, x);
    return listed == HKV_LISTED_INPUT ? a->value + x * bytes : a->stage_value + (x - a->first) * bytes;
}

SIMT_FN void hkv_list_write(const hkv_args *a, uint32_t by, uint8_t *buffer)
{
    simt_tile w = simt_tile_of(32), g = simt_tile_of(HKV_GROUP), alone = simt_tile_of(1);
    uint32_t bytes = a->v.value_bytes;
    uint64_t length = hkv_segment_length(a);
    bool values = a->list_value && bytes && a->op != HD_OP_FIND_MISSED;
    for (uint64_t s = hkv_warp_number(); a->first + s * length < a->last; s += hkv_warps()) {
        uint64_t from = a->first + s * length, to = a->last - from < length ? a->last : from + length, base = hkv_list_base(w, a, s);
        for (uint64_t x0 = from; x0 < to; x0 += 32) {
            uint64_t x = x0 + w.rank;
            uint32_t listed = x < to ? hkv_listed(a, x) : HKV_NOT_LISTED;
            uint32_t lanes = simt_ballot(w, listed != HKV_NOT_LISTED);
            uint64_t at = base + simt_popc(lanes & ((1u << w.rank) - 1));
            bool value = values && listed != HKV_NOT_LISTED;
            const uint8_t *source = value ? hkv_listed_value(a, x, listed) : (const uint8_t *)0;
            uint8_t *target = value ? a->list_value + at * bytes : (uint8_t *)0;
            if (listed != HKV_NOT_LISTED) hkv_list_heads(a, x, at, listed);
            if (value && by == HKV_BY_LANE) hkv_copy(alone, target, source, bytes, true);
            if (values && by == HKV_BY_GROUP) hkv_group_copy(g, buffer, value, target, source, bytes);
            for (uint32_t left = values && by == HKV_BY_WARP ? lanes : 0; left; left &= left - 1) {
                uint32_t who = simt_ffs(left) - 1;
                const uint8_t *p = (const uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)source, who);
                uint8_t *q = (uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)target, who);
                hkv_copy(w, q, p, bytes, false);
            }
            base += simt_popc(lanes);
        }
        if (to == a->last && w.rank == 0) {
            simt_st_u64(a->cursor + (a->window + 1) % 2, base);
            if (a->count) simt_st_u64(a->count, base);
        }
    }
}

#endif
