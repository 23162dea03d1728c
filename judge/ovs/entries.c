/* SPDX-License-Identifier: Apache-2.0
 *
 * entries.c - reads and describes the entries of an ovs table, and tells how the reference looks for a key.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/ovs/fixture.h"
#include "judge/rules.h"
#include "judge/steps.h"
#include "ref/rule.h"

uint64_t ovs_fixture_buckets(const void *table) { return ovs_buckets(ovs_view_in(table)); }
uint64_t ovs_fixture_first(const void *table, uint64_t b) { return b << ovs_slot_bits(ovs_view_in(table)); }

uint64_t ovs_fixture_places(const fixture *s)
{
    const ovs_view *v = ovs_fixture_view(s);
    return (v->base << (OVS_SCENE_EXTENTS - 1)) * ovs_segment_slots(v);
}

uint64_t ovs_fixture_key_at(const void *table, uint64_t e)
{
    const ovs_view *v = ovs_view_in(table);
    uint64_t word = *ovs_at(v, e);
    return ovs_is_free_in(v, word) ? HD_KEY_EMPTY : ovs_is_key_in(v, word) ? ovs_key_in(v, word) : HD_KEY_LOCKED;
}

uint8_t *ovs_fixture_value_at(const void *table, uint64_t e) { return ovs_value_at(ovs_view_in(table), e); }

uint32_t ovs_fixture_candidates(const void *table, uint64_t key, uint64_t *bucket)
{
    const ovs_view *v = ovs_view_in(table);
    uint32_t n = ovs_way(v) < JUDGE_CANDIDATES_MOST ? ovs_way(v) : (uint32_t)JUDGE_CANDIDATES_MOST;
    for (uint32_t step = 0; step < n; step++) bucket[step] = ovs_way_bucket(v, ovs_hash(v, key), step);
    return n;
}

void ovs_fixture_describe(const void *table, uint64_t e, char *line, size_t bytes)
{
    const ovs_view *v = ovs_view_in(table);
    const uint64_t *at = ovs_at(v, e);
    uint64_t word = *at, value = ovs_value_of(v, at);
    if (word == ovs_fresh_in(v) || word == ovs_vacant_in(v))
        snprintf(line, bytes, "%s", word == ovs_fresh_in(v) ? "fresh" : "vacant");
    else if (v->pairs && word == ovs_pair_busy())
        snprintf(line, bytes, "claimed");
    else if (!v->pairs && word == word_sign(OVS_HALF, WORD_CLAIMED, value))
        snprintf(line, bytes, "claimed by %" PRIx64, value);
    else if (ovs_is_key_in(v, word))
        snprintf(line, bytes, "%" PRIx64 " value %" PRIx64, ovs_key_in(v, word), value);
    else
        snprintf(line, bytes, "no word of a table: %" PRIx64, word);
}

/* "word 1" is the near part of extent 1, "far 1" its far part, "digest 1" its digests; "row" is the directory,
 * "copies" the sets of copies. */
bool ovs_fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes)
{
    const ovs_view *v = ovs_fixture_view(s);
    bool far = strncmp(region, "far ", 4) == 0, digest = strncmp(region, "digest ", 7) == 0,
         row = strcmp(region, "row") == 0, copies = strcmp(region, "copies") == 0;
    uint64_t of_words = at / sizeof(uint64_t);
    if (row) snprintf(text, bytes, "row %" PRIu64 " of the directory", of_words);
    if (copies)
        snprintf(text, bytes, "set %" PRIu64 " of copies, place %" PRIu64, of_words / OVS_COPIES,
                 of_words % OVS_COPIES);
    if (row || copies) return true;
    if (!far && !digest && strncmp(region, "word ", 5) != 0) return false;
    uint32_t k = (uint32_t)strtoul(strchr(region, ' '), NULL, 10);
    uint64_t first = ovs_extent_first(v, k), word = at / (digest ? OVS_DIGEST : sizeof(uint64_t));
    if (far && first < v->near_most) first = v->near_most;
    uint64_t bucket = word / OVS_LINE_WORDS + first * ovs_lines(v), in = word % OVS_LINE_WORDS;
    const char *part = !v->pairs ? "" : in < OVS_PAIRS ? "key in " : "value in ";
    snprintf(text, bytes, "%sbucket %" PRIu64 ", slot %" PRIu64 "%s", part, bucket, v->pairs ? in % OVS_PAIRS : in,
             digest ? ", digest" : "");
    return true;
}

/* ---- How the reference looks for a key ------------------------------------------------------- */

/* True: the search is over. */
static bool tell_bucket(const ovs_view *v, uint64_t b, uint64_t key, judge_steps *to)
{
    judge_step *step = judge_steps_add(to, "searches");
    uint64_t first = b << ovs_slot_bits(v), end = first + ovs_slots(v), e = first;
    while (e < end && ovs_key_in(v, *ovs_at(v, e)) != key) e++;
    judge_step_at(step, "bucket %" PRIu64, b);
    step->look = first;
    step->looks = ovs_slots(v);
    if (e < end)
        judge_step_note(step, "Slot %" PRIu32 " has the key.", ovs_slot_in(v, e));
    else if (ovs_is_open(v, b))
        judge_step_note(step,
                        "The key is not here. A slot is fresh: no key went past this bucket, so the search ends.");
    else
        judge_step_note(step, "The key is not here; %" PRIu64 " of %" PRIu32 " slots are vacant, none is fresh.",
                        ovs_free_slots(v, b), ovs_slots(v));
    return e < end || ovs_is_open(v, b);
}

void ovs_fixture_tell(const fixture *s, uint64_t i, const void *before, judge_steps *to)
{
    const ovs_view *v = ovs_view_in(before);
    const hd_batch *b = &s->part[0].batch;
    uint64_t key = b->key[i], h = ovs_hash(v, key);
    uint32_t flag = b->flag ? b->flag[i] : (uint32_t)HD_EITHER, k = 0;
    if (key >= word_keys(ovs_half(v)) || hd_flag_is_none(judge_item_op(b, i), flag)) {
        judge_step_note(judge_steps_add(to, "ends"), "No table holds this key, or the flag is none.");
        return;
    }
    judge_step *step = judge_steps_add(to, "hashes");
    judge_step_at(step, "key");
    judge_step_note(step,
                    "Key %" PRIx64 " belongs to segment %" PRIu64 ", whose buckets are %s. Its way begins at bucket "
                    "%" PRIu64 ".",
                    key, ovs_segment_of(v, h), ovs_is_near(v, ovs_segment_of(v, h)) ? "near" : "far",
                    ovs_way_bucket(v, h, 0));
    while (k < ovs_way(v) && !tell_bucket(v, ovs_way_bucket(v, h, k), key, to)) k++;
}
