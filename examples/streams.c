/* SPDX-License-Identifier: Apache-2.0
 *
 * streams.c - a table in the GPU's memory: batches on streams, without a wait between them, and a lookup that is
 * recorded into a CUDA graph and launched many times. Exits 77 where there is no GPU or the library was built without
 * CUDA.
 *
 *     cc streams.c $(pkg-config --cflags --libs heddle) -lcudart && ./a.out
 */
#include <cuda_runtime_api.h>
#include <heddle.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100000, LAUNCHES = 10, NO_DEVICE = 77 };

static void must_cuda(cudaError_t code, const char *call)
{
    if (code == cudaSuccess) return;
    printf("streams: %s: %s\n", call, cudaGetErrorString(code));
    exit(1);
}
#define CUDA(call) must_cuda((call), #call)

static void must(hd_status status)
{
    if (status == HD_OK) return;
    printf("streams: %s: %s\n", hd_status_name(status), hd_why());
    exit(1);
}

/* The arrays of a batch, all in the GPU's memory. */
typedef struct arrays {
    uint64_t *key, *value, *value_out;
    uint8_t *outcome;
} arrays;

static arrays take_arrays(void)
{
    arrays a;
    CUDA(cudaMalloc((void **)&a.key, N * sizeof *a.key));
    CUDA(cudaMalloc((void **)&a.value, N * sizeof *a.value));
    CUDA(cudaMalloc((void **)&a.value_out, N * sizeof *a.value_out));
    CUDA(cudaMalloc((void **)&a.outcome, N));
    return a;
}

static void give_arrays(arrays *a)
{
    CUDA(cudaFree(a->key));
    CUDA(cudaFree(a->value));
    CUDA(cudaFree(a->value_out));
    CUDA(cudaFree(a->outcome));
}

static hd_batch batch_of(hd_op op, const arrays *a, cudaStream_t stream)
{
    hd_batch b = hd_batch_of(op, N, a->key);
    b.outcome = a->outcome;
    if (op == HD_OP_FIND)
        b.value_out = a->value_out;
    else
        b.value = a->value;
    b.stream = stream;
    return b;
}

/* Keys and values of round `round` go to the GPU, on the stream. The host's arrays live until the stream was waited
 * for. */
static void send(const arrays *a, uint64_t *key, uint64_t *value, uint64_t round, cudaStream_t stream)
{
    for (uint64_t i = 0; i < N; i++) {
        key[i] = i + 1;
        value[i] = (i + 1) * round;
    }
    CUDA(cudaMemcpyAsync(a->key, key, N * sizeof *key, cudaMemcpyHostToDevice, stream));
    CUDA(cudaMemcpyAsync(a->value, value, N * sizeof *value, cudaMemcpyHostToDevice, stream));
}

/* How many keys have the value of that round. */
static uint64_t count_right(const arrays *a, uint64_t round, cudaStream_t stream)
{
    static uint64_t got[N];
    static uint8_t outcome[N];
    uint64_t right = 0;
    CUDA(cudaMemcpyAsync(got, a->value_out, sizeof got, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaMemcpyAsync(outcome, a->outcome, sizeof outcome, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    for (uint64_t i = 0; i < N; i++) right += outcome[i] == HD_HIT && got[i] == (i + 1) * round;
    return right;
}

/* The writer and the reader have a stream each. The table orders the two batches (lock "ordered"), and hd_run waits for
 * neither; the reader's arrays are another set, and an event says when its keys have arrived. */
static uint64_t two_streams(hd_table *t, cudaStream_t writer, cudaStream_t reader, arrays *in, arrays *out)
{
    static uint64_t key[N], value[N];
    cudaEvent_t sent;
    CUDA(cudaEventCreateWithFlags(&sent, cudaEventDisableTiming));
    send(in, key, value, 1, writer);
    CUDA(cudaMemcpyAsync(out->key, in->key, sizeof key, cudaMemcpyDeviceToDevice, writer));
    CUDA(cudaEventRecord(sent, writer));
    hd_batch write = batch_of(HD_OP_INSERT_OR_ASSIGN, in, writer), read = batch_of(HD_OP_FIND, out, reader);
    must(hd_run(t, &write));
    CUDA(cudaStreamWaitEvent(reader, sent, 0));
    must(hd_run(t, &read));
    uint64_t right = count_right(out, 1, reader);
    CUDA(cudaStreamSynchronize(writer));
    CUDA(cudaEventDestroy(sent));
    return right;
}

/* A lookup and an upsert as one graph: every launch reads what is in `in` then. */
static uint64_t one_graph(hd_table *t, cudaStream_t stream, arrays *in, arrays *out)
{
    static uint64_t key[N], value[N];
    uint64_t right = 0;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    hd_batch write = batch_of(HD_OP_INSERT_OR_ASSIGN, in, stream), read = batch_of(HD_OP_FIND, out, stream);
    must(hd_run(t, &write));
    must(hd_run(t, &read));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiateWithFlags(&run, graph, 0));
    for (uint64_t round = 2; round < 2 + LAUNCHES; round++) {
        send(in, key, value, round, stream);
        CUDA(cudaGraphLaunch(run, stream));
        right += count_right(out, round, stream);
    }
    CUDA(cudaGraphExecDestroy(run));
    CUDA(cudaGraphDestroy(graph));
    return right;
}

int main(void)
{
    hd_config c = hd_config_default();
    hd_table *t;
    c.backend = "cuda";
    c.clock = HD_CLOCK_DEVICE; /* a graph would repeat times of the logical clock, and is refused */
    c.capacity = 4 * N;        /* no bucket is full: nothing is evicted */
    hd_status status = hd_open(&c, &t);
    if (status == HD_ECUDA) return printf("streams: %s\n", hd_why()), NO_DEVICE;
    must(status);
    cudaStream_t writer, reader;
    CUDA(cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking));
    arrays in = take_arrays(), out = take_arrays();
    uint64_t right = two_streams(t, writer, reader, &in, &out), again = one_graph(t, writer, &in, &out);
    printf("two streams: %" PRIu64 " of %d keys have their value\n", right, N);
    printf("a graph, %d launches: %" PRIu64 " of %d\n", LAUNCHES, again, N * LAUNCHES);
    hd_close(t);
    give_arrays(&in);
    give_arrays(&out);
    CUDA(cudaStreamDestroy(writer));
    CUDA(cudaStreamDestroy(reader));
    return right == N && again == (uint64_t)N * LAUNCHES ? 0 : 1;
}
