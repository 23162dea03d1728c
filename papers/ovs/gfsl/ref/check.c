/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - the invariants of a skip list (layout.h).
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "gfsl/ref/gfsl.h"

static bool say(char why[GFSL_WHY], const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool say(char why[GFSL_WHY], const char *format, ...)
{
    va_list a;
    va_start(a, format);
    vsnprintf(why, GFSL_WHY, format, a);
    va_end(a);
    return false;
}

static uint64_t link_at(const gfsl_view *v, uint32_t c) { return gfsl_at(v, c)[v->slots]; }
static uint64_t seal_at(const gfsl_view *v, uint32_t c) { return gfsl_at(v, c)[v->slots + 1]; }

/* Whether the key at place i has come before. */
static bool comes_twice(const uint64_t *word, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (gfsl_key(word[k]) == gfsl_key(word[i])) return true;
    return false;
}

/* The keys of chunk c of a chain; *low: the least key that it may have. */
static bool keys_hold(const gfsl_view *v, uint32_t level, uint32_t c, uint64_t *low, char *why)
{
    const uint64_t *word = gfsl_at(v, c);
    uint32_t fence = gfsl_key(link_at(v, c)), i = 0;
    bool loose = gfsl_is_loose(v, seal_at(v, c));
    uint64_t least = *low;
    for (; i < v->slots && word[i] != GFSL_EMPTY; i++) {
        if (comes_twice(word, i) || gfsl_key(word[i]) < least || gfsl_key(word[i]) > fence ||
            gfsl_key(word[i]) >= word_keys(GFSL_HALF))
            return say(why, "GFSL-1: chunk %" PRIu32 " of level %" PRIu32 " has key %" PRIu32 " at place %" PRIu32, c,
                       level, gfsl_key(word[i]), i);
        if (!loose) least = (uint64_t)gfsl_key(word[i]) + 1;
    }
    for (; i < v->slots; i++)
        if (word[i] != GFSL_EMPTY) return say(why, "GFSL-1: chunk %" PRIu32 " has an entry behind a free word", c);
    if (fence < *low && !(fence == 0 && *low == 0))
        return say(why, "GFSL-1: the fence of chunk %" PRIu32 " is not above that of the chunk before it", c);
    *low = (uint64_t)fence + 1;
    return true;
}

/* Whether the key belongs to chunk `to` of the level, or to one at its right. */
static bool leads_to(const gfsl_view *v, uint32_t level, uint32_t to, uint32_t key)
{
    uint64_t low = 0;
    for (uint32_t c = level; c != GFSL_NONE; c = gfsl_low(link_at(v, c))) {
        if (c == to) return low <= key;
        if (gfsl_state(seal_at(v, c)) != GFSL_ZOMBIE) low = (uint64_t)gfsl_key(link_at(v, c)) + 1;
    }
    return false;
}

static bool index_holds(const gfsl_view *v, uint32_t level, uint32_t c, bool resting, char *why)
{
    for (uint32_t i = 0; i < v->slots && gfsl_at(v, c)[i] != GFSL_EMPTY; i++) {
        uint64_t entry = gfsl_at(v, c)[i];
        uint32_t to = gfsl_low(entry);
        bool good =
            to < v->chunks && gfsl_level(seal_at(v, to)) == level - 1 && gfsl_state(seal_at(v, to)) != GFSL_FREE;
        if (good && gfsl_state(seal_at(v, to)) == GFSL_ZOMBIE) good = !resting;
        /* a chunk with a key that is not above the entry's begins at or before it */
        else if (good && gfsl_key(*gfsl_at(v, to)) > gfsl_key(entry))
            good = leads_to(v, level - 1, to, gfsl_key(entry));
        if (!good)
            return say(why, "GFSL-2: key %" PRIu32 " of level %" PRIu32 " leads to chunk %" PRIu32, gfsl_key(entry),
                       level, to);
    }
    return true;
}

static bool state_holds(const gfsl_view *v, uint32_t level, uint32_t c, bool resting, char *why)
{
    uint32_t state = gfsl_state(seal_at(v, c));
    if (state == GFSL_FREE || gfsl_level(seal_at(v, c)) != level)
        return say(why, "GFSL-1: chunk %" PRIu32 " in the chain of level %" PRIu32 " is not of it", c, level);
    if (resting && state != GFSL_LIVE)
        return say(why, "GFSL-3: chunk %" PRIu32 " is %s", c, state == GFSL_LOCKED ? "locked" : "a zombie");
    return true;
}

static bool chain_holds(const gfsl_view *v, uint32_t level, bool resting, char *why)
{
    uint64_t chunks = 0, low = 0, zombies = 0;
    for (uint32_t c = level; c != GFSL_NONE; c = gfsl_low(link_at(v, c))) {
        if (c >= v->chunks || chunks + zombies == v->chunks)
            return say(why, "GFSL-1: the chain of level %" PRIu32 " has no end", level);
        if (!state_holds(v, level, c, resting, why)) return false;
        uint32_t state = gfsl_state(seal_at(v, c));
        zombies += state == GFSL_ZOMBIE;
        chunks += state != GFSL_ZOMBIE;
        if (state == GFSL_ZOMBIE) continue;
        if (!keys_hold(v, level, c, &low, why)) return false;
        if (level && !index_holds(v, level, c, resting, why)) return false;
    }
    if (low != (uint64_t)GFSL_FENCE + 1) return say(why, "GFSL-1: level %" PRIu32 " ends before the last key", level);
    if (level && *gfsl_at(v, level) >> 32 != 0)
        return say(why, "GFSL-2: level %" PRIu32 " does not begin with the least key", level);
    if (v->head[level] != chunks)
        return say(why, "GFSL-4: level %" PRIu32 " has %" PRIu64 " chunks, and the head says %" PRIu64, level, chunks,
                   v->head[level]);
    return true;
}

/* n: its chunks that are in chains. */
static bool pool_holds(const gfsl_view *v, uint32_t pool, uint64_t n, char *why)
{
    uint64_t begin = gfsl_pool_begin(v, pool), end = v->end[pool], freed = 0,
             used = v->head[GFSL_USED + pool] - begin; /* wraps around if that is before its begin */
    for (uint64_t at = v->head[GFSL_FREED + pool]; at; at = *gfsl_at(v, at - 1), freed++)
        if (at <= begin || at > end || freed == v->chunks || gfsl_state(seal_at(v, (uint32_t)at - 1)) != GFSL_FREE)
            return say(why, "GFSL-3: the list of free chunks has chunk %" PRIu64, at - 1);
    if (used > end - begin || n + freed != used)
        return say(why, "GFSL-3: %" PRIu64 " chunks in chains and %" PRIu64 " free ones, of %" PRIu64 " used", n, freed,
                   used);
    return true;
}

static bool pools_hold(const gfsl_view *v, char *why)
{
    uint64_t n[GFSL_LEVELS_MOST] = { 0 };
    for (uint32_t level = 0; level < v->levels; level++) n[gfsl_pool(v, level)] += v->head[level] - 1;
    for (uint32_t pool = 0; pool < gfsl_pools(v); pool++)
        if (!pool_holds(v, pool, n[pool], why)) return false;
    return true;
}

void gfsl_check(const gfsl_view *v, bool resting, char why[GFSL_WHY])
{
    why[0] = 0;
    for (uint32_t level = 0; level < v->levels; level++)
        if (!chain_holds(v, level, resting, why)) return;
    if (!resting) return;
    if (v->head[GFSL_ZOMBIES]) {
        say(why, "GFSL-3: there are %" PRIu64 " zombies", v->head[GFSL_ZOMBIES]);
        return;
    }
    for (uint32_t level = (uint32_t)v->head[GFSL_TOP] + 1; level < v->levels; level++)
        if (v->head[level] != 1 || gfsl_at(v, level)[1] != GFSL_EMPTY) {
            say(why, "GFSL-4: level %" PRIu32 " has entries, and the highest is %" PRIu64, level, v->head[GFSL_TOP]);
            return;
        }
    pools_hold(v, why);
}
