/* SPDX-License-Identifier: Apache-2.0
 *
 * t_workload.c - generated requests: their distributions against exact ones. (t_kmer.c tests the k-mers, t_specs.c
 * everything that is not random.)
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/chi.h"
#include "tests/traces.h"
#include "workload/zipf.h"

enum { DRAWS = 400000 };

/* ---- The judge itself ------------------------------------------------------------------------ */

static void test_chi_tail(void)
{
    /* the usual table: upper 5%, 1% and 0.1% points */
    static const struct {
        double freedom, x, p;
    } row[] = { { 1, 3.841459, 0.05 },      { 1, 6.634897, 0.01 },    { 2, 5.991465, 0.05 },
                { 10, 18.307038, 0.05 },    { 10, 29.588298, 0.001 }, { 100, 124.342113, 0.05 },
                { 100, 149.449253, 0.001 }, { 5, 1.145476, 0.95 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double p = chi_tail(row[i].freedom, row[i].x);
        check(fabs(p - row[i].p) < 1e-6 * (1 + 1 / row[i].p) * row[i].p, "freedom %g, x %g: %.9g", row[i].freedom,
              row[i].x, p);
    }
}

static void test_exp_and_log(void)
{
    const double most = 0x1p-50;
    uint64_t random = 1;
    for (int i = 0; i < 1000000; i++) {
        double unit = (double)(test_random(&random) >> 11) * 0x1p-53;
        double x = 0.5 + 0.5 * exp(43 * unit), y = 200 * unit - 100, t = exp(-40 * unit) * (i % 2 ? 1 : -0.999),
               w = -1 + exp(-36 * unit);
        test_case("x=%a y=%a t=%a w=%a", x, y, t, w);
        check(fabs(hd_log(x) - log(x)) <= most * fabs(log(x)), "log");
        check(fabs(hd_exp(y) - exp(y)) <= most * exp(y), "exp");
        check(fabs(hd_expm1(t) - expm1(t)) <= most * fabs(expm1(t)), "expm1");
        check(fabs(hd_log1p(t) - log1p(t)) <= most * fabs(log1p(t)), "log1p");
        check(fabs(hd_log1p(w) - log1p(w)) <= most * fabs(log1p(w)), "log1p near -1");
    }
}

/* ---- Uniform, and scrambling ----------------------------------------------------------------- */

typedef struct histogram {
    uint64_t seen[1000], first, outside;
} histogram;

static void count_key(void *context, const hd_request *r)
{
    histogram *h = (histogram *)context;
    if (r->key - h->first < 1000)
        h->seen[r->key - h->first]++;
    else
        h->outside++;
}

static void test_uniform(void)
{
    double expected[1000];
    for (int i = 0; i < 1000; i++) expected[i] = DRAWS / 1000.0;

    histogram h = { 0 };
    draw("uniform:1000", 1, DRAW_AT_ONCE, DRAWS, count_key, &h);
    chi_check(h.seen, expected, 1000);

    memset(&h, 0, sizeof h);
    h.first = HD_KEY_RESERVED - 1000; /* up to the greatest key there is */
    draw("uniform:1000,first=18446744073709550613", 2, DRAW_AT_ONCE, DRAWS, count_key, &h);
    check(h.first == 18446744073709550613u && h.outside == 0, "%" PRIu64 " keys outside", h.outside);
    chi_check(h.seen, expected, 1000);
}

/* A bound that does not divide 2^64 and is near it: the multiply alone would be off by a half. */
static void test_below_is_even(void)
{
    const uint64_t n = 3ull << 62;
    uint64_t seen[3] = { 0 };
    double expected[3] = { DRAWS / 3.0, DRAWS / 3.0, DRAWS / 3.0 };
    hd_rng g = hd_rng_from(1);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t v = hd_rng_below(&g, n);
        check(v < n, "%" PRIu64, v);
        seen[v % 3]++; /* the multiply alone favours v mod 3 = 0 */
    }
    chi_check(seen, expected, 3);
}

