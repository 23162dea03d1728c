/* SPDX-License-Identifier: Apache-2.0
 *
 * t_curve.c - curves (tools/curve.h) against a slow model, a list of keys by their last requests, and against replays
 * through exact caches. tests/t_cache_mutants.sh has bugs that this program finds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testing.h"
#include "tools/curve.h"
#include "workload/rng.h"

/* ---- The model ----------------------------------------------------------------------------------- */

enum { MODEL_KEYS = 3000, MODEL_SIZES = 80 };

typedef struct model {
    const curve_config *of;
    struct {
        uint64_t key, size;
    } at[MODEL_KEYS]; /* (n), the last requested first */
    size_t n;
    double limit; /* of hashes, a share */
    double misses[MODEL_SIZES];
    uint64_t requests;
} model;

/* The share of all hashes up to the key's. */
static double model_hash(const model *m, uint64_t key)
{
    return ldexp((double)hd_avalanche(key ^ hd_avalanche(hd_avalanche(m->of->seed + 1) + HD_GOLDEN)), -64);
}

/* What a cache has to hold of the first n keys, if it refuses what is larger than itself. */
static double model_units(const model *m, size_t n, uint64_t capacity)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += m->at[i].size <= capacity ? (double)m->at[i].size : 0;
    return sum;
}

static void model_trim(model *m)
{
    size_t worst = 0;
    if (!m->of->most || m->n <= m->of->most) return;
    for (size_t i = 0; i < m->n; i++)
        if (model_hash(m, m->at[i].key) > model_hash(m, m->at[worst].key)) worst = i;
    m->limit = model_hash(m, m->at[worst].key);
    memmove(&m->at[worst], &m->at[worst + 1], (--m->n - worst) * sizeof *m->at);
}

static void model_run(model *m, uint64_t key, uint64_t size)
{
    size_t i = 0;
    m->requests++;
    if (m->limit < 1 && model_hash(m, key) >= m->limit) return;
    while (i < m->n && m->at[i].key != key) i++;
    for (size_t k = 0; k < m->of->capacities; k++) {
        uint64_t capacity = m->of->capacity[k];
        bool hit = i < m->n && m->at[i].size <= capacity &&
                   ceil(model_units(m, i, capacity) / m->limit) + (double)m->at[i].size <= (double)capacity;
        m->misses[k] += hit ? 0 : 1 / m->limit;
    }
    if (i == m->n && ++m->n == MODEL_KEYS) abort();
    memmove(&m->at[1], &m->at[0], i * sizeof *m->at);
    m->at[0].key = key;
    m->at[0].size = size;
    model_trim(m);
}

/* ---- Requests -------------------------------------------------------------------------------------- */

static uint64_t draw_key(uint64_t *random, uint64_t keys, uint64_t i)
{
    uint64_t a = test_below(random, keys), b = test_below(random, keys);
    return test_below(random, 8) ? (a < b ? a : b) : 1000000 + i % 900;
}

/* A key's size: none, small, or, of few, up to more than all capacities. */
static uint64_t size_of(uint64_t key, uint64_t most)
{
    uint64_t draw = hd_avalanche(key) >> 8;
    return draw % 16 == 0 ? draw / 16 % (2 * most) : draw % 16 == 1 ? 0 : draw / 16 % (most / 10 + 1) + 1;
}

/* Requests of a source, with sizes that depend on the key, if sizes > 0. */
static hd_request *requests_of(const char *spec, size_t most, uint64_t sizes, size_t *n)
{
    hd_request *r = (hd_request *)test_alloc(most, sizeof *r);
    hd_source *s;
    must(hd_source_open_spec(spec, 3, &s));
    must(hd_source_next(s, r, most, n));
    hd_source_close(s);
    for (size_t i = 0; sizes && i < *n; i++) r[i].size = size_of(r[i].key, sizes);
    return r;
}

/* ---- Tests ----------------------------------------------------------------------------------------- */

