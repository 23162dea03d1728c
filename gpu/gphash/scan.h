/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.h - kernels over all slots, lists, and growth. They run alone on the table, or only read it.
 */
#ifndef GPHASH_SCAN_H
#define GPHASH_SCAN_H

#include "gpu/gphash/bring.h"

/* The value of the entry at place e; a set's has no bytes. */
SIMT_FN uint8_t *gphash_value_at(const gphash_view *v, uint64_t e)
{
    uint64_t *number = gphash_number_at(v, e);
    return v->cell_bytes ? gphash_cell(v, gphash_cell_of(simt_ldrlx_u64(number))) : (uint8_t *)number;
}

/* Whether place e has an entry for which the predicate is true. */
SIMT_FN bool gphash_holds(const gphash_args *a, uint64_t e, uint64_t *key)
{
    *key = simt_ldrlx_u64(gphash_key_at(&a->v, e));
    return *key < HD_KEY_RESERVED && gpu_holds_entry(&a->b, *key, gphash_value_at(&a->v, e), a->v.value_bytes);
}

/* ---- Counting and erasing -------------------------------------------------------------------- */

SIMT_FN void gphash_empty(const gphash_args *a, uint64_t e)
{
    uint64_t *number = gphash_number_at(&a->v, e);
    if (a->v.cell_bytes) {
        gphash_free_cell(a, gphash_cell_of(simt_ldrlx_u64(number)));
        simt_strlx_u64(number, GPHASH_NONE);
    }
    simt_strlx_u64(gphash_key_at(&a->v, e), HD_KEY_EMPTY);
    gphash_refresh(a, e, GPHASH_LEFT);
    if (a->near) gphash_bring_key(a, e, HD_KEY_EMPTY);
}

SIMT_FN void gphash_sweep(const gphash_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t n = 0;
    for (uint64_t e = a->b.first + gpu_thread(); e < a->b.last; e += gpu_threads()) {
        uint64_t key;
        if (!gphash_holds(a, e, &key)) continue;
        if (a->b.op == HD_OP_ERASE_IF) gphash_empty(a, e);
        n++;
    }
    simt_join();
    n = simt_reduce_add_u64(w, n);
    if (a->b.count && n && w.rank == 0) simt_add_u64(a->b.count, n, SIMT_RELAXED);
}

/* All slots are empty, and all cells are free. */
SIMT_FN void gphash_clear_slots(const gphash_args *a)
{
    for (uint64_t e = a->b.first + gpu_thread(); e < a->b.last; e += gpu_threads()) {
        simt_strlx_u64(gphash_key_at(&a->v, e), HD_KEY_EMPTY);
        /* a value beside its key stays: a crash may lose the store that empties the slot */
        if (a->v.cell_bytes) simt_strlx_u64(gphash_number_at(&a->v, e), GPHASH_NONE);
        if (a->near) gphash_bring_key(a, e, HD_KEY_EMPTY);
    }
    for (uint64_t cell = gpu_thread(); cell < gphash_cells(&a->v); cell += gpu_threads())
        simt_st_u32(a->v.free + cell, (uint32_t)cell);
    for (uint64_t u = gpu_thread(); u < gphash_units(&a->v, a->cache.of); u += gpu_threads()) {
        simt_strlx_u32(a->cache.copy_of + u, 0);
        simt_strlx_u32(a->cache.heat + u, 0);
    }
    if (gpu_thread() == 0) {
        simt_strlx_u64(a->head, 0);
        simt_strlx_u64(a->tail, gphash_cells(&a->v));
    }
    simt_join();
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Whether item, or place, x lists, and what. */
SIMT_FN bool gphash_lists(const gphash_args *a, uint64_t x, uint64_t *key)
{
    *key = 0;
    if (x >= a->b.last) return false;
    if (a->b.stage_flag) return simt_ld_u8(a->b.stage_flag + (x - a->b.first)) != 0;
    return gphash_holds(a, x, key);
}

/* The value of place x is that of row `at`. */
SIMT_FN void gphash_list_value(const gphash_args *a, uint64_t x, uint64_t at)
{
    const uint8_t *from = gphash_value_at(&a->v, x);
    uint8_t *to = a->b.list_value + at * a->v.value_bytes;
    for (uint32_t k = 0; k < a->v.value_bytes; k++) simt_st_u8(to + k, simt_ld_u8(from + k));
}

SIMT_FN void gphash_list(const gphash_args *a)
{
    simt_tile w = simt_tile_of(32);
    gpu_batch b = a->b;
    bool values = b.pass == GPU_WRITES && b.list_value && !b.stage_flag;
    b.list_value = (uint8_t *)0; /* it is written here */
    gpu_list l = gpu_list_begin(w, &b);
    while (gpu_list_goes_on(&l)) {
        uint64_t key, x = l.x + w.rank;
        bool mine = gphash_lists(a, x, &key);
        simt_join();
        if (values) {
            uint32_t before = simt_popc(simt_ballot(w, mine) & ((1u << w.rank) - 1));
            if (mine) gphash_list_value(a, x, l.n + before);
            simt_join();
        }
        gpu_list_next_entry(w, &b, mine, key, 0, 0, &l);
    }
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* Every entry of the bottom level goes to its place in the level above the top, as gphash_raise of the reference does.
 * Slots [first, last) of the bottom level. */
SIMT_FN void gphash_raise_slots(const gphash_args *a)
{
    const gphash_view *v = &a->v;
    const uint32_t from = v->bottom, to = gphash_top(v) + 1;
    for (uint64_t at = a->b.first + gpu_thread(); at < a->b.last; at += gpu_threads()) {
        uint64_t key = simt_ldrlx_u64(v->level[from].key + at), hash = gphash_hash(v, key);
        if (key >= HD_KEY_RESERVED) continue;
        uint32_t j = gphash_function_of(v, hash, from, at / v->slots);
        uint64_t place = gphash_bucket(v, gphash_part(v, hash, j), to) * v->slots + at % v->slots;
        uint64_t number = simt_ldrlx_u64(v->level[from].number + at);
        simt_strlx_u64(v->level[to].number + place, number);
        simt_strlx_u64(v->level[to].key + place, key);
        if (!a->near) continue;
        simt_strlx_u64(a->far[to].number + place, number);
        simt_strlx_u64(a->far[to].key + place, key);
    }
}

/* The ring of a table that has grown once more: the cells that were free, and those that are new. The view is that
 * before. */
SIMT_FN void gphash_widen_ring(const gphash_ring_args *a)
{
    uint64_t cells = gphash_cells(&a->v), frees = a->last - a->first;
    uint64_t all = frees + gphash_chunk_cells(&a->v, a->v.grown + 1);
    for (uint64_t i = gpu_thread(); i < all; i += gpu_threads()) {
        uint32_t cell = (uint32_t)(cells + i - frees);
        if (i < frees) cell = simt_ld_u32(a->v.free + (a->first + i) % gphash_ring(&a->v));
        simt_st_u32(a->next + i, cell);
    }
    if (gpu_thread() == 0) {
        simt_strlx_u64(a->head, 0);
        simt_strlx_u64(a->tail, all);
    }
}

#endif
