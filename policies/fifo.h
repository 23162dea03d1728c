/* SPDX-License-Identifier: Apache-2.0
 *
 * fifo - the score is the time of the insert; a hit changes nothing. The entry that was inserted first leaves. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t fifo_on_insert(hd_score_in in) { return in.now; }
HD_FN uint64_t fifo_on_hit(uint64_t old, hd_score_in in)
{
    (void)in;
    return old;
}
HD_FN uint64_t fifo_admission(hd_score_in in) { return in.now; }
#endif
HD_POLICY(fifo, "first in, first out: the score is the time of the insert", HD_MONOTONE | HD_SCORE_ADMITS | HD_HITS_ADD)
