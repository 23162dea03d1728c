/* SPDX-License-Identifier: Apache-2.0
 *
 * whole.h - kernels over all slots, and lists. They run alone on the table, or only read it. Lists are in order: one
 * warp for each part of the range counts its entries, and a second launch writes them after those of the parts before
 * it.
 */
#ifndef HIVE_WHOLE_H
#define HIVE_WHOLE_H

/* Predicates are also the host's functions, so that CUDA may not have them call its own; a plain load is what it would
 * be. */
#ifndef __CUDACC__
#define HD_VALUE_BYTE(p) simt_ld_u8(p)
#endif

#include "gpu/hive/steps.h"
#include "predicates/predicate.h"

/* Whether the slot at `slot`, whose word was seen, has an entry for which the predicate is true. */
SIMT_FN bool hive_holds(const hive_args *a, const uint8_t *slot, uint64_t word)
{
    if (!hive_is_key(&a->v, word)) return false;
    if (a->predicate == HD_PREDICATE_all) return true;
    return hd_predicate_holds(a->predicate, hive_key_of(&a->v, word), 0, slot, a->v.half / 8, a->pred_arg[0],
                              a->pred_arg[1]);
}

/* ---- Counting and erasing -------------------------------------------------------------------- */

/* How many of the entries from e on, whose words are w and lie at `slot`, count; erase_if: and are erased. */
SIMT_FN uint32_t hive_sweep_words(const hive_args *a, uint64_t e, const uint8_t *slot,
                                  const uint64_t w[HIVE_LANE_WORDS])
{
    uint32_t n = 0, bytes = hive_word_bytes(&a->v);
    SIMT_ROLLED
    for (uint32_t k = 0; k < HIVE_LANE_WORDS; k++) {
        if (e + k < a->first || e + k >= a->last || !hive_holds(a, slot + k * bytes, hive_pick(w, k))) continue;
        if (a->op == HD_OP_ERASE_IF) hive_give_back(a, e + k);
        n++;
    }
    return n;
}

/* A thread loads four neighbouring words of a bucket: an address costs a division. */
SIMT_FN void hive_sweep(const hive_args *a)
{
    simt_tile warp = simt_tile_of(32);
    uint64_t n = 0, e = a->first / HIVE_LANE_WORDS * HIVE_LANE_WORDS + HIVE_LANE_WORDS * hive_thread();
    for (; e < a->last; e += HIVE_LANE_WORDS * hive_threads()) {
        uint64_t w[HIVE_LANE_WORDS];
        uint8_t *slot = hive_at(&a->v, e);
        hive_load_words(&a->v, slot, HIVE_LANE_WORDS, false, w);
        n += hive_sweep_words(a, e, slot, w);
    }
    simt_join();
    n = simt_reduce_add_u64(warp, n);
    if (a->count && n && warp.rank == 0) simt_add_u64(a->count, n, SIMT_RELAXED);
}

SIMT_FN void hive_clear_words(const hive_args *a)
{
    const hive_view *v = &a->v;
    for (uint64_t e = a->first + hive_thread(); e < a->last; e += hive_threads()) {
        hive_set(v, e, hive_fresh(v));
        if (v->masks && e % v->slots == 0) {
            simt_strlx_u32(hive_mask(v, e / v->slots), (uint32_t)((1ull << v->slots) - 1));
            simt_strlx_u32(hive_lock(v, e / v->slots), 0);
        }
    }
    if (hive_thread() == 0) simt_strlx_u64(a->stashed, 0);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Whether item, or slot, x lists, and what. */
SIMT_FN bool hive_lists(const hive_args *a, uint64_t x, uint64_t *word)
{
    *word = 0;
    if (x >= a->last) return false;
    if (a->stage_flag) return simt_ld_u8(a->stage_flag + (x - a->first)) != 0;
    *word = hive_load(&a->v, x);
    return hive_holds(a, hive_at(&a->v, x), *word);
}

SIMT_FN void hive_list_one(const hive_args *a, uint64_t x, uint64_t word, uint64_t at)
{
    uint32_t bytes = a->v.half / 8;
    if (a->list_item) simt_st_u64(a->list_item + at, x);
    if (a->list_key) simt_st_u64(a->list_key + at, a->stage_flag ? simt_ld_u64(a->key + x) : hive_key_of(&a->v, word));
    if (a->stage_flag) return;
    if (a->list_score) simt_st_u64(a->list_score + at, 0);
    if (a->list_value) gpu_elem_store(a->list_value + at * bytes, bytes, hive_value_of(&a->v, word));
}

/* What the parts before p list, and the windows before this one. */
SIMT_FN uint64_t hive_list_base(simt_tile w, const hive_args *a, uint64_t p)
{
    uint64_t n = 0;
    for (uint64_t k = w.rank; k < p; k += 32) n += simt_ld_u64(a->listed + k);
    simt_join();
    n = simt_reduce_add_u64(w, n);
    return a->window ? n + simt_ld_u64(a->listed + HIVE_LISTS + a->window % 2) : n;
}

SIMT_FN void hive_list_part(simt_tile w, const hive_args *a, uint64_t p, uint64_t from, uint64_t to)
{
    bool writes = a->pass == HIVE_WRITES;
    uint64_t n = writes ? hive_list_base(w, a, p) : 0;
    for (uint64_t x = from; x < to; x += 32) {
        uint64_t word;
        bool mine = hive_lists(a, x + w.rank, &word);
        simt_join();
        uint32_t all = simt_ballot(w, mine);
        if (writes && mine) hive_list_one(a, x + w.rank, word, n + simt_popc(all & ((1u << w.rank) - 1)));
        simt_join();
        n += simt_popc(all);
    }
    if (w.rank != 0) return;
    if (!writes) {
        simt_st_u64(a->listed + p, n);
    } else if (to == a->last) {
        simt_st_u64(a->listed + HIVE_LISTS + (a->window + 1) % 2, n);
        if (a->count) simt_st_u64(a->count, n);
    }
}

SIMT_FN void hive_list(const hive_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t range = a->last - a->first, each = (range + HIVE_LISTS - 1) / HIVE_LISTS;
    each = (each + HIVE_LIST_LEAST - 1) / HIVE_LIST_LEAST * HIVE_LIST_LEAST;
    uint64_t parts = each ? (range + each - 1) / each : 1; /* of nothing, one that lists nothing */
    for (uint64_t p = hive_thread() / 32; p < parts; p += hive_threads() / 32) {
        uint64_t from = a->first + p * each;
        hive_list_part(w, a, p, from, a->last - from < each ? a->last : from + each);
        simt_join();
    }
}

#endif
