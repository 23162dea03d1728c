/* SPDX-License-Identifier: Apache-2.0 */
/* NAME - a policy: an entry that was used again has a higher score than all that were not; within each class, lru.
 *
 *     heddle --with FILE run --judge hkv.mix.ref policy=NAME buckets=4 slots=8 batch=64x200 keys=uniform:100
 *     heddle --with FILE run --judge hkv.mix.tlpv1 policy=NAME buckets=4 slots=8 batch=64x200 keys=uniform:100
 *     heddle --with FILE sweep zipf:0.9,10k --table --policies lru,NAME --sizes 1%,10%
 *
 * A full bucket evicts the entry with the least score. `in` has the caller's score (given), the clock (now, tick) and
 * the epoch (doc/contract-hkv.md). The functions are pure.
 */
#ifdef HD_POLICY_TEXT
/* The top bit names the class. The other bits are the time shifted right, so two successive times share a score. */
HD_FN uint64_t NAME_on_insert(hd_score_in in) { return in.now >> 1; }
HD_FN uint64_t NAME_on_hit(uint64_t old, hd_score_in in)
{
    (void)old; /* the entry's score so far */
    return in.now >> 1 | 1ull << 63;
}
/* If this is below the least score of a full bucket, the bucket refuses the new key. */
HD_FN uint64_t NAME_admission(hd_score_in in)
{
    (void)in;
    return UINT64_MAX;
}
#endif

/* The last line: its name, what it is, and what holds of it (policies/policy.h). Kernels rely on these flags, and
 * `--with` tests them. */
HD_POLICY(NAME, "lru in two classes: entries that were used again leave last", HD_MONOTONE | HD_ORDER_FREE)
