/* SPDX-License-Identifier: Apache-2.0
 *
 * t_caches.c - the policies of exact caches (tools/caches/) against slow models (tests/cache_models.h), request by
 * request: capacities of 1 to 64 and some larger, in entries and in bytes. tests/t_cache_mutants.sh has bugs that this
 * program finds.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/cache_models.h"
#include "tests/testing.h"
#include "tools/baseline.h"

static cache_model model;

/* Keys of a working set that moves, and keys that come once: hits, ghosts that come again, and scans. */
static uint64_t draw_key(uint64_t *random, uint64_t keys, uint64_t i)
{
    uint64_t a = test_below(random, keys), b = test_below(random, keys);
    switch (test_below(random, 8)) {
    case 0: return 1000000 + i;
    case 1: return (i / 4) % (keys + keys / 2 + 1);
    case 2: return a;
    default: return (a < b ? a : b) + i / (8 * keys + 50);
    }
}

/* Small and large objects, some of none, some larger than the cache. */
static uint64_t draw_size(uint64_t *random, uint64_t capacity)
{
    switch (test_below(random, 16)) {
    case 0: return 0;
    case 1: return test_below(random, capacity + capacity / 4 + 2);
    default: return 1 + test_below(random, capacity / 6 + 2);
    }
}

static void same_outcomes(const model_rule *rule, uint64_t capacity, bool bytes, const hd_request *r, size_t n,
                          uint64_t seed)
{
    uint8_t outcome;
    baseline *b;
    must(baseline_open(&(baseline_config){ baseline_named(rule->name), capacity, seed, bytes, false }, &b));
    model_open(&model, rule, capacity, bytes, seed);
    for (size_t i = 0; i < n; i++) {
        must(baseline_run(b, &r[i], 1, &outcome));
        hd_outcome want = model_run(&model, r[i].key, r[i].size);
        check(outcome == want, "request %zu: %s instead of %s", i, hd_outcome_name((hd_outcome)outcome),
              hd_outcome_name(want));
        check(baseline_entries(b) == model_entries(&model), "request %zu: %llu entries instead of %llu", i,
              (ull)baseline_entries(b), (ull)model_entries(&model));
    }
    baseline_close(b);
    model_close(&model);
}

static void one_run(const model_rule *rule, uint64_t capacity, bool bytes, size_t n, uint64_t seed)
{
    uint64_t random = seed + 1, entries = bytes ? 1 + capacity / (capacity / 12 + 1) : capacity;
    uint64_t keys = 1 + test_below(&random, 3 * entries + 2);
    hd_request *r = (hd_request *)test_alloc(n, sizeof *r);
    test_case("%s, capacity %llu%s, %llu keys, seed %llu", rule->name, (ull)capacity, bytes ? " bytes" : "", (ull)keys,
              (ull)seed);
    for (size_t i = 0; i < n; i++)
        r[i] = (hd_request){ .key = draw_key(&random, keys, i), .size = draw_size(&random, capacity) };
    same_outcomes(rule, capacity, bytes, r, n, seed);
    free(r);
}

/* The first requests of a real trace. */
static void real_trace(void)
{
    enum { N = 6000 };
    static const char *const file = "cloudPhysicsIO.oracleGeneral.zst";
    char spec[4200];
    hd_source *s;
    size_t n;
    snprintf(spec, sizeof spec, "oracleGeneral:%s", test_data(file));
    hd_request *r = (hd_request *)test_alloc(N, sizeof *r);
    must(hd_source_open_spec(spec, 1, &s));
    must(hd_source_next(s, r, N, &n));
    hd_source_close(s);
    const model_rule *rule;
    for (size_t k = 0; (rule = model_at(k)); k++) {
        test_case("%s, %s", rule->name, file);
        same_outcomes(rule, 300, false, r, n, 1);
        if (rule->bytes) same_outcomes(rule, 5000000, true, r, n, 1);
    }
    free(r);
}

/* Memory is for the entries that are there, not for the capacity. */
static void large_capacity(const model_rule *rule)
{
    uint8_t outcome;
    baseline *b;
    test_case("%s, 2^62 entries", rule->name);
    must(baseline_open(&(baseline_config){ baseline_named(rule->name), UINT64_C(1) << 62, 1, false, false }, &b));
    for (uint64_t i = 0; i < 200; i++) {
        must(baseline_run(b, &(hd_request){ .key = i % 100 }, 1, &outcome));
        check(outcome == (i < 100 ? HD_INSERTED : HD_UPDATED), "request %llu: %s", (ull)i,
              hd_outcome_name((hd_outcome)outcome));
    }
    baseline_close(b);
}

