/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "cost": "in a row" */
#include "puzzles/least/given.h"

SIMT_KERNEL(least, least_args, a)
{
    simt_tile t = simt_tile_of(32);
    uint32_t b = (simt_block() * simt_threads() + simt_thread()) / 32;
    if (b >= a.n) return;
    uint64_t least = UINT64_MAX;
    uint32_t slot = 0;
    for (uint32_t s = 0; t.rank == 0 && s < SLOTS; s++) {
        uint64_t score = simt_ld_u64(&a.scores[b * SLOTS + s]);
        if (score >= least) continue;
        least = score;
        slot = s;
    }
    if (t.rank == 0) simt_st_u32(&a.slot[b], slot);
}
