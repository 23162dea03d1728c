/* SPDX-License-Identifier: Apache-2.0
 *
 * device_cuda.cu - the device seam over the CUDA runtime, which is linked in statically: the library loads on machines
 * without a driver, where no device is found.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>

#include "base/backend.h"
#include "base/seam.h"
#include "lib/cuda_load.h"
#include "lib/cuda_pages.h"

static_assert((int)HD_DEVICE_NO_MEMORY == (int)cudaErrorMemoryAllocation, "the seam has CUDA's number");

/* Clears the error, so that a later call of the runtime does not report it again. */
static int told(cudaError_t e)
{
    if (e != cudaSuccess) (void)cudaGetLastError();
    return (int)e;
}

/* Some stream may be being captured in a mode that forbids this thread, or every thread, to take or give memory and to
 * wait: such a call would end the capture. A table opens, closes and grows whenever its owner, or a collector of
 * garbage, says so, and has no part in that capture: while one of these lives, its thread may. */
struct relaxed {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    relaxed() { (void)cudaThreadExchangeStreamCaptureMode(&mode); }
    ~relaxed() { (void)cudaThreadExchangeStreamCaptureMode(&mode); }
    relaxed(const relaxed &) = delete;
    relaxed &operator=(const relaxed &) = delete;
};

static int cuda_find(void *, hd_device *device)
{
    const relaxed mode;
    int devices = 0;
    cudaDeviceProp is;
    cudaError_t e = cudaGetDeviceCount(&devices);
    if (e == cudaSuccess && devices == 0) e = cudaErrorNoDevice;
    if (e == cudaSuccess) e = cudaGetDevice(&device->number);
    if (e == cudaSuccess) e = cudaGetDeviceProperties(&is, device->number);
    /* redux.sync and cp.async came with sm_80 */
    if (e == cudaSuccess && is.major < 8) e = cudaErrorNoKernelImageForDevice;
    if (e != cudaSuccess) return told(e);
    device->processors = (uint32_t)is.multiProcessorCount;
    device->page = cuda_pages_of(device->number);
    snprintf(device->name, sizeof device->name, "%.120s", is.name);
    return 0;
}

static int cuda_use(void *, int device, int *before)
{
    cudaError_t e = cudaGetDevice(before);
    if (e == cudaSuccess && *before != device) e = cudaSetDevice(device);
    return told(e);
}

static int cuda_take(void *, void **p, size_t bytes)
{
    const relaxed mode;
    return told(cudaMalloc(p, bytes));
}

static int cuda_give(void *, void *p)
{
    const relaxed mode;
    int code;
    return cuda_pages_give(p, &code) ? told((cudaError_t)code) : told(cudaFree(p));
}

static int cuda_take_growing(void *, void **p, size_t bytes)
{
    const relaxed mode;
    return cuda_pages_take(p, bytes);
}

static int cuda_grow(void *, void *p, size_t bytes, void **q)
{
    const relaxed mode;
    return cuda_pages_grow(p, bytes, q);
}

static int cuda_pin(void *, void *p, size_t bytes)
{
    const relaxed mode;
    void *seen = nullptr;
    cudaError_t registered = cudaHostRegister(p, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable),
                e = registered;
    if (e == cudaSuccess && (e = cudaHostGetDevicePointer(&seen, p, 0)) == cudaSuccess && seen != p)
        e = cudaErrorNotSupported;
    if (e != cudaSuccess && registered == cudaSuccess) (void)cudaHostUnregister(p);
    return told(e);
}

/* In huge pages, which are cleared and pinned ten times as fast as cudaHostAlloc's small ones. */
static int cuda_take_pinned(void *, void **p, size_t bytes)
{
    enum { HUGE = 2 << 20 };
    void *there = nullptr;
    if (posix_memalign(&there, HUGE, (bytes + HUGE - 1) / HUGE * HUGE)) return (int)cudaErrorMemoryAllocation;
    (void)madvise(there, bytes, MADV_HUGEPAGE); /* advice: small pages will do */
    int code = cuda_pin(nullptr, there, bytes);
    if (code)
        free(there);
    else
        *p = there;
    return code;
}

