/* SPDX-License-Identifier: Apache-2.0
 *
 * epoch_lru - lru within an epoch; any entry of an earlier epoch leaves first. The clock's low 32 bits
 * wrap: an epoch should see fewer than 2^32 ticks. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t epoch_lru_on_insert(hd_score_in in) { return hd_epoch_score(in.epoch, (uint32_t)in.now); }
HD_FN uint64_t epoch_lru_on_hit(uint64_t old, hd_score_in in)
{
    (void)old;
    return hd_epoch_score(in.epoch, (uint32_t)in.now);
}
HD_FN uint64_t epoch_lru_admission(hd_score_in in) { return hd_epoch_score(in.epoch, (uint32_t)in.now); }
#endif
HD_POLICY(epoch_lru, "lru within an epoch, older epochs leave first", HD_ORDER_FREE | HD_SCORE_ADMITS)
