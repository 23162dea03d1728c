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
        uint64_t *bucket = segment + ovs_step_in(v, h, step) * OVS_SLOTS;
        for (uint32_t s = 0; s < OVS_SLOTS; s++)
            if (ovs_is_free(bucket[s])) return &bucket[s];
    }
    return NULL;
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
            if (!ovs_is_key(word[s])) continue;
            to = earlier_slot(v, word, ovs_hash(v, ovs_key_of(word[s])), s / OVS_SLOTS);
            if (!to) continue;
            *to = word[s];
            word[s] = ovs_vacant();
            moved = true;
        }
    } while (moved);
    for (uint64_t s = 0; s < slots; s++)
        if (ovs_is_free(word[s])) word[s] = ovs_fresh();
    for (uint64_t s = 0; s < slots && ovs_digests_at(v, g); s++) ovs_write(v, g * slots + s, word[s]);
}

void ovs_split(ovs_view *v)
{
    uint64_t low = v->split, high = ovs_segments(v), slots = ovs_segment_slots(v);
    *v = ovs_one_more(*v);
    uint64_t *from = ovs_segment_at(v, low), *to = ovs_segment_at(v, high);
    for (uint64_t s = 0; s < slots; s++) {
        bool moves = ovs_is_key(from[s]) && ovs_segment_of(v, ovs_hash(v, ovs_key_of(from[s]))) == high;
        to[s] = moves ? from[s] : ovs_vacant();
        if (moves) from[s] = ovs_vacant();
    }
    settle(v, low);
    settle(v, high);
}

static uint64_t keys_in(const ovs_view *v, uint64_t g)
{
    const uint64_t *word = ovs_segment_at(v, g);
    uint64_t n = 0;
    for (uint64_t s = 0; s < ovs_segment_slots(v); s++) n += ovs_is_key(word[s]);
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
    for (uint64_t s = 0; s < slots && fits; s++)
        if (ovs_is_key(from[s]))
            fits = ovs_place(&then, ovs_key_of(from[s]), word_value_of(OVS_HALF, from[s])) != OVS_NOWHERE;
    for (uint64_t s = 0; s < slots && !fits; s++) /* what came from there is still there */
        if (ovs_is_key(to[s]) && ovs_segment_of(v, ovs_hash(v, ovs_key_of(to[s]))) == high)
            ovs_write(v, low * slots + s, ovs_vacant());
    if (!fits) return false;
    *v = then;
    settle(v, low);
    return true;
}
