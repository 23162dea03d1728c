/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "cost": "each lane reads one slot" */
#include "puzzles/tile/given.h"

SIMT_KERNEL(tile, tile_args, a)
{
    simt_tile t = simt_tile_of(8);
    uint32_t i = (simt_block() * simt_threads() + simt_thread()) / 8;
    if (i >= a.n) return; /* all eight lanes of the tile */
    uint64_t wanted = simt_ld_u64(&a.wanted[i]);
    uint32_t b = simt_ld_u32(&a.bucket[i]);
    uint32_t place = NOWHERE;
    for (uint32_t s = 0; t.rank == 0 && s < SLOTS; s++)
        if (simt_ld_u64(&a.keys[b * SLOTS + s]) == wanted) place = s;
    if (t.rank == 0) simt_st_u32(&a.place[i], place);
}
