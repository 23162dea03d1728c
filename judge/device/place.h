/* SPDX-License-Identifier: Apache-2.0
 *
 * place.h - where tables and their judges are: on a device, or on the host, where the judges can be tested without a
 * GPU. Memory, and loops of independent turns. C++; with nvcc loops run on the device, with other compilers on the host
 * only.
 */
#ifndef SOAK_PLACE_H
#define SOAK_PLACE_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "heddle.h"

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

/* A call that must not fail: otherwise the program ends with a message. */
static inline void need(bool good, const char *what)
{
    if (good) return;
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", what, hd_why());
    exit(1);
}
#define MUST(call) need((call) == HD_OK, #call)

/* Adds, and returns the old value. Turns of a loop share nothing but sums and sets of bits. */
static BOTH inline uint32_t add(uint32_t *p, uint32_t v)
{
#ifdef __CUDA_ARCH__
    return atomicAdd(p, v);
#else
    return (*p += v) - v;
#endif
}
static BOTH inline uint64_t add(uint64_t *p, uint64_t v)
{
#ifdef __CUDA_ARCH__
    return atomicAdd((unsigned long long *)p, (unsigned long long)v);
#else
    return (*p += v) - v;
#endif
}

static BOTH inline void raise(uint64_t *p, uint64_t least)
{
#ifdef __CUDA_ARCH__
    atomicMax((unsigned long long *)p, (unsigned long long)least);
#else
    if (*p < least) *p = least;
#endif
}

static BOTH inline void put_bits(uint32_t *p, uint32_t bits)
{
#ifdef __CUDA_ARCH__
    atomicOr(p, bits);
#else
    *p |= bits;
#endif
}

#ifdef __CUDACC__
#define CUDA(call)                                                                    \
    do {                                                                              \
        cudaError_t code_ = (call);                                                   \
        if (code_ != cudaSuccess) fprintf(stderr, "%s, ", cudaGetErrorString(code_)); \
        need(code_ == cudaSuccess, #call);                                            \
    } while (0)

template <class body> static __global__ void loop_on_device(uint64_t n, body turn)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        turn(i);
}
#endif

struct place {
    const char *backend;
    bool far;
    void *stream = nullptr; /* its own: two places do not wait for each other */

    explicit place(const char *backend_) : backend(backend_), far(strcmp(backend_, "cuda") == 0)
    {
#ifdef __CUDACC__
        if (far) CUDA(cudaStreamCreateWithFlags((cudaStream_t *)&stream, cudaStreamNonBlocking));
#else
        need(!far, "this build has no loops for a device");
#endif
    }
    place(const place &) = delete;
    ~place()
    {
#ifdef __CUDACC__
        if (far) cudaStreamDestroy((cudaStream_t)stream);
#endif
    }

    template <class type> type *take(uint64_t n) const
    {
        void *p = nullptr;
        size_t bytes = n * sizeof(type) + 256; /* so that writes after the end are found */
#ifdef __CUDACC__
        if (far) CUDA(cudaMalloc(&p, bytes));
#endif
        if (!far) need((p = malloc(bytes)) != nullptr, "memory");
        fill(p, 0, bytes);
        return (type *)p;
    }
    void give(void *p) const
    {
#ifdef __CUDACC__
        if (far) CUDA(cudaFree(p));
#endif
        if (!far) free(p);
    }
    void fill(void *p, int byte, size_t bytes) const
    {
#ifdef __CUDACC__
        if (far) CUDA(cudaMemsetAsync(p, byte, bytes, (cudaStream_t)stream));
#endif
        if (!far) memset(p, byte, bytes);
    }
    void wait() const
    {
#ifdef __CUDACC__
        if (far) CUDA(cudaStreamSynchronize((cudaStream_t)stream));
#endif
    }
    /* After all earlier work on the stream. */
    void read(void *to, const void *from, size_t bytes) const
    {
#ifdef __CUDACC__
        if (far) CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, (cudaStream_t)stream));
        wait();
#endif
        if (!far) memcpy(to, from, bytes);
    }
    template <class body> void each(uint64_t n, body turn) const
    {
#ifdef __CUDACC__
        uint64_t blocks = (n + 255) / 256, most = 2048;
        if (far && n) {
            loop_on_device<<<(unsigned)(blocks < most ? blocks : most), 256, 0, (cudaStream_t)stream>>>(n, turn);
            CUDA(cudaGetLastError());
        }
#endif
        for (uint64_t i = 0; !far && i < n; i++) turn(i);
    }
};

#endif
