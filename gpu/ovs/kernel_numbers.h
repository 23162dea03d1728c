/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the numbers of the kernels that belong to no variant.
 */
#ifndef OVS_KERNEL_NUMBERS_H
#define OVS_KERNEL_NUMBERS_H

#include "base/variant.h"

/* The numbers of kernels that batches share. Below them are the rows of the variants, in their order. */
typedef enum ovs_kernel {
    OVS_NUMBER_BEFORE = HD_SHARED_KERNELS - 1,
#define OVS_KERNEL(number, entry, args, text)       number,
#define OVS_RANGE_KERNEL(number, entry, args, text) number,
#include "gpu/ovs/kernels.inc"
#undef OVS_RANGE_KERNEL
#undef OVS_KERNEL
    OVS_KERNELS
} ovs_kernel;

#endif
