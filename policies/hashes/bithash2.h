/* SPDX-License-Identifier: Apache-2.0
 *
 * bithash2 - the second of Hive's two mixers of shifts, XORs and additions (Hive, section III-C). Differs: the paper
 * gives no constants. It is Thomas Wang's hash32shift, of 64-bit keys his hash6432shift (Integer Hash Function, version
 * 3.1, 2007). A product by 2057 or 21 is two additions of shifts.
 */
#ifdef HD_HASH_TEXT
HD_FN uint32_t bithash2_of32(uint32_t key, uint64_t seed)
{
    uint32_t a = key ^ (uint32_t)seed;
    a = ~a + (a << 15);
    a ^= a >> 12;
    a += a << 2;
    a ^= a >> 4;
    a *= 2057;
    return a ^ a >> 16;
}

HD_FN uint32_t bithash2_of64(uint64_t key, uint64_t seed)
{
    uint64_t a = key ^ seed;
    a = ~a + (a << 18);
    a ^= a >> 31;
    a *= 21;
    a ^= a >> 11;
    a += a << 6;
    return (uint32_t)(a ^ a >> 22);
}
#endif
HD_HASH(bithash2, "Hive's BitHash2: Wang's integer hash of shifts", 32, HD_HASH_ONE_TO_ONE)
