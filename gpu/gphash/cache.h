/* SPDX-License-Identifier: Apache-2.0
 *
 * cache.h - copies of hot units of a far table in device memory (GPHash section 3.3, BktCache). A unit is a bucket, of
 * which keys and numbers are copied, or a cell.
 *
 * Lookups count the heat of the units that they read, of one item in 16. Between batches HD_OP_PROMOTE chooses the
 * hottest units of a range, makes copies of those that have none, and halves the heat:
 *
 *     gphash_cache_count    copies that no unit has; units by heat, and those with a copy
 *     gphash_cache_choose   the least heat whose units all get a copy, and how many of the next lower heat do
 *     gphash_cache_drop     units that are colder lose theirs
 *     gphash_cache_assign   units that are as hot get one
 *     gphash_cache_fill     which is filled
 *
 * A cell's bytes are final before a number names it, so its copy stays right until another item takes the cell, which
 * drops the copy (gphash_stale_cell). Bucket copies are read by `quad` alone, in whose batches no key comes or goes. An
 * item that has changed a far slot copies the far words, and repeats that until they are the same afterwards
 * (gphash_refresh). Several items may change one slot: the last one that stores a copy has then seen the last change.
 *
 * Differs from the paper: copies are not made while batches run. There a writer that has looked for a copy too early
 * leaves it stale. Units are chosen by counts of their heat, not by a sort.
 */
#ifndef GPHASH_CACHE_H
#define GPHASH_CACHE_H

#include "gpu/gphash/args.h"
#include "gpu/gphash/bytes.h"
#include "gpu/warp.h"

/* ---- Use ------------------------------------------------------------------------------------- */

/* The copy of a unit; NULL: it has none. */
SIMT_FN uint8_t *gphash_copy_of(const gphash_cache *c, uint64_t unit)
{
    uint32_t copy = simt_ldrlx_u32(c->copy_of + unit);
    return copy ? c->copy + (uint64_t)(copy - 1) * c->unit_bytes : (uint8_t *)0;
}

/* Item i has read the unit. */
SIMT_FN void gphash_warm(const gphash_cache *c, uint64_t i, uint64_t unit)
{
    if (i % GPHASH_SAMPLE == c->sample) simt_add_u32(c->heat + unit, 1, SIMT_RELAXED);
}

/* A lookup has read the value in the cell. */
SIMT_FN void gphash_warm_cell(const gphash_args *a, uint64_t i, uint64_t cell)
{
    if (a->cache.of == HD_CACHE_VALUES) gphash_warm(&a->cache, i, cell);
}

/* The bytes of a cell, wherever they are nearest; *far: they are on the far side of the bus. */
SIMT_FN const uint8_t *gphash_nearest(const gphash_args *a, uint64_t cell, bool *far)
{
    const uint8_t *copy = a->cache.of == HD_CACHE_VALUES ? gphash_copy_of(&a->cache, cell) : (uint8_t *)0;
    *far = !copy;
    return copy ? copy : gphash_cell(&a->v, cell);
}

/* An item has taken the cell, whose copy is of an earlier value. */
SIMT_FN void gphash_stale_cell(const gphash_args *a, uint64_t cell)
{
    if (a->cache.of == HD_CACHE_VALUES) simt_strlx_u32(a->cache.copy_of + cell, 0);
}

/* The value in cell `from` has been replaced by that in cell `to`, which is as hot. */
SIMT_FN void gphash_heat_moves(const gphash_args *a, uint64_t from, uint64_t to)
{
    if (a->cache.of == HD_CACHE_VALUES) simt_strlx_u32(a->cache.heat + to, simt_ldrlx_u32(a->cache.heat + from));
}

/* The cell is free: it is no longer read. */
SIMT_FN void gphash_cold_cell(const gphash_args *a, uint64_t cell)
{
    if (a->cache.of == HD_CACHE_VALUES) simt_strlx_u32(a->cache.heat + cell, 0);
}

