/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "cost": "Skip those" */
#include "puzzles/bounds/given.h"

SIMT_KERNEL(bounds, bounds_args, a)
{
    simt_tile t = simt_tile_of(8);
    uint32_t b = (simt_block() * simt_threads() + simt_thread()) / 8, victim = 0;
    if (b >= a.n) return;
    uint64_t bound = simt_ld_u64(&a.bounds[b * GROUPS + t.rank]);
    uint64_t best = UINT64_MAX;
    uint32_t slot = 0;
    (void)bound;
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint64_t score = simt_ld_u64(&a.scores[b * SLOTS + g * GROUP + t.rank]);
        if (score >= best) continue;
        best = score;
        slot = g * GROUP + t.rank;
    }
    uint64_t least = simt_reduce_min_u64(t, best);
    uint32_t who = simt_ffs(simt_ballot(t, best == least)) - 1;
    victim = simt_shfl_u32(t, slot, who);
    if (t.rank == 0) simt_st_u32(&a.victim[b], victim);
}
