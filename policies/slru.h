/* SPDX-License-Identifier: Apache-2.0
 *
 * slru - the segmented LRU of Karedla, Love and Wherry (IEEE Computer 27(3), 1994): a new entry is on probation, the
 * lower queue; a hit protects it. At most 80% are protected. Each surplus one that was hit least recently goes back on
 * probation, and counts as new there: before the next insert, which is when it matters. The score is the tick; on
 * probation also how many entries came with the same insert before. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t slru_on_insert(hd_score_in in) { return hd_lower_tick(in, 50) << 13 | in.spared; }
HD_FN uint64_t slru_on_hit(uint64_t old, hd_score_in in)
{
    (void)old;
    return hd_upper_tick(in);
}
HD_FN uint64_t slru_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
HD_FN uint64_t slru_upper_first(hd_score_in in) { return in.upper > in.slots * 4 / 5 + in.spared; }
HD_FN uint64_t slru_on_evict(uint64_t old, hd_score_in in) { return slru_upper_first(in) ? slru_on_insert(in) : old; }
HD_FN uint64_t slru_remember(uint64_t old, hd_score_in in)
{
    (void)old, (void)in;
    return 0;
}
HD_FN uint64_t slru_forget(hd_score_in in)
{
    (void)in;
    return 0;
}
HD_FN uint64_t slru_next_state(hd_score_in in) { return in.state; }
#endif
HD_POLICY_QUEUES(slru, "lru in two segments: an entry that was hit is protected, up to 80% of the slots (SLRU)",
                 HD_MONOTONE | HD_ORDER_FREE | HD_SPARES | HD_ADMITS_ALL | HD_QUEUES)
