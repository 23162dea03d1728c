/* SPDX-License-Identifier: Apache-2.0
 *
 * host_arrays.cu - rates of batches whose arrays are in host memory, plain and pinned, waited for: medians of nine
 * calls, each of other keys, in 1e6 items/s by the host's clock; and plain copies of the same bytes. bench.md has
 * the command. Arguments: floats of a value (8).
 */
#include <heddle.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

enum { CAPACITY = 16 << 20, MOST = 4 << 20, CALLS = 9 };

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void must(int failed)
{
    if (!failed) return;
    printf("%s\n", hd_why());
    exit(1);
}

struct arrays {
    uint64_t *key;
    char *value, *value_out, *list_value;
    uint8_t *outcome;
    uint64_t *list_key, *count;
};

static void *take(size_t bytes, bool pinned)
{
    void *p = nullptr;
    if (pinned ? cudaMallocHost(&p, bytes) != cudaSuccess : !(p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)))
        exit(2);
    return p;
}

static uint64_t key_of(uint64_t i) { return i * 0x9E3779B97F4A7C15ull >> 2; }

int main(int argc, char **argv)
{
    size_t row = 4 * (argc > 1 ? (size_t)atoi(argv[1]) : 8), capacity = row > 256 ? CAPACITY / 4 : CAPACITY;
    hd_config c = hd_config_default();
    c.backend = "cuda";
    c.capacity = capacity;
    c.value_bytes = (uint32_t)row;
    hd_table *t;
    must(hd_open(&c, &t));
    printf("memory\toperation\titems\tdistinct\tmega_items_per_s\tus\n");
    for (bool pinned : { false, true }) {
        size_t most = row > 256 ? MOST / 8 : MOST;
        arrays a = { (uint64_t *)take(8 * most, pinned), (char *)take(row * most, pinned),
                     (char *)take(row * most, pinned),   (char *)take(row * most, pinned),
                     (uint8_t *)take(most, pinned),      (uint64_t *)take(8 * most, pinned),
                     (uint64_t *)take(8, pinned) };
        for (size_t i = 0; i < row * most; i++) a.value[i] = a.value_out[i] = a.list_value[i] = (char)i;
        for (uint64_t at = 0; at < capacity / 2; at += most) {
            for (uint64_t i = 0; i < most; i++) a.key[i] = key_of(at + i);
            hd_batch b =
                hd_batch_keyed(HD_OP_INSERT_OR_ASSIGN, most, a.key, a.value, nullptr, nullptr, nullptr, a.outcome);
            must(hd_run(t, &b));
        }
        cudaDeviceSynchronize();
        const hd_op ops[] = { HD_OP_FIND, HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND_MISSED, HD_OP_INSERT_AND_EVICT };
        for (uint64_t n : { 1ull, 1024ull, 65536ull, 1048576ull, 4194304ull })
            for (hd_op op : ops)
                for (bool distinct : { true, false }) {
                    bool reads = op == HD_OP_FIND || op == HD_OP_FIND_MISSED;
                    if (n > most || (distinct && reads)) continue;
                    hd_batch b = hd_batch_keyed(op, n, a.key, a.value, nullptr, reads ? a.value_out : nullptr, nullptr,
                                                a.outcome);
                    if (reads) b.value = nullptr;
                    b.distinct = distinct;
                    if (op == HD_OP_FIND_MISSED || op == HD_OP_INSERT_AND_EVICT)
                        hd_batch_set_lists(&b, a.list_key, op == HD_OP_INSERT_AND_EVICT ? a.list_value : nullptr,
                                           nullptr, nullptr, a.count);
                    std::vector<double> all;
                    for (int call = 0; call < CALLS + 2; call++) {
                        for (uint64_t i = 0; i < n; i++)
                            a.key[i] = key_of(((uint64_t)call * 7919 * n + i) % (capacity / 2));
                        double s = now();
                        must(hd_run(t, &b));
                        cudaDeviceSynchronize();
                        if (call > 1) all.push_back(now() - s);
                    }
                    std::sort(all.begin(), all.end());
                    double s = all[CALLS / 2];
                    printf("%s\t%s\t%llu\t%d\t%.1f\t%.1f\n", pinned ? "pinned" : "plain", hd_op_name(op),
                           (unsigned long long)n, distinct, (double)n / s * 1e-6, s * 1e6);
                    fflush(stdout);
                }
        void *there;
        size_t n = most < (1 << 20) ? most : 1 << 20;
        cudaMalloc(&there, (row + 8) * n);
        std::vector<double> all;
        for (int call = 0; call < CALLS; call++) {
            double s = now();
            cudaMemcpy(there, a.key, 8 * n, cudaMemcpyHostToDevice);
            cudaMemcpy(a.value_out, there, row * n, cudaMemcpyDeviceToHost);
            all.push_back(now() - s);
        }
        std::sort(all.begin(), all.end());
        printf("%s\tcopies of a find\t%zu\t0\t%.1f\t%.1f\n", pinned ? "pinned" : "plain", n,
               (double)n / all[CALLS / 2] * 1e-6, all[CALLS / 2] * 1e6);
        cudaFree(there);
    }
    hd_close(t);
}
