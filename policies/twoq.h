/* SPDX-License-Identifier: Apache-2.0
 *
 * twoq - 2Q of Johnson and Shasha (VLDB '94), the full version with their Kin of 25% and Kout of 50%: the lower queue
 * has new entries in the order in which they came, A1in. Keys that left it are ghosts, A1out. A key that comes again as
 * a ghost enters the upper queue, Am, an LRU list. The score is the tick of the insert, or of the last use in Am. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t twoq_on_insert(hd_score_in in) { return in.ghost ? hd_upper_tick(in) : hd_lower_tick(in, 63); }
HD_FN uint64_t twoq_on_hit(uint64_t old, hd_score_in in)
{
    uint64_t used = hd_upper_tick(in);
    return old & HD_UPPER_QUEUE && old < used ? used : old;
}
HD_FN uint64_t twoq_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
HD_FN uint64_t twoq_on_evict(uint64_t old, hd_score_in in)
{
    (void)in;
    return old;
}
HD_FN uint64_t twoq_upper_first(hd_score_in in) { return in.slots - in.upper <= in.slots / 4; }
HD_FN uint64_t twoq_remember(uint64_t old, hd_score_in in)
{
    (void)in;
    return old & HD_UPPER_QUEUE ? 0 : 1;
}
HD_FN uint64_t twoq_forget(hd_score_in in) { return in.ghosts1 >= in.slots / 2; }
HD_FN uint64_t twoq_next_state(hd_score_in in) { return in.state; }
#endif
HD_POLICY_QUEUES(twoq, "a queue of new entries, ghosts of those, and an LRU list of keys that came again (2Q)",
                 HD_MONOTONE | HD_LATEST_COUNTS | HD_ADMITS_ALL | HD_QUEUES | HD_REMEMBERS)
