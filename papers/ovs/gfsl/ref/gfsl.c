/* SPDX-License-Identifier: Apache-2.0
 *
 * gfsl.c - the skip list on one thread: search, insertion with splits, removal with merges.
 */
#include "gfsl/ref/gfsl.h"

#include <string.h>

#include "base/op.h"

/* ---- Chunks ---------------------------------------------------------------------------------- */

static uint64_t *link_of(const gfsl_view *v, uint32_t c) { return gfsl_at(v, c) + v->slots; }
static uint64_t *seal_of(const gfsl_view *v, uint32_t c) { return gfsl_at(v, c) + v->slots + 1; }
static uint32_t next_of(const gfsl_view *v, uint32_t c) { return gfsl_low(*link_of(v, c)); }

static uint32_t count_of(const gfsl_view *v, uint32_t c)
{
    uint32_t n = 0;
    while (n < v->slots && gfsl_at(v, c)[n] != GFSL_EMPTY) n++;
    return n;
}

/* The place of a key in a chunk; v->slots: it is not there. */
static uint32_t place_in(const gfsl_view *v, uint32_t c, uint64_t key)
{
    uint32_t n = 0;
    while (n < v->slots && gfsl_key(gfsl_at(v, c)[n]) != key) n++;
    return n;
}

static bool is_loose(const gfsl_view *v, uint32_t c) { return gfsl_is_loose(v, *seal_of(v, c)); }

/* The entries of a chunk that may have any order get that of their keys. */
static void sort(const gfsl_view *v, uint32_t c)
{
    uint64_t *word = gfsl_at(v, c);
    for (uint32_t i = 1, n = is_loose(v, c) ? count_of(v, c) : 0; i < n; i++)
        for (uint32_t k = i; k && word[k - 1] > word[k]; k--) {
            uint64_t greater = word[k - 1];
            word[k - 1] = word[k];
            word[k] = greater;
        }
}

/* How many entries of a chunk have keys below `key`, and come first if it is sorted. */
static uint32_t below(const gfsl_view *v, uint32_t c, uint64_t key)
{
    uint32_t n = 0;
    while (n < v->slots && gfsl_key(gfsl_at(v, c)[n]) < key) n++;
    return n;
}

/* GFSL_NONE: none is free. */
static uint32_t take(const gfsl_view *v, uint32_t level)
{
    uint32_t c = GFSL_NONE, pool = gfsl_pool(v, level);
    uint64_t *freed = v->head + GFSL_FREED + pool, *used = v->head + GFSL_USED + pool;
    if (*freed) {
        c = (uint32_t)*freed - 1;
        *freed = *gfsl_at(v, c);
    } else if (*used < v->end[pool]) {
        c = (uint32_t)(*used)++;
    }
    if (c == GFSL_NONE) return c;
    HD_ASSERT(c >= v->levels && c < v->chunks && gfsl_state(*seal_of(v, c)) == GFSL_FREE, "GFSL-3: it is in use");
    for (uint32_t i = 0; i < v->slots; i++) gfsl_at(v, c)[i] = GFSL_EMPTY;
    *seal_of(v, c) = gfsl_seal(level, GFSL_LIVE);
    v->head[level]++;
    return c;
}

static void set_free(const gfsl_view *v, uint32_t c)
{
    uint64_t *freed = v->head + GFSL_FREED + gfsl_pool(v, gfsl_level(*seal_of(v, c)));
    HD_ASSERT(c >= v->levels, "GFSL-1: a level begins with its first chunk");
    HD_ASSERT(gfsl_state(*seal_of(v, c)) != GFSL_FREE, "GFSL-3: a chunk is freed twice");
    *gfsl_at(v, c) = *freed;
    *seal_of(v, c) = gfsl_seal(0, GFSL_FREE);
    *freed = (uint64_t)c + 1;
}

