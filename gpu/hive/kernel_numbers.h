/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the numbers of the kernels that belong to no variant.
 */
#ifndef HIVE_KERNEL_NUMBERS_H
#define HIVE_KERNEL_NUMBERS_H

#include "base/variant.h"

/* The numbers of kernels that batches share. Below them are the rows of the variants, in their order. */
typedef enum hive_kernel {
    HIVE_NUMBER_BEFORE = HD_SHARED_KERNELS - 1,
#define HIVE_KERNEL(number, entry, args, text) number,
#include "gpu/hive/kernels.inc"
#undef HIVE_KERNEL
    HIVE_KERNELS
} hive_kernel;

#endif
