/* SPDX-License-Identifier: Apache-2.0
 *
 * fibonacci - the product of the key and an odd integer close to 2^32 or 2^64 divided by the golden ratio (Knuth, The
 * Art of Computer Programming, volume 3, section 6.4). For 64-bit keys, the high half of the product. */
#ifdef HD_HASH_TEXT
HD_FN uint32_t fibonacci_of32(uint32_t key, uint64_t seed) { return (key ^ (uint32_t)seed) * 0x9e3779b1u; }
HD_FN uint32_t fibonacci_of64(uint64_t key, uint64_t seed)
{
    return (uint32_t)((key ^ seed) * 0x9e3779b97f4a7c15ull >> 32);
}
#endif
HD_HASH(fibonacci, "a product with the golden ratio", 32, HD_HASH_ONE_TO_ONE)