/* The state of each test of a policy is its rule. */
static void policy(void **state)
{
    const model_rule *rule = (const model_rule *)*state;
    uint64_t requests = 0, rounds = test_times(3);
    for (uint64_t round = 0; round < 2 * rounds; round++) {
        bool bytes = round % 2;
        if (bytes && !rule->bytes) continue;
        for (uint64_t capacity = 1; capacity <= 64; capacity++, requests += 500)
            one_run(rule, bytes && round > 1 ? capacity * 37 : capacity, bytes, 500, 1000 * round + capacity);
        for (uint64_t capacity = 100; capacity <= 400; capacity += 100, requests += 4000)
            one_run(rule, bytes ? capacity * 1000 : capacity, bytes, 4000, round + capacity);
    }
    large_capacity(rule);
    test_note("%llu requests", (ull)requests);
}

/* Every row but full:belady, which t_baseline.c compares, has a model, and takes bytes if its model does. */
static void all_have_models(void)
{
    const baseline_row *row;
    for (size_t i = 0; (row = baseline_at(i)); i++) {
        const model_rule *rule;
        size_t k = 0;
        while ((rule = model_at(k)) && strcmp(rule->name, row->name) != 0) k++;
        check(rule || row->next, "%s has no model", row->name);
        check(!rule || rule->bytes == row->bytes, "%s: bytes", row->name);
        baseline *b = NULL;
        hd_status s = baseline_open(&(baseline_config){ row, 10, 1, true, false }, &b);
        check((s == HD_OK) == row->bytes, "%s: a capacity in bytes: %d", row->name, (int)s);
        baseline_close(b);
    }
}

/* The outcomes do not depend on how requests are cut into batches, of one or of all. */
static void batches(void)
{
    enum { N = 3000 };
    hd_request *r = (hd_request *)test_alloc(N, sizeof *r);
    uint8_t *one = (uint8_t *)test_alloc(N, 1), *all = (uint8_t *)test_alloc(N, 1);
    uint64_t random = 5;
    const baseline_row *row;
    for (size_t i = 0; i < N; i++) r[i] = (hd_request){ .key = draw_key(&random, 300, i), .next = -1 };
    for (size_t k = 0; (row = baseline_at(k)); k++) {
        baseline *b, *c;
        if (row->next) continue;
        test_case("%s", row->name);
        must(baseline_open(&(baseline_config){ row, 100, 1, false, false }, &b));
        must(baseline_open(&(baseline_config){ row, 100, 1, false, false }, &c));
        for (size_t i = 0; i < N; i++) must(baseline_run(b, &r[i], 1, &one[i]));
        must(baseline_run(c, r, N, all));
        check(memcmp(one, all, N) == 0, "batches of one have other outcomes");
        baseline_close(b);
        baseline_close(c);
    }
    free(r);
    free(one);
    free(all);
}

/* Sizes of 64 bits: two objects of 2^40 bytes fit in 2^41, a third one makes the first leave. */
static void large_sizes(void)
{
    const baseline_row *row;
    const uint64_t tera = UINT64_C(1) << 40;
    for (size_t k = 0; (row = baseline_at(k)); k++) {
        hd_request r = { .size = tera };
        uint8_t outcome;
        baseline *b;
        if (!row->bytes) continue;
        test_case("%s", row->name);
        must(baseline_open(&(baseline_config){ row, 1 << 10, 1, true, false }, &b));
        must(baseline_run(b, &r, 1, &outcome));
        check(outcome == HD_REFUSED && !baseline_entries(b), "an object larger than the cache is in");
        baseline_close(b);
        must(baseline_open(&(baseline_config){ row, 16 * tera, 1, true, false }, &b));
        for (uint64_t i = 0; i < 200; i++) {
            r.key = i % 2 ? i : i / 4;
            must(baseline_run(b, &r, 1, &outcome));
        }
        check(baseline_entries(b) <= 16 && baseline_entries(b) > 1, "%llu entries of 2^40 bytes in 2^44",
              (ull)baseline_entries(b));
        baseline_close(b);
    }
}

int main(void)
{
    static const struct CMUnitTest others[] = { unit(all_have_models), unit(batches), unit(large_sizes),
                                                unit(real_trace) };
    enum { OTHERS = sizeof others / sizeof *others, MOST = 60 };
    struct CMUnitTest caches[MOST];
    size_t n = 0;
    for (const model_rule *rule; (rule = model_at(n)) && n < MOST - OTHERS; n++)
        caches[n] = (struct CMUnitTest){ rule->name, policy, NULL, NULL, (void *)(uintptr_t)rule };
    memcpy(&caches[n], others, sizeof others);
    return test_run_named("caches", caches, n + OTHERS);
}
