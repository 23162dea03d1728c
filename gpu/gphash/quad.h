/* SPDX-License-Identifier: Apache-2.0
 *
 * quad - lookups and updates, batches of one operation in which no key comes or goes: four lanes per key, each of which
 * reads four pieces of two slots at once. Where a batch is large, lookups do not copy values from far cells: items note
 * their cells, and another launch fetches the values in the order of their addresses.
 */
#ifndef GPHASH_QUAD_H
#define GPHASH_QUAD_H

#include "gpu/gphash/warp.h"

enum { GPHASH_PIECES = GPHASH_LANES / 2 / GPHASH_QUAD };

/* Two key words of a lane, in the copy of their bucket if it has one; the first one's place. */
SIMT_FN const uint64_t *gphash_look_at(const gphash_args *a, uint64_t i, uint64_t hash, uint32_t lane, uint64_t *place)
{
    const uint64_t *key = gphash_candidate_key(&a->v, hash, lane, place);
    if (a->cache.of != HD_CACHE_BUCKETS) return key;
    const uint64_t *copy = gphash_copied_slot(a, *place).key;
    if (*place % a->v.slots == 0) gphash_warm(&a->cache, i, *place / a->v.slots);
    return copy ? copy : key;
}

/* The place of item i's key; GPHASH_NOWHERE: it is not there. */
SIMT_FN uint64_t gphash_look(simt_tile t, const gphash_args *a, uint64_t i, uint64_t key, uint64_t hash)
{
    simt_v4 piece[GPHASH_PIECES];
    uint64_t at[GPHASH_PIECES], found = GPHASH_NOWHERE;
    SIMT_UNROLL
    for (uint32_t k = 0; k < GPHASH_PIECES; k++) {
        const uint64_t *from = gphash_look_at(a, i, hash, 2 * (k * GPHASH_QUAD + t.rank), &at[k]);
        piece[k] = simt_ld_v4((const simt_v4 *)(const void *)from);
    }
    SIMT_UNROLL
    for (uint32_t k = 0; k < GPHASH_PIECES; k++) {
        if (((uint64_t)piece[k].y << 32 | piece[k].x) == key) found = at[k];
        if (((uint64_t)piece[k].w << 32 | piece[k].z) == key) found = at[k] + 1;
    }
    simt_join();
    uint32_t who = simt_ffs(simt_ballot(t, found != GPHASH_NOWHERE));
    return who ? simt_shfl_u64(t, found, who - 1) : GPHASH_NOWHERE;
}

/* The number, or the inline value, of place e: in the copy of its bucket if it has one. */
SIMT_FN uint64_t gphash_look_number(const gphash_args *a, uint64_t e)
{
    gphash_level copy = gphash_copied_slot(a, e);
    return simt_ld_u64(copy.key ? copy.number : gphash_number_at(&a->v, e));
}

/* The item has its key at a place: its value. True: that is to be fetched from o->cell. */
SIMT_FN bool gphash_look_up(simt_tile t, const gphash_args *a, gphash_one *o, uint64_t place)
{
    const gphash_view *v = &a->v;
    bool points = o->one.op == HD_OP_FIND_PTR, wanted = a->b.value_out && gpu_delivers_value(o->one.op), far;
    o->one.outcome = o->one.found;
    if (t.rank == 0) simt_ticket(o->one.i, o->one.found, 0, place);
    simt_join();
    if (!wanted && !points) return false;
    uint64_t number = gphash_look_number(a, place);
    o->one.value = number;
    if (v->cell_bytes) o->cell = gphash_cell_of(number);
    o->slot = v->cell_bytes ? gphash_cell(v, o->cell) : (const uint8_t *)gphash_number_at(v, place);
    if (points && t.rank == 0) gphash_pointed(a, place, o->cell);
    simt_join();
    if (!wanted || !v->cell_bytes) return false;
    if (t.rank == 0) gphash_warm_cell(a, o->one.i, o->cell);
    simt_join();
    const uint8_t *from = gphash_nearest(a, o->cell, &far);
    if (far && a->changed) return true;
    gphash_copy(t, a->b.value_out + o->one.i * v->value_bytes, from, v->value_bytes);
    return false;
}

/* Item i, and the place of its key; GPHASH_NOWHERE: it is not there, or it is none, and the item has ended. */
SIMT_FN uint64_t gphash_quad_begin(simt_tile t, const gphash_args *a, uint64_t i, gphash_one *o)
{
    const gpu_batch *b = &a->b;
    uint64_t key = simt_ld_u64(b->key + i), in = 0, place = GPHASH_NOWHERE;
    simt_started(i);
    o->in = b->value ? b->value + i * a->v.value_bytes : (const uint8_t *)0;
    if (o->in && !a->v.cell_bytes && a->v.value_bytes) in = gpu_elem_load(o->in, a->v.value_bytes);
    o->one = gpu_item_of(i, b->op, key, gphash_hash(&a->v, key), in, HD_EITHER);
    o->cell = GPHASH_NO_CELL;
    o->slot = (const uint8_t *)0;
    if (key < HD_KEY_RESERVED) place = gphash_look(t, a, i, key, o->one.h);
    if (place == GPHASH_NOWHERE) gpu_leave(t, &o->one, key < HD_KEY_RESERVED ? HD_MISS : HD_RESERVED);
    simt_join();
    return place;
}

