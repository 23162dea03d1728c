/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - what the text of a variant may use, and the kernels that all variants share. gpu/ovs/registry.inc lists
 * the files of variants.
 */
#ifndef OVS_KERNELS_H
#define OVS_KERNELS_H

#include "concurrency/word.h"
#include "gpu/ovs/check.h"
#include "gpu/ovs/order.h"
#include "gpu/ovs/resize.h"
#include "gpu/ovs/variant.h"
#include "gpu/ovs/scan.h"

/* The kernels that batches share, but those of tables with ranges (range.h). */
#define OVS_KERNEL(number, entry, args, text) SIMT_ENTRY(entry, args, text)
#define OVS_RANGE_KERNEL(number, entry, args, text)
#include "gpu/ovs/kernels.inc"
#undef OVS_RANGE_KERNEL
#undef OVS_KERNEL

#endif
