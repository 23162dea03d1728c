/* SPDX-License-Identifier: Apache-2.0
 *
 * view.cu - heddle_view.cuh on a device: visitors and predicates that are functors, on both designs. Prints "ok", or
 * what is wrong; 77: there is no device. tests/t_view.sh compiles and runs it.
 */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "heddle_view.cuh"

static int failed(const char *what)
{
    std::printf("%s: %s\n", what, hd_why());
    return 1;
}

static int check(const char *design)
{
    enum : uint64_t { N = 200000 };
    hd_config c = hd_config_of(design);
    c.backend = "cuda";
    c.capacity = N * 2;
    c.value_bytes = 4;
    hd_table *t;
    if (hd_open(&c, &t)) return failed("hd_open");
    std::vector<uint64_t> key(N);
    std::vector<uint32_t> value(N);
    std::vector<uint8_t> outcome(N);
    for (uint64_t i = 0; i < N; i++) key[i] = i * 3, value[i] = uint32_t(i);
    hd_batch b{};
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.n = N;
    b.key = key.data();
    b.value = value.data();
    b.outcome = outcome.data();
    b.distinct = true;
    if (hd_run(t, &b)) return failed("hd_run");
    cudaStream_t stream;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return failed("a stream");
    unsigned long long *sums, sum[2];
    if (cudaMallocManaged(&sums, sizeof sum) != cudaSuccess) return failed("memory");
    sums[0] = sums[1] = 0;
    const auto add = [=] __device__(const hd_view_entry &e) {
        atomicAdd(&sums[0], (unsigned long long)e.key);
        atomicAdd(&sums[1], (unsigned long long)*static_cast<const uint32_t *>(e.value));
    };
    if (heddle::for_each(t, stream, add)) return failed("for_each");
    if (cudaStreamSynchronize(stream) != cudaSuccess) return failed("for_each");
    const uint64_t all = N * (N - 1) / 2;
    if (sums[0] != 3 * all || sums[1] != all) return std::printf("%s: other sums\n", design), 1;
    uint64_t n = 0, erased = 0, left = 0;
    const auto even = [] __device__(const hd_view_entry &e) { return e.key % 2 == 0; };
    if (heddle::count_if(t, stream, even, &n)) return failed("count_if");
    if (heddle::erase_if(t, stream, even, &erased)) return failed("erase_if");
    if (hd_size_sync(t, &left)) return failed("hd_size_sync");
    if (n != N / 2 || erased != n || left != N - n)
        return std::printf("%s: %llu even keys, %llu erased, %llu left\n", design, (unsigned long long)n,
                           (unsigned long long)erased, (unsigned long long)left),
               1;
    if (hd_check(t)) return failed("hd_check");
    hd_close(t);
    cudaFree(sums);
    cudaStreamDestroy(stream);
    return 0;
}

int main()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::puts("there is no device"), 77;
    if (check("hkv") || check("hive")) return 1;
    std::puts("ok");
    return 0;
}
