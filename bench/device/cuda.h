/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda.h - shared by the two files of the bench's GPU.
 */
#ifndef HD_BENCH_CUDA_H
#define HD_BENCH_CUDA_H

#include "bench/device/device.h"

extern "C" const bench_device bench_cuda;

extern cudaStream_t bench_cuda_stream;
extern int bench_cuda_processors;

/* HD_OK, or HD_ECUDA with what was done and CUDA's words for it. */
hd_status bench_cuda_told(cudaError_t e, const char *what);

/* limits_cuda.cu: see bench_device.limit. */
hd_status bench_cuda_limit(const bench_limit *limit, void *p, double *per_s);

#endif
