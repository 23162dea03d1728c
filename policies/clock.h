/* SPDX-License-Identifier: Apache-2.0
 *
 * clock - a second chance (Corbato, 1968): the entry that was inserted first leaves, unless it was hit since it was
 * looked at last. Then it is spared and counts as new. The score is the tick, how many entries the same eviction spared
 * before, and a bit: the entry was hit. So entries that one eviction spares keep their order, and the new entry comes
 * behind them. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t clock_on_insert(hd_score_in in) { return hd_saturating_shl(in.tick, 14) | (uint64_t)in.spared << 1; }
HD_FN uint64_t clock_on_hit(uint64_t old, hd_score_in in)
{
    (void)in;
    return old | 1;
}
HD_FN uint64_t clock_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
HD_FN uint64_t clock_on_evict(uint64_t old, hd_score_in in) { return old & 1 ? clock_on_insert(in) : old; }
#endif
HD_POLICY_APART(clock, "fifo, but an entry that was hit is spared once, and counts as new (a second chance)",
                HD_MONOTONE | HD_HITS_ADD | HD_SPARES | HD_ADMITS_ALL)
