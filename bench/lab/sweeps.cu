/* SPDX-License-Identifier: Apache-2.0
 *
 * sweeps.cu - calls that go over all slots of a table of 64 Mi with 32 Mi entries, in microseconds by the host's clock:
 * the least of six, and those that change the table once. bench.md has the command.
 */
#include <heddle.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

enum { ENTRIES = 32 << 20, TIMES = 6 };

static void must(bool good)
{
    if (good) return;
    fprintf(stderr, "%s\n", hd_why());
    exit(1);
}

struct memories {
    uint64_t *device, *pinned, *managed;
};

/* pred NULL: all. */
struct sweep {
    const char *name;
    hd_op op;
    const char *pred;
    uint64_t mask, is;
    uint64_t *memories::*count; /* NULL: none */
    int times;
};
static const sweep sweeps[] = {
    { "size", HD_OP_SIZE, nullptr, 0, 0, &memories::device, TIMES },
    { "size into pinned memory", HD_OP_SIZE, nullptr, 0, 0, &memories::pinned, TIMES },
    { "size into managed memory", HD_OP_SIZE, nullptr, 0, 0, &memories::managed, TIMES },
    { "size_if, half", HD_OP_SIZE_IF, "key_masked", 1, 0, &memories::device, TIMES },
    { "erase_if, none", HD_OP_ERASE_IF, "key_masked", 1u << 31, 1u << 31, &memories::device, TIMES },
    { "erase_if, half", HD_OP_ERASE_IF, "key_masked", 1, 0, &memories::device, 1 },
    { "clear", HD_OP_CLEAR, nullptr, 0, 0, nullptr, 1 },
};

static double microseconds(hd_table *t, const hd_batch &batch)
{
    hd_batch b = batch;
    cudaDeviceSynchronize();
    auto start = std::chrono::steady_clock::now();
    must(hd_run(t, &b) == HD_OK && cudaDeviceSynchronize() == cudaSuccess);
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

static void table(const char *design, hd_layout layout, uint32_t slots, const uint64_t *key, const void *value,
                  const memories &m)
{
    hd_config c = hd_config_of(design);
    hd_table *t;
    hd_info info;
    hd_batch b = {};
    c.backend = "cuda";
    c.capacity = 2 * (uint64_t)ENTRIES;
    c.value_bytes = 4;
    if (slots) {
        c.layout = layout;
        c.slots = slots;
    }
    must(hd_open(&c, &t) == HD_OK && hd_table_info(t, &info) == HD_OK);
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.n = ENTRIES;
    b.key = key;
    b.value = value;
    b.distinct = true;
    must(hd_run(t, &b) == HD_OK && cudaDeviceSynchronize() == cudaSuccess);
    for (const sweep &s : sweeps) {
        double least = 1e30;
        b = {};
        b.op = s.op;
        b.pred = s.pred;
        b.pred_arg[0] = s.mask;
        b.pred_arg[1] = s.is;
        if (s.count) {
            b.n = info.places;
            b.count = m.*s.count;
        }
        for (int i = 0; i < s.times; i++) least = std::min(least, microseconds(t, b));
        uint64_t n = s.count ? 0 : ENTRIES / 2;
        if (s.count) must(cudaMemcpy(&n, b.count, sizeof n, cudaMemcpyDefault) == cudaSuccess);
        printf("%s\t%s\t%s\t%llu\t%.1f\n", design, slots ? "masks" : "usual", s.name, (unsigned long long)n, least);
    }
    hd_close(t);
}

int main()
{
    cudaDeviceProp device;
    memories m;
    uint64_t *key;
    void *value;
    std::vector<uint64_t> here(ENTRIES);
    for (uint64_t i = 0; i < ENTRIES; i++) here[i] = i + 1;
    must(cudaGetDeviceProperties(&device, 0) == cudaSuccess && cudaMalloc(&key, 8 * ENTRIES) == cudaSuccess &&
         cudaMalloc(&value, 4 * ENTRIES) == cudaSuccess && cudaMalloc(&m.device, 8) == cudaSuccess &&
         cudaMallocHost(&m.pinned, 8) == cudaSuccess && cudaMallocManaged(&m.managed, 8) == cudaSuccess &&
         cudaMemcpy(key, here.data(), 8 * ENTRIES, cudaMemcpyDefault) == cudaSuccess &&
         cudaMemset(value, 1, 4 * ENTRIES) == cudaSuccess);
    printf("# %s\ndesign\tlayout\tcall\tentries\tus\n", device.name);
    table("hkv", HD_LAYOUT_PAIRS, 0, key, value, m);
    table("hive", HD_LAYOUT_WORDS, 0, key, value, m);
    table("hive", HD_LAYOUT_MASKS, 32, key, value, m);
    return 0;
}
