/* SPDX-License-Identifier: Apache-2.0
 *
 * entries.c - reads and describes the entries of an HKV table. A key may be in any slot of its bucket.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/hkv/fixture.h"
#include "ref/hkv/hkv.h"

static const hkv_view *view_of(const void *table) { return &((const hkv_state *)table)->v; }

uint64_t hkv_fixture_buckets(const void *table) { return view_of(table)->buckets; }
uint64_t hkv_fixture_first(const void *table, uint64_t b) { return hkv_entry(view_of(table), b, 0); }
uint64_t hkv_fixture_key_at(const void *table, uint64_t e) { return *hkv_key_at(view_of(table), e); }
uint8_t *hkv_fixture_value_at(const void *table, uint64_t e) { return hkv_value(view_of(table), e); }

uint32_t hkv_fixture_candidates(const void *table, uint64_t key, uint64_t *bucket)
{
    const hkv_home home = hkv_home_of(view_of(table), key);
    uint32_t n = hkv_homes(view_of(table));
    memcpy(bucket, home.bucket, n * sizeof *bucket);
    return n;
}

const char *hkv_fixture_differs(const void *one, const void *other, uint64_t e)
{
    const hkv_view *v = view_of(one), *w = view_of(other);
    uint64_t there = hkv_find(w, *hkv_key_at(v, e));
    if (there == HKV_NOWHERE || there / w->slots != e / v->slots) return "is not in this bucket of";
    if (*hkv_score_at(w, there) != *hkv_score_at(v, e)) return "has another score than in";
    return v->value_bytes && memcmp(hkv_value(v, e), hkv_value(w, there), v->value_bytes) != 0
               ? "has another value than in"
               : NULL;
}

void hkv_fixture_describe(const void *table, uint64_t e, char *line, size_t bytes)
{
    const hkv_view *v = view_of(table);
    uint64_t key = *hkv_key_at(v, e), value = 0;
    if (v->value_bytes) memcpy(&value, hkv_value(v, e), v->value_bytes < 8 ? v->value_bytes : 8);
    if (key == HD_KEY_EMPTY)
        snprintf(line, bytes, "-");
    else if (key == HD_KEY_LOCKED || key == HKV_KEY_REPLACED)
        snprintf(line, bytes, "locked");
    else
        snprintf(line, bytes, "%" PRIx64 " score %" PRIu64 " value %" PRIx64, key, *hkv_score_at(v, e), value);
}

/* The bytes of one element of a region, and what the element belongs to. A pair is a key and its score. */
enum { OF_SLOT, OF_HALF_SLOT, OF_SLOTS, OF_ITEM, OF_BUCKET };
typedef struct known {
    const char *region, *name;
    uint32_t bytes; /* 0: of a value */
    int of;
} known;

/* clang-format off */
static const known regions[] = {
    { "pair", "key", 8, OF_HALF_SLOT }, { "bound", "least score", 8, OF_SLOTS }, { "digest", "digest", 1, OF_SLOT },
    { "key", "key", 8, OF_SLOT }, { "score", "score", 8, OF_SLOT }, { "value", "value", 0, OF_SLOT },
    { "bucket locks", "lock", 4, OF_BUCKET }, { "stage_flag", "list flag", 1, OF_ITEM },
    { "stage_key", "listed key", 8, OF_ITEM }, { "stage_score", "listed score", 8, OF_ITEM },
    { "stage_value", "listed value", 0, OF_ITEM }
};
/* clang-format on */

bool hkv_fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        const known *r = &regions[i];
        if (strcmp(r->region, region) != 0) continue;
        uint64_t k = at / (r->bytes         ? r->bytes
                           : s->value_bytes ? s->value_bytes
                                            : 1),
                 slots = hkv_fixture_view(s)->slots;
        uint64_t slot = r->of == OF_HALF_SLOT ? k / 2 : r->of == OF_SLOTS ? k * HKV_BOUNDED : k;
        switch (r->of) {
        case OF_SLOT:
        case OF_HALF_SLOT:
            snprintf(text, bytes, "%s in bucket %" PRIu64 ", slot %" PRIu64,
                     r->of == OF_HALF_SLOT && k % 2 ? "score" : r->name, slot / slots, slot % slots);
            break;
        case OF_SLOTS:
            snprintf(text, bytes, "%s in bucket %" PRIu64 ", from slot %" PRIu64, r->name, slot / slots, slot % slots);
            break;
        default: snprintf(text, bytes, "%s of %s %" PRIu64, r->name, r->of == OF_ITEM ? "item" : "bucket", k);
        }
        return true;
    }
    return false;
}
