/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.h - what the backends need to run Hive's kernels.
 */
#ifndef HD_HIVE_GPU_H
#define HD_HIVE_GPU_H

#include "concurrency/word.h"
#include "gpu/hive/rows.h"
#include "gpu/launches.h"
#include "base/backend.h"
#include "base/op.h"

extern const hd_gpu hive_gpu;

/* hd_design.unsupported. */
const char *hive_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b);

/* The CUDA entry point of kernel `kernel` for these arguments (kernels.cu); NULL: there is none. */
const void *hive_cuda_entry(uint32_t kernel, const void *args);
const void *hive_cuda_module(uint32_t i);

#endif
