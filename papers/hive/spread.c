/* SPDX-License-Identifier: Apache-2.0
 *
 * spread.c - how a hash function shares out keys among buckets, beside what chance does: Theorem 1 and Figure 3 of
 * Hive.
 *
 *     spread head [pair]
 *     spread fill [hash=NAME] [keys=KIND] [buckets=NUMBER] [most=NUMBER]
 *     spread pair [hash=NAME] [other=NAME] [keys=KIND] [most=NUMBER]
 *     spread exact [buckets=NUMBER] [most=NUMBER]
 *
 * `fill` puts 32-bit keys into the buckets that the lowest bits of their hash say, and prints a row of tab-separated
 * figures at 512, 1,024 ... `most` keys. The paper's formulas are lost in the text that we have. So these are ours: of
 * n keys that each fall in one of m buckets by chance
 *
 *     empty       E = m q,  q = (1 - 1/m)^n          V = m q (1 - q) + m (m - 1) ((1 - 2/m)^n - q^2)
 *     collisions  n - (m - empty): keys that came to a bucket where one was; their variance is that of the empty
 *                 buckets
 *     loads       chi-squared = sum of (load - n/m)^2 / (n/m):  E = m - 1,  V = 2 (m - 1) (1 - 1/n)
 *
 * Columns: hash, keys, buckets, n; collisions, those expected, their standard deviation; the ratio of expected to seen
 * (csr, the paper's name); by how many deviations collisions are above what is expected; the same of the loads'
 * chi-squared. `head` prints their names.
 *
 * `pair` shares out keys among 1 Mi cells, by the lowest ten bits of one hash and of another: two candidate buckets of
 * a key, which cuckoo hashing wants to be independent. Rows at 64 Ki, 256 Ki ... `most` keys: hash, other, keys, n, the
 * sum of the loads' squares, chi-squared's deviations above chance. A function with itself is given another seed. `head
 * pair` prints the columns' names.
 *
 * `exact` prints mean and variance of the empty buckets, by these formulas and over all m^n ways in which few keys can
 * fall.
 *
 * Keys: sequential (0, 1, 2 ...), odd (1, 3, 5 ...), strided (multiples of 64), random (different ones). hash=chance
 * draws the buckets.
 */
#define EXPERIMENT "spread"
#include <math.h>

#include "policies/hashes/hashes.h"
#include "papers/words.h"
#include "workload/rng.h"

typedef struct words {
    char hash[16], other[16], keys[16];
    uint64_t buckets, most;
} words;

/* ---- What chance does ------------------------------------------------------------------------ */

typedef struct expectation {
    double mean, variance;
} expectation;

/* (1 - 2/m)^n - q^2 is the difference of two near numbers: (1 - 2/m) = (1 - 1/m)^2 (1 - 1/(m - 1)^2) takes it apart. */
static expectation empty_by_chance(double m, double n)
{
    double q = m > 1 ? exp(n * log1p(-1 / m)) : 0;
    double pairs = m > 2 ? q * q * expm1(n * log1p(-1 / ((m - 1) * (m - 1)))) : -q * q;
    return (expectation){ m * q, m * q * (1 - q) + m * (m - 1) * pairs };
}

/* Over all ways: number i's digits, base m, are where the keys fall. */
static expectation empty_over_all(uint64_t m, uint64_t n)
{
    double ways = pow((double)m, (double)n), sum = 0, squares = 0;
    if (m > 64 || ways > 1e8) stop("exact", "too many ways");
    for (uint64_t i = 0; i < (uint64_t)ways; i++) {
        uint64_t taken = 0, left = i, empty = m;
        for (uint64_t k = 0; k < n; k++, left /= m) {
            empty -= !(taken >> left % m & 1);
            taken |= (uint64_t)1 << left % m;
        }
        sum += (double)empty;
        squares += (double)(empty * empty);
    }
    return (expectation){ sum / ways, squares / ways - sum / ways * (sum / ways) };
}

static void exact(const words *w)
{
    expectation formula = empty_by_chance((double)w->buckets, (double)w->most),
                all = empty_over_all(w->buckets, w->most);
    printf("%.9f\t%.9f\t%.9f\t%.9f\n", formula.mean, all.mean, formula.variance, all.variance);
}

/* ---- Keys and where they fall ---------------------------------------------------------------- */

enum { SEQUENTIAL, ODD, STRIDED, RANDOM, KINDS };

static int kind_named(const char *name)
{
    static const char *const names[KINDS] = { "sequential", "odd", "strided", "random" };
    for (int kind = 0; kind < KINDS; kind++)
        if (strcmp(names[kind], name) == 0) return kind;
    stop("keys", name);
    return 0;
}

/* Different numbers for different i: a Feistel network of four rounds. */
static uint32_t scrambled(uint32_t i)
{
    uint32_t left = i >> 16, right = i & 0xffff;
    for (uint64_t round = 1; round <= 4; round++) {
        uint32_t next = left ^ (uint32_t)(hd_avalanche(round << 32 | right) >> 48);
        left = right;
        right = next;
    }
    return left << 16 | right;
}

static uint32_t key_of(int kind, uint32_t i)
{
    switch (kind) {
    case SEQUENTIAL: return i;
    case ODD: return 2 * i + 1;
    case STRIDED: return 64 * i;
    default: return scrambled(i);
    }
}

