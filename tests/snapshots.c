/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshots.c - see snapshots.h.
 */
#include "tests/snapshots.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

hd_config shape_config(const snapshot_shape *s)
{
    hd_config c = test_usual(.backend = test_backend("ref"), .policy = s->policy, .capacity = s->buckets * s->slots,
                             .slots = s->slots, .value_bytes = s->value_bytes, .hkv.dual = s->dual,
                             .hkv.admit = s->admit, .seed = s->seed);
    c.hkv.tiers = s->seed % 4 == 1 ? HD_TIERS_POSITION : HD_TIERS_BUCKET; /* a file does not say */
    c.hkv.device_value_bytes = s->seed % 2 ? c.capacity * s->value_bytes / 3 : 0;
    c.hkv.pins = 16;
    c.threads = 1; /* children are forked */
    return c;
}

hd_table *shape_open(const snapshot_shape *s)
{
    hd_config c = shape_config(s);
    hd_table *t;
    test_case("snapshot policy=%s buckets=%llu slots=%u value_bytes=%u%s admit=%d", s->policy, (ull)s->buckets,
              s->slots, s->value_bytes, s->dual ? " dual" : "", s->admit);
    must(hd_open(&c, &t));
    return t;
}

static void upsert(hd_table *t, uint64_t n, uint64_t seed, hd_status (*run)(hd_table *t, hd_batch *b))
{
    hd_info info;
    must(hd_table_info(t, &info));
    uint64_t random = seed, *key = (uint64_t *)test_alloc(n, 8), *score = (uint64_t *)test_alloc(n, 8);
    uint8_t *value = (uint8_t *)test_alloc(n, info.value_bytes);
    for (uint64_t i = 0; i < n; i++) {
        key[i] = test_below(&random, 2 * n);
        score[i] = test_random(&random) >> 33; /* so few bits that no policy cuts them */
        value_make(value + i * info.value_bytes, info.value_bytes, key[i], i + seed);
    }
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = n, .key = key, .value = value, .score = score };
    must(run(t, &b));
    free(key);
    free(score);
    free(value);
}

void feed(hd_table *t, uint64_t n, uint64_t seed) { upsert(t, n, seed, hd_run); }
void feed_in_order(hd_table *t, uint64_t n, uint64_t seed) { upsert(t, n, seed, test_in_order); }

void same_table(hd_table *a, hd_table *b)
{
    model_contents x, y;
    contents_take(&x, a);
    contents_take(&y, b);
    check(contents_equal(&x, &y, true), "%llu entries at clock %llu; loaded %llu at clock %llu", (ull)x.n, (ull)x.now,
          (ull)y.n, (ull)y.now);
    contents_give(&x);
    contents_give(&y);
    must(hd_check(b));
}

uint64_t snapshot_number(const uint8_t *p, int bytes)
{
    uint64_t v = 0;
    while (bytes--) v = v << 8 | p[bytes];
    return v;
}

void snapshot_sum(uint8_t *sum, const uint8_t *p, size_t bytes)
{
    XXH128_hash_t h = XXH3_128bits(p, bytes);
    for (int i = 0; i < 8; i++) {
        sum[i] = (uint8_t)(h.high64 >> (56 - 8 * i));
        sum[8 + i] = (uint8_t)(h.low64 >> (56 - 8 * i));
    }
}

bool snapshot_sum_is(const uint8_t *sum, const uint8_t *p, size_t bytes)
{
    uint8_t want[16];
    snapshot_sum(want, p, bytes);
    return !memcmp(sum, want, 16);
}

void snapshot_sections(const uint8_t *p, size_t bytes, size_t at[5])
{
    at[0] = (size_t)snapshot_number(p + 12, 4); /* header bytes: with the policy's, if it has expressions */
    for (int i = 0; i < 4; i++) {
        check(at[i] + 32 <= bytes, "section %d is beyond the end", i);
        at[i + 1] = at[i] + 32 + (size_t)snapshot_number(p + at[i] + 8, 8);
    }
    check(at[4] == bytes, "the sections end at byte %zu of %zu", at[4], bytes);
}
