/* SPDX-License-Identifier: Apache-2.0
 *
 * spare.h - policies whose on_evict spares entries, and policies that read the least score that stays (HD_SPARES,
 * HD_READS_LEAST). An upsert of such a policy holds its buckets, so between its search and its decision no score of
 * them changes but by what it spares itself.
 *
 * On CUDA a file of its own compiles the kernels for tables with such a policy (kernels_apart.cu): all others have
 * none of this code.
 */
#ifndef HKV_SPARE_H
#define HKV_SPARE_H

#include "gpu/hkv/pins.h"
#include "gpu/hkv/rule.h"

/* Which of HD_KEEPS_ORDER the policy has. */
SIMT_FN uint32_t hkv_keeps_order(const hkv_args *a)
{
#if defined(__CUDACC__) && !HKV_APART
    (void)a;
    return 0;
#else
    return a->policy_flags & HD_KEEPS_ORDER;
#endif
}

SIMT_FN bool hkv_spares(const hkv_args *a) { return hkv_keeps_order(a) & HD_SPARES; }
SIMT_FN bool hkv_reads_least(const hkv_args *a) { return hkv_keeps_order(a) & HD_READS_LEAST; }
SIMT_FN bool hkv_counts_keys(const hkv_args *a) { return (hkv_keeps_order(a) & HD_COUNTS) != 0; }

/* The score of entry e falls to `score`, and the bound of its group with it. */
SIMT_FN void hkv_lower_bound(const hkv_view *v, uint64_t e, uint64_t score)
{
    if (!v->bound) return;
    uint64_t *bound = v->bound + e / HKV_BOUNDED;
    if (simt_ldrlx_u64(bound) > score) simt_min_u64(bound, score, SIMT_RELAXED);
}

/* Entry e with score *least is about to leave for item o, which has spared so many entries. True: the policy spares
 * the entry, and *least is its new score. The score rises, so the bound of its group stays true. */
SIMT_FN bool hkv_spare(simt_tile t, const hkv_args *a, const hkv_one *o, uint64_t e, uint64_t *least, uint32_t spared)
{
    if (!hkv_spares(a) || e == HKV_NONE || spared == hkv_spared_most(&a->v, false)) return false;
    hd_score_in in = hkv_score_in(a, o->i);
    in.spared = (uint16_t)spared;
    uint64_t score = hd_on_evict(a->v.policy, hkv_program(a), *least, in, false);
    if (score == *least) return false;
    HKV_SYNC(t); /* all lanes have read the scores */
    if (t.rank == 0) simt_strlx_u64(hkv_score_at(&a->v, e), score);
    HKV_SYNC(t);
    *least = score;
    return true;
}

/* The least score of the entries that could leave bucket b, without entry e; 0: there are none. */
SIMT_FN uint64_t hkv_least_beside(simt_tile t, const hkv_args *a, uint64_t b, uint64_t e)
{
    uint64_t least = UINT64_MAX, first = hkv_entry(&a->v, b, 0);
    bool pins = hkv_has_pins(a), any = false;
    SIMT_ROLLED
    for (uint64_t x = first + t.rank; x < first + a->v.slots; x += t.size) {
        if (x == e || simt_ldrlx_u64(hkv_key_at(&a->v, x)) == HD_KEY_EMPTY || (pins && hkv_has_holder(a, x))) continue;
        uint64_t score = simt_ldrlx_u64(hkv_score_at(&a->v, x));
        any = true;
        if (score < least) least = score;
    }
    simt_join();
    least = HKV_LEAST64(t, least);
    return HKV_ANY(t, any) ? least : 0;
}

#endif
