/* SPDX-License-Identifier: Apache-2.0
 *
 * pipeline - a warp per key, and three keys of it on their way at once (HKV section 4.3). What one key needs is fetched
 * into shared memory while another is worked on:
 *
 *     after   1  bucket lock tried, digests sent for
 *     next    2  digests compared, 16 a lane; bucket full and key absent: scores sent for
 *     now     3  least score by a reduction over the warp, slot taken    4  value copied by all lanes, lock let go
 *
 * Fetched digests and scores are only worth what the lock is that was held all the while; without the lock nothing is
 * fetched. A warp waits for a lock only when it holds none: if the key that is due has none, the later ones give theirs
 * back and lose what they fetched. Lookups and updates fetch digests without locks, because no item changes digests
 * meanwhile.
 *
 * Each lane compares what it fetched itself. Needs buckets of a multiple of 16 slots, at most 256: warp.h runs the
 * others.
 */
#ifndef HKV_PIPELINE_H
#define HKV_PIPELINE_H

#include "gpu/hkv/kernels.h"

enum {
    HKV_PIPELINE_THREADS = 64,
    HKV_PIPELINE_WARPS = HKV_PIPELINE_THREADS / 32,
    HKV_PIPELINE_SLOTS = 256,
    HKV_PIPELINE_SCORES = 2 * 2 * HKV_PIPELINE_SLOTS /* words for two buckets of pairs */
};

typedef struct hkv_stage {
    hkv_one o;
    bool digests, scores; /* were sent for */
} hkv_stage;

SIMT_FN bool hkv_needs_buckets(uint32_t family) { return family == HKV_UPSERT || family == HKV_ERASE; }

/* Stage 1. */
SIMT_FN hkv_stage hkv_stage_begin(simt_tile t, const hkv_args *a, uint32_t family, uint64_t i, uint8_t *digests)
{
    hkv_stage s;
    s.o = hkv_begin(a, i);
    s.digests = s.scores = false;
    if (s.o.outcome != HKV_UNDECIDED) return s;
    if (hkv_needs_buckets(family) && !hkv_try_buckets(t, a, &s.o)) return s;
    s.digests = true;
    if (16 * t.rank < a->v.slots) {
        simt_copy16_async(digests + 16 * t.rank, hkv_digests_of(a, s.o.first) + 16 * t.rank);
        if (a->v.dual)
            simt_copy16_async(digests + HKV_PIPELINE_SLOTS + 16 * t.rank, hkv_digests_of(a, s.o.second) + 16 * t.rank);
    }
    return s;
}

SIMT_FN void hkv_scores_fetch(simt_tile t, const hkv_args *a, uint64_t b, uint64_t *scores)
{
    const uint64_t *from = hkv_score_at(&a->v, hkv_entry(&a->v, b, 0)) - (a->v.step - 1); /* of pairs, the keys too */
    for (uint32_t w = 2 * t.rank; w < a->v.slots * a->v.step; w += 2 * t.size) simt_copy16_async(scores + w, from + w);
}

/* Stage 2: what stage 1 sent for is here. */
SIMT_FN void hkv_stage_look(simt_tile t, const hkv_args *a, uint32_t family, hkv_stage *s, const uint8_t *digests,
                            uint64_t *scores)
{
    if (!s->digests) return;
    hkv_search(t, a, family, &s->o, digests, digests + HKV_PIPELINE_SLOTS);
    if (family != HKV_UPSERT || s->o.entry != HKV_NONE || s->o.at_first.empties || s->o.at_second.empties) return;
    if (!hkv_rule_of(a, s->o.i).insert) return;
    s->scores = true;
    hkv_scores_fetch(t, a, s->o.first, scores);
    if (a->v.dual) hkv_scores_fetch(t, a, s->o.second, scores + HKV_PIPELINE_SCORES / 2);
}

/* What a stage holds and fetched is given up. */
SIMT_FN void hkv_stage_drop(simt_tile t, const hkv_args *a, hkv_stage *s)
{
    hkv_let_go(t, a, &s->o);
    s->o.looked = s->digests = s->scores = false;
}

