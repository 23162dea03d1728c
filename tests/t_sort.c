/* SPDX-License-Identifier: Apache-2.0
 *
 * t_sort.c - the sort of a batch's items by codes (gpu/sort.h) on the host machine: the order is that of a stable sort,
 * for any number of items, blocks and threads, under random schedules with race detection and weak memory. The test
 * finds sorts with a fault.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/sort_launch.h"
#include "simt/machine.h"
#include "tests/testing.h"

SIMT_ENTRY(k_sort_count, gpu_sort, gpu_sort_count)
SIMT_ENTRY(k_sort_scan, gpu_sort, gpu_sort_scan)
SIMT_ENTRY(k_sort_lay, gpu_sort, gpu_sort_lay)

/* Words of equal digits in the reverse order of their lanes. */
SIMT_FN void lay_backwards(const gpu_sort *a)
{
    gpu_sort b = *a;
    simt_tile t = simt_tile_of(32);
    if (simt_block() != 0 || simt_thread() / 32 != 0 || a->shares != 1) return;
    SIMT_SHARED(uint32_t, next, GPU_SORT_DIGITS);
    gpu_sort_begin(t, &b, 0, next);
    for (uint64_t i = a->n; i-- > 0;) {
        uint64_t word = simt_ld_u64(a->from + i);
        uint32_t digit = gpu_sort_digit(a, word), at = simt_ld_u32(next + digit);
        if (t.rank == 0) simt_st_u64(a->to + at, word);
        simt_sync_tile(t);
        if (t.rank == 0) simt_st_u32(next + digit, at + 1);
        simt_sync_tile(t);
    }
}
SIMT_ENTRY(k_sort_backwards, gpu_sort, lay_backwards)

/* The sums of all shares are not there. */
SIMT_FN void scan_nothing(const gpu_sort *a) { (void)a; }
SIMT_ENTRY(k_sort_unscanned, gpu_sort, scan_nothing)

typedef void kernel(const void *);
enum { COUNT, SCAN, LAY, KERNELS, SHARES_MOST = 24 };

typedef struct target {
    simt_machine *m;
    kernel *const *of;
    uint64_t blocks_most;
    uint32_t threads_most;
} target;

static hd_status launch(void *self, uint32_t k, const void *args, size_t bytes, uint64_t blocks, uint32_t threads)
{
    const target *t = (const target *)self;
    return simt_machine_launch(t->m, t->of[k], args, bytes,
                               (uint32_t)(blocks < t->blocks_most ? blocks : t->blocks_most),
                               threads < t->threads_most ? threads : t->threads_most, 0);
}

typedef struct trial {
    uint64_t n, seed;
    uint32_t bits; /* codes are below 2^bits */
    uint32_t blocks, threads;
} trial;

/* Orders words by code and item. */
static int by_word(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* What is wrong with the sort by these kernels, or NULL. */
static const char *sort_wrong(kernel *const of[KERNELS], trial t)
{
    static char why[512];
    uint64_t random = t.seed, *word = (uint64_t *)calloc(3 * t.n, sizeof *word), *other = word + t.n,
             *expected = word + 2 * t.n, *sorted;
    uint32_t *count = (uint32_t *)calloc(gpu_sort_counts(SHARES_MOST), sizeof *count);
    for (uint64_t i = 0; i < t.n; i++)
        expected[i] = word[i] = (test_random(&random) & ((1ull << t.bits) - 1)) << 32 | i;
    uint64_t there = t.seed % 4 == 3 ? test_random(&random) % (t.n + 1) : t.n;
    qsort(expected, there, sizeof *expected, by_word);
    simt_machine *m;
    must(simt_machine_open(NULL, &m));
    must(simt_machine_region(m, word, t.n * 8, "words"));
    must(simt_machine_region(m, other, t.n * 8, "room"));
    must(simt_machine_region(m, &there, sizeof there, "number of words"));
    must(simt_machine_region(m, count, gpu_sort_counts(SHARES_MOST) * 4, "counts"));
    target to = { m, of, t.blocks, t.threads };
    hd_launcher l = { launch, NULL, &to, t.blocks, 1, t.threads, true };
    must(gpu_sort_launch(&l, (gpu_sort_kernels){ COUNT, SCAN, LAY }, t.n, there < t.n ? &there : NULL, t.bits, word,
                         other, count, SHARES_MOST, &sorted));
    simt_config c = simt_config_default();
    c.seed = t.seed;
    c.weak = t.seed % 2;
    c.strategy = t.seed % 3 ? SIMT_RANDOM : SIMT_PCT;
    bool good = simt_machine_run(m, &c);
    snprintf(why, sizeof why, "%.400s", good ? "the order is another" : simt_machine_finding(m)->story);
    bool same = good && memcmp(sorted, expected, there * 8) == 0;
    simt_machine_close(m);
    free(count);
    free(word);
    return same ? NULL : why;
}

static kernel *const right[KERNELS] = { k_sort_count, k_sort_scan, k_sort_lay };

static void words_are_in_the_order_of_a_stable_sort(void)
{
    static const uint64_t sizes[] = { 1, 2, 31, 32, 33, 64, 511, 512, 513, 1500, 6000 };
    uint64_t words = 0;
    for (uint64_t seed = 1; seed <= test_times(66); seed++) {
        trial t = { sizes[seed % 11], seed, (uint32_t)(1 + seed * 7 % 32), (uint32_t)(1 + seed % 4),
                    (uint32_t)(32 << seed % 4) };
        test_case("%llu words, codes below 2^%u, %u blocks of %u threads, seed %llu", (ull)t.n, t.bits, t.blocks,
                  t.threads, (ull)t.seed);
        const char *wrong = sort_wrong(right, t);
        check(!wrong, "%s", wrong);
        words += t.n;
    }
    test_tried("schedules", test_times(66), "of sorts of %llu words, half with weak memory", (ull)words);
}

static void faults_are_found(void)
{
    kernel *const backwards[KERNELS] = { k_sort_count, k_sort_scan, k_sort_backwards };
    kernel *const unscanned[KERNELS] = { k_sort_count, k_sort_unscanned, k_sort_lay };
    trial t = { 100, 2, 3, 1, 32 };
    check(sort_wrong(backwards, t), "a sort that is not stable was not noticed");
    check(sort_wrong(unscanned, t), "a sort without sums was not noticed");
    check(!sort_wrong(right, t), "the same sort, right");
}

/* The number of shares follows from the number of words, and is at most what there is room for. */
static void shares_have_room(void)
{
    for (uint64_t n = 1; n < 1ull << 33; n = n * 3 + 1) {
        uint32_t shares = gpu_sort_shares(n, 4096);
        check(shares > 0 && shares <= 4096, "%llu words: %u shares", (ull)n, shares);
        check(shares == 4096 || (uint64_t)shares * GPU_SORT_SHARE >= n, "%llu words: %u shares", (ull)n, shares);
    }
}

static const struct CMUnitTest tests[] = {
    unit(words_are_in_the_order_of_a_stable_sort),
    unit(faults_are_found),
    unit(shares_have_room),
};

int main(void) { return test_run(tests); }
