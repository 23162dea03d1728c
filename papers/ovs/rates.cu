/* SPDX-License-Identifier: Apache-2.0
 *
 * rates.cu - times on a GPU what the paper's figures compare. Every outcome is checked by a kernel; a wrong one is
 * counted in the last column.
 *
 *     rates PART ENTRIES       PART: near, sorted, batches, segments, lists, kmers, gfsl. ENTRIES: slots of the table,
 *                              2^30 and more; of gfsl 2^20 and more
 *
 * A table of `ovs` whose items run in the order of the batch, each by a group of lanes (kernels probe4 to probe32), is
 * the paper's baseline with hints: open addressing, and far memory that is read in place. The same table with items
 * sorted by the bucket (kernel flip), so that a warp owns a segment, stands for the paper's design. The share `near` of
 * its bytes is in device memory. All arrays of a batch are there as well.
 *
 * Keys are evenly spread over 32 bits. `present` is the share of the items whose key is in the table. A figure is one
 * batch between two events; of finds, the faster one of two.
 *
 * Part gfsl prints a table of its own: the paper's skip list, with keys that ascend (mi), dense keys in random order
 * (du) and keys anywhere (su). A row has what the list was opened with, its entries before the batch, and the rate of
 * one batch. Where locks are counted, its kernel is compiled here, with counters, and its rate is not to be compared.
 */
#include <algorithm>
#include <cstring>

#include <cub/device/device_radix_sort.cuh>

#include "judge/device/rates.h"

__device__ unsigned long long lock_attempts, locks_taken;
#define GFSL_ATTEMPTED(t, got)                  \
    if (t.rank == 0) {                          \
        atomicAdd(&lock_attempts, 1ull);        \
        if (got) atomicAdd(&locks_taken, 1ull); \
    }
#include "gfsl/gpu/chunk.h"

/* Of the library and of gfsl, which are C. */
extern const struct hd_design hd_design_gfsl;
extern "C" hd_status hd_design_add(const struct hd_design *d, const char *before);

static const char *part;

struct arrays {
    uint64_t *key;
    uint32_t *value, *value_out;
    uint8_t *outcome;
    unsigned long long *wrong;
};

/* Keys number from .. to are in the table, and others; no key from number `fresh` on is. */
struct bench {
    hd_table *table;
    double near;
    uint32_t segment;
    uint64_t from, to, fresh, entries;
    arrays a;
    cudaEvent_t begins, ends;
};

/* ---- Items ----------------------------------------------------------------------------------- */

static inline __host__ __device__ bool is_present(uint64_t i, uint64_t seed, uint32_t per_mille)
{
    return random_of(i * 2 + seed) % 1000 < per_mille;
}

/* A present key for so many of 1,000 items; the others have key `fresh` and those after it. `once`: present keys are
 * taken one after the other, and no key comes twice. */
static __global__ void draw(arrays a, uint64_t n, uint64_t from, uint64_t to, uint64_t fresh, uint64_t seed,
                            uint32_t per_mille, bool once)
{
    EACH(i, n)
    {
        bool present = is_present(i, seed, per_mille);
        uint64_t number = !present ? fresh + i : once ? from + i : from + random_of(i * 2 + 1 + seed) % (to - from);
        a.key[i] = key_of(uint32_t(number));
        a.value[i] = value_of(a.key[i]);
    }
}

static __global__ void check(arrays a, uint64_t n, uint64_t seed, uint32_t per_mille, uint32_t present, uint32_t absent,
                             bool values)
{
    EACH(i, n)
    {
        uint32_t wanted = is_present(i, seed, per_mille) ? present : absent;
        if (a.outcome[i] != wanted || (values && wanted == HD_HIT && a.value_out[i] != value_of(a.key[i])))
            atomicAdd(a.wrong, 1ull);
    }
}

/* ---- A table --------------------------------------------------------------------------------- */

