/* SPDX-License-Identifier: Apache-2.0
 *
 * wide.h - the items of variant `warp` (gpu/gphash/item.h) with keys of more than 8 bytes (GPHash sections 3.1 and
 * 4.6). Key k of the table stands for the full key of the words k, k + 1, and so on. The slot's key word is k, of which
 * some bits are the fingerprint. An item reads the full key of a slot only if the fingerprints are equal. An insert
 * stores the full key before the key word, by the same lane, so that one fence serves both the number and the full key.
 *
 * The full keys are in the order of the slots, or, as pointers leave them, in an order of their own. In both cases the
 * slot's number gives the row, so a pointer takes no bits of the key word here.
 */
#ifndef PAPERS_WIDE_H
#define PAPERS_WIDE_H

#include "gpu/gphash/item.h"

typedef struct wide_keys {
    uint64_t *full;       /* (rows, words); NULL: the key word is the whole key */
    uint64_t rows;        /* a power of two */
    uint64_t fingerprint; /* the bits of the key word that are compared */
    uint32_t words;
    bool pointed; /* full keys are in another order than slots */
} wide_keys;

typedef struct wide_args {
    gphash_args a; /* first */
    wide_keys keys;
} wide_args;

SIMT_FN uint64_t *wide_full(const wide_keys *k, uint64_t place)
{
    uint64_t row = k->pointed ? place * 0x9e3779b97f4a7c15u & (k->rows - 1) : place;
    return k->full + row * k->words;
}

SIMT_FN bool wide_is(const wide_keys *k, uint64_t place, uint64_t key)
{
    const uint64_t *full = wide_full(k, place);
    for (uint32_t j = 0; j < k->words; j++)
        if (simt_ldrlx_u64(full + j) != key + j) return false;
    return true;
}

SIMT_FN void wide_store(const wide_keys *k, uint64_t place, uint64_t key)
{
    uint64_t *full = wide_full(k, place);
    for (uint32_t j = 0; j < k->words; j++) simt_strlx_u64(full + j, key + j);
}

/* gphash_insert, with the full key. */
SIMT_FN bool wide_insert(simt_tile w, const wide_args *x, gphash_one *o, uint64_t seen)
{
    uint32_t at = gphash_choose(w, &x->a, seen);
    bool got = false, others = false;
    if (seen == GPHASH_ANNOUNCED) others = simt_ldacq_u64(o->number) == gphash_announcement(o->one.h);
    simt_join();
    if (simt_any(w, others)) return false;
    if (at == 32) return gpu_leave(w, &o->one, HD_PENDING);
    gphash_fill_cell(w, &x->a, o, (const uint8_t *)0);
    if (w.rank == at) {
        got = simt_cas_u64(o->key, HD_KEY_EMPTY, HD_KEY_LOCKED, SIMT_ACQ_REL) == HD_KEY_EMPTY;
        simt_fence_system();
    }
    simt_join();
    if (!simt_shfl_u32(w, got, at)) return false;
    if (!gphash_announce(w, o, at)) {
        gphash_withdraw(w, &x->a, o, at);
        return false;
    }
    if (w.rank == at) wide_store(&x->keys, o->place, o->one.key);
    simt_join();
    gphash_publish(w, &x->a, o, at);
    return true;
}

/* gphash_try, with the full key. */
SIMT_FN bool wide_try(simt_tile w, const wide_args *x, gphash_one *o)
{
    uint64_t seen = simt_ldacq_u64(o->key);
    bool is = seen < HD_KEY_RESERVED && ((seen ^ o->one.key) & x->keys.fingerprint) == 0;
    if (is) is = wide_is(&x->keys, o->place, o->one.key);
    simt_join();
    uint32_t at = simt_ffs(simt_ballot(w, is));
    if (at) return gphash_found(w, &x->a, o, at - 1);
    if (o->one.insert) return wide_insert(w, x, o, seen);
    return gpu_leave(w, &o->one, HD_MISS);
}

/* gphash_items of layout cells, without mixed batches. */
SIMT_FN void wide_items(const wide_args *x)
{
    const gphash_args *a = &x->a;
    simt_tile w = simt_tile_of(32);
    gpu_counts counts = gpu_count_none();
    for (uint64_t i = a->b.first + gpu_warp(); i < a->b.last; i += gpu_warps()) {
        gphash_one o = gphash_begin(w, a, i, false);
        while (o.one.outcome == GPU_UNDECIDED && !wide_try(w, x, &o)) simt_backoff(64);
        if (o.cell != GPHASH_NO_CELL) gphash_give_cell(w, a, o.cell);
        gphash_deliver(w, a, &o);
        gpu_count(w, &counts, o.one.outcome);
    }
    gpu_tally(w, &a->b, &counts);
}

SIMT_ENTRY(wide_kernel_items, wide_args, wide_items)

#endif
