/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "cost": "only where its digest" */
#include "puzzles/digests/given.h"

SIMT_KERNEL(digests, digests_args, a)
{
    simt_tile t = simt_tile_of(32);
    uint32_t i = (simt_block() * simt_threads() + simt_thread()) / 32;
    if (i >= a.n) return;
    uint64_t wanted = simt_ld_u64(&a.wanted[i]);
    uint32_t b = simt_ld_u32(&a.bucket[i]);
    if (t.rank != 0) return;
    uint32_t place = NOWHERE;
    for (uint32_t s = 0; s < SLOTS; s++) {
        if (simt_ld_u8(&a.digests[b * SLOTS + s]) != digest_of(wanted)) continue;
        if (simt_ld_u64(&a.keys[b * SLOTS + s]) == wanted) place = s;
    }
    simt_st_u32(&a.place[i], place);
}
