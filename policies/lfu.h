/* SPDX-License-Identifier: Apache-2.0
 *
 * lfu - the score is the sum of the given counts: the entry that was used least is evicted. A new key is never refused;
 * otherwise no key could enter a table of entries that were used twice. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t lfu_on_insert(hd_score_in in) { return in.given; }
HD_FN uint64_t lfu_on_hit(uint64_t old, hd_score_in in) { return hd_saturating_add(old, in.given); }
HD_FN uint64_t lfu_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
#endif
HD_POLICY(lfu, "least frequently used: the score is the sum of the counts given (1 each by default)",
          HD_MONOTONE | HD_SCORES_USED | HD_HITS_ADD)
