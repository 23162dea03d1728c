/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda.cu - a GPU as a device for points: one stream, on the calling thread's device.
 */
#include "bench/device/cuda.h"

#include <cstdio>
#include <ctime>

#include <cub/device/device_radix_sort.cuh>
#include <cuda_profiler_api.h>

extern "C" {
#include "base/error.h"
}

cudaStream_t bench_cuda_stream;
int bench_cuda_processors;

static cudaEvent_t from, to;
static unsigned long long *counted; /* (BENCH_TOLD), the GPU's */

#define MUST(what, call)                                 \
    do {                                                 \
        hd_status must_ = bench_cuda_told((call), what); \
        if (must_) return must_;                         \
    } while (0)

hd_status bench_cuda_told(cudaError_t e, const char *what)
{
    if (e == cudaSuccess) return HD_OK;
    (void)cudaGetLastError(); /* clears the error */
    return hd_fail(e == cudaErrorMemoryAllocation ? HD_ENOMEM : HD_ECUDA, "%s: %s, %s", what, cudaGetErrorName(e),
                   cudaGetErrorString(e));
}

/* ---- Kernels: a thread per item, in strides -------------------------------------------------- */

enum { THREADS = 256 };

static unsigned blocks_for(uint64_t items)
{
    uint64_t blocks = (items + THREADS - 1) / THREADS, most = (uint64_t)bench_cuda_processors * 8;
    return (unsigned)(blocks < most ? blocks : most);
}

#define FOR_ITEMS(i, n)                                                                                          \
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, step_ = (uint64_t)gridDim.x * blockDim.x; \
         i < (n); i += step_)

__global__ void keys_kernel(bench_draw d, uint64_t *key) { FOR_ITEMS(i, d.n) key[i] = bench_key(&d, i); }

__global__ void ops_kernel(bench_mix m, uint8_t *each)
{
    uint8_t fate;
    FOR_ITEMS(i, m.n) each[i] = bench_mixed_op(&m, i, &fate);
}

/* A thread per word, so that a row is written together. */
__global__ void values_kernel(const uint64_t *key, uint64_t n, uint32_t words, uint32_t generation, uint32_t *value)
{
    FOR_ITEMS(w, n * words) value[w] = bench_word(key[w / words], generation, (uint32_t)(w % words));
}

__global__ void scores_kernel(uint64_t batch, uint64_t n, uint64_t *score)
{
    FOR_ITEMS(i, n) score[i] = bench_score(batch, i);
}

__global__ void answers_kernel(bench_answers a, unsigned long long *count)
{
    __shared__ unsigned seen[BENCH_TOLD];
    if (threadIdx.x < BENCH_TOLD) seen[threadIdx.x] = 0;
    __syncthreads();
    FOR_ITEMS(i, a.n)
    {
        uint32_t word[4];
        for (uint32_t words = bench_answer(&a, i, word); words > 0;) atomicAdd(&seen[word[--words]], 1u);
    }
    __syncthreads();
    if (threadIdx.x < BENCH_TOLD && seen[threadIdx.x])
        atomicAdd(&count[threadIdx.x], (unsigned long long)seen[threadIdx.x]);
}

/* A warp takes places for all that it keeps at once. */
__global__ void keep_kernel(const uint64_t *key, const uint64_t *score, uint64_t n, uint64_t least, uint64_t *kept,
                            unsigned long long *keeps)
{
    uint64_t step = (uint64_t)gridDim.x * blockDim.x, lane = threadIdx.x % 32;
    for (uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x - lane; first < n; first += step) {
        uint64_t i = first + lane;
        bool keep = i < n && score[i] >= least;
        unsigned all = __ballot_sync(~0u, keep);
        unsigned long long at = 0;
        if (lane == 0 && all) at = atomicAdd(keeps, (unsigned long long)__popc(all));
        at = __shfl_sync(~0u, at, 0);
        if (keep) kept[at + (unsigned)__popc(all & ((1u << lane) - 1))] = key[i];
    }
}

__global__ void warm_kernel(float *sink, int rounds)
{
    float a = (float)threadIdx.x, b = 1.0001f;
    for (int i = 0; i < rounds; i++) a = a * b + 0.5f;
    if (a == 12345.678f) *sink = a;
}

/* Its number of blocks is what it says. */
__global__ void point_kernel(void) {}

/* ---- The device ------------------------------------------------------------------------------ */

