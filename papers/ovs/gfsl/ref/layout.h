/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.h - the skip list GFSL (Moscovici et al., PACT 2017) in memory, as the reference and the kernels see it. Its
 * nodes are chunks of 8, 16 or 32 words of 64 bits; in the paper they have 32. A chunk of W words has slots = W - 2:
 *
 *     words 0 .. slots - 1   entries in the order of their keys, then free words, GFSL_EMPTY. An entry is key << 32 |
 *                            value; on the index levels, 1 and above, the value is a chunk of the level below. In an
 *                            unsorted list entries of level 0 have any order within their chunk
 *     word slots (link)      fence << 32 | next. No key of the chunk is above the fence (the paper's MaxKey). The last
 *                            chunk of a level has fence 2^32 - 1 and no next chunk
 *     word slots + 1 (seal)  version << 8 | level << 2 | state. Every change of the chunk adds 1 to the version
 *
 * Chunk l is the first chunk of level l. On an index level its first entry has key 0 and leads to chunk l - 1: it
 * stands for the paper's -inf, and is never erased. The head is GFSL_HEAD words, of which word l is the number of
 * chunks of level l.
 *
 * The other chunks are in one pool; or in a pool for each level, that of level 1 first and that of level 0 last. An
 * index level that finds no chunk in its pool has fewer entries than it could have, and searches take more steps.
 *
 * Keys move to the right only: a split moves them to a new next chunk, a merge to the next chunk. So a chunk from which
 * a key has moved still leads to it, by its link. An index entry may lead to a chunk at the left of its key.
 *
 *   GFSL-1  the chunks of a level are a chain from chunk l to one without a next chunk; fences increase along it; keys
 *         increase within a chunk, or are distinct if it is unsorted, are above the fence of the chunk before it, and
 *         not above its own
 *   GFSL-2  an index entry leads to a chunk of the level below, at or before the one to which its key belongs
 *   GFSL-3  at rest no chunk is locked or a zombie; every chunk is in one chain, or in the list of free chunks of its
 *         pool, or was never used
 *   GFSL-4  the head has the number of chunks of each level, and the highest level with an entry besides the first
 */
#ifndef HD_REF_GFSL_LAYOUT_H
#define HD_REF_GFSL_LAYOUT_H

#include "ref/words/layout.h"

enum { GFSL_HALF = 32, GFSL_LEVELS_MOST = 16 };
#define GFSL_EMPTY UINT64_MAX
#define GFSL_NONE  0xffffffffu /* no chunk */
#define GFSL_FENCE 0xffffffffu /* of the last chunk of a level */

/* Words of the head, behind a word per level: the highest level in use; zombies; and for each pool its first chunk that
 * was never used, and its first free chunk and 1, or 0. */
enum {
    GFSL_TOP = 32,
    GFSL_ZOMBIES,
    GFSL_USED,
    GFSL_FREED = GFSL_USED + GFSL_LEVELS_MOST,
    GFSL_HEAD = GFSL_FREED + GFSL_LEVELS_MOST
};

/* What a seal says of its chunk. */
enum { GFSL_LIVE, GFSL_LOCKED, GFSL_ZOMBIE, GFSL_FREE };
#define GFSL_VERSION 0x100u /* what a change adds to the seal */

typedef struct gfsl_view {
    uint64_t *word; /* (near, slots + 2)          */
    uint64_t *far;  /* (chunks - near, slots + 2) */
    uint64_t *head; /* (GFSL_HEAD)                */
    uint64_t chunks, near;
    uint32_t slots, levels;
    bool level_pools, unsorted;
    uint32_t end[GFSL_LEVELS_MOST]; /* of each pool: its last chunk and 1 */
} gfsl_view;

HD_FN uint32_t gfsl_words(const gfsl_view *v) { return v->slots + 2; }
HD_FN uint64_t *gfsl_at(const gfsl_view *v, uint64_t chunk)
{
    if (chunk < v->near) return v->word + chunk * gfsl_words(v);
    return v->far + (chunk - v->near) * gfsl_words(v);
}
HD_FN uint64_t gfsl_places(const gfsl_view *v) { return v->chunks * v->slots; }
HD_FN uint64_t *gfsl_slot(const gfsl_view *v, uint64_t e) { return gfsl_at(v, e / v->slots) + e % v->slots; }

HD_FN uint32_t gfsl_key(uint64_t word) { return (uint32_t)(word >> 32); }
HD_FN uint32_t gfsl_low(uint64_t word) { return (uint32_t)word; } /* a value, or a chunk */
HD_FN uint32_t gfsl_state(uint64_t seal) { return seal & 3; }
HD_FN uint32_t gfsl_level(uint64_t seal) { return seal >> 2 & 63; }

HD_FN uint64_t gfsl_seal(uint32_t level, uint32_t state) { return (uint64_t)level << 2 | state; }
/* The seal of a chunk that was locked, when it is changed. */
HD_FN uint64_t gfsl_changed(uint64_t seal, uint32_t state) { return ((seal & ~3ull) | state) + GFSL_VERSION; }

/* A chunk with so few entries is merged into the next one; a full chunk keeps so many at a split. */
HD_FN uint32_t gfsl_least(const gfsl_view *v) { return v->slots / 3; }
HD_FN uint32_t gfsl_middle(const gfsl_view *v) { return v->slots / 2; }

/* The pool of a level, and its first chunk. All pools but that of level 0 end before `used` of that. */
HD_FN uint32_t gfsl_pool(const gfsl_view *v, uint32_t level) { return v->level_pools ? level : 0; }
HD_FN uint32_t gfsl_pools(const gfsl_view *v) { return v->level_pools ? v->levels : 1; }
HD_FN uint32_t gfsl_pool_begin(const gfsl_view *v, uint32_t pool)
{
    uint32_t before = pool ? pool - 1 : v->levels - 1; /* whose pool comes before */
    return before && v->level_pools ? v->end[before] : v->levels;
}

/* Whether the chunk with such a seal may have its entries in any order. */
HD_FN bool gfsl_is_loose(const gfsl_view *v, uint64_t seal) { return v->unsorted && gfsl_level(seal) == 0; }

/* An empty list: word `at` of a chunk, and of the head. */
HD_FN uint64_t gfsl_first_word(const gfsl_view *v, uint64_t chunk, uint32_t at)
{
    bool first = chunk < v->levels;
    if (at == v->slots + 1) return gfsl_seal(first ? (uint32_t)chunk : 0, first ? GFSL_LIVE : GFSL_FREE);
    return first && chunk && at == 0 ? chunk - 1 : GFSL_EMPTY;
}
HD_FN uint64_t gfsl_first_head(const gfsl_view *v, uint32_t at)
{
    bool used = at >= GFSL_USED && at - GFSL_USED < gfsl_pools(v);
    return used ? gfsl_pool_begin(v, at - GFSL_USED) : at < v->levels;
}

#endif
