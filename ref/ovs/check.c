/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - the invariants of layout.h, by number, for a table at rest.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ref/ovs/ovs.h"

/* By rule, in their order. */
static const char *const sentences[OVS_RULES] = {
    "OVS-3: a free slot says neither fresh nor vacant",     "OVS-3: a slot is claimed at rest",
    "OVS-2: the key is in another segment than its own",    "OVS-2: the key is in a bucket that is not on its way",
    "OVS-4: the key is behind a bucket that is open",       "OVS-1: the key is in two slots",
    "OVS-6: the slot has another digest than its word says"
};

/* By rule of rows. */
static const char *const row_sentences[OVS_ROW_RULES] = { "OVS-7: the first key is not above that of the row before",
                                                          "OVS-7: the row names no segment",
                                                          "OVS-7: the device has another row",
                                                          "OVS-7: a segment has no row, or several" };

/* By rule of copies. */
static const char *const copy_sentences[OVS_COPY_RULES] = { "OVS-8: a copy is of no entry",
                                                            "OVS-8: a copy is in another set than its key's",
                                                            "OVS-8: a copy is of a key of a near segment",
                                                            "OVS-8: a copy differs from the entry of its key" };

void ovs_say_copy_broken(uint64_t i, int rule, char *why, size_t bytes)
{
    snprintf(why, bytes, "%s (set %" PRIu64 ", place %" PRIu64 ")", copy_sentences[rule], i / OVS_COPIES,
             i % OVS_COPIES);
}

static void check_copies(const ovs_view *v, char *why, size_t bytes)
{
    for (uint64_t i = 0; i < ovs_copy_words(v) && !why[0]; i++) {
        int wrong = ovs_copy_wrong(v, i, v->copy[i]);
        uint64_t e = wrong == OVS_COPY_RULES && v->copy[i] ? ovs_find(v, ovs_key_of(~v->copy[i])) : OVS_NOWHERE;
        if (wrong == OVS_COPY_RULES && v->copy[i] && (e == OVS_NOWHERE || *ovs_at(v, e) != ~v->copy[i]))
            wrong = OVS_COPY_STALE;
        if (wrong != OVS_COPY_RULES) ovs_say_copy_broken(i, wrong, why, bytes);
    }
}

void ovs_say_row_broken(uint64_t r, int rule, char *why, size_t bytes)
{
    snprintf(why, bytes, "%s (row %" PRIu64 " of the directory)", row_sentences[rule], r);
}

/* A sum over rows that is 0 if they name each segment once; else it is 0 only by chance. */
static bool names_each_once(const ovs_view *v)
{
    uint64_t sum = 0;
    for (uint64_t r = 0; r < ovs_segments(v); r++) sum += ovs_row_share(v, r);
    return sum == 0;
}

static void check_rows(const ovs_view *v, char *why, size_t bytes)
{
    uint64_t n = v->ranges ? ovs_segments(v) : 0;
    int wrong = OVS_ROW_RULES;
    for (uint64_t r = 0; r < n && wrong == OVS_ROW_RULES; r++) {
        if ((wrong = ovs_row_wrong(v, r)) != OVS_ROW_RULES) ovs_say_row_broken(r, wrong, why, bytes);
    }
    if (n && !why[0] && !names_each_once(v)) ovs_say_row_broken(n - 1, OVS_ROW_TWICE, why, bytes);
}

static int digest_wrong(const ovs_view *v, uint64_t e)
{
    if (!ovs_digest_at(v, e)) return OVS_RULES;
    uint32_t is = ovs_digest_in(v, e);
    return is == ovs_digest_for(v, *ovs_at(v, e), is) ? OVS_RULES : OVS_RULE_DIGEST;
}

/* What is wrong with the word of slot e; OVS_RULES: nothing. */
static int word_wrong(const ovs_view *v, uint64_t e)
{
    uint64_t word = *ovs_at(v, e), h = ovs_hash(v, ovs_key_in(v, word)), b = ovs_bucket_of(v, e);
    if (word == ovs_fresh_in(v) || word == ovs_vacant_in(v)) return OVS_RULES;
    if (ovs_is_free_in(v, word)) return OVS_RULE_FREE;
    if (!ovs_is_key_in(v, word)) return OVS_RULE_CLAIMED;
    if (ovs_segment_of(v, h) != b >> v->line_bits) return OVS_RULE_SEGMENT;
    if (ovs_step_of(v, h, b & (ovs_lines(v) - 1)) >= ovs_way(v)) return OVS_RULE_WAY;
    uint64_t found = ovs_find(v, ovs_key_in(v, word));
    if (found == OVS_NOWHERE) return OVS_RULE_OPEN;
    return found == e ? OVS_RULES : OVS_RULE_TWICE;
}

bool ovs_is_sound(const ovs_view *v, uint64_t e)
{
    return e < ovs_places(v) && word_wrong(v, e) == OVS_RULES && digest_wrong(v, e) == OVS_RULES;
}

bool ovs_is_segment_sound(const ovs_view *v, uint64_t g)
{
    enum { MOST = 256 };
    uint64_t slots = ovs_segment_slots(v), step = 1 + slots / MOST;
    bool sound = true;
    for (uint64_t s = 0; s < slots && sound; s += step) sound = ovs_is_sound(v, g * slots + s);
    return sound;
}

bool ovs_is_directory_sound(const ovs_view *v)
{
    char why[256] = "";
    check_rows(v, why, sizeof why);
    return !why[0];
}

void ovs_say_broken(const ovs_view *v, uint64_t e, int rule, char *why, size_t bytes)
{
    uint64_t b = ovs_bucket_of(v, e);
    snprintf(why, bytes, "%s (segment %" PRIu64 ", bucket %" PRIu64 ", slot %" PRIu32 ")", sentences[rule],
             b >> v->line_bits, b, ovs_slot_in(v, e));
}

void ovs_check(const ovs_view *v, char *why, size_t bytes)
{
    int wrong = OVS_RULES;
    why[0] = 0;
    check_rows(v, why, bytes);
    for (uint64_t e = 0; !why[0] && e < ovs_places(v) && wrong == OVS_RULES; e++) {
        if ((wrong = word_wrong(v, e)) == OVS_RULES) wrong = digest_wrong(v, e);
        if (wrong != OVS_RULES) ovs_say_broken(v, e, wrong, why, bytes);
    }
    if (!why[0]) check_copies(v, why, bytes);
}
