/* SPDX-License-Identifier: Apache-2.0
 *
 * sort_launch.h - launches the passes of sort.h.
 */
#ifndef GPU_SORT_LAUNCH_H
#define GPU_SORT_LAUNCH_H

#include "base/backend.h"
#include "gpu/sort.h"

/* The numbers of a design's kernels that call gpu_sort_count, gpu_sort_scan and gpu_sort_lay. */
typedef struct gpu_sort_kernels {
    uint32_t count, scan, lay;
} gpu_sort_kernels;

/* Shares of a sort of n words, at most `most`. */
static inline uint32_t gpu_sort_shares(uint64_t n, uint32_t most)
{
    uint64_t shares = n / GPU_SORT_SHARE + (n % GPU_SORT_SHARE != 0);
    return shares < most ? (uint32_t)shares : most;
}

/* How many words `count` of gpu_sort_launch has. */
static inline uint64_t gpu_sort_counts(uint32_t shares_most) { return GPU_SORT_DIGITS * ((uint64_t)shares_most + 1); }

/* Sorts n words, 0 < n < 2^32, or as many as *fewer says, by their codes, which are below 2^bits. words (n) has them,
 * other (n) is room; *sorted becomes that of the two which has the result. count: (gpu_sort_counts(shares_most)) */
static inline hd_status gpu_sort_launch(const hd_launcher *l, gpu_sort_kernels k, uint64_t n, const uint64_t *fewer,
                                        uint32_t bits, uint64_t *words, uint64_t *other, uint32_t *count,
                                        uint32_t shares_most, uint64_t **sorted)
{
    gpu_sort a = { words, other, count, n, fewer, 0, 0, gpu_sort_shares(n, shares_most) };
    uint64_t blocks = hd_launch_blocks(l, (uint64_t)a.shares * 32, GPU_SORT_THREADS);
    hd_status status = HD_OK;
    HD_ASSERT(n > 0 && n <= UINT32_MAX && a.shares > 0, "an item has no number of 32 bits");
    HD_ASSERT(bits <= 32 && words != other, "a code has more than 32 bits");
    *sorted = words;
    for (; a.shift < bits && !status; a.shift += GPU_SORT_BITS) {
        uint32_t left = bits - a.shift;
        a.digits = 1u << (left < GPU_SORT_BITS ? left : GPU_SORT_BITS);
        a.from = *sorted;
        a.to = *sorted == words ? other : words;
        status = l->launch(l->self, k.count, &a, sizeof a, blocks, GPU_SORT_THREADS);
        if (!status)
            status = l->launch(l->self, k.scan, &a, sizeof a, hd_launch_blocks(l, a.digits * 32, GPU_SORT_THREADS),
                               GPU_SORT_THREADS);
        if (!status) status = l->launch(l->self, k.lay, &a, sizeof a, blocks, GPU_SORT_THREADS);
        *sorted = a.to;
    }
    return status;
}

#endif