static uint64_t avalanche_undo(uint64_t x)
{
    uint64_t inverse[2] = { 0x94d049bb133111ebu, 0xbf58476d1ce4e5b9u };
    for (int i = 0; i < 2; i++) {
        uint64_t m = inverse[i];
        for (int j = 0; j < 6; j++) inverse[i] *= 2 - m * inverse[i]; /* Newton: 3 good bits, then 6, 12, ... */
    }
    x ^= x >> 31 ^ x >> 62;
    x *= inverse[0];
    x ^= x >> 27 ^ x >> 54;
    x *= inverse[1];
    return x ^ x >> 30 ^ x >> 60;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void test_scramble(void)
{
    enum { N = 200000 };
    static uint64_t key[N + 3];
    for (uint64_t i = 0; i < N; i++) {
        check(avalanche_undo(hd_avalanche(i)) == i, "avalanche is no bijection at %" PRIu64, i);
        key[i] = hd_scramble(i);
    }
    for (uint64_t i = 0; i < 3; i++) { /* the words that would become reserved keys */
        uint64_t word = avalanche_undo(HD_KEY_RESERVED + i) - HD_GOLDEN;
        check(hd_avalanche(word + HD_GOLDEN) == HD_KEY_RESERVED + i, "not the word that was meant");
        key[N + i] = hd_scramble(word);
    }
    qsort(key, N + 3, sizeof *key, compare_u64);
    check(key[N + 2] < HD_KEY_RESERVED, "a reserved key");
    for (size_t i = 1; i < N + 3; i++) check(key[i] != key[i - 1], "key %" PRIu64 " twice", key[i]);
}

/* ---- Zipf against the exact distribution ----------------------------------------------------- */

/* The sum of k^-s for a <= k < b: term by term, the far part by the Euler-Maclaurin formula. */
static double power_sum(double s, double a, double b)
{
    long double sum = 0, from = a, e = 1 - (long double)s;
    for (; from < b && (from < 200 || b - from < 200); from++) sum += powl(from, -(long double)s);
    if (from >= b) return (double)sum;
    long double fa = powl(from, -(long double)s), fb = powl(b, -(long double)s), ratio = logl((long double)b / from);
    sum += e == 0 ? ratio : powl(from, e) * expm1l(e * ratio) / e;
    return (double)(sum + (fa - fb) / 2 + (long double)s / 12 * (fa / from - fb / b));
}

/* Ranks 1 to 100 alone, then stretches that grow by a third: edge[i] <= rank < edge[i + 1]. */
typedef struct ranks {
    double edge[256], expected[256];
    uint64_t seen[256];
    size_t bins;
    double most;
} ranks;

static void ranks_init(ranks *x, double s, double n, double draws)
{
    memset(x, 0, sizeof *x);
    double at = 1, all = power_sum(s, 1, n + 1);
    x->most = n;
    for (bool last = false; !last; x->bins++) {
        double next = at < 100 ? at + 1 : floor(at * 4 / 3);
        last = next > n;
        if (last) next = n + 1; /* from 2^53 on this may be n: the difference does not matter */
        x->edge[x->bins] = at;
        x->expected[x->bins] = draws * power_sum(s, at, next) / all;
        at = next;
    }
    x->edge[x->bins] = n + 1;
}

static void count_rank(void *context, const hd_request *r)
{
    ranks *x = (ranks *)context;
    double rank = (double)r->key + 1;
    check(rank <= x->most, "rank %g of %g", rank, x->most);
    size_t low = 0, high = x->bins;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (x->edge[middle] <= rank)
            low = middle;
        else
            high = middle;
    }
    x->seen[low]++;
}

static const double exponents[] = { 0, 1e-9, 0.5, 0.99, 1 - 0x1p-40, 1, 1 + 0x1p-40, 1.25, 2 };
enum { EXPONENTS = sizeof exponents / sizeof *exponents };

static void test_zipf(void)
{
    static const char *const keys[] = { "1", "2", "3", "10", "1000", "1M", "1099511627776", "4611686018427387904" };
    for (size_t i = 0; i < EXPONENTS; i++)
        for (size_t j = 0; j < sizeof keys / sizeof *keys; j++) {
            char spec[128];
            ranks x;
            snprintf(spec, sizeof spec, "zipf:%.17g,%s,scramble=0", exponents[i], keys[j]);
            ranks_init(&x, exponents[i], strcmp(keys[j], "1M") ? strtod(keys[j], NULL) : 1e6, DRAWS);
            draw(spec, 1 + i, DRAW_AT_ONCE, DRAWS, count_rank, &x);
            chi_check(x.seen, x.expected, x.bins);
        }
}

