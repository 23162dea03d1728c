/* SPDX-License-Identifier: Apache-2.0
 *
 * bithash1 - the first of Hive's two mixers of shifts, XORs and additions (Hive, section III-C). Differs: the paper
 * gives no constants. Of 32-bit keys it is Bob Jenkins' integer hash in six shifts
 * (burtleburtle.net/bob/hash/integer.html); of 64-bit keys, which that page has not, his lookup2 of their eight bytes
 * (Dr. Dobb's Journal, September 1997), whose seed is `initval`.
 */
#ifdef HD_HASH_TEXT
HD_FN uint32_t bithash1_of32(uint32_t key, uint64_t seed)
{
    uint32_t a = key ^ (uint32_t)seed;
    a = a + 0x7ed55d16u + (a << 12);
    a = a ^ 0xc761c23cu ^ a >> 19;
    a = a + 0x165667b1u + (a << 5);
    a = (a + 0xd3a2646cu) ^ a << 9;
    a = a + 0xfd7046c5u + (a << 3);
    return a ^ 0xb55a4f09u ^ a >> 16;
}

/* One line of lookup2's mix: x loses the two others, then meets what `by` shifted of the last. */
#define BITHASH1_STEP(x, y, z, by) x = (x - (y) - (z)) ^ (by)

HD_FN uint32_t bithash1_of64(uint64_t key, uint64_t seed)
{
    /* 8 bytes */
    uint32_t a = 0x9e3779b9u + (uint32_t)key, b = 0x9e3779b9u + (uint32_t)(key >> 32), c = (uint32_t)seed + 8;
    BITHASH1_STEP(a, b, c, c >> 13);
    BITHASH1_STEP(b, c, a, a << 8);
    BITHASH1_STEP(c, a, b, b >> 13);
    BITHASH1_STEP(a, b, c, c >> 12);
    BITHASH1_STEP(b, c, a, a << 16);
    BITHASH1_STEP(c, a, b, b >> 5);
    BITHASH1_STEP(a, b, c, c >> 3);
    BITHASH1_STEP(b, c, a, a << 10);
    BITHASH1_STEP(c, a, b, b >> 15);
    return c;
}
#undef BITHASH1_STEP
#endif
HD_HASH(bithash1, "Hive's BitHash1: Jenkins' integer hash of six shifts", 32, HD_HASH_ONE_TO_ONE)
