/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_cuda.h - the CUDA entry points of the HKV kernels, by the number of their row (kernels.h).
 */
#ifndef HKV_CUDA_H
#define HKV_CUDA_H

#include <stdint.h>

/* NULL past the end. */
const void *hkv_cuda_entry(uint32_t kernel);

#endif