/* After each request the curve has the model's misses for every capacity. */
static void as_model(const curve_config *config, uint64_t requests, uint64_t keys)
{
    static model m;
    uint64_t random = config->seed, most = config->capacity[config->capacities - 1];
    curve *c;
    must(curve_open(config, &c));
    m = (model){ .of = config, .limit = config->rate };
    test_case("%s, rate %g, %llu keys of %llu, seed %llu", config->bytes ? "bytes" : "entries", config->rate,
              (ull)config->most, (ull)keys, (ull)config->seed);
    for (uint64_t i = 0; i < requests; i++) {
        uint64_t key = draw_key(&random, keys, i);
        hd_request r = { .key = key, .size = size_of(key, most) };
        must(curve_run(c, &r, 1));
        model_run(&m, key, config->bytes ? r.size : 1);
        for (size_t k = 0; k < config->capacities; k += 1 + i % 7) {
            double want = fmin(m.misses[k], (double)m.requests), got = curve_misses(c, k);
            check(fabs(got - want) < 1e-6 * want + 1e-6, "request %llu, capacity %llu: %.9g misses instead of %.9g",
                  (ull)i, (ull)config->capacity[k], got, want);
        }
    }
    check(curve_about(c).keys == m.n && curve_about(c).requests == requests, "%llu keys instead of %zu",
          (ull)curve_about(c).keys, m.n);
    curve_close(c);
}

static void model_exact(void **state)
{
    (void)state;
    uint64_t capacity[64];
    for (uint64_t seed = 1; seed <= test_times(6); seed++)
        for (int bytes = 0; bytes < 2; bytes++) {
            for (uint64_t k = 0; k < 64; k++) capacity[k] = (k + 1) * (bytes ? seed % 3 * 20 + 1 : 1);
            as_model(&(curve_config){ capacity, 64, bytes, 1, 0, seed, false }, 5000, 30 + 40 * (seed % 4));
        }
}

static void model_sampled(void **state)
{
    (void)state;
    uint64_t capacity[40];
    for (uint64_t seed = 1; seed <= test_times(6); seed++)
        for (int bytes = 0; bytes < 2; bytes++) {
            for (uint64_t k = 0; k < 40; k++) capacity[k] = (k + 1) * (bytes ? 1000 : 20);
            as_model(&(curve_config){ capacity, 40, bytes, 0.3, 0, seed, false }, 6000, 500);
            as_model(&(curve_config){ capacity, 40, bytes, 1, 60 * seed, seed, false }, 6000, 500);
        }
}

/* The misses of an exact cache. */
static uint64_t replayed(const char *row, uint64_t capacity, bool bytes, const hd_request *r, size_t n)
{
    uint8_t *outcome = (uint8_t *)test_alloc(n, 1);
    uint64_t misses = 0;
    baseline *b;
    must(baseline_open(&(baseline_config){ baseline_named(row), capacity, 1, bytes, false }, &b));
    must(baseline_run(b, r, n, outcome));
    for (size_t i = 0; i < n; i++) misses += outcome[i] != HD_UPDATED && outcome[i] != HD_RESERVED;
    baseline_close(b);
    free(outcome);
    return misses;
}

enum { SIZES = 16 };

/* Exact curves of LRU have the misses of full:lru at each size. */
static void as_replayed(const hd_request *r, size_t n, bool bytes, uint64_t least)
{
    uint64_t capacity[SIZES];
    curve *c;
    for (size_t k = 0; k < SIZES; k++) capacity[k] = least << k;
    must(curve_open(&(curve_config){ capacity, SIZES, bytes, 1, 0, 1, false }, &c));
    for (size_t i = 0; i < n; i += 1000) must(curve_run(c, r + i, n - i < 1000 ? n - i : 1000));
    check(!bytes || !curve_about(c).resized, "sizes change");
    for (size_t k = 0; k < SIZES; k++) {
        uint64_t want = replayed("full:lru", capacity[k], bytes, r, n);
        check(curve_misses(c, k) == (double)want, "capacity %llu: %.9g misses instead of %llu", (ull)capacity[k],
              curve_misses(c, k), (ull)want);
    }
    curve_close(c);
}

