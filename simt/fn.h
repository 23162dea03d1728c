/* SPDX-License-Identifier: Apache-2.0
 *
 * fn.h - HD_FN marks the definitions that the reference, the host machine and CUDA share: hashes, layouts, policies.
 * HD_TABLE is a table of n constants of type T that they read, each as HD_TABLE_AT(name, i): in constant memory on a
 * device, in that of the program elsewhere. HD_FN_APART is for what is long and seldom needed: a device calls it, where
 * others would have it in the midst of their text.
 */
#ifndef HD_FN_H
#define HD_FN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

#ifdef __CUDACC__
#define HD_FN       static __host__ __device__ __forceinline__
#define HD_FN_APART static __host__ __device__ __noinline__
#define HD_TABLE(T, name, n, ...)                                            \
    static const T name##_here[n] __attribute__((unused)) = { __VA_ARGS__ }; \
    static __constant__ T name##_there[n] __attribute__((unused)) = { __VA_ARGS__ };
#else
#define HD_FN                     static inline
#define HD_FN_APART               static inline
#define HD_TABLE(T, name, n, ...) static const T name##_here[n] = { __VA_ARGS__ };
#endif

#ifdef __CUDA_ARCH__
#define HD_TABLE_AT(name, i) name##_there[i]
#else
#define HD_TABLE_AT(name, i) name##_here[i]
#endif

#endif
