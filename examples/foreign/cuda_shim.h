/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_shim.h - plain CUDA C as a C compiler's, on the host SIMT machine: what CUDA gives a kernel in words, in words
 * of the dialect. Loads and stores need no words. Files that include this are compiled with -fsanitize=thread, so that
 * the compiler tells of each, and cuda_shim.c takes them to the machine as plain loads and stores, with their lines.
 *
 * Here: threadIdx, blockIdx, blockDim, gridDim (x); __shared__; __syncthreads, __syncwarp, __threadfence; atomicCAS,
 * atomicExch, atomicAdd, atomicSub, atomicMin of 4 and 8 bytes, unsigned or added; __popc, __ffs. Kernel text must be
 * C: no templates, no references. Not here: warp shuffles and ballots (the dialect has them: simt/simt.h), textures, 2D
 * grids, accesses past the end of an array, which a C access may do unseen.
 */
#ifndef CUDA_SHIM_H
#define CUDA_SHIM_H

#include <stdint.h>

#include "simt/simt.h"

#define __global__ static
#define __device__ static inline
#define __forceinline__
#define __shared__ static __attribute__((section("cuda_shared")))

typedef struct cuda_dim {
    unsigned x, y, z;
} cuda_dim;
#define threadIdx ((cuda_dim){ simt_thread(), 0, 0 })
#define blockIdx  ((cuda_dim){ simt_block(), 0, 0 })
#define blockDim  ((cuda_dim){ simt_threads(), 1, 1 })
#define gridDim   ((cuda_dim){ simt_blocks(), 1, 1 })

/* Old values, of p's type. */
uint64_t cuda_atomic(const char *site, simt_rmw_op op, void *p, uint32_t bytes, uint64_t expected, uint64_t a);
#define CUDA_ATOMIC(op, p, e, a)                                                                                   \
    __extension__({                                                                                                \
        __typeof__(*(p)) old_ = (__typeof__(*(p)))cuda_atomic(SIMT_SITE, (op), (void *)(p), (uint32_t)sizeof *(p), \
                                                              (uint64_t)(e), (uint64_t)(a));                       \
        old_;                                                                                                      \
    })
#define atomicCAS(p, e, v) CUDA_ATOMIC(SIMT_CAS, (p), (e), (v))
#define atomicExch(p, v)   CUDA_ATOMIC(SIMT_EXCH, (p), 0, (v))
#define atomicAdd(p, v)    CUDA_ATOMIC(SIMT_ADD, (p), 0, (v))
#define atomicSub(p, v)    CUDA_ATOMIC(SIMT_ADD, (p), 0, -(uint64_t)(v))
#define atomicMin(p, v)    CUDA_ATOMIC(SIMT_MIN, (p), 0, (v))

void cuda_sync_block(const char *site);
void cuda_sync_warp(const char *site);
#define __syncthreads() cuda_sync_block(SIMT_SITE)
#define __syncwarp()    cuda_sync_warp(SIMT_SITE)
#define __threadfence() simt_host_fence(SIMT_SITE)
#define __popc(x)       ((int)simt_popc(x))
#define __ffs(x)        ((int)simt_ffs((uint32_t)(x)))

/* Around a kernel's body, in each lane; cuda_forget: before each run. */
void cuda_leave(void);
void cuda_forget(void);

/* NAME_run(args) for the machine, of a kernel and of the arguments that it takes from `a`. */
#define CUDA_RUN(name, args_type, ...)                \
    void name##_run(const void *args);                \
    void name##_run(const void *args)                 \
    {                                                 \
        const args_type a = *(const args_type *)args; \
        name(__VA_ARGS__);                            \
        cuda_leave();                                 \
    }

#endif
