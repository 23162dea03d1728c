/* SPDX-License-Identifier: Apache-2.0
 *
 * merlin.cu - what include/heddle/merlin_hashtable.cuh costs over heddle.h. A program with HierarchicalKV's interface
 * times calls of a full table; compiled with -DC_API it also times the same calls by hd_run. The same source compiles
 * with HierarchicalKV's own headers. bench.md has the commands.
 *
 * Rows: interface, operation, keys per call, bits of scores, microseconds of a call in a queue of calls between events
 * (the least of five queues), microseconds of a call that is waited for (the least of 200, host clock).
 */
#include <chrono>
#include <cstdio>
#include <vector>

#include "merlin_hashtable.cuh"

using namespace nv::merlin;

enum : size_t { CAPACITY = 1 << 20, DIM = 8, MOST = 1 << 18, QUEUE = 40 };

template <class T> static T *room(size_t n)
{
    T *p;
    CUDA_CHECK(cudaMalloc(&p, n * sizeof(T)));
    return p;
}

template <class S> __global__ void fill(uint64_t *key, float *value, S *score, size_t first, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        key[i] = (first + i) * 0x9e3779b97f4a7c15u >> 1;
        score[i] = S(first + i);
        for (size_t j = 0; j < DIM; j++) value[i * DIM + j] = float(i);
    }
}

template <class F> static double queued(F call)
{
    double least = 1e9;
    cudaEvent_t from, to;
    CUDA_CHECK(cudaEventCreate(&from));
    CUDA_CHECK(cudaEventCreate(&to));
    for (int repeat = 0; repeat < 5; repeat++) {
        CUDA_CHECK(cudaDeviceSynchronize());
        CUDA_CHECK(cudaEventRecord(from));
        for (size_t i = 0; i < QUEUE; i++) call();
        CUDA_CHECK(cudaEventRecord(to));
        CUDA_CHECK(cudaEventSynchronize(to));
        float ms;
        CUDA_CHECK(cudaEventElapsedTime(&ms, from, to));
        least = std::min(least, 1e3 * ms / QUEUE);
    }
    CUDA_CHECK(cudaEventDestroy(from));
    CUDA_CHECK(cudaEventDestroy(to));
    return least;
}

template <class F> static double waited(F call)
{
    double least = 1e9;
    for (int i = 0; i < 200; i++) {
        const auto from = std::chrono::steady_clock::now();
        call();
        CUDA_CHECK(cudaStreamSynchronize(0));
        least = std::min(least, 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
    }
    return least;
}

template <class F> static void row(const char *interface, const char *op, size_t n, size_t bits, F call)
{
    call(); /* kernels are loaded, and graphs made */
    std::printf("%s\t%s\t%zu\t%zu\t%.2f\t%.2f\n", interface, op, n, bits, queued(call), waited(call));
    std::fflush(stdout);
}

template <class S> static void measure(const char *interface)
{
    HashTable<uint64_t, float, S, EvictStrategy::kCustomized> t;
    HashTableOptions o;
    o.init_capacity = o.max_capacity = CAPACITY;
    o.max_hbm_for_vectors = size_t(1) << 32;
    o.dim = DIM;
    t.init(o);
    uint64_t *key = room<uint64_t>(MOST);
    float *value = room<float>(MOST * DIM), *out = room<float>(MOST * DIM);
    S *score = room<S>(MOST), *score_out = room<S>(MOST);
    bool *found = room<bool>(MOST);
    float **pointer = room<float *>(MOST);
    for (size_t first = 0; first < 2 * CAPACITY; first += MOST) {
        fill<<<1024, 256>>>(key, value, score, first, MOST);
        t.insert_or_assign(MOST, key, value, score);
    }
    const size_t bits = 8 * sizeof(S);
    for (size_t n : { size_t(1), size_t(1024), size_t(65536), size_t(MOST) }) {
        row(interface, "find", n, bits, [&] { t.find(n, key, out, found, score_out); });
        row(interface, "find_ptr", n, bits, [&] { t.find(n, key, pointer, found, static_cast<S *>(nullptr)); });
        row(interface, "insert_or_assign", n, bits, [&] { t.insert_or_assign(n, key, value, score); });
        row(interface, "assign_values", n, bits, [&] { t.assign_values(n, key, value); });
#ifdef C_API
        if (bits == 32) continue;
        hd_batch b{};
        b.n = n;
        b.key = key;
        const auto run = [&](hd_op op) {
            b.op = op;
            detail::check(hd_run(t.heddle(), &b));
        };
        b.found = found;
        b.value_out = out;
        b.score_out = reinterpret_cast<uint64_t *>(score_out);
        row("heddle.h", "find", n, bits, [&] { run(HD_OP_FIND); });
        b.value_out = nullptr;
        b.score_out = nullptr;
        b.ptr = reinterpret_cast<void **>(pointer);
        b.distinct = true;
        row("heddle.h", "find_ptr", n, bits, [&] { run(HD_OP_FIND_PTR); });
        b.ptr = nullptr;
        b.found = nullptr;
        b.value = value;
        b.score = reinterpret_cast<uint64_t *>(score);
        row("heddle.h", "insert_or_assign", n, bits, [&] { run(HD_OP_INSERT_OR_ASSIGN); });
        b.score = nullptr;
        row("heddle.h", "assign_values", n, bits, [&] { run(HD_OP_ASSIGN_VALUES); });
#endif
    }
}

int main(int argc, char **argv)
{
    const char *interface = argc > 1 ? argv[1] : "merlin_hashtable.cuh";
    std::printf("# interface\toperation\tkeys\tscore bits\tqueued us\twaited us\n");
    measure<uint64_t>(interface);
    measure<uint32_t>(interface);
    return 0;
}
