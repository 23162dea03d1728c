/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_stub.h - the part of the CUDA runtime that lib/device_cuda.cu uses, without a device: two different devices that
 * only record what is launched. A call that no test needs succeeds and does nothing.
 */
#ifndef CUDA_STUB_H
#define CUDA_STUB_H

#include <cstddef>
#include <cstring>

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNoDevice = 100,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorNotSupported = 801
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
enum { cudaDevAttrMultiProcessorCount, cudaLaunchAttributePriority, cudaEventDisableTiming, cudaStreamNonBlocking };
enum { cudaHostRegisterMapped = 1, cudaHostRegisterPortable = 2 };
enum { cudaEventRecordDefault, cudaEventRecordExternal, cudaEventWaitDefault, cudaEventWaitExternal };

typedef struct stub_stream *cudaStream_t;
typedef struct stub_event *cudaEvent_t;
typedef struct stub_graph *cudaGraph_t;
typedef struct stub_exec *cudaGraphExec_t;
typedef struct stub_node *cudaGraphNode_t;

struct dim3 {
    unsigned x;
    explicit dim3(unsigned n) : x(n) {}
};
struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
};
struct cudaDeviceProp {
    int major, multiProcessorCount;
    char name[256];
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    void *devicePointer;
};
static cudaPointerAttributes stub_is; /* what cudaPointerGetAttributes says */
union cudaLaunchAttributeValue {
    int priority;
};

/* The devices: processors of each, and blocks of a kernel on one of its processors. */
static const int stub_processors[] = { 4, 100 }, stub_blocks_each[] = { 2, 3 };
static int stub_device; /* the thread's */
static unsigned stub_grid, stub_asked, stub_launches;

static inline cudaError_t cudaGetDeviceCount(int *n) { return *n = 2, cudaSuccess; }
static inline cudaError_t cudaGetDevice(int *device) { return *device = stub_device, cudaSuccess; }
static inline cudaError_t cudaSetDevice(int device) { return stub_device = device, cudaSuccess; }
static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *is, int device)
{
    std::memset(is, 0, sizeof *is);
    is->major = 9;
    is->multiProcessorCount = stub_processors[device];
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceGetAttribute(int *value, int, int device)
{
    return *value = stub_processors[device], cudaSuccess;
}
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *each, const void *, int, size_t)
{
    stub_asked++;
    return *each = stub_blocks_each[stub_device], cudaSuccess;
}
static inline cudaError_t cudaLaunchKernel(const void *, dim3 grid, dim3, void **, size_t, cudaStream_t)
{
    stub_grid = grid.x;
    stub_launches++;
    return cudaSuccess;
}
static inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *is, const void *)
{
    return *is = stub_is, cudaSuccess;
}
static inline const char *cudaGetErrorName(cudaError_t) { return "error"; }
static inline const char *cudaGetErrorString(cudaError_t) { return "stub"; }

#define STUB(name) \
    template <class... A> static inline cudaError_t name(A...) { return cudaSuccess; }
STUB(cudaGetLastError)
STUB(cudaMalloc)
STUB(cudaFree)
STUB(cudaHostRegister)
STUB(cudaHostUnregister)
STUB(cudaHostGetDevicePointer)
STUB(cudaDeviceSynchronize)
STUB(cudaMemcpyAsync)
STUB(cudaMemsetAsync)
STUB(cudaThreadExchangeStreamCaptureMode)
STUB(cudaGraphCreate)
STUB(cudaGraphAddKernelNode)
STUB(cudaGraphKernelNodeSetAttribute)
STUB(cudaGraphInstantiate)
STUB(cudaGraphExecKernelNodeSetParams)
STUB(cudaGraphExecDestroy)
STUB(cudaGraphDestroy)
STUB(cudaGraphLaunch)
STUB(cudaStreamGetPriority)
STUB(cudaStreamSynchronize)
STUB(cudaStreamCreateWithFlags)
STUB(cudaStreamDestroy)
STUB(cudaStreamGetCaptureInfo)
STUB(cudaStreamGetId)
STUB(cudaStreamWaitEvent)
STUB(cudaEventCreateWithFlags)
STUB(cudaEventRecordWithFlags)
STUB(cudaEventSynchronize)
STUB(cudaEventDestroy)
#undef STUB

/* ---- The driver's virtual memory management -------------------------------------------------- */

