/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "not least": "which lane" */
#include "puzzles/least/given.h"

SIMT_KERNEL(least, least_args, a)
{
    simt_tile t = simt_tile_of(32);
    uint32_t b = (simt_block() * simt_threads() + simt_thread()) / 32;
    if (b >= a.n) return;
    uint64_t best = UINT64_MAX;
    uint32_t slot = 0;
    for (uint32_t k = 0; k < SLOTS; k += 32) {
        uint64_t score = simt_ld_u64(&a.scores[b * SLOTS + k + t.rank]);
        if (score >= best) continue;
        best = score;
        slot = k + t.rank;
    }
    uint64_t least = simt_reduce_min_u64(t, best);
    uint32_t who = simt_ballot(t, best == least);
    if (who && t.rank == 0) simt_st_u32(&a.slot[b], slot);
}
