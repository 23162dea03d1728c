/* SPDX-License-Identifier: Apache-2.0
 *
 * draw.c - two tables of one shape: where they differ, and a drawing of that. Buckets are sets: which slot an entry lies in is
 * nobody's business but the table's own.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "judge/scene.h"
#include "ref/hkv.h"

uint64_t scene_entries(const hkv_view *v, uint64_t b)
{
    uint64_t n = 0;
    for (uint32_t s = 0; s < v->slots; s++) n += *hkv_key_at(v, hkv_entry(v, b, s)) < HD_KEY_RESERVED;
    return n;
}

const char *scene_entry_differs(const hkv_view *v, const hkv_view *w, uint64_t e)
{
    uint64_t there = hkv_find(w, *hkv_key_at(v, e));
    if (there == HKV_NOWHERE || there / w->slots != e / v->slots) return "is not in this bucket of";
    if (*hkv_score_at(w, there) != *hkv_score_at(v, e)) return "has another score than in";
    return v->value_bytes && memcmp(hkv_value(v, e), hkv_value(w, there), v->value_bytes) != 0 ? "has another value than in" : NULL;
}

bool scene_bucket_differs(const hkv_view *v, const hkv_view *w, uint64_t b)
{
    if (scene_entries(v, b) != scene_entries(w, b)) return true;
    for (uint32_t s = 0; s < v->slots; s++) {
        uint64_t key = *hkv_key_at(v, hkv_entry(v, b, s));
        if (key == HD_KEY_EMPTY) continue;
        if (key >= HD_KEY_RESERVED || scene_entry_differs(v, w, hkv_entry(v, b, s))) return true;
    }
    return false;
}

typedef struct page {
    char *text;
    size_t used, bytes;
} page;

static void put(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(page *p, const char *format, ...)
{
    va_list ap;
    bool room = p->used < p->bytes;
    va_start(ap, format);
    int n = vsnprintf(room ? p->text + p->used : NULL, room ? p->bytes - p->used : 0, format, ap);
    va_end(ap);
    p->used += n > 0 ? (size_t)n : 0;
}

static const char *describe(const hkv_view *v, uint64_t e, char *line, size_t bytes)
{
    uint64_t key = *hkv_key_at(v, e), value = 0;
    if (v->value_bytes) memcpy(&value, hkv_value(v, e), v->value_bytes < 8 ? v->value_bytes : 8);
    if (key == HD_KEY_EMPTY) snprintf(line, bytes, "-");
    else if (key == HD_KEY_LOCKED || key == HKV_KEY_REPLACED) snprintf(line, bytes, "locked");
    else snprintf(line, bytes, "%" PRIx64 " score %" PRIu64 " value %" PRIx64, key, *hkv_score_at(v, e), value);
    return line;
}

size_t scene_draw(const hkv_view *v, const char *v_name, const hkv_view *w, const char *w_name, char *text, size_t bytes)
{
    page p = { text, 0, bytes };
    char left[96], right[96];
    if (bytes) text[0] = 0;
    for (uint64_t b = 0; b < v->buckets; b++) {
        if (!scene_bucket_differs(v, w, b)) continue;
        put(&p, "bucket %" PRIu64 "\n  %4s  %-60s %s\n", b, "slot", v_name, w_name);
        for (uint32_t s = 0; s < v->slots; s++) {
            uint64_t e = hkv_entry(v, b, s);
            bool differs = *hkv_key_at(v, e) != HD_KEY_EMPTY && (*hkv_key_at(v, e) >= HD_KEY_RESERVED || scene_entry_differs(v, w, e));
            put(&p, "%c %4" PRIu32 "  %-60s %s\n", differs ? '>' : ' ', s, describe(v, e, left, sizeof left), describe(w, e, right, sizeof right));
        }
    }
    return p.used;
}
