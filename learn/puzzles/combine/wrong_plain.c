/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "data race": "other warps" */
#include "puzzles/combine/given.h"

SIMT_KERNEL(combine, combine_args, a)
{
    simt_tile t = simt_tile_of(32);
    uint32_t i = simt_block() * simt_threads() + simt_thread();
    uint64_t slot = UINT64_MAX;
    if (i < a.n) slot = simt_ld_u32(&a.slot[i]);
    uint32_t same = simt_match_u64(t, slot);
    if (i < a.n && t.rank == simt_ffs(same) - 1) {
        uint32_t count = simt_ld_u32(&a.count[slot]);
        simt_st_u32(&a.count[slot], count + simt_popc(same));
    }
}
