/* SPDX-License-Identifier: Apache-2.0
 *
 * sieve - Zhang et al., "SIEVE is simpler than LRU" (NSDI '24), Algorithm 1: a hand goes over the entries in the order
 * in which they were inserted. It spares those that were hit, and the first other one leaves. The score is the number
 * of a sweep of the hand (26 bits), the tick of the insert (37 bits) and a bit: the entry was hit. A spared entry waits
 * for the next sweep, at its place in the order; a new entry joins the sweep of the entry that the hand meets next. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t sieve_on_insert(hd_score_in in)
{
    uint64_t tick = in.tick < (1ull << 37) - 1 ? in.tick : (1ull << 37) - 1;
    return (in.least >> 38 << 38) | tick << 1;
}
HD_FN uint64_t sieve_on_hit(uint64_t old, hd_score_in in)
{
    (void)in;
    return old | 1;
}
HD_FN uint64_t sieve_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
HD_FN uint64_t sieve_on_evict(uint64_t old, hd_score_in in)
{
    (void)in;
    return old & 1 ? hd_saturating_add(old, (1ull << 38) - 1) : old;
}
#endif
HD_POLICY_APART(sieve, "fifo, but the hand spares entries that were hit, which stay where they are (SIEVE)",
                HD_MONOTONE | HD_HITS_ADD | HD_SPARES | HD_READS_LEAST | HD_ADMITS_ALL)