SIMT_FN void hkv_pipeline(const hkv_args *a, uint32_t family)
{
    SIMT_SHARED(uint8_t, all_digests, HKV_PIPELINE_WARPS * 2 * HKV_PIPELINE_SLOTS);
    SIMT_SHARED(uint64_t, all_scores, HKV_PIPELINE_WARPS * 2 * HKV_PIPELINE_SCORES);
    simt_tile t = simt_tile_of(32);
    uint32_t warp = simt_thread() / 32, turn = 0;
    uint8_t *digests = all_digests + warp * 2 * HKV_PIPELINE_SLOTS;
    uint64_t *scores = all_scores + warp * 2 * HKV_PIPELINE_SCORES, mine = 0, i = a->first + hkv_warp_number();
    hkv_stage now, next = hkv_stage_begin(t, a, family, i, digests);
    simt_copy_commit();
    now.o = hkv_begin(a, a->last); /* none */
    now.digests = now.scores = false;
    while (now.o.outcome != HKV_NO_ITEM || next.o.outcome != HKV_NO_ITEM) {
        uint64_t *next_scores = scores + turn % 2 * HKV_PIPELINE_SCORES,
                 *now_scores = scores + (turn + 1) % 2 * HKV_PIPELINE_SCORES + (a->v.step - 1);
        simt_copy_wait(0);
        hkv_stage_look(t, a, family, &next, digests, next_scores);
        hkv_stage after = hkv_stage_begin(t, a, family, i += hkv_warps(), digests);
        simt_copy_commit();
        if (hkv_needs_buckets(family) && now.o.outcome == HKV_UNDECIDED && now.o.holds == HKV_HOLDS_NOTHING) {
            simt_copy_wait(0); /* nothing is read any more of what is let go */
            hkv_stage_drop(t, a, &next);
            hkv_stage_drop(t, a, &after);
        }
        while (!hkv_try_with(t, a, family, &now.o, now.scores ? now_scores : (const uint64_t *)0,
                             now.scores ? now_scores + HKV_PIPELINE_SCORES / 2 : (const uint64_t *)0))
            simt_backoff(64);
        hkv_move(t, a, &now.o, false);
        hkv_end(t, a, &now.o);
        if (hkv_holder(a)) hkv_pins_count(a, t.rank == 0 && now.o.pins);
        mine += now.o.outcome == t.rank;
        now = next;
        next = after;
        turn++;
    }
    if (mine && t.rank < HD_OUTCOME_COUNT) simt_add_u64(a->tally + t.rank, mine, SIMT_RELAXED);
}

SIMT_FN void hkv_pipeline_lookup(const hkv_args *a) { hkv_pipeline(a, HKV_LOOKUP); }
SIMT_FN void hkv_pipeline_update(const hkv_args *a) { hkv_pipeline(a, HKV_UPDATE); }
SIMT_FN void hkv_pipeline_upsert(const hkv_args *a) { hkv_pipeline(a, HKV_UPSERT); }
SIMT_FN void hkv_pipeline_erase(const hkv_args *a) { hkv_pipeline(a, HKV_ERASE); }

static inline const char *hkv_fits_pipeline(const hd_info *info)
{
    if (info->slots % 16) return "it fetches digests sixteen at a time, and slots is no multiple of 16";
    return info->slots > 256 ? "it has room for the scores of 256 slots" : NULL;
}

SIMT_ENTRY(hkv_kernel_pipeline_lookup, hkv_args, hkv_pipeline_lookup)
SIMT_ENTRY(hkv_kernel_pipeline_update, hkv_args, hkv_pipeline_update)
SIMT_ENTRY(hkv_kernel_pipeline_upsert, hkv_args, hkv_pipeline_upsert)
SIMT_ENTRY(hkv_kernel_pipeline_erase, hkv_args, hkv_pipeline_erase)

static const hd_variant hkv_variant_pipeline = {
    .name = "pipeline",
    .row = {
        { HKV_LOOKUP, hkv_kernel_pipeline_lookup, 32, 64, hkv_fits_pipeline, HD_ORDER,
          HD_WHAT("lookup: a warp per key, digests of the next fetched meanwhile") },
        { HKV_UPDATE, hkv_kernel_pipeline_update, 32, 64, hkv_fits_pipeline, HD_ORDER,
          HD_WHAT("update: a warp per key, digests of the next fetched meanwhile") },
        { HKV_UPSERT, hkv_kernel_pipeline_upsert, 32, 64, hkv_fits_pipeline, HD_ORDER,
          HD_WHAT("upsert: a warp per key, four stages of three keys at a time") },
        { HKV_ERASE, hkv_kernel_pipeline_erase, 32, 64, hkv_fits_pipeline, HD_ORDER,
          HD_WHAT("erase: a warp per key, locks and digests of the next fetched meanwhile") },
    },
    .ran = HKV_RAN("pipeline"),
};

#endif

HKV_LISTED(hkv_variant_pipeline)
