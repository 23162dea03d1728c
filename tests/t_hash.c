/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hash.c - from a key to its buckets and digest (policies/hashes/hash.h): vectors, algebra, and evenness.
 *
 * The vectors come from whole numbers in Python, where nothing wraps by itself:
 *
 *     M = 2**64 - 1
 *     def fmix(x):
 *         x ^= x >> 33; x = x * 0xff51afd7ed558ccd & M; x ^= x >> 33
 *         x = x * 0xc4ceb9fe1a85ec53 & M; return x ^ x >> 33
 *     def place(key, seed, n):
 *         h = fmix(key ^ seed); first = h * n >> 64; second = ((h << 32 | h >> 32) & M) * n >> 64
 *         if second == first: second = (first + 1) % n
 *         return first, second, 1 + (((h ^ h >> 32) & 0xffff) * 255 >> 16)
 *
 * fmix is fmix64 of MurmurHash3.cpp (Appleby, SMHasher); 1 -> b456bcfc34c2cb2c is its best-known value.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/hashes/hash.h"
#include "tests/chi.h"
#include "tests/model.h"

static void mix64_vectors(void)
{
    static const uint64_t vector[][2] = {
        { 0x0000000000000000u, 0x0000000000000000u }, { 0x0000000000000001u, 0xb456bcfc34c2cb2cu },
        { 0x0000000000000002u, 0x3abf2a20650683e7u }, { 0x0000000000000003u, 0x0b5181c509f8d8ceu },
        { 0x00000000000000ffu, 0x1200a2a61d248b28u }, { 0x0000000100000000u, 0xba3a9e160a5f1419u },
        { 0x8000000000000000u, 0x8f780810af31a493u }, { 0x00000000deadbeefu, 0xd24bd59f862a1dacu },
        { 0x0123456789abcdefu, 0x87cbfbfe89022ceau }, { 0xfedcba9876543210u, 0x03ebebcc1f4a6fd7u },
        { 0xffffffffffffffffu, 0x64b5720b4b825f21u }, { 0xfffffffffffffffeu, 0x3a8593886c55a02bu },
        { 0xfffffffffffffffdu, 0xaa3bfbb05a0636c2u }, { 0x5555555555555555u, 0xbfa76d135217973du },
        { 0xaaaaaaaaaaaaaaaau, 0xdf6f9107dbf4372bu }, { 0x000000000000002au, 0x810879608e4259ccu },
    };
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++)
        check(hd_mix64(vector[i][0]) == vector[i][1], "mix64(%llx) = %llx", (ull)vector[i][0],
              (ull)hd_mix64(vector[i][0]));
}

static void place_vectors(void)
{
    static const struct {
        uint64_t key, seed, buckets, first, second;
        int digest;
    } vector[] = {
        { 0x0u, 0x0u, 2u, 0u, 1u, 1 },
        { 0x1u, 0x0u, 2u, 1u, 0u, 120 },
        { 0x1u, 0x0u, 3u, 2u, 0u, 120 },
        { 0x2u, 0x0u, 7u, 1u, 2u, 170 },
        { 0x2au, 0x0u, 1000u, 504u, 555u, 33 },
        { 0x2au, 0x2au, 1000u, 0u, 1u, 1 },
        { 0xdeadbeefu, 0x0u, 65536u, 53835u, 34346u, 200 },
        { 0xdeadbeefu, 0x1u, 65536u, 40953u, 44395u, 110 },
        { 0xfffffffffffffffcu, 0x0u, 131072u, 49715u, 5737u, 32 },
        { 0x3039u, 0x63u, 131071u, 35127u, 57735u, 211 },
        { 0x7u, 0x0u, 16777216u, 7604009u, 14969041u, 248 },
        { 0x7u, 0x123456789abcdefu, 16777217u, 5892661u, 4835746u, 151 },
        { 0x8u, 0x0u, 4294967296u, 1185664165u, 2476983943u, 11 },
        { 0x9u, 0xffffffffffffffffu, 1099511627775u, 718246527333u, 438579869606u, 178 },
        { 0x75bcd15u, 0x0u, 144115188075855872u, 80774875497040369u, 56024451277322322u, 209 },
    };
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++) {
        uint64_t h = hd_hash(vector[i].key, vector[i].seed), b[2];
        model m = { .buckets = vector[i].buckets, .seed = vector[i].seed, .dual = true };
        test_case("key=%llu seed=%llu buckets=%llu", (ull)vector[i].key, (ull)vector[i].seed, (ull)vector[i].buckets);
        check(hd_first_bucket(h, vector[i].buckets) == vector[i].first, "first %llu",
              (ull)hd_first_bucket(h, vector[i].buckets));
        check(hd_second_bucket(h, vector[i].buckets) == vector[i].second, "second %llu",
              (ull)hd_second_bucket(h, vector[i].buckets));
        check(hd_digest(h) == vector[i].digest, "digest %d", hd_digest(h));
        check(model_buckets(&m, vector[i].key, b) == 2 && b[0] == vector[i].first && b[1] == vector[i].second,
              "the model says %llu, %llu", (ull)b[0], (ull)b[1]);
    }
}

