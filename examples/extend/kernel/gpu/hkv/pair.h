/* SPDX-License-Identifier: Apache-2.0
 *
 * pair - two lanes per key. Memory moves in sectors of 32 bytes, and a lane reads at most 16. So one thread requests
 * every sector of digests, scores and values twice. Two adjacent lanes request it once, and a warp still has sixteen
 * keys in flight.
 */
#ifndef HKV_PAIR_H
#define HKV_PAIR_H

#include "gpu/hkv/kernels.h"

SIMT_FN void hkv_pair(const hkv_args *a, uint32_t family)
{
    simt_tile t = simt_tile_of(2);
    for (uint64_t w = a->first + 16 * hkv_warp_number(); w < a->last; w += 16 * hkv_warps()) {
        hkv_one o = hkv_begin(a, w + simt_lane() / 2);
        while (!hkv_try(t, a, family, &o)) simt_backoff(64);
        hkv_move(t, a, &o, true);
        hkv_end(t, a, &o);
        simt_join();
        hkv_tally_lanes(a, t.rank == 0 ? o.outcome : HKV_NO_ITEM);
        if (hkv_holder(a)) hkv_pins_count(a, t.rank == 0 && o.pins);
    }
}

SIMT_FN void hkv_pair_lookup(const hkv_args *a) { hkv_pair(a, HKV_LOOKUP); }
SIMT_FN void hkv_pair_update(const hkv_args *a) { hkv_pair(a, HKV_UPDATE); }
SIMT_FN void hkv_pair_upsert(const hkv_args *a) { hkv_pair(a, HKV_UPSERT); }

SIMT_ENTRY(hkv_kernel_pair_lookup, hkv_args, hkv_pair_lookup)
SIMT_ENTRY(hkv_kernel_pair_update, hkv_args, hkv_pair_update)
SIMT_ENTRY(hkv_kernel_pair_upsert, hkv_args, hkv_pair_upsert)

static const hd_variant hkv_variant_pair = {
    .name = "pair",
    .row = {
        { HKV_LOOKUP, hkv_kernel_pair_lookup, 2, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("lookup: two lanes per key, a sector at a time") },
        { HKV_UPDATE, hkv_kernel_pair_update, 2, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("update: two lanes per key own the entry while they change it") },
        { HKV_UPSERT, hkv_kernel_pair_upsert, 2, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("upsert: two lanes per key under its bucket's lock") },
    },
    .ran = HKV_RAN("pair"),
};

#endif

HKV_LISTED(hkv_variant_pair)
