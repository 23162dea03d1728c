/* SPDX-License-Identifier: Apache-2.0
 *
 * wide.cu - rates of large values, through HierarchicalKV's interface. The same source compiles with
 * include/heddle/merlin_hashtable.cuh and with HierarchicalKV's own headers, so both can be measured in one run.
 * bench/lab/around.sh builds and runs both.
 *
 * Tables of 32 GiB of values under lru; batches of 1 Mi distinct keys, or 256 Ki if values have 4 KiB. Each figure is
 * the median of five queues of ten batches between events. No two batches of a queue have a new key in common. A full
 * table has evicted at least as many entries as it has. Arguments: the name for the first column, and the dims.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "merlin_hashtable.cuh"

using namespace nv::merlin;

enum : size_t { QUEUE = 10, REPEATS = 5, VALUES_BYTES = size_t(32) << 30 };

static __host__ __device__ uint64_t key_of(uint64_t id)
{
    uint64_t x = id + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) >> 2;
}

/* Item i of a batch: a new id, `next` and following, for the first `fresh` of 10 items; or one of the `window` ids
 * before `known`, none of them twice in a batch. Neighbouring items have no neighbouring ids. */
static __global__ void draw(uint64_t *key, uint64_t n, uint64_t next, uint64_t known, uint64_t window, uint64_t turn,
                            uint64_t fresh)
{
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x) {
        const uint64_t stride = 1000003, old = known - 1 - (i + turn * n) * stride % window;
        key[i] = key_of(i % 10 < fresh ? next + i / 10 * fresh + i % 10 : old);
    }
}

static __global__ void count(const bool *found, uint64_t n, unsigned long long *sum)
{
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x)
        if (found[i]) atomicAdd(sum, 1);
}

template <class T> static T *room(size_t n)
{
    T *p;
    CUDA_CHECK(cudaMalloc(&p, n * sizeof(T)));
    return p;
}

struct bench {
    using table =
        HashTable<uint64_t, float, uint64_t, EvictStrategy::kLru, Sm80>; /* as in HierarchicalKV's benchmark */
    const char *name;
    size_t dim, capacity, n, window;
    uint64_t next = 0, turn = 0;
    table t;
    uint64_t *key, *evicted_key, *evicted_score;
    float *value, *out;
    bool *found;
    size_t *counter;
    unsigned long long *sum;

    bench(const char *who, size_t floats) : name(who), dim(floats)
    {
        capacity = VALUES_BYTES / (dim * sizeof(float));
        n = dim > 256 ? size_t(256) << 10 : size_t(1) << 20;
        window = capacity / 10 * 6 | 1; /* odd, and no multiple of the stride: no id comes twice */
        HashTableOptions o;
        o.init_capacity = o.max_capacity = capacity;
        o.max_hbm_for_vectors = VALUES_BYTES;
        o.dim = dim;
        t.init(o);
        key = room<uint64_t>(n * QUEUE);
        evicted_key = room<uint64_t>(n);
        evicted_score = room<uint64_t>(n);
        value = room<float>(n * dim);
        out = room<float>(n * dim);
        found = room<bool>(n);
        counter = room<size_t>(1);
        sum = room<unsigned long long>(1);
        CUDA_CHECK(cudaMemset(value, 0, n * dim * sizeof(float)));
    }

    ~bench()
    {
        for (void *p : { (void *)key, (void *)evicted_key, (void *)evicted_score, (void *)value, (void *)out,
                         (void *)found, (void *)counter, (void *)sum })
            cudaFree(p);
    }

    /* The keys of a queue; `fresh` of 10 items are new. The others are known before the queue. */
    void draw_queue(size_t fresh)
    {
        const uint64_t known = next;
        for (size_t i = 0; i < QUEUE; i++) {
            draw<<<1024, 256>>>(key + i * n, n, next, known, window, turn++, fresh);
            next += (n / 10 + 1) * fresh;
        }
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    void insert_new(size_t many)
    {
        for (size_t done = 0; done < many; done += n, next += n) {
            draw<<<1024, 256>>>(key, n, next, next, window, 0, 10);
            t.insert_or_assign(n, key, value);
        }
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    /* The share of the queue's keys that are present. */
    double hits()
    {
        unsigned long long all = 0;
        CUDA_CHECK(cudaMemset(sum, 0, sizeof *sum));
        for (size_t i = 0; i < QUEUE; i++) {
            t.contains(n, key + i * n, found);
            count<<<1024, 256>>>(found, n, sum);
        }
        CUDA_CHECK(cudaMemcpy(&all, sum, sizeof all, cudaMemcpyDeviceToHost));
        return double(all) / double(n * QUEUE);
    }

    /* undo: what is done after a queue, and is not timed. */
    template <class F, class G> void row(const char *op, const char *load, size_t fresh, F call, G undo)
    {
        std::vector<double> rates;
        double present = 0;
        cudaEvent_t from, to;
        CUDA_CHECK(cudaEventCreate(&from));
        CUDA_CHECK(cudaEventCreate(&to));
        for (size_t repeat = 0; repeat <= REPEATS; repeat++) {
            draw_queue(fresh);
            present = hits();
            CUDA_CHECK(cudaDeviceSynchronize());
            CUDA_CHECK(cudaEventRecord(from));
            for (size_t i = 0; i < QUEUE; i++) call(key + i * n);
            CUDA_CHECK(cudaEventRecord(to));
            CUDA_CHECK(cudaEventSynchronize(to));
            float ms;
            CUDA_CHECK(cudaEventElapsedTime(&ms, from, to));
            if (repeat) rates.push_back(double(n * QUEUE) / ms / 1e6);
            undo();
        }
        std::sort(rates.begin(), rates.end());
        std::printf("%s\t%s\t%zu\t%s\t%.3f\t%.3f\n", name, op, dim, load, present, rates[REPEATS / 2]);
        std::fflush(stdout);
        CUDA_CHECK(cudaEventDestroy(from));
        CUDA_CHECK(cudaEventDestroy(to));
    }

    void run()
    {
        const auto nothing = [] {};
        const auto insert_queue = [&] {
            for (size_t i = 0; i < QUEUE; i++) t.insert_or_assign(n, key + i * n, value);
        };
        insert_new(capacity / 10 * 6);
        window = capacity / 10 * 5 | 1;
        row(
            "erase", "0.6", 0, [&](uint64_t *k) { t.erase(n, k); }, insert_queue);
        insert_new(capacity * 2);
        window = capacity / 10 * 6 | 1;
        row(
            "find", "1", 0, [&](uint64_t *k) { t.find(n, k, out, found); }, nothing);
        row(
            "assign", "1", 0, [&](uint64_t *k) { t.assign(n, k, value); }, nothing);
        row(
            "insert_or_assign", "1", 4, [&](uint64_t *k) { t.insert_or_assign(n, k, value); }, nothing);
        row(
            "find_or_insert", "1", 4, [&](uint64_t *k) { t.find_or_insert(n, k, value); }, nothing);
        row(
            "insert_and_evict", "1", 4,
            [&](uint64_t *k) { t.insert_and_evict(n, k, value, nullptr, evicted_key, out, evicted_score, counter); },
            nothing);
    }
};

int main(int argc, char **argv)
{
    if (argc < 3) return std::fputs("usage: wide NAME DIM ...\n", stderr), 2;
    std::printf("# interface\toperation\tdim\tload\thits\t1e9 items/s\n");
    for (int i = 2; i < argc; i++) {
        bench b(argv[1], size_t(std::atoi(argv[i])));
        b.run();
    }
    return 0;
}
