/* SPDX-License-Identifier: Apache-2.0
 *
 * bring.h - a near index and the far slots that last: the launches that bring the changes of a window to these
 * (args.h), and the recovery of a table whose far slots a crash has left. Here no item runs.
 */
#ifndef GPHASH_BRING_H
#define GPHASH_BRING_H

#include "gpu/gphash/item.h"

/* ---- Changes --------------------------------------------------------------------------------- */

/* What the item has changed whose turn it is, and where. */
SIMT_FN uint32_t gphash_change_of(const gphash_args *a, uint64_t n, uint64_t *place)
{
    uint64_t word = simt_ld_u64(a->changed + gphash_in_turn(a, n));
    *place = word >> 2;
    return (uint32_t)word & 3;
}

/* The far key, or the far number, of place e is stored. */
SIMT_FN void gphash_mark_slot(const gphash_args *a, uint64_t e, bool number)
{
    uint32_t level = gphash_level_of(&a->v, e);
    if (!a->page) return;
    uint64_t page = (e - gphash_first(&a->v, level)) * sizeof(uint64_t) / GPHASH_PAGE;
    if (number) page += gphash_level_pages(&a->v, level);
    simt_strlx_u8(a->page + gphash_level_page(&a->v, level) + page, 1);
}

/* A far slot gets its key. */
SIMT_FN void gphash_bring_key(const gphash_args *a, uint64_t e, uint64_t key)
{
    simt_strlx_u64(gphash_far_at(a, e).key, key);
    gphash_mark_slot(a, e, false);
}

/* The keys that have left. */
SIMT_FN void gphash_bring_left(const gphash_args *a)
{
    for (uint64_t n = gpu_thread(); n < a->b.last - a->b.first; n += gpu_threads()) {
        uint64_t e;
        if (gphash_change_of(a, n, &e) == GPHASH_LEFT) gphash_bring_key(a, e, HD_KEY_EMPTY);
    }
}

/* Numbers, or values inline. */
SIMT_FN void gphash_bring_numbers(const gphash_args *a)
{
    for (uint64_t n = gpu_thread(); n < a->b.last - a->b.first; n += gpu_threads()) {
        uint64_t e;
        uint32_t how = gphash_change_of(a, n, &e);
        if (how != GPHASH_CAME && how != GPHASH_SET) continue;
        simt_strlx_u64(gphash_far_at(a, e).number, simt_ldrlx_u64(gphash_number_at(&a->v, e)));
        gphash_mark_slot(a, e, true);
    }
}

/* The keys that have come. */
SIMT_FN void gphash_bring_keys(const gphash_args *a)
{
    for (uint64_t n = gpu_thread(); n < a->b.last - a->b.first; n += gpu_threads()) {
        uint64_t e;
        if (gphash_change_of(a, n, &e) != GPHASH_CAME) continue;
        gphash_bring_key(a, e, simt_ldrlx_u64(gphash_key_at(&a->v, e)));
    }
}

/* ---- Values of lookups ----------------------------------------------------------------------- */

SIMT_FN void gphash_fetch(const gphash_args *a)
{
    simt_tile t = simt_tile_of(8);
    uint64_t all = simt_ld_u64(a->fetched);
    for (uint64_t n = gpu_thread() / t.size; n < all; n += gpu_threads() / t.size) {
        uint64_t at = gphash_in_turn(a, n), cell = simt_ld_u64(a->changed + at);
        gphash_copy(t, a->b.value_out + (a->b.first + at) * a->v.value_bytes, gphash_cell(&a->v, cell),
                    a->v.value_bytes);
    }
}

/* ---- Free cells ------------------------------------------------------------------------------ */

/* Those that were given back since the last time, as many as there is room for, become words to sort. */
SIMT_FN void gphash_gather_free(const gphash_args *a)
{
    const uint64_t tail = simt_ldrlx_u64(a->tail);
    uint64_t n = tail - simt_ldrlx_u64(a->ordered);
    if (n > a->room) n = a->room; /* so many are always free */
    for (uint64_t k = gpu_thread(); k < n; k += gpu_threads()) {
        uint64_t cell = simt_ld_u32(a->v.free + (tail - n + k) % gphash_ring(&a->v));
        simt_st_u64(a->order + k, gphash_code(a, cell) << 32 | cell);
    }
    if (gpu_thread() == 0) simt_st_u64(a->fetched, n);
}

SIMT_FN void gphash_lay_free(const gphash_args *a)
{
    const uint64_t tail = simt_ldrlx_u64(a->tail), n = simt_ld_u64(a->fetched);
    for (uint64_t k = gpu_thread(); k < n; k += gpu_threads())
        simt_st_u32(a->v.free + (tail - n + k) % gphash_ring(&a->v), (uint32_t)simt_ld_u64(a->order + k));
    if (gpu_thread() == 0) simt_strlx_u64(a->ordered, tail);
}

