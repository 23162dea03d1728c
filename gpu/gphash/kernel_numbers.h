/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the numbers of the kernels that belong to no variant.
 */
#ifndef GPHASH_KERNEL_NUMBERS_H
#define GPHASH_KERNEL_NUMBERS_H

#include "base/variant.h"

/* The numbers of kernels that batches share. Below them are the rows of the variants, in their order. */
typedef enum gphash_kernel {
    GPHASH_NUMBER_BEFORE = HD_SHARED_KERNELS - 1,
#define GPHASH_KERNEL(number, entry, args, text) number,
#include "gpu/gphash/kernels.inc"
#undef GPHASH_KERNEL
    GPHASH_KERNELS
} gphash_kernel;

#endif
