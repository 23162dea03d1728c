/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_pages.cu - see cuda_pages.h.
 */
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#ifndef CUDA_STUB_H
#include <cuda.h>
#endif

#include "lib/cuda_pages.h"

/* ---- The driver ------------------------------------------------------------------------------ */

/* The driver's functions that this file calls, in the versions of its header. */
typedef struct cuda_driver {
    decltype(&cuMemGetAllocationGranularity) granularity;
    decltype(&cuMemAddressReserve) reserve;
    decltype(&cuMemAddressFree) unreserve;
    decltype(&cuMemCreate) create;
    decltype(&cuMemRelease) release;
    decltype(&cuMemMap) map;
    decltype(&cuMemUnmap) unmap;
    decltype(&cuMemSetAccess) set_access;
    decltype(&cuDeviceGetAttribute) attribute;
} cuda_driver;

bool cuda_driver_function(const char *name, unsigned version, void *p, size_t bytes)
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    cudaError_t e = cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#else
    (void)version;
    cudaError_t e = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
    if (e != cudaSuccess) (void)cudaGetLastError();
    memcpy(p, &found, bytes);
    return e == cudaSuccess && result == cudaDriverEntryPointSuccess && found;
}

/* NULL: there is no such driver. Asked for once. */
static const cuda_driver *the_driver(void)
{
    static cuda_driver d;
    static const struct {
        const char *name;
        void *p;
    } all[] = { { "cuMemGetAllocationGranularity", &d.granularity },
                { "cuMemAddressReserve", &d.reserve },
                { "cuMemAddressFree", &d.unreserve },
                { "cuMemCreate", &d.create },
                { "cuMemRelease", &d.release },
                { "cuMemMap", &d.map },
                { "cuMemUnmap", &d.unmap },
                { "cuMemSetAccess", &d.set_access },
                { "cuDeviceGetAttribute", &d.attribute } };
    static bool good;
    static std::once_flag asked;
    std::call_once(asked, [] {
        good = true;
        for (const auto &f : all) good = cuda_driver_function(f.name, 12000, f.p, sizeof(void *)) && good;
    });
    return good ? &d : nullptr;
}

/* ---- Physical memory ------------------------------------------------------------------------- */

/* A piece of physical memory, and how many spans have it. */
typedef struct cuda_chunk {
    CUmemGenericAllocationHandle handle;
    size_t bytes;
    int spans;
} cuda_chunk;

static CUmemAllocationProp prop_of(const cuda_driver *d, int device)
{
    CUmemAllocationProp prop;
    int rdma = 0;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    /* as cudaMalloc's memory can be reached by other devices on the bus */
    if (!d->attribute(&rdma, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, device))
        prop.allocFlags.gpuDirectRDMACapable = (unsigned char)(rdma != 0);
    return prop;
}

static uint64_t page_of(const cuda_driver *d, int device)
{
    size_t page = 0;
    const CUmemAllocationProp prop = prop_of(d, device);
    return d->granularity(&page, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) ? 0 : page;
}

uint64_t cuda_pages_of(int device)
{
    const cuda_driver *d = the_driver();
    int can = 0;
    if (!d || d->attribute(&can, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device) || !can) return 0;
    return page_of(d, device);
}

static int chunk_make(const cuda_driver *d, int device, size_t bytes, cuda_chunk **made)
{
    const CUmemAllocationProp prop = prop_of(d, device);
    cuda_chunk *c = new (std::nothrow) cuda_chunk();
    *made = nullptr;
    if (!c) return (int)cudaErrorMemoryAllocation;
    int code = (int)d->create(&c->handle, bytes, &prop, 0);
    c->bytes = bytes;
    if (code)
        delete c;
    else
        *made = c;
    return code;
}

