/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "data race": "One lane" */
#include "puzzles/tile/given.h"

SIMT_KERNEL(tile, tile_args, a)
{
    simt_tile t = simt_tile_of(8);
    uint32_t i = (simt_block() * simt_threads() + simt_thread()) / 8;
    if (i >= a.n) return; /* all eight lanes of the tile */
    uint64_t wanted = simt_ld_u64(&a.wanted[i]);
    uint32_t b = simt_ld_u32(&a.bucket[i]);
    uint64_t key = simt_ld_u64(&a.keys[b * SLOTS + t.rank]);
    uint32_t found = simt_ballot(t, key == wanted);
    simt_st_u32(&a.place[i], found ? simt_ffs(found) - 1 : NOWHERE);
}
