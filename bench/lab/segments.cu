/* SPDX-License-Identifier: Apache-2.0
 *
 * segments.cu - rates of the designs ovs and sl on a GPU, near and far, and of the bus alone. Every outcome, value and
 * list is checked by a kernel; a wrong one is counted in the last column. ovs.md has the results.
 *
 *     segments bus GIB
 *     segments DESIGN CAPACITY NEAR ENTRIES FILL BATCH,... [KERNEL,...]
 *
 * DESIGN is ovs, sl, hive, or ovs with a guide or with ranges: ovs:none, ovs:digest, ovs:range. Then keys are also
 * drawn by Zipf's law, and together: neighbours, in order. ovs:pairs is ovs with keys and values of 8 bytes, and also
 * runs assign_values. ovs:copies=SHARE gives that share of `near` to copies of entries; before a point with Zipf's law
 * WARM items are looked up. KERNEL - is the one that the table chooses. If one KERNEL is named, it fills the table,
 * too. CAPACITY and ENTRIES are numbers of entries. NEAR is the share of the table's bytes that `near` allows, besides
 * digests; 1: no limit. The table is filled with ENTRIES distinct keys, evenly spread over 32 bits, FILL at a time;
 * then batches of BATCH random ones run, and, with design sl, of new keys. All arrays are in device memory. Each figure
 * is the least of three batches between events, but a fill is the sum of its batches. Rates are 1e9 items, or lines,
 * per second.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "judge/device/rates.h"

enum : uint64_t { WARM = 1ull << 28, WARM_BATCH = 1 << 20 };
enum : uint32_t { LIMIT = 32, LINE = 16 /* words */, SEGMENT = 512 /* lines */ };

struct arrays {
    uint64_t *key, *key2, *key_out;
    uint32_t *value, *value_out, *rows;
    uint8_t *outcome;
    unsigned long long *wrong;
    bool pairs; /* values have 8 bytes, not 4 */
};

