/* SPDX-License-Identifier: Apache-2.0
 *
 * lru2 - LRU-2 of O'Neil, O'Neil and Weikum (SIGMOD '93), without the history of entries that left: the score is the
 * tick of the last use but one, above that of the last one. Entries that were used once leave first. Hits may come in
 * any order: the two latest of three ticks stay. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t lru2_on_insert(hd_score_in in) { return hd_saturate32(in.tick); }
HD_FN uint64_t lru2_on_hit(uint64_t old, hd_score_in in)
{
    uint64_t tick = hd_saturate32(in.tick), last = old & UINT32_MAX, before = last < tick ? last : tick;
    if (before < old >> 32) before = old >> 32;
    return before << 32 | (last < tick ? tick : last);
}
HD_FN uint64_t lru2_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
HD_FN uint64_t lru2_on_evict(uint64_t old, hd_score_in in)
{
    (void)in;
    return old;
}
#endif
HD_POLICY_APART(lru2, "the entry whose last use but one is oldest leaves; first those used once (LRU-2)", HD_MONOTONE)
