/* SPDX-License-Identifier: Apache-2.0
 *
 * t_load_factor.c - the load factor at which a table with buckets of 128 slots evicts for the first time, and how many
 * of the best entries it keeps (HKV sections 3.3, 3.4; doc/contract-hkv.md).
 */
#include <stdlib.h>
#include <string.h>

#include "tests/testing.h"

typedef unsigned long long ull;

enum { BATCH = 65536 };

static hd_table *open_table(const char *policy, uint64_t capacity, bool dual)
{
    hd_config c = hd_config_default();
    c.policy = policy;
    c.capacity = capacity;
    c.value_bytes = 0;
    c.hkv.dual = dual;
    c.threads = 1; /* what is measured is not time */
    hd_table *t;
    test_case("hkv.insert_or_assign policy=%s capacity=%llu slots=128 value_bytes=0%s keys=random", policy,
              (ull)capacity, dual ? " dual" : "");
    must(hd_open(&c, &t));
    return t;
}

/* ---- The first eviction ---------------------------------------------------------------------- */

static double first_eviction(bool dual)
{
    static uint64_t key[BATCH];
    static uint8_t fate[BATCH];
    const uint64_t capacity = 16u << 20;
    hd_table *t = open_table("lru", capacity, dual);
    uint64_t random = dual ? 2 : 1, entered = 0;
    for (bool full = false; !full;) {
        for (int i = 0; i < BATCH; i++) key[i] = test_random(&random);
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = BATCH, .key = key, .outcome = fate };
        must(hd_run(t, &b));
        for (int i = 0; i < BATCH && !full; i++) {
            full = fate[i] == HD_EVICTED;
            entered += fate[i] == HD_INSERTED;
        }
        check(entered <= capacity, "%llu entries entered without an eviction", (ull)entered);
    }
    hd_close(t);
    return (double)entered / (double)capacity;
}

static void first_eviction_single(void **state)
{
    (void)state;
    double at = first_eviction(false);
    test_note("first eviction, single, 16 Mi entries: load factor %.4f", at);
    check(at >= 0.62 && at <= 0.67, "load factor %.4f", at);
}

static void first_eviction_dual(void **state)
{
    (void)state;
    double at = first_eviction(true);
    test_note("first eviction, dual, 16 Mi entries: load factor %.4f", at);
    check(at >= 0.97 && at <= 0.99, "load factor %.4f", at);
}

/* ---- What stays ------------------------------------------------------------------------------ */

/* The rank-th greatest of n SplitMix64 numbers, 16 bits at a time, without storing them. */
static uint64_t rank_th(uint64_t seed, uint64_t n, uint64_t rank)
{
    uint64_t known = 0, *count = (uint64_t *)test_alloc(65536, sizeof *count);
    for (int shift = 48; shift >= 0; shift -= 16) {
        uint64_t state = seed;
        memset(count, 0, 65536 * sizeof *count);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t x = test_random(&state);
            if (shift == 48 || x >> (shift + 16) == known >> (shift + 16)) count[x >> shift & 0xffff]++;
        }
        uint64_t digit = 0xffff;
        while (rank > count[digit]) rank -= count[digit--];
        known |= digit << shift;
    }
    free(count);
    return known;
}

/* The share of the `capacity` best of 5 x capacity independent scores that is in the table at the end. */
static double retained(bool dual)
{
    static uint64_t key[BATCH], score[BATCH];
    const uint64_t capacity = test_scale() >= 10 ? 16u << 20 : 1u << 20, n = 5 * capacity, seed = dual ? 4 : 3;
    hd_table *t = open_table("custom", capacity, dual);
    uint64_t keys = 99, scores = seed;
    for (uint64_t done = 0; done < n; done += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            key[i] = test_random(&keys);
            score[i] = test_random(&scores);
        }
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = BATCH, .key = key, .score = score };
        must(hd_run(t, &b));
    }
    uint64_t size, others;
    hd_batch b = { .op = HD_OP_SIZE_IF, .pred = "score_below", .pred_arg = { rank_th(seed, n, capacity) } };
    b.count = &others;
    must(hd_run(t, &b));
    must(hd_size_sync(t, &size));
    hd_close(t);
    double share = (double)(size - others) / (double)capacity;
    test_note("retained of the top %llu after %llu scores, %s: %.3f%%", (ull)capacity, (ull)n, dual ? "dual" : "single",
              100 * share);
    return share;
}

static void retention_single(void **state)
{
    (void)state;
    double r = retained(false);
    check(r >= 0.96, "%.4f", r);
}
static void retention_dual(void **state)
{
    (void)state;
    double r = retained(true);
    check(r >= 0.994, "%.4f", r);
}

static const struct CMUnitTest tests[] = { unit(first_eviction_single), unit(first_eviction_dual),
                                           unit(retention_single), unit(retention_dual) };

int main(void) { return test_run(tests); }
