/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_run.cu - the kernels on a real device, through the public interface alone; only the variants' names come from
 * the registry.
 *
 *   check [SCALE]    every operation, variant, policy and mode against the reference, on fresh random batches. Where
 *                    the order of items matters (full tables, duplicates), what holds in any order: invariants,
 *                    conservation of entries, values that are their key's
 *   sanitize         a little of it, for compute-sanitizer
 *   soak OPERATIONS [VARIANT]  so many upserts, each followed by a lookup, per variant, policy and mode, values
 *                              verified on the device
 *   time             keys/s: a row per operation, variant, mode and value size
 *
 * Prints rows of tab-separated values; 0: all is well, 1: not, 77: there is no device. SEED in the environment repeats
 * a run; BACKEND=host puts the host machine in the device's place, for check and sanitize.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "gpu/hkv/rows.h"
#include "heddle.h"
#include "policies/hashes/hash.h"

static const char *device = "cuda";
static uint64_t seed;
static int wrong;

static uint64_t draw(void) { return hd_mix64(seed += 0x9e3779b97f4a7c15u); }

/* What may not fail does not: the run ends, and says where. */
static void need(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "%s: %s; %s\n", what, hd_why(), cudaGetErrorString(cudaGetLastError()));
    exit(1);
}
#define MUST(call) need((call) == HD_OK, #call)
#define CUDA(call) need((call) == cudaSuccess, #call)

static std::vector<const char *> all_variants(void)
{
    std::vector<const char *> all;
    for (uint32_t row = 0; row < hkv_row_count(); row++)
        if (hkv_is_first(row)) all.push_back(hkv_row_name(row));
    return all;
}
static const std::vector<const char *> variants = all_variants();
static const char *const policies[] = { "lru", "lfu", "epoch_lru", "epoch_lfu", "custom" };

/* The variants that can run an operation on a table. */
static bool runs(hd_table *t, hd_batch b, const char *variant)
{
    b.n = 0;
    b.kernel = variant;
    return hd_run(t, &b) == HD_OK;
}

static hd_table *open_table(const char *backend, const char *policy, bool dual, uint32_t slots, uint64_t capacity,
                            uint32_t value_bytes)
{
    hd_config c = hd_config_default();
    hd_table *t = NULL;
    c.backend = backend;
    c.policy = policy;
    c.hkv.dual = dual;
    c.slots = slots;
    c.capacity = capacity;
    c.value_bytes = value_bytes;
    c.epoch = 3;
    MUST(hd_open(&c, &t));
    return t;
}

/* ---- check ----------------------------------------------------------------------------------- */

struct entry {
    uint64_t key, score, value;
    bool operator<(const entry &o) const { return key < o.key; }
    bool operator==(const entry &o) const { return key == o.key && score == o.score && value == o.value; }
};

static int add_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    entry e = { key, score, 0 };
    memcpy(&e.value, value, 8);
    ((std::vector<entry> *)context)->push_back(e);
    return 0;
}

static std::vector<entry> content_of(hd_table *t)
{
    std::vector<entry> all;
    MUST(hd_check(t));
    MUST(hd_for_each(t, add_entry, &all));
    std::sort(all.begin(), all.end());
    return all;
}

/* A batch with its arrays on this machine. */
struct arrays {
    std::vector<uint64_t> key, score, score_out, list_key, list_score, list_item;
    std::vector<uint8_t> value, value_out, list_value, outcome, flag;
    std::vector<void *> ptr;
    uint64_t count = 0;
    arrays(size_t n, size_t bytes)
        : key(n), score(n), score_out(n), list_key(n), list_score(n), list_item(n), value(n * bytes),
          value_out(n * bytes), list_value(n * bytes), outcome(n, 255), flag(n, HD_EITHER), ptr(n)
    {
    }
    hd_batch batch(hd_op op)
    {
        hd_batch b = hd_batch_keyed(op, key.size(), key.data(), value.data(), score.data(), value_out.data(),
                                    ptr.data(), outcome.data());
        hd_batch_set_lists(&b, list_key.data(), list_value.data(), list_score.data(), list_item.data(), &count);
        b.elem = HD_U64;
        b.score_out = score_out.data();
        b.flag = flag.data();
        b.holder = 9;
        return b;
    }
};