/* The entries of chunk c from number `from` on go to a new next chunk; GFSL_NONE: none is free. */
static uint32_t split(const gfsl_view *v, uint32_t c, uint32_t from)
{
    uint32_t to = take(v, gfsl_level(*seal_of(v, c)));
    uint64_t *word = gfsl_at(v, c);
    if (to == GFSL_NONE) return to;
    sort(v, c);
    memcpy(gfsl_at(v, to), word + from, (v->slots - from) * sizeof *word);
    for (uint32_t i = from; i < v->slots; i++) word[i] = GFSL_EMPTY;
    *link_of(v, to) = *link_of(v, c);
    *link_of(v, c) = (uint64_t)gfsl_key(word[from - 1]) << 32 | to;
    HD_ASSERT(from > 0 && gfsl_key(*link_of(v, c)) < gfsl_key(*gfsl_at(v, to)), "GFSL-1: fences increase");
    HD_ASSERT(gfsl_key(*link_of(v, c)) < gfsl_key(*link_of(v, to)), "GFSL-1: fences increase");
    return to;
}

/* ---- Search ---------------------------------------------------------------------------------- */

/* The chunk of `level` to which the key belongs (Algorithm 2). */
static uint32_t search(const gfsl_view *v, uint64_t key, uint32_t level)
{
    uint32_t at = level > v->head[GFSL_TOP] ? level : (uint32_t)v->head[GFSL_TOP], c = at, back = GFSL_NONE;
    for (;;) {
        const uint64_t *word = gfsl_at(v, c);
        bool zombie = gfsl_state(*seal_of(v, c)) == GFSL_ZOMBIE;
        HD_ASSERT(gfsl_level(*seal_of(v, c)) == at, "GFSL-2: an entry leads to another level");
        if (zombie || key > gfsl_key(*link_of(v, c))) {
            uint32_t n = zombie ? 0 : count_of(v, c);
            if (n) back = gfsl_low(word[n - 1]);
            c = next_of(v, c);
            HD_ASSERT(c != GFSL_NONE, "GFSL-1: a key is above the last fence");
            continue;
        }
        if (at == level) return c;
        uint32_t n = below(v, c, key + 1);
        if (n) back = gfsl_low(word[n - 1]);
        c = back == GFSL_NONE ? at : back; /* no entry before the key was seen: from the first chunk of the level */
        if (back != GFSL_NONE) at--;
        back = GFSL_NONE;
    }
}

uint64_t gfsl_find(const gfsl_view *v, uint64_t key)
{
    uint32_t c = search(v, key, 0), n = place_in(v, c, key);
    return n == v->slots ? WORD_NOWHERE : (uint64_t)c * v->slots + n;
}

/* ---- Insertion ------------------------------------------------------------------------------- */

static void shift_in(const gfsl_view *v, uint32_t c, uint32_t at, uint64_t entry)
{
    uint64_t *word = gfsl_at(v, c);
    memmove(word + at + 1, word + at, (v->slots - 1 - at) * sizeof *word);
    word[at] = entry;
}

/* Puts an entry into the chunk c, to which its key belongs; false: no chunk is free. *up: what is to be raised. */
static bool put(const gfsl_view *v, uint32_t c, uint64_t entry, uint64_t *up)
{
    uint32_t at, n = count_of(v, c), middle = gfsl_middle(v), to;
    *up = GFSL_EMPTY;
    HD_ASSERT(gfsl_key(entry) <= gfsl_key(*link_of(v, c)), "GFSL-1: a key is above the fence of its chunk");
    if (n == v->slots) sort(v, c);
    at = is_loose(v, c) && n < v->slots ? n : below(v, c, gfsl_key(entry));
    if (n < v->slots) {
        HD_ASSERT(at <= n && gfsl_at(v, c)[v->slots - 1] == GFSL_EMPTY, "an entry is behind a free word");
        shift_in(v, c, at, entry);
        return true;
    }
    to = split(v, c, middle);
    if (to == GFSL_NONE) return false;
    shift_in(v, at < middle ? c : to, at < middle ? at : at - middle, entry);
    *up = (*gfsl_at(v, to) & ~(uint64_t)GFSL_NONE) | to;
    return true;
}

