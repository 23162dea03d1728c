/* SPDX-License-Identifier: Apache-2.0
 *
 * phase - a near index: items run as in `warp`, in a copy of the slots; launches bring what a window has changed to the
 * slots that last (bring.h). A window has two to four launches in place of four fences for each item, and a search
 * reads no far slot.
 */
#ifndef GPHASH_PHASE_H
#define GPHASH_PHASE_H

#include "gpu/gphash/warp.h"

SIMT_ENTRY(gphash_kernel_phase_items, gphash_args, gphash_items_near)

static inline const char *gphash_fits_near(const hd_info *info)
{
    return info->gphash.index == HD_INDEX_NEAR ? (const char *)NULL : "phase needs a table with a near index";
}

static const hd_variant gphash_variant_phase = {
    .name = "phase",
    .row = {
        { GPU_ITEMS, gphash_kernel_phase_items, 32, GPU_ITEMS_THREADS, gphash_fits_near, HD_ORDER,
          HD_WHAT("items: as `warp` in the near index; then launches bring what has changed to the far slots") },
        { GPU_SWEEP, gphash_kernel_warp_sweep, 1, 128, gphash_fits_near, HD_EXACT,
          HD_WHAT("sweep: a thread per near slot") },
        { GPU_EXPORT, gphash_kernel_warp_export, 1, 128, gphash_fits_near, HD_EXACT,
          HD_WHAT("export: a warp per part of the range counts, and then writes") },
        { GPU_CLEAR, gphash_kernel_warp_clear, 1, 128, gphash_fits_near, HD_EXACT,
          HD_WHAT("clear: a thread per slot") },
    },
    .ran = GPHASH_RAN("phase"),
    .ran_mixed = "gphash.mixed.phase",
};

#endif
