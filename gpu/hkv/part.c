/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c - a range of buckets of a table on a device, copied to host memory: hd_gpu.part_bytes and what follows it. A
 * part has these planes one after another, slot by slot, from the first bucket on:
 *
 *     digests   1 byte
 *     keys      8 bytes, or 16 with the score (layout pairs)
 *     scores    8 bytes (layout planes)
 *     values    value_bytes, of the near values. Far values are in host memory already, and are used there
 */
#include <string.h>

#include "gpu/hkv/state.h"
#include "gpu/hkv/part.h"
#include "ref/hkv/hkv.h"

enum { ALIGN = 256 };

/* Where the planes of a part are, and which entries and near values of the table it has. */
typedef struct part {
    uint8_t *digest;
    uint64_t *key, *score; /* of slot i at i * step */
    uint8_t *value;
    uint64_t first, end;     /* entries */
    uint64_t near, near_end; /* near values: the first one, and the one behind the last */
} part;

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

/* The near values before an entry that begins a bucket, or ends the last one. */
static uint64_t near_before(const hkv_view *v, uint64_t e)
{
    if (!v->far) return e;
    if (v->striped) return hkv_near_before(v, e / v->slots);
    return e < v->near ? e : v->near;
}

static uint64_t part_bytes(const void *state, uint64_t buckets)
{
    const hkv_view *v = &((const hkv_state *)state)->v;
    uint64_t entries = buckets * v->slots;
    return aligned(entries) + aligned(entries * 8) * 2 + aligned(entries * v->value_bytes);
}

static part part_of(const hkv_state *o, const hd_part *p)
{
    const hkv_view *v = &o->v;
    uint64_t entries = p->buckets * v->slots, first = p->first * v->slots, words = aligned(entries * 8);
    uint8_t *digest = (uint8_t *)p->memory, *key = digest + aligned(entries);
    HD_ASSERT(p->first <= v->buckets && p->buckets <= v->buckets - p->first, "a part is within its table");
    part x;
    x.digest = digest;
    x.key = (uint64_t *)(void *)key;
    x.score = v->step == 2 ? x.key + 1 : (uint64_t *)(void *)(key + words);
    x.value = key + 2 * words;
    x.first = first;
    x.end = first + entries;
    x.near = near_before(v, x.first);
    x.near_end = near_before(v, x.end);
    return x;
}

static int part_planes(const void *state, const hd_part *p, hd_plane *all)
{
    const hkv_state *o = (const hkv_state *)state;
    const part x = part_of(o, p);
    const hkv_view *v = &o->v;
    uint64_t entries = x.end - x.first, pair = 8 * (uint64_t)v->step;
    bool values = p->what & HD_PART_VALUES, keys = p->what & HD_PART_KEYS, scores = p->what & HD_PART_SCORES;
    if (v->step == 2) keys = keys || scores;
    const hd_plane every[] = {
        { "digests", v->digest + x.first, x.digest, entries },
        { "keys", v->key + x.first * v->step, x.key, keys ? entries * pair : 0 },
        { "scores", v->step == 1 ? v->score + x.first : NULL, x.score, scores && v->step == 1 ? entries * 8 : 0 },
        { "values", v->value + x.near * v->value_bytes, x.value, values ? (x.near_end - x.near) * v->value_bytes : 0 },
    };
    memcpy(all, every, sizeof every);
    return sizeof every / sizeof *every;
}

/* The value of entry e of the table. */
static uint8_t *value_of(const hkv_state *o, const part *x, uint64_t e)
{
    const hkv_view *v = &o->v;
    uint64_t at = e;
    if (v->far && !hkv_is_near(v, e)) return hkv_value(v, e);
    if (v->far && v->striped) {
        uint64_t bucket = e / v->slots;
        at = hkv_near_before(v, bucket) + e % v->slots;
    }
    HD_ASSERT(at >= x->near && at < x->near_end, "a value is of another part");
    return x->value + (at - x->near) * v->value_bytes;
}

static size_t part_next(const void *state, const hd_part *p, hd_entry *e, size_t most)
{
    const hkv_state *o = (const hkv_state *)state;
    const part x = part_of(o, p);
    bool keys = p->what & HD_PART_KEYS, scores = p->what & HD_PART_SCORES, values = p->what & HD_PART_VALUES;
    size_t n = 0;
    uint64_t at = e->slot;
    for (; at < x.end && n < most; at++) {
        uint64_t i = at - x.first, step = o->v.step;
        if (x.digest[i] == HKV_NO_DIGEST) continue;
        e[n++] = (hd_entry){ at, keys ? x.key[i * step] : 0, scores ? x.score[i * step] : 0,
                             values ? value_of(o, &x, at) : NULL };
    }
    if (n == 0) e->slot = at;
    return n;
}

static void part_clear(const void *state, const hd_part *p)
{
    const hkv_state *o = (const hkv_state *)state;
    const part x = part_of(o, p);
    uint64_t step = o->v.step;
    memset(p->memory, 0, (size_t)part_bytes(state, p->buckets));
    for (uint64_t i = 0; i < x.end - x.first; i++) x.key[i * step] = HD_KEY_EMPTY;
}

static bool part_put_at(const void *state, const hd_part *p, const hd_entry *e)
{
    const hkv_state *o = (const hkv_state *)state;
    const hkv_view *v = &o->v;
    const part x = part_of(o, p);
    uint64_t h = hd_hash(e->key, v->seed), i = e->slot - x.first, step = v->step;
    HD_ASSERT(e->slot >= x.first && e->slot < x.end, "an entry is of another part");
    if (e->key >= HD_KEY_RESERVED || !hkv_is_home(v, h, e->slot / v->slots)) return false;
    x.digest[i] = hd_digest(h);
    x.key[i * step] = e->key;
    x.score[i * step] = e->score;
    if (v->value_bytes) memcpy(value_of(o, &x, e->slot), e->value, v->value_bytes);
    return true;
}

const hd_gpu_parts hkv_parts = { part_bytes, part_planes, part_next, part_put_at, part_clear, NULL, NULL, NULL };
