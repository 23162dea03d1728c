/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.cu - what a call costs that is waited for: medians of 2,000, in microseconds by the host's clock, beside an
 * empty kernel, events, and a launch of the same batch as a graph. bench.md has the command.
 */
#include <heddle.h>
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <algorithm>
#include <vector>
#include <chrono>
#include <cuda_runtime.h>
__global__ void nothing(int *p)
{
    if (p) *p = 1;
}
struct big {
    char c[700];
};
__global__ void large(big b, int *p)
{
    if (p) *p = b.c[3];
}
static double now()
{
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
template <class F> double med(F f, int n = 2000)
{
    std::vector<double> v;
    for (int i = 0; i < n + 200; i++) {
        double t = now();
        f(i);
        t = now() - t;
        if (i >= 200) v.push_back(t);
    }
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}
int main()
{
    hd_config c = hd_config_default();
    c.backend = "cuda";
    c.capacity = 16 << 20;
    c.value_bytes = 32;
    hd_table *t;
    if (hd_open(&c, &t)) {
        puts(hd_why());
        return 1;
    }
    const uint64_t N = 8 << 20;
    uint64_t *k;
    char *v, *vo;
    uint8_t *o;
    cudaMalloc(&k, N * 8);
    cudaMalloc(&v, N * 32);
    cudaMalloc(&vo, N * 32);
    cudaMalloc(&o, N);
    std::vector<uint64_t> h(N);
    for (uint64_t i = 0; i < N; i++) h[i] = i * 0x9E3779B97F4A7C15ull >> 2;
    cudaMemcpy(k, h.data(), N * 8, cudaMemcpyHostToDevice);
    cudaMemset(v, 1, N * 32);
    cudaStream_t s;
    cudaStreamCreate(&s);
    hd_batch b = hd_batch_keyed(HD_OP_INSERT_OR_ASSIGN, N, k, v, nullptr, nullptr, nullptr, o);
    b.distinct = true;
    b.stream = s;
    if (hd_run(t, &b)) {
        puts(hd_why());
        return 1;
    }
    cudaStreamSynchronize(s);
    cudaEvent_t e;
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    big g;
    memset(&g, 0, sizeof g);
    printf("launch+sync\t%.2f\n", med([&](int) {
               nothing<<<1, 128, 0, s>>>(nullptr);
               cudaStreamSynchronize(s);
           }));
    printf("large args launch+sync\t%.2f\n", med([&](int) {
               large<<<1, 128, 0, s>>>(g, nullptr);
               cudaStreamSynchronize(s);
           }));
    printf("launch+event+sync\t%.2f\n", med([&](int) {
               nothing<<<1, 128, 0, s>>>(nullptr);
               cudaEventRecord(e, s);
               cudaStreamSynchronize(s);
           }));
    printf("wait+launch+event+sync\t%.2f\n", med([&](int) {
               cudaStreamWaitEvent(s, e);
               nothing<<<1, 128, 0, s>>>(nullptr);
               cudaEventRecord(e, s);
               cudaStreamSynchronize(s);
           }));
    printf("launch+spin query\t%.2f\n", med([&](int) {
               nothing<<<1, 128, 0, s>>>(nullptr);
               while (cudaStreamQuery(s) == cudaErrorNotReady)
                   ;
           }));
    auto one = [&](const char *what, hd_op op, uint64_t n, bool same, bool distinct, bool sync) {
        b = hd_batch_keyed(op, n, k, v, nullptr, op == HD_OP_FIND ? vo : nullptr, nullptr, o);
        b.stream = s;
        b.distinct = distinct;
        printf("%s n=%llu %s%s%s\t%.2f\n", what, (unsigned long long)n, same ? "same keys" : "other keys",
               distinct ? " distinct" : "", sync ? "" : " (call alone)", med([&](int i) {
                   uint64_t at = same ? 0 : (uint64_t)i * 2377 % (N - n);
                   b.key = k + at;
                   b.outcome = o + at;
                   if (b.value_out) b.value_out = vo + 32 * at;
                   if (hd_run(t, &b)) {
                       puts(hd_why());
                       exit(1);
                   }
                   if (sync)
                       cudaStreamSynchronize(s);
                   else if (i % 16 == 15)
                       cudaStreamSynchronize(s);
               }));
    };
    for (int sync = 1; sync >= 0; sync--) {
        one("contains", HD_OP_CONTAINS, 1, true, true, sync);
        one("contains", HD_OP_CONTAINS, 1, false, true, sync);
        one("find", HD_OP_FIND, 1, true, true, sync);
        one("find", HD_OP_FIND, 1, false, true, sync);
        one("find", HD_OP_FIND, 1024, false, true, sync);
        one("insert", HD_OP_INSERT_OR_ASSIGN, 1, true, true, sync);
        one("insert", HD_OP_INSERT_OR_ASSIGN, 1, false, true, sync);
        one("insert", HD_OP_INSERT_OR_ASSIGN, 1, false, false, sync);
        one("insert", HD_OP_INSERT_OR_ASSIGN, 8, false, false, sync);
        one("insert", HD_OP_INSERT_OR_ASSIGN, 16, false, false, sync);
        one("insert", HD_OP_INSERT_OR_ASSIGN, 64, false, true, sync);
        one("insert", HD_OP_INSERT_OR_ASSIGN, 1024, false, true, sync);
        one("insert", HD_OP_INSERT_OR_ASSIGN, 1024, false, false, sync);
        one("insert", HD_OP_INSERT_OR_ASSIGN, 65536, false, true, sync);
        one("insert", HD_OP_INSERT_OR_ASSIGN, 65536, false, false, sync);
    }
    b = hd_batch_keyed(HD_OP_FIND, 1, k, nullptr, nullptr, vo, nullptr, o);
    b.stream = s;
    const char *ks[] = { "tlpv1", "tlpv2", "warp", "pipeline" };
    for (auto name : ks) {
        b.kernel = name;
        printf("find by %s\t%.2f\n", name, med([&](int) {
                   if (hd_run(t, &b)) {
                       puts(hd_why());
                       exit(1);
                   }
                   cudaStreamSynchronize(s);
               }));
    }
    const uint64_t few[] = { 1, 1024 };
    for (uint64_t n : few)
        for (auto name : { "coalesced", "tlpv1", "tlpv2", "warp", "pipeline" }) {
            b = hd_batch_keyed(HD_OP_INSERT_OR_ASSIGN, n, k, v, nullptr, nullptr, nullptr, o);
            b.stream = s;
            b.distinct = true;
            b.kernel = name;
            printf("insert n=%llu by %s\t%.2f\n", (unsigned long long)n, name, med([&](int i) {
                       b.key = k + (uint64_t)i * 2377 % (N - n);
                       if (hd_run(t, &b)) exit(1);
                       cudaStreamSynchronize(s);
                   }));
        }
    b = hd_batch_keyed(HD_OP_FIND, 1, k, nullptr, nullptr, vo, nullptr, o);
    b.stream = s;
    cudaGraph_t gr;
    cudaGraphExec_t ge;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    if (hd_run(t, &b)) {
        puts(hd_why());
    }
    cudaStreamEndCapture(s, &gr);
    if (gr) cudaGraphInstantiate(&ge, gr, 0);
    if (!gr) return 5;
    printf("graph of find n=1\t%.2f\n", med([&](int) {
               cudaGraphLaunch(ge, s);
               cudaStreamSynchronize(s);
           }));
}
