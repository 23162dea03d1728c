/* SPDX-License-Identifier: Apache-2.0
 *
 * place.h - the designs that have kernels, numbered in the order of registry.inc (hd_gpu.place).
 */
#ifndef GPU_PLACE_H
#define GPU_PLACE_H

typedef enum hd_gpu_place {
#define HD_GPU(design) HD_GPU_##design,
#include "gpu/registry.inc"
#undef HD_GPU
    HD_GPU_COUNT
} hd_gpu_place;

#endif
