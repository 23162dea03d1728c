/* SPDX-License-Identifier: Apache-2.0
 *
 * simt.h - the dialect that definitions shared by the reference, the host machine and CUDA are
 * written in: C11 that is also CUDA C++. HD_FN marks a function that every side may inline.
 */
#ifndef HD_SIMT_H
#define HD_SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define HD_FN static __host__ __device__ __forceinline__
#else
#define HD_FN static inline
#endif

#endif
