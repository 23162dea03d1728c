/* SPDX-License-Identifier: Apache-2.0
 *
 * t_grow.c - growth loses no entry, no byte and no pin, even in a completely full dual table whose keys all have the
 * same candidate buckets.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/model.h"

static hd_table *open_table(const char *policy, uint64_t buckets, uint32_t slots, uint32_t value_bytes, bool dual,
                            uint64_t seed)
{
    hd_config c = test_usual(.backend = test_backend("ref"), .policy = policy, .capacity = buckets * slots,
                             .slots = slots, .value_bytes = value_bytes, .hkv.dual = dual, .seed = seed,
                             .hkv.tiers = seed % 2 ? HD_TIERS_POSITION : HD_TIERS_BUCKET);
    c.hkv.device_value_bytes = dual || slots % 2 ? c.capacity * value_bytes / 2 : 0;
    c.hkv.pins = 64;
    c.threads = 1;
    hd_table *t;
    must(hd_open(&c, &t));
    return t;
}

/* A hash whose two halves are in the same place, whatever the number of buckets; or any hash. */
static uint64_t some_key(uint64_t *random, unsigned twins_percent, uint64_t seed)
{
    uint64_t h = test_random(random);
    if (test_below(random, 100) < twins_percent) h = (h >> 32) * 0x100000001u;
    uint64_t key = model_unhash(h, seed);
    return key < HD_KEY_RESERVED ? key : 1;
}

/* Inserts until the table is full, or nearly so when the keys do not let it. */
static void fill(hd_table *t, uint64_t seed, unsigned twins_percent)
{
    enum { AT_ONCE = 64, VALUE_MOST = 64 };
    uint64_t key[AT_ONCE], random = seed, time = 0;
    uint8_t value[AT_ONCE * VALUE_MOST];
    hd_info info = test_info(t);
    for (uint64_t tries = 0; test_size(t) < info.capacity && tries < 40 * info.capacity; tries += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            key[i] = some_key(&random, twins_percent, info.seed);
            value_make(value + (uint32_t)i * info.value_bytes, info.value_bytes, key[i], time++);
        }
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = AT_ONCE, .key = key, .value = value };
        must(hd_run(t, &b));
    }
}

/* Grows by `times` and verifies that only places changed. */
static void grow_by(hd_table *t, uint64_t times)
{
    model_contents before, after;
    hd_info was = test_info(t), is;
    hd_counters counted, counts;
    contents_take(&before, t);
    must(hd_counters_sync(t, &counted));
    must(hd_grow(t, was.buckets * times));
    contents_take(&after, t);
    must(hd_counters_sync(t, &counts));
    is = test_info(t);
    check(is.buckets == was.buckets * times && is.capacity == is.buckets * is.slots, "%llu buckets, capacity %llu",
          (ull)is.buckets, (ull)is.capacity);
    check(is.now == was.now && is.epoch == was.epoch && is.hkv.pins == was.hkv.pins && is.seed == was.seed,
          "the clock, the epoch, the places for pins or the seed moved");
    check(contents_equal(&before, &after, false), "%llu entries before, %llu after, or another value or score",
          (ull)before.n, (ull)after.n);
    check(!memcmp(counted.outcome, counts.outcome, sizeof counts.outcome), "growing counted outcomes");
    must(hd_check(t));

    model m;
    model_open(&m, t);
    for (uint64_t i = 0; i < after.n; i++) {
        uint64_t b[2], now = after.slot[i] / is.slots, then = before.slot[i] / was.slots;
        unsigned n = model_buckets(&m, after.key[i], b);
        check(now == b[0] || (n == 2 && now == b[1]), "key %llu is in bucket %llu", (ull)after.key[i], (ull)now);
        if (!is.hkv.dual)
            check(now / times == then, "key %llu went from bucket %llu to %llu", (ull)after.key[i], (ull)then,
                  (ull)now);
    }
    uint8_t *fate = (uint8_t *)test_alloc(after.n, 1), *value = (uint8_t *)test_alloc(after.n, is.value_bytes);
    hd_batch find = {
        .op = HD_OP_FIND, .n = after.n, .key = after.key, .value_out = is.value_bytes ? value : NULL, .outcome = fate
    };
    must(hd_run(t, &find));
    for (uint64_t i = 0; i < after.n; i++) check(fate[i] == HD_HIT, "key %llu cannot be found", (ull)after.key[i]);
    check(!memcmp(value, after.value, after.n * is.value_bytes), "find and export differ");
    free(fate);
    free(value);
    model_close(&m);
    contents_give(&before);
    contents_give(&after);
}

