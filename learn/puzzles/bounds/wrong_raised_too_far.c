/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "too high": "never above" */
#include "puzzles/bounds/given.h"

SIMT_KERNEL(bounds, bounds_args, a)
{
    simt_tile t = simt_tile_of(8);
    uint32_t b = (simt_block() * simt_threads() + simt_thread()) / 8, victim = 0;
    if (b >= a.n) return;
    uint64_t bound = simt_ld_u64(&a.bounds[b * GROUPS + t.rank]);
    for (;;) {
        uint64_t low = simt_reduce_min_u64(t, bound);
        uint32_t g = simt_ffs(simt_ballot(t, bound == low)) - 1;
        uint64_t score = simt_ld_u64(&a.scores[b * SLOTS + g * GROUP + t.rank]);
        uint64_t least = simt_reduce_min_u64(t, score);
        uint64_t others = simt_reduce_min_u64(t, t.rank == g ? UINT64_MAX : bound);
        victim = g * GROUP + simt_ffs(simt_ballot(t, score == least)) - 1;
        if (least <= others) break;
        if (t.rank == g) {
            bound = least;
            simt_st_u64(&a.bounds[b * GROUPS + g], least + 1);
        }
    }
    if (t.rank == 0) simt_st_u32(&a.victim[b], victim);
}
