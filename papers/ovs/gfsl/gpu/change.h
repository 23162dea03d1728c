/* SPDX-License-Identifier: Apache-2.0
 *
 * change.h - changes of chunks that are locked (see args.h): an entry comes, with a split of a full chunk; an entry
 * leaves, with a merge of a chunk that has few. Keys of new chunks are raised to the level above when no lock is held.
 */
#ifndef GFSL_CHANGE_H
#define GFSL_CHANGE_H

#include "gfsl/gpu/look.h"

/* Takes a chunk for a level; GFSL_NONE: none is free. Chunks are given back by no item of a batch. */
SIMT_FN uint32_t gfsl_new(simt_tile t, const gfsl_args *a, uint32_t level)
{
    uint32_t at = GFSL_NONE, pool = gfsl_pool(&a->v, level);
    bool tries = t.rank == 0;
    while (tries) {
        uint64_t freed = simt_ldrlx_u64(a->v.head + GFSL_FREED + pool);
        uint64_t *from = a->v.head + (freed ? GFSL_FREED : GFSL_USED) + pool, is = freed, next;
        if (!freed) is = simt_ldrlx_u64(from);
        next = is + 1;
        if (freed) next = simt_ldrlx_u64(gfsl_at(&a->v, freed - 1));
        bool none = !freed && is >= a->v.end[pool];
        if (none || simt_cas_u64(from, is, next, SIMT_RELAXED) == is) {
            tries = false;
            if (!none) at = (uint32_t)(freed ? freed - 1 : is);
        } else {
            simt_backoff(32);
        }
    }
    if (at != GFSL_NONE) simt_add_u64(a->v.head + level, 1, SIMT_RELAXED);
    simt_join();
    return simt_shfl_u32(t, at, 0);
}

/* The entry that a new chunk is raised by: its least key, and the chunk. */
SIMT_FN uint64_t gfsl_up(simt_tile t, uint64_t w, uint32_t chunk)
{
    return (simt_shfl_u64(t, w, 0) & ~(uint64_t)GFSL_NONE) | chunk;
}

/* Writes a new chunk, which no other item can see yet; w: the lane's entry. */
SIMT_FN void gfsl_write_new(simt_tile t, const gfsl_args *a, uint32_t at, uint32_t level, uint64_t link, uint64_t w)
{
    if (t.rank == t.size - 2) w = link;
    if (t.rank == t.size - 1) w = gfsl_seal(level, GFSL_LIVE);
    simt_strlx_u64(gfsl_at(&a->v, at) + t.rank, w);
    simt_sync_tile(t);
}

/* The lane's word of a locked chunk becomes w. */
SIMT_FN void gfsl_write(simt_tile t, const gfsl_args *a, const gfsl_chunk *x, uint64_t w)
{
    if (t.rank < t.size - 1 && w != x->w) simt_strlx_u64(gfsl_at(&a->v, x->at) + t.rank, w);
    simt_join();
}

/* The entries of lanes [from, to) as those of lanes from 0 on; the others are free words. */
SIMT_FN uint64_t gfsl_lanes(simt_tile t, uint64_t w, uint32_t from, uint32_t to)
{
    bool mine = t.rank + from < to;
    uint64_t is = simt_shfl_u64(t, w, mine ? t.rank + from : t.rank);
    return mine ? is : GFSL_EMPTY;
}

/* A locked chunk keeps its first `keeps` entries of w, and chunk `to` gets the others, of which there are `all`
 * together. Returns the entry to raise. */
SIMT_FN uint64_t gfsl_split(simt_tile t, const gfsl_args *a, const gfsl_chunk *x, uint32_t to, uint64_t w,
                            uint32_t keeps, uint32_t all)
{
    uint64_t moves = gfsl_lanes(t, w, keeps, all), greatest = simt_shfl_u64(t, w, keeps - 1),
             stays = t.rank < keeps ? w : GFSL_EMPTY;
    gfsl_write_new(t, a, to, gfsl_level(x->seal), x->link, moves);
    if (t.rank == t.size - 2) stays = (greatest & ~(uint64_t)GFSL_NONE) | to;
    gfsl_write(t, a, x, stays);
    return gfsl_up(t, moves, to);
}

