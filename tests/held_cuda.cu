/* SPDX-License-Identifier: Apache-2.0
 *
 * held_cuda.cu - all ordered pairs of calls (held.h) on a GPU: the first call's stream is behind a kernel that waits.
 * It is let go when both calls have returned and what could run has had time to, and after 50 ms in any case.
 *
 *   held_cuda [SECONDS [SHARE [WAYS]]]
 *
 * SECONDS 0: without a limit. Each variant of a table tries one pair in SHARE, in WAYS ways; 0: in all. A step that
 * takes 20 s ends the program, which names it.
 */
#include <cstdio>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

extern "C" {
#include "tests/held.h"
}

#define ASK(call)                                                                                        \
    do {                                                                                                 \
        cudaError_t e = (call);                                                                          \
        if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)), abort(); \
    } while (0)

static volatile int *go; /* pinned */
static int *go_there;
static cudaStream_t extra;

__global__ void wait_for(volatile int *may_go, long long most_ns)
{
    long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (!*may_go && now - begin < most_ns);
}

enum { STEP_SECONDS = 20 };
static char step[500]; /* what is said of the one under way if it takes too long */
static size_t step_length;

/* Only calls that a signal handler may make. */
static void too_long(int)
{
    ssize_t written = write(STDOUT_FILENO, step, step_length);
    _exit(written > 0 ? 1 : 2);
}

static void place_begin(void *, const char *what)
{
    alarm(0);
    step_length = (size_t)snprintf(step, sizeof step, "not ok - no end after %d s: %s\n", STEP_SECONDS, what);
    if (step_length >= sizeof step) step_length = sizeof step - 1;
    alarm(STEP_SECONDS);
}

static void finish(void *) { ASK(cudaDeviceSynchronize()); }
static void place_open(void *, uint64_t) {}
static void place_close(void *) {}

static void *place_take(void *, held_memory memory, size_t bytes)
{
    void *p = nullptr;
    cudaError_t e = memory == HELD_DEVICE ? cudaMalloc(&p, bytes) : cudaMallocHost(&p, bytes);
    return e == cudaSuccess ? p : nullptr;
}

static void place_give(void *, held_memory memory, void *p)
{
    ASK(memory == HELD_DEVICE ? cudaFree(p) : cudaFreeHost(p));
}

static void copy(void *, void *to, const void *from, size_t bytes)
{
    ASK(cudaDeviceSynchronize());
    ASK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

/* A copy to pageable memory waits for the stream, which is held up. */
static void place_put(void *, held_memory memory, void *to, const void *from, size_t bytes, void *stream)
{
    if (memory == HELD_HOST)
        ASK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, extra));
    else
        ASK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream));
    if (memory == HELD_HOST) ASK(cudaStreamSynchronize(extra));
}

static void place_hold(void *, const held_side *first, const held_how *)
{
    *go = 0;
    wait_for<<<1, 1, 0, (cudaStream_t)first->stream>>>(go_there, 50000000);
    ASK(cudaGetLastError());
}

/* The second call's work may run ahead, if nothing keeps it back. */
static void place_release(void *, const held_side *first, const held_side *second, const held_how *)
{
    for (int k = 0; k < 20 && first->stream != second->stream; k++) {
        if (cudaStreamQuery((cudaStream_t)second->stream) == cudaSuccess) break;
        usleep(100);
    }
    *go = 1;
    ASK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0;
    uint64_t share = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1,
             ways = argc > 3 ? strtoull(argv[3], nullptr, 10) : 0;
    cudaStream_t stream[2];
    char folder[] = "/tmp/held-XXXXXX";
    size_t variants = 0;
    int devices = 0;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    signal(SIGALRM, too_long);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) return puts("1..0 # SKIP no GPU"), 77;
    void *flag;
    if (cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped) != cudaSuccess) return 1;
    if (cudaHostGetDevicePointer((void **)&go_there, flag, 0) != cudaSuccess || !mkdtemp(folder)) return 1;
    go = (volatile int *)flag;
    for (cudaStream_t &s : stream)
        if (cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) != cudaSuccess) return 1;
    if (cudaStreamCreateWithFlags(&extra, cudaStreamNonBlocking) != cudaSuccess) return 1;
    held_place place = { nullptr,     place_open, place_close,   place_take,
                         place_give,  copy,       copy,          finish,
                         place_put,   place_hold, place_release, nullptr,
                         place_begin, nullptr,    folder,        { stream[0], stream[1] },
                         1,           false,      true };
    held_tally *n = (held_tally *)calloc(1, sizeof *n);
    while (held_variant_at(variants)) variants++;
    time_t begin = time(nullptr);
    for (size_t v = 0; v < variants; v++) {
        double left = seconds > 0 ? (seconds - (double)(time(nullptr) - begin)) / (double)(variants - v) : 0;
        held_try(&place, v, share, ways, seconds > 0 && left < 1 ? 1 : left, n);
        printf("# %s: %s, %d s\n", held_variant_at(v)->name, held_told(n), (int)(time(nullptr) - begin));
    }
    printf("%s - %s\n", n->differ ? "not ok" : "ok", held_told(n));
    return n->differ != 0;
}
