/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "data race": "One lane" */
#include "puzzles/vote/given.h"

SIMT_KERNEL(vote, vote_args, a)
{
    simt_tile t = simt_tile_of(LANES);
    uint32_t total = 0;
    for (uint32_t first = 0; first < a.n; first += LANES) {
        uint32_t i = first + t.rank;
        bool is_old = i < a.n && simt_ld_u32(&a.age[i]) >= OLD;
        total += simt_popc(simt_ballot(t, is_old));
    }
    simt_st_u32(a.old_ones, total);
}