/* Puts an entry into the locked chunk x, to which its key belongs, and unlocks it. False: no chunk is free, and nothing
 * was changed. *up: what is to be raised, or GFSL_EMPTY. An item's ticket is drawn before others see the entry. */
SIMT_FN bool gfsl_put(simt_tile t, const gfsl_args *a, const gfsl_chunk *x, uint64_t entry, uint64_t item, uint64_t *up)
{
    uint32_t slots = t.size - 2, n = simt_popc(gfsl_entries(t, x->w)),
             pos = simt_popc(gfsl_below(t, x->w, gfsl_key(entry))), to = GFSL_NONE, middle = gfsl_middle(&a->v);
    bool full = n == slots, loose = gfsl_is_loose(&a->v, x->seal);
    uint64_t was = gfsl_sorted_if(t, x->w, loose && full), before = simt_shfl_u64(t, was, t.rank ? t.rank - 1 : 0);
    if (loose && !full) pos = n;
    uint64_t w = t.rank < pos ? was : t.rank == pos ? entry : before; /* with the entry; lanes up to n */
    *up = GFSL_EMPTY;
    if (full) to = gfsl_new(t, a, gfsl_level(x->seal));
    if (full && to == GFSL_NONE) {
        gfsl_unlock(t, a, x, GFSL_LIVE);
        return false;
    }
    if (t.rank == 0 && item != WORD_NOWHERE) simt_ticket(item, HD_INSERTED, 0, (uint64_t)x->at * slots + pos);
    simt_join();
    if (full)
        *up = gfsl_split(t, a, x, to, w, pos < middle ? middle + 1 : middle, slots + 1);
    else
        gfsl_write(t, a, x, t.rank <= n ? w : x->w);
    gfsl_unlock(t, a, x, GFSL_LIVE);
    return true;
}

/* Raises the least key of a new chunk, level by level, for as long as chunks split. */
SIMT_FN void gfsl_raise(simt_tile t, const gfsl_args *a, uint64_t entry, uint32_t level)
{
    while (entry != GFSL_EMPTY && level < a->v.levels) {
        gfsl_chunk x;
        gfsl_search(t, a, gfsl_key(entry), level, &x);
        uint32_t there = gfsl_equal(t, x.w, gfsl_key(entry));
        if (!gfsl_lock(t, a, &x)) {
            simt_backoff(64);
            continue;
        }
        if (there) {
            gfsl_write(t, a, &x, t.rank == simt_ffs(there) - 1 ? entry : x.w);
            gfsl_unlock(t, a, &x, GFSL_LIVE);
            return;
        }
        if (!gfsl_put(t, a, &x, entry, WORD_NOWHERE, &entry)) return;
        if (t.rank == 0) simt_max_u64(a->v.head + GFSL_TOP, level, SIMT_RELAXED);
        simt_join();
        level++;
    }
}

/* The next chunk of the locked chunk x, locked. */
SIMT_FN void gfsl_lock_next(simt_tile t, const gfsl_args *a, const gfsl_chunk *x, gfsl_chunk *y)
{
    gfsl_reach(t, a, gfsl_low(x->link), y);
    while (!gfsl_lock(t, a, y)) {
        simt_backoff(64);
        gfsl_reach(t, a, y->at, y);
    }
}

/* The locked chunk x has `rest` entries left, w; they go into its next chunk, which is split if it has no room for
 * them, and x becomes a zombie. False: no chunk is free, and nothing was changed. Both chunks are unlocked, or x is
 * not. *up: as of gfsl_put. */
