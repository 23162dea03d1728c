/* SPDX-License-Identifier: Apache-2.0
 *
 * growth.cu - how long hd_grow to twice the buckets takes on a device, by the host's clock, and how many keys are found
 * before and after it. Values of 32 bytes, load factor 0.9. Arguments: capacities in Mi entries (16). bench.md has
 * the command.
 */
#include <heddle.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

enum { BYTES = 32, ITEMS = 4 << 20 };

static void must(int failed)
{
    if (!failed) return;
    printf("%s\n", hd_why());
    exit(1);
}

static __global__ void keys_of(uint64_t *key, uint64_t first, uint64_t n)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        key[i] = (first + i) * 0x9e3779b97f4a7c15u >> 1;
}

struct arrays {
    uint64_t *key;
    void *value;
    uint8_t *outcome, *here;
};

static uint64_t run(hd_table *t, hd_op op, const arrays &a, uint64_t first, uint64_t n)
{
    keys_of<<<1024, 256>>>(a.key, first, n);
    hd_batch b =
        hd_batch_keyed(op, n, a.key, op == HD_OP_CONTAINS ? nullptr : a.value, nullptr, nullptr, nullptr, a.outcome);
    b.distinct = true;
    must(hd_run(t, &b));
    must(cudaMemcpy(a.here, a.outcome, n, cudaMemcpyDeviceToHost) != cudaSuccess);
    uint64_t hits = 0;
    for (uint64_t i = 0; i < n; i++) hits += a.here[i] == HD_HIT;
    return hits;
}

static void grow(const arrays &a, uint64_t capacity)
{
    hd_config c = hd_config_default();
    hd_table *t;
    c.capacity = capacity;
    c.value_bytes = BYTES;
    c.backend = "cuda";
    must(hd_open(&c, &t));
    uint64_t n = capacity / 10 * 9, before, after;
    for (uint64_t i = 0; i < n; i += ITEMS) run(t, HD_OP_INSERT_OR_ASSIGN, a, i, n - i < ITEMS ? n - i : ITEMS);
    before = run(t, HD_OP_CONTAINS, a, n - n / 3, n < ITEMS ? n : ITEMS);
    hd_info info;
    must(hd_table_info(t, &info));
    uint64_t bytes = info.memory_bytes;
    must(cudaDeviceSynchronize() != cudaSuccess);
    auto from = std::chrono::steady_clock::now();
    hd_status status = hd_grow(t, 2 * info.buckets);
    must(cudaDeviceSynchronize() != cudaSuccess);
    double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    if (status) printf("%s\n", hd_why());
    after = run(t, HD_OP_CONTAINS, a, n - n / 3, n < ITEMS ? n : ITEMS);
    must(hd_table_info(t, &info));
    printf("%llu\t%llu\t%.2f\t%.0f\t%llu\t%llu\n", (unsigned long long)(capacity >> 20),
           (unsigned long long)(info.capacity >> 20), s * 1e3, (double)(bytes + info.memory_bytes) / s * 1e-9,
           (unsigned long long)before, (unsigned long long)after);
    fflush(stdout);
    hd_close(t);
}

int main(int argc, char **argv)
{
    arrays a;
    must(cudaMalloc(&a.key, 8ull * ITEMS) != cudaSuccess ||
         cudaMalloc(&a.value, (size_t)BYTES * ITEMS) != cudaSuccess || cudaMalloc(&a.outcome, ITEMS) != cudaSuccess ||
         !(a.here = (uint8_t *)malloc(ITEMS)));
    printf("entries_mi\tgrown_mi\tms\tGB_per_s_of_both_tables\tfound_before\tfound_after\n");
    if (argc == 1) grow(a, 16ull << 20);
    for (int i = 1; i < argc; i++) grow(a, strtoull(argv[i], nullptr, 10) << 20);
}
