/* SPDX-License-Identifier: Apache-2.0
 *
 * epoch_lfu - lfu within an epoch; any entry of an earlier epoch leaves first. Counts are carried into
 * the new epoch by a hit, and saturate at 2^32 - 1. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t epoch_lfu_on_insert(hd_score_in in) { return hd_epoch_score(in.epoch, hd_saturate32(in.given)); }
HD_FN uint64_t epoch_lfu_on_hit(uint64_t old, hd_score_in in)
{
    return hd_epoch_score(in.epoch, hd_saturate32(hd_saturating_add((uint32_t)old, in.given)));
}
HD_FN uint64_t epoch_lfu_admission(hd_score_in in) { return epoch_lfu_on_insert(in); }
#endif
HD_POLICY(epoch_lfu, "lfu within an epoch, older epochs leave first", HD_SCORES_USED | HD_SCORE_ADMITS | HD_HITS_ADD)
