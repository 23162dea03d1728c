/* SPDX-License-Identifier: Apache-2.0
 *
 * hashes.h - hash functions for tables that choose one by its name, and the list of them. A function hashes the four
 * bytes of a
 * 32-bit key or the eight of a 64-bit key, the lowest first:
 *
 *     NAME_of32(key, seed)    NAME_of64(key, seed)
 *
 * With seed 0 it is what was published. What another seed does was published too for some (MurmurHash3, lookup2, the
 * value that a CRC goes on from); the others hash key ^ seed. A function of 32 bits takes the low half of the seed. A
 * function is one header that defines both and ends in its row, and one line of registry.inc:
 *
 *     HD_HASH(name, "what it is", bits, flags)
 *
 * The text is shared by the reference, the host machine and CUDA.
 */
#ifndef HD_HASHES_H
#define HD_HASHES_H

#include "policies/hashes/crc.h"
#include "policies/hashes/mix32.h"
#include "policies/hashes/hash.h"

/* Flags. Claimed ones are verified, unclaimed ones refuted, by tests/t_hashes.c. */
enum {
    /* different 32-bit keys never share a hash                                                     */
    HD_HASH_ONE_TO_ONE = 1,
    /* hash(a ^ b ^ c) = hash(a) ^ hash(b) ^ hash(c): which keys collide does not depend on the seed */
    HD_HASH_LINEAR = 2,
    HD_HASH_AVALANCHE =
        4 /* whichever bit of a 32-bit key flips, each bit of the hash flips as often as not, within 1%    */
};

#define HD_HASH_TEXT
#define HD_HASH(name, what, bits, flags)
#include "policies/hashes/registry.inc"
#undef HD_HASH
#undef HD_HASH_TEXT

typedef enum hd_hash_function {
#define HD_HASH(name, what, bits, flags) HD_HASH_##name,
#include "policies/hashes/registry.inc"
#undef HD_HASH
    HD_HASH_COUNT
} hd_hash_function;

/* By the row's number; what a function of 32 bits has above them is 0. On a device the number is a constant, or all of
 * them are compiled. */
HD_FN uint64_t hd_hash_of32(uint32_t function, uint32_t key, uint64_t seed)
{
    switch (function) { /* GCOVR_EXCL_BR_LINE: here and below, every number is a row's */
#define HD_HASH(name, what, bits, flags) \
    case HD_HASH_##name:                 \
        return name##_of32(key, seed);
#include "policies/hashes/registry.inc"
#undef HD_HASH
    default: return 0;
    }
}

HD_FN uint64_t hd_hash_of64(uint32_t function, uint64_t key, uint64_t seed)
{
    switch (function) { /* GCOVR_EXCL_BR_LINE */
#define HD_HASH(name, what, bits, flags) \
    case HD_HASH_##name:                 \
        return name##_of64(key, seed);
#include "policies/hashes/registry.inc"
#undef HD_HASH
    default: return 0;
    }
}

/* The rows as data, in the order of hd_hash_function. */
typedef struct hd_hash_row {
    const char *name, *what;
    uint32_t bits, flags;
} hd_hash_row;

static const hd_hash_row hd_hash_rows[] = {
#define HD_HASH(name, what, bits, flags) { #name, what, bits, flags },
#include "policies/hashes/registry.inc"
#undef HD_HASH
};

#endif
