/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "lost": "again and again" */
#include "puzzles/lock/given.h"

SIMT_KERNEL(lock, lock_args, a)
{
    simt_tile t = simt_tile_of(simt_threads());
    uint64_t amount = simt_ld_u64(&a.amount[t.rank]);
    if (simt_cas_u32(a.lock, 0, 1, SIMT_ACQUIRE) == 0) {
        uint64_t sum = simt_ld_u64(a.sum);
        uint64_t count = simt_ld_u64(a.count);
        simt_st_u64(a.sum, sum + amount);
        simt_st_u64(a.count, count + 1);
        simt_strel_u32(a.lock, 0);
    }
    uint32_t large = simt_popc(simt_ballot(t, amount >= LARGE));
    if (t.rank == 0) simt_st_u32(a.large, large);
}