/* The caller gets a pointer to the value of place e, and may change it. */
SIMT_FN void gphash_pointed(const gphash_args *a, uint64_t e, uint64_t cell)
{
    if (a->cache.of == HD_CACHE_VALUES || (a->cache.of == HD_CACHE_BUCKETS && !a->v.cell_bytes))
        simt_strlx_u32(a->cache.copy_of + (a->cache.of == HD_CACHE_VALUES ? cell : e / a->v.slots), 0);
}

/* Where the words of place e are in the copy of its bucket; both NULL: there is none. */
SIMT_FN gphash_level gphash_copied_slot(const gphash_args *a, uint64_t e)
{
    uint64_t *copy = (uint64_t *)0;
    gphash_level at = { (uint64_t *)0, (uint64_t *)0 };
    if (a->cache.of == HD_CACHE_BUCKETS) copy = (uint64_t *)(void *)gphash_copy_of(&a->cache, e / a->v.slots);
    if (copy) at.key = copy + e % a->v.slots;
    if (copy) at.number = at.key + a->v.slots;
    return at;
}

SIMT_FN void gphash_refresh_word(uint64_t *copy, const uint64_t *far)
{
    uint64_t word;
    do {
        word = simt_ldacq_u64(far);
        simt_strlx_u64(copy, word);
        simt_fence(); /* of two items that changed the word, one at least sees the other's change below */
    } while (simt_ldacq_u64(far) != word);
}

/* This lane has changed the far slot of place e; of GPHASH_SET the key was there, and others may read it. */
SIMT_FN void gphash_refresh(const gphash_args *a, uint64_t e, gphash_change how)
{
    gphash_level copy = gphash_copied_slot(a, e);
    if (!copy.key) return;
    if (how != GPHASH_SET) gphash_refresh_word(copy.key, gphash_key_at(&a->v, e));
    gphash_refresh_word(copy.number, gphash_number_at(&a->v, e));
}

/* ---- Promotion ------------------------------------------------------------------------------- */

/* The units that slots [first, last) choose: buckets whose first slot is one of them, or cells with their numbers, and
 * with the last slot those that are more than slots. */
SIMT_FN uint64_t gphash_units_until(const gphash_args *a, uint64_t slot)
{
    if (a->cache.of == HD_CACHE_BUCKETS) return (slot + a->v.slots - 1) / a->v.slots;
    if (a->cache.of == HD_CACHE_NONE) return 0;
    return slot < gphash_places(&a->v) ? slot : gphash_cells(&a->v);
}
SIMT_FN uint64_t gphash_first_unit(const gphash_args *a) { return gphash_units_until(a, a->b.first); }
SIMT_FN uint64_t gphash_last_unit(const gphash_args *a)
{
    return a->b.last > a->b.first ? gphash_units_until(a, a->b.last) : gphash_first_unit(a);
}

SIMT_FN uint32_t gphash_heat(const gphash_cache *c, uint64_t unit)
{
    uint32_t heat = simt_ldrlx_u32(c->heat + unit);
    return heat < GPHASH_HEATS - 1 ? heat : GPHASH_HEATS - 1;
}

SIMT_FN void gphash_spare_copy(const gphash_cache *c, uint32_t copy)
{
    simt_st_u32(c->spare + simt_add_u32(&c->word->spares, 1, SIMT_RELAXED), copy);
}

SIMT_FN void gphash_cache_count(const gphash_args *a)
{
    const gphash_cache *c = &a->cache;
    for (uint64_t k = gpu_thread(); k < c->copies; k += gpu_threads())
        if (simt_ldrlx_u32(c->copy_of + simt_ld_u32(c->holder + k)) != k + 1) gphash_spare_copy(c, (uint32_t)k);
    for (uint64_t u = gphash_first_unit(a) + gpu_thread(); u < gphash_last_unit(a); u += gpu_threads()) {
        uint32_t heat = gphash_heat(c, u);
        if (heat) simt_add_u32(c->word->units + heat, 1, SIMT_RELAXED);
        if (simt_ldrlx_u32(c->copy_of + u)) simt_add_u32(&c->word->held, 1, SIMT_RELAXED);
    }
}

