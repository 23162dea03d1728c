/* SPDX-License-Identifier: Apache-2.0
 *
 * segments - the only variant: its kernels, and those that its batches share. Readers and updaters take a thread per
 * key; batches that insert and erase are sorted, and a block takes a segment (args.h).
 */
#ifndef SL_SEGMENTS_H
#define SL_SEGMENTS_H

#include "gpu/sl/lines.h"
#include "gpu/sl/variant.h"
#define HD_KERNEL_TEXTS
#include "gpu/sl/kernels.inc"
#undef HD_KERNEL_TEXTS

SIMT_ENTRY(sl_kernel_look, sl_args, sl_look)
SIMT_ENTRY(sl_kernel_range, sl_args, sl_range)
SIMT_ENTRY(sl_kernel_ends, sl_args, sl_ends)
SIMT_ENTRY(sl_kernel_update, sl_args, sl_update)
SIMT_ENTRY(sl_kernel_apply, sl_args, sl_apply)
SIMT_ENTRY(sl_kernel_sweep, sl_args, sl_sweep)
SIMT_ENTRY(sl_kernel_export, sl_args, sl_list)
SIMT_ENTRY(sl_kernel_clear, sl_args, sl_clear_homes)

/* The kernels that batches share. */
#define SL_KERNEL(number, entry, args, text) SIMT_ENTRY(entry, args, text)
#include "gpu/sl/kernels.inc"
#undef SL_KERNEL

static const hd_variant sl_variant_segments = {
    .name = "segments",
    .row = {
        { SL_LOOK, sl_kernel_look, 1, SL_THREADS, sl_fits_all, HD_ORDER,
          HD_WHAT("lookup: a thread per key, a search in the directory and one in a segment") },
        { SL_RANGE, sl_kernel_range, 1, SL_THREADS, sl_fits_all, HD_EXACT,
          HD_WHAT("range: a thread per item searches, eight lanes copy") },
        { SL_ENDS, sl_kernel_ends, 1, 32, sl_fits_all, HD_EXACT,
          HD_WHAT("min, max: one thread") },
        { SL_UPDATE, sl_kernel_update, 1, SL_THREADS, sl_fits_all, HD_ORDER,
          HD_WHAT("update: a thread per key, one store") },
        { SL_FLIP, sl_kernel_apply, 1, SL_THREADS, sl_fits_all, HD_ORDER,
          HD_WHAT("insert, erase: sorted by key, a block per segment merges, no locks") },
        { SL_SWEEP, sl_kernel_sweep, 1, SL_THREADS, sl_fits_all, HD_EXACT,
          HD_WHAT("sweep: a thread per home or place; erase_if: a warp per segment") },
        { SL_EXPORT, sl_kernel_export, 1, SL_THREADS, sl_fits_all, HD_EXACT,
          HD_WHAT("export: a warp per part of the range counts, and then writes") },
        { SL_CLEAR, sl_kernel_clear, 1, SL_THREADS, sl_fits_all, HD_EXACT,
          HD_WHAT("clear: a thread per home") },
    },
    .ran = SL_RAN("segments"),
};

#endif
