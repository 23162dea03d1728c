/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "missed": "digest_of" */
#include "puzzles/digests/given.h"

SIMT_KERNEL(digests, digests_args, a)
{
    simt_tile t = simt_tile_of(32);
    uint32_t i = (simt_block() * simt_threads() + simt_thread()) / 32;
    if (i >= a.n) return;
    uint64_t wanted = simt_ld_u64(&a.wanted[i]);
    uint32_t b = simt_ld_u32(&a.bucket[i]);
    bool hit = simt_ld_u8(&a.digests[b * SLOTS + t.rank]) == (wanted & 0xff);
    if (hit) hit = simt_ld_u64(&a.keys[b * SLOTS + t.rank]) == wanted;
    uint32_t found = simt_ballot(t, hit);
    if (t.rank == 0) simt_st_u32(&a.place[i], found ? simt_ffs(found) - 1 : NOWHERE);
}
