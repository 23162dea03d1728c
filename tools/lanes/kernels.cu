/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.cu - the kernel of lane.h: `width` lanes to a warp, so that few wait for one another.
 */
#include "tools/lanes/lane.h"

static __global__ void __launch_bounds__(LANES_THREADS, LANES_BLOCKS) lanes_kernel(const __grid_constant__ lanes_args a)
{
    enum { WARP = 32 };
    uint64_t warp = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    uint64_t step = (uint64_t)gridDim.x * blockDim.x / WARP * a.width;
    uint32_t place = threadIdx.x % WARP;
    if (place >= a.width) return;
    for (uint64_t i = warp * a.width + place; i < a.lanes; i += step) lane_run(&a, i);
}

extern "C" const void *lanes_cuda_entry(uint32_t kernel, const void *args)
{
    (void)args;
    return kernel == 0 ? (const void *)lanes_kernel : nullptr;
}
