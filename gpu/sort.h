/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.h - puts the items of a batch into the order of codes of at most 32 bits. Items with equal codes stay in the
 * order of their numbers. A design chooses codes that grow with addresses: kernels that then run the items in order
 * access memory from its beginning to its end, and a warp can own a part of the table.
 *
 * It is a radix sort, least significant digit first, of words code << 32 | item. A pass sorts by one digit of eight
 * bits, in three launches:
 *
 *     gpu_sort_count   a warp takes a share of the words, all in one piece, and counts them by digit
 *     gpu_sort_scan    a warp takes a digit, and adds up the counts of the shares before each share; if there is only
 *                      one, a lane takes a digit
 *     gpu_sort_lay     a warp takes a share, and stores its words behind those of smaller digits and earlier shares
 *
 * Warps do not depend on each other inside a launch, so any number of blocks and warps is correct. sort_launch.h
 * launches the passes.
 */
#ifndef GPU_SORT_H
#define GPU_SORT_H

#include "gpu/warp.h"

enum {
    GPU_SORT_BITS = 8, /* of a digit, at most */
    GPU_SORT_DIGITS = 1 << GPU_SORT_BITS,
    GPU_SORT_OF_LANE = GPU_SORT_DIGITS / 32, /* digits that a lane sees to, at most: neighbours */
    GPU_SORT_THREADS = 256,                  /* of a block, at most */
    GPU_SORT_COUNTED = GPU_SORT_THREADS / 32 * GPU_SORT_DIGITS,
    GPU_SORT_AHEAD = 8,          /* words that a lane loads at a time: they do not wait for each other */
    GPU_SORT_SHARES_MOST = 1056, /* more are slower on an H200: eight for each of its 132 multiprocessors */
    GPU_SORT_SHARE = 512         /* words of a share, at least, where there are as many */
};

/* One pass. All memory is the device's. */
typedef struct gpu_sort {
    const uint64_t *from; /* (n): code << 32 | item */
    uint64_t *to;         /* (n): the same in the order of the digit */
    uint32_t *count;      /* (digits, shares), then (digits) sums */
    uint64_t n;
    const uint64_t *fewer; /* (1): how many words there are, at most n; NULL: n */
    uint32_t shift;        /* the digit's first bit in the code */
    uint32_t digits;       /* 2, 4, 8, ... GPU_SORT_DIGITS */
    uint32_t shares;
} gpu_sort;

SIMT_FN uint32_t gpu_sort_digit(const gpu_sort *a, uint64_t word)
{
    return (uint32_t)(word >> (32 + a->shift)) & (a->digits - 1);
}

SIMT_FN uint64_t gpu_sort_words(const gpu_sort *a) { return a->fewer ? simt_ld_u64(a->fewer) : a->n; }

/* Words i, i + 32, ... of those before `last`. */
SIMT_FN void gpu_sort_load(const gpu_sort *a, uint64_t i, uint64_t last, uint64_t word[GPU_SORT_AHEAD])
{
    SIMT_UNROLL
    for (uint32_t k = 0; k < GPU_SORT_AHEAD; k++) word[k] = i + 32 * k < last ? simt_ld_u64(a->from + i + 32 * k) : 0;
    simt_join();
}

SIMT_FN void gpu_sort_count(const gpu_sort *a)
{
    SIMT_SHARED(uint32_t, all, GPU_SORT_COUNTED);
    simt_tile t = simt_tile_of(32);
    uint32_t *counted = all + simt_thread() / 32 * GPU_SORT_DIGITS;
    uint64_t n = gpu_sort_words(a);
    if (n == 0) return;
    for (uint32_t share = gpu_warp(); share < a->shares; share += gpu_warps()) {
        for (uint32_t d = t.rank; d < a->digits; d += 32) simt_st_u32(counted + d, 0);
        simt_sync_tile(t);
        uint64_t last = gpu_share_begin(n, share + 1, a->shares);
        for (uint64_t i = gpu_share_begin(n, share, a->shares) + t.rank; i - t.rank < last; i += 32 * GPU_SORT_AHEAD) {
            uint64_t word[GPU_SORT_AHEAD];
            gpu_sort_load(a, i, last, word);
            SIMT_UNROLL
            for (uint32_t k = 0; k < GPU_SORT_AHEAD; k++)
                if (i + 32 * k < last) simt_shared_add_u32(counted + gpu_sort_digit(a, word[k]), 1);
        }
        simt_sync_tile(t);
        for (uint32_t d = t.rank; d < a->digits; d += 32)
            simt_st_u32(a->count + (uint64_t)d * a->shares + share, simt_ld_u32(counted + d));
        simt_sync_tile(t);
    }
}

