/* SPDX-License-Identifier: Apache-2.0
 *
 * chunk - a tile of lanes per item, with a lane for each word of a chunk: a warp in tables with chunks of 32 words, as
 * in the paper. See args.h.
 */
#ifndef GFSL_CHUNK_H
#define GFSL_CHUNK_H

#include "gfsl/gpu/change.h"
#define HD_KERNEL_TEXTS
#include "gfsl/gpu/kernels.inc"
#undef HD_KERNEL_TEXTS
#include "gfsl/gpu/order.h"
#include "gfsl/gpu/variant.h"
#include "gpu/words.h"

/* The item's key is in lane `at` of the chunk that is locked. */
SIMT_FN void gfsl_change(simt_tile t, const gfsl_args *a, gpu_one *o, const gfsl_chunk *x, uint32_t at, uint32_t met)
{
    uint64_t in = simt_shfl_u64(t, o->in, 0), was = simt_shfl_u64(t, x->w, at);
    o->outcome = o->found;
    if (t.rank == 0) simt_ticket(o->i, o->outcome, 0, (uint64_t)x->at * (t.size - 2) + at);
    simt_join();
    if (o->change == GPU_REMOVE) {
        gfsl_take(t, a, x, at);
        for (uint32_t level = a->v.levels - 1; level > 0; level--)
            if (met >> level & 1) gfsl_lower(t, a, o->key, level);
        return;
    }
    uint64_t is = gpu_changed(a->b.elem, GFSL_HALF, o->change, o->key, was, in);
    gfsl_write(t, a, x, t.rank == at ? is : x->w);
    gfsl_unlock(t, a, x, GFSL_LIVE);
}

/* One turn. False: again. */
SIMT_FN bool gfsl_try(simt_tile t, const gfsl_args *a, gpu_one *o)
{
    gfsl_chunk x;
    uint64_t up;
    if (o->outcome != GPU_UNDECIDED) return true; /* reserved */
    uint32_t met = gfsl_search(t, a, o->key, 0, &x), there = gfsl_equal(t, x.w, o->key);
    if (!there && !o->insert) return gpu_leave(t, o, HD_MISS);
    if (there && o->change == GPU_KEEP) {
        o->value = gfsl_low(simt_shfl_u64(t, x.w, simt_ffs(there) - 1));
        return gpu_leave(t, o, o->found);
    }
    if (!gfsl_lock(t, a, &x)) return false;
    if (there) {
        gfsl_change(t, a, o, &x, simt_ffs(there) - 1, met);
        return true;
    }
    uint64_t entry = word_pack(GFSL_HALF, o->key, simt_shfl_u64(t, o->in, 0));
    if (!gfsl_put(t, a, &x, entry, o->i, &up)) return gpu_leave(t, o, HD_PENDING);
    o->outcome = HD_INSERTED;
    gfsl_raise(t, a, up, 1);
    return true;
}

SIMT_FN void gfsl_items(const gfsl_args *a, simt_tile t)
{
    SIMT_SHARED(uint32_t, sum, GPU_ITEMS_THREADS);
    gpu_counts c = gpu_count_none();
    bool mixed = a->b.each != (const uint8_t *)0;
    uint32_t tiles = simt_threads() / t.size, keys = a->keys_per_block ? a->keys_per_block : tiles;
    uint64_t step = (uint64_t)simt_blocks() * keys;
    for (uint64_t at = a->b.first + (uint64_t)simt_block() * keys; at < a->b.last; at += step) {
        uint64_t end = a->b.last - at < keys ? a->b.last : at + keys;
        for (uint64_t i = at + simt_thread() / t.size; i < end; i += tiles) {
            gpu_one o = gpu_begin(t, &a->b, GFSL_HALF, i, a->b.op, mixed);
            while (!gfsl_try(t, a, &o)) simt_backoff(64);
            if (t.rank == 0) gpu_deliver(&a->b, GFSL_HALF, i, o.op, o.outcome, o.value, (const uint8_t *)0, false);
            simt_join();
            gpu_count(t, &c, o.outcome);
        }
    }
    simt_join();
    gpu_tally(t, &a->b, &c);
    simt_join();
    if (mixed && a->b.op_tally) gpu_count_each(a->b.each, a->b.n, a->b.op_tally, sum);
}

