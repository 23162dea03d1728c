/* SPDX-License-Identifier: Apache-2.0
 *
 * lru - the score is the time of the last use: the entry that was idle longest leaves. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t lru_on_insert(hd_score_in in) { return in.now; }
HD_FN uint64_t lru_on_hit(uint64_t old, hd_score_in in)
{
    (void)old;
    return in.now;
}
HD_FN uint64_t lru_admission(hd_score_in in) { return in.now; }
#endif
HD_POLICY(lru, "least recently used: the score is the time of the last use",
          HD_MONOTONE | HD_ORDER_FREE | HD_SCORE_ADMITS | HD_SCORE_IS_TIME)
