/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_load.h - kernels are loaded before they are needed. CUDA loads a kernel at its first use, and that may wait for
 * all that runs on the device: for a kernel that itself waits for a later launch, it waits for ever.
 */
#ifndef HD_CUDA_LOAD_H
#define HD_CUDA_LOAD_H

/* Loads all kernels of the module that has this entry point, on the current device. Returns 0 or CUDA's number of the
 * error: cudaErrorNotSupported where kernels are loaded one by one and the driver, before 12.4, cannot list them. */
int cuda_load_module(const void *entry);

#endif