/* Raises the least key of a new chunk, level by level, for as long as chunks split. */
static void raise(const gfsl_view *v, uint64_t entry, uint32_t level)
{
    for (; entry != GFSL_EMPTY && level < v->levels; level++) {
        uint32_t c = search(v, gfsl_key(entry), level), at = below(v, c, gfsl_key(entry));
        if (at < v->slots && gfsl_key(gfsl_at(v, c)[at]) == gfsl_key(entry)) {
            gfsl_at(v, c)[at] = entry;
            return;
        }
        if (!put(v, c, entry, &entry)) return;
        if (v->head[GFSL_TOP] < level) v->head[GFSL_TOP] = level;
    }
}

uint64_t gfsl_place(gfsl_view *v, uint64_t key, uint64_t value)
{
    uint64_t up;
    if (!put(v, search(v, key, 0), word_pack(GFSL_HALF, key, value), &up)) return WORD_NOWHERE;
    raise(v, up, 1);
    HD_ASSERT(gfsl_find(v, key) != WORD_NOWHERE, "GFSL-2: no way leads to a key that was placed");
    return gfsl_find(v, key);
}

/* ---- Removal --------------------------------------------------------------------------------- */

static void shift_out(const gfsl_view *v, uint32_t c, uint32_t at, uint32_t n)
{
    uint64_t *word = gfsl_at(v, c);
    memmove(word + at, word + at + n, (v->slots - at - n) * sizeof *word);
    for (uint32_t i = v->slots - n; i < v->slots; i++) word[i] = GFSL_EMPTY;
}

/* Chunk c, which has few entries, goes into the next one, which is split if they do not fit. */
static uint64_t merge(const gfsl_view *v, uint32_t c)
{
    uint32_t next = next_of(v, c), level = gfsl_level(*seal_of(v, c)), to = GFSL_NONE, rest = count_of(v, c);
    while (gfsl_state(*seal_of(v, next)) == GFSL_ZOMBIE) next = next_of(v, next);
    if (rest + count_of(v, next) > v->slots) {
        to = split(v, next, count_of(v, next) / 2);
        if (to == GFSL_NONE) return GFSL_EMPTY;
    }
    uint64_t *word = gfsl_at(v, next);
    HD_ASSERT(rest + count_of(v, next) <= v->slots, "two chunks do not fit into one");
    HD_ASSERT(v->head[level] > 1, "GFSL-4: a level has more chunks than are counted");
    memmove(word + rest, word, (v->slots - rest) * sizeof *word);
    memcpy(word, gfsl_at(v, c), rest * sizeof *word);
    *seal_of(v, c) = gfsl_seal(level, GFSL_ZOMBIE);
    v->head[level]--;
    v->head[GFSL_ZOMBIES]++;
    return to == GFSL_NONE ? GFSL_EMPTY : (*gfsl_at(v, to) & ~(uint64_t)GFSL_NONE) | to;
}

/* Removes a key from a level, where it may be. */
static void take_out(const gfsl_view *v, uint64_t key, uint32_t level)
{
    uint32_t c = search(v, key, level), at = place_in(v, c, key), left;
    if (at == v->slots) return;
    shift_out(v, c, at, 1);
    left = count_of(v, c);
    if (left < gfsl_least(v) && c != level && next_of(v, c) != GFSL_NONE) raise(v, merge(v, c), level + 1);
}

static void remove_place(void *state, uint64_t e)
{
    const gfsl_view *v = (const gfsl_view *)state;
    uint64_t key = gfsl_key(*gfsl_slot(v, e));
    take_out(v, key, 0);
    for (uint32_t level = (uint32_t)v->head[GFSL_TOP]; key && level > 0; level--) take_out(v, key, level);
}

static uint32_t past_zombies(const gfsl_view *v, uint32_t c)
{
    while (c != GFSL_NONE && gfsl_state(*seal_of(v, c)) == GFSL_ZOMBIE) c = next_of(v, c);
    return c;
}

