/* SPDX-License-Identifier: Apache-2.0
 *
 * stash.h - the last step of an insert (section IV-A, step 4): a slot of the stash, the ring of buckets behind all
 * others, while it has fewer entries than its limit.
 */
#ifndef HIVE_STASH_H
#define HIVE_STASH_H

#include "gpu/hive/displace.h"

/* Counts an entry before it is stored, so an item that sees a count of 0 need not search the stash. */
SIMT_FN bool hive_count_in(simt_tile t, const hive_args *a)
{
    bool room = true;
    if (t.rank == 0) {
        room = simt_add_u64(a->stashed, 1, SIMT_ACQUIRE) < hive_stash_limit(&a->v);
        if (!room) simt_add_u64(a->stashed, UINT64_MAX, SIMT_RELEASE);
    }
    simt_join();
    return simt_shfl_u32(t, room, 0);
}

SIMT_FN void hive_count_out(simt_tile t, const hive_args *a)
{
    uint64_t stashed = t.rank == 0 ? simt_add_u64(a->stashed, UINT64_MAX, SIMT_RELEASE) : 1;
    HD_ASSERT(stashed > 0, "HIVE-6: the stash has more entries than are counted");
    simt_join();
}

SIMT_FN hive_made hive_to_stash(simt_tile t, const hive_args *a, hive_one *o)
{
    const hive_view *v = &a->v;
    uint64_t b = hive_ring(v, o->h);
    if (!hive_count_in(t, a)) return HIVE_NO_WAY;
    SIMT_ROLLED
    for (uint64_t k = 0; k < v->stash_buckets; k++, b = hive_ring_next(v, b)) {
        uint64_t w[HIVE_LANE_WORDS];
        hive_load_share(t, v, b, w);
        uint32_t n = hive_share(t, v), free = hive_free_word(v, w, n), who = simt_ballot(t, free < n);
        if (!who) continue;
        uint64_t e = simt_shfl_u64(t, hive_share_at(t, v, b) + free, simt_ffs(who) - 1);
        uint64_t free_word = simt_shfl_u64(t, hive_pick(w, free), simt_ffs(who) - 1);
        if (hive_try_slot(t, a, o, e, free_word)) return HIVE_MADE;
        break;
    }
    hive_count_out(t, a);
    return HIVE_AGAIN;
}

#endif
