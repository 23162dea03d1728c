/* SPDX-License-Identifier: Apache-2.0
 *
 * look.h - chunks as a tile sees them, their locks, and the search (see args.h). All functions are called by the whole
 * tile, and their results are those of all lanes, but for the word of each lane.
 */
#ifndef GFSL_LOOK_H
#define GFSL_LOOK_H

#include "gfsl/gpu/args.h"
#include "simt/simt.h"

/* A chunk as it was at one moment. */
typedef struct gfsl_chunk {
    uint32_t at;
    uint64_t w; /* the lane's word */
    uint64_t link, seal;
} gfsl_chunk;

/* False: the chunk was changed meanwhile, or is locked. */
SIMT_FN bool gfsl_look(simt_tile t, const gfsl_args *a, uint32_t at, gfsl_chunk *x)
{
    uint64_t *p = gfsl_at(&a->v, at) + t.rank, again = 0;
    bool keeps = t.rank == t.size - 1;
    x->at = at;
    x->w = 0;
    if (keeps) x->w = simt_ldacq_u64(p);
    simt_sync_tile(t);
    if (!keeps) x->w = simt_ldrlx_u64(p);
    simt_fence();
    simt_sync_tile(t);
    if (keeps) again = simt_ldrlx_u64(p);
    simt_join();
    x->link = simt_shfl_u64(t, x->w, t.size - 2);
    x->seal = simt_shfl_u64(t, x->w, t.size - 1);
    again = simt_shfl_u64(t, again, t.size - 1);
    return again == x->seal && gfsl_state(x->seal) != GFSL_LOCKED;
}

/* The chunk, or the first one behind it that is no zombie. */
SIMT_FN void gfsl_reach(simt_tile t, const gfsl_args *a, uint32_t at, gfsl_chunk *x)
{
    for (;;) {
        while (!gfsl_look(t, a, at, x)) simt_backoff(64);
        if (gfsl_state(x->seal) != GFSL_ZOMBIE) return;
        at = gfsl_low(x->link);
    }
}

/* For programs that count attempts; on the host machine the meter does. */
#ifndef GFSL_ATTEMPTED
#define GFSL_ATTEMPTED(t, got)
#endif

/* The chunk as it was seen, which is live, is locked now. False: it is not. */
SIMT_FN bool gfsl_lock(simt_tile t, const gfsl_args *a, const gfsl_chunk *x)
{
    uint64_t *seal = gfsl_at(&a->v, x->at) + t.size - 1;
    uint64_t free = x->seal & ~3ull; /* as of a chunk that is live */
    bool got = false;
    if (t.rank == 0) got = simt_cas_u64(seal, free, free | GFSL_LOCKED, SIMT_ACQUIRE) == free;
    GFSL_ATTEMPTED(t, got)
    simt_sync_tile(t);
    simt_fence(); /* a look that reads what is stored from here on sees that the seal has changed */
    return simt_shfl_u32(t, got, 0);
}

/* Ends the lock. state: of the chunk from now on. */
SIMT_FN void gfsl_unlock(simt_tile t, const gfsl_args *a, const gfsl_chunk *x, uint32_t state)
{
    simt_sync_tile(t);
    if (t.rank == 0) simt_strel_u64(gfsl_at(&a->v, x->at) + t.size - 1, gfsl_changed(x->seal, state));
    simt_join();
}

/* Which lanes have entries with such keys. */
SIMT_FN uint32_t gfsl_entries(simt_tile t, uint64_t w)
{
    return simt_ballot(t, t.rank < t.size - 2 && w != GFSL_EMPTY);
}
SIMT_FN uint32_t gfsl_below(simt_tile t, uint64_t w, uint64_t key)
{
    return simt_ballot(t, t.rank < t.size - 2 && w >> 32 < key);
}
SIMT_FN uint32_t gfsl_equal(simt_tile t, uint64_t w, uint64_t key)
{
    return simt_ballot(t, t.rank < t.size - 2 && w >> 32 == key);
}

/* The entries in the order of their keys; the other lanes get free words. */
SIMT_FN uint64_t gfsl_sorted(simt_tile t, uint64_t w)
{
    uint32_t rank = 0;
    uint64_t is = GFSL_EMPTY;
    for (uint32_t r = 0; r < t.size - 2; r++) {
        uint64_t other = simt_shfl_u64(t, w, r);
        rank += other < w || (other == w && r < t.rank);
    }
    for (uint32_t r = 0; r < t.size - 2; r++) {
        uint64_t other = simt_shfl_u64(t, w, r);
        if (simt_shfl_u32(t, rank, r) == t.rank) is = other;
    }
    return is;
}

SIMT_FN uint64_t gfsl_sorted_if(simt_tile t, uint64_t w, bool sorts) { return sorts ? gfsl_sorted(t, w) : w; }

/* A way to the chunk of a key. */
typedef struct gfsl_way {
    uint32_t level; /* of the chunk at hand */
    uint32_t back;  /* where the last entry on the left of that chunk leads; GFSL_NONE */
    uint32_t by;    /* the key of the last such entry, of any level */
    uint32_t met;   /* bit l: the key is on level l */
} gfsl_way;

/* From the first chunk of `level`, or of the highest level in use, if that is above it. */
SIMT_FN gfsl_way gfsl_way_begin(simt_tile t, const gfsl_args *a, uint32_t level)
{
    gfsl_way way;
    uint32_t top = 0;
    if (t.rank == 0) top = (uint32_t)simt_ldrlx_u64(a->v.head + GFSL_TOP);
    simt_join();
    top = simt_shfl_u32(t, top, 0);
    way.level = top > level ? top : level;
    way.back = GFSL_NONE;
    way.by = way.met = 0;
    return way;
}

/* The way goes on from chunk x; returns the next chunk. */
SIMT_FN uint32_t gfsl_step(simt_tile t, const gfsl_chunk *x, uint64_t key, gfsl_way *way)
{
    bool right = key > gfsl_key(x->link);
    uint32_t found = right ? gfsl_entries(t, x->w) : gfsl_below(t, x->w, key + 1);
    uint64_t last = simt_shfl_u64(t, x->w, found ? simt_popc(found) - 1 : 0);
    if (found) way->back = gfsl_low(last);
    if (found) way->by = gfsl_key(last);
    if (right) return gfsl_low(x->link);
    if (way->back == GFSL_NONE) return way->level; /* no entry was seen: from the level's first chunk */
    if (key && found && gfsl_key(last) == key) way->met |= 1u << way->level;
    uint32_t down = way->back;
    way->back = GFSL_NONE;
    way->level--;
    return down;
}

/* The chunk of `level` to which the key belongs (Algorithm 2). Returns on which levels above it the key was met. */
SIMT_FN uint32_t gfsl_search(simt_tile t, const gfsl_args *a, uint64_t key, uint32_t level, gfsl_chunk *x)
{
    gfsl_way way = gfsl_way_begin(t, a, level);
    for (uint32_t at = way.level;;) {
        gfsl_reach(t, a, at, x);
        if (way.level == level && key <= gfsl_key(x->link)) return way.met;
        at = gfsl_step(t, x, key, &way);
    }
}

#endif