static void chunk_drop(const cuda_driver *d, cuda_chunk *c)
{
    if (!c || c->spans) return;
    (void)d->release(c->handle);
    delete c;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

enum { CHUNKS = 48 /* of a span: the memory doubles with each, or nearly so */ };

/* Consecutive addresses, and what is mapped there. */
typedef struct cuda_span {
    struct cuda_span *next;
    CUdeviceptr at;
    size_t bytes;
    int device, chunks;
    cuda_chunk *of[CHUNKS];
} cuda_span;

static std::mutex spans_lock;
static cuda_span *spans; /* all of the process */

/* Where the pointer to the span that begins at p is; its content is NULL if there is none. */
static cuda_span **span_at(const void *p)
{
    cuda_span **s = &spans;
    while (*s && (*s)->at != (CUdeviceptr)(uintptr_t)p) s = &(*s)->next;
    return s;
}

/* The span's device may access it, and others that can access its memory at all, as if they had enabled it. */
static int span_allow(const cuda_driver *d, const cuda_span *s)
{
    enum { DEVICES = 32 };
    CUmemAccessDesc desc[DEVICES];
    int devices = 0, n = 1;
    memset(desc, 0, sizeof desc);
    desc[0].location.id = s->device;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) (void)cudaGetLastError();
    for (int i = 0; i < devices && n < DEVICES; i++) {
        int can = 0;
        if (i == s->device || cudaDeviceCanAccessPeer(&can, i, s->device) != cudaSuccess || !can) continue;
        desc[n++].location.id = i;
    }
    for (int i = 0; i < n; i++) {
        desc[i].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        desc[i].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    int code = (int)d->set_access(s->at, s->bytes, desc, (size_t)n);
    if (code && n > 1) code = (int)d->set_access(s->at, s->bytes, desc, 1);
    return code;
}

/* Unmaps the first `chunks` chunks, and lets go of the addresses. */
static void span_close(const cuda_driver *d, cuda_span *s, int chunks)
{
    size_t at = 0;
    for (int i = 0; i < chunks; i++) {
        (void)d->unmap(s->at + at, s->of[i]->bytes);
        at += s->of[i]->bytes;
        s->of[i]->spans--;
    }
    if (s->at) (void)d->unreserve(s->at, s->bytes);
}

/* Maps the span's chunks, one behind the other. */
static int span_open(const cuda_driver *d, cuda_span *s)
{
    size_t at = 0;
    int mapped = 0, code = (int)d->reserve(&s->at, s->bytes, 0, 0, 0);
    if (code) s->at = 0;
    for (; mapped < s->chunks && !code; mapped++) {
        code = (int)d->map(s->at + at, s->of[mapped]->bytes, 0, s->of[mapped]->handle, 0);
        if (code) break;
        at += s->of[mapped]->bytes;
        s->of[mapped]->spans++;
    }
    if (!code) code = span_allow(d, s);
    if (code) span_close(d, s, mapped);
    return code;
}

/* A span with the chunks of `from` (NULL: none) and more memory behind them, `bytes` in all. */
static int span_make(const cuda_driver *d, int device, const cuda_span *from, size_t bytes, void **p)
{
    size_t page = (size_t)page_of(d, device), has = from ? from->bytes : 0;
    cuda_span *s = new (std::nothrow) cuda_span();
    cuda_chunk *more = nullptr;
    *p = nullptr;
    if (!s || !page || (from && from->chunks == CHUNKS) || bytes > SIZE_MAX - page) {
        delete s;
        return (int)cudaErrorMemoryAllocation;
    }
    if (from) *s = *from;
    s->at = 0;
    s->device = device;
    s->bytes = (bytes + page - 1) / page * page;
    int code = s->bytes > has ? chunk_make(d, device, s->bytes - has, &more) : 0;
    if (more) s->of[s->chunks++] = more;
    if (!code) code = span_open(d, s);
    if (code) {
        chunk_drop(d, more);
        delete s;
        return code;
    }
    s->next = spans;
    spans = s;
    *p = (void *)(uintptr_t)s->at;
    return 0;
}

int cuda_pages_take(void **p, size_t bytes)
{
    const cuda_driver *d = the_driver();
    int device = 0;
    cudaError_t e = cudaGetDevice(&device);
    if (e == cudaSuccess) e = cudaFree(nullptr); /* which makes the device's context, if there is none yet */
    if (e != cudaSuccess || !d) return (int)(d ? e : cudaErrorNotSupported);
    std::lock_guard<std::mutex> hold(spans_lock);
    return span_make(d, device, nullptr, bytes, p);
}

int cuda_pages_grow(void *p, size_t bytes, void **q)
{
    const cuda_driver *d = the_driver();
    std::lock_guard<std::mutex> hold(spans_lock);
    const cuda_span *s = *span_at(p);
    if (!d || !s) return (int)cudaErrorInvalidValue;
    return span_make(d, s->device, s, bytes, q);
}

/* Until all that runs on the device has ended. cudaDeviceSynchronize would end a capture, by whichever thread; cudaFree
 * waits for the same, and does not. */
static cudaError_t wait_for_device(void)
{
    void *one;
    if (cudaMalloc(&one, 1) == cudaSuccess) return cudaFree(one);
    (void)cudaGetLastError();
    return cudaDeviceSynchronize();
}

bool cuda_pages_give(void *p, int *code)
{
    const cuda_driver *d = the_driver();
    std::lock_guard<std::mutex> hold(spans_lock);
    cuda_span **at = span_at(p), *s = *at;
    if (!d || !s) return false;
    *code = (int)wait_for_device();
    *at = s->next;
    span_close(d, s, s->chunks);
    for (int i = 0; i < s->chunks; i++) chunk_drop(d, s->of[i]);
    delete s;
    return true;
}
