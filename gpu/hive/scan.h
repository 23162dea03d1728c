/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.h - kernels over all slots, and lists. They run alone on the table, or only read it. gpu/words.h has
 * the rest of lists.
 */
#ifndef HIVE_SCAN_H
#define HIVE_SCAN_H

#include "gpu/hive/steps.h"

/* Whether the slot at `slot`, whose word was seen, has an entry for which the predicate is true. */
SIMT_FN bool hive_holds(const hive_args *a, const uint8_t *slot, uint64_t word)
{
    return gpu_holds(&a->b, a->v.half, slot, word);
}

/* ---- Counting and erasing -------------------------------------------------------------------- */

/* How many of the entries from e on, whose words are w and lie at `slot`, count; erase_if: and are erased. */
SIMT_FN uint32_t hive_sweep_words(const hive_args *a, uint64_t e, const uint8_t *slot,
                                  const uint64_t w[HIVE_LANE_WORDS])
{
    uint32_t n = 0, bytes = hive_word_bytes(&a->v);
    SIMT_ROLLED
    for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) {
        if (e + k < a->b.first || e + k >= a->b.last || !hive_holds(a, slot + k * bytes, hive_pick(w, k))) continue;
        if (a->b.op == HD_OP_ERASE_IF) hive_give_back(a, e + k);
        n++;
    }
    return n;
}

/* A thread loads four neighbouring words of a bucket: an address costs a division. */
SIMT_FN void hive_sweep(const hive_args *a)
{
    simt_tile warp = simt_tile_of(32);
    uint64_t n = 0, e = a->b.first / HIVE_LANE_WORDS * HIVE_LANE_WORDS + HIVE_LANE_WORDS * gpu_thread();
    for (; e < a->b.last; e += HIVE_LANE_WORDS * gpu_threads()) {
        uint64_t w[HIVE_LANE_WORDS];
        uint8_t *slot = hive_at(&a->v, e);
        hive_load_words(&a->v, slot, HIVE_LANE_WORDS, false, w);
        n += hive_sweep_words(a, e, slot, w);
    }
    simt_join();
    n = simt_reduce_add_u64(warp, n);
    if (a->b.count && n && warp.rank == 0) simt_add_u64(a->b.count, n, SIMT_RELAXED);
}

SIMT_FN void hive_clear_words(const hive_args *a)
{
    const hive_view *v = &a->v;
    for (uint64_t e = a->b.first + gpu_thread(); e < a->b.last; e += gpu_threads()) {
        hive_set(v, e, hive_fresh(v));
        if (v->masks && e % v->slots == 0) {
            simt_strlx_u32(hive_mask(v, e / v->slots), (uint32_t)((1ull << v->slots) - 1));
            simt_strlx_u32(hive_lock(v, e / v->slots), 0);
        }
    }
    if (gpu_thread() == 0) simt_strlx_u64(a->stashed, 0);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Whether item, or slot, x lists, and what. */
SIMT_FN bool hive_lists(const hive_args *a, uint64_t x, uint64_t *word)
{
    *word = 0;
    if (x >= a->b.last) return false;
    if (a->b.stage_flag) return simt_ld_u8(a->b.stage_flag + (x - a->b.first)) != 0;
    *word = hive_load(&a->v, x);
    return hive_holds(a, hive_at(&a->v, x), *word);
}

SIMT_FN void hive_list(const hive_args *a)
{
    simt_tile w = simt_tile_of(32);
    gpu_list l = gpu_list_begin(w, &a->b);
    while (gpu_list_goes_on(&l)) {
        uint64_t word;
        bool mine = hive_lists(a, l.x + w.rank, &word);
        simt_join();
        gpu_list_next(w, &a->b, a->v.half, mine, word, &l);
    }
}

#endif
