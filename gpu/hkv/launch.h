/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.h - HKV to the backends that run its kernels.
 */
#ifndef HD_HKV_GPU_H
#define HD_HKV_GPU_H

#include "concurrency/word.h"
#include "gpu/hkv/rows.h"
#include "base/backend.h"
#include "base/op.h"

extern const hd_gpu hkv_gpu;

/* hd_gpu.grow (whole_table.c, as the next). */
hd_status hkv_grow(void *from, void *to, const hd_gpu_machine *m, uint64_t **moved);
/* hd_gpu.check. */
hd_status hkv_check_there(void *state, const hd_gpu_machine *m);

/* hd_design.unsupported. */
const char *hkv_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b);

/* The CUDA entry point of kernel `kernel` for these arguments (kernels.cu); NULL: there is none. */
const void *hkv_cuda_entry(uint32_t kernel, const void *args);
const void *hkv_cuda_module(uint32_t i);

#endif
