/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "lost": "one step" */
#include "puzzles/insert/given.h"

SIMT_KERNEL(insert, insert_args, a)
{
    uint32_t i = simt_thread(), place = FULL;
    if (i >= a.n) return;
    uint64_t key = simt_ld_u64(&a.key[i]);
    for (uint32_t s = 0; s < SLOTS && place == FULL; s++) {
        if (simt_ldrlx_u64(&a.keys[s]) != 0) continue;
        simt_cas_u64(&a.keys[s], 0, key, SIMT_RELAXED);
        place = s;
    }
    simt_st_u32(&a.place[i], place);
}
