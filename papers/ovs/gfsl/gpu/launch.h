/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.h - what the backends need to run the kernels of the skip list gfsl.
 */
#ifndef HD_GFSL_GPU_H
#define HD_GFSL_GPU_H

#include "base/backend.h"
#include "gfsl/gpu/rows.h"

extern const hd_gpu gfsl_gpu;

/* hd_design.unsupported */
const char *gfsl_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b);

/* A kernel of the host machine by number, and the CUDA entry point for these arguments (kernels.cu); NULL: there is
 * none. */
hd_host_text *gfsl_host_kernel(uint32_t kernel);
const void *gfsl_cuda_entry(uint32_t kernel, const void *args);
const void *gfsl_cuda_module(uint32_t i);

#endif