SIMT_FN bool gfsl_merge(simt_tile t, const gfsl_args *a, const gfsl_chunk *x, uint64_t w, uint32_t rest, uint64_t *up)
{
    gfsl_chunk y;
    uint32_t level = gfsl_level(x->seal), to = GFSL_NONE, half;
    gfsl_lock_next(t, a, x, &y);
    uint32_t n = simt_popc(gfsl_entries(t, y.w));
    bool crowded = rest + n > t.size - 2;
    *up = GFSL_EMPTY;
    if (crowded) to = gfsl_new(t, a, level);
    if (crowded && to == GFSL_NONE) {
        gfsl_unlock(t, a, &y, GFSL_LIVE);
        return false;
    }
    half = crowded ? n / 2 : n;
    uint64_t was = gfsl_sorted_if(t, y.w, crowded && gfsl_is_loose(&a->v, y.seal)), moves = gfsl_lanes(t, was, half, n),
             greatest = simt_shfl_u64(t, was, half ? half - 1 : 0),
             shifted = simt_shfl_u64(t, was, t.rank < rest ? 0 : t.rank - rest);
    uint64_t is = t.rank < rest ? w : t.rank < rest + half ? shifted : GFSL_EMPTY;
    if (crowded) {
        gfsl_write_new(t, a, to, level, y.link, moves);
        *up = gfsl_up(t, moves, to);
    }
    if (t.rank == t.size - 2) is = crowded ? (greatest & ~(uint64_t)GFSL_NONE) | to : y.link;
    gfsl_write(t, a, &y, is);
    if (t.rank == 0) simt_add_u64(a->v.head + level, UINT64_MAX, SIMT_RELAXED);
    if (t.rank == 0) simt_add_u64(a->v.head + GFSL_ZOMBIES, 1, SIMT_RELAXED);
    simt_join();
    gfsl_unlock(t, a, &y, GFSL_LIVE);
    gfsl_unlock(t, a, x, GFSL_ZOMBIE);
    return true;
}

/* Removes the entry of lane `at` from the locked chunk x, and unlocks it. The first and the last chunk of a level are
 * never merged. */
SIMT_FN void gfsl_take(simt_tile t, const gfsl_args *a, const gfsl_chunk *x, uint32_t at)
{
    uint32_t slots = t.size - 2, rest = simt_popc(gfsl_entries(t, x->w)) - 1, level = gfsl_level(x->seal);
    bool loose = gfsl_is_loose(&a->v, x->seal); /* the last entry comes to its lane */
    uint32_t next = loose ? rest : t.rank + 1 < t.size ? t.rank + 1 : t.rank;
    uint64_t after = simt_shfl_u64(t, x->w, next), up = GFSL_EMPTY;
    uint64_t w = t.rank >= slots || t.rank < at || (loose && t.rank > at) ? x->w : next < slots ? after : GFSL_EMPTY;
    if (loose && t.rank == rest) w = GFSL_EMPTY;
    bool merges = rest < gfsl_least(&a->v) && x->at != level && gfsl_low(x->link) != GFSL_NONE;
    if (merges) merges = gfsl_merge(t, a, x, w, rest, &up);
    if (!merges) {
        gfsl_write(t, a, x, w);
        gfsl_unlock(t, a, x, GFSL_LIVE);
    }
    gfsl_raise(t, a, up, level + 1);
}

/* Removes the key from index level `level`, if it is still there. */
SIMT_FN void gfsl_lower(simt_tile t, const gfsl_args *a, uint64_t key, uint32_t level)
{
    for (;;) {
        gfsl_chunk x;
        gfsl_search(t, a, key, level, &x);
        uint32_t there = gfsl_equal(t, x.w, key);
        if (!there) return;
        if (gfsl_lock(t, a, &x)) {
            gfsl_take(t, a, &x, simt_ffs(there) - 1);
            return;
        }
        simt_backoff(64);
    }
}

#endif
