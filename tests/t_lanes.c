/* SPDX-License-Identifier: Apache-2.0
 *
 * t_lanes.c - exact caches in lanes (tools/lanes/), on this machine, against tools/baseline.h: the misses, evictions
 * and missed bytes of every policy, of samples, after a warm-up, and in groups; calls of a device that fail.
 * tests/t_cache_mutants.sh has bugs that this program finds. HEDDLE_TEST_BACKEND=cuda: the lanes are on a GPU.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/testing.h"
#include "tools/baseline.h"
#include "tools/lanes/lanes.h"

static const char *const policies[] = { "full:lru",    "full:fifo", "full:clock", "full:sieve",
                                        "full:s3fifo", "full:slru", "full:2q",    "full:arc" };
enum { POLICIES = sizeof policies / sizeof *policies, CACHES_MOST = 200 };

/* What is wanted of one cache; the same requests as the trace has. */
typedef struct wanted {
    const char *name;
    uint64_t capacity, misses, evicted, bytes;
} wanted;

static const hd_device_seam *device(void)
{
    return strcmp(test_backend("host"), "cuda") == 0 ? &hd_device_os : &lanes_host;
}

/* A working set that moves, keys that return as ghosts, some again and again, scans, and reserved keys. */
static hd_request *draw(uint64_t seed, size_t n, uint64_t keys)
{
    hd_request *r = (hd_request *)test_alloc(n, sizeof *r);
    uint64_t random = seed;
    for (size_t i = 0; i < n; i++) {
        uint64_t a = test_below(&random, keys), b = test_below(&random, keys);
        switch (test_below(&random, 8)) {
        case 0: r[i].key = 1000000 + i; break;
        case 1: r[i].key = (i / 4) % (keys + keys / 2 + 1); break;
        case 2: r[i].key = i % (keys + 1); break;
        case 3: r[i].key = test_below(&random, 50) ? a : HD_KEY_RESERVED; break;
        default: r[i].key = (a < b ? a : b) + i / (8 * keys + 50);
        }
        r[i].size = test_below(&random, 1000);
    }
    return r;
}

static void want(wanted *w, const lanes_trace *t, const hd_request *r, size_t n)
{
    baseline *b;
    uint8_t outcome;
    must(baseline_open(&(baseline_config){ baseline_named(w->name), w->capacity, 1, false, false }, &b));
    for (size_t i = 0; i < n; i++) {
        if (r[i].key < HD_KEY_RESERVED && !sample_has(&t->chosen, r[i].key)) continue;
        must(baseline_run(b, &r[i], 1, &outcome));
        bool miss = outcome == HD_INSERTED || outcome == HD_EVICTED;
        if (i < t->warmup || !miss) continue;
        w->misses++;
        w->evicted += outcome == HD_EVICTED;
        w->bytes += r[i].size;
    }
    baseline_close(b);
}

/* The lanes of all n caches agree with these. */
static void agree(const lanes_trace *t, const hd_device_seam *d, uint32_t width, const wanted *w, size_t n,
                  lanes_facts *facts)
{
    lanes_cache cache[CACHES_MOST];
    check(n <= CACHES_MOST, "%zu caches", n);
    for (size_t i = 0; i < n; i++) cache[i] = (lanes_cache){ lanes_policy(w[i].name), w[i].capacity, 0, 0, 0 };
    must(lanes_run(t, d, width, (lanes_watch){ NULL, NULL }, cache, n, facts));
    for (size_t i = 0; i < n; i++)
        check(cache[i].misses == w[i].misses && cache[i].evicted == w[i].evicted &&
                  (!t->sized || cache[i].missed_bytes == w[i].bytes),
              "%s, %llu entries: %llu misses, %llu evicted, %llu bytes, not %llu, %llu, %llu", w[i].name,
              (ull)w[i].capacity, (ull)cache[i].misses, (ull)cache[i].evicted, (ull)cache[i].missed_bytes,
              (ull)w[i].misses, (ull)w[i].evicted, (ull)w[i].bytes);
}

/* Capacities of 1 to 9 and some up to more than all keys, over n requests. */
static void one_trace(const char *policy, uint64_t seed, size_t n)
{
    enum { SMALL = 9, CACHES = SMALL + 6 };
    uint64_t random = seed, keys = 1 + test_below(&random, 60) * (1 + test_below(&random, 8));
    double rate = seed % 3 ? 1 : 0.3;
    lanes_trace t = { .chosen = sample_of(rate, seed), .warmup = seed % 2 ? n / 5 : 0, .sized = seed % 5 < 3 };
    hd_request *r = draw(seed, n, keys);
    wanted w[CACHES] = { { NULL, 0, 0, 0, 0 } };
    lanes_facts facts;
    test_case("%s, seed %llu, %llu keys, rate %g", policy, (ull)seed, (ull)keys, rate);
    must(lanes_trace_add(&t, r, n / 3));
    must(lanes_trace_add(&t, r + n / 3, n - n / 3));
    for (size_t i = 0; i < CACHES; i++) {
        uint64_t capacity = i < SMALL ? i + 1 : 10 + test_below(&random, 2 * keys + 20);
        w[i] = (wanted){ policy, i + 1 < CACHES ? capacity : 1000000, 0, 0, 0 };
        want(&w[i], &t, r, n);
    }
    agree(&t, device(), 1u << seed % 6, w, CACHES, &facts);
    check(facts.groups == 1, "%zu groups", facts.groups);
    free(r);
    lanes_trace_close(&t);
}

