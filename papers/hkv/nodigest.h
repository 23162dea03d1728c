/* SPDX-License-Identifier: Apache-2.0
 *
 * nodigest - tlpv1's lookup without digests, for one experiment of HierarchicalKV (section 5.4, 3a): what are they
 * worth? A thread per key reads the keys of its bucket until it meets its own: 1,024 bytes for a miss in layout planes,
 * where a line of digests is 128.
 *
 * Not one of the table's variants: `./configure CPPFLAGS=-DHKV_MORE=papers/hkv/nodigest.h` makes a build that has it.
 */
#ifndef HKV_NODIGEST_H
#define HKV_NODIGEST_H

#include "gpu/hkv/kernels.h"

/* Eight keys are on their way at a time. An empty slot ends nothing: erase leaves them anywhere. */
SIMT_FN uint64_t hkv_nodigest_look(const hkv_view *v, uint64_t b, uint64_t key)
{
    const uint64_t *keys = hkv_key_at(v, hkv_entry(v, b, 0));
    for (uint32_t s = 0; s < v->slots; s += 8) {
        uint32_t found = v->slots;
        SIMT_UNROLL
        for (uint32_t k = 0; k < 8; k++)
            if (s + k < v->slots && simt_ld_u64(keys + (s + k) * v->step) == key) found = s + k;
        if (found < v->slots) return hkv_entry(v, b, found);
    }
    return HKV_NONE;
}

SIMT_FN void hkv_nodigest_lookup(const hkv_args *a)
{
    simt_tile t = simt_tile_of(1);
    uint64_t step = (uint64_t)simt_blocks() * simt_threads();
    for (uint64_t w = a->first + (uint64_t)simt_block() * simt_threads() + (simt_thread() & ~31u); w < a->last;
         w += step) {
        hkv_one o = hkv_begin(a, w + simt_lane());
        if (o.outcome == HKV_UNDECIDED) {
            o.looked = true;
            o.entry = hkv_nodigest_look(&a->v, o.first, o.key);
            if (o.entry == HKV_NONE && a->v.dual) o.entry = hkv_nodigest_look(&a->v, o.second, o.key);
        }
        simt_join();
        hkv_try(t, a, HKV_LOOKUP, &o);
        hkv_move(t, a, &o, true);
        hkv_end(t, a, &o);
        simt_join();
        hkv_tally_lanes(a, o.outcome);
    }
}

SIMT_ENTRY(hkv_kernel_nodigest_lookup, hkv_args, hkv_nodigest_lookup)

static const hd_variant hkv_variant_nodigest = {
    .name = "nodigest",
    .row = { { HKV_LOOKUP, hkv_kernel_nodigest_lookup, 1, 128, hkv_fits_all, HD_ORDER,
               HD_WHAT("lookup: a thread per key, every key of the bucket compared") } },
    .ran = HKV_RAN("nodigest"),
};

#endif

HKV_LISTED(hkv_variant_nodigest)
