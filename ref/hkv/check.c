/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - every invariant of layout.h, by number, for a table at rest.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ref/hkv/hkv.h"

typedef struct finding {
    char *why;
    size_t bytes;
    uint64_t b;
    uint32_t s;
} finding;

static bool wrong(const finding *f, const char *sentence)
{
    snprintf(f->why, f->bytes, "%s (bucket %" PRIu64 ", slot %" PRIu32 ")", sentence, f->b, f->s);
    return true;
}

/* True when entry e breaks an invariant, which is then in *f. */
static bool entry_wrong(const hkv_view *v, uint64_t e, const finding *f)
{
    uint64_t key = *hkv_key_at(v, e);
    bool pinned = v->holder && v->holder[e];
    if (v->bound && !pinned && v->bound[e / HKV_BOUNDED] > *hkv_score_at(v, e))
        return wrong(f, "HKV-8: a lower bound is above a score");
    if (key == HD_KEY_EMPTY) {
        if (pinned) return wrong(f, "HKV-6: an empty slot has a holder");
        if (v->digest[e] != HKV_NO_DIGEST) return wrong(f, "HKV-1: an empty slot has a digest");
        if (*hkv_score_at(v, e) != 0) return wrong(f, "HKV-7: an empty slot has a score");
        return false;
    }
    if (v->digest[e] == HKV_NO_DIGEST) return wrong(f, "HKV-1: a key has no digest");
    if (key == HD_KEY_LOCKED) return wrong(f, "HKV-5: a slot is locked at rest");
    if (key == HD_KEY_RESERVED) return wrong(f, "HKV-5: a reserved key is stored");

    uint64_t h = hd_hash(key, v->seed);
    if (v->digest[e] != hd_digest(h)) return wrong(f, "HKV-2: the digest is not the key's");
    bool home = f->b == hd_first_bucket(h, v->buckets) || (v->dual && f->b == hd_second_bucket(h, v->buckets));
    if (!home) return wrong(f, "HKV-3: the key is in none of its buckets");
    /* Candidates are searched in one order, so a second copy is one that a search does not reach first. */
    if (hkv_find(v, key) != e) return wrong(f, "HKV-4: the key is in two slots");
    return false;
}

static void check_pins(const hkv_view *v, char *why, size_t bytes)
{
    uint64_t seen = 0;
    for (uint64_t e = 0; v->holder && e < hkv_capacity(v); e++) seen += v->holder[e] != 0;
    if (seen != v->pins)
        snprintf(why, bytes, "HKV-6: %" PRIu64 " entries are pinned, %" PRIu64 " are counted", seen, v->pins);
}

void hkv_check(const hkv_view *v, char *why, size_t bytes)
{
    finding f = { why, bytes, 0, 0 };
    why[0] = 0;
    for (f.b = 0; f.b < v->buckets; f.b++)
        for (f.s = 0; f.s < v->slots; f.s++)
            if (entry_wrong(v, hkv_entry(v, f.b, f.s), &f)) return;
    check_pins(v, why, bytes);
}
