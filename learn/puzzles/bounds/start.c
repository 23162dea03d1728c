/* SPDX-License-Identifier: Apache-2.0 */
#include "puzzles/bounds/given.h"

SIMT_KERNEL(bounds, bounds_args, a)
{
    simt_tile t = simt_tile_of(8);
    uint32_t b = (simt_block() * simt_threads() + simt_thread()) / 8, victim = 0;
    if (b >= a.n) return;
    uint64_t bound = simt_ld_u64(&a.bounds[b * GROUPS + t.rank]);

    /* Look for the least score, group by group. */

    if (t.rank == 0) simt_st_u32(&a.victim[b], victim);
}
