/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - what the text of a variant may use, and the kernels that all variants share. gpu/ovs/registry.inc lists
 * the files of variants.
 */
#ifndef OVS_KERNELS_H
#define OVS_KERNELS_H

#include "gpu/ovs/variant.h"
#define HD_KERNEL_TEXTS
#include "gpu/ovs/kernels.inc"
#undef HD_KERNEL_TEXTS

/* The kernels that batches share, but those of tables with ranges (range.h). */
#define OVS_KERNEL(number, entry, args, text) SIMT_ENTRY(entry, args, text)
#define OVS_RANGE_KERNEL(number, entry, args, text)
#include "gpu/ovs/kernels.inc"
#undef OVS_RANGE_KERNEL
#undef OVS_KERNEL

#endif
