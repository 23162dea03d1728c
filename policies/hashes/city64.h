/* SPDX-License-Identifier: Apache-2.0
 *
 * city64 - CityHash64 (Pike and Alakuijala, Google, version 1.1) of a key's four or eight bytes. The seed is key ^
 * seed, the low half with four: its own, CityHash64WithSeed, is three more products of the finished hash, and leaves
 * equal hashes equal.
 */
#ifdef HD_HASH_TEXT
HD_FN uint64_t city64_rotr(uint64_t x, int by) { return x >> by | x << (64 - by); }

/* HashLen16: two words to one. */
HD_FN uint64_t city64_join(uint64_t u, uint64_t v, uint64_t by)
{
    uint64_t a = (u ^ v) * by;
    uint64_t b = (v ^ a ^ a >> 47) * by;
    return (b ^ b >> 47) * by;
}

HD_FN uint64_t city64_of32(uint32_t key, uint64_t seed)
{
    uint64_t k2 = 0x9ae16a3b2f90404full, a = key ^ (uint32_t)seed;
    return city64_join(4 + (a << 3), a, k2 + 8);
}

HD_FN uint64_t city64_of64(uint64_t key, uint64_t seed)
{
    uint64_t k2 = 0x9ae16a3b2f90404full, by = k2 + 16, b = key ^ seed, a = b + k2;
    uint64_t c = city64_rotr(b, 37) * by + a, d = (city64_rotr(a, 25) + b) * by;
    return city64_join(c, d, by);
}
#endif
HD_HASH(city64, "CityHash64", 64, HD_HASH_AVALANCHE)