static bench open(const char *design, uint64_t slots, double near, uint32_t segment, uint64_t most)
{
    bench b = {};
    bool ordered = strcmp(design, "sl") == 0;
    hd_config c = hd_config_of(design);
    c.backend = "cuda";
    c.capacity = slots;
    if (segment) (ordered ? c.sl.segment_bytes : c.ovs.segment_bytes) = segment;
    if (near < 1) (ordered ? c.sl.near_bytes : c.ovs.near_bytes) = uint64_t(near * slots * 8);
    must(hd_open(&c, &b.table), "hd_open");
    b.near = near;
    b.segment = ordered ? c.sl.segment_bytes : c.ovs.segment_bytes;
    b.a = { take<uint64_t>(most), take<uint32_t>(most), take<uint32_t>(most), take<uint8_t>(most),
            take<unsigned long long>(1) };
    cuda_must(cudaMemset(b.a.wrong, 0, sizeof *b.a.wrong), "memory");
    cuda_must(cudaEventCreate(&b.begins), "event");
    cuda_must(cudaEventCreate(&b.ends), "event");
    return b;
}

static void close(bench &b)
{
    hd_close(b.table);
    void *const all[] = { b.a.key, b.a.value, b.a.value_out, b.a.outcome, b.a.wrong };
    for (void *p : all) cuda_must(cudaFree(p), "memory");
}

struct operation {
    const char *name;
    hd_op op;
    hd_outcome present, absent;
};
static const operation FIND = { "find", HD_OP_FIND, HD_HIT, HD_MISS },
                       INSERT = { "insert", HD_OP_INSERT_OR_ASSIGN, HD_UPDATED, HD_INSERTED },
                       ERASE = { "erase", HD_OP_ERASE, HD_ERASED, HD_MISS };

static void row(const bench &b, const char *ran, const char *what, uint32_t per_mille, uint64_t n, double ms,
                unsigned long long wrong)
{
    printf("%s\t%.3f\t%u\t%llu\t%s\t%s\t%.3f\t%llu\t%.3f\t%.4f\t%llu\n", part, b.near, b.segment,
           (unsigned long long)b.entries, ran, what, per_mille / 1e3, (unsigned long long)n, ms, n / ms / 1e6, wrong);
    fflush(stdout);
}

