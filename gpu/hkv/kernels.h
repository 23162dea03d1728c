/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - what the text of a variant may use, and the kernels that all variants share.
 *
 * A variant is one file: its functions; an entry point for each family of operations that it runs,
 *
 *     SIMT_ENTRY(hkv_kernel_VARIANT_FAMILY, hkv_args, hkv_VARIANT_FAMILY)
 *
 * a function that says on which tables it cannot run, if there are any; a table hkv_variant_VARIANT (base/variant.h)
 * that names them all; and the line HKV_LISTED(hkv_variant_VARIANT). gpu/hkv/registry.inc lists the files. kernels.cu
 * has further entry points for a GPU: for single operations on usual tables.
 */
#ifndef HKV_KERNELS_H
#define HKV_KERNELS_H

#include "gpu/hkv/variant.h"
#define HD_KERNEL_TEXTS
#include "gpu/hkv/kernels.inc"
#undef HD_KERNEL_TEXTS

/* What the items of a window had to list. */
SIMT_FN void hkv_list_window(const hkv_args *a) { hkv_list(a, HKV_BY_WARP, (uint8_t *)0); }

/* When the batch happens, by the device's clock. A launch of its own, so that all items have one time, and a graph has
 * a new one at each launch. Batches that overlap are updaters: an item may have the later time of another such batch,
 * which then began while its own was running. */
SIMT_FN void hkv_moment(const hkv_args *a)
{
    if (simt_block() == 0 && simt_thread() == 0) simt_strlx_u64(a->moment, simt_clock_ns());
}

#endif
