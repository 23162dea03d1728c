/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.h - entries that are one word, so that one compare-and-swap publishes, replaces or removes key and value
 * together. `half` is the number of bits of a key, and of a value:
 *
 *   half 32   64 bits   key << 32 | value      keys below 2^32 - 3
 *   half 16   32 bits   key << 16 | value      keys below 2^16 - 3
 *
 * An entry of half 64 is a pair of words, with keys below 2^64 - 3: a key word, and WORD_APART words behind it a value
 * word. Its design says what the key word of a slot without a key is; of the functions below it uses word_field,
 * word_keys and word_bytes.
 *
 * The three greatest keys of the field are signs: they say what is in a slot without a key. The value tells more:
 *
 *   EMPTY, value all ones   fresh: free, and never used since the bucket was made
 *   EMPTY, value 0          vacant: free, but a key may have had it, or the bucket was not open
 *   CLAIMED, value k        an item is about to put key k here
 *   LEAVING, value k        key k was here, and is on its way to a slot that is CLAIMED for it
 *
 * A bucket that is open has fresh slots. Fresh slots are taken and never come back, so a bucket that is not open stays
 * so. No key goes past an open bucket; so an open bucket ends a search.
 */
#ifndef HD_REF_WORDS_LAYOUT_H
#define HD_REF_WORDS_LAYOUT_H

#include "policies/hashes/hash.h"
#include "heddle.h"

/* What the key field says where there is no key: 2^half less this. */
enum { WORD_EMPTY = 1, WORD_CLAIMED = 2, WORD_LEAVING = 3 };
enum { WORD_APART = 8 };
#define WORD_NOWHERE UINT64_MAX /* in place of the number of an entry */

/* Linear hashing: a table of n buckets, or segments, has base << level + split of them, and split < base << level. */
HD_FN uint32_t word_level(uint64_t base, uint64_t n)
{
    uint32_t level = 0;
    while (base << (level + 1) <= n) level++;
    return level;
}

HD_FN uint32_t word_bytes(uint32_t half) { return half / 4; }
HD_FN uint64_t word_field(uint32_t half) { return ~0ull >> (64 - half); }
/* Keys are below this. */
HD_FN uint64_t word_keys(uint32_t half) { return word_field(half) - (WORD_LEAVING - 1); }

HD_FN uint64_t word_pack(uint32_t half, uint64_t key, uint64_t value) { return key << half | value; }
HD_FN uint64_t word_key_of(uint32_t half, uint64_t word) { return word >> half; }
HD_FN uint64_t word_value_of(uint32_t half, uint64_t word) { return word & word_field(half); }

/* What a slot without a key holds. */
HD_FN uint64_t word_sign(uint32_t half, uint32_t sign, uint64_t value)
{
    return word_pack(half, word_field(half) + 1 - sign, value);
}
HD_FN uint64_t word_fresh(uint32_t half) { return word_sign(half, WORD_EMPTY, word_field(half)); }
HD_FN uint64_t word_vacant(uint32_t half) { return word_sign(half, WORD_EMPTY, 0); }
HD_FN bool word_is_key(uint32_t half, uint64_t word) { return word_key_of(half, word) < word_keys(half); }
HD_FN bool word_is_free(uint32_t half, uint64_t word) { return word_key_of(half, word) == word_field(half); }

#endif
