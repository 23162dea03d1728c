/* SPDX-License-Identifier: Apache-2.0
 *
 * epoch_fifo - fifo within an epoch; the first hit in a later epoch puts the entry at the end of the queue again. This
 * is a second chance (CLOCK), with an epoch as the revolution of the hand: an entry that was not used in the present
 * epoch leaves before all that were. Ticks beyond 2^32 are carried into the epoch's bits, as in epoch_lru. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t epoch_fifo_on_insert(hd_score_in in) { return hd_saturating_add(hd_epoch_score(in.epoch, 0), in.tick); }
HD_FN uint64_t epoch_fifo_on_hit(uint64_t old, hd_score_in in)
{
    return old < hd_epoch_score(in.epoch, 0) ? epoch_fifo_on_insert(in) : old;
}
HD_FN uint64_t epoch_fifo_admission(hd_score_in in) { return epoch_fifo_on_insert(in); }
#endif
HD_POLICY(epoch_fifo, "fifo within an epoch, older epochs leave first; the first hit in an epoch renews (CLOCK)",
          HD_MONOTONE | HD_SCORE_ADMITS | HD_HITS_ADD)