SIMT_FN void gphash_cache_choose(const gphash_args *a)
{
    gphash_cache_words *w = a->cache.word;
    if (gpu_thread() != 0) return;
    uint32_t room = simt_ld_u32(&w->spares) + simt_ld_u32(&w->held), least = GPHASH_HEATS;
    for (; least > 1 && simt_ld_u32(w->units + least - 1) <= room; least--) room -= simt_ld_u32(w->units + least - 1);
    simt_st_u32(&w->least, least);
    simt_st_u32(&w->ties, least > 1 ? room : 0);
}

/* Whether unit u is to have a copy. */
SIMT_FN bool gphash_is_hot(const gphash_cache *c, uint64_t u)
{
    uint32_t heat = gphash_heat(c, u), least = simt_ld_u32(&c->word->least);
    if (heat >= least) return true;
    return heat && heat + 1 == least && simt_add_u32(&c->word->tied, 1, SIMT_RELAXED) < simt_ld_u32(&c->word->ties);
}

SIMT_FN void gphash_cache_drop(const gphash_args *a)
{
    const gphash_cache *c = &a->cache;
    for (uint64_t u = gphash_first_unit(a) + gpu_thread(); u < gphash_last_unit(a); u += gpu_threads()) {
        uint32_t copy = simt_ldrlx_u32(c->copy_of + u);
        if (!copy || gphash_is_hot(c, u)) continue;
        simt_strlx_u32(c->copy_of + u, 0);
        gphash_spare_copy(c, copy - 1);
    }
}

SIMT_FN void gphash_cache_assign(const gphash_args *a)
{
    const gphash_cache *c = &a->cache;
    for (uint64_t u = gphash_first_unit(a) + gpu_thread(); u < gphash_last_unit(a); u += gpu_threads()) {
        if (!simt_ldrlx_u32(c->copy_of + u) && gphash_is_hot(c, u)) {
            uint32_t copy = simt_ld_u32(c->spare + simt_add_u32(&c->word->came, 1, SIMT_RELAXED));
            simt_strlx_u32(c->copy_of + u, copy + 1);
            simt_st_u32(c->holder + copy, (uint32_t)u);
        }
        simt_strlx_u32(c->heat + u, simt_ldrlx_u32(c->heat + u) / 2);
    }
}

/* A lane's part of a bucket's copy. */
SIMT_FN void gphash_copy_bucket(simt_tile t, const gphash_args *a, uint64_t bucket, uint64_t *copy)
{
    uint64_t e = bucket * a->v.slots;
    for (uint32_t s = t.rank; s < a->v.slots; s += t.size) {
        simt_strlx_u64(copy + s, simt_ldrlx_u64(gphash_key_at(&a->v, e + s)));
        simt_strlx_u64(copy + a->v.slots + s, simt_ldrlx_u64(gphash_number_at(&a->v, e + s)));
    }
    simt_join();
}

SIMT_FN void gphash_cache_fill(const gphash_args *a)
{
    const gphash_cache *c = &a->cache;
    simt_tile t = simt_tile_of(8);
    uint32_t came = simt_ld_u32(&c->word->came);
    for (uint64_t k = gpu_thread() / t.size; k < came; k += gpu_threads() / t.size) {
        uint32_t copy = simt_ld_u32(c->spare + k), unit = simt_ld_u32(c->holder + copy);
        uint8_t *to = c->copy + (uint64_t)copy * c->unit_bytes;
        if (c->of == HD_CACHE_BUCKETS)
            gphash_copy_bucket(t, a, unit, (uint64_t *)(void *)to);
        else
            gphash_copy(t, to, gphash_cell(&a->v, unit), c->unit_bytes);
    }
    if (a->b.count && gpu_thread() == 0) simt_st_u64(a->b.count, came);
}

#endif
