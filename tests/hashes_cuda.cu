/* SPDX-License-Identifier: Apache-2.0
 *
 * hashes_cuda.cu - hash functions as a device computes them, for t_hashes.
 */
#include "policies/hashes/hashes.h"

static __global__ void hashes_kernel(uint32_t function, bool wide, uint64_t n, const uint64_t *key, uint64_t seed,
                                     uint64_t *out)
{
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = wide ? hd_hash_of64(function, key[i], seed) : hd_hash_of32(function, (uint32_t)key[i], seed);
}

/* Of n keys into out, arrays of this machine. 0, or the number of CUDA's error. */
extern "C" int hashes_on_device(uint32_t function, int wide, uint64_t n, const uint64_t *key, uint64_t seed,
                                uint64_t *out)
{
    uint64_t *there = nullptr;
    cudaError_t e = cudaMalloc(&there, 2 * n * sizeof *there);
    if (e == cudaSuccess) e = cudaMemcpy(there, key, n * sizeof *there, cudaMemcpyHostToDevice);
    if (e == cudaSuccess) {
        hashes_kernel<<<(unsigned)((n + 255) / 256), 256>>>(function, wide != 0, n, there, seed, there + n);
        e = cudaGetLastError();
    }
    if (e == cudaSuccess) e = cudaMemcpy(out, there + n, n * sizeof *there, cudaMemcpyDeviceToHost);
    cudaFree(there);
    return (int)e;
}