static void verdict(bool good, const char *what, const char *op, const char *variant, const char *policy, bool dual,
                    uint32_t value_bytes, uint64_t items)
{
    printf("%s\t%s\t%s\t%s\t%s\t%s\t%u\t%llu\n", good ? "ok" : "WRONG", what, op, variant, policy,
           dual ? "dual" : "single", value_bytes, (unsigned long long)items);
    fflush(stdout);
    wrong += !good;
}

static const hd_op keyed[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND,           HD_OP_CONTAINS,
                               HD_OP_FIND_MISSED,      HD_OP_TOUCH,          HD_OP_ASSIGN,
                               HD_OP_ASSIGN_VALUES,    HD_OP_ASSIGN_SCORES,  HD_OP_ACCUM_OR_ASSIGN,
                               HD_OP_INSERT_AND_EVICT, HD_OP_FIND_OR_INSERT, HD_OP_FIND_OR_INSERT_PTR,
                               HD_OP_LOCK_KEYS,        HD_OP_UNLOCK_KEYS,    HD_OP_ERASE };

/* Room for all, no key twice: the order of items cannot show, so outcomes, outputs, lists and contents are the
 * reference's. */
static void check_exact(const char *variant, const char *policy, bool dual, uint32_t slots, uint32_t value_bytes,
                        uint64_t n, int times)
{
    hd_table *here = open_table("ref", policy, dual, slots, 16 * n, value_bytes),
             *there = open_table(device, policy, dual, slots, 16 * n, value_bytes);
    for (hd_op op : keyed) {
        bool good = true;
        uint64_t items = 0;
        for (int i = 0; i < times; i++) {
            arrays a(n, value_bytes), b(n, value_bytes);
            for (uint64_t k = 0; k < n; k++) {
                a.key[k] = draw() % (2 * n) + 1;
                a.score[k] = draw() % 1000000;
            }
            std::sort(a.key.begin(), a.key.end());
            a.key.erase(std::unique(a.key.begin(), a.key.end()), a.key.end());
            uint64_t m = a.key.size();
            for (uint64_t k = m; k > 1; k--) std::swap(a.key[k - 1], a.key[draw() % k]);
            a.key.resize(n);
            for (auto &byte : a.value) byte = (uint8_t)draw();
            b = a;
            hd_batch x = a.batch(op), y = b.batch(op);
            x.n = y.n = op == HD_OP_LOCK_KEYS || op == HD_OP_UNLOCK_KEYS ? std::min<uint64_t>(m, 500) : m;
            y.kernel = variant;
            if (!runs(there, y, variant)) y.kernel = NULL;
            MUST(hd_run(here, &x));
            MUST(hd_run(there, &y));
            good = good && a.outcome == b.outcome && a.value_out == b.value_out && a.score_out == b.score_out;
            if (op == HD_OP_FIND_MISSED || op == HD_OP_INSERT_AND_EVICT)
                good = good && a.count == b.count && a.list_key == b.list_key && a.list_item == b.list_item;
            items += x.n;
        }
        good = good && content_of(here) == content_of(there);
        verdict(good, "as the reference", hd_op_name(op), variant, policy, dual, value_bytes, items);
    }
    hd_close(here);
    hd_close(there);
}