void gfsl_settle(const gfsl_view *v)
{
    if (v->head[GFSL_ZOMBIES] == 0) return;
    for (uint32_t c = 0; c < v->head[GFSL_USED]; c++) {
        uint64_t *word = gfsl_at(v, c), *next = link_of(v, c);
        if (gfsl_state(*seal_of(v, c)) != GFSL_LIVE) continue;
        *next = (*next & ~(uint64_t)GFSL_NONE) | past_zombies(v, gfsl_low(*next));
        for (uint32_t i = 0; gfsl_level(*seal_of(v, c)) && i < count_of(v, c); i++)
            word[i] = (word[i] & ~(uint64_t)GFSL_NONE) | past_zombies(v, gfsl_low(word[i]));
    }
    for (uint32_t c = 0; c < v->head[GFSL_USED]; c++) {
        if (gfsl_state(*seal_of(v, c)) != GFSL_ZOMBIE) continue;
        set_free(v, c);
        v->head[GFSL_ZOMBIES]--;
    }
    HD_ASSERT(v->head[GFSL_ZOMBIES] == 0, "GFSL-3: another number of zombies is counted");
}

/* ---- Tables ---------------------------------------------------------------------------------- */

void gfsl_clear(const gfsl_view *v)
{
    for (uint64_t c = 0; c < v->chunks; c++)
        for (uint32_t i = 0; i < gfsl_words(v); i++) gfsl_at(v, c)[i] = gfsl_first_word(v, c, i);
    for (uint32_t i = 0; i < GFSL_HEAD; i++) v->head[i] = gfsl_first_head(v, i);
}

static void drop_index(const gfsl_view *v)
{
    for (uint32_t c = v->levels; c < v->head[GFSL_USED]; c++)
        if (gfsl_state(*seal_of(v, c)) == GFSL_LIVE && gfsl_level(*seal_of(v, c))) set_free(v, c);
    for (uint32_t level = 1; level < v->levels; level++) {
        for (uint32_t i = 1; i <= v->slots; i++) gfsl_at(v, level)[i] = GFSL_EMPTY;
        v->head[level] = 1;
    }
    v->head[GFSL_TOP] = 0;
}

/* All chunks of level 0 become full, but the last. Returns that. */
static uint32_t press(const gfsl_view *v)
{
    uint32_t to = 0, at = 0, behind;
    for (uint32_t c = 0; c != GFSL_NONE; c = next_of(v, c)) {
        uint32_t n = count_of(v, c);
        sort(v, c);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t entry = gfsl_at(v, c)[i];
            gfsl_at(v, c)[i] = GFSL_EMPTY;
            if (at == v->slots) {
                uint32_t next = next_of(v, to);
                HD_ASSERT(next != GFSL_NONE, "GFSL-1: more entries than the chain has room for");
                *link_of(v, to) = (uint64_t)gfsl_key(gfsl_at(v, to)[at - 1]) << 32 | next;
                to = next;
                at = 0;
            }
            gfsl_at(v, to)[at++] = entry;
        }
    }
    behind = next_of(v, to);
    *link_of(v, to) = GFSL_EMPTY;
    for (uint32_t next; behind != GFSL_NONE; behind = next) {
        next = next_of(v, behind);
        set_free(v, behind);
        v->head[0]--;
    }
    return to;
}

