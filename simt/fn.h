/* SPDX-License-Identifier: Apache-2.0
 *
 * fn.h - HD_FN marks the definitions that the reference, the host machine and CUDA share: hashes, layouts, policies.
 */
#ifndef HD_FN_H
#define HD_FN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define HD_FN static __host__ __device__ __forceinline__
#else
#define HD_FN static inline
#endif

#endif
