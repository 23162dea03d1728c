/* SPDX-License-Identifier: Apache-2.0
 *
 * resize.c - linear hashing of segments, or ranges of keys: a segment more, a segment less. Neither loses a key: a
 * split takes keys away from ways, and a merge is undone if a key finds no slot.
 */
#include <string.h>

#include "ref/ovs/ovs.h"
#include "ref/ovs/range.h"

/* The first free slot of the segment on the key's way before bucket `line`; NULL: there is none. */
static uint64_t *earlier_slot(const ovs_view *v, uint64_t *segment, uint64_t h, uint64_t line)
{
    for (uint64_t step = 0; step < ovs_step_of(v, h, line); step++) {
        uint64_t *bucket = segment + ovs_step_in(v, h, step) * OVS_LINE_WORDS;
        for (uint32_t s = 0; s < ovs_slots(v); s++)
            if (ovs_is_free_in(v, bucket[s])) return &bucket[s];
    }
    return NULL;
}

/* The entry of a slot, of which this is the word, or the key word, is in another slot from now on. */
static void move_entry(const ovs_view *v, uint64_t *to, uint64_t *from)
{
    HD_ASSERT(ovs_is_key_in(v, *from) && ovs_is_free_in(v, *to), "an entry moves to a free slot");
    *to = *from;
    if (v->pairs) to[OVS_PAIRS] = from[OVS_PAIRS];
    *from = ovs_vacant_in(v);
}

/* Keys move to the first free slots of their ways, until no key has one. Then no key passes a bucket with a free slot,
 * so that all free slots may be fresh. */
static void settle(const ovs_view *v, uint64_t g)
{
    uint64_t *word = ovs_segment_at(v, g), slots = ovs_segment_slots(v), *to;
    bool moved;
    do {
        moved = false;
        for (uint64_t s = 0; s < slots; s++) {
            uint64_t *at = word + ovs_word_in(v, s);
            if (!ovs_is_key_in(v, *at)) continue;
            to = earlier_slot(v, word, ovs_hash(v, ovs_key_in(v, *at)), ovs_bucket_of(v, s));
            if (!to) continue;
            move_entry(v, to, at);
            moved = true;
        }
    } while (moved);
    for (uint64_t s = 0; s < slots; s++)
        if (ovs_is_free_in(v, word[ovs_word_in(v, s)])) word[ovs_word_in(v, s)] = ovs_fresh_in(v);
    for (uint64_t s = 0; s < slots && ovs_digests_at(v, g); s++) ovs_write(v, g * slots + s, word[s]);
}

void ovs_split(ovs_view *v)
{
    uint64_t low = v->split, high = ovs_segments(v), slots = ovs_segment_slots(v);
    *v = ovs_one_more(*v);
    uint64_t *from = ovs_segment_at(v, low), *to = ovs_segment_at(v, high);
    for (uint64_t s = 0; s < slots; s++) {
        uint64_t at = ovs_word_in(v, s), word = from[at];
        bool moves = ovs_is_key_in(v, word) && ovs_segment_of(v, ovs_hash(v, ovs_key_in(v, word))) == high;
        to[at] = ovs_vacant_in(v);
        if (moves) move_entry(v, to + at, from + at);
    }
    settle(v, low);
    settle(v, high);
    HD_ASSERT(ovs_segments(v) == high + 1 && v->split < v->base << v->level, "linear hashing has one segment more");
    HD_ASSERT(ovs_is_segment_sound(v, low) && ovs_is_segment_sound(v, high));
}

static uint64_t keys_in(const ovs_view *v, uint64_t g)
{
    const uint64_t *word = ovs_segment_at(v, g);
    uint64_t n = 0;
    for (uint64_t s = 0; s < ovs_segment_slots(v); s++) n += ovs_is_key_in(v, word[ovs_word_in(v, s)]);
    return n;
}

bool ovs_merge(ovs_view *v)
{
    if (v->level == 0 && v->split == 0) return false;
    ovs_view then = *v;
    if (then.split == 0) then.split = then.base << --then.level;
    uint64_t low = --then.split, high = ovs_segments(&then), slots = ovs_segment_slots(v);
    uint64_t *from = ovs_segment_at(v, high), *to = ovs_segment_at(v, low);
    bool fits = ovs_may_merge(v, keys_in(v, low) + keys_in(v, high));
    for (uint64_t s = 0; s < slots && fits; s++) {
        const uint64_t *at = from + ovs_word_in(v, s);
        if (ovs_is_key_in(v, *at)) fits = ovs_place(&then, ovs_key_in(v, *at), ovs_value_of(v, at)) != OVS_NOWHERE;
    }
    for (uint64_t s = 0; s < slots && !fits; s++) { /* what came from there is still there */
        uint64_t word = to[ovs_word_in(v, s)];
        if (ovs_is_key_in(v, word) && ovs_segment_of(v, ovs_hash(v, ovs_key_in(v, word))) == high)
            ovs_write(v, low * slots + s, ovs_vacant_in(v));
    }
    if (!fits) return false;
    *v = then;
    settle(v, low);
    HD_ASSERT(ovs_segments(v) == high && v->split < v->base << v->level, "linear hashing has one segment less");
    HD_ASSERT(ovs_is_segment_sound(v, low));
    return true;
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

static uint64_t keys_below(const ovs_view *v, uint64_t g, uint64_t bound)
{
    const uint64_t *word = ovs_segment_at(v, g);
    uint64_t n = 0;
    for (uint64_t s = 0; s < ovs_segment_slots(v); s++) n += ovs_is_key(word[s]) && ovs_key_of(word[s]) < bound;
    return n;
}

/* A first key of the upper half: half of the keys, rounded down, are below it. With fewer than two keys: the middle. */
static uint32_t find_median(const ovs_view *v, const ovs_plan *p, const ovs_task *t)
{
    uint64_t low = (uint64_t)t->first + 1, high = t->last;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2, below = ovs_waits_below(t, p->wait, middle);
        if (t->keys >= 2) below += keys_below(v, t->from, middle);
        if (below == t->keys / 2) return (uint32_t)middle;
        if (below < t->keys / 2)
            low = middle + 1;
        else
            high = middle - 1;
    }
    HD_ASSERT(low > t->first && low <= t->last, "a half of a range has no key");
    return (uint32_t)low;
}

