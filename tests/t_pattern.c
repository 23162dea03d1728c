/* SPDX-License-Identifier: Apache-2.0
 *
 * t_pattern.c - the sequences of workload/keys_pattern.c: which keys they have, how often and in which order, by the
 * definitions at the top of that file; every key of short ones, samples of long ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/chi.h"
#include "tests/traces.h"

/* What a kind promises. `blocks`: a block is so many times the option; 0: the whole sequence. */
typedef struct promise {
    const char *kind;
    uint64_t blocks;
    bool dense, repeats, random;
} promise;

static const promise promises[] = { { "mi", 0, true, false, false }, { "du", 1, true, false, true },
                                    { "dr", 1, true, true, true },   { "su", 0, false, false, true },
                                    { "sr", 0, false, true, true },  { "sur", 1, false, false, true },
                                    { "dul", 2, true, false, true }, { "zz", 0, false, false, false } };
enum { PROMISES = sizeof promises / sizeof *promises };

typedef struct list {
    uint64_t *key, n, most;
} list;

static void list_add(void *context, const hd_request *r)
{
    list *l = (list *)context;
    check(l->n < l->most, "too many requests");
    check(r->verb == HD_READ && r->size == 1, "a request of another kind");
    l->key[l->n++] = r->key;
}

/* n requests; free() the keys. */
static list keys_of(const char *spec, uint64_t seed, uint64_t n)
{
    list l = { (uint64_t *)malloc((n ? n : 1) * sizeof *l.key), 0, n };
    check(l.key, "no memory");
    test_case("%s", spec);
    draw(spec, seed, DRAW_AT_ONCE, n, list_add, &l);
    return l;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many different keys there are; sorts them. */
static uint64_t distinct(uint64_t *key, uint64_t n)
{
    uint64_t different = n > 0;
    qsort(key, n, sizeof *key, compare_u64);
    for (uint64_t i = 1; i < n; i++) different += key[i] != key[i - 1];
    return different;
}

static uint64_t repeats_in(const promise *p, uint64_t requests) { return p->repeats ? requests / 5 : 0; }

/* One block of a sequence: how many different keys, and from where to where they are. */
static void check_block(const promise *p, uint64_t *key, uint64_t n, uint64_t low, uint64_t high)
{
    uint64_t different = distinct(key, n);
    check(different == n - repeats_in(p, n), "%" PRIu64 " different keys of %" PRIu64, different, n);
    check(key[0] >= low && key[n - 1] <= high, "keys %" PRIu64 " to %" PRIu64 ", not within %" PRIu64 " to %" PRIu64,
          key[0], key[n - 1], low, high);
    if (p->dense && !p->repeats && high - low + 1 == n)
        check(key[0] == low && key[n - 1] == high, "a key of the block is missing");
}

static void check_whole(const promise *p, list l, uint64_t option, uint64_t range)
{
    const uint64_t block = p->blocks ? p->blocks * option : l.n, blocks = (l.n - 1) / block + 1;
    const uint64_t top = strcmp(p->kind, "dul") == 0 ? blocks * block : p->dense ? l.n : range;
    uint64_t different = 0;
    for (uint64_t b = 0; b < blocks; b++) {
        const uint64_t first = b * block, n = l.n - first < block ? l.n - first : block;
        const bool parts = p->dense && p->blocks;
        const uint64_t low = parts ? first + 1 : 1, high = parts && first + block < top ? first + block : top;
        check_block(p, l.key + first, n, low, high);
        different += n - repeats_in(p, n);
    }
    check(distinct(l.key, l.n) == different, "a key is in two blocks");
}

static void test_every_short_one(void)
{
    static const uint64_t lengths[] = { 1, 2, 3, 4, 5, 9, 10, 16, 17, 100, 1000, 1024, 4097 };
    static const uint64_t blocks[] = { 1, 2, 7, 64, 1000, 500000000 };
    for (size_t k = 0; k < PROMISES; k++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
                for (uint64_t wide = 0; wide < 3; wide++) {
                    const uint64_t n = lengths[i];
                    const uint64_t parts = (n - 1) / blocks[b] + 1, needed = blocks[b] < n ? parts * blocks[b] : n;
                    const uint64_t range = wide == 0 ? needed : wide == 1 ? 3 * needed + 1 : 1ull << 40;
                    char spec[128];
                    snprintf(spec, sizeof spec, "pattern:%s,%" PRIu64 ",block=%" PRIu64 ",range=%" PRIu64,
                             promises[k].kind, n, blocks[b], range);
                    list l = keys_of(spec, n + wide, n);
                    check_whole(&promises[k], l, blocks[b], range);
                    free(l.key);
                }
}

/* The orders that have no chance in them, key by key. */
static void test_orders(void)
{
    enum { N = 1001 };
    list up = keys_of("pattern:mi,1001", 1, N), zigzag = keys_of("pattern:zz,1001", 1, N),
         theirs = keys_of("pattern:zz,1001,range=artifact", 1, N), all = keys_of("pattern:zz,1001,range=1001", 1, N);
    for (uint64_t i = 0; i < N; i++) {
        check(up.key[i] == i + 1, "mi: request %" PRIu64, i);
        check(zigzag.key[i] == (i % 2 ? UINT32_MAX - 1u - i / 2 : i / 2 + 1), "zz: request %" PRIu64, i);
        check(theirs.key[i] == (i % 2 ? 4000000000u - i / 2 : i / 2 + 1), "zz, artifact: request %" PRIu64, i);
    }
    check(distinct(all.key, N) == N && all.key[N - 1] == N, "zz: not every key of its range");
    free(up.key);
    free(zigzag.key);
    free(theirs.key);
    free(all.key);
}

/* The second pass is the first, and another seed has another order. */
static void test_passes(void)
{
    enum { N = 777 };
    for (size_t k = 0; k < PROMISES; k++) {
        char spec[64];
        snprintf(spec, sizeof spec, "pattern:%s,777,block=100", promises[k].kind);
        list l = keys_of(spec, 3, 2 * N), other = keys_of(spec, 4, N), same = keys_of(spec, 3, N);
        check(memcmp(l.key, l.key + N, N * sizeof *l.key) == 0, "the second pass has other keys");
        check(memcmp(l.key, same.key, N * sizeof *l.key) == 0, "the same seed, other keys");
        check((memcmp(l.key, other.key, N * sizeof *l.key) != 0) == promises[k].random,
              "the seed does what it should not");
        free(l.key);
        free(other.key);
        free(same.key);
    }
}

/* hd_source.keys is how many different keys a sequence has. */
static void test_number_of_keys(void)
{
    for (size_t k = 0; k < PROMISES; k++)
        for (uint64_t n = 1; n < 300; n += 7) {
            char spec[64];
            hd_source *s = NULL;
            snprintf(spec, sizeof spec, "pattern:%s,%" PRIu64 ",block=64", promises[k].kind, n);
            list l = keys_of(spec, n, n);
            must(hd_source_open_spec(spec, n, &s));
            check(s->keys == distinct(l.key, n), "%" PRIu64 " keys are promised", s->keys);
            hd_source_close(s);
            free(l.key);
        }
}

/* In a random order each key is equally likely at each place: cells of place and key, over a long sequence (a table of
 * 16 x 16 whose rows and columns have the same sums has 15 x 15 degrees of freedom, which chi_p takes as 255: p is too
 * great, so p near 1 is right and p near 0 wrong all the more). */
static void test_random_orders(void)
{
    enum { N = 1 << 18, CELLS = 16 };
    static const struct {
        const char *spec;
        uint64_t block, width; /* of the block that is looked at; its keys are among 1 to width */
    } row[] = { { "pattern:du,262144", N, N },
                { "pattern:du,262144,block=4096", 4096, 4096 },
                { "pattern:dr,262144", N, N },
                { "pattern:su,262144", N, UINT32_MAX - 1u },
                { "pattern:su,262144,range=262145", N, N + 1 },
                { "pattern:sr,262144,range=artifact", N, 4000000000u },
                { "pattern:dul,262144,block=2048", 4096, 4096 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint64_t seen[CELLS * CELLS] = { 0 };
        double expected[CELLS * CELLS];
        list l = keys_of(row[i].spec, 9 + i, row[i].block);
        for (uint64_t j = 0; j < l.n; j++)
            seen[j * CELLS / l.n * CELLS + (uint64_t)((double)(l.key[j] - 1) / (double)row[i].width * CELLS)]++;
        for (int j = 0; j < CELLS * CELLS; j++) expected[j] = (double)l.n / (CELLS * CELLS);
        chi_check(seen, expected, CELLS * CELLS);
        free(l.key);
    }
}

/* The order of a few requests, over many seeds: all 24 permutations of 4 come, each as often. */
static void test_small_permutations(void)
{
    enum { SEEDS = 24000 };
    uint64_t seen[256] = { 0 }, all[24];
    double expected[24];
    size_t kinds = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        list l = keys_of("pattern:du,4", seed, 4);
        seen[l.key[0] - 1 + 4 * (l.key[1] - 1) + 16 * (l.key[2] - 1) + 64 * (l.key[3] - 1)]++;
        free(l.key);
    }
    for (size_t i = 0; i < 256; i++)
        if (seen[i] && kinds < 24) all[kinds++] = seen[i];
    check(kinds == 24, "%zu orders", kinds);
    for (size_t i = 0; i < 24; i++) expected[i] = SEEDS / 24.0;
    chi_check(all, expected, 24);
}

/* The repeated keys are random ones: over a long sequence, how often each came twice or more is Poisson's. */
static void test_repeats(void)
{
    enum { N = 500000, MOST = 5 };
    uint64_t seen[MOST + 1] = { 0 };
    double expected[MOST + 1], mean = 0.25, p = exp(-mean), left = 1;
    list l = keys_of("pattern:sr,500000", 5, N);
    check(distinct(l.key, N) == N - N / 5, "repeats are no fifth");
    for (uint64_t i = 0, run = 0; i < N; i++) {
        if (i + 1 < N && l.key[i + 1] == l.key[i]) {
            run++;
            continue;
        }
        seen[run < MOST ? run : MOST]++;
        run = 0;
    }
    for (int i = 0; i < MOST; i++) {
        expected[i] = p * (N - N / 5);
        left -= p;
        p *= mean / (i + 1);
    }
    expected[MOST] = left * (N - N / 5);
    chi_check(seen, expected, MOST + 1);
    free(l.key);
}

/* The blocks of sur: each has its own part of the range, and the parts come in random order. */
static void test_shuffled_blocks(void)
{
    enum { N = 8000, BLOCK = 1000, BLOCKS = 8 };
    static const char *const ranges[] = { "sparse", "artifact", "8000" };
    const uint64_t width[] = { (UINT32_MAX - 1u) / BLOCKS, 500000000, BLOCK };
    int moved = 0;
    for (int i = 0; i < 3; i++) {
        char spec[64];
        unsigned parts = 0;
        snprintf(spec, sizeof spec, "pattern:sur,8000,block=1000,range=%s", ranges[i]);
        list l = keys_of(spec, 2, N);
        for (uint64_t b = 0; b < BLOCKS; b++) {
            const uint64_t part = (l.key[b * BLOCK] - 1) / width[i];
            for (uint64_t j = 0; j < BLOCK; j++)
                check((l.key[b * BLOCK + j] - 1) / width[i] == part, "a block has keys of two parts");
            parts |= 1u << part;
            moved += part != b;
        }
        check(parts == 0xff, "a part of the range comes twice");
        free(l.key);
    }
    check(moved > BLOCKS, "the parts come in order");
}

/* Sequences that no memory would hold: the first million of them has the promised keys. */
static void test_long_ones(void)
{
    enum { N = 1000000 };
    static const struct {
        const char *spec;
        uint64_t low, high, repeated; /* at most so many requests of the million repeat a key of it */
        uint64_t parts;               /* of the keys from low to high, one of which the million have */
    } row[] = { { "pattern:su,4294967294", 1, UINT32_MAX - 1u, 0, 1 },
                { "pattern:su,4000000000,range=artifact", 1, 4000000000u, 0, 1 },
                { "pattern:sur,4000000000", 1, UINT32_MAX - 1u, 0, 8 },
                { "pattern:du,4000000000", 1, 500000000, 0, 1 },
                { "pattern:dul,4000000000", 1, 1000000000, 0, 1 },
                { "pattern:sr,4000000000", 1, UINT32_MAX - 1u, 300, 1 },
                { "pattern:dr,4000000000", 1, 500000000, 2000, 1 },
                { "pattern:su,1099511627776,range=18446744073709551612", 1, HD_KEY_RESERVED - 1, 0, 1 },
                { "pattern:dul,4611686018427387904,block=2305843009213693952", 1, 1ull << 62, 0, 1 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        list l = keys_of(row[i].spec, 11, N);
        uint64_t repeated = N - distinct(l.key, N);
        check(repeated <= row[i].repeated, "%" PRIu64 " requests of a million repeat a key", repeated);
        check(l.key[0] >= row[i].low && l.key[N - 1] <= row[i].high, "keys %" PRIu64 " to %" PRIu64, l.key[0],
              l.key[N - 1]);
        const uint64_t span = l.key[N - 1] - l.key[0], whole = row[i].high / row[i].parts;
        check(span < whole && span > whole - whole / 64, "the keys span %" PRIu64 " of %" PRIu64, span, whole);
        free(l.key);
    }
}

static void test_refusals(void)
{
    static const test_refusal row[] = { { "pattern:xx,10", "mi, du, dr, su, sr, sur, dul, zz" },
                                        { "pattern:,10", "KIND" },
                                        { "pattern:mi", "the form is pattern:KIND,LENGTH" },
                                        { "pattern:mi,0", "LENGTH" },
                                        { "pattern:mi,4611686018427387905", "LENGTH" },
                                        { "pattern:su,10,range=9", "too few" },
                                        { "pattern:zz,10,range=9", "too few" },
                                        { "pattern:su,4294967295", "too few" },
                                        { "pattern:su,10,range=dense", "range" },
                                        { "pattern:su,10,range=18446744073709551613", "range" },
                                        { "pattern:sur,100,block=30,range=110", "too few for blocks of 30" },
                                        { "pattern:du,10,block=0", "block" },
                                        { "pattern:du,10,blocks=3", "nearest: block" } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        hd_source *s = NULL;
        test_case("%s", row[i].text);
        must_fail(hd_source_open_spec(row[i].text, 0, &s), HD_EINVAL, row[i].word);
        check(!s, "a source all the same");
    }
}

static const struct CMUnitTest tests[] = { unit(test_every_short_one), unit(test_orders),
                                           unit(test_passes),          unit(test_number_of_keys),
                                           unit(test_random_orders),   unit(test_small_permutations),
                                           unit(test_repeats),         unit(test_shuffled_blocks),
                                           unit(test_long_ones),       unit(test_refusals) };

int main(void) { return test_run(tests); }
