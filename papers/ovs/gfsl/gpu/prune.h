/* SPDX-License-Identifier: Apache-2.0
 *
 * prune.h - erase_if, which runs alone, level by level: first each chunk drops entries, then those that have few are
 * merged, then links and index entries go past zombies. On level 0 the predicate says which entries leave. On an index
 * level those leave that lead to the same chunk as the entry before them in their chunk: the chunk for which they were
 * raised was merged.
 */
#ifndef GFSL_PRUNE_H
#define GFSL_PRUNE_H

#include "gfsl/gpu/change.h"
#include "gpu/words.h"

/* The entries of the lanes that `keeps` has, in their order, as those of lanes from 0 on. */
SIMT_FN uint64_t gfsl_kept(simt_tile t, uint64_t w, uint32_t keeps)
{
    uint64_t is = GFSL_EMPTY;
    for (uint32_t r = 0; r < t.size - 2; r++) {
        uint64_t other = simt_shfl_u64(t, w, r);
        if ((keeps >> r & 1) && simt_popc(keeps & ((1u << r) - 1)) == t.rank) is = other;
    }
    return is;
}

/* How many entries the chunk drops. It is no other tile's. */
SIMT_FN uint32_t gfsl_drop(simt_tile t, const gfsl_args *a, uint32_t chunk)
{
    uint64_t *p = gfsl_at(&a->v, chunk) + t.rank, w = simt_ldrlx_u64(p), seal = simt_shfl_u64(t, w, t.size - 1);
    uint64_t before = simt_shfl_u64(t, w, t.rank ? t.rank - 1 : 0);
    bool is = t.rank < t.size - 2 && w != GFSL_EMPTY, leaves = false;
    if (seal % GFSL_VERSION != gfsl_seal(a->level, GFSL_LIVE)) return 0;
    if (is && a->level == 0) leaves = gpu_holds(&a->b, GFSL_HALF, (const uint8_t *)p, w);
    if (is && a->level && t.rank) leaves = gfsl_low(before) == gfsl_low(w);
    simt_join();
    uint32_t all = simt_ballot(t, leaves), keeps = simt_ballot(t, is && !leaves);
    uint64_t to = gfsl_kept(t, w, keeps);
    if (all && t.rank < t.size - 2 && to != w) simt_strlx_u64(p, to);
    if (all && t.rank == t.size - 1) simt_strlx_u64(p, gfsl_changed(w, GFSL_LIVE));
    simt_join();
    return simt_popc(all);
}

/* The entries of the level that leave. */
SIMT_FN void gfsl_prune_as(const gfsl_args *a, simt_tile t)
{
    uint64_t n = 0, chunks = simt_ldrlx_u64(a->v.head + GFSL_USED);
    for (uint64_t c = gpu_thread() / t.size; c < chunks; c += gpu_threads() / t.size) n += gfsl_drop(t, a, (uint32_t)c);
    simt_join();
    if (a->level == 0 && a->b.count) gpu_add_up(a->b.count, t.rank == 0 ? n : 0);
}

/* Merges the chunk, if it is of the level and has few entries. */
SIMT_FN void gfsl_join(simt_tile t, const gfsl_args *a, uint32_t chunk)
{
    for (;;) {
        gfsl_chunk x;
        uint64_t up = GFSL_EMPTY;
        while (!gfsl_look(t, a, chunk, &x)) simt_backoff(64);
        uint32_t n = simt_popc(gfsl_entries(t, x.w));
        bool of_level = x.seal % GFSL_VERSION == gfsl_seal(a->level, GFSL_LIVE);
        if (!of_level || n >= gfsl_least(&a->v) || chunk == a->level || gfsl_low(x.link) == GFSL_NONE) return;
        if (!gfsl_lock(t, a, &x)) {
            simt_backoff(64);
            continue;
        }
        if (!gfsl_merge(t, a, &x, x.w, n, &up)) gfsl_unlock(t, a, &x, GFSL_LIVE);
        gfsl_raise(t, a, up, a->level + 1);
        return;
    }
}

SIMT_FN void gfsl_thin_as(const gfsl_args *a, simt_tile t)
{
    uint64_t chunks = simt_ldrlx_u64(a->v.head + GFSL_USED);
    for (uint64_t c = gpu_thread() / t.size; c < chunks; c += gpu_threads() / t.size) gfsl_join(t, a, (uint32_t)c);
}

#endif