static void split_range(const ovs_view *v, const ovs_plan *p, ovs_task *t)
{
    uint64_t *from = ovs_segment_at(v, t->from), *to = ovs_segment_at(v, t->to);
    t->first = find_median(v, p, t);
    for (uint64_t s = 0; s < ovs_segment_slots(v); s++) {
        bool moves = ovs_is_key(from[s]) && ovs_key_of(from[s]) >= t->first;
        to[s] = moves ? from[s] : ovs_vacant();
        if (moves) from[s] = ovs_vacant();
    }
    settle(v, t->from);
    settle(v, t->to);
}

/* A key of another segment goes to the first free slot on its way in segment g; false: there is none. */
static bool bring(const ovs_view *v, uint64_t g, uint64_t word)
{
    uint64_t h = ovs_hash(v, ovs_key_of(word)), e = OVS_NOWHERE;
    for (uint64_t step = 0; step < ovs_way(v) && e == OVS_NOWHERE; step++)
        e = ovs_free_slot(v, (g << v->line_bits) + ovs_step_in(v, h, step));
    if (e != OVS_NOWHERE) ovs_write(v, e, word);
    return e != OVS_NOWHERE;
}

static void merge_ranges(const ovs_view *v, ovs_task *t)
{
    const uint64_t *from = ovs_segment_at(v, t->from), *to = ovs_segment_at(v, t->to);
    uint64_t slots = ovs_segment_slots(v);
    t->done = 1;
    for (uint64_t s = 0; s < slots && t->done; s++)
        if (ovs_is_key(from[s])) t->done = bring(v, t->to, from[s]);
    for (uint64_t s = 0; s < slots && !t->done; s++)
        if (ovs_is_key(to[s]) && ovs_segment_of(v, ovs_hash(v, ovs_key_of(to[s]))) != t->to)
            ovs_write(v, t->to * slots + s, ovs_vacant());
    if (t->done) settle(v, t->to);
}

static void move_segment(const ovs_view *v, const ovs_task *t)
{
    const uint64_t *from = ovs_segment_at(v, t->from);
    for (uint64_t s = 0; s < ovs_segment_slots(v); s++) ovs_write(v, t->to * ovs_segment_slots(v) + s, from[s]);
}

static void split_round(ovs_view *v, ovs_plan *p)
{
    for (uint64_t j = 0; j < p->tasks; j++) split_range(v, p, &p->task[j]);
    ovs_rows_split(v, p);
    for (uint64_t j = 0; j < p->tasks; j++)
        HD_ASSERT(ovs_is_segment_sound(v, p->task[j].from) && ovs_is_segment_sound(v, p->task[j].to));
}

uint64_t ovs_plan_for(const ovs_view *v, ovs_plan *p, const uint64_t *key, uint64_t n)
{
    ovs_plan_wait(p, key, n);
    ovs_plan_room(v, p, true);
    for (uint64_t j = 0; j < p->tasks; j++) p->keys[p->task[j].from] = (uint32_t)keys_in(v, p->task[j].from);
    return ovs_plan_weigh(v, p);
}

void ovs_make_room(ovs_view *v, ovs_plan *p)
{
    for (; p->tasks; ovs_plan_room(v, p, false)) split_round(v, p);
}

static void resize_ranges(ovs_view *v, ovs_plan *p, uint64_t segments)
{
    for (uint64_t g = 0; g < ovs_segments(v); g++) p->keys[g] = (uint32_t)keys_in(v, g);
    while (ovs_segments(v) < segments) {
        ovs_plan_splits(v, p, segments - ovs_segments(v));
        HD_ASSERT(p->tasks > 0, "no range can be split, and the table is to grow");
        split_round(v, p);
    }
    while (ovs_segments(v) > segments) {
        ovs_plan_merges(v, p, ovs_segments(v) - segments);
        if (p->tasks == 0) break;
        for (uint64_t j = 0; j < p->tasks; j++) merge_ranges(v, &p->task[j]);
        ovs_rows_merge(v, p);
        for (uint64_t j = 0; j < p->moves; j++) move_segment(v, &p->task[p->tasks + j]);
        for (uint64_t j = 0; j < p->moves; j++) HD_ASSERT(ovs_is_segment_sound(v, p->task[p->tasks + j].to));
    }
}

/* ---- Both ------------------------------------------------------------------------------------ */

void ovs_resize(ovs_view *v, ovs_plan *p, uint64_t segments)
{
    if (segments < ovs_segments(v)) ovs_forget_copies(v); /* some entries come to near segments */
    if (v->ranges) {
        resize_ranges(v, p, segments);
        return;
    }
    while (ovs_segments(v) < segments) ovs_split(v);
    while (ovs_segments(v) > segments && ovs_merge(v)) {
    }
}
