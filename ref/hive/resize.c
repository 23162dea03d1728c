/* SPDX-License-Identifier: Apache-2.0
 *
 * resize.c - linear hashing (section IV-C): a bucket more, a bucket less.
 */
#include "ref/hive/hive.h"

/* ---- Expansion (IV-C1) ----------------------------------------------------------------------- */

/* Which of two buckets comes first on the key's way. */
static uint64_t earlier(const hive_view *v, uint64_t key, uint64_t a, uint64_t b)
{
    uint64_t h = hive_hash(v, key);
    for (uint32_t i = 0; i + 1 < v->hashes; i++) {
        uint64_t c = hive_candidate(v, h, i);
        if (c == a || c == b) return c;
    }
    return hive_candidate(v, h, v->hashes - 1);
}

void hive_split(hive_view *v)
{
    uint64_t round = v->base << v->level, from = v->split, to = hive_buckets(v), slots = v->slots;
    bool open = hive_is_open(v, from);
    if (++v->split == round) {
        v->level++;
        v->split = 0;
    }
    HD_ASSERT(hive_buckets(v) == to + 1 && v->split < v->base << v->level, "linear hashing has one bucket more");
    for (uint64_t s = 0; s < slots; s++) {
        uint64_t word = hive_read(v, from * slots + s);
        bool moves = hive_is_key(v, word) && earlier(v, hive_key_of(v, word), from, to) == to;
        hive_write(v, to * slots + s, moves ? word : open ? hive_fresh(v) : hive_vacant(v));
        /* a key that left lies on its own way: no key was ever turned away from an open bucket */
        bool leaves = moves || hive_is_free(v, word);
        if (leaves) hive_write(v, from * slots + s, open ? hive_fresh(v) : hive_vacant(v));
    }
    for (uint64_t s = 0; s < slots; s++)
        HD_ASSERT(hive_is_sound(v, from * slots + s) && hive_is_sound(v, to * slots + s));
}

/* ---- Contraction (IV-C2) --------------------------------------------------------------------- */

static uint64_t keys_in(const hive_view *v, uint64_t b)
{
    uint64_t n = 0;
    for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++) n += hive_is_key(v, hive_read(v, e));
    return n;
}

/* Keys of bucket b move onward to any bucket but `except`, until `*surplus` have. */
static void thin_out(hive_view *v, uint64_t b, uint64_t except, uint64_t *surplus)
{
    for (uint64_t e = b * v->slots; *surplus && e < (b + 1) * v->slots; e++)
        if (hive_is_key(v, hive_read(v, e))) *surplus -= hive_move_on(v, e, except);
}

bool hive_merge(hive_view *v)
{
    if (v->level == 0 && v->split == 0) return false;
    uint64_t high = hive_buckets(v) - 1, low = v->split ? v->split - 1 : (v->base << v->level) / 2 - 1,
             slots = v->slots;
    uint64_t keys = keys_in(v, low) + keys_in(v, high), surplus = keys > slots ? keys - slots : 0,
             moving[HIVE_SLOTS_MOST], n = 0;
    bool open = hive_is_open(v, low) && hive_is_open(v, high) && surplus == 0;
    if (!open) { /* a key was turned away from one of them, or is now */
        hive_shut(v, low);
        hive_shut(v, high);
    }
    thin_out(v, high, low, &surplus);
    thin_out(v, low, high, &surplus);
    if (surplus) return false;
    for (uint64_t e = high * slots; e < (high + 1) * slots; e++) {
        uint64_t word = hive_read(v, e);
        if (hive_is_key(v, word)) moving[n++] = word;
        hive_write(v, e, hive_vacant(v));
    }
    v->level -= v->split == 0;
    v->split = low;
    for (uint64_t e = low * slots; n && e < (low + 1) * slots; e++)
        if (hive_is_free(v, hive_read(v, e))) hive_write(v, e, moving[--n]);
    HD_ASSERT(n == 0, "a key finds no slot in the bucket that is left");
    HD_ASSERT(hive_buckets(v) == high, "linear hashing has one bucket less");
    for (uint64_t s = 0; s < slots; s++) HD_ASSERT(hive_is_sound(v, low * slots + s));
    return true;
}

/* ---- The stash ------------------------------------------------------------------------------- */

void hive_restash(hive_view *v, const hive_segment *old, uint64_t buckets)
{
    hive_view was = *v;
    was.stash = *old;
    was.stash_buckets = buckets;
    for (uint64_t e = hive_capacity(&was); e < hive_places(&was); e++) {
        uint64_t word = hive_read(&was, e);
        if (!hive_is_key(v, word)) continue;
        uint64_t at = hive_place(v, hive_key_of(v, word), hive_value_of(v, word));
        HD_ASSERT(at != HIVE_NOWHERE, "a key of the stash finds no slot");
    }
}