/* ---- Algebra --------------------------------------------------------------------------------- */

static void mix64_is_a_bijection(void)
{
    uint64_t random = 1;
    for (uint64_t i = 0; i < 1000000; i++) {
        uint64_t x = i < 1000   ? i
                     : i < 2000 ? UINT64_MAX - i
                     : i < 2064 ? (uint64_t)1 << (i - 2000)
                                : test_random(&random);
        check(model_unhash(hd_mix64(x), 0) == x && hd_mix64(model_unhash(x, 0)) == x, "x = %llx", (ull)x);
    }
}

static uint64_t some_buckets(uint64_t *random, uint64_t most)
{
    uint64_t n = test_random(random) >> test_below(random, 63);
    return 1 + n % most;
}

static uint64_t some_hash(uint64_t *random)
{
    switch (test_below(random, 4)) {
    case 0: return test_below(random, 4);
    case 1: return UINT64_MAX - test_below(random, 4);
    default: return test_random(random);
    }
}

/* The product's upper half by 32-bit digits, and the bucket as a split of the range [0, 2^64). */
static void bucket_is_the_high_half(void)
{
    uint64_t random = 2;
    for (int i = 0; i < 1000000; i++) {
        uint64_t h = some_hash(&random), n = some_buckets(&random, UINT64_MAX - 1), b = hd_first_bucket(h, n);
        uint64_t low = (h & 0xffffffffu) * (n & 0xffffffffu), a = (h >> 32) * (n & 0xffffffffu),
                 c = (h & 0xffffffffu) * (n >> 32);
        uint64_t carry = ((low >> 32) + (a & 0xffffffffu) + (c & 0xffffffffu)) >> 32;
        uint64_t want = (h >> 32) * (n >> 32) + (a >> 32) + (c >> 32) + carry;
        check(b == want && b < n, "h = %llx, %llu buckets: %llu", (ull)h, (ull)n, (ull)b);
    }
}

/* With k times the buckets, the children of bucket b are kb .. kb + k - 1; 2b and 2b+1 for doubling. */
static void growth_splits_buckets(void)
{
    uint64_t random = 3;
    for (int i = 0; i < 1000000; i++) {
        uint64_t h = some_hash(&random), n = some_buckets(&random, (uint64_t)1 << 56),
                 k = i % 2 ? 2 : 1 + test_below(&random, 64);
        uint64_t before = hd_first_bucket(h, n), after = hd_first_bucket(h, n * k);
        check(after / k == before, "h = %llx, %llu x %llu buckets: %llu, then %llu", (ull)h, (ull)n, (ull)k,
              (ull)before, (ull)after);
    }
}

static void candidates_differ(void)
{
    for (uint64_t n = 2; n <= 1000; n++) {
        uint64_t random = n;
        for (int i = 0; i < 1000; i++) {
            /* equal halves */
            uint64_t h = i < 500 ? test_random(&random) : test_below(&random, 0x100000000u) * 0x100000001u;
            uint64_t a = hd_first_bucket(h, n), b = hd_second_bucket(h, n);
            check(a != b && a < n && b < n, "h = %llx, %llu buckets: %llu and %llu", (ull)h, (ull)n, (ull)a, (ull)b);
        }
    }
}

static void digest_is_never_empty(void)
{
    bool seen[256] = { false };
    for (uint64_t low = 0; low < 65536; low++) seen[hd_digest(low)] = true; /* all that it can be */
    for (uint64_t random = 4, i = 0; i < 1000000; i++) check(hd_digest(some_hash(&random)) != 0, "a digest of 0");
    check(!seen[0], "a digest of 0");
    for (int d = 1; d < 256; d++) check(seen[d], "no key has digest %d", d);
}

