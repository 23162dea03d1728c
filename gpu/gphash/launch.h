/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.h - what the backends need to run the GPHash kernels.
 */
#ifndef HD_GPHASH_GPU_H
#define HD_GPHASH_GPU_H

#include "base/backend.h"
#include "gpu/gphash/rows.h"

extern const hd_gpu gphash_gpu;

/* hd_design.unsupported. */
const char *gphash_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b);

/* The CUDA entry point of kernel `kernel` for these arguments (kernels.cu); NULL: there is none. */
const void *gphash_cuda_entry(uint32_t kernel, const void *args);
const void *gphash_cuda_module(uint32_t i);

#endif
