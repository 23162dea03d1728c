/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "lane left": "goes on to vote" */
#include "puzzles/vote/given.h"

SIMT_KERNEL(vote, vote_args, a)
{
    simt_tile t = simt_tile_of(LANES);
    uint32_t total = 0;
    for (uint32_t i = t.rank; i < a.n; i += LANES) {
        bool is_old = simt_ld_u32(&a.age[i]) >= OLD;
        total += simt_popc(simt_ballot(t, is_old));
    }
    if (t.rank == 0) simt_st_u32(a.old_ones, total);
}
