/* SPDX-License-Identifier: Apache-2.0
 *
 * each.h - counts the operations of a mixed batch. This launch follows the launch of the batch. It is used where only
 * the device can read the array of operations. It reads one byte per item, sixteen
 * of them at a time.
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

enum {
    GPU_EACH_ITEMS = 16, /* of a lane at a time: one load */
    GPU_EACH_LOADS = 15  /* so many items have counts of eight bits */
};

/* A lane's counts: eight bits for each operation, eight operations in a word. */
typedef struct gpu_each_counts {
    uint64_t of[4];
} gpu_each_counts;

/* Counts the four operations in a word. Numbers above 31 are not counted. */
SIMT_FN void gpu_each_count(gpu_each_counts *c, uint32_t word)
{
    SIMT_UNROLL
    for (uint32_t byte = 0; byte < 4; byte++) {
        uint32_t op = word >> 8 * byte & 255;
        uint64_t one = 1ull << 8 * (op & 7);
        SIMT_UNROLL
        for (uint32_t k = 0; k < 4; k++) c->of[k] += op >> 3 == k ? one : 0;
    }
}

/* Sixteen operations from item i on; 255 beyond the last. */
SIMT_FN simt_v4 gpu_each_load(const gpu_each_args *a, uint64_t i)
{
    simt_v4 v;
    v.x = v.y = v.z = v.w = UINT32_MAX;
    if (i + GPU_EACH_ITEMS <= a->n && (uintptr_t)a->each % 16 == 0)
        return simt_ld_v4((const simt_v4 *)(const void *)(a->each + i));
    for (uint32_t b = 0; b < GPU_EACH_ITEMS && i + b < a->n; b++) {
        uint32_t shift = 8 * (b % 4), op = simt_ld_u8(a->each + i + b), clear = ~(255u << shift);
        if (b / 4 == 0) v.x = (v.x & clear) | op << shift;
        if (b / 4 == 1) v.y = (v.y & clear) | op << shift;
        if (b / 4 == 2) v.z = (v.z & clear) | op << shift;
        if (b / 4 == 3) v.w = (v.w & clear) | op << shift;
    }
    return v;
}

/* Adds the warp's counts to those of lane r for operation r, and clears them. */
SIMT_FN uint64_t gpu_each_sum(simt_tile w, gpu_each_counts *c)
{
    uint64_t mine = 0;
    SIMT_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
        SIMT_ROLLED
        for (uint32_t byte = 0; byte < 8; byte++) {
            uint32_t n = simt_reduce_add_u32(w, (uint32_t)(c->of[k] >> 8 * byte) & 255);
            if (w.rank == 8 * k + byte) mine += n;
        }
        c->of[k] = 0;
    }
    return mine;
}

/* Lane r of a warp adds up the counts of operation r. */
SIMT_FN void gpu_count_each(const gpu_each_args *a)
{
    simt_tile w = simt_tile_of(32);
    gpu_each_counts c = { { 0, 0, 0, 0 } };
    uint64_t lanes = (uint64_t)simt_blocks() * simt_threads(), mine = 0,
             first = (uint64_t)simt_block() * simt_threads() + simt_thread() - w.rank;
    uint32_t loads = 0;
    for (uint64_t j = first; j * GPU_EACH_ITEMS < a->n; j += lanes) {
        simt_v4 ops = gpu_each_load(a, (j + w.rank) * GPU_EACH_ITEMS);
        simt_join();
        gpu_each_count(&c, ops.x);
        gpu_each_count(&c, ops.y);
        gpu_each_count(&c, ops.z);
        gpu_each_count(&c, ops.w);
        if (++loads % GPU_EACH_LOADS == 0) mine += gpu_each_sum(w, &c);
    }
    mine += gpu_each_sum(w, &c);
    if (mine && w.rank < HD_OP_COUNT_ && HD_OP_IN(w.rank, HD_OPS_MIX)) simt_add_u64(a->op + w.rank, mine, SIMT_RELAXED);
}

#endif
