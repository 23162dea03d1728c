/* SPDX-License-Identifier: Apache-2.0
 *
 * murmur3 - MurmurHash3_x86_32 (Appleby, SMHasher) of a key's four or eight bytes.
 */
#ifdef HD_HASH_TEXT
HD_FN uint32_t murmur3_of32(uint32_t key, uint64_t seed) { return hd_mix32(hd_block32((uint32_t)seed, key) ^ 4); }

HD_FN uint32_t murmur3_of64(uint64_t key, uint64_t seed)
{
    uint32_t h = hd_block32((uint32_t)seed, (uint32_t)key);
    return hd_mix32(hd_block32(h, (uint32_t)(key >> 32)) ^ 8);
}
#endif
HD_HASH(murmur3, "MurmurHash3_x86_32", 32, HD_HASH_ONE_TO_ONE | HD_HASH_AVALANCHE)