#define CUDART_VERSION 13000
typedef unsigned long long CUdeviceptr, CUmemGenericAllocationHandle;
typedef int CUdevice, CUresult;
typedef int CUmemAllocationGranularity_flags, CUdevice_attribute;
enum {
    CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CU_MEM_LOCATION_TYPE_DEVICE = 1,
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3
};
enum {
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 110,
    cudaEnableDefault = 0
};
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess, cudaDriverEntryPointSymbolNotFound };
typedef struct CUmemLocation {
    int type, id;
} CUmemLocation;
typedef struct CUmemAllocationProp {
    int type;
    CUmemLocation location;
    struct {
        unsigned char gpuDirectRDMACapable;
    } allocFlags;
} CUmemAllocationProp;
typedef struct CUmemAccessDesc {
    CUmemLocation location;
    int flags;
} CUmemAccessDesc;

/* What the driver has: handles by number, and what is mapped where. */
enum { STUB_PAGE = 4096, STUB_HANDLES = 64, STUB_MAPS = 64 };
typedef struct stub_map {
    CUdeviceptr at;
    size_t bytes;
    CUmemGenericAllocationHandle handle; /* 0: none */
} stub_map;
static size_t stub_bytes_of[STUB_HANDLES]; /* by handle; 0: released */
static stub_map stub_maps[STUB_MAPS];
static CUdeviceptr stub_next_address = 1ull << 30;
static size_t stub_reserved;                                   /* bytes */
static int stub_driver_calls, stub_driver_fails, stub_allowed; /* stub_driver_fails: that call, from 1; 0: none */
static bool stub_has_driver = true, stub_peers;

static inline CUresult stub_driver_call(void) { return ++stub_driver_calls == stub_driver_fails ? 2 : 0; }

static inline CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute, CUdevice) { return *value = 1, 0; }
static inline CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *,
                                                     CUmemAllocationGranularity_flags)
{
    return *bytes = STUB_PAGE, 0;
}
static inline CUresult cuMemAddressReserve(CUdeviceptr *p, size_t bytes, size_t, CUdeviceptr, unsigned long long)
{
    CUresult code = stub_driver_call();
    if (code) return code;
    *p = stub_next_address;
    stub_next_address += bytes + STUB_PAGE;
    return stub_reserved += bytes, 0;
}
static inline CUresult cuMemAddressFree(CUdeviceptr, size_t bytes) { return stub_reserved -= bytes, 0; }
static inline CUresult cuMemCreate(CUmemGenericAllocationHandle *h, size_t bytes, const CUmemAllocationProp *,
                                   unsigned long long)
{
    CUresult code = stub_driver_call();
    for (*h = 1; !code && *h < STUB_HANDLES - 1 && stub_bytes_of[*h];) ++*h;
    if (!code) stub_bytes_of[*h] = bytes;
    return code;
}
static inline CUresult cuMemRelease(CUmemGenericAllocationHandle h) { return stub_bytes_of[h] = 0, 0; }
static inline CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t, CUmemGenericAllocationHandle h,
                                unsigned long long)
{
    CUresult code = stub_driver_call();
    if (code || stub_bytes_of[h] != bytes) return code ? code : 1;
    for (stub_map &m : stub_maps)
        if (!m.handle) return m = stub_map{ at, bytes, h }, 0;
    return 1;
}
static inline CUresult cuMemUnmap(CUdeviceptr at, size_t bytes)
{
    for (stub_map &m : stub_maps)
        if (m.handle && m.at == at && m.bytes == bytes) return m = stub_map(), 0;
    return 1;
}
static inline CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t n)
{
    CUresult code = stub_driver_call();
    return code ? code : (stub_allowed = (int)n, 0);
}
static inline cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) { return *can = stub_peers, cudaSuccess; }

static inline cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **p, unsigned, unsigned long long,
                                                           cudaDriverEntryPointQueryResult *result)
{
    static const struct {
        const char *name;
        void *p;
    } all[] = { { "cuDeviceGetAttribute", (void *)cuDeviceGetAttribute },
                { "cuMemGetAllocationGranularity", (void *)cuMemGetAllocationGranularity },
                { "cuMemAddressReserve", (void *)cuMemAddressReserve },
                { "cuMemAddressFree", (void *)cuMemAddressFree },
                { "cuMemCreate", (void *)cuMemCreate },
                { "cuMemRelease", (void *)cuMemRelease },
                { "cuMemMap", (void *)cuMemMap },
                { "cuMemUnmap", (void *)cuMemUnmap },
                { "cuMemSetAccess", (void *)cuMemSetAccess } };
    *p = nullptr;
    for (const auto &f : all)
        if (stub_has_driver && std::strcmp(f.name, name) == 0) *p = f.p;
    *result = *p ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

#endif
