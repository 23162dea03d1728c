/* SPDX-License-Identifier: Apache-2.0
 *
 * rates.h - what programs that measure rates of a GPU share (bench/lab/segments.cu, papers/ovs/rates.cu): memory, keys
 * that are known by their number, and the time of a batch between events. Errors end the program.
 */
#ifndef HD_JUDGE_DEVICE_RATES_H
#define HD_JUDGE_DEVICE_RATES_H

#include <cstdio>
#include <cstdlib>

#include "heddle.h"

enum : uint32_t { BLOCKS = 2048, THREADS = 256 };

#define EACH(i, n) \
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < (n); i += uint64_t(gridDim.x) * blockDim.x)

static inline void cuda_must(cudaError_t e, const char *what)
{
    if (!e) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
    exit(1);
}

static inline void must(hd_status s, const char *what)
{
    if (!s) return;
    fprintf(stderr, "%s: %s\n", what, hd_why());
    exit(1);
}

template <class T> static inline T *take(uint64_t n)
{
    void *p;
    cuda_must(cudaMalloc(&p, n * sizeof(T)), "memory");
    return static_cast<T *>(p);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Key i of all: the finaliser of MurmurHash3, which gives no key twice. The three reserved ones become one. */
static inline __host__ __device__ uint64_t key_of(uint32_t x)
{
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    x ^= x >> 16;
    return x < 0xfffffffdu ? x : 7;
}
/* Which number the key has. */
static inline __host__ __device__ uint32_t number_of(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7ed1b41du; /* the inverses of those factors */
    x = (x ^ x >> 13 ^ x >> 26) * 0xa5cb9243u;
    return x ^ x >> 16;
}
static inline __host__ __device__ uint32_t value_of(uint64_t key) { return uint32_t(key) ^ 0x5a5a5a5au; }

static inline __host__ __device__ uint64_t random_of(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* Runs a batch; the milliseconds between two events. */
static inline double milliseconds(hd_table *t, hd_batch *batch, cudaEvent_t from, cudaEvent_t to)
{
    float ms;
    cuda_must(cudaDeviceSynchronize(), "keys");
    cuda_must(cudaEventRecord(from), "event");
    must(hd_run(t, batch), "hd_run");
    cuda_must(cudaEventRecord(to), "event");
    cuda_must(cudaEventSynchronize(to), "batch");
    cuda_must(cudaEventElapsedTime(&ms, from, to), "event");
    return ms;
}

/* What checks have counted since the last call. */
static inline unsigned long long wrong_of(unsigned long long *wrong)
{
    unsigned long long n;
    cuda_must(cudaMemcpy(&n, wrong, sizeof n, cudaMemcpyDefault), "check");
    cuda_must(cudaMemset(wrong, 0, sizeof n), "check");
    return n;
}

#endif
