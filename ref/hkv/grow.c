/* SPDX-License-Identifier: Apache-2.0
 *
 * grow.c - moving a table into one with k times the buckets, without losing an entry.
 *
 * The first bucket of h among kB buckets is one of the k children kb .. kb + k - 1 of its bucket b among B
 * (hash.h). In single mode that is all: the children of b take only what b held, which fits any one of them.
 *
 * In dual mode an entry of b moves to a child of b whenever one of its new candidates is one: the first, or the
 * second when the entry was there as its second choice. The exception is a key whose two halves chose the same
 * bucket b - 1, and which therefore stayed in the next, b (hd_second_bucket): its new candidates may both be
 * children of b - 1. Such strays are placed last, in either candidate that has room, and one always has:
 *
 *   Only entries of b (at most `slots`) and strays from b + 1 (at most `slots`) come into b's children. A
 *   stray finds both candidates full only when 2 x slots entries are in them; but besides itself there are at
 *   most slots + (slots - 1) that can be.
 */
#include <string.h>

#include "base/error.h"
#include "ref/hkv/digests.h"
#include "ref/hkv/hkv.h"
#include "ref/hkv/lists.h"

/* The child of bucket b that the key of entry e can move to; HKV_NOWHERE for a stray. */
static uint64_t child(const hkv_view *to, uint64_t key, uint64_t b, uint64_t times)
{
    uint64_t h = hd_hash(key, to->seed), first = hd_first_bucket(h, to->buckets);
    if (first / times == b) return first; /* always, in single mode */
    uint64_t second = hd_second_bucket(h, to->buckets);
    return second / times == b ? second : HKV_NOWHERE;
}

/* Its pin. A table that has pins has room for them in what it grows into. */
static void move_pin(const hkv_view *from, uint64_t e, const hkv_view *to, uint64_t to_e)
{
    if (from->pins) to->holder[to_e] = from->holder[e];
}

static void move_into(const hkv_view *from, uint64_t e, const hkv_view *to, uint64_t b)
{
    uint32_t slot = hkv_first_with(to, b, HKV_NO_DIGEST);
    HD_ASSERT(slot < to->slots, "more entries come to a bucket than fit");
    uint64_t to_e = hkv_entry(to, b, slot);
    to->digest[to_e] = from->digest[e];
    *hkv_key_at(to, to_e) = *hkv_key_at(from, e);
    *hkv_score_at(to, to_e) = *hkv_score_at(from, e);
    if (to->value_bytes) memcpy(hkv_value(to, to_e), hkv_value(from, e), to->value_bytes);
    move_pin(from, e, to, to_e);
    HD_ASSERT(hkv_is_sound(to, to_e));
}

static void move_stray(const hkv_view *from, uint64_t e, hkv_view *to)
{
    bool placed = hkv_put(to, *hkv_key_at(from, e), hkv_value(from, e), *hkv_score_at(from, e));
    HD_ASSERT(placed, "a stray finds no room");
    (void)placed;
    move_pin(from, e, to, hkv_find(to, *hkv_key_at(from, e)));
}

/* The entries of bucket b without its strays, or only its strays. How many strays it has. */
static uint64_t move_bucket(const hkv_view *from, uint64_t b, hkv_view *to, bool strays)
{
    uint64_t times = to->buckets / from->buckets, seen = 0;
    for (uint64_t e = hkv_entry(from, b, 0); e < hkv_entry(from, b + 1, 0); e++) {
        if (from->digest[e] == HKV_NO_DIGEST) continue;
        uint64_t into = child(to, *hkv_key_at(from, e), b, times);
        seen += into == HKV_NOWHERE;
        if (strays && into == HKV_NOWHERE) move_stray(from, e, to);
        if (!strays && into != HKV_NOWHERE) move_into(from, e, to, into);
    }
    return seen;
}

typedef struct moving {
    const hkv_view *from;
    hkv_view *to;
    uint64_t strays;
} moving;

static void move_share(hd_team *m, uint32_t t, uint32_t many, void *context)
{
    moving *g = (moving *)context;
    uint64_t strays = 0, last = hd_team_share(g->from->buckets, t + 1, many);
    for (uint64_t b = hd_team_share(g->from->buckets, t, many); b < last; b++)
        strays += move_bucket(g->from, b, g->to, false);
    hkv_add_in_turn(m, t, strays, &g->strays, NULL, NULL);
}

void hkv_move_all(const hkv_view *from, hkv_view *to, uint32_t threads)
{
    moving g = { from, to, 0 };
    hd_team_run(from->buckets > 1 << 13 ? threads : 1, hkv_capacity(from), move_share, &g);
    HD_ASSERT(to->buckets % from->buckets == 0 && to->slots == from->slots, "a bucket has no children");
    uint64_t strays = 0;
    for (uint64_t b = 0; g.strays && b < from->buckets; b++) strays += move_bucket(from, b, to, true);
    HD_ASSERT(strays == g.strays, "a stray has not moved");
    to->pins = from->pins;
}
