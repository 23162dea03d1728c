/* SPDX-License-Identifier: Apache-2.0 */
/* NAME - a kernel variant of design hkv: four lanes per key, which look at keys alone, and not at digests.
 *
 *     heddle --with FILE run --judge hkv.mix.NAME policy=lru buckets=8 slots=16 batch=100x200
 *     heddle --with FILE sched hkv.insert_or_assign.NAME --schedules 300
 *     heddle --with FILE fuzz --kernel NAME --time 10
 *     heddle --with FILE explain hkv.find.NAME seed=2
 *     heddle --with FILE diff NAME tlpv1 --case 'hkv.find_or_insert slots=8 seed=4'
 *
 * The text is C11 and CUDA C++ at once. Memory of the table is accessed by the simt_ functions alone (doc/dialect.md).
 * The steps of an item, hkv_begin to hkv_end, are those of gpu/hkv/steps.h: replace what you want to do otherwise.
 */
#ifndef NAME_H
#define NAME_H

#include "gpu/hkv/kernels.h"

enum { NAME_LANES = 4 /* per key: 1, 2, 4, 8, 16 or 32 */, NAME_KEYS = 32 / NAME_LANES /* of a warp at a time */ };

/* The entry of `key` in bucket b; HKV_NONE: it is not there. An empty slot ends nothing: erase leaves them anywhere. */
SIMT_FN uint64_t NAME_look(simt_tile t, const hkv_view *v, uint64_t b, uint64_t key)
{
    for (uint32_t s = 0; s < v->slots; s += NAME_LANES) {
        uint32_t mine = s + t.rank;
        bool found = mine < v->slots && simt_ld_u64(hkv_key_at(v, hkv_entry(v, b, mine))) == key;
        uint32_t who = simt_ballot(t, found); /* bit r: the lane of rank r; all lanes of the tile must come here */
        if (who) return hkv_entry(v, b, s + simt_ffs(who) - 1);
    }
    return HKV_NONE;
}

/* find, contains and the like: the items change nothing and do not wait. */
SIMT_FN void NAME_lookup(const hkv_args *a)
{
    simt_tile t = simt_tile_of(NAME_LANES);
    /* All lanes of a warp run the loop equally often: an item past the last is none, and its steps do nothing. */
    for (uint64_t w = a->first + NAME_KEYS * hkv_warp_number(); w < a->last; w += NAME_KEYS * hkv_warps()) {
        hkv_one o = hkv_begin(a, w + simt_lane() / NAME_LANES);
        if (o.outcome == HKV_UNDECIDED) {
            o.looked = true; /* hkv_try does not search then */
            o.entry = NAME_look(t, &a->v, o.first, o.key);
            if (o.entry == HKV_NONE && a->v.dual) o.entry = NAME_look(t, &a->v, o.second, o.key);
        }
        simt_join();
        hkv_try(t, a, HKV_LOOKUP, &o);
        hkv_move(t, a, &o, true);
        hkv_end(t, a, &o);
        simt_join();
        hkv_tally_lanes(a, t.rank == 0 ? o.outcome : HKV_NO_ITEM);
    }
}

/* insert_or_assign and the like: an item holds the locks of its buckets from hkv_try to hkv_end. */
SIMT_FN void NAME_upsert(const hkv_args *a)
{
    simt_tile t = simt_tile_of(NAME_LANES);
    for (uint64_t w = a->first + NAME_KEYS * hkv_warp_number(); w < a->last; w += NAME_KEYS * hkv_warps()) {
        hkv_one o = hkv_begin(a, w + simt_lane() / NAME_LANES);
        while (!hkv_try(t, a, HKV_UPSERT, &o)) simt_backoff(64); /* another item has a lock: this one holds nothing */
        hkv_move(t, a, &o, true);                                /* copies the value */
        hkv_end(t, a, &o);                                       /* shows the key, and lets the locks go */
        simt_join();
        hkv_tally_lanes(a, t.rank == 0 ? o.outcome : HKV_NO_ITEM);
        if (hkv_holder(a)) hkv_pins_count(a, t.rank == 0 && o.pins); /* without it: "HKV-6: entries are pinned" */
    }
}

SIMT_ENTRY(NAME_kernel_lookup, hkv_args, NAME_lookup)
SIMT_ENTRY(NAME_kernel_upsert, hkv_args, NAME_upsert)

/* A row for each family of operations that the variant runs. The operations of others are left to the table's own
 * variants. HD_ORDER: the reference replays the items in the order of their tickets, and must allow every outcome. */
static const hd_variant NAME_variant = {
    .name = "NAME",
    .row = {
        { HKV_LOOKUP, NAME_kernel_lookup, NAME_LANES, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("lookup: four lanes per key compare keys") },
        { HKV_UPSERT, NAME_kernel_upsert, NAME_LANES, 128, hkv_fits_all, HD_ORDER,
          HD_WHAT("upsert: four lanes per key under its bucket's lock") },
    },
    .ran = HKV_RAN("NAME"),
};

#endif

/* The last line, behind the include guard: the file is read twice. */
HKV_LISTED(NAME_variant)