SIMT_FN void gfsl_chunk_items(const gfsl_args *a)
{
    if (a->v.slots == 6)
        gfsl_items(a, simt_tile_of(8));
    else if (a->v.slots == 14)
        gfsl_items(a, simt_tile_of(16));
    else
        gfsl_items(a, simt_tile_of(32));
}

/* A tile for each size of chunks. */
SIMT_FN simt_tile gfsl_tile(const gfsl_args *a)
{
    return simt_tile_of(a->v.slots == 6 ? 8 : a->v.slots == 14 ? 16 : 32);
}

SIMT_FN void gfsl_chunk_ordered(const gfsl_args *a)
{
    if (a->v.slots == 6)
        gfsl_ordered(a, simt_tile_of(8));
    else if (a->v.slots == 14)
        gfsl_ordered(a, simt_tile_of(16));
    else
        gfsl_ordered(a, simt_tile_of(32));
}
SIMT_FN void gfsl_chunk_ends(const gfsl_args *a) { gfsl_ends(a, gfsl_tile(a)); }
SIMT_FN void gfsl_prune(const gfsl_args *a) { gfsl_prune_as(a, gfsl_tile(a)); }
SIMT_FN void gfsl_thin(const gfsl_args *a) { gfsl_thin_as(a, gfsl_tile(a)); }

/* ---- Zombies, after a batch that erases ------------------------------------------------------ */

SIMT_FN uint64_t gfsl_past_zombies(const gfsl_args *a, uint64_t w)
{
    uint32_t at = gfsl_low(w);
    while (at != GFSL_NONE) {
        uint64_t *link = gfsl_at(&a->v, at) + a->v.slots;
        if (gfsl_state(simt_ldrlx_u64(link + 1)) != GFSL_ZOMBIE) break;
        at = gfsl_low(simt_ldrlx_u64(link));
    }
    return (w & ~(uint64_t)GFSL_NONE) | at;
}

/* A thread per word: links and index entries that lead to zombies lead to what is behind them. */
SIMT_FN void gfsl_relink(const gfsl_args *a)
{
    if (simt_ldrlx_u64(a->v.head + GFSL_ZOMBIES) == 0) return;
    uint64_t words = gfsl_words(&a->v), last = simt_ldrlx_u64(a->v.head + GFSL_USED) * words;
    for (uint64_t i = gpu_thread(); i < last; i += gpu_threads()) {
        uint32_t at = (uint32_t)(i % words);
        uint64_t *p = gfsl_at(&a->v, i / words) + at, seal = simt_ldrlx_u64(p - at + words - 1);
        if (gfsl_state(seal) != GFSL_LIVE || at > a->v.slots || (at < a->v.slots && !gfsl_level(seal))) continue;
        uint64_t w = simt_ldrlx_u64(p), is = w == GFSL_EMPTY ? w : gfsl_past_zombies(a, w);
        if (is != w) simt_strlx_u64(p, is);
    }
}

/* A thread per chunk: zombies become free. */
SIMT_FN void gfsl_release(const gfsl_args *a)
{
    uint64_t last = simt_ldrlx_u64(a->v.head + GFSL_USED);
    for (uint64_t c = gpu_thread(); c < last; c += gpu_threads()) {
        uint64_t *word = gfsl_at(&a->v, c), *seal = word + a->v.slots + 1, was = simt_ldrlx_u64(seal), is, freed;
        uint64_t *pool = a->v.head + GFSL_FREED + gfsl_pool(&a->v, gfsl_level(was));
        if (gfsl_state(was) != GFSL_ZOMBIE) continue;
        simt_strlx_u64(seal, gfsl_seal(0, GFSL_FREE));
        simt_add_u64(a->v.head + GFSL_ZOMBIES, UINT64_MAX, SIMT_RELAXED);
        freed = simt_ldrlx_u64(pool);
        do {
            is = freed;
            simt_strlx_u64(word, is);
            freed = simt_cas_u64(pool, is, c + 1, SIMT_RELAXED);
            if (freed != is) simt_backoff(32);
        } while (freed != is);
    }
}

/* ---- The whole table ------------------------------------------------------------------------- */

/* The entry at place e; GFSL_EMPTY: there is none. */
SIMT_FN uint64_t gfsl_entry_at(const gfsl_args *a, uint64_t e)
{
    uint64_t seal = simt_ldrlx_u64(gfsl_at(&a->v, e / a->v.slots) + a->v.slots + 1);
    if (seal % GFSL_VERSION != gfsl_seal(0, GFSL_LIVE)) return GFSL_EMPTY;
    return simt_ldrlx_u64(gfsl_slot(&a->v, e));
}