/* Of one share: there is nothing before it. A lane takes a digit. */
SIMT_FN void gpu_sort_scan_one(const gpu_sort *a)
{
    for (uint32_t d = simt_block() * simt_threads() + simt_thread(); d < a->digits;
         d += simt_blocks() * simt_threads()) {
        simt_st_u32(a->count + a->digits + d, simt_ld_u32(a->count + d));
        simt_st_u32(a->count + d, 0);
    }
}

SIMT_FN void gpu_sort_scan(const gpu_sort *a)
{
    if (gpu_sort_words(a) == 0) return;
    if (a->shares == 1) {
        gpu_sort_scan_one(a);
        return;
    }
    simt_tile t = simt_tile_of(32);
    for (uint32_t digit = gpu_warp(); digit < a->digits; digit += gpu_warps()) {
        uint32_t *row = a->count + (uint64_t)digit * a->shares, sum = 0;
        for (uint32_t s = t.rank; s - t.rank < a->shares; s += 32) {
            uint32_t all, mine = s < a->shares ? simt_ld_u32(row + s) : 0;
            uint32_t before = gpu_sum_before_all(t, mine, &all);
            if (s < a->shares) simt_st_u32(row + s, sum + before);
            sum += all;
        }
        if (t.rank == 0) simt_st_u32(a->count + (uint64_t)a->digits * a->shares + digit, sum);
    }
}

/* next: (GPU_SORT_DIGITS), shared: where the next word of each digit of the share goes */
SIMT_FN void gpu_sort_begin(simt_tile t, const gpu_sort *a, uint32_t share, uint32_t *next)
{
    const uint32_t *sums = a->count + (uint64_t)a->digits * a->shares;
    uint32_t sum[GPU_SORT_OF_LANE], mine = 0, each = (a->digits + 31) / 32, first = t.rank * each;
    SIMT_UNROLL
    for (uint32_t j = 0; j < GPU_SORT_OF_LANE; j++) {
        sum[j] = j < each && first + j < a->digits ? simt_ld_u32(sums + first + j) : 0;
        mine += sum[j];
    }
    simt_join();
    uint32_t at = gpu_sum_before(t, mine);
    SIMT_UNROLL
    for (uint32_t j = 0; j < GPU_SORT_OF_LANE; j++) {
        if (j >= each || first + j >= a->digits) continue;
        uint32_t before = simt_ld_u32(a->count + (uint64_t)(first + j) * a->shares + share);
        simt_st_u32(next + first + j, at + before);
        at += sum[j];
    }
    simt_sync_tile(t);
}

/* Stores a word for each lane that has one, behind those of its digit that are stored already. */
SIMT_FN void gpu_sort_store(simt_tile t, const gpu_sort *a, uint32_t *next, bool is, uint64_t word)
{
    uint32_t digit = is ? gpu_sort_digit(a, word) : GPU_SORT_DIGITS, at = 0;
    uint32_t same = simt_match_u64(t, digit), before = simt_popc(same & ((1u << t.rank) - 1));
    if (is) {
        at = simt_ld_u32(next + digit);
        simt_st_u64(a->to + at + before, word);
    }
    simt_sync_tile(t);
    if (is && before == 0) simt_st_u32(next + digit, at + simt_popc(same));
    simt_sync_tile(t);
}

SIMT_FN void gpu_sort_lay(const gpu_sort *a)
{
    SIMT_SHARED(uint32_t, all, GPU_SORT_COUNTED);
    simt_tile t = simt_tile_of(32);
    uint32_t *next = all + simt_thread() / 32 * GPU_SORT_DIGITS;
    uint64_t n = gpu_sort_words(a);
    if (n == 0) return;
    for (uint32_t share = gpu_warp(); share < a->shares; share += gpu_warps()) {
        gpu_sort_begin(t, a, share, next);
        uint64_t last = gpu_share_begin(n, share + 1, a->shares);
        for (uint64_t i = gpu_share_begin(n, share, a->shares) + t.rank; i - t.rank < last; i += 32 * GPU_SORT_AHEAD) {
            uint64_t word[GPU_SORT_AHEAD];
            gpu_sort_load(a, i, last, word);
            SIMT_UNROLL
            for (uint32_t k = 0; k < GPU_SORT_AHEAD; k++) gpu_sort_store(t, a, next, i + 32 * k < last, word[k]);
        }
    }
}

#endif
