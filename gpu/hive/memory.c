/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - the memory of a Hive table on a device, and beside the reference's words: a row for each array.
 */
#include <stddef.h>
#include <string.h>

#include "gpu/hive/launch.h"
#include "gpu/hive/state.h"
#include "gpu/launches.h"
#include "ref/hive/hive.h"

/* How many buckets of segment k the table has. It may use a part of its last segment; the rest is not written. */
static uint64_t buckets_of_segment(const hive_view *v, uint32_t k)
{
    /* before it come as many as it has */
    uint64_t all = hive_segment_buckets(v, k), has = hive_buckets(v) - (k ? all : 0);
    return has < all ? has : all;
}

/* at: where the segment is in the state; twin: and in the reference's view. */
static int segment_memory(const hive_view *v, size_t at, size_t twin, uint64_t buckets, uint64_t unused, hd_put put,
                          hd_memory *all)
{
    enum {
        WORD = offsetof(hive_segment, word),
        MASK = offsetof(hive_segment, mask),
        LOCK = offsetof(hive_segment, lock)
    };
    uint64_t masks = v->masks ? buckets : 0;
    /* clang-format off */
    const hd_memory rows[] = {
        { "capacity: buckets", "words", at + WORD, buckets * v->slots, hive_word_bytes(v), HD_AS_IT_COMES, .put = put,
          HD_HOLDS_ENTRIES, twin + WORD, .unused = unused * v->slots },
        { "capacity: masks", "masks", at + MASK, masks, sizeof(uint32_t), HD_AS_IT_COMES, .put = put,
          HD_HOLDS_ENTRIES, twin + MASK, .unused = masks ? unused : 0 },
        { "capacity: locks", "locks", at + LOCK, masks, sizeof(uint32_t), HD_AS_IT_COMES, .put = put,
          HD_HOLDS_ENTRIES, twin + LOCK, .unused = masks ? unused : 0 },
    };
    /* clang-format on */
    return hd_memory_add(all, rows, sizeof rows);
}

/* What growth brings is an allocation of its own. */
int hive_segment_memory(const hive_view *v, uint32_t k, hd_put put, hd_memory *all)
{
    size_t from = k * sizeof(hive_segment);
    return segment_memory(v, offsetof(hive_state, v.segment) + from, offsetof(hive_view, segment) + from,
                          hive_segment_buckets(v, k), hive_segment_buckets(v, k) - buckets_of_segment(v, k), put, all);
}

int hive_stash_memory(const hive_view *v, size_t at, uint64_t buckets, hd_memory *all)
{
    return segment_memory(v, at, offsetof(hive_view, stash), buckets, 0, HD_APART, all);
}

static int words_memory(const hive_state *o, hd_memory *all)
{
    const hive_words *w = o->words;
    const size_t at = offsetof(hive_state, words);
    /* of the two counts of stashes, the stash's own is copied */
    hd_memory stashed =
        hd_memory_word(NULL, at, offsetof(hive_words, stashed) + o->count * sizeof *w->stashed, sizeof *w->stashed);
    stashed.what = "stash count";
    stashed.holds = HD_HOLDS_ENTRIES;
    stashed.twin = offsetof(hive_view, stashed);
    const hd_memory rows[] = {
        { "table: counters", NULL, at, 1, sizeof *w, 0, .put = HD_TOGETHER },
        hd_memory_word("tally", at, offsetof(hive_words, tally), sizeof w->tally),
        hd_memory_word("sum", at, offsetof(hive_words, sum), sizeof w->sum),
        hd_memory_word("stash count", at, offsetof(hive_words, stashed), sizeof w->stashed),
        hd_memory_word("crowded", at, offsetof(hive_words, crowded), sizeof w->crowded),
        stashed,
    };
    return hd_memory_add(all, rows, sizeof rows);
}

int hive_memory(const void *state, hd_memory *all)
{
    const hive_state *o = (const hive_state *)state;
    const hive_view *v = &o->v;
    int n = 0;
    for (uint32_t k = 0; k < hive_segments_for(v, hive_buckets(v)); k++)
        n += hive_segment_memory(v, k, k ? HD_APART : HD_TOGETHER, all + n);
    n += hive_stash_memory(v, offsetof(hive_state, v.stash), v->stash_buckets, all + n);
    n += words_memory(o, all + n);
    return n + gpu_list_memory(&o->gpu, offsetof(hive_state, kept), all + n);
}

void hive_begin_table(void *state)
{
    hive_state *o = (hive_state *)state;
    o->v = hive_view_for(&o->gpu.info);
}

void hive_taken(void *state)
{
    hive_state *o = (hive_state *)state;
    o->gpu.tally = o->words->tally;
    o->gpu.sum = &o->words->sum;
    o->gpu.op = o->words->op;
    o->gpu.word = &o->words->word;
}

void *hive_view_of_state(void *entries) { return hive_view_of(entries); }

void hive_before_batch(void *state, void *entries)
{
    hive_state *o = (hive_state *)state;
    o->v = *hive_view_of(entries);
    *hive_stashed_of(o) = o->v.stashed;
}

void hive_after_batch(void *state, void *entries, bool good)
{
    (void)good;
    hive_view_of(entries)->stashed = *hive_stashed_of((const hive_state *)state);
}

hd_status hive_open_here(const void *state, const hd_seams *s, void **staged)
{
    return hive_reference.open(NULL, &((const hive_state *)state)->gpu.info, s, staged);
}
