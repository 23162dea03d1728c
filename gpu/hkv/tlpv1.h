/* SPDX-License-Identifier: Apache-2.0
 *
 * tlpv1 - a thread per key (HKV section 4.3). A bucket's 128 digests are read in eight 16-byte loads and compared four
 * at a time; a key is read where its digest matches, so a miss costs the digest line and, once in two misses, one key.
 * The thread copies the value itself and stores it past the caches. As many keys are on their way as there are threads,
 * which is what small values want; a large one is copied by a single thread.
 *
 * No buffers, no shape that it cannot run.
 */
#ifndef HKV_TLPV1_H
#define HKV_TLPV1_H

#include "gpu/hkv/kernels.h"

SIMT_FN void hkv_tlpv1(const hkv_args *a, uint32_t family)
{
    simt_tile t = simt_tile_of(1);
    uint64_t step = (uint64_t)simt_blocks() * simt_threads();
    for (uint64_t w = a->first + (uint64_t)simt_block() * simt_threads() + (simt_thread() & ~31u); w < a->last;
         w += step) {
        hkv_one o = hkv_begin(a, w + simt_lane());
        while (!hkv_try(t, a, family, &o)) simt_backoff(64);
        hkv_move(t, a, &o, true);
        hkv_end(t, a, &o);
        simt_join();
        if (hkv_holder(a)) hkv_pins_count(a, o.pins);
        hkv_tally_lanes(a, o.outcome);
    }
}

SIMT_FN void hkv_tlpv1_lookup(const hkv_args *a) { hkv_tlpv1(a, HKV_LOOKUP); }
SIMT_FN void hkv_tlpv1_update(const hkv_args *a) { hkv_tlpv1(a, HKV_UPDATE); }
SIMT_FN void hkv_tlpv1_upsert(const hkv_args *a) { hkv_tlpv1(a, HKV_UPSERT); }
SIMT_FN void hkv_tlpv1_pin(const hkv_args *a) { hkv_tlpv1(a, HKV_PIN); }
SIMT_FN void hkv_tlpv1_erase(const hkv_args *a) { hkv_tlpv1(a, HKV_ERASE); }
SIMT_FN void hkv_tlpv1_sweep(const hkv_args *a) { hkv_sweep_slots(a); }
SIMT_FN void hkv_tlpv1_export(const hkv_args *a) { hkv_list(a, HKV_BY_LANE, (uint8_t *)0); }
SIMT_FN void hkv_tlpv1_clear(const hkv_args *a) { hkv_clear_slots(a); }
SIMT_FN void hkv_tlpv1_promote(const hkv_args *a) { hkv_promote_slots(a, simt_tile_of(1)); }

SIMT_ENTRY(hkv_kernel_tlpv1_lookup, hkv_args, hkv_tlpv1_lookup)
SIMT_ENTRY(hkv_kernel_tlpv1_update, hkv_args, hkv_tlpv1_update)
SIMT_ENTRY(hkv_kernel_tlpv1_upsert, hkv_args, hkv_tlpv1_upsert)
SIMT_ENTRY(hkv_kernel_tlpv1_pin, hkv_args, hkv_tlpv1_pin)
SIMT_ENTRY(hkv_kernel_tlpv1_erase, hkv_args, hkv_tlpv1_erase)
SIMT_ENTRY(hkv_kernel_tlpv1_sweep, hkv_args, hkv_tlpv1_sweep)
SIMT_ENTRY(hkv_kernel_tlpv1_export, hkv_args, hkv_tlpv1_export)
SIMT_ENTRY(hkv_kernel_tlpv1_clear, hkv_args, hkv_tlpv1_clear)
SIMT_ENTRY(hkv_kernel_tlpv1_promote, hkv_args, hkv_tlpv1_promote)

static const hd_variant hkv_variant_tlpv1 = {
    .name = "tlpv1",
    .row = {
        { HKV_LOOKUP, hkv_kernel_tlpv1_lookup, 1, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("lookup: a thread per key, digests compared four at a time") },
        { HKV_UPDATE, hkv_kernel_tlpv1_update, 1, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("update: a thread per key owns the entry while it changes it") },
        { HKV_UPSERT, hkv_kernel_tlpv1_upsert, 1, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("upsert: a thread per key under its bucket's lock, streaming stores") },
        { HKV_PIN, hkv_kernel_tlpv1_pin, 1, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("pin: a thread per key finds the entry and exchanges its holder") },
        { HKV_ERASE, hkv_kernel_tlpv1_erase, 1, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("erase: a thread per key under its bucket's lock") },
        { HKV_SWEEP, hkv_kernel_tlpv1_sweep, 1, 128, hkv_fits_all, HD_EXACT,
          HD_WHAT("sweep: a thread per slot") },
        { HKV_EXPORT, hkv_kernel_tlpv1_export, 1, 128, hkv_fits_all, HD_EXACT,
          HD_WHAT("export: a warp puts 512 slots in order, each thread copies values of its own") },
        { HKV_CLEAR, hkv_kernel_tlpv1_clear, 1, 128, hkv_fits_all, HD_EXACT,
          HD_WHAT("clear: a thread per slot") },
        { HKV_PROMOTE, hkv_kernel_tlpv1_promote, 1, 128, hkv_fits_all, HD_EXACT,
          HD_WHAT("promote: a thread per bucket, the worst near entry and the best far one at a time") },
    },
    .ran = HKV_RAN("tlpv1"),
};

#endif

HKV_LISTED(hkv_variant_tlpv1)