/* cudaHostUnregister waits for all that runs on the device, as cudaFree does, and a capture goes on;
 * cudaDeviceSynchronize would end it. */
static int cuda_give_pinned(void *, void *p, size_t)
{
    const relaxed mode;
    cudaError_t e = cudaHostUnregister(p);
    if (e == cudaSuccess) free(p); /* else it is still pinned, and may be in use: its addresses must not come again */
    return told(e);
}

/* As cuda_give_pinned it waits for all that runs on the device. */
static int cuda_unpin(void *, void *p)
{
    const relaxed mode;
    return told(cudaHostUnregister(p));
}

static int cuda_copy(void *, void *to, const void *from, size_t bytes, hd_way way, void *stream)
{
    static const cudaMemcpyKind kind[] = { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
    return told(cudaMemcpyAsync(to, from, bytes, kind[way], (cudaStream_t)stream));
}

static int cuda_fill(void *, void *to, int byte, size_t bytes, void *stream)
{
    return told(cudaMemsetAsync(to, byte, bytes, (cudaStream_t)stream));
}

/* How many blocks of an entry point a device runs at a time. */
typedef struct resident {
    std::atomic<uint64_t> key;    /* the entry point's address, and the device above its 48 bits; 0: free */
    std::atomic<unsigned> blocks; /* 0: not known yet */
} resident;

/* Where that is kept for a key; NULL: there is no room left. */
static resident *resident_at(uint64_t key)
{
    enum { MOST = 1024, TRIES = 16 };
    static resident known[MOST];
    for (uint64_t i = 0, at = key * 0x9e3779b97f4a7c15u >> 54; i < TRIES; i++) {
        resident *r = &known[(at + i) % MOST];
        uint64_t there = 0;
        if (r->key == key || r->key.compare_exchange_strong(there, key) || there == key) return r;
    }
    return nullptr;
}

/* How many blocks of an entry point the current device runs at a time; asked once for each device. */
static cudaError_t resident_blocks(const void *entry, uint32_t threads, unsigned *blocks)
{
    int device = 0, processors = 0, each = 0;
    cudaError_t e = cudaGetDevice(&device);
    if (e != cudaSuccess) return e;
    resident *r = resident_at((uint64_t)(uintptr_t)entry | (uint64_t)device << 48);
    *blocks = r ? r->blocks.load() : 0;
    if (*blocks) return cudaSuccess;
    e = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (e == cudaSuccess) e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, entry, (int)threads, 0);
    if (e != cudaSuccess) return e;
    *blocks = (unsigned)(processors * (each > 0 ? each : 1));
    if (r) r->blocks = *blocks;
    return cudaSuccess;
}

/* A kernel as a graph of one node. A graph's launch takes 1.2 us of the host, and 0.6 us to change its argument, where
 * a kernel's takes 3.2 us (bench/lab/bench.md). To change its function takes 1.5 us more: so each stream has graphs of
 * several, enough for the launches of a batch with repeated keys and of other batches beside it. A node runs with the
 * priority that it was made with. */
typedef struct prepared_kernel {
    const void *entry;
    cudaGraph_t graph;
    cudaGraphExec_t exec; /* NULL: none, or it could not be made */
    cudaGraphNode_t node;
    int priority;
} prepared_kernel;

enum { PREPARED_KERNELS = 16 };

typedef struct prepared_launch {
    prepared_kernel kernel[PREPARED_KERNELS];
    uint32_t next; /* to be replaced */
} prepared_launch;

static void prepared_clear(prepared_kernel *k)
{
    if (k->exec) (void)cudaGraphExecDestroy(k->exec);
    if (k->graph) (void)cudaGraphDestroy(k->graph);
    *k = prepared_kernel();
}

