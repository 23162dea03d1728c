/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - every invariant of layout.h, by number, for a table at rest.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ref/hive/hive.h"

/* By rule, in their order. */
static const char *const sentences[HIVE_RULES] = { "HIVE-3: the bucket is locked at rest",
                                                   "HIVE-5: the mask and a slot say different things",
                                                   "HIVE-3: a free slot says neither fresh nor vacant",
                                                   "HIVE-3: a slot is claimed, or its key leaving, at rest",
                                                   "HIVE-2: the key is in none of its buckets",
                                                   "HIVE-4: the key is behind a bucket that is open",
                                                   "HIVE-1: the key is in two slots" };

/* What is wrong with slot e; HIVE_RULES: nothing. */
static int slot_wrong(const hive_view *v, uint64_t e)
{
    uint64_t word = hive_read(v, e), key = hive_key_of(v, word), b = e / v->slots;
    if (word == hive_fresh(v) || word == hive_vacant(v)) return HIVE_RULES;
    if (hive_is_free(v, word)) return HIVE_RULE_FREE;
    if (!hive_is_key(v, word)) return HIVE_RULE_CLAIMED;
    if (!hive_is_home(v, hive_hash(v, key), b)) return HIVE_RULE_BUCKET;
    uint64_t found = hive_find(v, key);
    if (found == HIVE_NOWHERE) return HIVE_RULE_OPEN;
    return found == e ? HIVE_RULES : HIVE_RULE_TWICE;
}

static int bucket_wrong(const hive_view *v, uint64_t b)
{
    uint64_t at;
    const hive_segment *g = hive_segment_of(v, b, &at);
    if (g->lock && g->lock[at]) return HIVE_RULE_LOCKED;
    for (uint32_t s = 0; g->mask && s < 32; s++) {
        bool is_free = s < v->slots && hive_is_free(v, hive_read(v, b * v->slots + s));
        if ((g->mask[at] >> s & 1) != is_free) return HIVE_RULE_MASK;
    }
    return HIVE_RULES;
}

bool hive_is_sound(const hive_view *v, uint64_t e)
{
    return e < hive_places(v) && slot_wrong(v, e) == HIVE_RULES && bucket_wrong(v, e / v->slots) == HIVE_RULES;
}

void hive_say_broken(const hive_view *v, uint64_t e, int rule, char *why, size_t bytes)
{
    uint64_t b = e / v->slots;
    bool stash = e >= hive_capacity(v);
    snprintf(why, bytes, "%s (%s %" PRIu64 ", slot %" PRIu64 ")", sentences[rule], stash ? "stash bucket" : "bucket",
             stash ? b - hive_buckets(v) : b, e % v->slots);
}

void hive_say_stashed(const hive_view *v, uint64_t seen, uint64_t counted, char *why, size_t bytes)
{
    why[0] = 0;
    if (seen != counted)
        snprintf(why, bytes, "HIVE-6: the stash has %" PRIu64 " entries, and %" PRIu64 " are counted", seen, counted);
    else if (seen > hive_stash_limit(v))
        snprintf(why, bytes, "HIVE-6: the stash has %" PRIu64 " entries, and takes %" PRIu64, seen,
                 hive_stash_limit(v));
}

void hive_check(const hive_view *v, char *why, size_t bytes)
{
    uint64_t stashed = 0;
    why[0] = 0;
    for (uint64_t e = 0; e < hive_places(v); e++) {
        int wrong = e % v->slots ? HIVE_RULES : bucket_wrong(v, e / v->slots);
        if (wrong == HIVE_RULES) wrong = slot_wrong(v, e);
        stashed += e >= hive_capacity(v) && hive_is_key(v, hive_read(v, e));
        if (wrong == HIVE_RULES) continue;
        hive_say_broken(v, e, wrong, why, bytes);
        return;
    }
    hive_say_stashed(v, stashed, v->stashed, why, bytes);
}