/* ---- Evenness: chi-squared ------------------------------------------------------------------- */

/* Of `classes` counts with the same expectation; must be within six standard deviations of its mean (on
 * both sides: too even is not random either, for random keys). */
static void even(const char *what, const uint64_t *count, uint64_t classes, uint64_t n, bool both_sides)
{
    double chi = chi_of_even(count, classes, n), freedom = (double)classes - 1, width = 6 * sqrt(2 * freedom) + 6;
    check(chi < freedom + width && (!both_sides || chi > freedom - width),
          "%s: chi-squared %.1f for %.0f degrees of freedom", what, chi, freedom);
}

/* Keys as people have them: counted, strided, bit fields, pointers, random. */
static uint64_t key_of_kind(int kind, uint64_t i, uint64_t *random)
{
    switch (kind) {
    case 0: return i;
    case 1: return i << 32;
    case 2: return i * 4096;
    case 3: return (i & 0x3ff) << 50 | i >> 10;
    case 4: return 0x7f0000000000u + i * 16;
    default: return test_random(random);
    }
}

static void buckets_and_digests_are_even(void)
{
    static const uint64_t buckets[] = { 2, 3, 7, 100, 128, 1000, 4096, 10007 };
    uint64_t n = 1u << 20, *first = (uint64_t *)test_alloc(10007, 8), *second = (uint64_t *)test_alloc(10007, 8),
             digest[256];
    for (int kind = 0; kind <= 5; kind++)
        for (size_t k = 0; k < sizeof buckets / sizeof buckets[0]; k++) {
            uint64_t random = 5, most = buckets[k];
            memset(first, 0, most * sizeof *first);
            memset(second, 0, most * sizeof *second);
            memset(digest, 0, sizeof digest);
            test_case("keys of kind %d, %llu buckets", kind, (ull)most);
            for (uint64_t i = 0; i < n; i++) {
                uint64_t h = hd_hash(key_of_kind(kind, i, &random), kind == 3 ? 77 : 0);
                first[hd_first_bucket(h, most)]++;
                second[hd_second_bucket(h, most)]++;
                digest[hd_digest(h) - 1]++;
            }
            even("first buckets", first, most, n, kind == 5);
            even("second buckets", second, most, n, kind == 5);
            if (k == 0) even("digests", digest, 255, n, kind == 5);
        }
    free(first);
    free(second);
}

/* Within one bucket, however it was chosen and however many there are, digests are still even: what a
 * bucket's number says of a key, its digest must not repeat. Hashes are made to measure: mix64 is a
 * bijection, so they are as likely as any. */
static void digests_are_even_within_a_bucket(void)
{
    for (int bits = 1; bits <= 32; bits++)
        for (int choice = 0; choice < 2; choice++) {
            uint64_t random = 6, digest[256] = { 0 }, n = 200000, counted = 0,
                     b = test_below(&random, (uint64_t)1 << bits);
            test_case("2^%d buckets, bucket %llu, %s choice", bits, (ull)b, choice ? "second" : "first");
            for (uint64_t i = 0; i < n; i++) {
                uint64_t h = test_random(&random) >> bits | b << (64 - bits);
                if (choice) h = h << 32 | h >> 32;
                if (choice && hd_first_bucket(h, (uint64_t)1 << bits) == b) continue; /* would go next door */
                uint64_t is =
                    choice ? hd_second_bucket(h, (uint64_t)1 << bits) : hd_first_bucket(h, (uint64_t)1 << bits);
                check(is == b, "bucket %llu", (ull)is);
                digest[hd_digest(h) - 1]++;
                counted++;
            }
            even("digests", digest, 255, counted, true);
        }
}

static const struct CMUnitTest tests[] = { unit(mix64_vectors),
                                           unit(place_vectors),
                                           unit(mix64_is_a_bijection),
                                           unit(bucket_is_the_high_half),
                                           unit(growth_splits_buckets),
                                           unit(candidates_differ),
                                           unit(digest_is_never_empty),
                                           unit(buckets_and_digests_are_even),
                                           unit(digests_are_even_within_a_bucket) };

int main(void) { return test_run(tests); }