static cudaError_t prepared_make(prepared_kernel *k, const cudaKernelNodeParams *params, int priority)
{
    const relaxed mode;
    cudaLaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    value.priority = priority;
    prepared_clear(k);
    k->entry = params->func;
    k->priority = priority;
    cudaError_t e = cudaGraphCreate(&k->graph, 0);
    if (e == cudaSuccess) e = cudaGraphAddKernelNode(&k->node, k->graph, nullptr, 0, params);
    if (e == cudaSuccess) e = cudaGraphKernelNodeSetAttribute(k->node, cudaLaunchAttributePriority, &value);
    if (e == cudaSuccess) e = cudaGraphInstantiate(&k->exec, k->graph, 0);
    return e;
}

/* The graph of that kernel with that argument; NULL: there is none, and the caller launches the kernel itself. */
static cudaGraphExec_t prepared_get(prepared_launch *p, const cudaKernelNodeParams *params, int priority)
{
    prepared_kernel *k = p->kernel, *end = k + PREPARED_KERNELS;
    while (k < end && (k->entry != params->func || k->priority != priority)) k++;
    cudaError_t e = cudaSuccess;
    if (k == end) {
        k = &p->kernel[p->next++ % PREPARED_KERNELS];
        e = prepared_make(k, params, priority);
    } else if (k->exec) {
        e = cudaGraphExecKernelNodeSetParams(k->exec, k->node, params);
    }
    if (e == cudaSuccess) return k->exec;
    (void)cudaGetLastError();
    if (k->exec) (void)cudaGraphExecDestroy(k->exec);
    k->exec = nullptr;
    return nullptr;
}

/* False: nothing was launched. */
static bool prepared_run(void **prepared, const cudaKernelNodeParams *params, cudaStream_t stream,
                         cudaError_t *launched)
{
    int priority = 0;
    if (!*prepared) *prepared = new (std::nothrow) prepared_launch();
    if (!*prepared || told(cudaStreamGetPriority(stream, &priority))) return false;
    cudaGraphExec_t exec = prepared_get((prepared_launch *)*prepared, params, priority);
    if (exec) *launched = cudaGraphLaunch(exec, stream);
    return exec;
}

static int cuda_prepared_destroy(void *, void *prepared)
{
    const relaxed mode;
    prepared_launch *p = (prepared_launch *)prepared;
    for (prepared_kernel &k : p->kernel) prepared_clear(&k);
    delete p;
    return 0;
}

static int cuda_launch(void *, const hd_launch *l, void *stream)
{
    void *args[] = { (void *)l->args };
    unsigned blocks = 0;
    const void *entry = l->gpu->cuda_entry ? l->gpu->cuda_entry(l->kernel, l->args) : nullptr;
    if (!entry) return (int)cudaErrorInvalidValue;
    cudaError_t e = resident_blocks(entry, l->threads, &blocks);
    if (e != cudaSuccess) return told(e);
    if (l->blocks < blocks) blocks = (unsigned)l->blocks;
    cudaKernelNodeParams params = { (void *)entry, dim3(blocks), dim3(l->threads), 0, args, nullptr };
    if (l->prepared && prepared_run(l->prepared, &params, (cudaStream_t)stream, &e)) return told(e);
    return told(cudaLaunchKernel(entry, dim3(blocks), dim3(l->threads), args, 0, (cudaStream_t)stream));
}

static int cuda_load(void *, const hd_gpu *gpu)
{
    const relaxed mode;
    int code = 0;
    const void *one;
    for (uint32_t i = 0; !code && gpu->cuda_module && (one = gpu->cuda_module(i)); i++) code = cuda_load_module(one);
    return code;
}

static int cuda_wait(void *, void *stream)
{
    const relaxed mode;
    return told(cudaStreamSynchronize((cudaStream_t)stream));
}

