/* SPDX-License-Identifier: Apache-2.0
 *
 * s3fifo - Yang et al., "FIFO queues are all you need for cache eviction" (SOSP '23), Algorithm 1: the lower queue S
 * has a tenth of the slots, the upper queue M the others. An entry that leaves S moves to M if it was hit twice; else
 * its key is a ghost, and enters M when it comes again. M spares entries that were hit. The score is the tick (49
 * bits), how many entries the same insert moved before, and up to three hits. An insert evicts one entry, so M may
 * have one more than its share until the next eviction. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t s3fifo_small(hd_score_in in) { return (in.slots + 9u) / 10; } /* the share of S */
HD_FN uint64_t s3fifo_place(hd_score_in in) { return hd_lower_tick(in, 49) << 14 | in.spared << 2; }
HD_FN uint64_t s3fifo_on_insert(hd_score_in in)
{
    return in.ghost == 1 ? s3fifo_place(in) | HD_UPPER_QUEUE : s3fifo_place(in);
}
HD_FN uint64_t s3fifo_on_hit(uint64_t old, hd_score_in in)
{
    uint64_t left = 3 - (old & 3);
    return old + (in.given < left ? in.given : left);
}
HD_FN uint64_t s3fifo_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
HD_FN uint64_t s3fifo_on_evict(uint64_t old, hd_score_in in)
{
    uint64_t hits = old & 3, upper = old >> 63, moved = s3fifo_place(in) | HD_UPPER_QUEUE;
    if (!in.full || hits < 2 - upper) return old;
    return upper ? moved + hits - 1 : moved;
}
HD_FN uint64_t s3fifo_upper_first(hd_score_in in) { return in.slots < s3fifo_small(in) + in.upper; }
HD_FN uint64_t s3fifo_remember(uint64_t old, hd_score_in in)
{
    (void)in;
    return old & HD_UPPER_QUEUE ? 0 : 1;
}
HD_FN uint64_t s3fifo_forget(hd_score_in in) { return s3fifo_small(in) + in.ghosts1 >= in.slots; }
HD_FN uint64_t s3fifo_next_state(hd_score_in in) { return in.state; }
#endif
HD_POLICY_QUEUES(s3fifo, "new entries leave a small queue unless two hits move them to the main queue (S3-FIFO)",
                 HD_MONOTONE | HD_HITS_ADD | HD_SCORES_USED | HD_SPARES | HD_ADMITS_ALL | HD_QUEUES | HD_REMEMBERS)
