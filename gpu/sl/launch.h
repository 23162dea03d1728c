/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.h - what the backends need to run the kernels of the ordered table.
 */
#ifndef HD_SL_GPU_H
#define HD_SL_GPU_H

#include "base/backend.h"
#include "gpu/sl/rows.h"

extern const hd_gpu sl_gpu;

/* hd_design.unsupported. */
const char *sl_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b);

/* The CUDA entry point of kernel `kernel` for these arguments (kernels.cu); NULL: there is none. */
const void *sl_cuda_entry(uint32_t kernel, const void *args);
const void *sl_cuda_module(uint32_t i);

#endif
