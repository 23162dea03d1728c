/* SPDX-License-Identifier: Apache-2.0
 *
 * entries.c - reads and describes the entries of a Hive table. A key may be in any of its buckets. The stash's buckets
 * are numbered after the others.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/hive/fixture.h"

static const hive_view *view_of(const void *table) { return &((const hive_fixture_table *)table)->state.v; }

uint64_t hive_fixture_buckets(const void *table)
{
    return hive_buckets(view_of(table)) + view_of(table)->stash_buckets;
}
uint64_t hive_fixture_first(const void *table, uint64_t b) { return b * view_of(table)->slots; }

uint64_t hive_fixture_places(const fixture *s)
{
    const hive_view *v = hive_fixture_view(s);
    return ((v->base << (HIVE_SCENE_SEGMENTS - 1)) + v->stash_buckets) * v->slots;
}

uint64_t hive_fixture_key_at(const void *table, uint64_t e)
{
    const hive_view *v = view_of(table);
    uint64_t word = hive_read(v, e);
    return hive_is_free(v, word) ? HD_KEY_EMPTY : hive_is_key(v, word) ? hive_key_of(v, word) : HD_KEY_LOCKED;
}

uint8_t *hive_fixture_value_at(const void *table, uint64_t e) { return (uint8_t *)hive_value_at(view_of(table), e); }

uint32_t hive_fixture_candidates(const void *table, uint64_t key, uint64_t *bucket)
{
    const hive_view *v = view_of(table);
    for (uint32_t i = 0; i < v->hashes; i++) bucket[i] = hive_candidate(v, hive_hash(v, key), i);
    return v->hashes;
}

const char *hive_fixture_differs(const void *one, const void *other, uint64_t e)
{
    const hive_view *v = view_of(one), *w = view_of(other);
    uint64_t word = hive_read(v, e), there = hive_find(w, hive_key_of(v, word));
    if (there == HIVE_NOWHERE) return "is not in";
    return hive_read(w, there) == word ? NULL : "has another value than in";
}

void hive_fixture_describe(const void *table, uint64_t e, char *line, size_t bytes)
{
    const hive_view *v = view_of(table);
    uint64_t word = hive_read(v, e), key = hive_key_of(v, word), value = hive_value_of(v, word);
    if (word == hive_fresh(v))
        snprintf(line, bytes, "fresh");
    else if (word == hive_vacant(v))
        snprintf(line, bytes, "vacant");
    else if (hive_is_key(v, word))
        snprintf(line, bytes, "%" PRIx64 " value %" PRIx64, key, value);
    else if (word == hive_sign(v, HIVE_CLAIMED, value))
        snprintf(line, bytes, "claimed by %" PRIx64, value);
    else if (word == hive_sign(v, HIVE_LEAVING, value))
        snprintf(line, bytes, "leaving %" PRIx64, value);
    else
        snprintf(line, bytes, "no word of a table: %" PRIx64, word);
}

const char *hive_fixture_bucket_name(const void *table, uint64_t b, char *text, size_t bytes)
{
    uint64_t buckets = hive_buckets(view_of(table));
    snprintf(text, bytes, "%sbucket %" PRIu64, b < buckets ? "" : "stash ", b < buckets ? b : b - buckets);
    return text;
}

/* "word 1" is a region of segment 1; first: the number of the segment's first bucket. */
bool hive_fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes)
{
    const hive_view *v = hive_fixture_view(s);
    bool stash = strncmp(region, "stash ", 6) == 0;
    const char *kind = stash ? region + 6 : region, *of = stash ? "stash " : "";
    bool words = strncmp(kind, "word", 4) == 0;
    if (!words && strncmp(kind, "mask", 4) != 0 && strncmp(kind, "lock", 4) != 0) return false;
    uint64_t first = kind[4] == ' ' ? v->base << (kind[5] - '1') : 0;
    if (words) {
        uint64_t slot = at / hive_word_bytes(v);
        snprintf(text, bytes, "%sbucket %" PRIu64 ", slot %" PRIu64, of, first + slot / v->slots, slot % v->slots);
    } else {
        snprintf(text, bytes, "%.4s of %sbucket %" PRIu64, kind, of, first + at / 4);
    }
    return true;
}
