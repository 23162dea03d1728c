/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.c - makes a Hive table from a case: its memory and contents.
 */
#include "judge/hive/fixture.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "judge/rules.h"
#include "base/error.h"

/* ---- Its memory ------------------------------------------------------------------------------ */

static uint32_t add_segment(const hive_view *v, judge_memory *all, size_t at, const char *const name[3],
                            uint64_t buckets)
{
    const judge_memory segment[] = {
        { name[0], at + offsetof(hive_segment, word), buckets * v->slots * hive_word_bytes(v), HD_AS_IT_COMES },
        { name[1], at + offsetof(hive_segment, mask), buckets * sizeof(uint32_t), HD_AS_IT_COMES },
        { name[2], at + offsetof(hive_segment, lock), buckets * sizeof(uint32_t), HD_AS_IT_COMES },
    };
    uint32_t n = v->masks ? 3 : 1;
    memcpy(all, segment, n * sizeof *segment);
    return n;
}

/* Segments that growth would add exist from the beginning. */
uint32_t hive_fixture_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST])
{
    static const char *const names[HIVE_SCENE_SEGMENTS][3] = { { "word", "mask", "lock" },
                                                               { "word 1", "mask 1", "lock 1" },
                                                               { "word 2", "mask 2", "lock 2" } };
    static const char *const stash[3] = { "stash word", "stash mask", "stash lock" };
    const size_t at = offsetof(hive_fixture_table, state.v.segment);
    const hive_view *v = hive_fixture_view(s);
    uint32_t n = 0;
    for (uint32_t k = 0; k < HIVE_SCENE_SEGMENTS; k++)
        n += add_segment(v, all + n, at + k * sizeof(hive_segment), names[k], hive_segment_buckets(v, k));
    n += add_segment(v, all + n, offsetof(hive_fixture_table, state.v.stash), stash, v->stash_buckets);
    all[n++] = (judge_memory){ "grown", offsetof(hive_fixture_table, grown), 2 * sizeof(uint64_t), HD_AS_IT_COMES };
    return n;
}

static void clear_segment(const hive_view *v, hive_segment *g, uint64_t buckets)
{
    memset(g->word, 0xff, buckets * v->slots * hive_word_bytes(v)); /* fresh */
    for (uint64_t b = 0; b < buckets && v->masks; b++) {
        g->mask[b] = (uint32_t)((1ull << v->slots) - 1);
        g->lock[b] = 0;
    }
}

/* Writes the view's counts to the table's memory. */
static void note(const hive_fixture_table *t)
{
    *hive_fixture_stashed(t) = t->state.v.stashed;
    t->grown[0] = t->state.v.level;
    t->grown[1] = t->state.v.split;
}

void hive_fixture_clear(fixture *s)
{
    hive_fixture_table *t = hive_fixture_table_of(s);
    for (uint32_t k = 0; k < HIVE_SCENE_SEGMENTS; k++)
        clear_segment(&t->state.v, &t->state.v.segment[k], hive_segment_buckets(&t->state.v, k));
    clear_segment(&t->state.v, &t->state.v.stash, t->state.v.stash_buckets);
    t->state.v.stashed = 0;
    t->state.v.level = 0;
    t->state.v.split = 0;
    note(t);
}

void hive_fixture_laid(void *table)
{
    hive_fixture_table *t = (hive_fixture_table *)table;
    t->state.v.stashed = *hive_fixture_stashed(t);
    t->state.v.level = (uint32_t)t->grown[0];
    t->state.v.split = t->grown[1];
}

/* ---- What is in it --------------------------------------------------------------------------- */

bool hive_fixture_way(const hive_view *v, uint64_t h, uint64_t *step, uint64_t *b)
{
    uint64_t k = (*step)++;
    if (k < v->hashes)
        *b = hive_candidate(v, h, (uint32_t)k);
    else
        *b = k == v->hashes ? hive_ring(v, h) : hive_ring_next(v, *b);
    return k < v->hashes + v->stash_buckets;
}

/* How many more keys each bucket and the stash get. */
typedef struct room {
    uint32_t *bucket;     /* (buckets) */
    uint64_t stash, left; /* left: of all buckets */
} room;

/* A random free slot of bucket b, which has one. */
static uint64_t free_slot(const hive_view *v, hd_rng *g, uint64_t b)
{
    uint64_t e;
    do e = b * v->slots + hd_rng_below(g, v->slots);
    while (!hive_is_free(v, hive_read(v, e)));
    return e;
}