static void policy(void **state)
{
    uint64_t rounds = test_times(60);
    for (uint64_t seed = 0; seed < rounds; seed++) one_trace((const char *)*state, seed, 3000);
    test_note("%llu requests of 15 caches", (ull)rounds * 3000);
}

static void ghosts_of(const hd_request *r, size_t n, uint64_t first, uint64_t step)
{
    enum { CACHES = 12 };
    lanes_trace t = { .chosen = sample_of(1, 0) };
    wanted w[CACHES];
    lanes_facts facts;
    must(lanes_trace_add(&t, r, n));
    for (size_t i = 0; i < CACHES; i++) {
        w[i] = (wanted){ "full:s3fifo", first + i * step, 0, 0, 0 };
        want(&w[i], &t, r, n);
    }
    agree(&t, device(), 0, w, CACHES, &facts);
    lanes_trace_close(&t);
}

/* Small working sets of keys that leave and return: many places of ghosts are stale, and the ring is packed when it is
 * full. Then few cold keys that do so beside many hot ones, which stay: each has up to 16 stale places. At last a scan
 * makes ghosts leave. */
static void stale_ghosts(void)
{
    enum { N = 60000, FEW = 20000 };
    hd_request *r = (hd_request *)test_alloc(N, sizeof *r);
    for (uint64_t keys = 2; keys < 40; keys++) {
        uint64_t random = keys;
        test_case("%llu keys", (ull)keys);
        for (size_t i = 0; i < FEW; i++) r[i].key = test_below(&random, 30) ? i * (1 + i / 5000) % keys : 100 + i % 900;
        ghosts_of(r, FEW, 1, 1 + keys / 10);
    }
    for (uint64_t round = 0; round < 18; round++) {
        uint64_t cold = 13 + round % 3, part = 12 + 2 * (round / 3), random = cold;
        test_case("%llu cold keys, one request in %llu", (ull)cold, (ull)part);
        for (size_t i = 0; i < N; i++)
            r[i].key = i > N / 2 && i % 2 ? 1000 + i : test_below(&random, part) ? i % 90 : 90 + i / part % cold;
        ghosts_of(r, N, 95, 1);
    }
    free(r);
}

/* ---- Devices ------------------------------------------------------------------------------------------- */

/* lanes_host with little memory, of which a call fails. */
static struct {
    uint64_t most, used, calls, fails_at;
    size_t pieces;
} small;

static int small_take(void *self, void **p, size_t bytes)
{
    if (++small.calls == small.fails_at) return 7;
    if (small.used + bytes > small.most) return HD_DEVICE_NO_MEMORY;
    uint64_t *piece = (uint64_t *)test_alloc(1, bytes + 16);
    *piece = bytes;
    *p = piece + 2;
    small.used += bytes;
    small.pieces++;
    (void)self;
    return 0;
}

static int small_give(void *self, void *p)
{
    uint64_t *piece = (uint64_t *)p - 2;
    small.used -= *piece;
    small.pieces--;
    free(piece);
    (void)self;
    return 0;
}

static int small_copy(void *self, void *to, const void *from, size_t bytes, hd_way way, void *stream)
{
    return ++small.calls == small.fails_at ? 7 : lanes_host.copy(self, to, from, bytes, way, stream);
}

static int small_fill(void *self, void *to, int byte, size_t bytes, void *stream)
{
    return ++small.calls == small.fails_at ? 7 : lanes_host.fill(self, to, byte, bytes, stream);
}

static int small_launch(void *self, const hd_launch *l, void *stream)
{
    return ++small.calls == small.fails_at ? 7 : lanes_host.launch(self, l, stream);
}

static int small_wait(void *self, void *stream)
{
    (void)self, (void)stream;
    return ++small.calls == small.fails_at ? 7 : 0;
}

static hd_device_seam small_device(uint64_t most)
{
    hd_device_seam d = lanes_host;
    d.take = small_take;
    d.give = small_give;
    d.copy = small_copy;
    d.fill = small_fill;
    d.launch = small_launch;
    d.wait = small_wait;
    memset(&small, 0, sizeof small);
    small.most = most;
    return d;
}

