/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the numbers of the kernels that are not rows of the variant.
 */
#ifndef GFSL_KERNEL_NUMBERS_H
#define GFSL_KERNEL_NUMBERS_H

#include "base/variant.h"

typedef enum gfsl_kernel {
    GFSL_NUMBER_BEFORE = HD_SHARED_KERNELS - 1,
#define GFSL_KERNEL(number, entry, args, text) number,
#include "gfsl/gpu/kernels.inc"
#undef GFSL_KERNEL
    GFSL_KERNELS
} gfsl_kernel;

#endif
