/* SPDX-License-Identifier: Apache-2.0
 *
 * lrfu - LRFU of Lee et al. (IEEE Transactions on Computers, 2001, section 2): a use t ticks ago weighs 2^(-t / 1024),
 * and the entry with the least sum of weights leaves. Weights keep their order as time goes by, so the score is the
 * logarithm of the sum of 2^(tick / 1024) over the uses, in units of 2^-16: x + log2(1 + 2^(y - x)) is the logarithm of
 * 2^x + 2^y. */
#ifdef HD_POLICY_TEXT
HD_FN uint64_t lrfu_on_insert(hd_score_in in) { return hd_saturating_shl(in.tick, 6); }
HD_FN uint64_t lrfu_on_hit(uint64_t old, hd_score_in in)
{
    uint64_t use = hd_saturating_shl(in.tick, 6), high = old < use ? use : old, low = old < use ? old : use;
    if (high - low >= 17u << 16) return high;                          /* the sum is less than a unit above it */
    uint64_t part = hd_exp2(hd_saturating_sub(20u << 16, high - low)); /* 2^20 times 2^(low - high) */
    return hd_saturating_add(high, hd_log2((1u << 20) + part) - (20u << 16));
}
HD_FN uint64_t lrfu_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
HD_FN uint64_t lrfu_on_evict(uint64_t old, hd_score_in in)
{
    (void)in;
    return old;
}
#endif
HD_POLICY_APART(lrfu, "the least sum of weights leaves; the weight of a use halves in 1024 ticks (LRFU)", HD_MONOTONE)
