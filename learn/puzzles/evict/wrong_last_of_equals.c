/* SPDX-License-Identifier: Apache-2.0 */
/* rejected by "tie": "first slot" */
#include "puzzles/evict/given.h"

SIMT_KERNEL(evict, evict_args, a)
{
    uint32_t i = simt_thread();
    if (i >= a.n) return;
    uint64_t score = simt_ld_u64(&a.score[i]), evicted = REFUSED;
    uint64_t least = UINT64_MAX;
    uint32_t victim = 0;
    for (uint32_t s = 0; s < SLOTS; s++) {
        uint64_t v = simt_ld_u64(&a.scores[i * SLOTS + s]);
        if (v > least) continue;
        least = v;
        victim = i * SLOTS + s;
    }
    if (score >= least) {
        evicted = simt_ld_u64(&a.keys[victim]);
        uint64_t key = simt_ld_u64(&a.key[i]);
        simt_st_u64(&a.keys[victim], key);
        simt_st_u64(&a.scores[victim], score);
    }
    simt_st_u64(&a.evicted[i], evicted);
}