/* A test that could not fail would prove nothing: a slightly different exponent must be noticed. */
static void test_zipf_is_judged(void)
{
    ranks x;
    ranks_init(&x, 0.97, 1e6, DRAWS);
    draw("zipf:0.99,1M,scramble=0", 1, DRAW_AT_ONCE, DRAWS, count_rank, &x);
    double p = chi_p(x.seen, x.expected, x.bins);
    check(p < 1e-12, "p = %g for an exponent that is off by 0.02", p);
}

/* With 2^62 ranks a 53-bit number cannot name them all: the low bits must come all the same. */
static void test_zipf_low_bits(void)
{
    for (size_t i = 0; i < EXPONENTS; i++) {
        hd_zipf z = hd_zipf_of(exponents[i], HD_ZIPF_KEYS_MAX);
        hd_rng g = hd_rng_from(i);
        uint64_t seen[1024] = { 0 }, n = 0;
        double expected[1024];
        for (int j = 0; j < DRAWS; j++) {
            uint64_t k = hd_zipf_rank(&z, &g);
            if (k < 1 << 24) continue;
            seen[k % 1024]++;
            n++;
        }
        for (int j = 0; j < 1024; j++) expected[j] = (double)n / 1024;
        test_case("exponent %g: low 10 bits of %" PRIu64 " ranks from 2^24", exponents[i], n);
        chi_check(seen, expected, 1024);
    }
}

/* The ends of u's range, where rounding could pass rank 1 or n: a generator is made whose next word is chosen. */
static void test_zipf_ends(void)
{
    static const uint64_t n[] = { 1, 2, 3, 1000, 1ull << 40, 1ull << 53, (1ull << 62) - 1, 1ull << 62 };
    for (int i = 0; i <= 2000; i++)
        for (size_t j = 0; j < sizeof n / sizeof *n; j++) {
            hd_zipf z = hd_zipf_of(i / 1000.0, n[j]);
            for (uint64_t word = 0; word < 16; word++) {
                hd_rng g = hd_rng_from(word);
                uint64_t out = (word < 8 ? word : word - 16) << 11;
                g.s[1] = hd_rotate_left(out * 0x8e38e38e38e38e39u, 57) * 0xcccccccccccccccdu; /* 1/9, 1/5 mod 2^64 */
                hd_rng look = g;
                test_case("exponent %g, %" PRIu64 " ranks, word %016" PRIx64, z.s, n[j], out);
                check(hd_rng_next(&look) == out, "the generator has another next word");
                uint64_t k = hd_zipf_rank(&z, &g);
                check(k >= 1 && k <= n[j], "rank %" PRIu64, k);
            }
        }
}

static void test_zipf_ranks_are_in_range(void)
{
    for (size_t i = 0; i < EXPONENTS; i += 2) {
        hd_zipf z = hd_zipf_of(exponents[i], 1000000);
        hd_rng g = hd_rng_from(1);
        uint64_t sum = 0, n = 1000000;
        for (uint64_t j = 0; j < n; j++) sum += hd_zipf_rank(&z, &g);
        check(sum >= n && sum <= n * 1000000, "ranks from 1 to 1000000");
    }
}

/* ---- YCSB ------------------------------------------------------------------------------------ */

/* Verbs, and reads by rank; in workload D by age, over a number of records that grows, so that every read adds
 * its own expectation to the bins. */
static const double age[] = { 1, 2, 3, 4, 6, 9, 15, 30, 80, 200, 400, 1000, 1e6 };
enum { AGES = sizeof age / sizeof *age - 1 };

typedef struct served {
    ranks by_rank;
    uint64_t verbs[4], records;
    double sum;        /* of k^-0.99 over the records         */
    double part[AGES]; /* of it, in the bins by age but the last */
    bool latest;
} served;

static void serve(void *context, const hd_request *r)
{
    served *y = (served *)context;
    ranks *x = &y->by_rank;
    y->verbs[r->verb]++;
    if (r->verb == HD_INSERT) {
        check(r->key == y->records, "record %" PRIu64 " inserted as number %" PRIu64, r->key, y->records);
        y->records++;
        y->sum += pow((double)y->records, -0.99);
        return;
    }
    check(r->key < y->records, "record %" PRIu64 " of %" PRIu64, r->key, y->records);
    hd_request by_age = { .key = y->records - 1 - r->key };
    count_rank(x, y->latest ? &by_age : r);
    double left = 1;
    for (int b = 0; y->latest && b < AGES - 1; b++) {
        x->expected[b] += y->part[b] / y->sum;
        left -= y->part[b] / y->sum;
    }
    if (y->latest) x->expected[AGES - 1] += left;
}

