/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the kernels that are no variant's, by number.
 */
#ifndef HKV_KERNEL_NUMBERS_H
#define HKV_KERNEL_NUMBERS_H

#include "base/variant.h"

/* The numbers of kernels that batches share. Below them are the rows of the variants, in their order. */
typedef enum hkv_kernel {
    HKV_NUMBER_BEFORE = HD_SHARED_KERNELS - 1,
#define HKV_KERNEL(number, entry, args, text) number,
#include "gpu/hkv/kernels.inc"
#undef HKV_KERNEL
    HKV_KERNELS
} hkv_kernel;

#endif
