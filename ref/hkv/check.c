/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - every invariant of layout.h, by number, for a table at rest.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ref/hkv/hkv.h"

/* By rule, in their order. */
static const char *const sentences[HKV_RULES] = { "HKV-8: a lower bound is above a score",
                                                  "HKV-6: an empty slot has a holder",
                                                  "HKV-1: an empty slot has a digest",
                                                  "HKV-7: an empty slot has a score",
                                                  "HKV-1: a key has no digest",
                                                  "HKV-5: a slot is locked at rest",
                                                  "HKV-5: a reserved key is stored",
                                                  "HKV-2: the digest is not the key's",
                                                  "HKV-3: the key is in none of its buckets",
                                                  "HKV-4: the key is in two slots",
                                                  "HKV-9: two ghosts have the same order" };

/* What is wrong with entry e of bucket b; HKV_RULES: nothing. */
static int entry_wrong(const hkv_view *v, uint64_t b, uint64_t e)
{
    uint64_t key = *hkv_key_at(v, e);
    bool pinned = v->holder && v->holder[e];
    if (v->bound && !pinned && v->bound[e / HKV_BOUNDED] > *hkv_score_at(v, e)) return HKV_RULE_BOUND;
    if (key == HD_KEY_EMPTY) {
        if (pinned) return HKV_RULE_EMPTY_PINNED;
        if (v->digest[e] != HKV_NO_DIGEST) return HKV_RULE_EMPTY_DIGEST;
        return *hkv_score_at(v, e) ? HKV_RULE_EMPTY_SCORE : HKV_RULES;
    }
    if (v->digest[e] == HKV_NO_DIGEST) return HKV_RULE_NO_DIGEST;
    if (key == HD_KEY_LOCKED) return HKV_RULE_LOCKED;
    if (key == HD_KEY_RESERVED) return HKV_RULE_RESERVED;

    uint64_t h = hd_hash(key, v->seed);
    if (v->digest[e] != hd_digest(h)) return HKV_RULE_DIGEST;
    if (!hkv_is_home(v, h, b)) return HKV_RULE_HOME;
    /* Candidates are searched in one order, so a second copy is one that a search does not reach first. */
    return hkv_find(v, key) == e ? HKV_RULES : HKV_RULE_TWICE;
}

bool hkv_is_sound(const hkv_view *v, uint64_t e)
{
    uint64_t first = e / HKV_BOUNDED * HKV_BOUNDED;
    bool sound = e < hkv_capacity(v) && entry_wrong(v, e / v->slots, e) == HKV_RULES;
    for (uint64_t i = first; v->bound && i < first + HKV_BOUNDED; i++)
        sound = sound && ((v->holder && v->holder[i]) || v->bound[i / HKV_BOUNDED] <= *hkv_score_at(v, i));
    return sound;
}

void hkv_say_broken(const hkv_view *v, uint64_t e, int rule, char *why, size_t bytes)
{
    snprintf(why, bytes, "%s (bucket %" PRIu64 ", slot %" PRIu64 ")", sentences[rule], e / v->slots, e % v->slots);
}

void hkv_say_pins(uint64_t seen, uint64_t counted, char *why, size_t bytes)
{
    snprintf(why, bytes, "HKV-6: %" PRIu64 " entries are pinned, %" PRIu64 " are counted", seen, counted);
}

/* Whether an earlier ghost of the bucket has the order of ghost e. */
static bool order_twice(const hkv_view *v, uint64_t b, uint64_t e)
{
    for (uint64_t x = hkv_entry(v, b, 0); v->ghost && v->ghost[e] && x < e; x++)
        if (v->ghost[x] && v->ghost[x] >> 32 == v->ghost[e] >> 32) return true;
    return false;
}

static void check_pins(const hkv_view *v, char *why, size_t bytes)
{
    uint64_t seen = 0;
    for (uint64_t e = 0; v->holder && e < hkv_capacity(v); e++) seen += v->holder[e] != 0;
    if (seen != v->pins) hkv_say_pins(seen, v->pins, why, bytes);
}

void hkv_check(const hkv_view *v, char *why, size_t bytes)
{
    why[0] = 0;
    for (uint64_t b = 0; b < v->buckets; b++)
        for (uint64_t e = hkv_entry(v, b, 0); e < hkv_entry(v, b + 1, 0); e++) {
            int wrong = entry_wrong(v, b, e);
            if (wrong == HKV_RULES && order_twice(v, b, e)) wrong = HKV_RULE_GHOST;
            if (wrong != HKV_RULES) {
                hkv_say_broken(v, e, wrong, why, bytes);
                return;
            }
        }
    check_pins(v, why, bytes);
}
