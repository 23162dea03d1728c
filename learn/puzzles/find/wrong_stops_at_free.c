/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "missed": "A free slot is not the end" */
#include "puzzles/find/given.h"

SIMT_KERNEL(find, find_args, a)
{
    uint32_t i = simt_thread(), place = NOWHERE;
    if (i >= a.n) return;
    uint64_t wanted = simt_ld_u64(&a.wanted[i]);
    uint32_t b = simt_ld_u32(&a.bucket[i]);
    for (uint32_t s = 0; s < SLOTS && place == NOWHERE; s++) {
        uint64_t key = simt_ld_u64(&a.keys[b * SLOTS + s]);
        if (key == 0) break;
        if (key == wanted) place = s;
    }
    simt_st_u32(&a.place[i], place);
}
