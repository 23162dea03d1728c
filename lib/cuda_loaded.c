/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_loaded.c - see cuda_loaded.h.
 */
#include "lib/cuda_loaded.h"

static hd_cuda_loaded loaded[HD_LOADED_MOST];
static uint32_t count;

hd_cuda_loaded *hd_cuda_loaded_add(const hd_cuda_loaded *one)
{
    loaded[count] = *one;
    return &loaded[count++];
}

hd_cuda_loaded *hd_cuda_loaded_named(const hd_gpu *gpu, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (loaded[i].gpu == gpu && strcmp(loaded[i].name, name) == 0) return &loaded[i];
    return NULL;
}

const hd_cuda_loaded *hd_cuda_loaded_with(const hd_gpu *gpu, uint32_t kernel)
{
    for (uint32_t i = 0; i < count; i++)
        if (loaded[i].gpu == gpu && kernel - loaded[i].first < loaded[i].rows) return &loaded[i];
    return NULL;
}
