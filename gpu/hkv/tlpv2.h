/* SPDX-License-Identifier: Apache-2.0
 *
 * tlpv2 - a thread per key to find, eight per value to copy (HKV section 4.3). Probing is tlpv1's. Then the group turns
 * to one member's value after another: eight lanes read 128 consecutive bytes where one lane would have read 16 bytes
 * of eight lines, through two buffers in shared memory, so that the next piece is fetched while this one is stored.
 *
 * A lane waits for its group while it holds a lock. So no lane of a group may wait for a lock: it tries once a round.
 * The lanes that got their locks are served in that round, and drop them at its end.
 */
#ifndef HKV_TLPV2_H
#define HKV_TLPV2_H

#include "gpu/hkv/kernels.h"

enum { HKV_TLPV2_THREADS = 128 };

SIMT_FN void hkv_tlpv2(const hkv_args *a, uint32_t family)
{
    SIMT_SHARED(uint8_t, buffers, HKV_TLPV2_THREADS * HKV_BUFFER);
    uint8_t *buffer = buffers + simt_thread() * HKV_BUFFER;
    simt_tile alone = simt_tile_of(1), g = simt_tile_of(HKV_GROUP);
    uint64_t step = (uint64_t)simt_blocks() * simt_threads();
    for (uint64_t w = a->first + (uint64_t)simt_block() * simt_threads() + (simt_thread() & ~31u); w < a->last;
         w += step) {
        hkv_one o = hkv_begin(a, w + simt_lane());
        bool todo = o.outcome != HKV_NO_ITEM;
        while (simt_any(g, todo)) {
            bool got = todo && hkv_try(alone, a, family, &o);
            simt_join();
            hkv_group_move(g, a, &o, got, buffer);
            if (got) hkv_end(alone, a, &o);
            todo = todo && !got;
            if (todo) simt_backoff(64);
        }
        simt_join();
        if (hkv_holder(a)) hkv_pins_count(a, o.pins);
        hkv_tally_lanes(a, o.outcome);
    }
}

SIMT_FN void hkv_tlpv2_lookup(const hkv_args *a) { hkv_tlpv2(a, HKV_LOOKUP); }
SIMT_FN void hkv_tlpv2_update(const hkv_args *a) { hkv_tlpv2(a, HKV_UPDATE); }
SIMT_FN void hkv_tlpv2_upsert(const hkv_args *a) { hkv_tlpv2(a, HKV_UPSERT); }
SIMT_FN void hkv_tlpv2_export(const hkv_args *a)
{
    SIMT_SHARED(uint8_t, buffers, HKV_TLPV2_THREADS * HKV_BUFFER);
    hkv_list(a, HKV_BY_GROUP, buffers + simt_thread() * HKV_BUFFER);
}

SIMT_ENTRY(hkv_kernel_tlpv2_lookup, hkv_args, hkv_tlpv2_lookup)
SIMT_ENTRY(hkv_kernel_tlpv2_update, hkv_args, hkv_tlpv2_update)
SIMT_ENTRY(hkv_kernel_tlpv2_upsert, hkv_args, hkv_tlpv2_upsert)
SIMT_ENTRY(hkv_kernel_tlpv2_export, hkv_args, hkv_tlpv2_export)

static const hd_variant hkv_variant_tlpv2 = {
    .name = "tlpv2",
    .row = {
        { HKV_LOOKUP, hkv_kernel_tlpv2_lookup, 1, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("lookup: a thread per key finds, eight copy the value through two buffers") },
        { HKV_UPDATE, hkv_kernel_tlpv2_update, 1, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("update: a thread per key owns the entry, eight copy the value") },
        { HKV_UPSERT, hkv_kernel_tlpv2_upsert, 1, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("upsert: a thread per key probes, eight copy each value through two buffers") },
        { HKV_EXPORT, hkv_kernel_tlpv2_export, 1, 128, hkv_fits_all, HD_EXACT,
          HD_WHAT("export: a warp puts 512 slots in order, eight threads copy each value") },
    },
    .ran = HKV_RAN("tlpv2"),
};

#endif

HKV_LISTED(hkv_variant_tlpv2)
