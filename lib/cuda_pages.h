/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_pages.h - device memory that can grow: CUDA's virtual memory management, which maps physical memory to
 * addresses. A growth maps the old memory to new addresses and more memory after it, so nothing is copied, and the old
 * addresses stay until they are given back. Functions return 0 or CUDA's number of the error. For device_cuda.cu.
 */
#ifndef HD_CUDA_PAGES_H
#define HD_CUDA_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* *p, a pointer to a function of so many bytes: that function of the driver, as CUDA `version` has it. It is asked for
 * at run time, because the library loads on machines without a driver. False: the driver lacks it. */
bool cuda_driver_function(const char *name, unsigned version, void *p, size_t bytes);

/* What the sizes of such memory are rounded up to on that device; 0: it cannot grow there. */
uint64_t cuda_pages_of(int device);

/* Of the current device; hd_device_seam.take_growing and grow. */
int cuda_pages_take(void **p, size_t bytes);
int cuda_pages_grow(void *p, size_t bytes, void **q);

/* Gives back what was at p, when all work on the device is done; false: it is none of this memory. */
bool cuda_pages_give(void *p, int *code);

#ifdef __cplusplus
}
#endif

#endif