/* After growing the table goes on as the model says from where it is. */
static void goes_on(hd_table *t, uint64_t seed)
{
    enum { AT_ONCE = 256, VALUE_MOST = 64 };
    model m;
    uint64_t key[AT_ONCE], gone[AT_ONCE], score[AT_ONCE], count, random = seed, g = 0;
    static uint8_t value[AT_ONCE * VALUE_MOST], gone_value[AT_ONCE * VALUE_MOST];
    uint8_t fate[AT_ONCE];
    model_load(&m, t);
    for (uint64_t i = 0; i < AT_ONCE; i++) {
        key[i] = some_key(&random, 20, m.seed);
        value_make(value + i * m.value_bytes, m.value_bytes, key[i], i);
    }
    hd_batch b = test_batch(HD_OP_INSERT_AND_EVICT, AT_ONCE, key, value, fate);
    test_lists(&b, gone, gone_value, score, NULL, &count);
    must(test_in_order(t, &b));
    for (uint64_t i = 0; i < AT_ONCE; i++, m.now++) {
        bool left = fate[i] == HD_EVICTED || fate[i] == HD_REFUSED;
        model_entry e = { left ? gone[g] : 0, left ? score[g] : 0, gone_value + g * m.value_bytes };
        g += left;
        const char *no = model_upsert(&m, key[i], value + i * m.value_bytes, 1, (hd_outcome)fate[i], &e);
        check(!no, "after growing: %s", no);
    }
    const char *no = model_compare(&m, t);
    check(!no, "after growing: %s", no);
    model_close(&m);
}

static void grow_all(bool dual)
{
    static const uint64_t times[] = { 2, 3, 5, 8 };
    static const struct {
        uint64_t buckets;
        uint32_t slots, value_bytes;
    } shape[] = { { 2, 2, 8 }, { 3, 2, 0 }, { 5, 7, 24 }, { 16, 128, 8 }, { 37, 31, 3 }, { 64, 64, 64 } };
    uint64_t full = 0;
    for (size_t s = 0; s < sizeof shape / sizeof shape[0]; s++)
        for (size_t k = 0; k < sizeof times / sizeof times[0]; k++)
            for (unsigned twins = 0; twins <= 100; twins += 50) {
                test_case("grow x%llu buckets=%llu slots=%u value_bytes=%u%s twins=%u%%", (ull)times[k],
                          (ull)shape[s].buckets, shape[s].slots, shape[s].value_bytes, dual ? " dual" : "", twins);
                hd_table *t =
                    open_table(twins ? "lfu" : "lru", shape[s].buckets, shape[s].slots, shape[s].value_bytes, dual, s);
                fill(t, 100 * s + k, twins);
                full += test_size(t) == test_info(t).capacity;
                grow_by(t, times[k]);
                goes_on(t, s);
                grow_by(t, 2);
                grow_by(t, times[k]);
                grow_by(t, 1);
                hd_close(t);
            }
    test_note("%llu of the tables were completely full", (ull)full);
    check(full, "no table was full");
}

static void single(void) { grow_all(false); }
static void dual(void) { grow_all(true); }

/* The smallest dual tables, full of every mixture of keys: where there is least room to move. */
static void tiny_and_full(void)
{
    uint64_t runs = 0, full = 0, rounds = test_times(1500);
    for (uint64_t buckets = 2; buckets <= 3; buckets++)
        for (uint64_t round = 0; round < rounds; round++) {
            uint64_t times = (const uint64_t[]){ 2, 3, 5, 8 }[round % 4];
            test_case("grow x%llu buckets=%llu slots=2 dual round=%llu", (ull)times, (ull)buckets, (ull)round);
            hd_table *t = open_table("lru", buckets, 2, 8, true, round);
            fill(t, round, (unsigned)(round % 5) * 25);
            full += test_size(t) == test_info(t).capacity;
            grow_by(t, times);
            grow_by(t, 2);
            hd_close(t);
            runs++;
        }
    test_note("%llu tiny tables, %llu of them full", (ull)runs, (ull)full);
    check(full > runs / 2, "only %llu of %llu tables were full", (ull)full, (ull)runs);
}

