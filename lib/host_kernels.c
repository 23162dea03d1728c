/* SPDX-License-Identifier: Apache-2.0
 *
 * host_kernels.c - the kernels of all designs as the host machine runs them, by the numbers that they have on a device.
 */
#include "base/backend.h"
#include "gpu/place.h"
#include "lib/backend_host.h"

#define HD_GPU(design) hd_host_text *design##_host_entry(uint32_t kernel);
#include "gpu/registry.inc"
#undef HD_GPU

hd_host_text *hd_host_kernel(uint32_t number)
{
    static hd_host_text *(*const entry[])(uint32_t kernel) = {
#define HD_GPU(design) design##_host_entry,
#include "gpu/registry.inc"
#undef HD_GPU
    };
    uint32_t place = number / HD_GPU_KERNELS;
    return place < HD_GPU_COUNT ? entry[place](number % HD_GPU_KERNELS) : NULL;
}
