/* SPDX-License-Identifier: Apache-2.0
 *
 * epoch_fifo - an entry that was not used in the present epoch leaves before all that were; of those, the one that was
 * inserted first. This is a second chance (CLOCK), with an epoch as the revolution of the hand. A hit writes the epoch
 * and keeps the time of the insert, so it does not matter which of several hits comes first. Ticks beyond 2^32 are
 * carried into the epoch's bits at an insert, as in epoch_lru; a hit in a later epoch drops the carry. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t epoch_fifo_on_insert(hd_score_in in) { return hd_saturating_add(hd_epoch_score(in.epoch, 0), in.tick); }
HD_FN uint64_t epoch_fifo_on_hit(uint64_t old, hd_score_in in)
{
    uint64_t renewed = hd_epoch_score(in.epoch, (uint32_t)old);
    return old < renewed ? renewed : old;
}
HD_FN uint64_t epoch_fifo_admission(hd_score_in in) { return epoch_fifo_on_insert(in); }
#endif
HD_POLICY(epoch_fifo, "fifo, but entries that were not used in this epoch leave first (a second chance, as CLOCK)",
          HD_MONOTONE | HD_SCORE_ADMITS | HD_HITS_ADD)