/* A GPU that was idle takes some tenths of a second to reach its clocks. */
static hd_status warm_up(void)
{
    enum { SECONDS_TENTH = 4, ROUNDS = 20000 };
    timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        warm_kernel<<<(unsigned)bench_cuda_processors * 8, THREADS, 0, bench_cuda_stream>>>((float *)counted, ROUNDS);
        MUST("warming up", cudaStreamSynchronize(bench_cuda_stream));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 10 + (now.tv_nsec - start.tv_nsec) / 100000000 < SECONDS_TENTH);
    return HD_OK;
}

static hd_status cuda_open(char name[128])
{
    int devices = 0, number = 0;
    cudaDeviceProp is;
    cudaError_t e = cudaGetDeviceCount(&devices);
    if (e == cudaSuccess && devices == 0) e = cudaErrorNoDevice;
    if (e != cudaSuccess) {
        (void)cudaGetLastError();
        return hd_fail(HD_ECUDA, "no CUDA device: %s", cudaGetErrorString(e));
    }
    MUST("device", cudaGetDevice(&number));
    MUST("device", cudaGetDeviceProperties(&is, number));
    MUST("device", cudaStreamCreateWithFlags(&bench_cuda_stream, cudaStreamNonBlocking));
    MUST("device", cudaEventCreate(&from));
    MUST("device", cudaEventCreate(&to));
    MUST("device", cudaMalloc(&counted, sizeof(bench_told)));
    snprintf(name, 128, "%.120s", is.name);
    bench_cuda_processors = is.multiProcessorCount;
    return warm_up();
}

static void cuda_close(void)
{
    cudaFree(counted);
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    cudaStreamDestroy(bench_cuda_stream);
}

static void *cuda_stream(void) { return bench_cuda_stream; }
static hd_status cuda_more(void **stream)
{
    return bench_cuda_told(cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking), "stream");
}
static void cuda_fewer(void *stream) { cudaStreamDestroy((cudaStream_t)stream); }
static hd_status cuda_wait_for(void *stream)
{
    return bench_cuda_told(cudaStreamSynchronize((cudaStream_t)stream), "wait");
}

static hd_status cuda_take(const char *what, uint64_t bytes, void **p)
{
    *p = NULL;
    if (bytes == 0) return HD_OK;
    cudaError_t e = cudaMalloc(p, bytes);
    if (e != cudaErrorMemoryAllocation) return bench_cuda_told(e, what);
    (void)cudaGetLastError();
    return hd_fail(HD_ENOMEM, "%s: the device has no memory for %llu bytes", what, (unsigned long long)bytes);
}

static void cuda_give(void *p) { cudaFree(p); }

static hd_status cuda_fill(void *p, int byte, uint64_t bytes)
{
    return bench_cuda_told(cudaMemsetAsync(p, byte, bytes, bench_cuda_stream), "fill");
}
static hd_status cuda_wait(void) { return bench_cuda_told(cudaStreamSynchronize(bench_cuda_stream), "wait"); }

static hd_status cuda_read(void *here, const void *there, uint64_t bytes)
{
    MUST("read", cudaMemcpyAsync(here, there, bytes, cudaMemcpyDeviceToHost, bench_cuda_stream));
    return cuda_wait();
}

/* ---- Batches --------------------------------------------------------------------------------- */

static hd_status cuda_keys(const bench_draw *d, uint64_t *key)
{
    if (d->n) keys_kernel<<<blocks_for(d->n), THREADS, 0, bench_cuda_stream>>>(*d, key);
    return bench_cuda_told(cudaGetLastError(), "keys");
}

static hd_status cuda_ops(const bench_mix *m, uint8_t *each)
{
    if (m->n) ops_kernel<<<blocks_for(m->n), THREADS, 0, bench_cuda_stream>>>(*m, each);
    return bench_cuda_told(cudaGetLastError(), "operations");
}

static hd_status cuda_values(const uint64_t *key, uint64_t n, uint32_t words, uint32_t generation, void *value)
{
    if (n > 0 && words > 0)
        values_kernel<<<blocks_for(n * words), THREADS, 0, bench_cuda_stream>>>(key, n, words, generation,
                                                                                (uint32_t *)value);
    return bench_cuda_told(cudaGetLastError(), "values");
}

static hd_status cuda_scores(uint64_t batch, uint64_t n, uint64_t *score)
{
    if (n) scores_kernel<<<blocks_for(n), THREADS, 0, bench_cuda_stream>>>(batch, n, score);
    return bench_cuda_told(cudaGetLastError(), "scores");
}