static uint32_t hash_named(const char *name)
{
    for (uint32_t f = 0; f < HD_HASH_COUNT; f++)
        if (strcmp(hd_hash_rows[f].name, name) == 0) return f;
    if (strcmp(name, "chance") != 0) stop("hash", name);
    return HD_HASH_COUNT;
}

static uint64_t bucket_of(uint32_t function, uint32_t key, uint64_t seed, hd_rng *rng)
{
    return function < HD_HASH_COUNT ? hd_hash_of32(function, key, seed) : hd_rng_next(rng);
}

/* ---- Filling --------------------------------------------------------------------------------- */

/* By how many deviations chi-squared is above its mean. */
static double loads_above(double m, double n, double squares)
{
    double chi = squares * m / n - n;
    return (chi - (m - 1)) / sqrt(2 * (m - 1) * (1 - 1 / n));
}

static void row(const words *w, uint64_t count, uint64_t taken, double squares)
{
    double m = (double)w->buckets, n = (double)count;
    expectation empty = empty_by_chance(m, n);
    /* all but certain */
    double collisions = n - (double)taken, expected = n - m + empty.mean, deviation = sqrt(fmax(empty.variance, 1e-6));
    printf("%s\t%s\t%.0f\t%.0f\t%.0f\t%.3f\t%.3f\t%.5f\t%.2f\t%.2f\n", w->hash, w->keys, m, n, collisions, expected,
           deviation, expected / collisions, (collisions - expected) / deviation, loads_above(m, n, squares));
}

/* The sum of the loads' squares grows by 2 load + 1 with each key. */
static void fill(const words *w)
{
    uint32_t function = hash_named(w->hash), *load = (uint32_t *)calloc(w->buckets, sizeof *load);
    uint64_t taken = 0, squares = 0;
    int kind = kind_named(w->keys);
    hd_rng rng = hd_rng_from(1);
    if (!load) stop("memory", "refused");
    for (uint64_t i = 0, next = 512; i < w->most;) {
        uint32_t *here = &load[bucket_of(function, key_of(kind, (uint32_t)i), 0, &rng) & (w->buckets - 1)];
        taken += *here == 0;
        squares += 2 * (uint64_t)*here + 1;
        ++*here;
        if (++i == next) {
            row(w, i, taken, (double)squares);
            next *= 2;
        }
    }
    free(load);
}

static void pair(const words *w)
{
    enum { BITS = 10, CELLS = 1 << 2 * BITS };
    uint32_t one = hash_named(w->hash), other = hash_named(w->other), *load = (uint32_t *)calloc(CELLS, sizeof *load);
    uint64_t squares = 0, seed = one == other ? 0x5bd1e995u : 0;
    int kind = kind_named(w->keys);
    hd_rng rng = hd_rng_from(1);
    if (!load) stop("memory", "refused");
    for (uint64_t i = 0, next = 1 << 16; i < w->most;) {
        uint32_t key = key_of(kind, (uint32_t)i);
        uint64_t a = bucket_of(one, key, 0, &rng) & ((1 << BITS) - 1),
                 b = bucket_of(other, key, seed, &rng) & ((1 << BITS) - 1);
        squares += 2 * (uint64_t)load[a << BITS | b]++ + 1;
        if (++i == next) {
            printf("%s\t%s\t%s\t%.0f\t%.0f\t%.2f\n", w->hash, w->other, w->keys, (double)i, (double)squares,
                   loads_above(CELLS, (double)i, (double)squares));
            next *= 4;
        }
    }
    free(load);
}

static void run(const char *what, const words *w, bool in_pairs)
{
    if (strcmp(what, "head") == 0) {
        puts(in_pairs ? "hash\tother\tkeys\tn\tsquares\tloads_above"
                      : "hash\tkeys\tbuckets\tn\tcollisions\texpected\tdeviation\tcsr\tabove\tloads_above");
    } else if (strcmp(what, "exact") == 0) {
        exact(w);
    } else if (strcmp(what, "pair") == 0) {
        pair(w);
    } else if (strcmp(what, "fill") == 0) {
        if (w->buckets < 2 || (w->buckets & (w->buckets - 1))) stop("buckets", "a power of two, from 2");
        fill(w);
    } else {
        stop("no such experiment", what);
    }
}

int main(int argc, char **argv)
{
    words w = { "crc32", "crc64", "sequential", 1 << 20, 1 << 25 };
    if (argc < 2) stop("spread", "head, fill, pair or exact");
    bool in_pairs = argc == 3 && strcmp(argv[1], "head") == 0 && strcmp(argv[2], "pair") == 0;
    const word_row rows[] = {
        /* clang-format off */
        { "hash=", WORD_TEXT, 0, w.hash },
        { "other=", WORD_TEXT, 0, w.other },
        { "keys=", WORD_TEXT, 0, w.keys },
        { "buckets=", WORD_WHOLE, 1 << 28, &w.buckets },
        { "most=", WORD_WHOLE, 1 << 26, &w.most },
        /* clang-format on */
    };
    int first = in_pairs ? 3 : 2;
    WORDS_READ(argv + first, argc - first, rows);
    if (w.buckets == 0 || w.most == 0) stop("buckets, most", "at least 1");
    run(argv[1], &w, in_pairs);
    return fflush(stdout) || ferror(stdout) ? 4 : 0;
}
