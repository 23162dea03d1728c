/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_cuda.h - the CUDA entry points of the HKV kernels. A row of rows.h has one for all tables, and may have some that are
 * compiled for one operation and one shape (HKV_SPECIAL, kernels.h).
 */
#ifndef HKV_CUDA_H
#define HKV_CUDA_H

#include <stdint.h>

/* What runs row `kernel` with these arguments (an hkv_args), and its number among all entries; NULL past the last row. */
const void *hkv_cuda_entry(uint32_t kernel, const void *args, uint32_t *number);

enum { HKV_CUDA_ENTRIES_MOST = 256 };

#endif
