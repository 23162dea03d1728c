/* SPDX-License-Identifier: Apache-2.0
 *
 * resize.c - linear hashing of segments: a segment more, a segment less. Neither loses a key: a split takes keys away
 * from ways, and a merge is undone if a key finds no slot.
 */
#include "ref/ovs/ovs.h"

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
    return true;
}
