/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_loaded.h - the kernels of files (loaded.h) on a device: who launches them.
 */
#ifndef HD_CUDA_LOADED_H
#define HD_CUDA_LOADED_H

#include "base/backend.h"
#include "gpu/object.h"

typedef struct hd_cuda_loaded {
    const hd_gpu *gpu;
    const char *name;         /* of the variant                     */
    uint32_t first, rows;     /* its kernels' numbers               */
    hd_object_launch *launch; /* NULL: it was not compiled for CUDA */
    uint32_t variant;         /* for `launch`                       */
} hd_cuda_loaded;

/* There is room: each is a variant that lib/loaded.c has added. */
hd_cuda_loaded *hd_cuda_loaded_add(const hd_cuda_loaded *one);

/* The variant of that name, or with that kernel; NULL: it is of no file. */
hd_cuda_loaded *hd_cuda_loaded_named(const hd_gpu *gpu, const char *name);
const hd_cuda_loaded *hd_cuda_loaded_with(const hd_gpu *gpu, uint32_t kernel);

#endif