/* A full table, keys again and again within a batch: every entry is accounted for, its value is its key's. */
static void check_full(const char *variant, const char *policy, bool dual, uint32_t slots, uint64_t n, int times)
{
    hd_table *t = open_table(device, policy, dual, slots, n / 4, 8);
    arrays a(n, 8);
    bool good = true;
    uint64_t gone = 0, inserted = 0, fate[HD_OUTCOME_COUNT] = { 0 };
    for (int i = 0; i < times; i++) {
        for (uint64_t k = 0; k < n; k++) {
            uint64_t key = draw() % n + 1, value = hd_mix64(key);
            a.key[k] = key;
            a.score[k] = draw() % 1000 + 1;
            memcpy(&a.value[8 * k], &value, 8);
        }
        hd_batch b = a.batch(HD_OP_INSERT_AND_EVICT);
        b.kernel = variant;
        MUST(hd_run(t, &b));
        uint64_t listed = 0;
        for (uint64_t k = 0; k < n; k++) {
            fate[a.outcome[k]]++;
            inserted += a.outcome[k] == HD_INSERTED;
            listed += a.outcome[k] == HD_EVICTED || a.outcome[k] == HD_REFUSED;
        }
        good = good && a.count == listed;
        for (uint64_t k = 0; k < a.count && good; k++) {
            uint64_t value;
            memcpy(&value, &a.list_value[8 * k], 8);
            good = value == hd_mix64(a.list_key[k]) && a.list_item[k] < n &&
                   (k == 0 || a.list_item[k - 1] < a.list_item[k]);
            if (good && a.outcome[a.list_item[k]] == HD_REFUSED) good = a.list_key[k] == a.key[a.list_item[k]];
        }
        gone += a.count;
        std::vector<entry> all = content_of(t);
        good = good && all.size() == inserted;
        for (const entry &e : all) good = good && e.value == hd_mix64(e.key);
    }
    (void)gone;
    verdict(good && fate[HD_EVICTED] > 0, "conserved", "insert_and_evict", variant, policy, dual, 8,
            n * (uint64_t)times);
    hd_close(t);
}

/* All kernels, a little of each: for tools that slow a program down a hundred times. */
static int sanitize(void)
{
    for (const char *variant : variants)
        for (int dual = 0; dual < 2; dual++) {
            check_exact(variant, dual ? "lfu" : "lru", dual, 32, 32, 300, 1);
            check_full(variant, dual ? "lru" : "custom", dual, 32, 512, 1);
        }
    return wrong > 0;
}

static int check(int scale)
{
    printf("verdict\twhat\toperation\tvariant\tpolicy\tmode\tvalue_bytes\titems\n");
    for (const char *variant : variants)
        for (const char *policy : policies)
            for (int dual = 0; dual < 2; dual++) {
                check_exact(variant, policy, dual, 128, 8, 4000, scale);
                check_full(variant, policy, dual, 128, 1 << 15, 3 * scale);
            }
    for (const char *variant : variants) { /* other shapes */
        check_exact(variant, "lru", true, 32, 64, 2000, scale);
        check_exact(variant, "lfu", false, 48, 200, 2000, scale);
        check_full(variant, "lru", true, 16, 1 << 13, 3 * scale);
        check_full(variant, "custom", false, 32, 1 << 13, 3 * scale);
    }
    return wrong > 0;
}

/* ---- soak and time: everything stays on the device ------------------------------------------- */

static __global__ void fill_keys(uint64_t *key, uint64_t n, uint64_t salt, uint64_t range)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        key[i] = range ? hd_mulhi64(hd_mix64(i + salt), range) + 1 : hd_mix64(i + salt) >> 2;
}

static __global__ void fill_values(uint8_t *value, const uint64_t *key, uint64_t n, uint32_t bytes)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        for (uint32_t w = 0; w < bytes / 8; w++) ((uint64_t *)(value + i * bytes))[w] = hd_mix64(key[i] + w);
}

/* bad[0]: wrong values of keys that were found; bad[1]: how many were found. */
static __global__ void verify(const uint8_t *value, const uint64_t *key, const uint8_t *outcome, uint64_t n,
                              uint32_t bytes, unsigned long long *bad)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x) {
        if (outcome[i] != HD_HIT) continue;
        atomicAdd(bad + 1, 1ull);
        for (uint32_t w = 0; w < bytes / 8; w++)
            if (((const uint64_t *)(value + i * bytes))[w] != hd_mix64(key[i] + w)) atomicAdd(bad, 1ull);
    }
}

