/* SPDX-License-Identifier: Apache-2.0
 *
 * each.h - counts the operations of a mixed batch. This launch follows the launch of the batch. It is used where only
 * the device can read the array of operations. It reads one byte per item.
 */
#ifndef GPU_EACH_H
#define GPU_EACH_H

#include "base/op.h"
#include "simt/simt.h"

typedef struct gpu_each_args {
    const uint8_t *each; /* (n), hd_op */
    uint64_t n;
    uint64_t *op; /* (HD_OP_COUNT_): the kernel adds its counts; operations that cannot be mixed are not counted */
} gpu_each_args;

/* Lane r of a warp counts operation r. */
SIMT_FN void gpu_count_each(const gpu_each_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t threads = (uint64_t)simt_blocks() * simt_threads(), mine = 0,
             first = (uint64_t)simt_block() * simt_threads() + simt_thread() - w.rank;
    for (uint64_t i = first; i < a->n; i += threads) {
        uint32_t op = i + w.rank < a->n ? simt_ld_u8(a->each + i + w.rank) : HD_OP_COUNT_;
        simt_join();
        for (uint32_t o = 0; o < HD_OP_COUNT_; o++) {
            uint32_t with = simt_ballot(w, op == o);
            mine += w.rank == o ? simt_popc(with) : 0;
        }
        simt_join();
    }
    simt_join();
    if (mine && HD_OP_IN(w.rank, HD_OPS_MIX)) simt_add_u64(a->op + w.rank, mine, SIMT_RELAXED);
}

#endif
