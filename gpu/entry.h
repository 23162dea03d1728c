/* SPDX-License-Identifier: Apache-2.0
 *
 * entry.h - the CUDA entry points of the designs' kernels, as a device looks them up. A kernel has one for all tables,
 * and may have some that are compiled for one operation and one shape (HKV_SPECIAL, gpu/hkv/kernels.h).
 */
#ifndef GPU_ENTRY_H
#define GPU_ENTRY_H

#include <stdint.h>

enum { GPU_ENTRIES_MOST = 256 }; /* of a design */

/* What runs the design's kernel `kernel` with these arguments, and its number among the design's entries; NULL past the
 * last kernel. */
#define HD_GPU(design) const void *design##_cuda_entry(uint32_t kernel, const void *args, uint32_t *number);
#include "gpu/registry.inc"
#undef HD_GPU

#endif
