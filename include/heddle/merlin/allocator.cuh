/* SPDX-License-Identifier: Apache-2.0
 *
 * merlin/allocator.cuh - the interface of allocators that HashTable::init takes, and the one that it uses without.
 */
#ifndef HEDDLE_MERLIN_ALLOCATOR_CUH
#define HEDDLE_MERLIN_ALLOCATOR_CUH

#include <cstdlib>

#include "utils.cuh"

namespace nv
{
namespace merlin
{

enum MemoryType { Device, Pinned, Host, Managed };

class BaseAllocator
{
  public:
    BaseAllocator() = default;
    virtual ~BaseAllocator() = default;
    BaseAllocator(const BaseAllocator &) = delete;
    BaseAllocator &operator=(const BaseAllocator &) = delete;

    /* *ptr is memory of `size` bytes. pinned_flags: those of cudaHostAlloc. */
    virtual void alloc(const MemoryType type, void **ptr, size_t size,
                       unsigned int pinned_flags = cudaHostAllocDefault) = 0;
    /* The same for MemoryType::Device, in the order of the stream. */
    virtual void alloc_async(const MemoryType type, void **ptr, size_t size, cudaStream_t stream) = 0;
    virtual void free(const MemoryType type, void *ptr) = 0;
    virtual void free_async(const MemoryType type, void *ptr, cudaStream_t stream) = 0;
};

/* CUDA's own functions, and malloc. */
class DefaultAllocator : public virtual BaseAllocator
{
  public:
    void alloc(const MemoryType type, void **ptr, size_t size,
               unsigned int pinned_flags = cudaHostAllocDefault) override
    {
        switch (type) {
        case Device: CUDA_CHECK(cudaMalloc(ptr, size)); return;
        case Pinned: CUDA_CHECK(cudaHostAlloc(ptr, size, pinned_flags)); return;
        case Managed: CUDA_CHECK(cudaMallocManaged(ptr, size)); return;
        case Host: break;
        }
        *ptr = std::malloc(size);
        MERLIN_CHECK(*ptr, "no memory for " + std::to_string(size) + " bytes");
    }

    void alloc_async(const MemoryType type, void **ptr, size_t size, cudaStream_t stream) override
    {
        MERLIN_CHECK(type == Device, "alloc_async: only device memory is allocated in the order of a stream");
        CUDA_CHECK(cudaMallocAsync(ptr, size, stream));
    }

    void free(const MemoryType type, void *ptr) override
    {
        switch (type) {
        case Managed:
        case Device: CUDA_CHECK(cudaFree(ptr)); return;
        case Pinned: CUDA_CHECK(cudaFreeHost(ptr)); return;
        case Host: std::free(ptr); return;
        }
    }

    void free_async(const MemoryType type, void *ptr, cudaStream_t stream) override
    {
        MERLIN_CHECK(type == Device, "free_async: only device memory is freed in the order of a stream");
        if (ptr) CUDA_CHECK(cudaFreeAsync(ptr, stream));
    }
};

} // namespace merlin
} // namespace nv

#endif