/* One batch of n items, and its milliseconds. kernel: NULL leaves the choice to the table. */
static double batch(bench &b, const operation &o, uint64_t n, uint32_t per_mille, const char *kernel, const char **ran,
                    bool sorts = false)
{
    static uint64_t seed = 1;
    bool once = o.op == HD_OP_ERASE;
    hd_batch x;
    memset(&x, 0, sizeof x);
    seed += 0x9e3779b97f4a7c15u;
    draw<<<BLOCKS, THREADS>>>(b.a, n, b.from, b.to, b.fresh, seed, per_mille, once);
    x.op = o.op;
    x.n = n;
    x.key = b.a.key;
    x.value = b.a.value;
    if (o.op == HD_OP_FIND) x.value_out = b.a.value_out;
    x.outcome = b.a.outcome;
    x.elem = HD_I32;
    x.kernel = kernel;
    x.distinct = o.op != HD_OP_FIND && (once || per_mille == 0);
    double sorting = 0;
    if (sorts) { /* by key, values beside them, as the paper sorts the baseline's batches */
        size_t bytes = 0;
        arrays s = b.a;
        s.key = take<uint64_t>(n);
        s.value = take<uint32_t>(n);
        cub::DeviceRadixSort::SortPairs(nullptr, bytes, b.a.key, s.key, b.a.value, s.value, int(n), 0, 32);
        uint8_t *room = take<uint8_t>(bytes);
        float ms;
        cuda_must(cudaEventRecord(b.begins), "event");
        cub::DeviceRadixSort::SortPairs(room, bytes, b.a.key, s.key, b.a.value, s.value, int(n), 0, 32);
        cuda_must(cudaEventRecord(b.ends), "event");
        cuda_must(cudaEventSynchronize(b.ends), "sort");
        cuda_must(cudaEventElapsedTime(&ms, b.begins, b.ends), "event");
        sorting = ms;
        cuda_must(cudaMemcpy(b.a.key, s.key, n * 8, cudaMemcpyDefault), "copy");
        cuda_must(cudaMemcpy(b.a.value, s.value, n * 4, cudaMemcpyDefault), "copy");
        for (void *p : { (void *)s.key, (void *)s.value, (void *)room }) cuda_must(cudaFree(p), "memory");
    }
    double ms = sorting + milliseconds(b.table, &x, b.begins, b.ends);
    check<<<BLOCKS, THREADS>>>(b.a, n, seed, per_mille, o.present, o.absent, o.op == HD_OP_FIND);
    if (o.op == HD_OP_INSERT_OR_ASSIGN) b.fresh += n, b.entries += n - n * per_mille / 1000;
    if (once) b.from += n, b.entries -= n;
    *ran = x.ran;
    return ms;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void fill(bench &b, uint64_t entries, uint64_t most, const char *what)
{
    double ms = 0;
    const char *ran = "";
    while (b.fresh < entries) ms += batch(b, INSERT, std::min(most, entries - b.fresh), 0, nullptr, &ran);
    b.to = b.fresh;
    row(b, ran, what, 0, entries, ms, wrong_of(b.a.wrong));
}

static void measure(bench &b, const operation &o, uint64_t n, uint32_t per_mille, const char *kernel,
                    bool sorts = false)
{
    double ms = 1e30;
    const char *ran = "";
    for (int turn = 0; turn < (o.op == HD_OP_FIND ? 2 : 1); turn++)
        ms = std::min(ms, batch(b, o, n, per_mille, kernel, &ran, sorts));
    char what[32];
    snprintf(what, sizeof what, "%s%s", o.name, sorts ? ", sorted by key" : "");
    row(b, ran, what, per_mille, n, ms, wrong_of(b.a.wrong));
}

static const char *const two[] = { "probe16", "flip" };

/* Figures 9 and 10: inserts, finds with hits and misses, and erases, by the share that is near. Figure 11: groups. */
static void near_part(uint64_t slots)
{
    const uint64_t n = slots / 64, most = slots / 8;
    for (double near : { 1.0, 0.8, 1 / 1.5, 1 / 1.75, 0.5 }) {
        bench b = open("ovs", slots, near, 0, most);
        fill(b, slots / 10 * 7, most, "fill");
        for (const char *kernel : two) {
            for (uint32_t hits : { 1000u, 800u, 750u, 667u, 0u }) measure(b, FIND, n, hits, kernel);
            for (uint32_t repeats : { 0u, 200u }) measure(b, INSERT, n, repeats, kernel);
            measure(b, ERASE, n, 1000, kernel);
        }
        if (near == 1 || near == 0.5)
            for (const char *kernel : { "probe4", "probe8", "probe16", "probe32" }) {
                measure(b, FIND, n, 1000, kernel);
                measure(b, INSERT, n, 0, kernel);
                measure(b, ERASE, n, 1000, kernel);
            }
        close(b);
    }
}

/* Figure 12: one table whose batches come as they are, sorted by key, or by the bucket. */
static void sorted_part(uint64_t slots)
{
    const uint64_t n = slots / 64, most = slots / 8;
    for (double near : { 1.0, 0.8, 0.5 }) {
        bench b = open("ovs", slots, near, 0, most);
        fill(b, slots / 10 * 7, most, "fill");
        measure(b, INSERT, n, 0, "probe16");
        measure(b, INSERT, n, 0, "probe16", true);
        measure(b, INSERT, n, 0, "flip");
        close(b);
    }
}

/* Table 6: sizes of batches. */
static void batches_part(uint64_t slots)
{
    bench b = open("ovs", slots, 0.5, 0, slots / 2);
    fill(b, slots / 10, slots / 16, "fill");
    for (const char *kernel : two)
        for (uint64_t n : { 1000000ull, 10000000ull, 100000000ull, 250000000ull, 1000000000ull }) {
            bool slow = kernel == two[0] && n > 100000000;
            if (!slow && b.entries + n <= slots / 5 * 4) measure(b, INSERT, n, 0, kernel);
        }
    close(b);
}

/* Tables 7 and 10: sizes of segments, of a hash table and of an ordered one. */
static void segments_part(const char *design, uint64_t slots)
{
    for (uint32_t segment = 1 << 10; segment <= 1 << 26; segment <<= 4) {
        bench b = open(design, slots, 0.5, segment, slots / 4);
        fill(b, slots / 2, slots / 4, "fill");
        measure(b, FIND, slots / 16, 1000, nullptr);
        close(b);
    }
}

/* ---- K-mers ---------------------------------------------------------------------------------- */

enum : uint64_t {
    K = 16,
    REPEAT = 4096 /* bases of a repeat */,
    REPEATS = 5 /* one block of so many repeats another */
};

/* Base i of a genome, a fifth of which repeats what came before. */
static inline __host__ __device__ uint64_t base_at(uint64_t i)
{
    uint64_t block = i / REPEAT;
    if (block % REPEATS == REPEATS - 1) i = random_of(block) % block / REPEATS * REPEATS * REPEAT + i % REPEAT;
    return random_of(i ^ 0x67656e6f6d65) & 3;
}

/* The k-mers at bases from .. from + n - 1, and the value 1. */
static __global__ void draw_kmers(arrays a, uint64_t n, uint64_t from)
{
    EACH(i, n)
    {
        uint64_t key = 0;
        for (uint64_t k = 0; k < K; k++) key = key << 2 | base_at(from + i + k);
        a.key[i] = key < 0xfffffffd ? key : 7;
        a.value[i] = 1;
    }
}

static __global__ void check_kmers(arrays a, uint64_t n, uint32_t one, uint32_t other)
{
    EACH(i, n)
    if (a.outcome[i] != one && a.outcome[i] != other) atomicAdd(a.wrong, 1ull);
}

/* Batches of 16 Mi k-mers of the genome from base `from` on. */
static void kmers(bench &b, const char *what, hd_op op, hd_outcome one, hd_outcome other, uint64_t from, uint64_t all,
                  const char *kernel)
{
    const uint64_t most = 1 << 24;
    double ms = 0;
    hd_batch x;
    memset(&x, 0, sizeof x);
    for (uint64_t at = 0; at < all; at += most) {
        uint64_t n = std::min(most, all - at);
        draw_kmers<<<BLOCKS, THREADS>>>(b.a, n, from + at);
        x.op = op;
        x.n = n;
        x.key = b.a.key;
        x.value = b.a.value;
        x.outcome = b.a.outcome;
        x.elem = HD_I32;
        x.kernel = kernel;
        if (op == HD_OP_FIND) x.value_out = b.a.value_out;
        ms += milliseconds(b.table, &x, b.begins, b.ends);
        check_kmers<<<BLOCKS, THREADS>>>(b.a, n, one, other);
    }
    row(b, x.ran, what, op == HD_OP_FIND ? 1000 : 0, all, ms, wrong_of(b.a.wrong));
}

/* Figure 17: build (each k-mer comes in), count (values are added up), and look up what is there. */
static void kmers_part(uint64_t slots)
{
    for (double near : { 1.0, 0.8, 0.5 })
        for (const char *kernel : two) {
            bench b = open("ovs", slots, near, 0, 1 << 24);
            uint64_t n = slots / 8;
            kmers(b, "fill", HD_OP_INSERT_OR_ASSIGN, HD_INSERTED, HD_UPDATED, 0, slots / 2, "flip");
            kmers(b, "kmers, build", HD_OP_INSERT_OR_ASSIGN, HD_INSERTED, HD_UPDATED, slots / 2, n, kernel);
            kmers(b, "kmers, count", HD_OP_ACCUM_OR_ASSIGN, HD_INSERTED, HD_UPDATED, slots / 2 + n, n, kernel);
            kmers(b, "kmers, classify", HD_OP_FIND, HD_HIT, HD_HIT, 0, n, kernel);
            close(b);
        }
}

/* ---- The skip list of the paper -------------------------------------------------------------- */

enum kind { MI, DU, SU };
static const char *const kind_name[] = { "mi", "du", "su" };

/* Key i; du: of 2^bits dense ones. */
static inline __host__ __device__ uint64_t list_key(kind k, uint64_t i, uint32_t bits)
{
    uint64_t mask = (1ull << bits) - 1, x = i * 0x9e3779b1 & mask;
    if (k != DU) return k == MI ? i : key_of(uint32_t(i));
    x ^= x >> (bits + 1) / 2;
    x = x * 0x85ebca6b & mask;
    return x ^ x >> (bits + 1) / 2;
}

/* A batch of a list's keys: n of them from number `from` on; of finds any n of those below number `to`. */
struct listed {
    kind keys;
    uint32_t bits;
    uint64_t n, from, to, seed;
};

static __global__ void draw_list(arrays a, listed l)
{
    EACH(i, l.n)
    {
        a.key[i] = list_key(l.keys, l.to ? random_of(i + l.seed) % l.to : l.from + i, l.bits);
        a.value[i] = value_of(a.key[i]);
    }
}

static __global__ void check_list(arrays a, uint64_t n, uint32_t wanted)
{
    EACH(i, n)
    {
        bool value = wanted != HD_HIT || a.value_out[i] == value_of(a.key[i]);
        if (a.outcome[i] != wanted || !value) atomicAdd(a.wrong, 1ull);
    }
}

struct skip_list {
    bench b;
    hd_gfsl_config c;
    kind keys;
    uint32_t bits;
};

static const char *const far_name[] = { "none", "data", "all" };

static void list_row(const char *op, kind keys, const hd_gfsl_config &c, uint64_t entries, uint64_t n, double ms,
                     unsigned long long taken, unsigned long long attempts, unsigned long long wrong)
{
    printf("%s\t%s\t%d\t%d\t%s\t%u\t%u\t%llu\t%llu\t%.3f\t%.5f\t%llu\t%llu\t%llu\n", op, kind_name[keys], c.level_pools,
           c.unsorted, far_name[c.far], c.keys_per_block, c.blocks, (unsigned long long)entries, (unsigned long long)n,
           ms, n / ms / 1e6, taken, attempts, wrong);
    fflush(stdout);
}

static skip_list open_list(kind keys, hd_gfsl_config own, uint64_t slots, uint64_t most)
{
    skip_list s = {};
    hd_config c = hd_config_of("gfsl");
    c.backend = "cuda";
    c.capacity = slots;
    c.gfsl = own;
    must(hd_open(&c, &s.b.table), "hd_open");
    s.c = own;
    s.keys = keys;
    while (1ull << s.bits < slots / 4) s.bits++;
    s.b.a = { take<uint64_t>(most), take<uint32_t>(most), take<uint32_t>(most), take<uint8_t>(most),
              take<unsigned long long>(1) };
    cuda_must(cudaMemset(s.b.a.wrong, 0, sizeof *s.b.a.wrong), "memory");
    cuda_must(cudaEventCreate(&s.b.begins), "event");
    cuda_must(cudaEventCreate(&s.b.ends), "event");
    return s;
}

/* One batch, and its milliseconds. */
static double list_batch(skip_list &s, bool inserts, uint64_t n)
{
    static uint64_t seed = 1;
    listed l = { s.keys, s.bits, n, s.b.entries, inserts ? 0 : s.b.entries, seed += n };
    hd_batch x;
    memset(&x, 0, sizeof x);
    draw_list<<<BLOCKS, THREADS>>>(s.b.a, l);
    x.op = inserts ? HD_OP_INSERT_OR_ASSIGN : HD_OP_FIND;
    x.n = n;
    x.key = s.b.a.key;
    x.value = s.b.a.value;
    if (!inserts) x.value_out = s.b.a.value_out;
    x.outcome = s.b.a.outcome;
    double ms = milliseconds(s.b.table, &x, s.b.begins, s.b.ends);
    check_list<<<BLOCKS, THREADS>>>(s.b.a, n, inserts ? HD_INSERTED : HD_HIT);
    if (inserts) s.b.entries += n;
    return ms;
}

enum { LIST_TURNS = 5 /* the fastest is told: which warps wait for each other differs from turn to turn */ };

/* A list of `filled` keys gets n keys more, some times; or, if that is 0, some lists get their first n keys. Then n of
 * its keys are found. */
static void measure_list(kind keys, hd_gfsl_config c, uint64_t slots, uint64_t filled, uint64_t n)
{
    hd_gfsl_config fast = c;
    fast.keys_per_block = fast.blocks = 0;
    double put = 1e30, found = 1e30;
    unsigned long long wrong_put = 0, wrong_found = 0;
    skip_list s = {};
    for (int turn = 0; turn < LIST_TURNS; turn++) {
        if (turn && !filled) close(s.b);
        if (!turn || !filled) s = open_list(keys, filled ? fast : c, slots, std::max(filled, n));
        if (!turn && filled) list_batch(s, true, filled);
        put = std::min(put, list_batch(s, true, n));
        wrong_put += wrong_of(s.b.a.wrong);
        found = std::min(found, list_batch(s, false, n));
        wrong_found += wrong_of(s.b.a.wrong);
    }
    list_row("insert", keys, c, filled, n, put, 0, 0, wrong_put);
    list_row("find", keys, c, s.b.entries, n, found, 0, 0, wrong_found);
    close(s.b);
}

/* Table 1: lock attempts of n inserts into an empty list, whose kernel is compiled here. */
static void count_locks(kind keys, uint32_t keys_per_block, uint64_t slots, uint64_t n)
{
    skip_list s = {};
    gfsl_args a;
    hd_gfsl_config c = {};
    c.keys_per_block = keys_per_block;
    unsigned long long count[2] = { 0, 0 };
    float ms;
    memset(&a, 0, sizeof a);
    a.v.slots = 30;
    a.v.levels = 6;
    a.v.chunks = a.v.near = slots / 30;
    a.v.end[0] = uint32_t(a.v.chunks);
    a.v.word = take<uint64_t>(a.v.chunks * 32);
    a.v.head = take<uint64_t>(GFSL_HEAD);
    s.b.a = { take<uint64_t>(n), take<uint32_t>(n), nullptr, take<uint8_t>(n), take<unsigned long long>(1) };
    cuda_must(cudaMemset(s.b.a.wrong, 0, sizeof *s.b.a.wrong), "memory");
    cuda_must(cudaEventCreate(&s.b.begins), "event");
    cuda_must(cudaEventCreate(&s.b.ends), "event");
    while (1ull << s.bits < n) s.bits++;
    a.b.op = HD_OP_INSERT_OR_ASSIGN;
    a.b.n = a.b.last = n;
    a.b.key = s.b.a.key;
    a.b.value = (const uint8_t *)s.b.a.value;
    a.b.outcome = s.b.a.outcome;
    a.b.tally = take<uint64_t>(HD_OUTCOME_COUNT);
    cuda_must(cudaMemset(a.b.tally, 0, HD_OUTCOME_COUNT * 8), "memory");
    a.keys_per_block = keys_per_block;
    cuda_must(cudaMemcpyToSymbol(lock_attempts, count, 8), "locks");
    cuda_must(cudaMemcpyToSymbol(locks_taken, count, 8), "locks");
    draw_list<<<BLOCKS, THREADS>>>(s.b.a, listed{ keys, s.bits, n, 0, 0, 0 });
    gfsl_kernel_chunk_clear<<<BLOCKS, THREADS>>>(a);
    cuda_must(cudaEventRecord(s.b.begins), "event");
    gfsl_kernel_chunk_items<<<BLOCKS, GPU_ITEMS_THREADS>>>(a);
    cuda_must(cudaEventRecord(s.b.ends), "event");
    check_list<<<BLOCKS, THREADS>>>(s.b.a, n, HD_INSERTED);
    cuda_must(cudaEventSynchronize(s.b.ends), "inserts");
    cuda_must(cudaEventElapsedTime(&ms, s.b.begins, s.b.ends), "event");
    cuda_must(cudaMemcpyFromSymbol(count, locks_taken, 8), "locks");
    cuda_must(cudaMemcpyFromSymbol(count + 1, lock_attempts, 8), "locks");
    list_row("locks", keys, c, 0, n, ms, count[0], count[1], wrong_of(s.b.a.wrong));
    void *const all[] = { a.v.word, a.v.head, s.b.a.key, s.b.a.value, s.b.a.outcome, s.b.a.wrong, a.b.tally };
    for (void *p : all) cuda_must(cudaFree(p), "memory");
}

/* Section 5.3.1, Tables 1, 8 and 9. */
static void gfsl_part(uint64_t slots)
{
    must(hd_design_add(&hd_design_gfsl, nullptr), "hd_design_add");
    const uint64_t n = slots / 64, filled = slots / 4 - LIST_TURNS * n, few = slots / 64;
    printf("op\tkind\tlevel_pools\tunsorted\tfar\tkeys_per_block\tblocks\tentries\titems\tms\trate\tlocks\tattempts\t"
           "wrong\n");
    for (kind keys : { SU, DU })
        for (hd_gfsl_config c :
             { hd_gfsl_config{ false, false, HD_GFSL_NEAR, 0, 0 }, hd_gfsl_config{ true, false, HD_GFSL_NEAR, 0, 0 },
               hd_gfsl_config{ false, true, HD_GFSL_NEAR, 0, 0 } })
            measure_list(keys, c, slots, filled, n);
    for (hd_gfsl_far far : { HD_GFSL_NEAR, HD_GFSL_FAR_DATA, HD_GFSL_FAR })
        measure_list(SU, hd_gfsl_config{ true, false, far, 0, 0 }, slots / 4, few, few / 4);
    for (kind keys : { MI, DU })
        for (uint32_t k : { 1u, 30u, 60u, 120u, 180u, 240u, 300u, 360u })
            measure_list(keys, hd_gfsl_config{ false, false, HD_GFSL_NEAR, k, 0 }, slots, 0, n);
    for (kind keys : { MI, DU })
        for (uint32_t blocks = 1 << 6; blocks <= 1 << 16; blocks <<= 2)
            measure_list(keys, hd_gfsl_config{ false, false, HD_GFSL_NEAR, 180, blocks }, slots, 0, slots / 8);
    for (kind keys : { SU, DU, MI })
        for (uint32_t k : { 0u, 180u }) count_locks(keys, k, slots, n);
}

int main(int argc, char **argv)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return 77;
    if (argc != 3) {
        fprintf(stderr, "usage: rates near|sorted|batches|segments|lists|kmers|gfsl ENTRIES\n");
        return 2;
    }
    uint64_t slots = strtoull(argv[2], nullptr, 0);
    part = argv[1];
    if (strcmp(part, "near") == 0)
        near_part(slots);
    else if (strcmp(part, "sorted") == 0)
        sorted_part(slots);
    else if (strcmp(part, "batches") == 0)
        batches_part(slots);
    else if (strcmp(part, "segments") == 0)
        segments_part("ovs", slots);
    else if (strcmp(part, "lists") == 0)
        segments_part("sl", slots);
    else if (strcmp(part, "kmers") == 0)
        kmers_part(slots);
    else if (strcmp(part, "gfsl") == 0)
        gfsl_part(slots);
    else
        return 2;
    return 0;
}
