/* SPDX-License-Identifier: Apache-2.0
 *
 * probe - a tile of lanes per key, which reads a bucket of the key's way at a time: by 4 lanes, four words each; 8
 * lanes, two; or 16 lanes, one, the paper's choice. 32 lanes read two buckets at once. Near and far segments are read
 * and changed in place.
 */
#ifndef OVS_PROBE_H
#define OVS_PROBE_H

#include "gpu/ovs/kernels.h"

SIMT_FN void ovs_probe4_items(const ovs_args *a) { ovs_items(a, simt_tile_of(4)); }
SIMT_FN void ovs_probe8_items(const ovs_args *a) { ovs_items(a, simt_tile_of(8)); }
SIMT_FN void ovs_probe16_items(const ovs_args *a) { ovs_items(a, simt_tile_of(16)); }
SIMT_FN void ovs_probe32_items(const ovs_args *a) { ovs_items(a, simt_tile_of(32)); }

SIMT_ENTRY(ovs_kernel_probe4_items, ovs_args, ovs_probe4_items)
SIMT_ENTRY(ovs_kernel_probe8_items, ovs_args, ovs_probe8_items)
SIMT_ENTRY(ovs_kernel_probe16_items, ovs_args, ovs_probe16_items)
SIMT_ENTRY(ovs_kernel_probe32_items, ovs_args, ovs_probe32_items)
SIMT_ENTRY(ovs_kernel_probe16_sweep, ovs_args, ovs_sweep)
SIMT_ENTRY(ovs_kernel_probe16_export, ovs_args, ovs_list)
SIMT_ENTRY(ovs_kernel_probe16_clear, ovs_args, ovs_clear_words)

static const hd_variant ovs_variant_probe16 = {
    .name = "probe16",
    .row = {
        { GPU_ITEMS, ovs_kernel_probe16_items, 16, GPU_ITEMS_THREADS, ovs_fits_words, HD_ORDER,
          HD_WHAT("items: sixteen lanes per key, a lane per slot of a bucket") },
        { GPU_SWEEP, ovs_kernel_probe16_sweep, 1, 128, ovs_fits_all, HD_EXACT, HD_WHAT("sweep: a thread per slot") },
        { GPU_EXPORT, ovs_kernel_probe16_export, 1, 128, ovs_fits_all, HD_EXACT,
          HD_WHAT("export: a warp per part of the range counts, and then writes") },
        { GPU_CLEAR, ovs_kernel_probe16_clear, 1, 128, ovs_fits_all, HD_EXACT, HD_WHAT("clear: a thread per slot") },
    },
    .ran = OVS_RAN("probe16"),
    .ran_mixed = "ovs.mixed.probe16",
};

static const hd_variant ovs_variant_probe4 = {
    .name = "probe4",
    .row = { { GPU_ITEMS, ovs_kernel_probe4_items, 4, GPU_ITEMS_THREADS, ovs_fits_words, HD_ORDER,
               HD_WHAT("items: four lanes per key, four slots of a bucket each") } },
    .ran = OVS_RAN("probe4"),
    .ran_mixed = "ovs.mixed.probe4",
};

static const hd_variant ovs_variant_probe8 = {
    .name = "probe8",
    .row = { { GPU_ITEMS, ovs_kernel_probe8_items, 8, GPU_ITEMS_THREADS, ovs_fits_words, HD_ORDER,
               HD_WHAT("items: eight lanes per key, two slots of a bucket each") } },
    .ran = OVS_RAN("probe8"),
    .ran_mixed = "ovs.mixed.probe8",
};

static const hd_variant ovs_variant_probe32 = {
    .name = "probe32",
    .row = { { GPU_ITEMS, ovs_kernel_probe32_items, 32, GPU_ITEMS_THREADS, ovs_fits_words, HD_ORDER,
               HD_WHAT("items: a warp per key, two buckets at once") } },
    .ran = OVS_RAN("probe32"),
    .ran_mixed = "ovs.mixed.probe32",
};

#endif

OVS_LISTED(ovs_variant_probe16)
OVS_LISTED(ovs_variant_probe4)
OVS_LISTED(ovs_variant_probe8)
OVS_LISTED(ovs_variant_probe32)
