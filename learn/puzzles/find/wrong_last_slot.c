/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "missed": "every slot" */
#include "puzzles/find/given.h"

SIMT_KERNEL(find, find_args, a)
{
    uint32_t i = simt_thread(), place = NOWHERE;
    if (i >= a.n) return;
    uint64_t wanted = simt_ld_u64(&a.wanted[i]);
    uint32_t b = simt_ld_u32(&a.bucket[i]);
    for (uint32_t s = 0; s < SLOTS - 1 && place == NOWHERE; s++)
        if (simt_ld_u64(&a.keys[b * SLOTS + s]) == wanted) place = s;
    simt_st_u32(&a.place[i], place);
}