/* The items of the warp whose values are to be fetched note their cells. has: this lane is the first of one. */
SIMT_FN void gphash_note_cells(simt_tile w, const gphash_args *a, bool has, uint64_t i, uint64_t cell)
{
    uint32_t all = simt_ballot(w, has);
    uint64_t at = 0;
    if (!all) return;
    if (w.rank == 0) at = simt_add_u64(a->fetched, simt_popc(all), SIMT_RELAXED);
    simt_join();
    at = simt_shfl_u64(w, at, 0) + simt_popc(all & ((1u << w.rank) - 1));
    if (has) {
        simt_st_u64(a->changed + (i - a->b.first), cell);
        simt_st_u64(a->order + at, gphash_code(a, cell) << 32 | (i - a->b.first));
    }
    simt_join();
}

/* A warp takes as many items at a time as it has tiles. */
SIMT_FN void gphash_lookups(const gphash_args *a)
{
    simt_tile t = simt_tile_of(GPHASH_QUAD), w = simt_tile_of(32);
    gpu_counts counts = gpu_count_none();
    const uint64_t tiles = 32 / GPHASH_QUAD;
    for (uint64_t at = a->b.first + gpu_warp() * tiles; at < a->b.last; at += gpu_warps() * tiles) {
        const uint64_t i = at + w.rank / GPHASH_QUAD;
        gphash_one o;
        bool fetched = false;
        o.cell = GPHASH_NO_CELL;
        if (i < a->b.last) {
            uint64_t place = gphash_quad_begin(t, a, i, &o);
            if (place != GPHASH_NOWHERE) fetched = gphash_look_up(t, a, &o, place);
            simt_join();
            gphash_deliver(t, a, &o);
            gpu_count(t, &counts, o.one.outcome);
        }
        simt_join();
        if (a->changed) gphash_note_cells(w, a, fetched && t.rank == 0, i, o.cell);
    }
    gpu_tally(t, &a->b, &counts);
}

/* No key comes or goes meanwhile. Lane 0 changes the slot. */
SIMT_FN void gphash_updates(const gphash_args *a)
{
    simt_tile t = simt_tile_of(GPHASH_QUAD);
    gpu_counts counts = gpu_count_none();
    for (uint64_t i = a->b.first + gpu_thread() / t.size; i < a->b.last; i += gpu_threads() / t.size) {
        gphash_one o;
        o.notes = a->changed != (uint64_t *)0;
        if (o.notes && t.rank == 0) gphash_note_word(a, i, 0, UINT64_MAX);
        o.place = gphash_quad_begin(t, a, i, &o);
        if (o.place != GPHASH_NOWHERE) {
            o.key = gphash_key_at(&a->v, o.place);
            o.number = gphash_number_at(&a->v, o.place);
            while (!gphash_found(t, a, &o, 0)) simt_backoff(64);
            if (o.cell != GPHASH_NO_CELL) gphash_give_cell(t, a, o.cell);
        }
        simt_join();
        gphash_deliver(t, a, &o);
        gpu_count(t, &counts, o.one.outcome);
    }
    gpu_tally(t, &a->b, &counts);
}

SIMT_ENTRY(gphash_kernel_quad_lookups, gphash_args, gphash_lookups)
SIMT_ENTRY(gphash_kernel_quad_updates, gphash_args, gphash_updates)

static inline const char *gphash_fits_all(const hd_info *info) { return (void)info, (const char *)NULL; }

static const hd_variant gphash_variant_quad = {
    .name = "quad",
    .row = {
        { GPU_ALIKE, gphash_kernel_quad_lookups, GPHASH_QUAD, GPU_ITEMS_THREADS, gphash_fits_all, HD_ORDER,
          HD_WHAT("lookups: four lanes read the slots of a key; far values in the order of their addresses") },
        { GPU_ITEMS, gphash_kernel_quad_updates, GPHASH_QUAD, GPU_ITEMS_THREADS, gphash_fits_all, HD_ORDER,
          HD_WHAT("updates: four lanes read the slots of a key, which stays, and one changes its slot") },
    },
    .ran = GPHASH_RAN("quad"),
    .ran_mixed = "gphash.mixed.quad",
};

#endif
