/* SPDX-License-Identifier: Apache-2.0
 *
 * custom - the score is the caller's, and may fall. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t custom_on_insert(hd_score_in in) { return in.given; }
HD_FN uint64_t custom_on_hit(uint64_t old, hd_score_in in)
{
    (void)old;
    return in.given;
}
HD_FN uint64_t custom_admission(hd_score_in in) { return in.given; }
#endif
HD_POLICY(custom, "the caller's scores as they are",
          HD_ORDER_FREE | HD_SCORES_USED | HD_SCORES_NEEDED | HD_SCORE_ADMITS)