struct far_arrays {
    uint64_t n;
    uint32_t bytes;
    uint64_t *key, *score;
    uint8_t *value, *value_out, *outcome;
    void **ptr;
    unsigned long long *bad;
    far_arrays(uint64_t n_, uint32_t bytes_) : n(n_), bytes(bytes_)
    {
        CUDA(cudaMalloc(&key, n * 8));
        CUDA(cudaMalloc(&score, n * 8));
        CUDA(cudaMalloc(&value, n * bytes));
        CUDA(cudaMalloc(&value_out, n * bytes));
        CUDA(cudaMalloc(&outcome, n));
        CUDA(cudaMalloc(&ptr, n * 8));
        CUDA(cudaMalloc(&bad, 16));
        CUDA(cudaMemset(bad, 0, 16));
    }
    ~far_arrays()
    {
        for (void *p : { (void *)key, (void *)score, (void *)value, (void *)value_out, (void *)outcome, (void *)ptr,
                         (void *)bad })
            cudaFree(p);
    }
    void draw_keys(uint64_t salt, uint64_t range)
    {
        fill_keys<<<1024, 256>>>(key, n, salt, range);
        fill_keys<<<1024, 256>>>(score, n, salt ^ 77, 1000);
        fill_values<<<1024, 256>>>(value, key, n, bytes);
        CUDA(cudaGetLastError());
    }
    hd_batch batch(hd_op op, const char *kernel)
    {
        bool delivers = op == HD_OP_FIND || op == HD_OP_FIND_OR_INSERT;
        hd_batch b = hd_batch_keyed(op, n, key, value, score, delivers ? value_out : NULL, ptr, outcome);
        b.elem = HD_U64;
        b.kernel = kernel;
        return b;
    }
};

static int soak(uint64_t operations, const char *only)
{
    enum { N = 1 << 22, BYTES = 16 };
    far_arrays a(N, BYTES);
    printf("verdict\tvariant\tpolicy\tmode\toperations\tfound\twrong_values\tseconds\n");
    for (const char *variant : only ? std::vector<const char *>(1, only) : variants)
        for (const char *policy : policies)
            for (int dual = 0; dual < 2; dual++) {
                hd_table *t = open_table(device, policy, dual, 128, N, BYTES);
                unsigned long long bad[2];
                clock_t start = clock();
                CUDA(cudaMemset(a.bad, 0, sizeof bad));
                for (uint64_t done = 0; done < operations; done += 2 * N) {
                    a.draw_keys(draw(), 4 * N);
                    hd_batch upsert = a.batch(HD_OP_INSERT_OR_ASSIGN, variant), find = a.batch(HD_OP_FIND, variant);
                    MUST(hd_run(t, &upsert));
                    MUST(hd_run(t, &find));
                    verify<<<1024, 256>>>(a.value_out, a.key, a.outcome, N, BYTES, a.bad);
                }
                hd_counters c;
                uint64_t size;
                MUST(hd_counters_sync(t, &c));
                MUST(hd_size_sync(t, &size));
                MUST(hd_check(t));
                CUDA(cudaMemcpy(bad, a.bad, sizeof bad, cudaMemcpyDeviceToHost));
                bool good = bad[0] == 0 && bad[1] > 0 && size == c.outcome[HD_INSERTED] && bad[1] == c.outcome[HD_HIT];
                wrong += !good;
                printf("%s\t%s\t%s\t%s\t%llu\t%llu\t%llu\t%.1f\n", good ? "ok" : "WRONG", variant, policy,
                       dual ? "dual" : "single", (unsigned long long)c.items, bad[1], bad[0],
                       (double)(clock() - start) / CLOCKS_PER_SEC);
                fflush(stdout);
                hd_close(t);
            }
    return wrong > 0;
}

/* Keys/s: the median over `times` of so many calls between two events, each on other keys where the operation changes
 * the table. */
static double keys_per_s(hd_table *t, far_arrays &a, hd_batch b, const std::vector<uint64_t *> &keys)
{
    enum { CALLS = 24, TIMES = 5 };
    std::vector<double> rate;
    cudaEvent_t from, to;
    CUDA(cudaEventCreate(&from));
    CUDA(cudaEventCreate(&to));
    for (int i = -1; i < TIMES; i++) { /* the first warms up */
        CUDA(cudaEventRecord(from));
        for (int call = 0; call < CALLS; call++) {
            b.key = keys[(size_t)call % keys.size()];
            MUST(hd_run(t, &b));
        }
        CUDA(cudaEventRecord(to));
        CUDA(cudaEventSynchronize(to));
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, from, to));
        if (i >= 0) rate.push_back((double)a.n * CALLS / ms * 1e3);
    }
    CUDA(cudaEventDestroy(from));
    CUDA(cudaEventDestroy(to));
    std::sort(rate.begin(), rate.end());
    return rate[rate.size() / 2];
}

