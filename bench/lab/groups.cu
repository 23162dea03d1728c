/* SPDX-License-Identifier: Apache-2.0
 *
 * groups.cu - rates of batches with repeated keys that `heddle bench cliffs` does not have: with pins, and with high
 * given scores. Medians of seven calls, each of a new batch of 1 Mi items, in 1e9 items/s by events. repeats.md has
 * the command.
 */
#include <heddle.h>
#include <workload/zipf.h>
#include <algorithm>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

enum { N = 1 << 20, CALLS = 7, CAPACITY = 16 << 20, UNIVERSE = 64 << 20 };

static int fail(const char *what)
{
    printf("%s: %s\n", what, hd_why());
    return 1;
}

struct run {
    const char *policy;
    hd_op op;
    uint64_t given; /* 0: none */
    bool holder, score_out;
};

struct arrays {
    uint64_t *key, *score, *score_out;
    char *value, *value_out;
    uint8_t *outcome;
};

/* zipf 0: all keys differ. */
static void draw(std::vector<uint64_t> *key, double zipf, hd_rng *g)
{
    hd_zipf z = hd_zipf_of(zipf, UNIVERSE);
    for (uint64_t &k : *key) k = hd_scramble(zipf > 0 ? hd_zipf_rank(&z, g) : hd_rng_next(g)) >> 2;
}

static double rate(hd_table *t, const run &r, const arrays &a, const std::vector<uint64_t> &key)
{
    float ms;
    cudaEvent_t from, to;
    hd_batch b = hd_batch_keyed(r.op, N, a.key, a.value, r.given ? a.score : nullptr, nullptr, nullptr, a.outcome);
    if (r.op == HD_OP_FIND_OR_INSERT) b.value_out = a.value_out;
    if (r.score_out) b.score_out = a.score_out;
    if (r.holder) b.holder = 7;
    cudaMemcpy(a.key, key.data(), N * sizeof *a.key, cudaMemcpyHostToDevice);
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    cudaEventRecord(from);
    if (hd_run(t, &b)) return fail(r.policy), 0;
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    cudaEventElapsedTime(&ms, from, to);
    hd_batch u = hd_batch_of(HD_OP_UNLOCK_KEYS, N, a.key);
    u.holder = 7;
    if (r.holder && hd_run(t, &u)) return fail("unlock_keys"), 0;
    cudaDeviceSynchronize();
    return N / (ms * 1e6);
}

static int measure(const run &r, double zipf, const arrays &a)
{
    hd_config c = hd_config_default();
    c.backend = "cuda";
    c.capacity = CAPACITY;
    c.value_bytes = 32;
    c.policy = r.policy;
    hd_table *t;
    hd_rng g = hd_rng_from(1);
    if (hd_open(&c, &t)) return fail("open");
    std::vector<uint64_t> key(N), given(N, r.given);
    cudaMemcpy(a.score, given.data(), N * sizeof *a.score, cudaMemcpyHostToDevice);
    for (int i = 0; i < 2 * CAPACITY / N; i++) {
        draw(&key, i % 2 ? zipf : 0, &g);
        cudaMemcpy(a.key, key.data(), N * sizeof *a.key, cudaMemcpyHostToDevice);
        if (hd_upsert(t, N, a.key, a.value, nullptr, a.outcome)) return fail("fill");
    }
    std::vector<double> all;
    for (int i = 0; i < CALLS; i++) {
        draw(&key, zipf, &g);
        all.push_back(rate(t, r, a, key));
    }
    std::sort(all.begin(), all.end());
    printf("%s\t%s\t%llu\t%d\t%d\t%.2f\t%.3f\n", r.policy, hd_op_name(r.op), (unsigned long long)r.given, r.holder,
           r.score_out, zipf, all[CALLS / 2]);
    fflush(stdout);
    hd_close(t);
    return 0;
}

int main()
{
    static const run runs[] = {
        { "lru", HD_OP_FIND_OR_INSERT, 0, false, false },
        { "lru", HD_OP_FIND_OR_INSERT, 0, true, false },
        { "lfu", HD_OP_FIND_OR_INSERT, 0, true, false },
        { "lfu", HD_OP_INSERT_OR_ASSIGN, 2, false, false },
        { "lfu", HD_OP_INSERT_OR_ASSIGN, 1 << 30, false, false },
        { "epoch_lfu", HD_OP_INSERT_OR_ASSIGN, 1 << 30, false, false },
        { "lfu", HD_OP_FIND_OR_INSERT, 2, false, true },
    };
    arrays a;
    cudaMalloc(&a.key, N * 8);
    cudaMalloc(&a.score, N * 8);
    cudaMalloc(&a.score_out, N * 8);
    cudaMalloc(&a.value, N * 32);
    cudaMalloc(&a.value_out, N * 32);
    cudaMalloc(&a.outcome, N);
    cudaMemset(a.value, 1, N * 32);
    puts("policy\toperation\tgiven\tholder\tscore_out\tzipf\tgiga_items_per_s");
    int worst = 0;
    for (const run &r : runs)
        for (double zipf : { 0.0, 0.99, 1.2 }) worst |= measure(r, zipf, a);
    return worst;
}