uint64_t gfsl_press(gfsl_view *v, uint64_t key, uint64_t value)
{
    uint64_t entry = word_pack(GFSL_HALF, key, value);
    gfsl_settle(v);
    drop_index(v);
    uint32_t last = press(v), c = search(v, key, 0);
    if (count_of(v, last) == v->slots) {
        uint32_t to = take(v, 0);
        if (to == GFSL_NONE) return WORD_NOWHERE;
        *link_of(v, to) = GFSL_EMPTY;
        *link_of(v, last) = (uint64_t)gfsl_key(gfsl_at(v, last)[v->slots - 1]) << 32 | to;
        if (c == last && key > gfsl_key(*link_of(v, last))) c = to;
    }
    for (; count_of(v, c) == v->slots; c = next_of(v, c)) { /* the greatest entry goes to the next chunk */
        uint64_t greatest = gfsl_at(v, c)[v->slots - 1];
        shift_in(v, c, below(v, c, gfsl_key(entry)), entry);
        *link_of(v, c) = (uint64_t)gfsl_key(gfsl_at(v, c)[v->slots - 1]) << 32 | next_of(v, c);
        entry = greatest;
    }
    HD_ASSERT(count_of(v, c) < v->slots, "a full chunk gets an entry");
    shift_in(v, c, below(v, c, gfsl_key(entry)), entry);
    return gfsl_find(v, key);
}

bool gfsl_has(const gfsl_view *v, uint64_t e)
{
    return *seal_of(v, (uint32_t)(e / v->slots)) % GFSL_VERSION <= GFSL_LOCKED && *gfsl_slot(v, e) != GFSL_EMPTY;
}

/* Places of index chunks, and of chunks that are not in use, hold no entry of the table. */
static void *slot(const void *v, uint64_t e)
{
    static const uint64_t none = GFSL_EMPTY;
    return gfsl_has((const gfsl_view *)v, e) ? (void *)gfsl_slot((const gfsl_view *)v, e) : (void *)(uintptr_t)&none;
}

static uint64_t find_key(const void *v, uint64_t key) { return gfsl_find((const gfsl_view *)v, key); }
static uint64_t place_key(void *v, uint64_t key, uint64_t value) { return gfsl_place((gfsl_view *)v, key, value); }

word_table gfsl_words_of(gfsl_view *v)
{
    return (word_table){ v, GFSL_HALF, gfsl_places(v), slot, find_key, place_key, remove_place, NULL };
}

/* ---- The order of keys ----------------------------------------------------------------------- */

/* Of the entries of chunk c with keys from `least` to `most` the one with the least key, or the greatest. */
static uint64_t best_in(const gfsl_view *v, uint32_t c, uint64_t least, uint64_t most, bool greatest)
{
    uint64_t best = WORD_NOWHERE;
    for (uint32_t i = 0; i < count_of(v, c); i++) {
        uint64_t e = (uint64_t)c * v->slots + i, key = gfsl_key(*gfsl_slot(v, e));
        if (key < least || key > most) continue;
        if (best == WORD_NOWHERE || (key > gfsl_key(*gfsl_slot(v, best))) == greatest) best = e;
    }
    return best;
}

uint64_t gfsl_first_from(const gfsl_view *v, uint64_t key)
{
    uint64_t best = WORD_NOWHERE;
    for (uint32_t c = search(v, key, 0); c != GFSL_NONE && best == WORD_NOWHERE; c = next_of(v, c))
        if (gfsl_state(*seal_of(v, c)) != GFSL_ZOMBIE) best = best_in(v, c, key, UINT64_MAX, false);
    return best;
}

uint64_t gfsl_last_to(const gfsl_view *v, uint64_t key)
{
    uint32_t last = search(v, key, 0);
    uint64_t best = best_in(v, last, 0, key, true);
    if (best != WORD_NOWHERE) return best;
    for (uint32_t c = 0; c != last; c = next_of(v, c)) { /* no link leads to the left */
        uint64_t e = best_in(v, c, 0, key, true);
        if (e != WORD_NOWHERE) best = e;
    }
    return best;
}

void gfsl_remove(gfsl_view *v, uint64_t e) { remove_place(v, e); }

const char *gfsl_unsupported(hd_op op)
{
    switch ((int)op) {
    case HD_OP_FIND_PTR:
    case HD_OP_FIND_OR_INSERT_PTR: return "gfsl moves entries when others come and leave, so that pointers do not last";
    default: return HD_OP_IN(op, HD_OPS_ORDERED) ? NULL : word_unsupported(op);
    }
}
