/* SPDX-License-Identifier: Apache-2.0
 *
 * tile.h - collectives that a thread alone does without. A step is written for a tile of any size; with a tile of one
 * lane, a constant, they fold away and what is left is a thread's code. Macros, so that each keeps its caller's line.
 */
#ifndef HKV_TILE_H
#define HKV_TILE_H

#include "simt/simt.h"

#define HKV_BALLOT(t, p)  ((t).size == 1 ? (uint32_t)((p) != 0) : simt_ballot(t, p))
#define HKV_ANY(t, p)     ((t).size == 1 ? (p) : simt_any(t, p))
#define HKV_FROM0(t, v)   ((t).size == 1 ? (uint32_t)(v) : simt_shfl_u32(t, v, 0))
#define HKV_FROM(t, v, r) ((t).size == 1 ? (uint32_t)(v) : simt_shfl_u32(t, v, r))
#define HKV_LEAST32(t, v) ((t).size == 1 ? (uint32_t)(v) : simt_reduce_min_u32(t, v))
#define HKV_LEAST64(t, v) ((t).size == 1 ? (uint64_t)(v) : simt_reduce_min_u64(t, v))
#define HKV_SUM32(t, v)   ((t).size == 1 ? (uint32_t)(v) : simt_reduce_add_u32(t, v))
#define HKV_SYNC(t)                          \
    do {                                     \
        if ((t).size > 1) simt_sync_tile(t); \
    } while (0)

SIMT_FN uint64_t hkv_warp_number(void) { return ((uint64_t)simt_block() * simt_threads() + simt_thread()) / 32; }
SIMT_FN uint64_t hkv_warps(void) { return (uint64_t)simt_blocks() * simt_threads() / 32; }

/* How many of the lanes in `who`, a warp's ballot, come before this one. */
SIMT_FN uint32_t hkv_place_among(simt_tile w, uint32_t who) { return simt_popc(who & ((1u << w.rank) - 1)); }

#endif