static int timing(void)
{
    enum { N = 1 << 20, SETS = 8 };
    static const uint64_t capacity = 1ull << 24;
    static const uint32_t sizes[] = { 8, 64, 256, 1024 };
    static const hd_op ops[] = {
        HD_OP_FIND,           HD_OP_CONTAINS,        HD_OP_TOUCH, HD_OP_ASSIGN, HD_OP_INSERT_OR_ASSIGN,
        HD_OP_FIND_OR_INSERT, HD_OP_ACCUM_OR_ASSIGN, HD_OP_ERASE
    };
    printf("operation\tvariant\tmode\tvalue_bytes\tload_factor\tkeys_per_s\n");
    for (uint32_t bytes : sizes)
        for (int dual = 0; dual < 2; dual++)
            for (int full = 0; full < 2; full++) {
                hd_table *t = open_table(device, "lru", dual, 128, capacity, bytes);
                far_arrays a(N, bytes);
                for (uint64_t i = 0; i < (full ? 4 * capacity : capacity / 2) / N; i++) {
                    a.draw_keys(i * N, 0);
                    hd_batch b = a.batch(HD_OP_INSERT_OR_ASSIGN, "tlpv1");
                    MUST(hd_run(t, &b));
                }
                uint64_t size;
                MUST(hd_size_sync(t, &size));
                std::vector<uint64_t *> old_keys(SETS), new_keys(SETS);
                for (uint64_t s = 0; s < SETS; s++) {
                    CUDA(cudaMalloc(&old_keys[s], N * 8));
                    CUDA(cudaMalloc(&new_keys[s], N * 8));
                    fill_keys<<<1024, 256>>>(old_keys[s], N, ((full ? 4 * capacity : capacity / 2) / N - 1 - s) * N, 0);
                    fill_keys<<<1024, 256>>>(new_keys[s], N, draw(), 0);
                }
                for (hd_op op : ops) /* erase comes last: it empties the table */
                    for (const char *variant : variants) {
                        hd_batch b = a.batch(op, variant);
                        if (!runs(t, b, variant)) continue;
                        bool inserts = full && (op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_FIND_OR_INSERT);
                        printf("%s\t%s\t%s\t%u\t%.3f\t%.4g\n", hd_op_name(op), variant, dual ? "dual" : "single", bytes,
                               (double)size / (double)capacity, keys_per_s(t, a, b, inserts ? new_keys : old_keys));
                        fflush(stdout);
                    }
                for (uint64_t s = 0; s < SETS; s++) cudaFree(old_keys[s]), cudaFree(new_keys[s]);
                hd_close(t);
            }
    return 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "", *given = getenv("SEED");
    if (getenv("BACKEND")) device = getenv("BACKEND");
    hd_table *t = NULL;
    hd_config c = hd_config_default();
    c.backend = device;
    if (hd_open(&c, &t)) {
        printf("# skipped: %s\n", hd_why());
        return 77;
    }
    hd_close(t);
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("# SEED=%llu\n", (unsigned long long)seed);
    if (strcmp(verb, "check") == 0) return check(argc > 2 ? atoi(argv[2]) : 2);
    if (strcmp(verb, "sanitize") == 0) return sanitize();
    if (strcmp(verb, "soak") == 0)
        return soak(argc > 2 ? strtoull(argv[2], NULL, 10) : 100000000, argc > 3 ? argv[3] : NULL);
    if (strcmp(verb, "time") == 0) return timing();
    fprintf(stderr, "usage: hkv_run check [SCALE] | sanitize | soak OPERATIONS [VARIANT] | time\n");
    return 2;
}
