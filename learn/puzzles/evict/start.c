/* SPDX-License-Identifier: Apache-2.0 */
#include "puzzles/evict/given.h"

SIMT_KERNEL(evict, evict_args, a)
{
    uint32_t i = simt_thread();
    if (i >= a.n) return;
    uint64_t score = simt_ld_u64(&a.score[i]), evicted = REFUSED;

    /* Find the victim, and decide. */

    simt_st_u64(&a.evicted[i], evicted);
}
