/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - every invariant of layout.h, by number, for a table at rest.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ref/hive/hive.h"

/* What is wrong with slot e; NULL: nothing. */
static const char *slot_wrong(const hive_view *v, uint64_t e)
{
    uint64_t word = hive_read(v, e), key = hive_key_of(v, word), b = e / v->slots;
    if (word == hive_fresh(v) || word == hive_vacant(v)) return NULL;
    if (hive_is_free(v, word)) return "HIVE-3: a free slot says neither fresh nor vacant";
    if (!hive_is_key(v, word)) return "HIVE-3: a slot is claimed, or its key leaving, at rest";
    uint64_t h = hive_hash(v, key);
    bool candidate = b >= hive_buckets(v);
    for (uint32_t i = 0; i < v->hashes && !candidate; i++) candidate = hive_candidate(v, h, i) == b;
    if (!candidate) return "HIVE-2: the key is in none of its buckets";
    uint64_t found = hive_find(v, key);
    if (found == HIVE_NOWHERE) return "HIVE-4: the key is behind a bucket that is open";
    return found == e ? NULL : "HIVE-1: the key is in two slots";
}

static const char *bucket_wrong(const hive_view *v, uint64_t b)
{
    uint64_t at;
    const hive_segment *g = hive_segment_of(v, b, &at);
    if (g->lock && g->lock[at]) return "HIVE-3: the bucket is locked at rest";
    for (uint32_t s = 0; g->mask && s < 32; s++) {
        bool is_free = s < v->slots && hive_is_free(v, hive_read(v, b * v->slots + s));
        if ((g->mask[at] >> s & 1) != is_free) return "HIVE-5: the mask and a slot say different things";
    }
    return NULL;
}

void hive_check(const hive_view *v, char *why, size_t bytes)
{
    uint64_t stashed = 0, slots = v->slots;
    why[0] = 0;
    for (uint64_t e = 0; e < hive_places(v); e++) {
        const char *wrong = e % slots ? NULL : bucket_wrong(v, e / slots);
        if (!wrong) wrong = slot_wrong(v, e);
        stashed += e >= hive_capacity(v) && hive_is_key(v, hive_read(v, e));
        if (!wrong) continue;
        snprintf(why, bytes, "%s (%s %" PRIu64 ", slot %" PRIu64 ")", wrong,
                 e < hive_capacity(v) ? "bucket" : "stash bucket",
                 e < hive_capacity(v) ? e / slots : e / slots - hive_buckets(v), e % slots);
        return;
    }
    if (stashed != v->stashed)
        snprintf(why, bytes, "HIVE-6: the stash has %" PRIu64 " entries, and %" PRIu64 " are counted", stashed,
                 v->stashed);
    else if (stashed > hive_stash_limit(v))
        snprintf(why, bytes, "HIVE-6: the stash has %" PRIu64 " entries, and takes %" PRIu64, stashed,
                 hive_stash_limit(v));
}
