/* SPDX-License-Identifier: Apache-2.0
 *
 * warp - a warp per key and one key after another: what `pipeline` is without its overlap. Any shape; sixteen digests a
 * lane, so a bucket of up to 512 slots is seen at once. Scans read digests sixteen at a time and nothing of what is
 * empty.
 */
#ifndef HKV_WARP_H
#define HKV_WARP_H

#include "gpu/hkv/kernels.h"

SIMT_FN void hkv_warp(const hkv_args *a, uint32_t family)
{
    simt_tile t = simt_tile_of(32);
    uint64_t mine = 0;
    for (uint64_t i = a->first + hkv_warp_number(); i < a->last; i += hkv_warps()) {
        hkv_one o = hkv_begin(a, i);
        while (!hkv_try(t, a, family, &o)) simt_backoff(64);
        hkv_move(t, a, &o, false);
        hkv_end(t, a, &o);
        if (hkv_holder(a)) hkv_pins_count(a, t.rank == 0 && o.pins);
        mine += o.outcome == t.rank;
    }
    if (mine && t.rank < HD_OUTCOME_COUNT) simt_add_u64(a->tally + t.rank, mine, SIMT_RELAXED);
}

SIMT_FN void hkv_warp_lookup(const hkv_args *a) { hkv_warp(a, HKV_LOOKUP); }
SIMT_FN void hkv_warp_update(const hkv_args *a) { hkv_warp(a, HKV_UPDATE); }
SIMT_FN void hkv_warp_upsert(const hkv_args *a) { hkv_warp(a, HKV_UPSERT); }
SIMT_FN void hkv_warp_pin(const hkv_args *a) { hkv_warp(a, HKV_PIN); }
SIMT_FN void hkv_warp_erase(const hkv_args *a) { hkv_warp(a, HKV_ERASE); }
SIMT_FN void hkv_warp_sweep(const hkv_args *a) { hkv_sweep_stretches(a); }
SIMT_FN void hkv_warp_export(const hkv_args *a) { hkv_list(a, HKV_BY_WARP, (uint8_t *)0); }
SIMT_FN void hkv_warp_clear(const hkv_args *a) { hkv_clear_planes(a); }
SIMT_FN void hkv_warp_promote(const hkv_args *a) { hkv_promote_slots(a, simt_tile_of(32)); }

SIMT_ENTRY(hkv_kernel_warp_lookup, hkv_args, hkv_warp_lookup)
SIMT_ENTRY(hkv_kernel_warp_update, hkv_args, hkv_warp_update)
SIMT_ENTRY(hkv_kernel_warp_upsert, hkv_args, hkv_warp_upsert)
SIMT_ENTRY(hkv_kernel_warp_pin, hkv_args, hkv_warp_pin)
SIMT_ENTRY(hkv_kernel_warp_erase, hkv_args, hkv_warp_erase)
SIMT_ENTRY(hkv_kernel_warp_sweep, hkv_args, hkv_warp_sweep)
SIMT_ENTRY(hkv_kernel_warp_export, hkv_args, hkv_warp_export)
SIMT_ENTRY(hkv_kernel_warp_clear, hkv_args, hkv_warp_clear)
SIMT_ENTRY(hkv_kernel_warp_promote, hkv_args, hkv_warp_promote)

static const hd_variant hkv_variant_warp = {
    .name = "warp",
    .row = {
        { HKV_LOOKUP, hkv_kernel_warp_lookup, 32, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("lookup: a warp per key, one after another") },
        { HKV_UPDATE, hkv_kernel_warp_update, 32, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("update: a warp per key owns the entry while it changes it") },
        { HKV_UPSERT, hkv_kernel_warp_upsert, 32, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("upsert: a warp per key, one after another under its bucket's lock") },
        { HKV_PIN, hkv_kernel_warp_pin, 32, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("pin: a warp per key finds the entry and exchanges its holder") },
        { HKV_ERASE, hkv_kernel_warp_erase, 32, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("erase: a warp per key under its bucket's lock") },
        { HKV_SWEEP, hkv_kernel_warp_sweep, 1, 128, hkv_fits_all, HD_EXACT,
          HD_WHAT("sweep: a warp reads 512 digests at once, then asks 32 slots at a time") },
        { HKV_EXPORT, hkv_kernel_warp_export, 1, 128, hkv_fits_all, HD_EXACT,
          HD_WHAT("export: a warp puts 512 slots in order, and each lane moves sixteen bytes after sixteen") },
        { HKV_CLEAR, hkv_kernel_warp_clear, 1, 128, hkv_fits_all, HD_EXACT,
          HD_WHAT("clear: plane after plane in 16-byte stores") },
        { HKV_PROMOTE, hkv_kernel_warp_promote, 1, 128, hkv_fits_all, HD_EXACT,
          HD_WHAT("promote: a warp per bucket, the worst near entry and the best far one at a time") },
    },
    .ran = HKV_RAN("warp"),
};

#endif

HKV_LISTED(hkv_variant_warp)
