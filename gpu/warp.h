/* SPDX-License-Identifier: Apache-2.0
 *
 * warp.h - what warps of any kernel do alike: sums of the lanes before a lane, and shares of the work of a launch.
 */
#ifndef GPU_WARP_H
#define GPU_WARP_H

#include "simt/simt.h"

/* What the lanes before this one have, added up. All lanes of the warp call it. */
SIMT_FN uint32_t gpu_sum_before(simt_tile w, uint32_t n)
{
    uint32_t sum = n;
    SIMT_UNROLL
    for (uint32_t d = 1; d < 32; d *= 2) {
        uint32_t other = simt_shfl_u32(w, sum, w.rank >= d ? w.rank - d : w.rank);
        if (w.rank >= d) sum += other;
    }
    return sum - n;
}

/* The same; *all: what all lanes have. */
SIMT_FN uint32_t gpu_sum_before_all(simt_tile w, uint32_t n, uint32_t *all)
{
    uint32_t before = gpu_sum_before(w, n);
    *all = simt_shfl_u32(w, before + n, 31);
    return before;
}

/* The number of this warp in the launch, and how many there are. */
SIMT_FN uint32_t gpu_warp(void) { return (uint32_t)(((uint64_t)simt_block() * simt_threads() + simt_thread()) / 32); }
SIMT_FN uint32_t gpu_warps(void) { return simt_blocks() * (simt_threads() / 32); }

/* The first of n items in a share of them, in steps of a warp; n: there is none. */
SIMT_FN uint64_t gpu_share_begin(uint64_t n, uint32_t share, uint32_t shares)
{
    uint64_t first = (n + 31) / 32 * share / shares * 32;
    return first < n ? first : n;
}

#endif