static __device__ uint64_t value_in(const arrays &a, const uint32_t *values, uint64_t i)
{
    return a.pairs ? ((const uint64_t *)values)[i] : values[i];
}
static __device__ void set_value(const arrays &a, uint32_t *values, uint64_t i, uint64_t value)
{
    if (a.pairs)
        ((uint64_t *)values)[i] = value;
    else
        values[i] = uint32_t(value);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* A rank below n by Zipf's law with exponent 0.99, the continuous law rounded down; x is random. */
static __device__ uint64_t zipf_of(uint64_t x, uint64_t n)
{
    const double rest = 1 - 0.99;
    double u = double(x >> 11) / double(1ull << 53), most = pow(double(n) + 1, rest);
    uint64_t rank = uint64_t(pow(1 + u * (most - 1), 1 / rest)) - 1;
    return rank < n ? rank : n - 1;
}

/* How keys are drawn. */
enum law { IN_ORDER, EVENLY, ZIPF, TOGETHER };

/* The first key from `from` on whose number is below n. */
static __device__ uint32_t next_key(uint32_t from, uint64_t n)
{
    while (number_of(from) >= n || from >= 0xfffffffdu) from++;
    return from;
}

static __global__ void draw(arrays a, uint64_t n, uint64_t first, uint64_t below, uint64_t seed, law how)
{
    EACH(i, n)
    {
        uint64_t x = random_of(i + (seed << 32)), number = how == IN_ORDER ? i
                                                           : how == ZIPF   ? zipf_of(x, below)
                                                                           : x % below;
        uint64_t key = key_of(uint32_t(first + number));
        if (how == TOGETHER) key = next_key(uint32_t(random_of(seed) + i * ((1ull << 32) / below)), below);
        a.key[i] = a.pairs ? key * 0x9e3779b97f4a7c15u : key; /* an odd factor gives no key twice */
        set_value(a, a.value, i, value_of(a.key[i]));
    }
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static __global__ void check_items(arrays a, uint64_t n, uint32_t outcome, bool values)
{
    EACH(i, n)
    if (a.outcome[i] != outcome || (values && value_in(a, a.value_out, i) != value_of(a.key[i])))
        atomicAdd(a.wrong, 1ull);
}

static __global__ void check_neighbours(arrays a, uint64_t n, bool above)
{
    EACH(i, n)
    if (a.outcome[i] == HD_HIT && (above ? a.key_out[i] <= a.key[i] : a.key_out[i] >= a.key[i]))
        atomicAdd(a.wrong, 1ull);
}

static __global__ void check_ranges(arrays a, uint64_t n)
{
    EACH(i, n)
    for (uint32_t j = 0; j < a.rows[i]; j++) {
        uint64_t key = a.key_out[i * LIMIT + j], before = j ? a.key_out[i * LIMIT + j - 1] + 1 : a.key[i];
        if (key < before || a.value_out[i * LIMIT + j] != value_of(key)) atomicAdd(a.wrong, 1ull);
    }
}

/* ---- A table --------------------------------------------------------------------------------- */

struct bench {
    hd_table *table;
    const char *design;
    double near;
    uint64_t entries;
    bool copies; /* entries may have copies */
    arrays a;
    cudaEvent_t from, to;
};

static double run(bench &b, hd_batch &batch) { return milliseconds(b.table, &batch, b.from, b.to); }

static void row(const bench &b, const char *ran, const char *what, uint64_t n, double ms, unsigned long long wrong)
{
    printf("%s\t%.2f\t%.3e\t%s\t%s\t%.3e\t%.3f\t%.3f\t%llu\n", b.design, b.near, double(b.entries), ran, what,
           double(n), ms, n / ms / 1e6, wrong);
    fflush(stdout);
}

static hd_batch batch_of(const bench &b, hd_op op, uint64_t n)
{
    hd_batch x;
    memset(&x, 0, sizeof x);
    x.op = op;
    x.n = n;
    x.key = b.a.key;
    x.value = b.a.value;
    x.outcome = b.a.outcome;
    x.elem = b.a.pairs ? HD_U64 : HD_I32;
    return x;
}

static void fill(bench &b, uint64_t most, const char *kernel)
{
    double ms = 0;
    hd_batch x;
    memset(&x, 0, sizeof x);
    for (uint64_t at = 0; at < b.entries; at += most) {
        uint64_t n = std::min(most, b.entries - at);
        draw<<<BLOCKS, THREADS>>>(b.a, n, at, 1, 0, IN_ORDER);
        x = batch_of(b, HD_OP_INSERT_OR_ASSIGN, n);
        x.distinct = true;
        x.kernel = kernel;
        ms += run(b, x);
        check_items<<<BLOCKS, THREADS>>>(b.a, n, HD_INSERTED, false);
    }
    row(b, x.ran, "fill", b.entries, ms,
        wrong_of(b.a.wrong)); /* at most three are wrong: the reserved keys became one */
}

struct point {
    const char *what;
    hd_op op;
    bool present;
    hd_outcome outcome;
    law how;
    bool after; /* a batch of updates by the same law comes before each */
};

/* So that entries that are often looked up have copies. */
static void warm(bench &b, const point &p, uint64_t most)
{
    const uint64_t n = std::min<uint64_t>(most, WARM_BATCH);
    for (uint64_t k = 0; k < WARM / n; k++) {
        draw<<<BLOCKS, THREADS>>>(b.a, n, p.present ? 0 : b.entries, p.present ? b.entries : 1 << 26, k + 1000, p.how);
        hd_batch x = batch_of(b, HD_OP_FIND, n);
        x.value_out = b.a.value_out;
        run(b, x);
    }
}

static void measure(bench &b, const point &p, uint64_t n, uint64_t most, const char *kernel)
{
    double least = 1e30;
    hd_batch x;
    if (p.op == HD_OP_RANGE) n = std::min<uint64_t>(n, 1 << 22);
    if (b.copies && p.how == ZIPF && p.op == HD_OP_FIND) warm(b, p, most);
    for (uint64_t turn = 1; turn <= (p.op == HD_OP_ERASE ? 1 : 3); turn++) {
        if (p.after) {
            draw<<<BLOCKS, THREADS>>>(b.a, n, 0, b.entries, turn * 128 + 127, p.how);
            x = batch_of(b, HD_OP_INSERT_OR_ASSIGN, n);
            run(b, x);
        }
        draw<<<BLOCKS, THREADS>>>(b.a, n, p.present ? 0 : b.entries, p.present ? b.entries : 1 << 26,
                                  turn * 128 + p.after * 64 + p.op, p.how);
        x = batch_of(b, p.op, n);
        x.kernel = kernel;
        if (p.op != HD_OP_INSERT_OR_ASSIGN && p.op != HD_OP_ASSIGN_VALUES) x.value_out = b.a.value_out;
        if (p.op == HD_OP_SUCCESSOR || p.op == HD_OP_PREDECESSOR || p.op == HD_OP_RANGE) x.key_out = b.a.key_out;
        if (p.op == HD_OP_RANGE) {
            x.key2 = b.a.key2;
            x.rows = b.a.rows;
            x.limit = LIMIT;
        }
        least = std::min(least, run(b, x));
        if (p.op == HD_OP_RANGE)
            check_ranges<<<BLOCKS, THREADS>>>(b.a, n);
        else if (x.key_out)
            check_neighbours<<<BLOCKS, THREADS>>>(b.a, n, p.op == HD_OP_SUCCESSOR);
        else if (p.op != HD_OP_ERASE) /* a batch may erase a key twice */
            check_items<<<BLOCKS, THREADS>>>(b.a, n, p.outcome, p.outcome == HD_HIT);
    }
    row(b, x.ran, p.what, n, least, wrong_of(b.a.wrong));
}

/* Batches of n keys that the table does not have. */
static void insert_new(bench &b, uint64_t n)
{
    double least = 1e30;
    hd_batch x;
    memset(&x, 0, sizeof x);
    for (uint64_t turn = 0; turn < 3; turn++) {
        draw<<<BLOCKS, THREADS>>>(b.a, n, b.entries + turn * n, 1, 0, IN_ORDER);
        x = batch_of(b, HD_OP_INSERT_OR_ASSIGN, n);
        x.distinct = true;
        least = std::min(least, run(b, x));
        check_items<<<BLOCKS, THREADS>>>(b.a, n, HD_INSERTED, false);
    }
    row(b, x.ran, "insert_or_assign, new keys", n, least, wrong_of(b.a.wrong));
}

static std::vector<std::string> names_in(char *list)
{
    std::vector<std::string> names;
    for (char *name = strtok(list, ","); name; name = strtok(nullptr, ",")) names.push_back(name);
    return names;
}

static int table(int argc, char **argv)
{
    static const point points[] = {
        { "find, hits", HD_OP_FIND, true, HD_HIT, EVENLY },
        { "find, misses", HD_OP_FIND, false, HD_MISS, EVENLY },
        { "find, hits, Zipf 0.99", HD_OP_FIND, true, HD_HIT, ZIPF },
        { "find, hits, together", HD_OP_FIND, true, HD_HIT, TOGETHER },
        { "find, misses, Zipf 0.99", HD_OP_FIND, false, HD_MISS, ZIPF },
        { "insert_or_assign, hits", HD_OP_INSERT_OR_ASSIGN, true, HD_UPDATED, EVENLY },
        { "insert_or_assign, hits, Zipf 0.99", HD_OP_INSERT_OR_ASSIGN, true, HD_UPDATED, ZIPF },
        { "find, hits, Zipf 0.99, after updates", HD_OP_FIND, true, HD_HIT, ZIPF, true },
        { "insert_or_assign, hits, together", HD_OP_INSERT_OR_ASSIGN, true, HD_UPDATED, TOGETHER },
        { "assign_values", HD_OP_ASSIGN_VALUES, true, HD_UPDATED, EVENLY },
        { "successor", HD_OP_SUCCESSOR, true, HD_HIT, EVENLY },
        { "predecessor", HD_OP_PREDECESSOR, true, HD_HIT, EVENLY },
        { "range of 32", HD_OP_RANGE, true, HD_HIT, EVENLY },
        { "erase", HD_OP_ERASE, true, HD_ERASED, EVENLY },
    };
    bench b;
    b.design = argv[1];
    bool ordered = strcmp(b.design, "sl") == 0, pairs = strcmp(b.design, "ovs:pairs") == 0,
         ranges = strcmp(b.design, "ovs:range") == 0, guide = strncmp(b.design, "ovs:", 4) == 0,
         digest = strcmp(b.design, "ovs:digest") == 0;
    const std::vector<std::string> batches = names_in(argv[6]);
    uint64_t capacity = strtoull(argv[2], nullptr, 0), most = strtoull(argv[5], nullptr, 0), n = 0;
    for (const std::string &size : batches) n = std::max<uint64_t>(n, strtoull(size.c_str(), nullptr, 0));
    const uint64_t big = std::max(most, n), lists = ordered ? LIMIT : 1;
    b.near = atof(argv[3]);
    b.entries = strtoull(argv[4], nullptr, 0);
    hd_config c = hd_config_of(guide ? "ovs" : b.design);
    c.backend = "cuda";
    c.capacity = capacity;
    const double share = strncmp(b.design, "ovs:copies=", 11) == 0 ? atof(b.design + 11) : 0;
    b.copies = share > 0;
    if (guide && !pairs && !b.copies) must(hd_config_set(&c, ranges ? "partition" : "guide", b.design + 4), "design");
    if (pairs) c.value_bytes = 8;
    const uint64_t words = pairs ? 2 : 1; /* of an entry; as many 4 bytes are a value */
    if (b.near < 1) (ordered ? c.sl.near_bytes : c.ovs.near_bytes) = uint64_t(b.near * capacity * 8 * words);
    if (b.near < 1 && digest) c.ovs.near_bytes += capacity * 2;
    if (b.copies) c.ovs.copy_bytes = uint64_t(share * double(c.ovs.near_bytes)) / 32 * 32;
    must(hd_open(&c, &b.table), "hd_open");
    b.a = { take<uint64_t>(big),
            take<uint64_t>(n),
            take<uint64_t>(n * lists),
            take<uint32_t>(big * words),
            take<uint32_t>(std::max(big, n * lists) * words),
            take<uint32_t>(n),
            take<uint8_t>(big),
            take<unsigned long long>(1),
            pairs };
    cuda_must(cudaMemset(b.a.key2, 0xff, n * 8), "memory");
    cuda_must(cudaMemset(b.a.wrong, 0, 8), "memory");
    cuda_must(cudaEventCreate(&b.from), "event");
    cuda_must(cudaEventCreate(&b.to), "event");
    std::vector<std::string> kernels = argc > 7 ? names_in(argv[7]) : std::vector<std::string>{ "-" };
    fill(b, most, kernels.size() == 1 && kernels[0] != "-" ? kernels[0].c_str() : nullptr);
    for (const std::string &size : batches)
        for (const point &p : points) {
            if (p.op >= HD_OP_PREDECESSOR && !ordered) continue;
            if (p.op == HD_OP_ASSIGN_VALUES && !ordered && !pairs) continue;
            if ((p.how >= ZIPF && !guide) || (p.op == HD_OP_ERASE && &size != &batches.back())) continue;
            for (const std::string &k : kernels)
                measure(b, p, strtoull(size.c_str(), nullptr, 0), n, k == "-" ? nullptr : k.c_str());
        }
    if (ordered) insert_new(b, std::min(n, capacity / 32)); /* there must be room for three of them */
    must(hd_check(b.table), "hd_check");
    hd_close(b.table);
    return 0;
}

/* ---- The bus --------------------------------------------------------------------------------- */

enum { READ, READ_SECTOR, CHANGE, SWAP };

/* A warp takes a segment of 64 KiB, and every `apart`-th of its lines from the first to the last: half a warp a line.
 * Some words are stored again, or changed by a compare-and-swap. */
template <int how>
static __global__ void lines(uint64_t *far, uint64_t segments, uint32_t apart, unsigned long long *next)
{
    uint32_t lane = threadIdx.x % 32;
    uint64_t seen = 0;
    for (;;) {
        unsigned long long s = lane == 0 ? atomicAdd(next, 1ull) : 0;
        s = __shfl_sync(~0u, s, 0);
        if (s >= segments) break;
        for (uint32_t l = lane / 16 * apart; l < SEGMENT; l += 2 * apart) {
            unsigned long long *p = (unsigned long long *)far + (s * SEGMENT + l) * LINE + lane % 16;
            if (how == READ_SECTOR && lane % 16 >= 4) continue;
            unsigned long long v = how == SWAP && lane % 16 ? 0 : __ldcs(p);
            if (how == CHANGE) __stcs(p, v + 1);
            if (how == SWAP && lane % 16 == 0) atomicCAS(p, v, v + 1);
            seen += v;
        }
    }
    if (seen == 0x123456789) *next = seen; /* so that loads are needed */
}

template <int how>
static void bus_row(uint64_t *far, double gib, uint32_t apart, const char *what, uint32_t blocks = 528)
{
    uint64_t segments = uint64_t(gib * (1 << 14)), n = segments * (SEGMENT / apart);
    unsigned long long *next = take<unsigned long long>(1);
    cudaEvent_t from, to;
    float ms, least = 1e30f;
    cudaEventCreate(&from), cudaEventCreate(&to);
    for (int turn = 0; turn < 2; turn++) {
        cuda_must(cudaMemset(next, 0, 8), "counter");
        cudaEventRecord(from);
        lines<how><<<blocks, THREADS>>>(far, segments, apart, next);
        cudaEventRecord(to);
        cuda_must(cudaEventSynchronize(to), "lines");
        cudaEventElapsedTime(&ms, from, to);
        least = std::min(least, ms);
    }
    printf("bus\t0\t%.3e\t%u blocks\t%s, one of %u\t%.3e\t%.3f\t%.3f\t0\n", gib * (1 << 23), blocks, what, apart,
           double(n), least, n / least / 1e6);
    cuda_must(cudaFree(next), "memory");
}

static int bus(double gib)
{
    void *far;
    cuda_must(cudaHostAlloc(&far, size_t(gib * (1 << 30)), cudaHostAllocMapped), "pinned memory");
    for (uint32_t apart : { 1u, 4u, 32u }) {
        bus_row<READ>((uint64_t *)far, gib, apart, "lines read");
        bus_row<READ_SECTOR>((uint64_t *)far, gib, apart, "first sectors of lines read");
        bus_row<CHANGE>((uint64_t *)far, gib, apart, "lines read and written");
        bus_row<SWAP>((uint64_t *)far, gib, apart, "words changed by compare-and-swap");
    }
    for (uint32_t apart : { 128u, 256u, 512u }) /* the fewer blocks, the closer together are the lines in flight */
        for (uint32_t blocks : { 8u, 16u, 32u, 64u, 128u, 528u })
            bus_row<READ>((uint64_t *)far, gib, apart, "lines read", blocks);
    return 0;
}

int main(int argc, char **argv)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return 77;
    if (argc == 3 && strcmp(argv[1], "bus") == 0) return bus(atof(argv[2]));
    if (argc >= 7) return table(argc, argv);
    fprintf(stderr, "usage: segments bus GIB | segments DESIGN CAPACITY NEAR ENTRIES FILL BATCH,... [KERNEL,...]\n");
    return 2;
}
