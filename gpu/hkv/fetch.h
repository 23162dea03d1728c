/* SPDX-License-Identifier: Apache-2.0
 *
 * fetch.h - far values, fetched in the order of their addresses. A device reads this machine's memory page by page, and
 * what it waits for is less the bus than the translation of the next page: values that come as the keys do, each from a
 * page of its own, come at a tenth of the rate of values that lie side by side. So a find copies what is near, and of
 * what is far it says which item waits for which entry, and counts how many wait for each part, or bin, of the far tier
 * (hkv_put_off, deliver.h). Then two launches:
 *
 *     hkv_fetch_sort     items that wait, bin after bin: where a bin begins is what the bins before it counted
 *     hkv_fetch_values   in that order, few values at a time, so that those that are on their way are neighbours; and
 *                        the counts are 0 again
 *
 * Bins are so narrow that the values on their way at a time span many of them: the order within one does not matter.
 *
 * Differs: HKV reads far values word by word as they come (section 3.6); so do tables of HD_FETCH_DIRECT.
 */
#ifndef HKV_FETCH_H
#define HKV_FETCH_H

#include "gpu/hkv/list.h"

enum { HKV_FETCH_AT_ONCE = 4 };

/* begin: (fetch_bins), shared memory: how many wait for the bins before each. Returns how many wait. */
SIMT_FN uint32_t hkv_fetch_begins(const hkv_args *a, uint32_t *begin, uint64_t *words)
{
    uint32_t each = (a->fetch.bins + simt_threads() - 1) / simt_threads(), from = simt_thread() * each, n = 0;
    uint32_t to = from + each < a->fetch.bins ? from + each : a->fetch.bins;
    uint64_t before = 0;
    for (uint32_t k = from; k < to; k++) n += simt_ld_u32(a->fetch.count + k);
    simt_join();
    uint32_t all = (uint32_t)hkv_block_sum(words, n, &before),
             at = (uint32_t)before + gpu_sum_before(simt_tile_of(32), n);
    for (uint32_t k = from; k < to; k++) {
        simt_st_u32(begin + k, at);
        at += simt_ld_u32(a->fetch.count + k);
    }
    simt_sync_block();
    return all;
}

SIMT_FN void hkv_fetch_sort(const hkv_args *a)
{
    SIMT_SHARED(uint32_t, begin, HKV_FETCH_BINS);
    SIMT_SHARED(uint64_t, words, 32);
    uint64_t thread = (uint64_t)simt_block() * simt_threads() + simt_thread(),
             threads = (uint64_t)simt_blocks() * simt_threads();
    uint32_t all = hkv_fetch_begins(a, begin, words);
    if (thread == 0) simt_st_u32(a->fetch.count + HKV_FETCH_BINS, all);
    for (uint64_t i = thread; i < a->last - a->first; i += threads) {
        uint64_t e = simt_ld_u64(a->fetch.entry + i);
        if (e == HKV_NONE) continue;
        uint32_t at = simt_ld_u32(begin + hkv_fetch_bin(a, e)) + simt_ld_u32(a->fetch.rank + i);
        simt_st_u32(a->fetch.order + at, (uint32_t)i);
    }
}

/* Sixteen bytes after sixteen: piece p of all is part p % pieces of value p / pieces, and neighbours take
 * neighbours. */
SIMT_FN void hkv_fetch_pieces(const hkv_args *a, uint32_t thread, uint32_t threads, uint32_t waiting)
{
    hkv_piece p = hkv_piece_first(thread, threads, a->v.value_bytes);
    while (p.value < waiting) {
        simt_v4 piece[HKV_FETCH_AT_ONCE];
        uint8_t *to[HKV_FETCH_AT_ONCE];
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_FETCH_AT_ONCE; j++) {
            to[j] = (uint8_t *)0;
            if (p.value < waiting) {
                uint32_t i = simt_ld_u32(a->fetch.order + p.value);
                const uint8_t *from = hkv_value(&a->v, simt_ld_u64(a->fetch.entry + i));
                to[j] = a->value_out + (a->first + i) * a->v.value_bytes + 16 * p.part;
                piece[j] = simt_ldcs_v4((const simt_v4 *)(const void *)(from + 16 * p.part));
            }
            hkv_piece_next(&p);
        }
        SIMT_UNROLL
        for (uint32_t j = 0; j < HKV_FETCH_AT_ONCE; j++)
            if (to[j]) simt_stcs_v4((simt_v4 *)(void *)to[j], piece[j]);
    }
    simt_join();
}

SIMT_FN void hkv_fetch_values(const hkv_args *a)
{
    uint32_t thread = simt_block() * simt_threads() + simt_thread(), threads = simt_blocks() * simt_threads();
    uint32_t waiting = simt_ld_u32(a->fetch.count + HKV_FETCH_BINS), bytes = a->v.value_bytes;
    for (uint32_t b = thread; b < a->fetch.bins; b += threads) simt_st_u32(a->fetch.count + b, 0);
    if (((uintptr_t)a->value_out | (uintptr_t)a->v.far | bytes) % 16 == 0) {
        hkv_fetch_pieces(a, thread, threads, waiting);
        return;
    }
    for (uint32_t k = thread; k < waiting; k += threads) {
        uint32_t i = simt_ld_u32(a->fetch.order + k);
        hkv_copy(simt_tile_of(1), a->value_out + (a->first + i) * bytes,
                 hkv_value(&a->v, simt_ld_u64(a->fetch.entry + i)), bytes, true);
    }
}

#endif