/* ---- Recovery -------------------------------------------------------------------------------- */

/* Whether the number is one of the key's, and no other slot has its cell, which is then marked. */
SIMT_FN bool gphash_owns_cell(const gphash_recover_args *a, uint64_t hash, uint64_t number)
{
    uint64_t cell = gphash_cell_of(number);
    uint32_t bit = 1u << cell % 32;
    if (number == GPHASH_NONE || gphash_tag_of(number) != gphash_tag(hash) || cell >= gphash_cells(&a->v)) return false;
    return !(simt_or_u32(a->mark + cell / 32, bit, SIMT_RELAXED) & bit);
}

/* Every far slot that has no whole entry becomes empty, as in gphash_recover of the reference; the near index gets what
 * the far slots have. Cells in use are marked. */
SIMT_FN void gphash_recover_slots(const gphash_recover_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t cleared = 0;
    for (uint64_t e = gpu_thread(); e < gphash_places(&a->v); e += gpu_threads()) {
        uint32_t level = gphash_level_of(&a->v, e);
        uint64_t at = e - gphash_first(&a->v, level);
        gphash_level far = a->lasting[level];
        uint64_t key = simt_ldrlx_u64(far.key + at), number = simt_ldrlx_u64(far.number + at);
        bool whole = key < HD_KEY_RESERVED;
        if (whole && a->v.cell_bytes) whole = gphash_owns_cell(a, gphash_hash(&a->v, key), number);
        if (!whole && key != HD_KEY_EMPTY) simt_strlx_u64(far.key + at, HD_KEY_EMPTY);
        if (!whole && number != GPHASH_NONE) simt_strlx_u64(far.number + at, GPHASH_NONE);
        cleared += !whole && key != HD_KEY_EMPTY;
        if (!a->near) continue;
        simt_strlx_u64(a->v.level[level].key + at, whole ? key : HD_KEY_EMPTY);
        simt_strlx_u64(a->v.level[level].number + at, whole ? number : GPHASH_NONE);
    }
    simt_join();
    cleared = simt_reduce_add_u64(w, cleared);
    if (cleared && w.rank == 0) simt_add_u64(a->cleared, cleared, SIMT_RELAXED);
}

/* Whether the key at place e is there first of its candidate places, and so nowhere else before. */
SIMT_FN bool gphash_is_first(const gphash_view *v, uint64_t key, uint64_t e)
{
    uint64_t hash = gphash_hash(v, key), place = GPHASH_NOWHERE;
    for (uint32_t lane = 0; lane < GPHASH_LANES && place == GPHASH_NOWHERE; lane++) {
        uint64_t at = gphash_candidate(v, hash, lane);
        if (simt_ldrlx_u64(gphash_key_at(v, at)) == key) place = at;
    }
    return place == e;
}

/* The cells of the ring, which are free, are marked. */
SIMT_FN void gphash_mark_free(const gphash_recover_args *a)
{
    for (uint64_t k = a->head + gpu_thread(); k < a->end; k += gpu_threads()) {
        uint32_t cell = simt_ld_u32(a->v.free + k % gphash_ring(&a->v));
        simt_or_u32(a->mark + cell / 32, 1u << cell % 32, SIMT_RELAXED);
    }
}

/* Free cells, by their marks, go to the ring, nearly in the order of addresses; entries that are not where a search
 * finds them are counted. */
SIMT_FN void gphash_recover_ring(const gphash_recover_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t wrong = 0;
    for (uint64_t from = a->first + 32 * gpu_warp(); from < a->last; from += 32 * gpu_warps()) {
        uint64_t cell = from + w.rank, at = 0;
        bool is_free = cell < a->last && (simt_ld_u32(a->mark + cell / 32) >> cell % 32 & 1) == a->marks_free;
        simt_join();
        uint32_t all = simt_ballot(w, is_free);
        if (all && w.rank == 0) at = simt_add_u64(a->tail, simt_popc(all), SIMT_RELAXED);
        simt_join();
        at = simt_shfl_u64(w, at, 0) + simt_popc(all & ((1u << w.rank) - 1));
        if (is_free) simt_st_u32(a->v.free + at, (uint32_t)cell);
        simt_join();
    }
    for (uint64_t e = gpu_thread(); a->wrong && e < gphash_places(&a->v); e += gpu_threads()) {
        uint64_t key = simt_ldrlx_u64(gphash_key_at(&a->v, e));
        wrong += key < HD_KEY_RESERVED && !gphash_is_first(&a->v, key, e);
    }
    simt_join();
    wrong = simt_reduce_add_u64(w, wrong);
    if (wrong && w.rank == 0) simt_add_u64(a->wrong, wrong, SIMT_RELAXED);
}

#endif