static void test_ycsb(void)
{
    static const struct {
        const char *letter;
        double percent[4];
    } row[] = { { "A", { 50, 50, 0, 0 } },
                { "b", { 95, 5, 0, 0 } },
                { "C", { 100, 0, 0, 0 } },
                { "D", { 95, 0, 5, 0 } },
                { "F", { 50, 0, 0, 50 } } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const uint64_t n = DRAWS;
        char spec[64];
        double expected[4];
        served y = { 0 };
        snprintf(spec, sizeof spec, "ycsb:%s,1000,scramble=0", row[i].letter);
        y.records = 1000;
        y.latest = *row[i].letter == 'D';
        y.sum = power_sum(0.99, 1, 1001);
        ranks_init(&y.by_rank, 0.99, 1000, (double)n);
        if (y.latest) {
            y.by_rank = (ranks){ .bins = AGES, .most = 1e6 };
            memcpy(y.by_rank.edge, age, sizeof age);
            for (int b = 0; b < AGES - 1; b++) y.part[b] = power_sum(0.99, age[b], age[b + 1]);
        }
        draw(spec, 7, DRAW_AT_ONCE, n, serve, &y);
        for (int v = 0; v < 4; v++) expected[v] = row[i].percent[v] / 100 * (double)n;
        chi_check(y.verbs, expected, 4);
        chi_check(y.by_rank.seen, y.by_rank.expected, y.by_rank.bins);
    }
}

/* ---- Histograms ------------------------------------------------------------------------------ */

typedef struct popular {
    uint64_t *first, *seen, seen_half[2]; /* keys from first[b] on are bucket b */
    size_t buckets;
    uint64_t fresh;
} popular;

static void count_bucket(void *context, const hd_request *r)
{
    popular *p = (popular *)context;
    if (r->key >= p->first[p->buckets]) {
        check(r->key == p->first[p->buckets] + p->fresh, "key %" PRIu64 " is not the next new one", r->key);
        p->fresh++;
        return;
    }
    size_t low = 0, high = p->buckets;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (p->first[middle] <= r->key)
            low = middle;
        else
            high = middle;
    }
    p->seen[low]++;
    if (low + 1 == p->buckets) p->seen_half[(r->key - p->first[low]) * 2 >= p->first[low + 1] - p->first[low]]++;
}

/* A sample of `path` against the numbers in the file, read here once more. */
static void pop_judge(const char *path, bool one_hits)
{
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *weights = json_object_get(root, "popularityWeights"),
                 *buckets = json_object_get(root, "popularityBuckets");
    size_t n = json_array_size(weights);
    double *expected = (double *)test_alloc(n, sizeof *expected), sum = 0,
           share = json_number_value(json_object_get(root, "oneHits"));
    popular p = { .first = (uint64_t *)test_alloc(n + 1, 8), .seen = (uint64_t *)test_alloc(n, 8), .buckets = n };
    char spec[4200];
    check(n, "no histogram in %s", path);
    for (size_t i = 0; i < n; i++) {
        expected[i] = json_number_value(json_array_get(weights, i));
        sum += expected[i];
        p.first[i + 1] = p.first[i] + (uint64_t)json_integer_value(json_array_get(buckets, i));
    }
    snprintf(spec, sizeof spec, "pop:%s,scramble=0,onehits=%d", path, one_hits);
    draw(spec, 3, DRAW_AT_ONCE, 4 * DRAWS, count_bucket, &p);

    double known = 4.0 * DRAWS - (double)p.fresh;
    for (size_t i = 0; i < n; i++) expected[i] *= known / sum;
    chi_check(p.seen, expected, n);
    uint64_t both[2] = { p.fresh, 4 * DRAWS - p.fresh };
    double both_expected[2] = { one_hits ? share * 4 * DRAWS : 0, (one_hits ? 1 - share : 1) * 4 * DRAWS };
    chi_check(both, both_expected, 2);
    double half = (double)p.seen[n - 1] / 2, halves[2] = { half, half };
    if ((p.first[n] - p.first[n - 1]) % 2 == 0) chi_check(p.seen_half, halves, 2);
    json_decref(root);
    free(expected);
    free(p.first);
    free(p.seen);
}

static void test_pop_follower(void) { pop_judge(test_data("cachelib_graph_cache_follower_assocs.pop.json"), true); }
static void test_pop_leader(void) { pop_judge(test_data("cachelib_graph_cache_leader_fbobj.pop.json"), true); }
static void test_pop_kvcache(void) { pop_judge(test_data("cachelib_kvcache_reg.pop.json"), true); }