static void pins_survive(void)
{
    for (int is_dual = 0; is_dual < 2; is_dual++) {
        test_case("grow with pins%s", is_dual ? " dual" : "");
        hd_table *t = open_table("lru", 4, 16, 8, is_dual, 9);
        fill(t, 5, 10);
        model_contents c;
        contents_take(&c, t);
        uint64_t n = c.n < 40 ? c.n : 40;
        uint8_t *fate = (uint8_t *)test_alloc(c.n, 1);
        hd_batch lock = { .op = HD_OP_LOCK_KEYS, .n = n, .key = c.key, .holder = 77, .outcome = fate };
        must(hd_run(t, &lock));
        for (uint64_t i = 0; i < n; i++) check(fate[i] == HD_HIT, "key %llu was not pinned", (ull)c.key[i]);
        grow_by(t, 3);
        hd_batch erase = { .op = HD_OP_ERASE, .n = c.n, .key = c.key, .outcome = fate };
        must(hd_run(t, &erase));
        for (uint64_t i = 0; i < c.n; i++)
            check(fate[i] == (i < n ? HD_PINNED : HD_ERASED), "key %llu, pinned %d: %s", (ull)c.key[i], i < n,
                  hd_outcome_name((hd_outcome)fate[i]));
        hd_batch unlock = { .op = HD_OP_UNLOCK_KEYS, .n = n, .key = c.key, .holder = 77, .outcome = fate };
        must(hd_run(t, &unlock));
        for (uint64_t i = 0; i < n; i++) check(fate[i] == HD_HIT, "key %llu was not unpinned", (ull)c.key[i]);
        must(hd_run(t, &erase));
        check(test_size(t) == 0, "%llu entries are left", (ull)test_size(t));
        must(hd_check(t));
        free(fate);
        contents_give(&c);
        hd_close(t);
    }
}

/* The least multiple that suffices; nothing when it already does. */
static void reserve(void)
{
    hd_table *t = open_table("lru", 3, 10, 8, false, 0);
    static const struct {
        uint64_t capacity, buckets;
    } step[] = { { 0, 3 }, { 1, 3 }, { 30, 3 }, { 31, 6 }, { 60, 6 }, { 61, 12 }, { 500, 60 }, { 7, 60 } };
    for (size_t i = 0; i < sizeof step / sizeof step[0]; i++) {
        test_case("reserve %llu", (ull)step[i].capacity);
        must(hd_reserve(t, step[i].capacity));
        check(test_info(t).buckets == step[i].buckets, "%llu buckets", (ull)test_info(t).buckets);
    }
    hd_close(t);
}

/* A table that can pin nothing, or has no values, grows like any other. */
static void bare(void)
{
    for (int k = 0; k < 4; k++) {
        hd_table *t;
        hd_config c = test_usual(.backend = test_backend("ref"), .hkv.pins = k % 2 ? 0 : 8,
                                 .value_bytes = k / 2 ? 0 : 8, .capacity = 60, .slots = 10);
        test_case("pins=%u value=%u", c.hkv.pins, c.value_bytes);
        must(hd_open(&c, &t));
        fill(t, 1, 0);
        uint64_t n = test_size(t);
        must(hd_grow(t, 18));
        must(hd_check(t));
        check(test_size(t) == n && n > 30, "%llu entries of %llu", (ull)test_size(t), (ull)n);
        fill(t, 2, 0);
        must(hd_check(t));
        check(test_size(t) > n, "nothing more came in");
        hd_close(t);
    }
}

static void what_cannot_be(void)
{
    hd_table *t = open_table("lru", 6, 10, 8, false, 0);
    fill(t, 1, 0);
    model_contents before, after;
    contents_take(&before, t);
    must_fail(hd_grow(t, 0), HD_EINVAL, "buckets");
    must_fail(hd_grow(t, 3), HD_EINVAL, "buckets");
    must_fail(hd_grow(t, 7), HD_EINVAL, "buckets");
    must_fail(hd_grow(t, UINT64_MAX / 6 * 6), HD_EINVAL, NULL);
    check(hd_grow(t, (uint64_t)6 << 58) != HD_OK, "grew beyond all memory");
    check(hd_reserve(t, UINT64_MAX) != HD_OK, "reserved beyond all memory");
    must_fail(hd_grow(NULL, 2), HD_EINVAL, "table");
    contents_take(&after, t);
    check(contents_equal(&before, &after, true), "a failed call changed the table");
    contents_give(&before);
    contents_give(&after);
    hd_close(t);
}

static const struct CMUnitTest tests[] = { unit(single),  unit(dual), unit(tiny_and_full), unit(pins_survive),
                                           unit(reserve), unit(bare), unit(what_cannot_be) };

int main(void) { return test_run(tests); }
