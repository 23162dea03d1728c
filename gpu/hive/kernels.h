/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - what the text of a variant may use, and the kernels that all variants share.
 *
 * A variant is one file: its functions; an entry point for each family of operations that it runs,
 *
 *     SIMT_ENTRY(hive_kernel_VARIANT_FAMILY, hive_args, hive_VARIANT_FAMILY)
 *
 * a function that says on which tables it cannot run, if there are any; a table hive_variant_VARIANT (base/variant.h)
 * that names them all; and the line HIVE_LISTED(hive_variant_VARIANT). gpu/hive/registry.inc lists the files.
 * kernels.cu has further entry points for a GPU: for single operations on usual tables.
 */
#ifndef HIVE_KERNELS_H
#define HIVE_KERNELS_H

#include "gpu/hive/variant.h"
#define HD_KERNEL_TEXTS
#include "gpu/hive/kernels.inc"
#undef HD_KERNEL_TEXTS

/* The kernels that batches share. */
#define HIVE_KERNEL(number, entry, args, text) SIMT_ENTRY(entry, args, text)
#include "gpu/hive/kernels.inc"
#undef HIVE_KERNEL

#endif
