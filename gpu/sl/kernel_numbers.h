/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the numbers of the kernels that are not rows of the variant.
 */
#ifndef SL_KERNEL_NUMBERS_H
#define SL_KERNEL_NUMBERS_H

#include "base/variant.h"

typedef enum sl_kernel {
    SL_NUMBER_BEFORE = HD_SHARED_KERNELS - 1,
#define SL_KERNEL(number, entry, args, text) number,
#include "gpu/sl/kernels.inc"
#undef SL_KERNEL
    SL_KERNELS
} sl_kernel;

#endif