SIMT_FN void gfsl_chunk_sweep(const gfsl_args *a)
{
    uint64_t n = 0;
    for (uint64_t e = a->b.first + gpu_thread(); e < a->b.last; e += gpu_threads())
        n += gpu_holds(&a->b, GFSL_HALF, (const uint8_t *)gfsl_slot(&a->v, e), gfsl_entry_at(a, e));
    simt_join();
    if (a->b.count) gpu_add_up(a->b.count, n);
}

SIMT_FN void gfsl_chunk_clear(const gfsl_args *a)
{
    uint64_t words = gfsl_words(&a->v);
    for (uint64_t i = gpu_thread(); i < a->v.chunks * words; i += gpu_threads())
        simt_strlx_u64(gfsl_at(&a->v, i / words) + i % words, gfsl_first_word(&a->v, i / words, (uint32_t)(i % words)));
    for (uint64_t i = gpu_thread(); i < GFSL_HEAD; i += gpu_threads())
        simt_strlx_u64(a->v.head + i, gfsl_first_head(&a->v, (uint32_t)i));
}

/* Whether item, or place, x lists, and its entry. */
SIMT_FN bool gfsl_lists(const gfsl_args *a, uint64_t x, uint64_t *word)
{
    *word = 0;
    if (x >= a->b.last) return false;
    if (a->b.stage_flag) return simt_ld_u8(a->b.stage_flag + (x - a->b.first)) != 0;
    *word = gfsl_entry_at(a, x);
    return gpu_holds(&a->b, GFSL_HALF, (const uint8_t *)gfsl_slot(&a->v, x), *word);
}

SIMT_FN void gfsl_list(const gfsl_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t word;
    for (gpu_list l = gpu_list_begin(w, &a->b); gpu_list_goes_on(&l);) {
        bool mine = gfsl_lists(a, l.x + w.rank, &word);
        simt_join();
        gpu_list_next(w, &a->b, GFSL_HALF, mine, word, &l);
    }
}

SIMT_ENTRY(gfsl_kernel_chunk_items, gfsl_args, gfsl_chunk_items)
SIMT_ENTRY(gfsl_kernel_chunk_ordered, gfsl_args, gfsl_chunk_ordered)
SIMT_ENTRY(gfsl_kernel_chunk_ends, gfsl_args, gfsl_chunk_ends)
SIMT_ENTRY(gfsl_kernel_chunk_sweep, gfsl_args, gfsl_chunk_sweep)
SIMT_ENTRY(gfsl_kernel_chunk_export, gfsl_args, gfsl_list)
SIMT_ENTRY(gfsl_kernel_chunk_clear, gfsl_args, gfsl_chunk_clear)

/* The kernels that batches share. */
#define GFSL_KERNEL(number, entry, args, text) SIMT_ENTRY(entry, args, text)
#include "gfsl/gpu/kernels.inc"
#undef GFSL_KERNEL

static const hd_variant gfsl_variant_chunk = {
    .name = "chunk",
    .row = {
        { GPU_ITEMS, gfsl_kernel_chunk_items, 32, GPU_ITEMS_THREADS, gfsl_fits_all, HD_ORDER,
          HD_WHAT("items: a lane for each word of a chunk") },
        { GFSL_ORDERED, gfsl_kernel_chunk_ordered, 32, GPU_ITEMS_THREADS, gfsl_fits_all, HD_ORDER,
          HD_WHAT("neighbours, ranges: a lane for each word of a chunk") },
        { GFSL_ENDS, gfsl_kernel_chunk_ends, 32, 32, gfsl_fits_all, HD_EXACT, HD_WHAT("min, max: one tile") },
        { GPU_SWEEP, gfsl_kernel_chunk_sweep, 1, 128, gfsl_fits_all, HD_EXACT,
          HD_WHAT("sweep: a thread per place; erase_if: a tile per chunk, level by level") },
        { GPU_EXPORT, gfsl_kernel_chunk_export, 1, 128, gfsl_fits_all, HD_EXACT,
          HD_WHAT("export: a warp per part of the range counts, and then writes") },
        { GPU_CLEAR, gfsl_kernel_chunk_clear, 1, 128, gfsl_fits_all, HD_EXACT, HD_WHAT("clear: a thread per word") },
    },
    .ran = GFSL_RAN("chunk"),
    .ran_mixed = "gfsl.mixed.chunk",
};

#endif
