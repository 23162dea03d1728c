/* SPDX-License-Identifier: Apache-2.0
 *
 * far_cuda.cu - streams and graphs of a real device, for tests (far.h).
 */
extern "C" {
#include "tests/far.h"
}

static int settle(void) { return (int)cudaDeviceSynchronize(); }
static int stream(void **s) { return (int)cudaStreamCreateWithFlags((cudaStream_t *)s, cudaStreamNonBlocking); }
static int unstream(void *s) { return (int)cudaStreamDestroy((cudaStream_t)s); }
static int record(void *s) { return (int)cudaStreamBeginCapture((cudaStream_t)s, cudaStreamCaptureModeThreadLocal); }

static int follow(void *s, void *other)
{
    cudaEvent_t there;
    cudaError_t e = cudaEventCreateWithFlags(&there, cudaEventDisableTiming);
    if (e == cudaSuccess) e = cudaEventRecord(there, (cudaStream_t)other);
    if (e == cudaSuccess) e = cudaStreamWaitEvent((cudaStream_t)s, there, 0);
    if (e == cudaSuccess) e = cudaEventDestroy(there);
    return (int)e;
}

static int recorded(void *s, void **recording)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec = nullptr;
    cudaError_t e = cudaStreamEndCapture((cudaStream_t)s, &graph);
    if (e != cudaSuccess) return (int)e;
    e = cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
    *recording = exec;
    return (int)e;
}

static int replay(void *recording, void *s)
{
    return (int)cudaGraphLaunch((cudaGraphExec_t)recording, (cudaStream_t)s);
}
static int forget(void *recording) { return (int)cudaGraphExecDestroy((cudaGraphExec_t)recording); }

extern "C" {
extern const far_calls far_cuda;
const far_calls far_cuda = { settle, stream, unstream, record, follow, recorded, replay, forget };
}
