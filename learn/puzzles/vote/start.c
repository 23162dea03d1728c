/* SPDX-License-Identifier: Apache-2.0 */
#include "puzzles/vote/given.h"

SIMT_KERNEL(vote, vote_args, a)
{
    simt_tile t = simt_tile_of(LANES);
    uint32_t total = 0;

    /* Count the old ones, eight items at a time. */

    if (t.rank == 0) simt_st_u32(a.old_ones, total);
}