static void test_pop_small(void)
{
    static const char *const good[] = {
        "{\"popularityWeights\":[5],\"popularityBuckets\":[2]}",
        "{\"popularityWeights\":[1,0,3,2],\"popularityBuckets\":[1,1,2,500],\"oneHits\":0.5}",
        "{\"popularityWeights\":[0.5,0.25,1e-1,0.15],\"popularityBuckets\":[1,1,1,4]}",
        "{\"popularityWeights\":[9000000000000000000,9000000000000000000,9],\"popularityBuckets\":[1,2,4]}",
        ("{\"popularityWeights\":[1,2,3,4,5,6,7,8,9,10,100,3,3,3],\"popularityBuckets\":[1,1,1,1,1,1,1,1,1,1,1,1,1,2],"
         "\"oneHits\":0}"),
        "{\"popularityWeights\":[100,10,9,8,7,6,5,4,3,2,1,1,1,1],\"popularityBuckets\":[1,1,1,1,1,1,1,1,1,1,1,1,1,2]}",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (int one_hits = 0; one_hits < 2; one_hits++) pop_judge(text_file("good.pop.json", good[i]), one_hits != 0);
}

static void test_pop_bad(void)
{
    static const test_refusal row[] = {
        { "", "bad JSON" },
        { "{", "line 1" },
        { "{\"popularityWeights\":[1,", "bad JSON" },
        { "[1,2]", "popularityWeights" },
        { "{}", "no array 'popularityWeights'" },
        { "{\"popularityWeights\":[1]}", "no array 'popularityBuckets'" },
        { "{\"popularityWeights\":[],\"popularityBuckets\":[]}", "empty" },
        { "{\"popularityWeights\":[1,2],\"popularityBuckets\":[1]}", "2 weights for 1 buckets" },
        { "{\"popularityWeights\":[1,-2],\"popularityBuckets\":[1,1]}", "popularityWeights[1]" },
        { "{\"popularityWeights\":[1,\"x\"],\"popularityBuckets\":[1,1]}", "popularityWeights[1]" },
        { "{\"popularityWeights\":[0,0],\"popularityBuckets\":[1,1]}", "sum" },
        { "{\"popularityWeights\":[1e308,1e308],\"popularityBuckets\":[1,1]}", "sum" },
        { "{\"popularityWeights\":[1,1],\"popularityBuckets\":[1,0]}", "popularityBuckets[1]" },
        { "{\"popularityWeights\":[1,1],\"popularityBuckets\":[1.5,1]}", "popularityBuckets[0]" },
        { "{\"popularityWeights\":[1,1],\"popularityBuckets\":[1,9000000000000000000]}", "popularityBuckets[1]" },
        { "{\"popularityWeights\":[1],\"popularityBuckets\":[1],\"oneHits\":1}", "oneHits" },
        { "{\"popularityWeights\":[1],\"popularityBuckets\":[1],\"oneHits\":\"no\"}", "oneHits" },
        { "{\"popularityWeights\":[1],\"popularityWeights\":[1],\"popularityBuckets\":[1]}", "duplicate" },
        { "{\"popularityWeights\":[1],\"popularityBuckets\":[1]} more", "bad JSON" }
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char spec[4200];
        hd_source *s = NULL;
        const char *path = text_file("bad.pop.json", row[i].text);
        snprintf(spec, sizeof spec, "pop:%s", path);
        test_case("%s", row[i].text);
        must_fail(hd_source_open_spec(spec, 0, &s), HD_ECORRUPT, row[i].word);
        must_fail(hd_source_open_spec(spec, 0, &s), HD_ECORRUPT, path);
        check(!s, "a source all the same");
    }
}

static const struct CMUnitTest tests[] = { unit(test_chi_tail),       unit(test_exp_and_log),
                                           unit(test_uniform),        unit(test_below_is_even),
                                           unit(test_scramble),       unit(test_zipf),
                                           unit(test_zipf_is_judged), unit(test_zipf_low_bits),
                                           unit(test_zipf_ends),      unit(test_zipf_ranks_are_in_range),
                                           unit(test_ycsb),           unit(test_pop_follower),
                                           unit(test_pop_leader),     unit(test_pop_kvcache),
                                           unit(test_pop_small),      unit(test_pop_bad) };

int main(void) { return test_run(tests); }
