/* SPDX-License-Identifier: Apache-2.0
 *
 * city32 - CityHash32 (Pike and Alakuijala, Google, version 1.1) of a key's four or eight bytes. It has no seed of its
 * own: key ^ seed.
 */
#ifdef HD_HASH_TEXT
HD_FN uint32_t city32_of32(uint32_t key, uint64_t seed)
{
    uint32_t bytes = key ^ (uint32_t)seed, b = 0, c = 9;
    for (int i = 0; i < 32; i += 8) {
        uint32_t byte = bytes >> i & 0xff;
        b = b * 0xcc9e2d51u + (byte ^ 0x80) - 0x80; /* a signed byte */
        c ^= b;
    }
    return hd_mix32(hd_block32(hd_block32(c, 4), b));
}

HD_FN uint32_t city32_of64(uint64_t key, uint64_t seed)
{
    uint32_t low = (uint32_t)(key ^ seed), high = (uint32_t)((key ^ seed) >> 32);
    uint32_t h = hd_block32(40, low + 8); /* 5 times 8 bytes */
    h = hd_block32(h, high + 40);
    return hd_mix32(hd_block32(h, high + 9));
}
#endif
HD_HASH(city32, "CityHash32", 32, HD_HASH_AVALANCHE)
