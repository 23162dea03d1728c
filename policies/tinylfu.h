/* SPDX-License-Identifier: Apache-2.0
 *
 * tinylfu - Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy" (ToS '17), section 3, in
 * front of an LRU list: a new entry takes the place of the least recently used one if its key came more often lately;
 * else it is refused. Scores begin at 1, so that an admission score of 0 refuses. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t tinylfu_on_insert(hd_score_in in) { return (in.tick < INT64_MAX ? in.tick : INT64_MAX - 1) + 1; }
HD_FN uint64_t tinylfu_on_hit(uint64_t old, hd_score_in in)
{
    (void)old;
    return tinylfu_on_insert(in);
}
HD_FN uint64_t tinylfu_admission(hd_score_in in) { return in.freq > in.freq_old ? UINT64_MAX : 0; }
HD_FN uint64_t tinylfu_on_evict(uint64_t old, hd_score_in in)
{
    (void)in;
    return old;
}
HD_FN uint64_t tinylfu_upper_first(hd_score_in in)
{
    (void)in;
    return 0;
}
HD_FN uint64_t tinylfu_remember(uint64_t old, hd_score_in in)
{
    (void)old, (void)in;
    return 0;
}
HD_FN uint64_t tinylfu_forget(hd_score_in in)
{
    (void)in;
    return 0;
}
HD_FN uint64_t tinylfu_next_state(hd_score_in in) { return in.state; }
#endif
HD_POLICY_QUEUES(tinylfu, "lru, but a new entry is refused unless its key came more often than the victim's (TinyLFU)",
                 HD_MONOTONE | HD_LATEST_COUNTS | HD_QUEUES | HD_COUNTS)
