/* SPDX-License-Identifier: Apache-2.0
 *
 * epoch_lru - lru within an epoch; any entry of an earlier epoch leaves first. Ticks beyond 2^32 are carried into the
 * epoch's bits: what was used later has the higher score however long an epoch lasts, for ticks do not go back. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t epoch_lru_on_insert(hd_score_in in) { return hd_saturating_add(hd_epoch_score(in.epoch, 0), in.tick); }
HD_FN uint64_t epoch_lru_on_hit(uint64_t old, hd_score_in in)
{
    (void)old;
    return epoch_lru_on_insert(in);
}
HD_FN uint64_t epoch_lru_admission(hd_score_in in) { return epoch_lru_on_insert(in); }
#endif
HD_POLICY(epoch_lru, "lru within an epoch, older epochs leave first", HD_ORDER_FREE | HD_SCORE_ADMITS)
