/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_cuda.h - what tests change about a table on backend "cuda".
 */
#ifndef HD_BACKEND_CUDA_H
#define HD_BACKEND_CUDA_H

#include "base/design.h"
#include "lib/staging.h"

extern const hd_backend hd_backend_cuda;

/* Other sizes for the copies of host arrays. Before the first batch that has such arrays. */
void hd_cuda_staging(hd_table *t, const hd_staging_sizes *sizes);

/* Windows of no more items than this (hd_gpu_state.window_most), for tables that this thread opens from now on. 0: as
 * suits the design. For tests with many small tables; hd_info.memory_bytes is that of usual windows. */
void hd_cuda_windows(uint64_t items);

#endif