static void replays(void **state)
{
    (void)state;
    static const char *const spec[] = { "zipf:0.9,100k", "uniform:5000", "ycsb:d,20k" };
    size_t n;
    for (size_t i = 0; i < sizeof spec / sizeof *spec; i++) {
        hd_request *r = requests_of(spec[i], 200000, 5000, &n);
        r[7].key = HD_KEY_RESERVED;
        test_case("%s", spec[i]);
        as_replayed(r, n, false, 1);
        as_replayed(r, n, true, 1000);
        free(r);
    }
}

static void real_trace(void **state)
{
    (void)state;
    char spec[4200];
    size_t n;
    snprintf(spec, sizeof spec, "oracleGeneral:%s", test_data("cloudPhysicsIO.oracleGeneral.zst"));
    hd_request *r = requests_of(spec, 200000, 1 << 16, &n);
    test_case("%s", spec);
    as_replayed(r, n, false, 3);
    as_replayed(r, n, true, 50000);
    free(r);
}

/* A row's error is |misses - those of a replay| / requests. */
static double error_of(curve *c, const baseline_row *row, size_t k, double want)
{
    double misses = curve_misses(c, k);
    if (row) must(curve_mini(c, row, k, &misses));
    return fabs(misses - want) / (double)curve_about(c).requests;
}

/* At rate 1 a small cache is the cache; of a sample, errors are at most what doc/output.md says. */
static void caches(void **state)
{
    (void)state;
    const uint64_t capacity[] = { 3000, 10000, 30000 };
    const baseline_row *row;
    size_t n;
    hd_request *r = requests_of("zipf:0.8,100k", 300000, 0, &n);
    for (size_t i = 0; i < n; i++) r[i].next = -1;
    curve *whole, *part;
    must(curve_open(&(curve_config){ capacity, 3, false, 1, 0, 1, true }, &whole));
    must(curve_open(&(curve_config){ capacity, 3, false, 1, 8192, 1, true }, &part));
    must(curve_run(whole, r, n));
    must(curve_run(part, r, n));
    check(curve_about(part).keys == 8192, "%llu keys", (ull)curve_about(part).keys);
    for (size_t i = 0; (row = baseline_at(i)); i++)
        for (size_t k = i % 3; k < 3; k += 3) {
            double want;
            test_case("%s, %llu entries", row->name, (ull)capacity[k]);
            must(curve_mini(whole, row, k, &want));
            if (!row->next)
                check(want == (double)replayed(row->name, capacity[k], false, r, n), "at rate 1: %.9g misses", want);
            double error = error_of(part, row, k, want);
            check(error < (strcmp(row->name, "full:lrfu") == 0 ? 0.1 : 0.05), "the error is %.4f", error);
        }
    for (size_t k = 0; k < 3; k++) {
        double error = error_of(part, NULL, k, curve_misses(whole, k));
        check(error < 0.05, "LRU, %llu entries: the error is %.4f", (ull)capacity[k], error);
    }
    curve_close(whole);
    curve_close(part);
    free(r);
}

static void edges(void **state)
{
    (void)state;
    const uint64_t capacity = 10;
    hd_request r = { .key = 5, .size = HD_SIZE_MOST };
    curve *c;
    must(curve_open(&(curve_config){ &capacity, 1, false, 1e-300, 0, 1, false }, &c));
    must(curve_run(c, &r, 1));
    check(curve_about(c).requests == 1 && curve_about(c).sampled == 0, "a rate of nothing keeps a key");
    curve_close(c);
    must(curve_open(&(curve_config){ &capacity, 1, true, 1, 0, 1, false }, &c));
    hd_status s = HD_OK;
    for (r.key = 0; !s && r.key < 300; r.key++) s = curve_run(c, &r, 1);
    check(s == HD_EINVAL && r.key > 250, "keys of 2^64 bytes: %d after %llu", (int)s, (ull)r.key);
    curve_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { unit(model_exact), unit(model_sampled), unit(replays),
                                        unit(real_trace),  unit(caches),        unit(edges) };
    return test_run_named("curve", tests, sizeof tests / sizeof *tests);
}
