/* SPDX-License-Identifier: Apache-2.0
 *
 * merlin/utils.cuh - what programs that were written for HierarchicalKV use of its header of this name: exceptions, the
 * macros that throw them, sizes of grids, and atomics for int64_t and uint64_t.
 */
#ifndef HEDDLE_MERLIN_UTILS_CUH
#define HEDDLE_MERLIN_UTILS_CUH

#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>

/* HierarchicalKV's headers have these at global scope, and programs rely on them. */
namespace cg = cooperative_groups;
using namespace cooperative_groups;
using std::cerr;
using std::endl;

/* CUDA's atomics take unsigned long long. */
__device__ inline uint64_t atomicAdd(uint64_t *p, const uint64_t by)
{
    return atomicAdd(reinterpret_cast<unsigned long long *>(p), static_cast<unsigned long long>(by));
}

__device__ inline int64_t atomicAdd(int64_t *p, const int64_t by)
{
    return static_cast<int64_t>(
        atomicAdd(reinterpret_cast<unsigned long long *>(p), static_cast<unsigned long long>(by)));
}

__device__ inline uint64_t atomicExch(uint64_t *p, uint64_t value)
{
    return atomicExch(reinterpret_cast<unsigned long long *>(p), static_cast<unsigned long long>(value));
}

__device__ inline int64_t atomicExch(int64_t *p, int64_t value)
{
    return static_cast<int64_t>(
        atomicExch(reinterpret_cast<unsigned long long *>(p), static_cast<unsigned long long>(value)));
}

__device__ inline uint64_t atomicCAS(uint64_t *p, uint64_t expected, uint64_t value)
{
    return atomicCAS(reinterpret_cast<unsigned long long *>(p), static_cast<unsigned long long>(expected),
                     static_cast<unsigned long long>(value));
}

__device__ inline int64_t atomicCAS(int64_t *p, int64_t expected, int64_t value)
{
    return static_cast<int64_t>(atomicCAS(reinterpret_cast<unsigned long long *>(p),
                                          static_cast<unsigned long long>(expected),
                                          static_cast<unsigned long long>(value)));
}

namespace nv
{
namespace merlin
{

/* A call of the CUDA runtime failed. */
class CudaException : public std::runtime_error
{
  public:
    explicit CudaException(const std::string &what) : std::runtime_error(what) {}
};

/* A call of a table was wrong, or the table had no memory. */
class MerlinException : public std::runtime_error
{
  public:
    explicit MerlinException(const std::string &what) : std::runtime_error(what) {}
};

inline void cuda_check_(cudaError_t code, const char *file, int line)
{
    if (code != cudaSuccess)
        throw CudaException(std::string(file) + ":" + std::to_string(line) + ": " + cudaGetErrorName(code) + ": " +
                            cudaGetErrorString(code));
}

[[noreturn]] inline void merlin_throw_(const std::string &why, const char *file, int line)
{
    throw MerlinException(std::string(file) + ":" + std::to_string(line) + ": " + why);
}

/* The blocks for n threads, n > 0. */
inline size_t SAFE_GET_GRID_SIZE(size_t n, int block_size)
{
    const size_t most = size_t(std::numeric_limits<int>::max()), threads = size_t(block_size);
    return (n < most ? n - 1 : most / 2) / threads + 1;
}

/* block_size, or the most threads that a block of the device (-1: the present one) may have. */
inline int SAFE_GET_BLOCK_SIZE(int block_size, int device = -1)
{
    int most = 0;
    if (device < 0) cuda_check_(cudaGetDevice(&device), __FILE__, __LINE__);
    cuda_check_(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, device), __FILE__, __LINE__);
    return block_size < most ? block_size : most;
}

/* The device's clock in nanoseconds. */
template <class S> __device__ inline S device_nano()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return static_cast<S>(ns);
}

constexpr size_t KB(size_t n) { return n << 10; }
constexpr size_t MB(size_t n) { return n << 20; }
constexpr size_t GB(size_t n) { return n << 30; }
constexpr bool ispow2(unsigned n) { return n && (n & (n - 1)) == 0; }

/* Frees memory of cudaMalloc and of cudaMallocHost, when the stream has run what uses it. */
template <class... T> cudaError_t free_pointers(cudaStream_t stream, T *...pointer)
{
    cudaError_t first = cudaStreamSynchronize(stream);
    for (void *p : { static_cast<void *>(pointer)... }) {
        cudaPointerAttributes of;
        cudaError_t code = cudaPointerGetAttributes(&of, p);
        if (!code) code = of.type == cudaMemoryTypeHost ? cudaFreeHost(p) : cudaFree(p);
        if (!first) first = code;
    }
    return first;
}

} // namespace merlin
} // namespace nv

#ifndef CUDA_FREE_POINTERS
#define CUDA_FREE_POINTERS(stream, ...) CUDA_CHECK(nv::merlin::free_pointers((stream), __VA_ARGS__))
#endif

#ifndef CUDA_CHECK
#define CUDA_CHECK(call) nv::merlin::cuda_check_((call), __FILE__, __LINE__)
#endif
#ifndef MERLIN_CHECK
/* The sentence is made only if it is thrown. */
#define MERLIN_CHECK(holds, why) ((holds) ? (void)0 : nv::merlin::merlin_throw_((why), __FILE__, __LINE__))
#endif

/* Whatever failed before is noticed by the next call that waits. */
#ifndef CudaCheckError
#define CudaCheckError() ((void)0)
#endif

#endif
