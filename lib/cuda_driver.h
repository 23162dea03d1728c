/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_driver.h - functions of CUDA's driver, which are asked for at run time, because the library loads on machines
 * without a driver.
 */
#ifndef HD_CUDA_DRIVER_H
#define HD_CUDA_DRIVER_H

#include <cstring>

#ifndef CUDA_STUB_H
#include <cuda.h>
#endif

/* *p, a pointer to a function of so many bytes: that function as CUDA `version` has it. False: the driver lacks it. */
static inline bool cuda_driver_function(const char *name, unsigned version, void *p, size_t bytes)
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    cudaError_t e = cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#else
    (void)version;
    cudaError_t e = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
    if (e != cudaSuccess) (void)cudaGetLastError();
    memcpy(p, &found, bytes);
    return e == cudaSuccess && result == cudaDriverEntryPointSuccess && found;
}

#endif