static int cuda_stream_make(void *, void **stream)
{
    return told(cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking));
}

static int cuda_stream_destroy(void *, void *stream)
{
    const relaxed mode;
    return told(cudaStreamDestroy((cudaStream_t)stream));
}

static int cuda_stream_state(void *, void *stream, hd_stream_state *state)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long capture = 0, id = 0;
    cudaError_t e = cudaStreamGetCaptureInfo((cudaStream_t)stream, &status, &capture);
    bool captured = status == cudaStreamCaptureStatusActive;
    /* A stream that is being captured does not tell its id. */
    if (e == cudaSuccess && !captured) e = cudaStreamGetId((cudaStream_t)stream, &id);
    state->id = id;
    state->capture = captured ? capture : 0;
    return told(e);
}

/* External: a node of the graph, which records the event, or waits for it, at each launch. */
static int cuda_event_record(void *, void **event, void *stream, uint64_t capture)
{
    cudaEvent_t made = (cudaEvent_t)*event;
    cudaError_t e = made ? cudaSuccess : cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
    if (e == cudaSuccess) *event = made;
    if (e == cudaSuccess)
        e = cudaEventRecordWithFlags(made, (cudaStream_t)stream,
                                     capture ? cudaEventRecordExternal : cudaEventRecordDefault);
    return told(e);
}

static int cuda_event_wait(void *, void *event, void *stream, uint64_t capture)
{
    return told(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event,
                                    capture ? cudaEventWaitExternal : cudaEventWaitDefault));
}

static int cuda_event_sync(void *, void *event)
{
    const relaxed mode;
    return told(cudaEventSynchronize((cudaEvent_t)event));
}

static int cuda_event_destroy(void *, void *event) { return told(cudaEventDestroy((cudaEvent_t)event)); }

/* In a thread that has not used CUDA yet nothing can be accessed. cudaSetDevice does not change that. */
static cudaError_t begin_thread(void)
{
    const relaxed mode;
    return cudaFree(nullptr);
}

/* devicePointer is NULL where the current device cannot access the memory. Pinned memory that it would reach by another
 * address counts as out of reach: a batch copies it. */
static int cuda_reach(void *, const void *p, hd_reach *reach)
{
    cudaPointerAttributes is;
    cudaError_t e = cudaPointerGetAttributes(&is, p);
    *reach = HD_REACH_NONE;
    if (e == cudaSuccess && is.type != cudaMemoryTypeUnregistered && !is.devicePointer) {
        e = begin_thread();
        if (e == cudaSuccess) e = cudaPointerGetAttributes(&is, p);
    }
    if (e != cudaSuccess) return told(e);
    if (is.type == cudaMemoryTypeDevice) *reach = is.devicePointer ? HD_REACH_DEVICE : HD_REACH_OTHER;
    if ((is.type == cudaMemoryTypeHost || is.type == cudaMemoryTypeManaged) && is.devicePointer == p)
        *reach = HD_REACH_BOTH;
    return 0;
}

static const char *cuda_error(void *, int code)
{
    static thread_local char text[256];
    cudaError_t e = (cudaError_t)code;
    snprintf(text, sizeof text, "%s, %s", cudaGetErrorName(e), cudaGetErrorString(e));
    return text;
}

extern const hd_device_seam hd_device_os = {
    cuda_find,       cuda_use,         cuda_take,           cuda_give,         cuda_take_growing,
    cuda_grow,       cuda_take_pinned, cuda_give_pinned,    cuda_pin,          cuda_unpin,
    cuda_copy,       cuda_fill,        cuda_launch,         cuda_load,         cuda_prepared_destroy,
    cuda_wait,       cuda_stream_make, cuda_stream_destroy, cuda_stream_state, cuda_event_record,
    cuda_event_wait, cuda_event_sync,  cuda_event_destroy,  cuda_reach,        cuda_error,
    nullptr,
};