/* All policies at once, in more and more groups, until a cache alone does not fit; and every call that fails. */
static void groups(void)
{
    enum { N = 4000, EACH = 20, CACHES = POLICIES * EACH };
    lanes_trace t = { .chosen = sample_of(1, 0) };
    hd_request *r = draw(3, N, 200);
    static wanted w[CACHES];
    lanes_cache cache[CACHES];
    lanes_facts facts;
    size_t most = 0;
    must(lanes_trace_add(&t, r, N));
    for (size_t i = 0; i < CACHES; i++) {
        w[i] = (wanted){ policies[i / EACH], 1 + 9 * (i % EACH), 0, 0, 0 };
        cache[i] = (lanes_cache){ lanes_policy(w[i].name), w[i].capacity, 0, 0, 0 };
        want(&w[i], &t, r, N);
    }
    for (uint64_t bytes = 1 << 20; bytes > 100000; bytes -= bytes / 8) {
        hd_device_seam d = small_device(bytes);
        test_case("%llu bytes", (ull)bytes);
        agree(&t, &d, 0, w, CACHES, &facts);
        check(facts.bytes <= bytes && !small.pieces, "%llu bytes, %zu pieces", (ull)facts.bytes, small.pieces);
        check(facts.groups >= most, "%zu groups with less memory than %zu", facts.groups, most);
        most = facts.groups;
    }
    check(most > 3, "%zu groups", most);
    for (uint64_t at = 1, end = UINT64_MAX; at < end; at++) {
        hd_device_seam d = small_device(1 << 20);
        small.fails_at = at;
        hd_status s = lanes_run(&t, &d, 0, (lanes_watch){ NULL, NULL }, cache, CACHES, &facts);
        if (small.calls < at)
            end = at;
        else
            check(s == HD_ECUDA, "call %llu failed, and the status is %d", (ull)at, (int)s);
        check(!small.pieces, "%zu pieces are left", small.pieces);
    }
    hd_device_seam none = small_device(50000);
    must_fail(lanes_run(&t, &none, 0, (lanes_watch){ NULL, NULL }, cache, CACHES, &facts), HD_ENOMEM, NULL);
    free(r);
    lanes_trace_close(&t);
}

static bool counts(void *self, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    return ++*(int *)self == 2;
}

/* A trace of several launches, and a stop between them. */
static void launches(void)
{
    enum { N = 600000 };
    lanes_trace t = { .chosen = sample_of(1, 0), .warmup = 1000 };
    hd_request *r = draw(9, N, 3000);
    wanted w[POLICIES];
    lanes_facts facts;
    lanes_cache one = { LANE_FIFO, 10, 0, 0, 0 };
    int told = 0;
    must(lanes_trace_add(&t, r, N));
    for (size_t i = 0; i < POLICIES; i++) {
        w[i] = (wanted){ policies[i], 900, 0, 0, 0 };
        want(&w[i], &t, r, N);
    }
    agree(&t, device(), 0, w, POLICIES, &facts);
    must_fail(lanes_run(&t, device(), 0, (lanes_watch){ counts, &told }, &one, 1, &facts), HD_EIO, NULL);
    check(told == 2, "told %d times", told);
    free(r);
    lanes_trace_close(&t);
}

/* Nothing to run over. */
static void edges(void)
{
    lanes_trace t = { .chosen = sample_of(1, 0) };
    const wanted w[] = { { "full:s3fifo", 5, 0, 0, 0 }, { "full:lru", 5, 0, 0, 0 } };
    const hd_request r = { .key = HD_KEY_RESERVED };
    lanes_facts facts;
    agree(&t, device(), 0, w, 2, &facts);
    must(lanes_trace_add(&t, &r, 1));
    check(t.reserved == 1 && t.requests == 0, "%llu reserved", (ull)t.reserved);
    agree(&t, device(), 0, w, 2, &facts);
    check(!lanes_policy("full:belady"), "there is a lane of full:belady");
    for (size_t i = 0; i < POLICIES; i++) check(strcmp(lanes_name(i), policies[i]) == 0, "%s is none", policies[i]);
    check(!lanes_name(POLICIES), "%s has no test", lanes_name(POLICIES));
    lanes_trace_close(&t);
}

int main(void)
{
    struct CMUnitTest tests[POLICIES + 4];
    for (size_t i = 0; i < POLICIES; i++)
        tests[i] = (struct CMUnitTest){ policies[i], policy, NULL, NULL, (void *)(uintptr_t)policies[i] };
    const struct CMUnitTest others[] = { unit(stale_ghosts), unit(groups), unit(launches), unit(edges) };
    memcpy(tests + POLICIES, others, sizeof others);
    return test_run_named("lanes", tests, sizeof tests / sizeof *tests);
}
