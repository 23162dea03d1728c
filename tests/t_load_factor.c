/* SPDX-License-Identifier: Apache-2.0
 *
 * t_load_factor.c - the load factor at which a table with buckets of 128 slots evicts for the first time, and how many
 * of the best entries it keeps (HKV sections 3.3, 3.4; doc/contract-hkv.md).
 */
#include <stdlib.h>
#include <string.h>

#include "lib/backend_host.h"
#include "tests/testing.h"

enum { BATCH = 65536 };

static hd_table *open_table(const char *policy, uint64_t capacity, bool dual)
{
    test_case("hkv.insert_or_assign policy=%s capacity=%llu slots=128 value_bytes=0%s keys=random", policy,
              (ull)capacity, dual ? " dual" : "");
    return test_table(.policy = policy, .capacity = capacity, .hkv.dual = dual, .threads = 1);
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

static void first_eviction_single(void)
{
    double at = first_eviction(false);
    test_note("first eviction, single, 16 Mi entries: load factor %.4f", at);
    check(at >= 0.62 && at <= 0.67, "load factor %.4f", at);
}

static void first_eviction_dual(void)
{
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

static void retention_single(void)
{
    double r = retained(false);
    check(r >= 0.96, "%.4f", r);
}
static void retention_dual(void)
{
    double r = retained(true);
    check(r >= 0.994, "%.4f", r);
}

/* ---- Batches of as many keys as slots -------------------------------------------------------- */

/* A table in dual mode that gets five batches of `capacity` new keys with independent scores. */
typedef struct crowd {
    uint64_t capacity, n, *key, *score, least; /* least: the capacity-th greatest score */
    uint32_t slots;
    uint8_t *outcome;
} crowd;

static void crowd_open(crowd *c, uint64_t capacity, uint32_t slots)
{
    c->capacity = capacity;
    c->slots = slots;
    c->n = 5 * capacity;
    c->key = (uint64_t *)test_alloc(c->n, sizeof *c->key);
    c->score = (uint64_t *)test_alloc(c->n, sizeof *c->score);
    c->outcome = (uint8_t *)test_alloc(c->n, 1);
}

static void crowd_draw(crowd *c, uint64_t seed)
{
    uint64_t keys = seed, scores = ~seed;
    for (uint64_t i = 0; i < c->n; i++) c->key[i] = test_random(&keys) >> 1, c->score[i] = test_random(&scores);
    c->least = rank_th(~seed, c->n, c->capacity);
}

static void crowd_close(crowd *c) { free(c->key), free(c->score), free(c->outcome); }

/* How many of the best entries it keeps. On the simulator all lanes take turns at every lock. */
static uint64_t kept_by(const crowd *c, const char *backend, const char *kernel, uint64_t seed)
{
    uint64_t kept = 0;
    hd_table *t = test_table(.backend = backend, .policy = "custom", .capacity = c->capacity, .slots = c->slots,
                             .hkv.dual = true, .threads = 1);
    simt_config turns = { .strategy = SIMT_RANDOM, .preempt = SIMT_AT_SYNC, .quiet = true, .seed = seed };
    turns.step_limit = 1ull << 40;
    turns.resident = 64;
    if (strcmp(backend, "host") == 0) must(hd_host_configure(t, &turns));
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .distinct = true, .n = c->capacity, .kernel = kernel };
    for (uint64_t done = 0; done < c->n; done += b.n) {
        b.key = c->key + done;
        b.score = c->score + done;
        must(hd_run(t, &b));
    }
    hd_batch find = { .op = HD_OP_CONTAINS, .n = c->n, .key = c->key, .outcome = c->outcome };
    must(hd_run(t, &find));
    for (uint64_t i = 0; i < c->n; i++) kept += c->score[i] >= c->least && c->outcome[i] == HD_HIT;
    hd_close(t);
    return kept;
}

/* In points: how much less than the reference a kernel keeps, on average over `tables`. */
static double loss_of(crowd *c, const char *backend, const char *kernel, uint64_t tables)
{
    uint64_t kept = 0, by_reference = 0;
    for (uint64_t k = 1; k <= tables; k++) {
        crowd_draw(c, k);
        kept += kept_by(c, backend, kernel, k);
        by_reference += kept_by(c, "ref", NULL, k);
    }
    double all = (double)(c->capacity * tables) / 100;
    test_note("%s: %.3f%% of the best entries, the reference %.3f%%", kernel, (double)kept / all,
              (double)by_reference / all);
    return ((double)by_reference - (double)kept) / all;
}

/* Where many items wait for each bucket, keys of low buckets must not come first: the reference's share, within 0.05
 * points on a device, and within four deviations of what few small tables show in the simulator. */
static void retention_of_great_batches(void)
{
    static const struct {
        const char *kernel;
        uint64_t tables;
        double most;
    } small[] = { { "tlpv1", 60, 0.2 }, { "coalesced", 10, 0.5 } };
    crowd c;
    bool far = test_far();
    crowd_open(&c, far ? 1 << 17 : 1 << 10, far ? 128 : 32);
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        test_case("%s, batches of %llu keys", small[k].kernel, (ull)c.capacity);
        double loss = loss_of(&c, far ? "cuda" : "host", small[k].kernel, far ? 4 : small[k].tables),
               most = far ? 0.05 : small[k].most;
        check(loss <= most, "%.3f points less than the reference", loss);
    }
    crowd_close(&c);
}

static const struct CMUnitTest tests[] = { unit(first_eviction_single), unit(first_eviction_dual),
                                           unit(retention_single), unit(retention_dual),
                                           unit(retention_of_great_batches) };

int main(void) { return test_run(tests); }