/* The room for it is taken each time: nothing that is timed sorts. */
static hd_status cuda_sort(uint64_t *key, uint64_t n)
{
    size_t room = 0, copy = (n * sizeof *key + 255) / 256 * 256;
    void *memory = nullptr;
    if (n == 0) return HD_OK;
    MUST("sort", cub::DeviceRadixSort::SortKeys(nullptr, room, key, key, n, 0, 64, bench_cuda_stream));
    hd_status e = cuda_take("bench: room to sort keys", copy + room, &memory);
    if (e) return e;
    uint64_t *from = (uint64_t *)memory;
    cudaError_t said = cudaMemcpyAsync(from, key, n * sizeof *key, cudaMemcpyDeviceToDevice, bench_cuda_stream);
    if (said == cudaSuccess)
        said = cub::DeviceRadixSort::SortKeys((char *)memory + copy, room, from, key, n, 0, 64, bench_cuda_stream);
    e = bench_cuda_told(said, "sort");
    if (!e) e = cuda_wait();
    cuda_give(memory);
    return e;
}

static hd_status cuda_answers(const bench_answers *a, bench_told *told)
{
    MUST("answers", cudaMemsetAsync(counted, 0, sizeof *told, bench_cuda_stream));
    if (a->n) answers_kernel<<<blocks_for(a->n), THREADS, 0, bench_cuda_stream>>>(*a, counted);
    MUST("answers", cudaGetLastError());
    return cuda_read(told, counted, sizeof *told);
}

static hd_status cuda_keep(const uint64_t *key, const uint64_t *score, uint64_t n, uint64_t least, uint64_t *kept,
                           uint64_t *keeps)
{
    MUST("keep", cudaMemsetAsync(counted, 0, sizeof *counted, bench_cuda_stream));
    if (n) keep_kernel<<<blocks_for(n), THREADS, 0, bench_cuda_stream>>>(key, score, n, least, kept, counted);
    MUST("keep", cudaGetLastError());
    return cuda_read(keeps, counted, sizeof *keeps);
}

static hd_status cuda_begin(void) { return bench_cuda_told(cudaEventRecord(from, bench_cuda_stream), "clock"); }

static hd_status cuda_end(double *seconds)
{
    float ms = 0;
    MUST("clock", cudaEventRecord(to, bench_cuda_stream));
    MUST("what is timed", cudaEventSynchronize(to));
    MUST("clock", cudaEventElapsedTime(&ms, from, to));
    *seconds = (double)ms * 1e-3;
    return HD_OK;
}

static hd_status cuda_watch(unsigned number)
{
    MUST("profiler", cudaStreamSynchronize(bench_cuda_stream));
    MUST("profiler", cudaProfilerStart());
    point_kernel<<<number, 32, 0, bench_cuda_stream>>>();
    return bench_cuda_told(cudaGetLastError(), "profiler");
}

static hd_status cuda_unwatch(void)
{
    MUST("profiler", cudaStreamSynchronize(bench_cuda_stream));
    return bench_cuda_told(cudaProfilerStop(), "profiler");
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static hd_status cuda_capture(void)
{
    return bench_cuda_told(cudaStreamBeginCapture(bench_cuda_stream, cudaStreamCaptureModeThreadLocal), "capture");
}

static hd_status cuda_captured(void **graph)
{
    cudaGraph_t made = nullptr;
    cudaGraphExec_t runs = nullptr;
    *graph = nullptr;
    MUST("capture", cudaStreamEndCapture(bench_cuda_stream, &made));
    cudaError_t said = cudaGraphInstantiate(&runs, made, 0);
    cudaGraphDestroy(made);
    if (said == cudaSuccess) said = cudaGraphUpload(runs, bench_cuda_stream);
    *graph = runs;
    return bench_cuda_told(said, "capture");
}

static hd_status cuda_launch(void *graph)
{
    return bench_cuda_told(cudaGraphLaunch((cudaGraphExec_t)graph, bench_cuda_stream), "graph");
}

static void cuda_forget(void *graph)
{
    cudaStreamSynchronize(bench_cuda_stream);
    if (graph) cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

const bench_device bench_cuda = {
    cuda_open,   cuda_close,   cuda_stream,  cuda_more,     cuda_fewer,  cuda_wait_for, cuda_take,
    cuda_give,   cuda_fill,    cuda_read,    cuda_wait,     cuda_keys,   cuda_ops,      cuda_values,
    cuda_scores, cuda_sort,    cuda_answers, cuda_keep,     cuda_begin,  cuda_end,      bench_cuda_limit,
    cuda_watch,  cuda_unwatch, cuda_capture, cuda_captured, cuda_launch, cuda_forget,
};
