/* SPDX-License-Identifier: Apache-2.0
 *
 * mix64 - MurmurHash3's 64-bit finaliser of key ^ seed, the hash of HKV's tables (policies/hashes/hash.h); a 32-bit
 * key is the low half.
 */
#ifdef HD_HASH_TEXT
HD_FN uint64_t mix64_of32(uint32_t key, uint64_t seed) { return hd_hash(key, seed); }
HD_FN uint64_t mix64_of64(uint64_t key, uint64_t seed) { return hd_hash(key, seed); }
#endif
HD_HASH(mix64, "MurmurHash3's 64-bit finaliser", 64, HD_HASH_ONE_TO_ONE | HD_HASH_AVALANCHE)
