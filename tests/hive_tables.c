/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_tables.c - see hive_tables.h.
 */
#include "tests/hive_tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- Tables ---------------------------------------------------------------------------------- */

hive_shape hive_shape_at(uint64_t i, uint64_t buckets)
{
    static const uint32_t slots[] = { 8, 16, 32 };
    uint32_t n = slots[i % 3], spare[] = { HD_SPARE_USUAL, 0, n / 2 - 1 };
    static const char *const named[2][2] = { { "bithash1,bithash2", "bithash1,bithash2,city32" },
                                             { "crc32,murmur3", "city64,crc32c,crc64" } };
    uint64_t hashes = 2 + i / 6 % 2, by_name = i % 7;
    hive_shape s = { buckets,
                     n,
                     i / 3 % 2 ? 2 : 4,
                     (uint32_t)hashes,
                     i / 12 % 2 ? HD_LAYOUT_MASKS : HD_LAYOUT_WORDS,
                     i * i,
                     spare[i / 3 % 3],
                     by_name == 3 || by_name == 4 ? named[by_name - 3][hashes - 2] : NULL };
    return s;
}

hd_config hive_config(const hive_shape *s)
{
    hd_config c =
        test_usual(.design = "hive", .capacity = s->buckets * s->slots, .slots = s->slots,
                   .value_bytes = s->value_bytes, .hive.hashes = s->hashes, .layout = s->layout, .seed = s->seed);
    c.hive.spare = s->spare; /* also 0, which is not the usual number */
    if (s->hash) must(hd_config_set(&c, "hash", s->hash));
    return c;
}

hd_table *hive_table(const hive_shape *s, const hd_seams *seams)
{
    hd_config c = hive_config(s);
    hd_table *t;
    c.seams = seams;
    must(hd_open(&c, &t));
    test_case("hive buckets=%llu slots=%u value=%u hashes=%u spare=%u hash=%s layout=%s seed=%llu", (ull)s->buckets,
              s->slots, s->value_bytes, s->hashes, hive_view_in(t)->spare, s->hash ? s->hash : HD_HASH_USUAL,
              s->layout == HD_LAYOUT_MASKS ? "masks" : "words", (ull)s->seed);
    return t;
}

hive_view *hive_view_in(hd_table *t) { return hive_view_of(t->state); }

/* ---- Images ---------------------------------------------------------------------------------- */

static uint32_t *word_of(const hive_view *v, uint64_t b, bool lock)
{
    uint64_t at;
    const hive_segment *g = hive_segment_of(v, b, &at);
    return !g->mask ? NULL : lock ? &g->lock[at] : &g->mask[at];
}

void hive_image_take(hive_image *m, const hive_view *v)
{
    m->places = hive_places(v);
    m->buckets = hive_buckets(v) + v->stash_buckets;
    m->stashed = v->stashed;
    m->word = (uint64_t *)test_alloc(m->places, sizeof *m->word);
    m->mask = (uint32_t *)test_alloc(m->buckets, sizeof *m->mask);
    m->lock = (uint32_t *)test_alloc(m->buckets, sizeof *m->lock);
    for (uint64_t e = 0; e < m->places; e++) m->word[e] = hive_read(v, e);
    for (uint64_t b = 0; b < m->buckets && v->masks; b++) {
        m->mask[b] = *word_of(v, b, false);
        m->lock[b] = *word_of(v, b, true);
    }
}

void hive_image_give(hive_image *m)
{
    free(m->word);
    free(m->mask);
    free(m->lock);
}

bool hive_image_is(const hive_image *m, const hive_view *v)
{
    bool same = m->places == hive_places(v) && m->stashed == v->stashed;
    for (uint64_t e = 0; same && e < m->places; e++) same = m->word[e] == hive_read(v, e);
    for (uint64_t b = 0; same && b < m->buckets && v->masks; b++)
        same = m->mask[b] == *word_of(v, b, false) && m->lock[b] == *word_of(v, b, true);
    return same;
}

void hive_image_back(const hive_image *m, hive_view *v)
{
    for (uint64_t e = 0; e < m->places; e++) hive_write(v, e, m->word[e]);
    for (uint64_t b = 0; b < m->buckets && v->masks; b++) {
        *word_of(v, b, false) = m->mask[b];
        *word_of(v, b, true) = m->lock[b];
    }
    v->stashed = m->stashed;
}

/* ---- The map --------------------------------------------------------------------------------- */

void hive_map_open(hive_map *m, uint64_t keys)
{
    m->keys = keys;
    m->n = 0;
    m->value = (uint64_t *)test_alloc(keys, sizeof *m->value);
    m->there = (bool *)test_alloc(keys, sizeof *m->there);
}

void hive_map_close(hive_map *m)
{
    free(m->value);
    free(m->there);
}

hd_outcome hive_map_apply(hive_map *m, const hive_item *it, uint32_t value_bytes, hd_outcome said, uint64_t *value)
{
    uint64_t k = it->key, whole = UINT64_MAX >> (64 - 8 * value_bytes);
    bool adds = it->op == HD_OP_ACCUM_OR_ASSIGN,
         inserts = adds ? it->flag != HD_ADD : it->op == HD_OP_INSERT_OR_ASSIGN || it->op == HD_OP_FIND_OR_INSERT;
    if (k >= whole + 1 - 3) return HD_RESERVED;
    check(k < m->keys, "the map has no place for key %llu", (ull)k);
    if (!m->there[k]) {
        if (!inserts) return HD_MISS;
        if (said == HD_PENDING) return HD_PENDING;
        m->there[k] = true;
        m->n++;
        m->value[k] = it->value & whole;
        return HD_INSERTED;
    }
    *value = m->value[k];
    if (adds && it->flag == HD_ASSIGN_NEW) return HD_HIT;
    if (adds) m->value[k] = (m->value[k] + it->value) & whole;
    switch ((int)it->op) {
    case HD_OP_ERASE: return m->there[k] = false, m->n--, HD_ERASED;
    case HD_OP_ACCUM_OR_ASSIGN: return HD_UPDATED;
    case HD_OP_ASSIGN:
    case HD_OP_ASSIGN_VALUES:
    case HD_OP_INSERT_OR_ASSIGN: return m->value[k] = it->value & whole, HD_UPDATED;
    default: return HD_HIT;
    }
}

typedef struct comparing {
    const hive_map *m;
    uint64_t n, whole;
    uint32_t value_bytes;
} comparing;

static int compare_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    comparing *c = (comparing *)context;
    uint64_t got = 0;
    memcpy(&got, value, c->value_bytes);
    check(key < c->m->keys && c->m->there[key], "key %llu is in the table and not in the map", (ull)key);
    check(got == c->m->value[key], "key %llu has value %llu instead of %llu", (ull)key, (ull)got,
          (ull)c->m->value[key]);
    check(score == 0, "key %llu has a score", (ull)key);
    c->n++;
    return 0;
}

void hive_map_compare(const hive_map *m, hd_table *t)
{
    hd_info info;
    uint64_t size;
    must(hd_check(t));
    must(hd_table_info(t, &info));
    must(hd_size_sync(t, &size));
    comparing c = { m, 0, 0, info.value_bytes };
    must(hd_for_each(t, compare_entry, &c)); /* no key twice: HIVE-1 */
    check(c.n == m->n && size == m->n, "the table has %llu entries and says %llu, the map %llu", (ull)c.n, (ull)size,
          (ull)m->n);
}