/* Inserts a key: into its first bucket, a later one or the stash, if that gets more keys. */
static void bring_in(hive_view *v, hd_rng *g, room *r, uint64_t key)
{
    uint64_t h = hive_hash(v, key), lot = hd_rng_below(g, 8), b;
    if (key >= hive_keys(v) || hive_find(v, key) != HIVE_NOWHERE) return;
    if (lot == 0 && r->stash) {
        /* the stash has room, because its last eighth is never used, but one of its buckets may be full */
        b = hive_ring(v, h);
        for (uint64_t n = 0; n < v->stash_buckets; n++, b = hive_ring_next(v, b)) {
            uint64_t used = 0;
            for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++) used += hive_is_key(v, hive_read(v, e));
            if (used == v->slots) continue;
            hive_put(v, free_slot(v, g, b), key, hd_rng_next(g) & hive_field(v));
            r->stash--;
            return;
        }
    }
    for (uint32_t i = lot < 3 ? 1 : 0; i < v->hashes; i++) {
        b = hive_candidate(v, h, i);
        if (r->bucket[b] == 0) continue;
        r->bucket[b]--;
        r->left--;
        hive_put(v, free_slot(v, g, b), key, hd_rng_next(g) & hive_field(v));
        return;
    }
}

/* Draws how many slots of each bucket are used: most are full, or have one free slot. */
static void draw_room(const hive_view *v, hd_rng *g, room *r)
{
    bool full = hd_rng_below(g, 3) == 0; /* all buckets are full: insertions displace keys or use the stash */
    for (uint64_t b = 0; b < hive_buckets(v); b++) {
        /* 5, 6: all but the spare slots, and perhaps one more, are used: it is open, and soon is not */
        uint64_t kind = full ? 0 : hd_rng_below(g, 10);
        r->bucket[b] = kind < 4   ? v->slots
                       : kind < 5 ? v->slots - 1
                       : kind < 7 ? v->slots - v->spare - (uint32_t)(kind - 5)
                       : kind < 9 ? v->slots / 2
                                  : 0;
        r->left += r->bucket[b];
    }
}

/* The batch's keys come first. Free slots are fresh or vacant. */
bool hive_fixture_fill(fixture *s, hd_rng *g)
{
    hive_fixture_table *t = hive_fixture_table_of(s);
    hive_view *v = &t->state.v;
    uint64_t buckets = hive_buckets(v), limit = hive_stash_limit(v), lot = hd_rng_below(g, 4);
    room r = { (uint32_t *)malloc(buckets * sizeof(uint32_t)),
               lot == 0   ? 0
               : lot == 1 ? limit
               : lot == 2 ? limit - 1
                          : hd_rng_below(g, limit + 1),
               0 };
    if (!r.bucket) return false;
    draw_room(v, g, &r);
    for (uint32_t k = 0; k < s->parts; k++)
        for (uint64_t i = 0; judge_keyed_batch(&s->part[k].batch) && i < s->part[k].batch.n; i++)
            if (hd_rng_below(g, 2)) bring_in(v, g, &r, s->part[k].batch.key[i]);
    for (uint64_t tries = 64 * (r.left + r.stash) + 64; tries && r.left + r.stash; tries--)
        bring_in(v, g, &r, fixture_draw_key(s, g, hive_keys(v)));
    for (uint64_t b = 0; b < buckets; b++)
        if (hd_rng_below(g, 4) == 0) hive_shut(v, b);
    free(r.bucket);
    note(t);
    return true;
}

/* ---- Batches --------------------------------------------------------------------------------- */

void hive_fixture_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b)
{
    hive_fixture_table *t = (hive_fixture_table *)table;
    uint64_t tally[HD_OUTCOME_COUNT] = { 0 };
    (void)s, (void)k;
    hive_run_batch(&t->state.v, b, tally);
    note(t);
}

/* Moves the stash's entries to their buckets; the stash keeps its size. */
static bool restash(hive_view *v)
{
    uint64_t words = v->stash_buckets * v->slots * hive_word_bytes(v);
    hive_segment old = { malloc(words), NULL, NULL };
    if (!old.word) return false;
    memcpy(old.word, v->stash.word, words);
    clear_segment(v, &v->stash, v->stash_buckets);
    v->stashed = 0;
    hive_restash(v, &old, v->stash_buckets);
    free(old.word);
    return true;
}

hd_status hive_fixture_resize(fixture *s, void *table, uint64_t buckets)
{
    hive_fixture_table *t = (hive_fixture_table *)table;
    hive_view *v = &t->state.v;
    (void)s;
    if (buckets < v->base || buckets > v->base << (HIVE_SCENE_SEGMENTS - 1))
        return hd_fail(HD_EINVAL, "buckets: this table has %" PRIu64 " to %" PRIu64, v->base,
                       v->base << (HIVE_SCENE_SEGMENTS - 1));
    while (hive_buckets(v) < buckets) hive_split(v);
    while (hive_buckets(v) > buckets && hive_merge(v)) {
    }
    if (!restash(v)) return hd_fail(HD_ENOMEM, "buckets: no memory for a stash");
    note(t);
    return HD_OK;
}
