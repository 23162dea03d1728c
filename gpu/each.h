/* SPDX-License-Identifier: Apache-2.0
 *
 * each.h - counts the operations of a mixed batch at the end of its kernel, when the items are done. It is used where
 * only the device can read the array of operations. It reads one byte per item, sixteen of them at a time.
 */
#ifndef GPU_EACH_H
#define GPU_EACH_H

#include "base/op.h"
#include "simt/simt.h"

enum { GPU_EACH_ITEMS = 16 /* of a lane at a time: one load */ };

/* Sixteen operations from item i on; 255 beyond the last. each: (n) */
SIMT_FN simt_v4 gpu_each_load(const uint8_t *each, uint64_t n, uint64_t i)
{
    simt_v4 v;
    v.x = v.y = v.z = v.w = UINT32_MAX;
    if (i + GPU_EACH_ITEMS <= n && (uintptr_t)each % 16 == 0)
        return simt_ld_v4((const simt_v4 *)(const void *)(each + i));
    for (uint32_t b = 0; b < GPU_EACH_ITEMS && i + b < n; b++) {
        uint32_t shift = 8 * (b % 4), op = simt_ld_u8(each + i + b), clear = ~(255u << shift);
        if (b / 4 == 0) v.x = (v.x & clear) | op << shift;
        if (b / 4 == 1) v.y = (v.y & clear) | op << shift;
        if (b / 4 == 2) v.z = (v.z & clear) | op << shift;
        if (b / 4 == 3) v.w = (v.w & clear) | op << shift;
    }
    return v;
}

/* How many of the sixteen are operation `op`. */
SIMT_FN uint32_t gpu_each_equal(simt_v4 ops, uint32_t op)
{
    uint32_t all = op * 0x01010101u, one = 0x01010101u;
    uint32_t sums = (simt_eq4(ops.x, all) & one) + (simt_eq4(ops.y, all) & one) + (simt_eq4(ops.z, all) & one) +
                    (simt_eq4(ops.w, all) & one);
    return sums * one >> 24;
}

/* All threads of the launch call it. A lane counts the items that it loads, by operation. Lane r of a warp adds up the
 * counts of operation r, and the first warp those of the block. Operations that cannot be mixed are not counted.
 * each: (n), hd_op; op: (HD_OP_COUNT_), gets the sums added; sum: shared, a word for each thread of the block */
SIMT_FN void gpu_count_each(const uint8_t *each, uint64_t n, uint64_t *op, uint32_t *sum)
{
    simt_tile w = simt_tile_of(32);
    uint32_t count[HD_OP_COUNT_], mine = 0;
    uint64_t lanes = (uint64_t)simt_blocks() * simt_threads(),
             lane = (uint64_t)simt_block() * simt_threads() + simt_thread();
    SIMT_UNROLL
    for (uint32_t o = 0; o < HD_OP_COUNT_; o++) count[o] = 0;
    for (uint64_t j = lane; j * GPU_EACH_ITEMS < n; j += lanes) {
        simt_v4 ops = gpu_each_load(each, n, j * GPU_EACH_ITEMS);
        SIMT_UNROLL
        for (uint32_t o = 0; o < HD_OP_COUNT_; o++)
            if (HD_OP_IN(o, HD_OPS_MIX)) count[o] += gpu_each_equal(ops, o);
    }
    simt_join();
    SIMT_UNROLL
    for (uint32_t o = 0; o < HD_OP_COUNT_; o++)
        if (HD_OP_IN(o, HD_OPS_MIX)) {
            uint32_t all = simt_reduce_add_u32(w, count[o]);
            if (w.rank == o) mine = all;
        }
    simt_sync_block(); /* other warps may have used `sum` */
    simt_st_u32(sum + simt_thread(), mine);
    simt_sync_block();
    mine = 0;
    for (uint32_t k = simt_thread(); simt_thread() < 32 && k < simt_threads(); k += 32) mine += simt_ld_u32(sum + k);
    simt_join();
    if (mine) simt_add_u64(op + w.rank, mine, SIMT_RELAXED);
}

#endif
