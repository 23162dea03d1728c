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
enum { cudaDevAttrMultiProcessorCount, cudaLaunchAttributePriority, cudaEventDisableTiming };
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
STUB(cudaStreamGetCaptureInfo)
STUB(cudaStreamGetId)
STUB(cudaStreamWaitEvent)
STUB(cudaEventCreateWithFlags)
STUB(cudaEventRecordWithFlags)
STUB(cudaEventSynchronize)
STUB(cudaEventDestroy)
#undef STUB

#endif
