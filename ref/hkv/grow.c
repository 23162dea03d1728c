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
#include "base/error.h"
#include "ref/hkv/hkv.h"

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
    uint64_t to_e = hkv_entry(to, b, 0);
    while (to->digest[to_e] != HKV_NO_DIGEST) to_e++;
    HD_ASSERT(to_e < hkv_entry(to, b + 1, 0));
    to->digest[to_e] = from->digest[e];
    *hkv_key_at(to, to_e) = *hkv_key_at(from, e);
    *hkv_score_at(to, to_e) = *hkv_score_at(from, e);
    for (uint32_t i = 0; i < to->value_bytes; i++) hkv_value(to, to_e)[i] = hkv_value(from, e)[i];
    move_pin(from, e, to, to_e);
}

static void move_stray(const hkv_view *from, uint64_t e, hkv_view *to)
{
    bool placed = hkv_put(to, *hkv_key_at(from, e), hkv_value(from, e), *hkv_score_at(from, e));
    HD_ASSERT(placed);
    (void)placed;
    move_pin(from, e, to, hkv_find(to, *hkv_key_at(from, e)));
}

void hkv_move_all(const hkv_view *from, hkv_view *to)
{
    uint64_t times = to->buckets / from->buckets, strays = 0;
    for (int pass = 0; pass < 2 && (pass == 0 || strays); pass++)
        for (uint64_t e = 0; e < hkv_capacity(from); e++) {
            if (from->digest[e] == HKV_NO_DIGEST) continue;
            uint64_t b = child(to, *hkv_key_at(from, e), e / from->slots, times);
            if (b == HKV_NOWHERE)
                pass == 0 ? (void)strays++ : move_stray(from, e, to);
            else if (pass == 0)
                move_into(from, e, to, b);
        }
    to->pins = from->pins;
}
