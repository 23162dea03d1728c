/* SPDX-License-Identifier: Apache-2.0
 *
 * t_unlike_devices.cpp - the CUDA device seam (lib/device_cuda.cu) on two devices of different sizes: a grid has as
 * many blocks as the device of the launch runs at a time, and each device is asked for that once. Also what the seam
 * makes of the runtime's answers about memory. The runtime is a stub.
 */
#include "tests/cuda_stub.h"
#include "tests/plain.h"

#include "lib/cuda_pages.cu"

#include "lib/device_cuda.cu"

static const char modules[2] = { 0, 0 };
static const void *loaded[3];
static int loads, refuse_load;

int cuda_load_module(const void *entry) { return loaded[loads++] = entry, loads == refuse_load ? 1 : 0; }

static const void *module_of(uint32_t i) { return i < sizeof modules ? &modules[i] : nullptr; }

/* Whether a load asks for modules until one is refused, and says what came of it. */
static bool loads_until(int refused, int asked)
{
    hd_gpu gpu = hd_gpu();
    gpu.cuda_module = module_of;
    loads = 0;
    refuse_load = refused;
    int code = hd_device_os.load(nullptr, &gpu);
    return code == (refused != 0) && loads == asked && loaded[asked - 1] == &modules[asked - 1];
}

static const void *entry_of(uint32_t kernel, const void *)
{
    static const char entries[2] = { 0, 0 };
    return &entries[kernel];
}

/* The blocks of a launch that has work for `blocks` on that device. */
static unsigned grid_on(int device, uint32_t kernel, uint64_t blocks)
{
    hd_gpu gpu = hd_gpu();
    hd_launch l = hd_launch();
    int before = 0, args = 0;
    gpu.cuda_entry = entry_of;
    l.gpu = &gpu;
    l.kernel = kernel;
    l.threads = 128;
    l.blocks = blocks;
    l.args = &args;
    l.args_bytes = sizeof args;
    if (hd_device_os.use(nullptr, device, &before)) return 0;
    return hd_device_os.launch(nullptr, &l, nullptr) ? 0 : stub_grid;
}

/* What the seam says of memory of that type, which the runtime has at `at` for the current device. */
static hd_reach reach_of(cudaMemoryType type, void *p, void *at)
{
    hd_reach reach = HD_REACH_OTHER;
    stub_is = cudaPointerAttributes{ type, at };
    return hd_device_os.reach(nullptr, p, &reach) ? HD_REACH_OTHER : reach;
}

int main()
{
    char array[2], *p = array;
    ok(reach_of(cudaMemoryTypeDevice, p, p) == HD_REACH_DEVICE, "memory of the device");
    ok(reach_of(cudaMemoryTypeDevice, p, nullptr) == HD_REACH_OTHER, "memory of a device that is no peer");
    ok(reach_of(cudaMemoryTypeManaged, p, p) == HD_REACH_BOTH, "managed memory");
    ok(reach_of(cudaMemoryTypeHost, p, p) == HD_REACH_BOTH, "pinned memory that is mapped");
    ok(reach_of(cudaMemoryTypeHost, p, p + 1) == HD_REACH_NONE, "pinned memory at another address");
    ok(reach_of(cudaMemoryTypeHost, p, nullptr) == HD_REACH_NONE, "pinned memory that is not mapped");
    ok(reach_of(cudaMemoryTypeUnregistered, p, p) == HD_REACH_NONE, "memory that the runtime does not know");

    ok(loads_until(0, 2), "kernels of all modules are loaded");
    ok(loads_until(1, 1), "and a module that is not is said");

    const unsigned small = 4 * 2, large = 100 * 3;
    for (uint32_t kernel = 0; kernel < 2; kernel++) {
        ok(grid_on(0, kernel, 1000) == small, "the first device fills its processors");
        ok(grid_on(1, kernel, 1000) == large, "the second one fills its own");
        ok(grid_on(0, kernel, 1000) == small && grid_on(1, kernel, 1000) == large, "and both do so again");
        ok(grid_on(1, kernel, 5) == 5, "a small batch has the blocks that it needs");
    }
    ok(stub_asked == 4, "each device is asked once for each kernel");
    ok(stub_launches == 10, "every launch was seen");
    return plain_finish();
}
