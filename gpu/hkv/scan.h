/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.h - what goes over all slots: counting, erasing by predicate, clearing.
 *
 * A warp takes a stretch of 512 slots at a time. Each lane reads sixteen digests of it, which is all that counting
 * needs; what a predicate asks of an entry is read 32 consecutive slots at a time, and of empty ones nothing is.
 */
#ifndef HKV_SCAN_H
#define HKV_SCAN_H

/* Predicates are also the host's functions, so that CUDA may not have them call its own; a plain load is what it would
 * be. */
#ifndef __CUDACC__
#define HD_VALUE_BYTE(p) simt_ld_u8(p)
#endif

#include "gpu/hkv/copy_group.h"
#include "policies/predicates/predicate.h"

enum { HKV_STRETCH = 512 /* slots, or items, of a warp: sixteen of a lane */ };

/* ---- What is asked of a slot ----------------------------------------------------------------- */

SIMT_FN void hkv_pair_at(const hkv_view *v, uint64_t e, uint64_t *key, uint64_t *score)
{
    if (v->step == 2) {
        simt_v4 pair = simt_ldcs_v4((const simt_v4 *)(const void *)hkv_key_at(v, e));
        *key = (uint64_t)pair.y << 32 | pair.x;
        *score = (uint64_t)pair.w << 32 | pair.z;
    } else {
        *key = simt_ld_u64(hkv_key_at(v, e));
        *score = simt_ld_u64(hkv_score_at(v, e));
    }
}

/* Of slot e, which is not empty. */
SIMT_FN bool hkv_holds(const hkv_args *a, uint64_t e)
{
    uint64_t key, score;
    if (a->predicate == HD_PREDICATE_all) return true;
    hkv_pair_at(&a->v, e, &key, &score);
    return hd_predicate_holds(a->predicate, key, score, hkv_value(&a->v, e), a->v.value_bytes, a->pred_arg[0],
                              a->pred_arg[1]);
}

/* True when slot e, which is not empty, counts; erase_if: and is empty from now on. */
SIMT_FN bool hkv_sweep_slot(const hkv_args *a, uint64_t e)
{
    if (!hkv_holds(a, e)) return false;
    if (a->op != HD_OP_ERASE_IF) return true;
    if (hkv_is_pinned(a, e)) return false;
    simt_st_u64(hkv_score_at(&a->v, e), 0);
    hkv_lower_bound(&a->v, e, 0);
    simt_st_u8(a->v.digest + e, HKV_NO_DIGEST);
    simt_st_u64(hkv_key_at(&a->v, e), HD_KEY_EMPTY);
    return true;
}

/* A bit for each of this lane's sixteen slots of the stretch at x, a multiple of sixteen, that is within [first, last)
 * and not empty. */
SIMT_FN uint32_t hkv_filled16(simt_tile w, const hkv_args *a, uint64_t x)
{
    uint32_t filled = 0;
    x += 16 * w.rank;
    if (x >= a->first && x < a->last && a->last - x >= 16)
        return ~hkv_bits16(simt_ldcs_v4((const simt_v4 *)(const void *)(a->v.digest + x)), HKV_NO_DIGEST) & 0xffff;
    for (uint64_t e = x < a->first ? a->first : x, end = x + 16 < a->last ? x + 16 : a->last; e < end; e++)
        if (simt_ld_u8(a->v.digest + e) != HKV_NO_DIGEST) filled |= 1u << (e - x);
    return filled;
}

/* Which of the slots that its lanes found filled in the stretch at x count. The warp asks 32 that follow each other. */
SIMT_FN uint32_t hkv_sweep16(simt_tile w, const hkv_args *a, uint64_t x, uint32_t filled)
{
    uint32_t counts = 0;
    if (a->predicate == HD_PREDICATE_all && a->op != HD_OP_ERASE_IF) return filled;
    simt_sync_tile(w); /* digests were read by other lanes than those that erase them */
    for (uint32_t k = 0; k < HKV_STRETCH / 32; k++) {
        uint32_t theirs = simt_shfl_u32(w, filled, 2 * k + w.rank / 16);
        bool mine = theirs >> w.rank % 16 & 1;
        if (mine) mine = hkv_sweep_slot(a, x + 32 * k + w.rank);
        simt_join();
        uint32_t all = simt_ballot(w, mine);
        if (w.rank / 2 == k) counts = w.rank % 2 ? all >> 16 : all & 0xffff;
    }
    return counts;
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
    for (uint64_t e = a->first + (uint64_t)simt_block() * simt_threads() + simt_thread(); e < a->last; e += step)
        if (simt_ld_u8(a->v.digest + e) != HKV_NO_DIGEST) n += hkv_sweep_slot(a, e);
    hkv_count_up(a, n);
}

SIMT_FN void hkv_sweep_stretches(const hkv_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t n = 0;
    for (uint64_t x = HKV_STRETCH * hkv_warp_number(); x < a->last; x += HKV_STRETCH * hkv_warps())
        n += simt_popc(hkv_sweep16(w, a, x, hkv_filled16(w, a, x)));
    hkv_count_up(a, n);
}

/* ---- Clear ----------------------------------------------------------------------------------- */

SIMT_FN void hkv_clear_pins(const hkv_args *a, uint64_t thread, uint64_t threads)
{
    uint64_t *holder = hkv_holders(a);
    for (uint64_t e = thread; holder && e < a->last; e += threads) simt_st_u64(holder + e, 0);
    if (thread == 0) simt_st_u64(&a->pins->count, 0);
}

SIMT_FN void hkv_clear_slots(const hkv_args *a)
{
    uint64_t thread = (uint64_t)simt_block() * simt_threads() + simt_thread(),
             threads = (uint64_t)simt_blocks() * simt_threads();
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
    uint64_t thread = (uint64_t)simt_block() * simt_threads() + simt_thread(),
             threads = (uint64_t)simt_blocks() * simt_threads(), n = a->last;
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

#endif
