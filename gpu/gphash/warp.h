/* SPDX-License-Identifier: Apache-2.0
 *
 * warp - the paper's protocol, repaired: a warp per key, a lane for each slot that the key may be in (item.h, args.h).
 */
#ifndef GPHASH_WARP_H
#define GPHASH_WARP_H

#include "base/variant.h"
#define HD_KERNEL_TEXTS
#include "gpu/gphash/kernels.inc"
#undef HD_KERNEL_TEXTS

SIMT_ENTRY(gphash_kernel_warp_items, gphash_args, gphash_items)
SIMT_ENTRY(gphash_kernel_warp_sweep, gphash_args, gphash_sweep)
SIMT_ENTRY(gphash_kernel_warp_export, gphash_args, gphash_list)
SIMT_ENTRY(gphash_kernel_warp_clear, gphash_args, gphash_clear_slots)

/* The kernels that batches share. */
#define GPHASH_KERNEL(number, entry, args, text) SIMT_ENTRY(entry, args, text)
#include "gpu/gphash/kernels.inc"
#undef GPHASH_KERNEL

static inline const char *gphash_fits_one(const hd_info *info)
{
    return info->gphash.index == HD_INDEX_NEAR ? "a near index is for phase" : (const char *)NULL;
}

/* hd_variant.ran, which only the host reads. */
#ifdef __CUDACC__
#define GPHASH_RAN(variant) \
    {                       \
    }
#else
#define GPHASH_RAN_ROW(number, name, what, role, family, does, variant) [HD_OP_##number] = "gphash." #name "." variant,
#define GPHASH_RAN(variant)                      \
    {                                            \
        HD_OP_ROWS_WITH(GPHASH_RAN_ROW, variant) \
    }
#endif

static const hd_variant gphash_variant_warp = {
    .name = "warp",
    .row = {
        { GPU_ITEMS, gphash_kernel_warp_items, 32, GPU_ITEMS_THREADS, gphash_fits_one, HD_ORDER,
          HD_WHAT("items: a lane for each slot of a key, claims by compare-and-swap") },
        { GPU_SWEEP, gphash_kernel_warp_sweep, 1, 128, gphash_fits_one, HD_EXACT, HD_WHAT("sweep: a thread per slot") },
        { GPU_EXPORT, gphash_kernel_warp_export, 1, 128, gphash_fits_one, HD_EXACT,
          HD_WHAT("export: a warp per part of the range counts, and then writes") },
        { GPU_CLEAR, gphash_kernel_warp_clear, 1, 128, gphash_fits_one, HD_EXACT,
          HD_WHAT("clear: a thread per slot") },
    },
    .ran = GPHASH_RAN("warp"),
    .ran_mixed = "gphash.mixed.warp",
};

#endif
